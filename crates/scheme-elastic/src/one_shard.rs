//! Splitting one shard alone, which no self-managed server does, by the rules that there are.

use shardlab_core::RangeSplit;

use crate::{Generation, Index};

/// The ways to cut `shard` into `parts`; none for an index whose placement has no ranges, or for a shard
/// that is not there.
pub(crate) fn splits_of_one(index: Index, shard: u32, parts: u32) -> Vec<RangeSplit> {
    if shard >= index.shards() || parts == 0 {
        return Vec::new();
    }
    match index.generation() {
        Generation::Djb2 => Vec::new(),
        Generation::ShardsAsRoutingShards => vec![routing_slots(index, shard, parts)],
        Generation::DefaultRoutingShards => vec![routing_slots(index, shard, parts), hash_range(parts)],
        Generation::ShardCount => vec![residues(index, shard, parts)],
    }
}

/// A shard owns consecutive remainders of the hash by the routing shards, and these are shared out.
fn routing_slots(index: Index, shard: u32, parts: u32) -> RangeSplit {
    let (routing_shards, slots) = (index.routing_shards(), index.routing_factor());
    let (first, size) = (i64::from(shard) * i64::from(slots), i64::from(slots / parts));
    let ranges = if slots.is_multiple_of(parts) {
        Ok((0..i64::from(parts)).map(|part| (first + part * size, first + (part + 1) * size - 1)).collect())
    } else {
        let words = if slots == 1 { "one routing slot, which cannot be divided" } else { "routing slots" };
        let count = if slots == 1 { String::new() } else { format!("{slots} ") };
        let rest = if slots == 1 { String::new() } else { format!(", and {slots} mod {parts} = {}", slots % parts) };
        Err(format!("shard {shard} has {count}{words}{rest}"))
    };
    RangeSplit {
        rule: "routing_slots",
        words: format!(
            "by routing slot: floorMod(hash, {routing_shards}) from {first} to {} is shard {shard}, and its slots are \
             shared out; no server does so by itself, and a split of the whole index cuts every shard like this",
            first + i64::from(slots) - 1
        ),
        modulus: Some(routing_shards),
        ranges,
    }
}

/// The whole range of the hash is shared out, whatever the shard.
fn hash_range(parts: u32) -> RangeSplit {
    let size = (1_i64 << 32) / i64::from(parts);
    let first = |part: i64| i64::from(i32::MIN) + part * size;
    let last = |part: i64| if part + 1 == i64::from(parts) { i64::from(i32::MAX) } else { first(part + 1) - 1 };
    RangeSplit {
        rule: "hash_range",
        words:
            "by range of the 32-bit hash, as the experimental in-place split of OpenSearch does; a search needs its \
                table of ranges, and this tool does not place documents by it"
                .to_owned(),
        modulus: None,
        ranges: Ok((0..i64::from(parts)).map(|part| (first(part), last(part))).collect()),
    }
}

/// A shard s of n becomes s, s + n, s + 2n and so on: one remainder each.
fn residues(index: Index, shard: u32, parts: u32) -> RangeSplit {
    let shards = i64::from(index.shards());
    let modulus = index.shards().checked_mul(parts);
    let remainder = |part: i64| i64::from(shard) + part * shards;
    let ranges = (0..i64::from(parts)).map(|part| (remainder(part), remainder(part))).collect();
    RangeSplit {
        rule: "residues",
        words: format!(
            "by remainder: floorMod(hash, {shards} · {parts}), which is how a split of the whole index cuts every shard; \
             the other shards would have to stay as they are, which takes a table of its own"
        ),
        modulus,
        ranges: modulus.map(|_| ranges).ok_or_else(|| format!("{shards} · {parts} is more than 2^32")),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn index(generation: Generation, shards: u32) -> Index {
        Index::new(generation, shards, None, 1).unwrap()
    }

    proptest! {
        #[test]
        fn every_document_of_the_shard_falls_into_exactly_one_part(
            shards in 1_u32..50, shard in 0_u32..50, parts in 1_u32..9, hash: i32, modular: bool,
        ) {
            let generation = if modular { Generation::ShardCount } else { Generation::DefaultRoutingShards };
            let index = index(generation, shards);
            let key = u64::from(hash.cast_unsigned());
            for split in splits_of_one(index, shard, parts) {
                let Ok(ranges) = &split.ranges else { continue };
                prop_assert_eq!(ranges.len(), parts as usize);
                if index.shard_of(hash) == shard {
                    prop_assert!(split.part_of(key).is_some(), "{:?}", split);
                }
                let gap = if split.rule == "residues" { i64::from(shards) } else { 1 };
                prop_assert!(ranges.windows(2).all(|pair| pair[0].1 + gap == pair[1].0));
                // A key of another shard has no part by a remainder of its own.
                if split.rule == "residues" && index.shard_of(hash) != shard {
                    prop_assert_eq!(split.part_of(key), None);
                }
            }
        }

        #[test]
        fn parts_of_a_split_by_slots_are_the_children_of_a_split_of_the_whole(
            shards in 1_u32..20, parts in 2_u32..5, hash: i32, modular: bool,
        ) {
            let generation = if modular { Generation::ShardCount } else { Generation::DefaultRoutingShards };
            let before = index(generation, shards);
            prop_assume!(shards > 1);
            let Ok(after) = before.after_resize(shards * parts, None) else { return Ok(()) };
            let shard = before.shard_of(hash);
            let split = splits_of_one(before, shard, parts).remove(0);
            let part = u32::try_from(split.part_of(u64::from(hash.cast_unsigned())).unwrap()).unwrap();
            let child = if modular { shard + part * shards } else { shard * parts + part };
            prop_assert_eq!(after.shard_of(hash), child);
        }
    }

    #[test]
    fn a_shard_whose_slots_do_not_divide_says_so() {
        let of = |generation, shards, parts| splits_of_one(index(generation, shards), 1, parts).remove(0).ranges;
        assert_eq!(
            of(Generation::DefaultRoutingShards, 4, 3),
            Err("shard 1 has 256 routing slots, and 256 mod 3 = 1".into())
        );
        assert_eq!(
            of(Generation::ShardsAsRoutingShards, 4, 2),
            Err("shard 1 has one routing slot, which cannot be divided".into())
        );
        assert_eq!(of(Generation::DefaultRoutingShards, 4, 2), Ok(vec![(256, 383), (384, 511)]));
        assert!(splits_of_one(index(Generation::Djb2, 4), 1, 2).is_empty());
    }
}
