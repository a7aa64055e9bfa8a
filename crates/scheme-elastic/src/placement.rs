use shardlab_kernels::remainder::SignedRemainder;

use crate::{Generation, Index};

const SIGN: u32 = 1 << 31;

/// The routing function of an index, without a division. Elasticsearch 1.x drops the sign of a
/// remainder; later servers take floorMod.
pub(crate) fn placement(index: Index) -> SignedRemainder {
    match index.generation() {
        Generation::Djb2 => SignedRemainder::of_magnitude(modulus(index), index.shards()),
        _ => SignedRemainder::floored(modulus(index), index.shards()),
    }
}

/// What the hash is divided by.
pub(crate) fn modulus(index: Index) -> u32 {
    if index.generation().is_modular() { index.shards() } else { index.routing_shards() }
}

/// How many of the 2^32 hashes each shard owns.
///
/// Of the 2^32 consecutive hashes, every residue gets 2^32 / M, and the 2^32 mod M residues from
/// that of the smallest hash on get one more.
pub(crate) fn owned(index: Index) -> Vec<u128> {
    let modulus = u64::from(modulus(index));
    let shards = u64::from(index.shards());
    if index.generation() == Generation::Djb2 {
        // Magnitudes 0 to 2^31 − 1 from hashes that are not negative, 1 to 2^31 from those that are.
        let upto = |count: u64, residue: u64| (count + modulus - 1 - residue) / modulus;
        let half = u64::from(SIGN);
        let own = |residue| upto(half, residue) + upto(half + 1, residue) - u64::from(residue == 0);
        return (0..shards).map(|residue| u128::from(own(residue))).collect();
    }
    let whole = 1_u64 << 32;
    let first = u64::from(crate::index::floor_mod(i32::MIN, crate::placement::modulus(index)));
    let longer = whole % modulus;
    // Residues below x with one hash more: the run that starts at `first`, and its part beyond M.
    let longer_below = |x: u64| x.saturating_sub(first).min(longer) + x.min((first + longer).saturating_sub(modulus));
    let run = modulus / shards;
    let upto = |shard: u64| shard * run * (whole / modulus) + longer_below(shard * run);
    (0..shards).map(|shard| u128::from(upto(shard + 1) - upto(shard))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const GENERATIONS: [Generation; 4] =
        [Generation::Djb2, Generation::ShardsAsRoutingShards, Generation::DefaultRoutingShards, Generation::ShardCount];

    fn key(hash: i32) -> u64 {
        u64::from(hash.cast_unsigned())
    }

    #[test]
    fn no_count_up_to_10_000_places_an_edge_hash_wrongly() {
        for generation in GENERATIONS {
            for shards in 1..=10_000 {
                let index = Index::new(generation, shards, None, 1).unwrap();
                let placement = placement(index);
                let near = i32::try_from(index.routing_shards()).unwrap();
                for hash in [0, 1, -1, i32::MIN, i32::MIN + 1, i32::MAX, near, -near, near - 1, 1 - near] {
                    assert_eq!(placement.of(key(hash)), index.shard_of(hash), "{index:?}, hash {hash}");
                }
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn placing_without_division_equals_the_rule(
            shards in 1_u32..=46_340, factor in 1_u32..=46_340, hashes in prop::collection::vec(any::<i32>(), 64),
        ) {
            for generation in GENERATIONS {
                let index = Index::new(generation, shards, Some(shards * factor), 1).unwrap();
                let placement = placement(index);
                for &hash in &hashes {
                    prop_assert_eq!(placement.of(key(hash)), index.shard_of(hash));
                }
            }
        }

        #[test]
        fn borders_of_shards_are_exact_for_the_largest_routing_shards(
            shards in 1_u32..=2_147_483_647, hash in any::<i32>(), step in 0_i32..3,
        ) {
            let largest = 2_147_483_647 / shards * shards;
            for routing_shards in [largest, shards] {
                let index =
                    Index::new(Generation::DefaultRoutingShards, shards, Some(routing_shards), 1).unwrap();
                let run = i64::from(index.routing_factor());
                let border = i64::from(hash).div_euclid(run) * run;
                let near = i32::try_from(border).unwrap_or(hash).saturating_add(step - 1);
                prop_assert_eq!(placement(index).of(key(near)), index.shard_of(near));
            }
        }

        #[test]
        fn owned_hashes_are_those_of_whole_rounds_and_one_rest(
            shards in 1_u32..=40, factor in 1_u32..=40,
        ) {
            for generation in GENERATIONS {
                let index = Index::new(generation, shards, Some(shards * factor), 1).unwrap();
                let modulus = modulus(index);
                // Count a whole number of rounds by one of them, and the rest hash by hash.
                let mut naive = vec![0_u128; shards as usize];
                if generation == Generation::Djb2 {
                    let half = 1_u64 << 31;
                    for residue in 0..modulus {
                        let index = usize::try_from(residue).unwrap();
                        naive[index] += 2 * u128::from(half / u64::from(modulus));
                    }
                    for magnitude in half / u64::from(modulus) * u64::from(modulus)..half {
                        naive[usize::try_from(magnitude % u64::from(modulus)).unwrap()] += 2;
                    }
                    // Zero has no negative twin, and −2^31 has no positive one.
                    naive[0] -= 1;
                    naive[usize::try_from(half % u64::from(modulus)).unwrap()] += 1;
                } else {
                    let rounds = (1_u64 << 32) / u64::from(modulus);
                    let round = i32::try_from(modulus).unwrap();
                    for hash in 0..round {
                        naive[index.shard_of(hash) as usize] += u128::from(rounds);
                    }
                    let rest = i32::try_from((1_u64 << 32) % u64::from(modulus)).unwrap();
                    for hash in i32::MIN..i32::MIN + rest {
                        naive[index.shard_of(hash) as usize] += 1;
                    }
                }
                prop_assert_eq!(owned(index), naive);
            }
        }
    }
}
