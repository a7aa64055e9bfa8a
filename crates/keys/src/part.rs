use shardlab_core::{RawBatch, RawChunk};

use crate::ReadError;
use crate::read::Unread;

/// A stretch of a stream on its way from bytes to documents.
///
/// # Usage
/// ```
/// use shardlab_keys::{Documents, Part, ReadError};
///
/// fn count(documents: &mut dyn Documents) -> Result<u64, ReadError> {
///     let mut count = 0;
///     let mut part = Part::default();
///     while documents.cut(&mut part) {
///         // This is the work, and needs the part alone.
///         part.read();
///         documents.join(&mut part);
///         count += part.documents().len() as u64;
///         part.take_error().map_or(Ok(()), Err)?;
///     }
///     Ok(count)
/// }
/// # let spec = shardlab_keys::SyntheticSpec::parse("uuid4:100000").unwrap();
/// # assert_eq!(count(&mut *shardlab_keys::synthetic(&spec, 1, Default::default())).unwrap(), 100_000);
/// ```
#[derive(Default)]
pub struct Part {
    pub(crate) chunk: RawChunk,
    pub(crate) error: Option<ReadError>,
    pub(crate) unread: Unread,
}

impl Part {
    /// Reads the documents, if that was left to do.
    pub fn read(&mut self) {
        self.unread.read(&mut self.chunk, &mut self.error);
    }

    /// The documents, once they were read.
    #[must_use]
    pub fn documents(&self) -> RawBatch<'_> {
        self.chunk.as_batch()
    }

    /// Whether an error stands behind the documents, once the part was joined.
    #[must_use]
    pub fn has_error(&self) -> bool {
        self.error.is_some()
    }

    /// Takes out the error that stands behind the documents, if there is one.
    pub fn take_error(&mut self) -> Option<ReadError> {
        self.error.take()
    }

    /// Fills a part with documents that are read at once; `false` where there are none and no error.
    pub(crate) fn fill_by(&mut self, read: impl FnOnce(&mut RawChunk) -> Result<bool, ReadError>) -> bool {
        self.error = None;
        match read(&mut self.chunk) {
            Ok(more) => more,
            Err(error) => {
                self.chunk.clear();
                self.error = Some(error);
                true
            }
        }
    }
}
