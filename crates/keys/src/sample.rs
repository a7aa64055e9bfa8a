use shardlab_core::RawChunk;
use shardlab_core::rows::KeySet;

use crate::read::open_embedded;
use crate::{Documents, Progress, ReadError, ReadOptions, Unit};

/// 50,000 made-up ids; `data/README.md` tells what they are.
static SAMPLE: &[u8] = include_bytes!("../data/sample-ids.txt.gz");

/// The ids that come with the program: 50,000 made-up ones of the kinds that real indices hold.
///
/// They are plain lines, so options that name fields are refused by the first
/// [`next_chunk`](Documents::next_chunk); `format` and `encoding` say nothing about them.
#[must_use]
pub fn sample(options: &ReadOptions) -> Box<dyn Documents> {
    let options = ReadOptions { encoding: crate::Encoding::Utf8, ..options.clone() };
    open_embedded("sample", SAMPLE, &options).unwrap_or_else(|error| Box::new(Refused(Some(error))))
}

/// A sample that could not be opened: it tells why when it is read.
struct Refused(Option<ReadError>);

impl Documents for Refused {
    fn next_chunk(&mut self, chunk: &mut RawChunk) -> Result<bool, ReadError> {
        chunk.clear();
        self.0.take().map_or(Ok(false), Err)
    }

    fn progress(&self) -> Progress {
        Progress { done: 0, total: Some(0), unit: Unit::Bytes }
    }

    fn key_set(&self) -> KeySet {
        crate::tally::Tally::default().key_set("sample", Vec::new())
    }
}
