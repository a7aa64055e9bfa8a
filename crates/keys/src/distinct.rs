use shardlab_core::rows::KeySet;
use shardlab_core::{RawChunk, RawKey};
use shardlab_hash::mix64;
use xxhash_rust::xxh3::xxh3_64;

use crate::{Documents, Progress, ReadError};

/// Passes on each document once: the first of those with the same id and routing value.
///
/// The answer is exact. The bytes of every different document are kept, and a table finds them: for
/// d documents of b bytes together it takes b + 16 d bytes, at most twice that while it grows, and a
/// table of 11 to 22 bytes a document; keys that need no hashing take the table alone. [`KeySet::distinct`] and
/// [`KeySet::distinct_heap_bytes`] tell how many there are and what they took; all other counts and
/// the digest are those of the documents before.
///
/// Reading ends with [`ReadError::Memory`] when that is more than `max_memory` bytes.
#[must_use]
pub fn distinct(documents: Box<dyn Documents>, max_memory: u64) -> Box<dyn Documents> {
    Box::new(Distinct { documents, chunk: RawChunk::default(), seen: Seen::default(), max_memory, ended: false })
}

struct Distinct {
    documents: Box<dyn Documents>,
    chunk: RawChunk,
    seen: Seen,
    max_memory: u64,
    ended: bool,
}

impl Distinct {
    /// After an error there are no more documents.
    fn check(&mut self) -> Result<(), ReadError> {
        let used = u64::try_from(self.seen.heap_bytes()).unwrap_or(u64::MAX);
        self.ended = used > self.max_memory;
        if self.ended { Err(ReadError::Memory { limit: self.max_memory, distinct: self.seen.count }) } else { Ok(()) }
    }
}

impl Documents for Distinct {
    fn next_chunk(&mut self, chunk: &mut RawChunk) -> Result<bool, ReadError> {
        chunk.clear();
        // A whole chunk of duplicates is not the end.
        while chunk.is_empty() {
            if self.ended || !self.documents.next_chunk(&mut self.chunk)? {
                return Ok(false);
            }
            let batch = self.chunk.as_batch();
            if let Some(keys) = batch.hashed() {
                keys.iter().filter(|&&key| self.seen.insert_hashed(key)).for_each(|&key| chunk.push_hashed(key));
                self.check()?;
                continue;
            }
            for (row, key) in batch.iter().enumerate() {
                if self.seen.insert(&key) {
                    chunk.push(key, batch.weights().map(|weights| weights[row]));
                    if let Some(requests) = batch.requests() {
                        chunk.set_requests(requests[row]);
                    }
                }
            }
            self.check()?;
        }
        Ok(true)
    }

    fn are_hashed(&self) -> bool {
        self.documents.are_hashed()
    }

    fn progress(&self) -> Progress {
        self.documents.progress()
    }

    fn key_set(&self) -> KeySet {
        KeySet {
            distinct: Some(self.seen.count),
            distinct_heap_bytes: u64::try_from(self.seen.heap_bytes()).ok(),
            ..self.documents.key_set()
        }
    }
}

/// A set of documents: an open table of marks into an arena of their bytes, or, for keys that need
/// no hashing, a table of the keys themselves.
#[derive(Default)]
struct Seen {
    /// 0 for an empty slot. A mark holds the position in the arena in its low bits and bits of the
    /// hash above them, which settle almost every comparison without a look at the arena.
    slots: Vec<u64>,
    arena: Vec<u8>,
    count: u64,
    /// The key 0 has no slot, since 0 marks an empty one.
    zero: bool,
}

/// Bits of a mark for the position, plus one, in the arena: more than a process can address.
const POSITION_BITS: u32 = 48;

/// Slots of the first table; every table is a power of two.
const FIRST_SLOTS: usize = 1 << 10;

impl Seen {
    /// Whether the document is new.
    fn insert(&mut self, key: &RawKey<'_>) -> bool {
        self.make_room(|seen, mark| hash(&seen.at(mark)));
        let hash = hash(key);
        let tag = hash >> POSITION_BITS << POSITION_BITS;
        let start = u64::try_from(self.arena.len()).unwrap_or(u64::MAX);
        let is_same = |mark: u64| mark >> POSITION_BITS == hash >> POSITION_BITS && self.at(mark) == *key;
        let Some(slot) = self.free_slot(hash, is_same) else { return false };
        self.slots[slot] = tag | (start + 1);
        for text in [key.id, key.routing] {
            self.arena.extend_from_slice(&u64::try_from(text.len()).unwrap_or(u64::MAX).to_le_bytes());
            self.arena.extend_from_slice(text);
        }
        self.count += 1;
        true
    }

    /// Whether the key is new.
    fn insert_hashed(&mut self, key: u64) -> bool {
        if key == 0 {
            self.count += u64::from(!self.zero);
            return !std::mem::replace(&mut self.zero, true);
        }
        self.make_room(|_, key| mix64(key));
        let Some(slot) = self.free_slot(mix64(key), |other| other == key) else { return false };
        self.slots[slot] = key;
        self.count += 1;
        true
    }

    /// The slot for a value with this hash; none where it is there already.
    fn free_slot(&self, hash: u64, is_same: impl Fn(u64) -> bool) -> Option<usize> {
        let mask = self.slots.len() - 1;
        // The low bits of the hash choose the slot, and the table is never longer than they reach.
        let mut slot = usize::try_from(hash & u64::try_from(mask).unwrap_or(u64::MAX)).unwrap_or(0);
        while self.slots[slot] != 0 {
            if is_same(self.slots[slot]) {
                return None;
            }
            slot = (slot + 1) & mask;
        }
        Some(slot)
    }

    /// Doubles the table when three quarters of it are taken.
    fn make_room(&mut self, hash_of: impl Fn(&Self, u64) -> u64) {
        let length = self.slots.len();
        if self.count < u64::try_from(length / 4 * 3).unwrap_or(u64::MAX) {
            return;
        }
        let old = std::mem::replace(&mut self.slots, vec![0; (length * 2).max(FIRST_SLOTS)]);
        for value in old.into_iter().filter(|&value| value != 0) {
            // All values differ, so there is always a slot.
            if let Some(slot) = self.free_slot(hash_of(self, value), |_| false) {
                self.slots[slot] = value;
            }
        }
    }

    /// The document behind a mark.
    fn at(&self, mark: u64) -> RawKey<'_> {
        let position = (mark & ((1 << POSITION_BITS) - 1)) - 1;
        let start = usize::try_from(position).unwrap_or(usize::MAX);
        let (id, rest) = text(&self.arena[start..]);
        RawKey { id, routing: text(rest).0 }
    }

    fn heap_bytes(&self) -> usize {
        self.arena.capacity() + self.slots.capacity() * size_of::<u64>()
    }
}

/// The text at the front of the arena's bytes, and what follows it.
fn text(bytes: &[u8]) -> (&[u8], &[u8]) {
    let Some((length, rest)) = bytes.split_first_chunk() else { return (&[], &[]) };
    let length = usize::try_from(u64::from_le_bytes(*length)).unwrap_or(usize::MAX);
    rest.split_at(length.min(rest.len()))
}

fn hash(key: &RawKey<'_>) -> u64 {
    let id = xxh3_64(key.id);
    if key.routing.is_empty() { id } else { mix64(id ^ mix64(xxh3_64(key.routing))) }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_table_answers_as_a_plain_set_does(
            documents in prop::collection::vec(("[ab]{0,3}", "[ab]{0,2}"), 0..400),
            keys in prop::collection::vec(0_u64..50, 0..200),
        ) {
            let (mut seen, mut plain) = (Seen::default(), BTreeSet::new());
            for (id, routing) in &documents {
                let key = RawKey { id: id.as_bytes(), routing: routing.as_bytes() };
                prop_assert_eq!(seen.insert(&key), plain.insert((id, routing)));
            }
            prop_assert_eq!(seen.count, plain.len() as u64);
            let (mut seen, mut plain) = (Seen::default(), BTreeSet::new());
            for &key in &keys {
                prop_assert_eq!(seen.insert_hashed(key), plain.insert(key));
            }
            prop_assert_eq!(seen.count, plain.len() as u64);
        }
    }

    #[test]
    fn nothing_is_lost_while_the_table_grows() {
        let mut seen = Seen::default();
        for round in 0..2 {
            for number in 0..20_000_u64 {
                assert_eq!(seen.insert(&RawKey::id(number.to_string().as_bytes())), round == 0);
            }
        }
        assert_eq!(seen.count, 20_000);
        assert_eq!(seen.slots.len(), 32_768);
    }
}
