//! A batch is hashed as its documents are one by one, whatever the hash and the mix of documents.

#![allow(clippy::unwrap_used, reason = "a failing test may panic")]

use proptest::prelude::*;
use shardlab_core::{KeyError, RawChunk, RawKey};
use shardlab_hash::{NAMES, by_name, xxh3_u64, xxh3_u64_many};

/// Ids of one length, of many, in other scripts, of digits alone, and broken ones.
fn text() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        4 => "[ -~]{20}".prop_map(String::into_bytes),
        4 => "[ -~]{0,40}".prop_map(String::into_bytes),
        2 => "[0-9]{1,19}".prop_map(String::into_bytes),
        2 => "\\PC{0,12}".prop_map(String::into_bytes),
        1 => prop::collection::vec(any::<u8>(), 0..12),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn a_batch_hashes_as_its_documents_do_up_to_the_first_that_cannot(
        documents in prop::collection::vec((text(), prop_oneof![3 => Just(Vec::new()), 1 => text()]), 0..100),
        valid_only in any::<bool>(),
        routed in any::<bool>(),
    ) {
        for name in NAMES {
            let hasher = by_name(name).unwrap();
            let mut chunk = RawChunk::default();
            for (id, routing) in &documents {
                let key = RawKey { id, routing: if routed { routing } else { &[] } };
                if !valid_only || hasher.hash(&key).is_ok() {
                    chunk.push(key, None);
                }
            }
            let batch = chunk.as_batch();
            let one_by_one: Result<Vec<u64>, KeyError> = batch
                .iter()
                .enumerate()
                .map(|(row, key)| hasher.hash(&key).map_err(|fault| KeyError { row, fault }))
                .collect();
            prop_assert!(!valid_only || one_by_one.is_ok());
            let mut out = vec![0; batch.len()];
            let together = hasher.hash_many(&batch, &mut out).map(|()| out);
            prop_assert_eq!(together, one_by_one, "{}", name);
        }
    }

    #[test]
    fn numbers_hash_as_their_eight_bytes_do(numbers in prop::collection::vec(any::<u64>(), 0..40)) {
        let mut out = vec![0; numbers.len()];
        xxh3_u64_many(&numbers, &mut out);
        let xxh3 = by_name("xxh3").unwrap();
        for (&number, &hash) in numbers.iter().zip(&out) {
            prop_assert_eq!(hash, xxh3_u64(number));
            prop_assert_eq!(hash, xxh3.hash(&RawKey::id(&number.to_le_bytes())).unwrap());
        }
    }
}
