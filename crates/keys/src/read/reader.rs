use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use shardlab_core::rows::KeySet;
use shardlab_core::{KeyFault, KeyRules, RawChunk, RawKey};

use super::columns::Columns;
use super::csv::{Next, Row, Rows};
use super::json::{self, FieldFault, Fields};
use super::lines::{Lines, Stop};
use super::{Encoding, Format, ReadOptions};
use crate::documents::CHUNK_BYTES;
use crate::error::BadRecord;
use crate::tally::Tally;
use crate::{BLOCK, Documents, Progress, ReadError, RecordFault, Unit, shown};

/// Where the bytes of a reader come from.
pub(super) struct Stored {
    /// The name as it is shown.
    pub(super) file: String,
    /// Bytes of the file that were taken, before decompression.
    pub(super) taken: Arc<AtomicU64>,
    /// Bytes of the file, where they are known.
    pub(super) size: Option<u64>,
    /// What the owner should know about how it is read.
    pub(super) notes: Vec<String>,
}

/// The documents of a file.
pub(super) struct Reader {
    stored: Stored,
    lines: Lines,
    form: Form,
    placing: Placing,
    skip_bad: bool,
    routing_named: Option<String>,
    bom: bool,
    lines_seen: u64,
    crlf_lines: u64,
    state: State,
}

enum Form {
    Lines,
    Ndjson(Fields),
    Csv { rows: Rows, columns: Columns },
}

enum State {
    Reading,
    /// The documents before the error are handed out first.
    Failed(ReadError),
    Ended,
}

/// What stands for the columns of numbers, which follow all others in this order.
#[derive(Clone, Copy)]
struct Numbers<T> {
    weight: T,
    requests: T,
}

impl Numbers<bool> {
    fn count(self) -> usize {
        usize::from(self.weight) + usize::from(self.requests)
    }

    /// The texts of the columns that there are, with their places, from the first of them on.
    fn texts<'a>(self, first: usize, text: impl Fn(usize) -> Option<&'a [u8]>) -> Numbers<Option<(usize, &'a [u8])>> {
        let at = |place: usize, is_there: bool| if is_there { text(place).map(|text| (place, text)) } else { None };
        Numbers { weight: at(first, self.weight), requests: at(first + usize::from(self.weight), self.requests) }
    }
}

/// What becomes of a record once its texts are found.
struct Placing {
    encoding: Encoding,
    rules: KeyRules,
    numbers: Numbers<bool>,
    tally: Tally,
    beyond_double: u64,
    id: Vec<u8>,
    routing: Vec<u8>,
}

impl Reader {
    /// Reads the beginning of the content: a byte order mark and, for CSV, the header.
    pub(super) fn new(
        stored: Stored,
        mut lines: Lines,
        format: Format,
        options: &ReadOptions,
    ) -> Result<Self, ReadError> {
        let file = || stored.file.clone();
        let head = lines.peek(4);
        if matches!(head, [0xFF, 0xFE, _, 0] | [0xFE, 0xFF, 0, _]) {
            let instead = "turn it into UTF-8 first, as with: iconv -f UTF-16 -t UTF-8";
            return Err(ReadError::Kind { file: file(), kind: "text in UTF-16", instead });
        }
        let bom = head.starts_with(b"\xEF\xBB\xBF");
        if bom {
            lines.consume(3, 0);
        }
        let mut reader = Self {
            form: Form::Lines,
            placing: Placing {
                encoding: options.encoding,
                rules: options.rules,
                numbers: Numbers { weight: options.weight_field.is_some(), requests: options.requests_field.is_some() },
                tally: Tally::default(),
                beyond_double: 0,
                id: Vec::new(),
                routing: Vec::new(),
            },
            skip_bad: options.skip_bad,
            routing_named: options.routing_field.as_deref().map(|name| shown::short(name.as_bytes())),
            bom,
            lines_seen: 0,
            crlf_lines: 0,
            state: State::Reading,
            stored,
            lines,
        };
        match format {
            Format::Lines => {}
            Format::Ndjson => reader.form = Form::Ndjson(Fields::new(options)),
            Format::Csv => reader.read_header(options)?,
        }
        Ok(reader)
    }

    fn read_header(&mut self, options: &ReadOptions) -> Result<(), ReadError> {
        let line = self.lines.number();
        let header = |fault| ReadError::Header { file: self.stored.file.clone(), line, fault };
        let record = |fault| header(crate::HeaderFault::Record(fault));
        let mut rows = Rows::default();
        let row = match rows.find(&mut self.lines) {
            Ok(Next::End) => {
                self.state = State::Ended;
                return Err(ReadError::NoKeys { file: self.stored.file.clone(), read: 0 });
            }
            Ok(Next::Row(row)) if row.end == 0 => return Err(record(RecordFault::EmptyLine)),
            Ok(Next::Row(row)) => row,
            Ok(Next::Bad(fault, _)) | Err(Stop::Archive(fault)) => return Err(record(fault)),
            Err(Stop::TooLong) => return Err(record(RecordFault::TooLong)),
            Err(Stop::Io(source)) => return Err(ReadError::Read { file: self.stored.file.clone(), line, source }),
        };
        let text = self.lines.text(row.end);
        rows.split(text);
        let columns = Columns::of(&rows, text, options).map_err(header)?;
        self.finish(row);
        self.form = Form::Csv { rows, columns };
        Ok(())
    }

    /// Counts the lines of a row and leaves it behind.
    fn finish(&mut self, row: Row) {
        self.lines_seen += row.lines;
        self.crlf_lines += u64::from(row.crlf);
        self.lines.consume(row.next, row.lines);
    }

    /// Reads one record into the chunk, or counts it as bad. Returns the bytes of a record that is in
    /// the chunk, 0 for a bad one, and nothing at the end.
    fn step(&mut self, chunk: &mut RawChunk) -> Result<Option<usize>, ReadError> {
        let line = self.lines.number();
        let found = match &mut self.form {
            Form::Csv { rows, .. } => rows.find(&mut self.lines),
            _ => self.lines.find(0).map(|line| line.map_or(Next::End, |line| Next::Row(line.into()))),
        };
        let (place, fault) = match found {
            Ok(Next::End) => return Ok(None),
            Ok(Next::Row(row)) => {
                let taken = self.form.take(self.lines.text(row.end), &mut self.placing, chunk);
                self.finish(row);
                match taken {
                    Ok(()) => return Ok(Some(row.end)),
                    Err(fault) => fault,
                }
            }
            Ok(Next::Bad(fault, row)) => {
                self.finish(row);
                (None, fault)
            }
            Err(Stop::TooLong) => {
                if self.skip_bad {
                    self.lines.skip_line();
                    self.lines_seen += 1;
                }
                (None, RecordFault::TooLong)
            }
            Err(Stop::Archive(fault)) => (None, fault),
            Err(Stop::Io(source)) => return Err(ReadError::Read { file: self.stored.file.clone(), line, source }),
        };
        let field = place.and_then(|place| self.form.shown(place)).map(str::to_owned);
        let bad = BadRecord { file: self.stored.file.clone(), line, field, fault };
        if !self.skip_bad {
            return Err(Box::new(bad).into());
        }
        self.placing.tally.skip(&bad);
        Ok(Some(0))
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = self.stored.notes.clone();
        let tally = &self.placing.tally;
        if self.bom {
            notes.push("a UTF-8 byte order mark at the very start was taken off".to_owned());
        }
        if self.crlf_lines > 0 {
            notes.push(format!(
                "{} of {} lines end in CRLF; the carriage returns were taken off",
                self.crlf_lines, self.lines_seen
            ));
        }
        if self.placing.beyond_double > 0 {
            notes.push(format!(
                "{} JSON numbers lie beyond 2^53 and were kept as they are written; programs that read numbers as \
                 doubles change them, so write such ids as strings",
                self.placing.beyond_double
            ));
        }
        if let Some(field) = self.routing_named.as_ref().filter(|_| tally.accepted() > 0 && tally.with_routing() == 0) {
            notes.push(format!("no document has a routing value in the field {field}, so each is placed by its id"));
        }
        notes
    }
}

impl Documents for Reader {
    fn next_chunk(&mut self, chunk: &mut RawChunk) -> Result<bool, ReadError> {
        chunk.clear();
        let mut room = CHUNK_BYTES;
        while matches!(self.state, State::Reading) && chunk.len() < BLOCK && room > 0 {
            match self.step(chunk) {
                // The texts of a record are never longer than the record.
                Ok(Some(bytes)) => room = room.saturating_sub(bytes),
                Ok(None) => {
                    self.state = match self.placing.tally.accepted() {
                        0 => State::Failed(ReadError::NoKeys {
                            file: self.stored.file.clone(),
                            read: self.placing.tally.read(),
                        }),
                        _ => State::Ended,
                    };
                }
                Err(error) => self.state = State::Failed(error),
            }
        }
        if !chunk.is_empty() {
            return Ok(true);
        }
        match std::mem::replace(&mut self.state, State::Ended) {
            State::Failed(error) => Err(error),
            State::Reading | State::Ended => Ok(false),
        }
    }

    fn progress(&self) -> Progress {
        Progress { done: self.stored.taken.load(Ordering::Relaxed), total: self.stored.size, unit: Unit::Bytes }
    }

    fn key_set(&self) -> KeySet {
        self.placing.tally.key_set(&self.stored.file, self.notes())
    }
}

impl Form {
    /// The name of the field at a place, where records have fields.
    fn shown(&self, place: usize) -> Option<&str> {
        match self {
            Self::Lines => None,
            Self::Ndjson(fields) => Some(fields.shown(place)),
            Self::Csv { columns, .. } => columns.wanted.get(place).map(|column| column.shown.as_str()),
        }
    }

    /// Takes the document out of a record. Faults name the field by its place: the id is 0, the
    /// fields that may hold the routing value follow, and the weight and the requests are the last.
    fn take(&mut self, record: &[u8], placing: &mut Placing, chunk: &mut RawChunk) -> Result<(), FieldFault> {
        if record.is_empty() {
            return Err((None, RecordFault::EmptyLine));
        }
        match self {
            Self::Lines => placing.place(record, &[], placing.numbers.texts(0, |_| None), chunk),
            Self::Ndjson(fields) => placing.take_json(record, fields, chunk),
            Self::Csv { rows, columns } => {
                rows.split(record);
                if rows.len() != columns.count {
                    return Err((None, RecordFault::Fields { found: rows.len(), expected: columns.count }));
                }
                let value = |place: usize| columns.wanted.get(place).map(|column| rows.get(record, column.index));
                let last = columns.wanted.len() - placing.numbers.count();
                let routing = [1, 2].map(|place| value(place).filter(|_| place < last).unwrap_or_default());
                let numbers = placing.numbers.texts(last, value);
                placing.place(value(0).unwrap_or_default(), &routing, numbers, chunk)
            }
        }
    }
}

impl Placing {
    fn take_json(&mut self, record: &[u8], fields: &Fields, chunk: &mut RawChunk) -> Result<(), FieldFault> {
        let line =
            std::str::from_utf8(record).map_err(|error| (None, RecordFault::NotUtf8 { at: error.valid_up_to() }))?;
        let values = fields.values(line)?;
        let last = fields.len() - self.numbers.count();
        let missing = |place: usize| {
            let (name, flag) = fields.name_and_flag(place);
            (Some(place), RecordFault::Missing { present: json::present(line, name, flag) })
        };
        let mut beyond_double = 0;
        let mut texts = [const { Cow::Borrowed("") }; json::MOST_WANTED];
        for (place, value) in values.into_iter().enumerate().take(fields.len()) {
            // Null is no routing value; for the id and the numbers it is a value of the wrong kind.
            let optional = (1..last).contains(&place);
            let Some(value) = value else {
                if optional {
                    continue;
                }
                return Err(missing(place));
            };
            match json::text(value).map_err(|fault| (Some(place), fault))? {
                Some(text) => {
                    beyond_double += u64::from(text.beyond_double && place < last);
                    texts[place] = text.text;
                }
                None if optional => {}
                None => return Err((Some(place), RecordFault::Kind { found: "null" })),
            }
        }
        let [id, first, second, ..] = &texts;
        let routing = [first.as_bytes(), if last > 2 { second.as_bytes() } else { &[] }];
        let numbers = self.numbers.texts(last, |place| texts.get(place).map(|text| text.as_bytes()));
        self.place(id.as_bytes(), &routing, numbers, chunk)?;
        self.beyond_double += beyond_double;
        Ok(())
    }

    /// Decodes and checks a document, and appends it to the chunk.
    fn place(
        &mut self,
        id: &[u8],
        routing: &[&[u8]],
        numbers: Numbers<Option<(usize, &[u8])>>,
        chunk: &mut RawChunk,
    ) -> Result<(), FieldFault> {
        let id = self.encoding.decode(id, &mut self.id).map_err(|fault| (Some(0), fault))?;
        let mut given = routing.iter().zip(1..).filter(|(text, _)| !text.is_empty());
        let (text, place) = given.next().map_or((&[][..], 1), |(text, place)| (*text, place));
        if given.any(|(other, _)| *other != text) {
            return Err((None, RecordFault::TwoRoutings));
        }
        let routing_text = self.encoding.decode(text, &mut self.routing).map_err(|fault| (Some(place), fault))?;
        let key = RawKey { id, routing: routing_text };
        self.rules.check(&key).map_err(|fault| {
            let of_routing = match &fault {
                KeyFault::NotUtf8 { what, .. } => *what == "routing value",
                KeyFault::RoutingRequired => true,
                KeyFault::NotDecimal | KeyFault::DecimalTooLarge => !key.routing.is_empty(),
                _ => false,
            };
            (Some(if of_routing { place } else { 0 }), RecordFault::Key(fault))
        })?;
        let quoted = |text: &[u8]| format!("\"{}\"", shown::short(text));
        let number = |given: Option<(usize, &[u8])>, fault: fn(String) -> RecordFault| match given {
            None => Ok(None),
            Some((place, text)) => whole(text).map(Some).ok_or_else(|| (Some(place), fault(quoted(text)))),
        };
        let weight = number(numbers.weight, |found| RecordFault::Weight { found })?;
        let requests = number(numbers.requests, |found| RecordFault::Requests { found })?;
        self.tally.accept(key, weight, requests, chunk);
        Ok(())
    }
}

/// Digits alone, below 2^64.
fn whole(text: &[u8]) -> Option<u64> {
    KeyFault::decimal(text).ok()
}
