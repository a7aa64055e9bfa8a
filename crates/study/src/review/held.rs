//! Documents that are read once and placed many times.

use shardlab_core::RawChunk;
use shardlab_core::rows::KeySet;
use shardlab_keys::{Documents, Progress, ReadError, Unit};

use crate::StudyError;

/// Where the documents of a review come from: each call starts at the beginning.
pub(super) struct Source<'a> {
    open: &'a dyn Fn() -> Result<Box<dyn Documents>, StudyError>,
    held: Option<Held>,
    count: u64,
}

/// All documents, in chunks as they were read.
struct Held {
    chunks: Vec<RawChunk>,
    keys: KeySet,
    are_hashed: bool,
}

impl<'a> Source<'a> {
    /// Reads all documents and keeps them where they take no more than `limit` bytes; else each pass reads them
    /// again.
    pub(super) fn new(
        open: &'a dyn Fn() -> Result<Box<dyn Documents>, StudyError>,
        limit: u64,
        progress: &(dyn Fn(Progress) + Sync),
    ) -> Result<Self, StudyError> {
        let mut documents = open()?;
        let (mut chunks, mut used) = (Vec::new(), 0_u64);
        loop {
            let mut chunk = RawChunk::default();
            if !documents.next_chunk(&mut chunk)? {
                break;
            }
            used = used.saturating_add(heap_bytes(&chunk));
            progress(documents.progress());
            if used > limit {
                // The rest is only counted.
                chunks.clear();
                continue;
            }
            chunks.push(chunk);
        }
        let count = documents.key_set().accepted;
        if used > limit {
            return Ok(Self { open, held: None, count });
        }
        let held = Held { keys: documents.key_set(), are_hashed: documents.are_hashed(), chunks };
        Ok(Self { open, held: Some(held), count })
    }

    /// How many documents there are, once they were read.
    pub(super) fn documents_read(&self) -> u64 {
        self.count
    }

    /// All documents from the beginning.
    pub(super) fn documents(&self) -> Result<Box<dyn Documents + '_>, StudyError> {
        match &self.held {
            Some(held) => Ok(Box::new(Replay { held, next: 0, done: 0 })),
            None => (self.open)(),
        }
    }
}

/// What a chunk takes, roughly: its texts and a few words for each document.
fn heap_bytes(chunk: &RawChunk) -> u64 {
    let batch = chunk.as_batch();
    let texts: usize = batch.iter().map(|key| key.id.len() + key.routing.len()).sum();
    u64::try_from(texts + 40 * batch.len()).unwrap_or(u64::MAX)
}

struct Replay<'a> {
    held: &'a Held,
    next: usize,
    done: u64,
}

impl Documents for Replay<'_> {
    fn next_chunk(&mut self, chunk: &mut RawChunk) -> Result<bool, ReadError> {
        chunk.clear();
        let Some(held) = self.held.chunks.get(self.next) else { return Ok(false) };
        chunk.clone_from(held);
        self.next += 1;
        self.done += u64::try_from(held.len()).unwrap_or(u64::MAX);
        Ok(true)
    }

    fn are_hashed(&self) -> bool {
        self.held.are_hashed
    }

    fn progress(&self) -> Progress {
        Progress { done: self.done, total: Some(self.held.keys.accepted), unit: Unit::Documents }
    }

    fn key_set(&self) -> KeySet {
        self.held.keys.clone()
    }
}

#[cfg(test)]
mod tests {
    use shardlab_core::KeyRules;
    use shardlab_keys::{SyntheticSpec, synthetic};

    use super::*;

    fn all(documents: &mut dyn Documents) -> (Vec<Vec<u8>>, KeySet) {
        let (mut ids, mut chunk) = (Vec::new(), RawChunk::default());
        while documents.next_chunk(&mut chunk).unwrap() {
            ids.extend(chunk.as_batch().iter().map(|key| key.id.to_vec()));
        }
        (ids, documents.key_set())
    }

    #[test]
    fn documents_are_the_same_whether_they_are_held_or_read_again() {
        let spec = SyntheticSpec::parse("zipf-tenants:9000").unwrap();
        let open = || Ok::<_, StudyError>(synthetic(&spec, 5, KeyRules::default()));
        let held = Source::new(&open, u64::MAX, &|_| {}).unwrap();
        let read = Source::new(&open, 1000, &|_| {}).unwrap();
        assert!(held.held.is_some() && read.held.is_none());
        let expected = all(&mut *open().unwrap());
        for source in [held, read] {
            assert_eq!(all(&mut *source.documents().unwrap()), expected);
            assert_eq!(all(&mut *source.documents().unwrap()), expected);
        }
    }
}
