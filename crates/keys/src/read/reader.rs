use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use shardlab_core::RawChunk;
use shardlab_core::rows::KeySet;

use super::columns::Columns;
use super::csv::{Next, Rows};
use super::json::Fields;
use super::lines::{Lines, Stop};
use super::parser::{Form, Met, Numbers, Parser, Scratch, Seen, finish};
use super::{Format, ReadOptions};
use crate::documents::CHUNK_BYTES;
use crate::part::Part;
use crate::tally::Tally;
use crate::{Documents, Progress, ReadError, RecordFault, Unit, shown};

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
///
/// The stream is cut into blocks of whole records, which any thread can read apart, and what they gave is
/// counted in the order of the file. What cannot be cut by a look at line feeds and quotes (a bad row of
/// CSV, a long record, the end of the file) is read as it is met, by the same code.
pub(super) struct Reader {
    stored: Stored,
    lines: Lines,
    parser: Arc<Parser>,
    scratch: Scratch,
    tally: Tally,
    seen: Seen,
    routing_named: Option<String>,
    bom: bool,
    /// Blocks have at most so many bytes; 0 reads everything as it is met.
    window: usize,
    /// Whether nothing is left to cut.
    drained: bool,
    /// What [`next_chunk`](Documents::next_chunk) reads with.
    part: Part,
}

/// The most bytes of a block: large beside what it costs to hand one over, small beside memory.
pub(super) const WINDOW: usize = 2 << 20;

/// A block that was cut and not read, or what reading it has met.
#[derive(Default)]
pub(crate) struct Unread {
    block: Option<(Arc<Parser>, Lines)>,
    spare: Option<Lines>,
    scratch: Scratch,
    met: Met,
}

impl Unread {
    pub(crate) fn read(&mut self, chunk: &mut RawChunk, error: &mut Option<ReadError>) {
        let Some((parser, mut lines)) = self.block.take() else { return };
        self.scratch.rows.expect_quotes(lines.hold(b'"'));
        *error = parser.read(&mut lines, &mut self.scratch, &mut self.met, chunk, usize::MAX).err();
        // The block ends before the stream does.
        self.met.end = false;
        self.spare = Some(lines);
    }
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
        let mut scratch = Scratch::default();
        let mut seen = Seen::default();
        let form = match format {
            Format::Lines => Form::Lines,
            Format::Ndjson => Form::Ndjson(Fields::new(options)),
            Format::Csv => Form::Csv(read_header(&stored.file, &mut lines, &mut scratch.rows, &mut seen, options)?),
        };
        let parser = Parser {
            file: stored.file.clone(),
            form,
            encoding: options.encoding,
            rules: options.rules,
            numbers: Numbers { weight: options.weight_field.is_some(), requests: options.requests_field.is_some() },
            skip_bad: options.skip_bad,
        };
        Ok(Self {
            stored,
            lines,
            parser: Arc::new(parser),
            scratch,
            tally: Tally::default(),
            seen,
            routing_named: options.routing_field.as_deref().map(|name| shown::short(name.as_bytes())),
            bom,
            window: WINDOW,
            drained: false,
            part: Part::default(),
        })
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = self.stored.notes.clone();
        let (tally, seen) = (&self.tally, &self.seen);
        if self.bom {
            notes.push("a UTF-8 byte order mark at the very start was taken off".to_owned());
        }
        if seen.crlf_lines > 0 {
            notes.push(format!(
                "{} of {} lines end in CRLF; the carriage returns were taken off",
                seen.crlf_lines, seen.lines
            ));
        }
        if seen.beyond_double > 0 {
            notes.push(format!(
                "{} JSON numbers lie beyond 2^53 and were kept as they are written; programs that read numbers as \
                 doubles change them, so write such ids as strings",
                seen.beyond_double
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
        let mut part = std::mem::take(&mut self.part);
        // The documents before an error are handed out first.
        let mut error = part.take_error();
        while error.is_none() && self.cut(&mut part) {
            part.read();
            self.join(&mut part);
            if !part.chunk.is_empty() {
                std::mem::swap(chunk, &mut part.chunk);
                self.part = part;
                return Ok(true);
            }
            error = part.take_error();
        }
        self.part = part;
        self.drained = true;
        error.map_or(Ok(false), Err)
    }

    fn cut(&mut self, part: &mut Part) -> bool {
        if self.drained {
            return false;
        }
        part.chunk.clear();
        part.error = None;
        part.unread.met = Met::default();
        let (bytes, lines) = self.parser.cut(self.lines.gather(self.window));
        if bytes > 0 {
            let mut block = part.unread.spare.take().unwrap_or_else(Lines::nothing);
            self.lines.hand_over(&mut block, bytes, lines);
            part.unread.block = Some((Arc::clone(&self.parser), block));
            return true;
        }
        let room = if self.window == 0 { CHUNK_BYTES } else { self.window };
        let met = &mut part.unread.met;
        part.error = self.parser.read(&mut self.lines, &mut self.scratch, met, &mut part.chunk, room).err();
        self.drained = met.end || part.error.is_some();
        true
    }

    fn join(&mut self, part: &mut Part) {
        let met = &mut part.unread.met;
        self.tally.take_in(&part.chunk.as_batch(), &mut met.skips);
        self.seen.lines += met.seen.lines;
        self.seen.crlf_lines += met.seen.crlf_lines;
        self.seen.beyond_double += met.seen.beyond_double;
        self.drained |= part.error.is_some();
        if met.end && part.error.is_none() && self.tally.accepted() == 0 {
            part.error = Some(ReadError::NoKeys { file: self.stored.file.clone(), read: self.tally.read() });
        }
    }

    fn progress(&self) -> Progress {
        Progress { done: self.stored.taken.load(Ordering::Relaxed), total: self.stored.size, unit: Unit::Bytes }
    }

    fn key_set(&self) -> KeySet {
        self.tally.key_set(&self.stored.file, self.notes())
    }
}

/// Reads the header of a CSV file.
fn read_header(
    file: &str,
    lines: &mut Lines,
    rows: &mut Rows,
    seen: &mut Seen,
    options: &ReadOptions,
) -> Result<Columns, ReadError> {
    let line = lines.number();
    let header = |fault| ReadError::Header { file: file.to_owned(), line, fault };
    let record = |fault| header(crate::HeaderFault::Record(fault));
    let row = match rows.find(lines) {
        Ok(Next::End) => return Err(ReadError::NoKeys { file: file.to_owned(), read: 0 }),
        Ok(Next::Row(row)) if row.end == 0 => return Err(record(RecordFault::EmptyLine)),
        Ok(Next::Row(row)) => row,
        Ok(Next::Bad(fault, _)) | Err(Stop::Archive(fault)) => return Err(record(fault)),
        Err(Stop::TooLong) => return Err(record(RecordFault::TooLong)),
        Err(Stop::Io(source)) => return Err(ReadError::Read { file: file.to_owned(), line, source }),
    };
    let text = lines.text(row.end);
    rows.split(text);
    let columns = Columns::of(rows, text, options).map_err(header)?;
    finish(lines, row, seen);
    Ok(columns)
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use proptest::prelude::*;
    use shardlab_core::KeyRules;
    use shardlab_core::rows::KeySet;

    use super::super::open::start;
    use super::*;

    /// What a stream gives: documents with their numbers, the error it ends in, and all that was counted.
    type Outcome = (Vec<(Vec<u8>, Vec<u8>, Option<u64>, Option<u64>)>, Option<String>, KeySet);

    /// Gives few bytes at a time.
    struct Trickle(std::io::Cursor<Vec<u8>>, usize);

    impl Read for Trickle {
        fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
            let length = out.len().min(self.1);
            self.0.read(&mut out[..length])
        }
    }

    fn outcome(
        bytes: &[u8],
        format: Format,
        options: &ReadOptions,
        window: usize,
        drain: impl FnOnce(&mut Reader) -> (Vec<RawChunk>, Option<ReadError>),
    ) -> Result<Outcome, String> {
        let source = Trickle(std::io::Cursor::new(bytes.to_vec()), 1 + window % 7);
        let mut reader =
            start("a file".to_owned(), Box::new(source), None, options, format).map_err(|error| error.to_string())?;
        reader.window = window;
        let (chunks, error) = drain(&mut reader);
        let mut documents = Vec::new();
        for chunk in &chunks {
            let batch = chunk.as_batch();
            for (row, key) in batch.iter().enumerate() {
                let number = |column: Option<&[u64]>| column.map(|column| column[row]);
                documents.push((
                    key.id.to_vec(),
                    key.routing.to_vec(),
                    number(batch.weights()),
                    number(batch.requests()),
                ));
            }
        }
        Ok((documents, error.map(|error| error.to_string()), reader.key_set()))
    }

    fn by_chunks(reader: &mut Reader) -> (Vec<RawChunk>, Option<ReadError>) {
        let mut chunks = Vec::new();
        let mut chunk = RawChunk::default();
        loop {
            match reader.next_chunk(&mut chunk) {
                Ok(true) => chunks.push(chunk.clone()),
                Ok(false) => return (chunks, None),
                Err(error) => return (chunks, Some(error)),
            }
        }
    }

    /// As several threads do: some parts are cut, then read backwards, then joined in their order.
    fn by_parts(at_once: usize) -> impl FnOnce(&mut Reader) -> (Vec<RawChunk>, Option<ReadError>) {
        move |reader| {
            let mut chunks = Vec::new();
            let mut parts: Vec<Part> = std::iter::repeat_with(Part::default).take(at_once).collect();
            loop {
                let cut = parts.iter_mut().position(|part| !reader.cut(part)).unwrap_or(at_once);
                parts[..cut].iter_mut().rev().for_each(Part::read);
                for part in &mut parts[..cut] {
                    reader.join(part);
                    chunks.push(part.chunk.clone());
                    if let Some(error) = part.take_error() {
                        return (chunks, Some(error));
                    }
                }
                if cut < at_once {
                    return (chunks, None);
                }
            }
        }
    }

    fn options() -> impl Strategy<Value = ReadOptions> {
        let field = |name: &str| prop_oneof![3 => Just(None), 1 => Just(Some(name.to_owned()))];
        (any::<bool>(), any::<bool>(), field("routing"), field("n"), field("m")).prop_map(
            |(skip_bad, text, routing_field, weight_field, requests_field)| ReadOptions {
                skip_bad,
                rules: KeyRules { text, ..KeyRules::default() },
                routing_field,
                weight_field,
                requests_field,
                ..ReadOptions::default()
            },
        )
    }

    /// Files of pieces that are good on their own and mean all sorts of things together.
    fn bytes(format: Format) -> impl Strategy<Value = Vec<u8>> {
        let pieces: &[&[u8]] = match format {
            Format::Lines => {
                &[b"a", b"bc", b"\n", b"\n", b"\r\n", b"\r", b"\"", b"\xFF", b"\xEF\xBB\xBF", b"12345678901"]
            }
            Format::Csv => &[
                b"a",
                b"bc",
                b",",
                b",",
                b",7,8",
                b"\n",
                b"\n",
                b"\r\n",
                b"\r",
                b"\"",
                b"\"\"",
                b"\",\"",
                b"\"\n",
                b",\"",
                b"\xFF",
                b"id,r,1,2\n",
                b"id,\"r\",1,2\n",
                b"\"i\nd\",r,3,4\r\n",
                b"\"i\"\"\"d,r,3,4\r\n",
                b"same,,5,6\nsame,,5,6\n",
            ],
            Format::Ndjson => &[
                b"{\"_id\":\"a\",\"n\":7,\"m\":8}\n",
                b"{\"_id\":\"a\",\"n\":7,\"m\":8}\r\n",
                b"{\"_id\": 12, \"routing\": \"r\"}\n",
                b"{\"_id\":\"\xC3\xA9\",\"_routing\":null,\"n\":1,\"m\":2}\n",
                b"{\"_id\":9007199254740993,\"n\":1,\"m\":2}\n",
                b"{\"_id\":1.5}\n",
                b"{\"a\":{\"_id\":\"x\"},\"_id\":\"x\\n\",\"n\":3,\"m\":4}\n",
                b"{\"_id\":\"a\",\"_id\":\"b\"}\n",
                b"\n",
                b"{",
                b"}",
                b"\"",
                b"\xFF",
                b" ",
                b"[1]\n",
                b"{\"n\":-0,\"_id\":\"\",\"m\":00}\n",
            ],
        };
        let heads: &[&[u8]] = match format {
            Format::Csv => &[
                b"_id,routing,n,m\n",
                b"\xEF\xBB\xBF_id,routing,n,m\r\n",
                b"\"_id\",\"routing\",\"n\",\"m\"\n",
                b"\"_id",
            ],
            _ => &[b"", b"\xEF\xBB\xBF"],
        };
        (prop::sample::select(heads), prop::collection::vec(prop::sample::select(pieces), 0..60))
            .prop_map(|(head, pieces)| [head, &pieces.concat()].concat())
    }

    fn file() -> impl Strategy<Value = (Format, Vec<u8>)> {
        prop_oneof![Just(Format::Lines), Just(Format::Csv), Just(Format::Ndjson)].prop_flat_map(|format| {
            // Compressed files may end in the middle, or with bytes that do not belong to them.
            let packed =
                prop_oneof![2 => Just(None), 1 => (any::<prop::sample::Index>(), any::<bool>()).prop_map(Some)];
            (Just(format), bytes(format), packed).prop_map(|(format, bytes, packed)| match packed {
                None => (format, bytes),
                Some((keep, trailing)) => {
                    let mut packed = zstd::encode_all(&*bytes, 1).unwrap();
                    if trailing {
                        packed.extend_from_slice(b"more");
                    } else {
                        packed.truncate(packed.len() - keep.index(packed.len()).min(12));
                    }
                    (format, packed)
                }
            })
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn blocks_of_any_size_read_in_any_order_give_what_reading_record_by_record_gives(
            (format, bytes) in file(),
            options in options(),
            window in prop_oneof![1_usize..40, 40_usize..400, Just(WINDOW)],
            at_once in 1_usize..5,
        ) {
            let expected = outcome(&bytes, format, &options, 0, by_chunks);
            prop_assert_eq!(&outcome(&bytes, format, &options, window, by_chunks), &expected);
            prop_assert_eq!(&outcome(&bytes, format, &options, window, by_parts(at_once)), &expected);
        }

        #[test]
        fn plain_lines_of_json_give_what_the_parser_gives(
            lines in prop::collection::vec(
                prop_oneof![
                    bytes(Format::Ndjson).prop_map(|bytes| String::from_utf8_lossy(&bytes).into_owned()),
                    "\\{(\"(_id|a|a\\.b|r)\" ?: ?(\"[a-z\\\\\"\u{1}é]{0,4}\"|-?[0-9]{0,4}(\\.5|e1)?|true|false|null|nul|\\{\"b\":1\\}|\\[\\]) ?,? ?){0,4}\\} ?",
                ],
                1..8,
            ),
            path in any::<bool>(),
        ) {
            let id_field = if path { "a.b" } else { "_id" };
            let fields = Fields::new(&ReadOptions { id_field: Some(id_field.to_owned()), ..ReadOptions::default() });
            for line in lines.iter().flat_map(|text| text.lines()) {
                if let Some(values) = fields.plain_values(line) {
                    prop_assert_eq!(fields.any_values(line), Ok(values), "{}", line);
                }
            }
        }
    }

    #[test]
    fn what_programs_write_is_plain() {
        let fields = Fields::new(&ReadOptions::default());
        for line in [r#"{"_id":"a","n":-12}"#, r#"{"n": true, "_id": "é", "m": null}"#, r#"{"_id":0}"#] {
            assert!(fields.plain_values(line).is_some(), "{line}");
        }
        for line in
            [r#"{"_id":"a\n"}"#, r#"{"_id":01}"#, r#"{"_id":1.5}"#, r#"{"_id":{}}"#, r#"{"_id":"a","_id":"a"}"#, "{}"]
        {
            assert!(fields.plain_values(line).is_none(), "{line}");
        }
    }

    #[test]
    fn almost_all_of_a_file_is_cut_into_blocks() {
        let text = "id-1,\"r\n\",1,2\nid-2,r,1,2\n".repeat(1000);
        let mut reader = start(
            "a file".to_owned(),
            Box::new(std::io::Cursor::new(format!("_id,routing,n,m\n{text}id"))),
            None,
            &ReadOptions::default(),
            Format::Csv,
        )
        .unwrap();
        reader.window = 1 << 10;
        let mut part = Part::default();
        let (mut in_blocks, mut as_met) = (0, 0);
        while reader.cut(&mut part) {
            let is_block = part.unread.block.is_some();
            part.read();
            reader.join(&mut part);
            *(if is_block { &mut in_blocks } else { &mut as_met }) += part.documents().len();
        }
        assert_eq!((in_blocks, as_met), (2000, 0));
    }
}
