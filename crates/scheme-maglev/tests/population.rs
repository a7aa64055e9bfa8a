//! The population loop against the paper's listing, taken literally, and the paper's example.
#![allow(clippy::unwrap_used, reason = "helpers of tests say what they expect through unwrap")]

use proptest::prelude::*;
use shardlab_scheme_maglev::{Permutation, next_prime, populate, targets, turns};

const FREE: u32 = u32::MAX;

/// Listing 1 of the paper: all permutations written out, and rounds until the table is full.
fn listing(permutations: &[Vec<u32>], table: usize) -> Vec<u32> {
    let mut next = vec![0; permutations.len()];
    let mut entry = vec![FREE; table];
    let mut filled = 0;
    loop {
        for (node, permutation) in (0_u32..).zip(permutations) {
            let i = node as usize;
            let mut slot = permutation[next[i]] as usize;
            while entry[slot] != FREE {
                next[i] += 1;
                slot = permutation[next[i]] as usize;
            }
            entry[slot] = node;
            next[i] += 1;
            filled += 1;
            if filled == table {
                return entry;
            }
        }
    }
}

/// The listing with the rule of rounds for weights.
fn weighted_listing(permutations: &[Vec<u32>], targets: &[u32], table: usize) -> Vec<u32> {
    let longest = targets.iter().copied().max().unwrap();
    let mut taken = vec![0; targets.len()];
    let mut entry = vec![FREE; table];
    for round in 1..=longest {
        for (node, permutation) in (0_u32..).zip(permutations) {
            let i = node as usize;
            if (round * targets[i]).div_ceil(longest) > taken[i] {
                let slot = permutation.iter().find(|&&slot| entry[slot as usize] == FREE).unwrap();
                entry[*slot as usize] = node;
                taken[i] += 1;
            }
        }
    }
    entry
}

fn written_out(permutations: &[Permutation], table: u32) -> Vec<Vec<u32>> {
    let slot = |p: &Permutation, j: u32| (u64::from(p.offset) + u64::from(j) * u64::from(p.skip)) % u64::from(table);
    permutations.iter().map(|p| (0..table).map(|j| u32::try_from(slot(p, j)).unwrap()).collect()).collect()
}

fn populated(permutations: &[Permutation], turns: impl Iterator<Item = u32>, table: u32) -> Vec<u32> {
    let mut entries = vec![FREE; table as usize];
    populate(permutations, turns, table, |slot, node| {
        assert_eq!(std::mem::replace(&mut entries[slot as usize], node), FREE, "slot {slot} was taken");
    });
    entries
}

fn in_turn(nodes: usize, table: u32) -> impl Iterator<Item = u32> {
    (0..u32::try_from(nodes).unwrap()).cycle().take(table as usize)
}

/// A prime table and permutations that fit it, of at most as many nodes as slots.
fn small_case() -> impl Strategy<Value = (u32, Vec<Permutation>)> {
    (2_u32..200).prop_map(|n| next_prime(n).unwrap()).prop_flat_map(|table| {
        let permutation = (0..table, 1..table.max(2)).prop_map(|(offset, skip)| Permutation { offset, skip });
        (Just(table), prop::collection::vec(permutation, 1..=table.min(40) as usize))
    })
}

proptest! {
    #[test]
    fn the_table_is_that_of_the_papers_listing((table, permutations) in small_case()) {
        let ours = populated(&permutations, in_turn(permutations.len(), table), table);
        prop_assert_eq!(ours, listing(&written_out(&permutations, table), table as usize));
    }

    #[test]
    fn weighted_turns_give_the_table_of_weighted_rounds(
        (table, permutations) in small_case(),
        weights in prop::collection::vec(1_u32..50, 40),
    ) {
        let targets = targets(table, &weights[..permutations.len()]);
        let ours = populated(&permutations, turns(&targets).into_iter(), table);
        prop_assert_eq!(ours, weighted_listing(&written_out(&permutations, table), &targets, table as usize));
    }

    #[test]
    fn equal_weights_take_turns_as_in_the_paper(table in 1_u32..3000, n in 1_usize..100, weight in 1_u32..1000) {
        let n = n.min(table as usize);
        let turns = turns(&targets(table, &vec![weight; n]));
        prop_assert!(turns.into_iter().eq(in_turn(n, table)));
    }

    #[test]
    fn targets_are_within_one_slot_of_the_fair_share_and_add_up(
        table in 1_u32..=2_147_483_647,
        weights in prop::collection::vec(prop_oneof![1_u32..20, 1_u32..=u32::MAX], 1..50),
    ) {
        let targets = targets(table, &weights);
        let total: u128 = weights.iter().copied().map(u128::from).sum();
        prop_assert_eq!(targets.iter().copied().map(u64::from).sum::<u64>(), u64::from(table));
        for (target, weight) in targets.into_iter().zip(weights) {
            let fair = u128::from(table) * u128::from(weight);
            let floor = fair / total;
            prop_assert!(u128::from(target) == floor || u128::from(target) == floor + 1 && fair % total > 0);
        }
    }
}

/// The worked example of the paper, before and after backend B1 leaves.
#[test]
fn the_papers_example_comes_out() {
    let by_name = [
        ("B0", Permutation { offset: 3, skip: 4 }),
        ("B1", Permutation { offset: 0, skip: 2 }),
        ("B2", Permutation { offset: 3, skip: 1 }),
    ];
    let mut cases = 0;
    for line in include_str!("data/maglev_paper_example.tsv").lines() {
        let [case, "7", permutations, expected] = line.split('\t').collect::<Vec<_>>()[..] else { continue };
        let (mut names, mut own, mut written) = (Vec::new(), Vec::new(), Vec::new());
        for listed in permutations.split(';') {
            let (name, order) = listed.split_once(':').unwrap();
            let (_, permutation) = by_name.iter().find(|(known, _)| *known == name).unwrap();
            names.push(name);
            own.push(*permutation);
            written.push(order.split(',').map(|slot| slot.parse().unwrap()).collect::<Vec<u32>>());
        }
        assert_eq!(written_out(&own, 7), written, "{case}");
        let table = populated(&own, in_turn(names.len(), 7), 7);
        let table: Vec<&str> = table.into_iter().map(|node| names[node as usize]).collect();
        assert_eq!(table.join(","), expected, "{case}");
        cases += 1;
    }
    assert_eq!(cases, 2);
}

/// In 32 bits offset + j · skip would wrap here and reach 65,375 of the 65,699 slots.
#[test]
fn a_permutation_of_a_large_table_reaches_every_slot() {
    let permutation = Permutation { offset: 5, skip: 65_698 };
    let table = populated(&[permutation], in_turn(1, 65_699), 65_699);
    assert!(table.iter().all(|&node| node == 0));
}

/// Skips that share a factor with the table never reach all of it, and the loop would not end.
#[test]
#[should_panic(expected = "in a table of 10 slots")]
fn a_table_of_composite_size_is_not_begun() {
    populate(&[Permutation { offset: 0, skip: 4 }], in_turn(1, 10), 10, |_, _| {});
}
