use std::io::{self, BufRead, Read};

use flate2::bufread::GzDecoder;
use zstd::stream::read::Decoder as ZstdDecoder;

use crate::RecordFault;

/// Bytes asked of the file at once.
const INPUT_BYTES: usize = 256 << 10;

/// The file as it is stored, with a look at the bytes to come.
pub(super) struct Input {
    inner: Box<dyn Read + Send>,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
}

impl Input {
    pub(super) fn new(inner: Box<dyn Read + Send>) -> Self {
        Self { inner, buffer: vec![0; INPUT_BYTES], start: 0, end: 0 }
    }

    /// The next `count` bytes without taking them; fewer only at the end of the file.
    pub(super) fn peek(&mut self, count: usize) -> io::Result<&[u8]> {
        if self.end - self.start < count {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
            while self.end < count {
                match read(&mut self.inner, &mut self.buffer[self.end..])? {
                    0 => break,
                    n => self.end += n,
                }
            }
        }
        Ok(&self.buffer[self.start..self.end.min(self.start + count)])
    }
}

/// Reads some bytes; a signal that interrupts is no reason to stop.
pub(super) fn read(source: &mut dyn Read, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        match source.read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

impl Read for Input {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let available = self.fill_buf()?;
        let n = available.len().min(out.len());
        out[..n].copy_from_slice(&available[..n]);
        self.consume(n);
        Ok(n)
    }
}

impl BufRead for Input {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.start == self.end {
            self.start = 0;
            self.end = read(&mut self.inner, &mut self.buffer)?;
        }
        Ok(&self.buffer[self.start..self.end])
    }

    fn consume(&mut self, amount: usize) {
        self.start = self.end.min(self.start + amount);
    }
}

/// A form of compression, recognised by the first bytes of a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Codec {
    Gzip,
    Zstd,
}

/// The longest magic number.
pub(super) const MAGIC_BYTES: usize = 4;

impl Codec {
    pub(super) fn of(head: &[u8]) -> Option<Self> {
        match head {
            [0x1F, 0x8B, ..] => Some(Self::Gzip),
            // The second form is a skippable frame, with which parallel compressors begin a file.
            [0x28, 0xB5, 0x2F, 0xFD, ..] | [0x50..=0x5F, 0x2A, 0x4D, 0x18, ..] => Some(Self::Zstd),
            _ => None,
        }
    }

    /// Whether bytes at the end of a file are the beginning of a magic number, cut short.
    fn is_cut(tail: &[u8]) -> bool {
        matches!(tail, [0x1F] | [0x28] | [0x28, 0xB5] | [0x28, 0xB5, 0x2F])
    }
}

/// The content of a compressed file: the members one after another.
///
/// A file may hold several members (`cat a.gz b.gz`, block-wise compressors), and decoders stop after
/// one or take what follows for a broken member. So each member gets a decoder of its own here, and
/// what stands between members is looked at by this code.
pub(super) struct Members(State);

enum State {
    Between(Input),
    Gzip(Box<GzDecoder<Input>>),
    Zstd(Box<ZstdDecoder<'static, Input>>),
    Ended,
}

impl Members {
    pub(super) const fn new(input: Input) -> Self {
        Self(State::Between(input))
    }

    /// Starts the member that the input stands in front of.
    fn begin(mut input: Input) -> io::Result<State> {
        let head = input.peek(MAGIC_BYTES)?;
        Ok(match Codec::of(head) {
            Some(Codec::Gzip) => State::Gzip(Box::new(GzDecoder::new(input))),
            Some(Codec::Zstd) => State::Zstd(Box::new(ZstdDecoder::with_buffer(input)?.single_frame())),
            None if head.is_empty() => State::Ended,
            None if Codec::is_cut(head) => return Err(io::Error::other(ArchiveFault(RecordFault::Truncated))),
            None => return Err(io::Error::other(ArchiveFault(RecordFault::Trailing))),
        })
    }
}

impl Read for Members {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = match &mut self.0 {
                State::Ended => return Ok(0),
                State::Between(_) => 0,
                State::Gzip(decoder) => read(decoder, out).map_err(fault_of_decoder)?,
                State::Zstd(decoder) => read(decoder, out).map_err(fault_of_decoder)?,
            };
            if read > 0 || out.is_empty() {
                return Ok(read);
            }
            self.0 = match std::mem::replace(&mut self.0, State::Ended) {
                State::Between(input) => Self::begin(input)?,
                State::Gzip(decoder) => State::Between(decoder.into_inner()),
                State::Zstd(decoder) => State::Between(decoder.finish()),
                State::Ended => State::Ended,
            };
        }
    }
}

/// A fault of the archive, carried through the interface of `Read`.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct ArchiveFault(RecordFault);

/// Decoders report bad data as errors of input; those of the system have a number.
fn fault_of_decoder(error: io::Error) -> io::Error {
    if error.raw_os_error().is_some() {
        return error;
    }
    io::Error::other(ArchiveFault(match error.kind() {
        io::ErrorKind::UnexpectedEof => RecordFault::Truncated,
        // The decoder has no other word for a window that is larger than its limit.
        _ if error.to_string().contains("requires too much memory") => RecordFault::Window,
        _ => RecordFault::Corrupt { what: crate::shown::short(error.to_string().as_bytes()) },
    }))
}

/// The fault of the archive behind an error, or the error itself where the system failed.
pub(super) fn archive_fault(error: io::Error) -> Result<RecordFault, io::Error> {
    error.downcast::<ArchiveFault>().map(|fault| fault.0)
}
