//! Partitioned routing as a wrapper around a hash.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use proptest::prelude::*;
use shardlab_core::{KeyFault, KeyHasher, RawKey};
use shardlab_hash::{EsMurmur3, Partitioned, murmur3_utf16};

fn partitioned(size: u32) -> Partitioned {
    Partitioned::new(Box::new(EsMurmur3), size)
}

#[test]
fn a_document_without_a_routing_value_is_refused() {
    assert_eq!(partitioned(3).hash(&RawKey::id(b"a")), Err(KeyFault::RoutingRequired));
    assert_eq!(partitioned(3).searched(b""), Err(KeyFault::RoutingRequired));
    assert!(partitioned(3).rules().routing_required);
}

#[test]
fn the_sum_wraps_at_32_bits() {
    // "r33520519" hashes to 2147483631, 16 below the largest number, and "d1" to 1039625899.
    let document = RawKey { id: b"d1", routing: b"r33520519" };
    assert_eq!(murmur3_utf16("r33520519"), 2_147_483_631);
    let offset = 1_039_625_899 % 47;
    let expected = 2_147_483_631_i32.wrapping_add(offset);
    assert!(expected < 0);
    let found = partitioned(47).hash(&document).unwrap();
    assert_eq!(found, u64::from(expected.cast_unsigned()));
    assert_eq!(partitioned(47).form().show(found), expected.to_string());
}

proptest! {
    #[test]
    fn the_offset_is_the_floor_remainder_of_the_ids_hash(id in ".{1,20}", routing in ".{1,20}", size in 1_u32..2000) {
        let document = RawKey { id: id.as_bytes(), routing: routing.as_bytes() };
        let offset = i64::from(murmur3_utf16(&id)).rem_euclid(i64::from(size));
        let expected = murmur3_utf16(&routing).wrapping_add(i32::try_from(offset).unwrap());
        let hasher = partitioned(size);
        let key = hasher.hash(&document).unwrap();
        prop_assert_eq!(key, u64::from(expected.cast_unsigned()));
        prop_assert!(hasher.searched(document.routing).unwrap().unwrap().contains(&key));
    }
}
