//! Every kernel answers the bits of its twin in plain Rust, which is held against an independent
//! definition here, whatever the length, the alignment and the number of nodes.

#![allow(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a failing test may panic, and oracles cast"
)]

use std::convert::Infallible;

use proptest::prelude::*;
use shardlab_kernels::jump::{self, Rounding};
use shardlab_kernels::mix::{mix64, mix64_many, xxh3_u64, xxh3_u64_many};
use shardlab_kernels::remainder::{Remainder, SignedRemainder};
use shardlab_kernels::rendezvous::{Nodes, Words};
use shardlab_kernels::ring::{Layout, Points};
use shardlab_kernels::walk::{FreeSlots, Walk};
use shardlab_kernels::{Simd, murmur3, table};

/// More than all vectors of any kernel together, and every tail of each.
const LONGEST: usize = 200;

/// Keys at which something may turn: ends of the range, of 32 bits and of 53, and neighbours.
fn key() -> impl Strategy<Value = u64> {
    let edge = prop::sample::select(vec![0, 1, 2, 1 << 31, 1 << 32, 1 << 33, 1 << 53, 1 << 63, u64::MAX]);
    prop_oneof![any::<u64>(), (edge, -2_i64..=2).prop_map(|(edge, by)| edge.wrapping_add_signed(by)), 0..10_000_u64]
}

fn keys() -> impl Strategy<Value = Vec<u64>> {
    prop::collection::vec(key(), 0..=LONGEST)
}

/// Numbers at powers of two and around them, and any others.
fn around_powers(most: u32) -> impl Strategy<Value = u32> {
    let power = (0..=31_u32, -2_i64..=2).prop_map(|(bit, by)| u32::try_from(((1_i64 << bit) + by).max(1)).unwrap());
    prop_oneof![power, 1..=most, 1..=2000_u32, 1..=1_u32 << 20].prop_map(move |n| n.min(most))
}

/// Runs a kernel at every level of this machine and at every start within a vector, and compares each
/// answer with that for the key alone.
fn same<T: Copy, O: Copy + Default + PartialEq + std::fmt::Debug>(
    input: &[T],
    kernel: impl Fn(Simd, &[T], &mut [O]),
    one: impl Fn(T) -> O,
) {
    let expected: Vec<O> = input.iter().map(|&value| one(value)).collect();
    for simd in Simd::available() {
        for start in 0..input.len().min(8) {
            let mut out = vec![O::default(); input.len() + 1];
            // The answers start at another alignment than the keys.
            kernel(simd, &input[start..], &mut out[start + 1..]);
            assert_eq!(&out[start + 1..], &expected[start..], "{simd:?} from {start} on");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn a_number_hashes_as_its_eight_bytes_do(numbers in keys()) {
        same(&numbers, xxh3_u64_many, |number| xxhash_rust::xxh3::xxh3_64(&number.to_le_bytes()));
        prop_assert!(numbers.iter().all(|&n| xxh3_u64(n) == xxhash_rust::xxh3::xxh3_64(&n.to_le_bytes())));
    }

    #[test]
    fn a_number_is_mixed_among_others_as_alone(numbers in keys()) {
        // The finaliser as Steele, Lea and Flood print it, with Stafford's thirteenth set of constants.
        let mixed = |mut z: u64| {
            for (shift, factor) in [(30, 0xBF58_476D_1CE4_E5B9), (27, 0x94D0_49BB_1331_11EB), (31, 1)] {
                z = (z ^ (z >> shift)).wrapping_mul(factor);
            }
            z
        };
        same(
            &numbers,
            |simd, numbers, out| {
                out.copy_from_slice(numbers);
                mix64_many(simd, out);
            },
            mixed,
        );
        prop_assert!(numbers.iter().all(|&number| mix64(number) == mixed(number)));
    }

    #[test]
    fn a_remainder_by_multiplication_is_that_of_division(keys in keys(), n in around_powers(1 << 31)) {
        let remainder = Remainder::new(n);
        same(&keys, |simd, keys, out| remainder.of_many(simd, keys, out), |key| (key % u64::from(n)) as u32);
        // Multiples of the divisor and their neighbours are where a quotient is off by one first.
        let edges: Vec<u64> = keys.iter().map(|&key| (key / u64::from(n) * u64::from(n)).wrapping_sub(key & 1)).collect();
        same(&edges, |simd, keys, out| remainder.of_many(simd, keys, out), |key| (key % u64::from(n)) as u32);
    }

    #[test]
    fn a_signed_remainder_is_that_of_division(keys in keys(), parts in around_powers(40_000), factor in 1..=50_000_u32) {
        let modulus = u32::try_from((u64::from(parts) * u64::from(factor)).min((1 << 31) - 1)).unwrap();
        let (parts, factor) = if modulus % parts == 0 { (parts, modulus / parts) } else { (1, modulus) };
        let hash = |key: u64| i64::from((key as u32).cast_signed());
        let floored = SignedRemainder::floored(modulus, parts);
        same(&keys, |simd, keys, out| floored.of_many(simd, keys, out), |key| {
            hash(key).rem_euclid(modulus.into()) as u32 / factor
        });
        let magnitude = SignedRemainder::of_magnitude(modulus, parts);
        same(&keys, |simd, keys, out| magnitude.of_many(simd, keys, out), |key| {
            (hash(key) % i64::from(modulus)).unsigned_abs() as u32 / factor
        });
    }

    #[test]
    fn walks_that_go_together_end_where_each_ends_alone(keys in keys(), n in around_powers((1 << 31) - 1)) {
        for rounding in [Rounding::Paper, Rounding::Guava] {
            same(&keys, |simd, keys, out| jump::jump_many(simd, keys, n, rounding, out), |key| {
                // The walk as it is written down, in whole numbers.
                let (mut state, mut at, mut next) = (key, 0, 0_i64);
                while next < n.into() {
                    at = next;
                    state = jump::next_state(state);
                    let x = (state >> 33) + 1;
                    let from = (at + 1) as f64;
                    next = match rounding {
                        Rounding::Paper => (from * ((1_u64 << 31) as f64 / x as f64)) as i64,
                        Rounding::Guava if x == 1 << 31 => i64::MAX,
                        Rounding::Guava => (from / (x as f64 / (1_u64 << 31) as f64)) as i64,
                    };
                }
                at as u32
            });
        }
    }

    #[test]
    fn the_best_node_is_the_first_of_the_highest_score(
        keys in keys(),
        count in prop_oneof![3 => 1..=70_usize, 1 => 120..=136_usize, 1 => 250..=260_usize, 1 => 2040..=2060_usize],
        distinct in prop::sample::select(vec![1_u64, 3, 1 << 40]),
        salt in any::<u64>(),
    ) {
        // Few distinct seeds make ties, which the first must win.
        let seeds: Vec<Words> = (0..count as u64).map(|i| Words::of(xxh3_u64(salt ^ (i * 7 % distinct)))).collect();
        let nodes = Nodes::new(seeds.iter().copied());
        let first_highest = |key: u64| {
            let score = |at: usize| Words::of(key).score(seeds[at]);
            (0..count).max_by_key(|&at| (score(at), std::cmp::Reverse(at))).unwrap() as u32
        };
        same(&keys, |simd, keys, out| nodes.best_many(simd, keys, out), first_highest);
        for simd in Simd::available() {
            prop_assert!(keys.iter().all(|&key| nodes.best(simd, Words::of(key)) == first_highest(key)));
        }
    }

    #[test]
    fn an_entry_is_that_of_the_slot(keys in keys(), slots in prop_oneof![1..=70_u32, 65_535..=65_539_u32]) {
        let table: Vec<u32> = (0..slots).map(|slot| slot.wrapping_mul(0x9E37_79B9)).collect();
        let narrow: Vec<u16> = table.iter().map(|&entry| (entry >> 16) as u16).collect();
        let slot = |key: u64| ((u128::from(key.wrapping_mul(table::GOLDEN)) * u128::from(slots)) >> 64) as usize;
        same(&keys, |simd, keys, out| table::entries_32(simd, &table, keys, out), |key| table[slot(key)]);
        same(&keys, |simd, keys, out| table::entries_16(simd, &narrow, keys, out), |key| narrow[slot(key)].into());
    }

    #[test]
    fn the_owner_is_that_of_the_first_point_at_or_after_the_key(
        keys in keys(),
        mut points in prop::collection::vec(key(), 1..=LONGEST),
        width in prop::sample::select(vec![1_u32, 8, 31, 32, 63, 64]),
        bits in 1..=9_u32,
        crowd in any::<bool>(),
    ) {
        let mask = u64::MAX >> (64 - width);
        // Points in one corner leave most cells empty and make others long.
        let corner = if crowd { mask >> width.min(6) } else { mask };
        points.iter_mut().for_each(|point| *point &= corner);
        points.sort_unstable();
        points.dedup();
        let shift = width - bits.min(width);
        let cells = 1 << bits.min(width);
        let layout = Layout::new(points.len(), cells, shift);
        let mut words = vec![0; layout.words()];
        let (positions, index, owners) = layout.parts_mut(&mut words);
        positions.fill(u64::MAX);
        positions[..points.len()].copy_from_slice(&points);
        for (cell, before) in (0..).zip(index) {
            *before = points.iter().filter(|&&point| point >> shift < cell).count() as u32;
        }
        owners.iter_mut().zip(0..).for_each(|(owner, at)| *owner = at * 7 + 3);
        let owners = owners.to_vec();
        let ring = Points { words: &words, layout };
        // Keys near points, as well as those beyond the circle.
        let near: Vec<u64> =
            keys.iter().zip(points.iter().cycle()).map(|(key, point)| point.wrapping_add(key % 3).wrapping_sub(1)).collect();
        for keys in [keys, near] {
            same(&keys, |simd, keys, out| ring.owners(simd, keys, out), |key| {
                owners[points.iter().take_while(|&&point| point < key).count()]
            });
        }
    }

    #[test]
    fn texts_hash_as_their_code_units_do(
        texts in prop::collection::vec(
            prop_oneof![
                prop::collection::vec(0..0x80_u8, 0..40).prop_map(|text| String::from_utf8(text).unwrap()),
                prop::collection::vec(0..0x80_u8, 20).prop_map(|text| String::from_utf8(text).unwrap()),
                "\\PC{0,12}",
            ],
            0..=LONGEST,
        ),
    ) {
        let bytes = texts.concat().into_bytes();
        let ends: Vec<usize> =
            texts.iter().scan(0, |end, text| { *end += text.len(); Some(*end) }).collect();
        let one = |text: &str| {
            let units: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
            let (blocks, tail) = units.as_chunks::<4>();
            let mut hash = blocks.iter().fold(0, |hash, block| murmur3::absorb(hash, u32::from_le_bytes(*block)));
            if let [low, high] = *tail {
                hash ^= murmur3::scramble(u16::from_le_bytes([low, high]).into());
            }
            murmur3::finish(hash, units.len() as u32)
        };
        let expected: Vec<u64> = texts.iter().map(|text| one(text).into()).collect();
        for simd in Simd::available() {
            let mut out = vec![u64::MAX; texts.len()];
            let mut asked = Vec::new();
            murmur3::utf16_many(simd, &bytes, &ends, &mut out, |row, place| {
                asked.push(row);
                Ok::<u32, Infallible>(one(std::str::from_utf8(&bytes[place]).unwrap()))
            }).unwrap();
            prop_assert_eq!(&out, &expected, "{:?}", simd);
            prop_assert!(asked.is_sorted(), "rows come in order");
            for (row, text) in texts.iter().enumerate() {
                prop_assert!(text.is_ascii() || asked.contains(&row), "only ASCII goes through vectors");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn every_turn_takes_the_first_free_slot_of_its_walk(
        table in prop_oneof![1..=70_u32, 31..=33_u32, 500..=600_u32],
        seeds in prop::collection::vec(any::<(u32, u32)>(), 1..20),
        order in prop::collection::vec(any::<prop::sample::Index>(), 1..=600),
    ) {
        let coprime = |skip: u32| (skip..).find(|&skip| (2..=table).all(|d| skip % d > 0 || table % d > 0)).unwrap();
        let walks: Vec<Walk> = seeds
            .iter()
            .map(|&(next, skip)| Walk { next: next % table, skip: coprime(skip % 1000 + 1) % table })
            .collect();
        let turns: Vec<u32> =
            order.iter().take(table as usize).map(|index| index.index(walks.len()) as u32).collect();
        // Slot by slot, as it is written down.
        let (mut taken, mut naive) = (vec![false; table as usize], walks.clone());
        let expected: Vec<(u32, u32)> = turns
            .iter()
            .map(|&turn| {
                let walk = &mut naive[turn as usize];
                while taken[walk.next as usize] {
                    walk.next = (walk.next + walk.skip) % table;
                }
                let slot = walk.next;
                taken[slot as usize] = true;
                walk.next = (slot + walk.skip) % table;
                (slot, turn)
            })
            .collect();
        for simd in Simd::available() {
            let (mut free, mut moving, mut placed) = (FreeSlots::new(table), walks.clone(), Vec::new());
            free.take_turns(simd, &mut moving, turns.iter().copied(), |slot, turn| placed.push((slot, turn)));
            prop_assert_eq!(&placed, &expected, "{:?}", simd);
            prop_assert_eq!(&moving, &naive);
            let left: Vec<u32> = (0..table).filter(|&slot| !taken[slot as usize]).collect();
            prop_assert_eq!(free.slots(), left);
        }
    }
}

#[test]
fn the_first_text_that_fails_ends_the_hashing() {
    let bytes = "é".repeat(40);
    let ends: Vec<usize> = (1..=40).map(|i| 2 * i).collect();
    for simd in Simd::available() {
        let mut out = vec![0; 40];
        let failed =
            murmur3::utf16_many(
                simd,
                bytes.as_bytes(),
                &ends,
                &mut out,
                |row, _| {
                    if row < 21 { Ok(0) } else { Err(row) }
                },
            );
        assert_eq!(failed, Err(21));
    }
}

/// A contract that is broken ends in a panic and reads nothing that it must not.
#[test]
fn ends_that_do_not_ascend_are_refused() {
    let bytes = [b'a'; 64];
    for wrong in [65, usize::MAX, 3] {
        let mut ends: Vec<usize> = (1..=16).map(|i| 4 * i).collect();
        ends[9] = wrong;
        for simd in Simd::available() {
            let mut out = vec![0; 16];
            let ends = ends.clone();
            let result = std::panic::catch_unwind(move || {
                murmur3::utf16_many(simd, &bytes, &ends, &mut out, |row, place| {
                    assert!(bytes.get(place).is_some(), "row {row}");
                    Ok::<u32, Infallible>(0)
                })
            });
            assert!(result.is_err(), "{simd:?} took an end of {wrong}");
        }
    }
}
