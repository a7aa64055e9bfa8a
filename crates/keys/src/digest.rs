use shardlab_core::RawKey;
use xxhash_rust::xxh3::Xxh3;

use crate::BLOCK;

/// Bytes that gather before the hash takes them: it is fastest on long strings, and these stay in
/// the first-level cache.
const STAGE: usize = 8 << 10;

/// The digest of a list of documents, which does not depend on how they were chunked.
///
/// Documents are written one after another into blocks of [`BLOCK`]: the length of the id as 64 bits,
/// the id, the length of the routing value as 64 bits, the routing value and, where documents have
/// weights, the weight as 64 bits. A key that needs no hashing is its own 64 bits. Numbers are little
/// endian. The digest is XXH3-64 (seed 0) over the XXH3-64 digests of the blocks in order, each again
/// as 64 bits; the last block may be short. Blocks can therefore be made and digested on their own.
#[derive(Default)]
pub(crate) struct Digest {
    block: Xxh3,
    staged: Vec<u8>,
    in_block: usize,
    blocks: Xxh3,
}

impl Digest {
    pub(crate) fn document(&mut self, key: &RawKey<'_>, weight: Option<u64>, requests: Option<u64>) {
        for text in [key.id, key.routing] {
            self.number(u64::try_from(text.len()).unwrap_or(u64::MAX));
            self.staged.extend_from_slice(text);
        }
        if let Some(weight) = weight {
            self.number(weight);
        }
        if let Some(requests) = requests {
            // The word keeps a column of requests apart from the same numbers as weights.
            self.staged.extend_from_slice(b"requests");
            self.number(requests);
        }
        self.finish_document();
    }

    /// Keys that need no hashing.
    pub(crate) fn hashed(&mut self, mut keys: &[u64]) {
        while !keys.is_empty() {
            // No further than the stage or the block goes.
            let room = (STAGE / 8).min(BLOCK - self.in_block).min(keys.len());
            let (now, later) = keys.split_at(room);
            let start = self.staged.len();
            self.staged.resize(start + 8 * now.len(), 0);
            for (bytes, key) in self.staged[start..].as_chunks_mut().0.iter_mut().zip(now) {
                *bytes = key.to_le_bytes();
            }
            self.in_block += now.len() - 1;
            self.finish_document();
            keys = later;
        }
    }

    fn number(&mut self, number: u64) {
        self.staged.extend_from_slice(&number.to_le_bytes());
    }

    fn finish_document(&mut self) {
        self.in_block += 1;
        if self.in_block == BLOCK {
            self.block.update(&self.staged);
            self.blocks.update(&self.block.digest().to_le_bytes());
            self.block.reset();
            self.staged.clear();
            self.in_block = 0;
        } else if self.staged.len() >= STAGE {
            self.block.update(&self.staged);
            // One enormous id must not keep its memory for the rest of the run.
            self.staged.clear();
            self.staged.shrink_to(2 * STAGE);
        }
    }

    /// The digest of all documents so far, as 16 hex digits.
    pub(crate) fn hex(&self) -> String {
        let mut blocks = self.blocks.clone();
        if self.in_block > 0 {
            let mut block = self.block.clone();
            block.update(&self.staged);
            blocks.update(&block.digest().to_le_bytes());
        }
        format!("{:016x}", blocks.digest())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use xxhash_rust::xxh3::xxh3_64;

    use super::*;

    type Document = (Vec<u8>, Vec<u8>, Option<u64>, Option<u64>);

    /// The digest from the whole list at once, as it is defined.
    fn naive(documents: &[Document]) -> String {
        let mut blocks = Vec::new();
        for block in documents.chunks(BLOCK) {
            let mut bytes = Vec::new();
            for (id, routing, weight, requests) in block {
                for text in [id, routing] {
                    bytes.extend_from_slice(&u64::try_from(text.len()).unwrap().to_le_bytes());
                    bytes.extend_from_slice(text);
                }
                bytes.extend(weight.iter().flat_map(|weight| weight.to_le_bytes()));
                if let Some(requests) = requests {
                    bytes.extend_from_slice(b"requests");
                    bytes.extend_from_slice(&requests.to_le_bytes());
                }
            }
            blocks.extend_from_slice(&xxh3_64(&bytes).to_le_bytes());
        }
        format!("{:016x}", xxh3_64(&blocks))
    }

    fn streamed(documents: &[Document]) -> String {
        let mut digest = Digest::default();
        for (id, routing, weight, requests) in documents {
            digest.document(&RawKey { id, routing }, *weight, *requests);
        }
        digest.hex()
    }

    proptest! {
        #[test]
        fn the_streamed_digest_is_the_digest_by_definition(
            documents in prop::collection::vec((any::<Vec<u8>>(), any::<Vec<u8>>(), any::<Option<u64>>(), any::<Option<u64>>()), 0..40)
        ) {
            prop_assert_eq!(streamed(&documents), naive(&documents));
        }
    }

    #[test]
    fn keys_are_digested_alike_however_they_come() {
        let keys: Vec<u64> = (0..2 * BLOCK as u64 + 77).map(|i| i * i).collect();
        let blocks: Vec<u8> = keys
            .chunks(BLOCK)
            .flat_map(|block| {
                xxh3_64(&block.iter().flat_map(|key| key.to_le_bytes()).collect::<Vec<u8>>()).to_le_bytes()
            })
            .collect();
        let expected = format!("{:016x}", xxh3_64(&blocks));
        for size in [7, 1000, BLOCK, keys.len()] {
            let mut digest = Digest::default();
            keys.chunks(size).for_each(|keys| digest.hashed(keys));
            assert_eq!(digest.hex(), expected, "{size} at a time");
        }
    }

    #[test]
    fn blocks_and_stages_change_nothing() {
        for count in [BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK, 2 * BLOCK + 77] {
            let document =
                |i: usize| (format!("id-{i}").into_bytes(), Vec::new(), i.is_multiple_of(2).then_some(7), None);
            let documents: Vec<Document> = (0..count).map(document).collect();
            assert_eq!(streamed(&documents), naive(&documents), "{count} documents");
        }
        let long =
            vec![(vec![b'x'; 3 * STAGE], vec![b'y'; STAGE], None, None), (b"a".to_vec(), Vec::new(), None, None)];
        assert_eq!(streamed(&long), naive(&long));
    }
}
