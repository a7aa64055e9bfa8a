use shardlab_core::RawChunk;
use shardlab_core::rows::KeySet;

use crate::{Part, ReadError};

/// The most documents a chunk holds, and the number of documents in a block of the digest.
pub const BLOCK: usize = 65_536;

/// How much memory the texts of a chunk may take before it is handed out with fewer documents.
pub(crate) const CHUNK_BYTES: usize = 8 << 20;

/// A stream of documents, read or made as it is asked for.
///
/// # Requirements
/// Documents come in the same order whenever the stream is made again from the same source, and the
/// memory in use does not depend on how many there are ([`distinct`](crate::distinct) is the named
/// exception).
///
/// # Usage
/// ```
/// use shardlab_core::{KeyRules, RawChunk};
/// use shardlab_keys::{Documents, ReadError, SyntheticSpec, synthetic};
///
/// fn count(documents: &mut dyn Documents) -> Result<u64, ReadError> {
///     let mut chunk = RawChunk::default();
///     while documents.next_chunk(&mut chunk)? {}
///     Ok(documents.key_set().accepted)
/// }
///
/// let spec = SyntheticSpec::parse("uuid4:100000")?;
/// assert_eq!(count(&mut *synthetic(&spec, 1, KeyRules::default()))?, 100_000);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Documents: Send {
    /// Clears the chunk and fills it with the next documents to be placed, at most [`BLOCK`] of
    /// them. `Ok(false)` says that there are no more, and the chunk is then empty.
    ///
    /// The documents before a bad one are handed out first, so that what is seen before an error
    /// does not depend on the size of chunks. After an error there are no more documents.
    ///
    /// # Errors
    /// The source cannot be read, holds a bad record, or held no document at all.
    fn next_chunk(&mut self, chunk: &mut RawChunk) -> Result<bool, ReadError>;

    /// Takes what the next documents are made of, so that they can be [read](Part::read) by another
    /// thread, and then [joined](Documents::join) in the order in which parts were taken. `false` says
    /// that there is nothing more to take. Parts do not depend on who reads them and when.
    ///
    /// A stream is followed either by chunks or by parts, not by both in turns. Streams that are not
    /// read by several threads give parts that have been read already, as here.
    fn cut(&mut self, part: &mut Part) -> bool {
        part.fill_by(|chunk| self.next_chunk(chunk))
    }

    /// Counts a part that was read. Its documents may then be placed, and an error behind them is in
    /// [`Part::take_error`]; no part is to be joined after one with an error.
    fn join(&mut self, part: &mut Part) {
        let _ = part;
    }

    /// Whether the documents are 64-bit keys without ids, which no hash touches.
    fn are_hashed(&self) -> bool {
        false
    }

    /// How far the reading has come.
    fn progress(&self) -> Progress;

    /// What was counted so far; complete after the end.
    fn key_set(&self) -> KeySet;
}

/// How far the reading of a stream has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// What is done, in [`unit`](Progress::unit)s.
    pub done: u64,
    /// What there is to do, where it is known.
    pub total: Option<u64>,
    /// What is counted.
    pub unit: Unit,
}

/// What a [`Progress`] counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Documents made.
    Documents,
    /// Bytes of the file as it is stored, before decompression.
    Bytes,
}
