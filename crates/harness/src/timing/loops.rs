//! The loops around lookups that every measurement shares: `compare`, the benches and the records.

use std::hint::black_box;

use shardlab_core::{KeyError, KeyHasher, NodeId, RawBatch, Sharder};

/// How many keys a batch has: their answers stay in the first cache beside them.
pub const BATCH: usize = 1024;

/// Goes through a list again and again, a run of neighbours at a time.
#[derive(Clone, Copy, Debug)]
pub struct Cycle<'a> {
    keys: &'a [u64],
    at: usize,
}

impl<'a> Cycle<'a> {
    /// Begins at the first key.
    ///
    /// # Panics
    /// There is no key.
    #[must_use]
    pub fn new(keys: &'a [u64]) -> Self {
        assert!(!keys.is_empty(), "at least one key");
        Self { keys, at: 0 }
    }

    /// The next keys, as many as asked for unless the list ends.
    fn next(&mut self, most: usize) -> &'a [u64] {
        if self.at == self.keys.len() {
            self.at = 0;
        }
        let end = self.keys.len().min(self.at + most);
        let run = &self.keys[self.at..end];
        self.at = end;
        run
    }

    /// Calls for runs of keys until `count` keys have passed; no run is longer than `most`.
    pub fn runs(&mut self, mut count: usize, most: usize, mut each: impl FnMut(&'a [u64])) {
        while count > 0 {
            let run = self.next(count.min(most));
            count -= run.len();
            each(run);
        }
    }
}

/// A chain of `count` lookups in which each key depends on the answer before, so that no two
/// overlap. Returns the sum of all answers.
pub fn chain(sharder: &dyn Sharder, keys: &mut Cycle<'_>, count: usize) -> u64 {
    let (mut last, mut sum) = (NodeId(0), 0_u64);
    keys.runs(count, usize::MAX, |run| {
        for &key in run {
            // Node numbers end at 2^31 − 1, so this adds nothing, which the compiler cannot know.
            last = sharder.shard(key ^ u64::from(last.0 >> 31));
            sum = sum.wrapping_add(u64::from(last.0));
        }
    });
    sum
}

/// `count` lookups one by one that do not depend on each other. Returns the sum of all answers.
pub fn singles(sharder: &dyn Sharder, keys: &mut Cycle<'_>, count: usize) -> u64 {
    let mut sum = 0_u64;
    keys.runs(count, usize::MAX, |run| {
        for &key in run {
            sum = sum.wrapping_add(u64::from(sharder.shard(key).0));
        }
    });
    sum
}

/// `count` lookups in batches of [`BATCH`]. Returns the sum of one answer of each batch; all of them
/// are written to memory that the compiler must believe is read.
pub fn batches(sharder: &dyn Sharder, keys: &mut Cycle<'_>, count: usize) -> u64 {
    let mut out = [NodeId(0); BATCH];
    let mut sum = 0_u64;
    keys.runs(count, BATCH, |run| {
        sharder.shard_many(run, &mut out[..run.len()]);
        sum = sum.wrapping_add(u64::from(black_box(&mut out)[0].0));
    });
    sum
}

/// Hashes and places all documents of a batch, through buffers of the caller's that grow as needed.
/// Returns the sum of one answer.
///
/// # Errors
/// A document cannot be hashed.
pub fn documents(
    hasher: &dyn KeyHasher,
    sharder: &dyn Sharder,
    batch: &RawBatch<'_>,
    keys: &mut Vec<u64>,
    out: &mut Vec<NodeId>,
) -> Result<u64, KeyError> {
    keys.resize(batch.len(), 0);
    out.resize(batch.len(), NodeId(0));
    hasher.hash_many(batch, keys)?;
    sharder.shard_many(keys, out);
    Ok(black_box(out).first().map_or(0, |node| u64::from(node.0)))
}

#[cfg(test)]
pub(crate) mod tests {
    use shardlab_core::{Change, Members, Unsupported};

    use super::*;
    use crate::Floor;

    /// Places a key on its last decimal digit.
    #[derive(Debug)]
    pub(crate) struct LastDigit(Members);

    impl LastDigit {
        pub(crate) fn new() -> Self {
            Self(Members::dense(10).unwrap())
        }
    }

    impl Sharder for LastDigit {
        fn shard(&self, key: u64) -> NodeId {
            NodeId(u32::try_from(key % 10).unwrap())
        }

        fn members(&self) -> &Members {
            &self.0
        }

        fn heap_bytes(&self) -> usize {
            0
        }

        fn apply(&mut self, change: &Change) -> Result<(), Unsupported> {
            self.0 = self.0.after(change)?;
            Ok(())
        }

        fn box_clone(&self) -> Box<dyn Sharder> {
            Box::new(Self::new())
        }
    }

    #[test]
    fn a_cycle_gives_every_key_in_turn_and_exactly_as_many_as_asked() {
        let keys = [1, 2, 3, 4, 5];
        let mut cycle = Cycle::new(&keys);
        let mut seen = Vec::new();
        for count in [3, 1, 7, 0, 2] {
            let before = seen.len();
            cycle.runs(count, 2, |run| {
                assert!((1..=2).contains(&run.len()));
                seen.extend_from_slice(run);
            });
            assert_eq!(seen.len() - before, count);
        }
        assert_eq!(seen, [1, 2, 3, 4, 5, 1, 2, 3, 4, 5, 1, 2, 3]);
    }

    #[test]
    fn all_loops_sum_the_answers_of_a_sharder() {
        let floor = Floor::new(Members::dense(1).unwrap());
        let keys = [7, 8, 9];
        assert_eq!(chain(&floor, &mut Cycle::new(&keys), 10), 0);
        assert_eq!(singles(&floor, &mut Cycle::new(&keys), 10), 0);
        assert_eq!(batches(&floor, &mut Cycle::new(&keys), 3000), 0);
        let digits = LastDigit::new();
        assert_eq!(chain(&digits, &mut Cycle::new(&keys), 6), 48);
        assert_eq!(singles(&digits, &mut Cycle::new(&keys), 4), 31);
        assert_eq!(batches(&digits, &mut Cycle::new(&keys), 3), 7);
    }
}
