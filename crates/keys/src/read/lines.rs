use std::io::{self, Read};

use memchr::{memchr, memchr_iter, memrchr};

use super::MAX_RECORD;
use super::archive::{archive_fault, read};
use crate::RecordFault;

/// How large the buffer starts; it grows only for longer records.
const BUFFER_BYTES: usize = 256 << 10;

/// The lines of a stream, in place in one buffer, so that no record costs an allocation.
///
/// Positions are counted from the beginning of the current record, which stays in the buffer until
/// it is [consumed](Lines::consume); a record may take several lines.
pub(super) struct Lines {
    source: Box<dyn Read + Send>,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    line: u64,
    state: State,
}

enum State {
    Open,
    Ended,
    /// The stream ends in this way; told once, behind the last record that is whole.
    Failed(Stop),
}

/// A line in the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Line {
    /// Where the text ends: before its line feed and a carriage return in front of that.
    pub(super) end: usize,
    /// Where the next line begins.
    pub(super) next: usize,
    /// Whether a carriage return was taken off.
    pub(super) crlf: bool,
}

/// Why there is no next line.
#[derive(Debug)]
pub(super) enum Stop {
    /// The record has reached [`MAX_RECORD`].
    TooLong,
    /// The archive is bad from here on.
    Archive(RecordFault),
    /// The system cannot read on.
    Io(io::Error),
}

impl Lines {
    pub(super) fn new(source: Box<dyn Read + Send>) -> Self {
        Self { source, buffer: vec![0; BUFFER_BYTES], start: 0, end: 0, line: 1, state: State::Open }
    }

    /// No lines, to be [handed over](Self::hand_over) some.
    pub(super) fn nothing() -> Self {
        Self { source: Box::new(io::empty()), buffer: Vec::new(), start: 0, end: 0, line: 1, state: State::Ended }
    }

    /// The next bytes of the stream without taking them: so many, or all that there are.
    pub(super) fn gather(&mut self, count: usize) -> &[u8] {
        if self.buffer.len() - self.start < count {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
            if self.buffer.len() < count {
                self.buffer.resize(count, 0);
            }
        }
        while self.end - self.start < count && matches!(self.state, State::Open) {
            let limit = self.start + count;
            self.take_in(limit);
        }
        self.text(count.min(self.end - self.start))
    }

    /// Moves the first bytes of the buffer, which hold this many line feeds, into other lines, which are
    /// those alone from then on. The memory of both may change its place.
    pub(super) fn hand_over(&mut self, block: &mut Self, bytes: usize, lines: u64) {
        let rest = self.start + bytes..self.end;
        let length = self.buffer.len();
        // Whichever is the smaller is copied. A buffer that grew for a long record stays where it is.
        if rest.len() < bytes && length <= 2 * BUFFER_BYTES.max(bytes) {
            if block.buffer.len() < length {
                block.buffer.resize(length, 0);
            }
            block.buffer[..rest.len()].copy_from_slice(&self.buffer[rest.clone()]);
            std::mem::swap(&mut self.buffer, &mut block.buffer);
            (block.start, block.end) = (self.start, self.start + bytes);
            (self.start, self.end) = (0, rest.len());
        } else {
            if block.buffer.len() < bytes {
                block.buffer.resize(bytes, 0);
            }
            block.buffer[..bytes].copy_from_slice(&self.buffer[self.start..self.start + bytes]);
            (block.start, block.end) = (0, bytes);
            self.start += bytes;
        }
        block.line = self.line;
        self.line += lines;
    }

    /// Whether this byte is in the buffer.
    pub(super) fn hold(&self, byte: u8) -> bool {
        memchr(byte, &self.buffer[self.start..self.end]).is_some()
    }

    /// The number of the line on which the current record starts, from 1.
    pub(super) const fn number(&self) -> u64 {
        self.line
    }

    /// The first bytes of the current record.
    pub(super) fn text(&self, end: usize) -> &[u8] {
        &self.buffer[self.start..self.start + end]
    }

    /// The line that begins at `from`; none at the end of the stream.
    pub(super) fn find(&mut self, from: usize) -> Result<Option<Line>, Stop> {
        let mut searched = self.start + from;
        loop {
            if let Some(at) = memchr(b'\n', &self.buffer[searched..self.end]) {
                let feed = searched + at;
                let crlf = feed > self.start + from && self.buffer[feed - 1] == b'\r';
                let end = feed - self.start - usize::from(crlf);
                if end > MAX_RECORD {
                    return Err(Stop::TooLong);
                }
                return Ok(Some(Line { end, next: feed + 1 - self.start, crlf }));
            }
            let length = self.end - self.start;
            // One byte more may still be the carriage return of a line that fits.
            if length > MAX_RECORD + 1 {
                return Err(Stop::TooLong);
            }
            if !matches!(self.state, State::Open) {
                return self.last_line(from, length);
            }
            self.fill();
            // The bytes may have moved to the front.
            searched = self.start + length;
        }
    }

    /// What is left when no more bytes come: a line without a line feed, or nothing.
    fn last_line(&mut self, from: usize, length: usize) -> Result<Option<Line>, Stop> {
        // What follows the end of an archive does not touch its last line, which is whole; any other
        // fault may have cut a line in two, and half an id is another id.
        let whole = matches!(self.state, State::Ended | State::Failed(Stop::Archive(RecordFault::Trailing)));
        if whole && from < length {
            if length > MAX_RECORD {
                return Err(Stop::TooLong);
            }
            return Ok(Some(Line { end: length, next: length, crlf: false }));
        }
        if whole && from > 0 {
            return Ok(None);
        }
        match std::mem::replace(&mut self.state, State::Ended) {
            State::Failed(stop) => {
                self.start = self.end;
                Err(stop)
            }
            State::Open | State::Ended => Ok(None),
        }
    }

    /// Drops the first bytes of the buffer, which hold this many line feeds.
    pub(super) fn consume(&mut self, bytes: usize, lines: u64) {
        self.start += bytes;
        self.line += lines;
    }

    /// Drops the rest of an overlong line, wherever it ends.
    pub(super) fn skip_line(&mut self) {
        loop {
            if let Some(at) = memchr(b'\n', &self.buffer[self.start..self.end]) {
                self.consume(at + 1, 1);
                return;
            }
            (self.start, self.end) = (0, 0);
            if !matches!(self.state, State::Open) {
                return;
            }
            // The memory that the line took is not needed again.
            self.buffer.truncate(BUFFER_BYTES);
            self.buffer.shrink_to_fit();
            self.fill();
        }
    }

    /// Takes more bytes into the buffer, growing it where the current record fills it.
    fn fill(&mut self) {
        if self.end == self.buffer.len() {
            if self.start > 0 {
                self.buffer.copy_within(self.start..self.end, 0);
                (self.start, self.end) = (0, self.end - self.start);
            } else {
                let length = self.buffer.len().saturating_mul(2).min(MAX_RECORD + BUFFER_BYTES);
                self.buffer.resize(length, 0);
            }
        }
        self.take_in(self.buffer.len());
    }

    /// Takes more bytes into the buffer, up to this place in it.
    fn take_in(&mut self, limit: usize) {
        match read(&mut self.source, &mut self.buffer[self.end..limit]) {
            Ok(0) => self.state = State::Ended,
            Ok(n) => self.end += n,
            Err(error) => {
                self.state = State::Failed(match archive_fault(error) {
                    Ok(fault) => Stop::Archive(fault),
                    Err(error) => Stop::Io(error),
                });
            }
        }
    }

    /// The first bytes of the stream, up to `count`.
    pub(super) fn peek(&mut self, count: usize) -> &[u8] {
        while self.end - self.start < count && matches!(self.state, State::Open) {
            self.fill();
        }
        self.text(count.min(self.end - self.start))
    }
}

/// How many bytes from the front on are whole lines, at most so many of them, and how many they are.
pub(super) fn whole_lines(window: &[u8], most: usize) -> (usize, u64) {
    let bytes = memrchr(b'\n', window).map_or(0, |at| at + 1);
    let lines = memchr_iter(b'\n', &window[..bytes]).count();
    if lines <= most {
        return (bytes, u64::try_from(lines).unwrap_or(u64::MAX));
    }
    let last = most.checked_sub(1).and_then(|last| memchr_iter(b'\n', window).nth(last));
    (last.map_or(0, |at| at + 1), u64::try_from(most).unwrap_or(u64::MAX))
}
