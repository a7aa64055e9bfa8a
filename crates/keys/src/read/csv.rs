use memchr::memchr;

use super::lines::{Line, Lines, Stop, whole_lines};
use crate::RecordFault;

/// Bytes that may be looked at again after quotes that do not pair, before whole stretches are given
/// up: without a limit a file made for it would be read once for each of its lines.
const RESCAN_BYTES: usize = 256 << 20;

/// Reads rows of RFC 4180 with commas.
///
/// The `csv` crate passes over empty lines, joins what follows a closing quote and ends an open quote
/// at the end of the file without a word. Here each of these is a bad record with its line, so the
/// splitting is done here, and tests hold it against that crate on what both call good.
#[derive(Default)]
pub(super) struct Rows {
    fields: Vec<Field>,
    /// Fields that hold doubled quotes, without the doubling.
    unescaped: Vec<u8>,
    rescanned: usize,
    /// Whether it is known that no quote is to come.
    quoteless: bool,
}

#[derive(Clone, Copy)]
struct Field {
    start: usize,
    end: usize,
    unescaped: bool,
}

/// Where the bytes of a row stand in the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) end: usize,
    pub(super) next: usize,
    pub(super) lines: u64,
    pub(super) crlf: bool,
}

/// What stands next in the buffer.
#[derive(Debug)]
pub(super) enum Next {
    /// Nothing.
    End,
    /// A whole row.
    Row(Row),
    /// A fault, with the bytes that are to be dropped for it.
    Bad(RecordFault, Row),
}

impl From<Line> for Row {
    fn from(line: Line) -> Self {
        Self { end: line.end, next: line.next, lines: 1, crlf: line.crlf }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Scan {
    FieldStart,
    Bare,
    Quoted,
    /// Behind a quote inside a quoted field: its end, or the first half of a doubled one.
    Quote,
    AfterQuote,
}

impl Rows {
    /// Says whether there may be quotes in what is found and split from now on.
    pub(super) const fn expect_quotes(&mut self, quotes: bool) {
        self.quoteless = !quotes;
    }

    /// The next row, over several lines where a quoted field holds line feeds; none at
    /// the end.
    pub(super) fn find(&mut self, lines: &mut Lines) -> Result<Next, Stop> {
        let Some(first) = lines.find(0)? else { return Ok(Next::End) };
        let first = Row::from(first);
        if self.quoteless {
            return Ok(Next::Row(first));
        }
        let mut row = first;
        let mut scan = scan_line(Scan::FieldStart, lines.text(row.end));
        while scan == Scan::Quoted {
            // Inside quotes the bytes that end a line are part of the field.
            let from = row.next;
            match lines.find(from) {
                Ok(Some(line)) => {
                    row = Row { lines: row.lines + 1, ..Row::from(line) };
                    scan = scan_line(scan, &lines.text(row.end)[from..]);
                }
                // What ends the stream is met again behind the rows that are dropped here.
                Ok(None) | Err(Stop::TooLong) => {
                    return Ok(Next::Bad(RecordFault::OpenQuote, self.give_up(first, row)));
                }
                Err(stop) => return Err(stop),
            }
        }
        Ok(match scan {
            Scan::AfterQuote => Next::Bad(RecordFault::AfterQuote, self.give_up(first, row)),
            _ => Next::Row(row),
        })
    }

    /// Gives up the first line of a bad row alone, since the lines that an unpaired quote took in are
    /// most likely rows themselves.
    fn give_up(&mut self, first: Row, row: Row) -> Row {
        self.rescanned = self.rescanned.saturating_add(row.next - first.next);
        if self.rescanned <= RESCAN_BYTES { first } else { row }
    }

    /// Splits a row that [`find`](Rows::find) has found whole.
    pub(super) fn split(&mut self, row: &[u8]) {
        self.fields.clear();
        self.unescaped.clear();
        if self.quoteless {
            return self.split_at_commas(row);
        }
        let mut at = 0;
        loop {
            let (field, end) = if row.get(at) == Some(&b'"') {
                self.quoted(row, at + 1)
            } else {
                let end = memchr(b',', &row[at..]).map_or(row.len(), |comma| at + comma);
                (Field { start: at, end, unescaped: false }, end)
            };
            self.fields.push(field);
            if end >= row.len() {
                return;
            }
            at = end + 1;
        }
    }

    /// Splits a row without a quote, eight bytes at a look: fields are short, and a call for each would cost more.
    fn split_at_commas(&mut self, row: &[u8]) {
        const ONES: u64 = 0x0101_0101_0101_0101;
        const LOW: u64 = !(ONES << 7);
        let mut start = 0;
        let mut field = |end: usize| {
            self.fields.push(Field { start, end, unescaped: false });
            start = end + 1;
        };
        let (words, rest) = row.as_chunks::<8>();
        for (at, word) in words.iter().enumerate() {
            let word = u64::from_le_bytes(*word) ^ (ONES * u64::from(b','));
            // The highest bit of each byte that is a comma, and no other bit.
            let mut commas = !((word & LOW).wrapping_add(LOW) | word | LOW);
            while commas != 0 {
                field(8 * at + (commas.trailing_zeros() / 8) as usize);
                commas &= commas - 1;
            }
        }
        for (at, &byte) in rest.iter().enumerate() {
            if byte == b',' {
                field(8 * words.len() + at);
            }
        }
        field(row.len());
    }

    /// The quoted field whose text begins at `start`, and where the comma behind it stands.
    fn quoted(&mut self, row: &[u8], start: usize) -> (Field, usize) {
        let quote = |from: usize| memchr(b'"', &row[from..]).map_or(row.len(), |at| from + at);
        let mut end = quote(start);
        if row.get(end + 1) != Some(&b'"') {
            return (Field { start, end, unescaped: false }, end + 1);
        }
        let kept = self.unescaped.len();
        let mut from = start;
        while row.get(end + 1) == Some(&b'"') {
            // The first of the two quotes stays.
            self.unescaped.extend_from_slice(&row[from..=end]);
            from = end + 2;
            end = quote(from);
        }
        self.unescaped.extend_from_slice(&row[from..end]);
        (Field { start: kept, end: self.unescaped.len(), unescaped: true }, end + 1)
    }

    /// How many fields the row has.
    pub(super) const fn len(&self) -> usize {
        self.fields.len()
    }

    /// A field of the row that was split last; nothing where there are fewer.
    pub(super) fn get<'a>(&'a self, row: &'a [u8], index: usize) -> &'a [u8] {
        let Some(field) = self.fields.get(index) else { return &[] };
        let from = if field.unescaped { &self.unescaped } else { row };
        &from[field.start..field.end]
    }
}

/// Follows the quotes of one line.
fn scan_line(mut scan: Scan, line: &[u8]) -> Scan {
    if memchr(b'"', line).is_none() {
        return if scan == Scan::Quoted { scan } else { Scan::Bare };
    }
    for &byte in line {
        scan = match (scan, byte) {
            (Scan::FieldStart, b'"') | (Scan::Quote, b'"') => Scan::Quoted,
            (Scan::FieldStart | Scan::Bare | Scan::Quote, b',') => Scan::FieldStart,
            (Scan::FieldStart | Scan::Bare, _) => Scan::Bare,
            (Scan::Quoted, b'"') => Scan::Quote,
            (Scan::Quoted, _) => Scan::Quoted,
            (Scan::Quote | Scan::AfterQuote, _) => return Scan::AfterQuote,
        };
    }
    scan
}

/// How many bytes from the front on are whole rows without a fault, over at most so many lines, and how
/// many lines they take: rows that [`Rows::find`] finds one after another.
pub(super) fn whole_rows(window: &[u8], most: usize) -> (usize, u64) {
    // Where there is no quote each line is a row.
    let quote = memchr(b'"', window).unwrap_or(window.len());
    let (mut bytes, mut lines) = whole_lines(&window[..quote], most);
    let most = u64::try_from(most).unwrap_or(u64::MAX);
    let (mut scan, mut from, mut seen) = (Scan::FieldStart, bytes, lines);
    while seen < most
        && let Some(length) = memchr(b'\n', &window[from..])
    {
        let line = &window[from..from + length];
        scan = scan_line(scan, line.strip_suffix(b"\r").unwrap_or(line));
        from += length + 1;
        seen += 1;
        match scan {
            Scan::Quoted => {}
            Scan::AfterQuote => break,
            Scan::FieldStart | Scan::Bare | Scan::Quote => {
                (scan, bytes, lines) = (Scan::FieldStart, from, seen);
            }
        }
    }
    (bytes, lines)
}
