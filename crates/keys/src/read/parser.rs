//! How one record becomes a document.

use std::borrow::Cow;

use shardlab_core::{KeyFault, KeyRules, RawChunk, RawKey};

use super::Encoding;
use super::columns::Columns;
use super::csv::{self, Next, Row, Rows};
use super::json::{self, FieldFault, Fields};
use super::lines::{Lines, Stop, whole_lines};
use crate::error::BadRecord;
use crate::tally::Skips;
use crate::{BLOCK, ReadError, RecordFault, shown};

/// How records become documents, which does not change from one to the next.
pub(super) struct Parser {
    pub(super) file: String,
    pub(super) form: Form,
    pub(super) encoding: Encoding,
    pub(super) rules: KeyRules,
    pub(super) numbers: Numbers<bool>,
    pub(super) skip_bad: bool,
}

pub(super) enum Form {
    Lines,
    Ndjson(Fields),
    Csv(Columns),
}

/// Room to read one record after another.
#[derive(Default)]
pub(super) struct Scratch {
    pub(super) rows: Rows,
    pub(super) id: Vec<u8>,
    pub(super) routing: Vec<u8>,
}

/// What notes tell about records.
#[derive(Clone, Copy, Default)]
pub(super) struct Seen {
    pub(super) lines: u64,
    pub(super) crlf_lines: u64,
    pub(super) beyond_double: u64,
}

/// What was met beside documents.
#[derive(Default)]
pub(super) struct Met {
    pub(super) skips: Skips,
    pub(super) seen: Seen,
    /// Whether that was the end of the stream.
    pub(super) end: bool,
}

/// What stands for the columns of numbers, which follow all others in this order.
#[derive(Clone, Copy)]
pub(super) struct Numbers<T> {
    pub(super) weight: T,
    pub(super) requests: T,
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

/// Counts the lines of a row and leaves it behind.
pub(super) fn finish(lines: &mut Lines, row: Row, seen: &mut Seen) {
    seen.lines += row.lines;
    seen.crlf_lines += u64::from(row.crlf);
    lines.consume(row.next, row.lines);
}

impl Parser {
    /// How many bytes from the front on are whole records that say nothing about those behind them, and
    /// how many lines they take; at most [`BLOCK`] of these.
    pub(super) fn cut(&self, window: &[u8]) -> (usize, u64) {
        match self.form {
            Form::Csv(_) => csv::whole_rows(window, BLOCK),
            Form::Lines | Form::Ndjson(_) => whole_lines(window, BLOCK),
        }
    }

    /// Reads records into the chunk until it is full, nothing is left, or one is refused.
    pub(super) fn read(
        &self,
        lines: &mut Lines,
        scratch: &mut Scratch,
        met: &mut Met,
        chunk: &mut RawChunk,
        mut room: usize,
    ) -> Result<(), ReadError> {
        while !met.end && chunk.len() < BLOCK && room > 0 {
            // The texts of a record are never longer than the record.
            room = room.saturating_sub(self.step(lines, scratch, met, chunk)?);
        }
        Ok(())
    }

    /// Reads one record into the chunk, or counts it as bad. Returns the bytes of a record that is in
    /// the chunk, and 0 for a bad one.
    fn step(
        &self,
        lines: &mut Lines,
        scratch: &mut Scratch,
        met: &mut Met,
        chunk: &mut RawChunk,
    ) -> Result<usize, ReadError> {
        let line = lines.number();
        let found = match self.form {
            Form::Csv(_) => scratch.rows.find(lines),
            _ => lines.find(0).map(|line| line.map_or(Next::End, |line| Next::Row(line.into()))),
        };
        let (place, fault) = match found {
            Ok(Next::End) => {
                met.end = true;
                return Ok(0);
            }
            Ok(Next::Row(row)) => {
                let taken = self.take(lines.text(row.end), scratch, &mut met.seen.beyond_double, chunk);
                finish(lines, row, &mut met.seen);
                match taken {
                    Ok(()) => return Ok(row.end),
                    Err(fault) => fault,
                }
            }
            Ok(Next::Bad(fault, row)) => {
                finish(lines, row, &mut met.seen);
                (None, fault)
            }
            Err(Stop::TooLong) => {
                if self.skip_bad {
                    lines.skip_line();
                    met.seen.lines += 1;
                }
                (None, RecordFault::TooLong)
            }
            Err(Stop::Archive(fault)) => (None, fault),
            Err(Stop::Io(source)) => return Err(ReadError::Read { file: self.file.clone(), line, source }),
        };
        let field = place.and_then(|place| self.form.shown(place)).map(str::to_owned);
        let bad = BadRecord { file: self.file.clone(), line, field, fault };
        if !self.skip_bad {
            return Err(Box::new(bad).into());
        }
        met.skips.skip(&bad);
        Ok(0)
    }

    /// Takes the document out of a record. Faults name the field by its place: the id is 0, the
    /// fields that may hold the routing value follow, and the weight and the requests are the last.
    fn take(
        &self,
        record: &[u8],
        scratch: &mut Scratch,
        beyond_double: &mut u64,
        chunk: &mut RawChunk,
    ) -> Result<(), FieldFault> {
        if record.is_empty() {
            return Err((None, RecordFault::EmptyLine));
        }
        let Scratch { rows, id, routing } = scratch;
        let decoded = [id, routing];
        match &self.form {
            Form::Lines => self.place(record, &[], self.numbers.texts(0, |_| None), decoded, chunk)?,
            Form::Ndjson(fields) => *beyond_double += self.take_json(record, fields, decoded, chunk)?,
            Form::Csv(columns) => {
                rows.split(record);
                if rows.len() != columns.count {
                    return Err((None, RecordFault::Fields { found: rows.len(), expected: columns.count }));
                }
                let value = |place: usize| columns.wanted.get(place).map(|column| rows.get(record, column.index));
                let last = columns.wanted.len() - self.numbers.count();
                let routing = [1, 2].map(|place| value(place).filter(|_| place < last).unwrap_or_default());
                let numbers = self.numbers.texts(last, value);
                self.place(value(0).unwrap_or_default(), &routing, numbers, decoded, chunk)?;
            }
        }
        Ok(())
    }
    /// As [`take`](Self::take) for a line of NDJSON; how many of its numbers a double does not hold comes
    /// back.
    fn take_json(
        &self,
        record: &[u8],
        fields: &Fields,
        decoded: [&mut Vec<u8>; 2],
        chunk: &mut RawChunk,
    ) -> Result<u64, FieldFault> {
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
        self.place(id.as_bytes(), &routing, numbers, decoded, chunk)?;
        Ok(beyond_double)
    }

    /// Decodes and checks a document, and appends it to the chunk.
    fn place(
        &self,
        id: &[u8],
        routing: &[&[u8]],
        numbers: Numbers<Option<(usize, &[u8])>>,
        decoded: [&mut Vec<u8>; 2],
        chunk: &mut RawChunk,
    ) -> Result<(), FieldFault> {
        let [id_scratch, routing_scratch] = decoded;
        let id = self.encoding.decode(id, id_scratch).map_err(|fault| (Some(0), fault))?;
        let mut given = routing.iter().zip(1..).filter(|(text, _)| !text.is_empty());
        let (text, place) = given.next().map_or((&[][..], 1), |(text, place)| (*text, place));
        if given.any(|(other, _)| *other != text) {
            return Err((None, RecordFault::TwoRoutings));
        }
        let routing_text = self.encoding.decode(text, routing_scratch).map_err(|fault| (Some(place), fault))?;
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
        chunk.push(key, weight);
        if let Some(requests) = requests {
            chunk.set_requests(requests);
        }
        Ok(())
    }
}

impl Form {
    /// The name of the field at a place, where records have fields.
    fn shown(&self, place: usize) -> Option<&str> {
        match self {
            Self::Lines => None,
            Self::Ndjson(fields) => Some(fields.shown(place)),
            Self::Csv(columns) => columns.wanted.get(place).map(|column| column.shown.as_str()),
        }
    }
}

/// Digits alone, below 2^64.
fn whole(text: &[u8]) -> Option<u64> {
    KeyFault::decimal(text).ok()
}
