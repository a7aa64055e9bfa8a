//! The scheme: counts, weights, refusals, order, and published figures with ours beside them.
#![allow(clippy::unwrap_used, reason = "helpers of tests say what they expect through unwrap")]
#![allow(clippy::cast_precision_loss, reason = "small numbers of a test")]

use proptest::prelude::*;
use shardlab_core::{BuildError, Change, MAX_NODES, Members, Node, Scheme, Sharder};
use shardlab_hash::{mix64, name_hash};
use shardlab_scheme_maglev::{Maglev, MaglevError, next_prime};

fn named(prefix: &str, weights: &[u32]) -> Members {
    let nodes = weights.iter().enumerate().map(|(i, &weight)| Node::new(format!("{prefix}{i}"), weight).unwrap());
    Members::listed(nodes.collect()).unwrap()
}

fn build(table: u32, members: &Members) -> Box<dyn Sharder> {
    Maglev::new(table).unwrap().build(members).unwrap()
}

fn slot_counts(sharder: &dyn Sharder) -> Vec<u128> {
    sharder.exact_shares().unwrap().parts
}

/// A key in the middle of each slot.
fn key_of_each_slot(table: u32) -> impl Iterator<Item = u64> {
    // The inverse of the multiplier modulo 2^64, by Newton's iteration.
    let golden = 0x9E37_79B9_7F4A_7C15_u64;
    let inverse = (0..6).fold(golden, |x: u64, _| x.wrapping_mul(2_u64.wrapping_sub(golden.wrapping_mul(x))));
    (0..u128::from(table)).map(move |slot| {
        let middle = ((slot << 64) + (1 << 63)) / u128::from(table);
        u64::try_from(middle).unwrap().wrapping_mul(inverse)
    })
}

/// The name of the owner of each slot.
fn owners(sharder: &dyn Sharder, table: u32) -> Vec<String> {
    key_of_each_slot(table).map(|key| sharder.members().name(sharder.shard(key)).into_owned()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn slots_follow_weights_to_within_one(
        weights in prop::collection::vec(1_u32..100, 1..100),
        table in prop::sample::select(vec![10_007_u32, 16_381, 65_537]),
    ) {
        let total: u32 = weights.iter().sum();
        let sharder = build(table, &named("n", &weights));
        for (count, weight) in slot_counts(&*sharder).into_iter().zip(weights) {
            let fair = f64::from(table) * f64::from(weight) / f64::from(total);
            prop_assert!((count as f64 - fair).abs() < 1.0);
        }
    }

    #[test]
    fn weights_beyond_all_bounds_are_refused_or_served(
        weights in prop::collection::vec(prop_oneof![1_u32..4, 1_u32..=u32::MAX], 1..30),
        table in prop::sample::select(vec![2_u32, 31, 1009]),
    ) {
        let members = named("n", &weights);
        let scheme = Maglev::new(table).unwrap();
        match scheme.build(&members) {
            Ok(sharder) => {
                prop_assert!(slot_counts(&*sharder).into_iter().all(|count| count > 0));
            }
            Err(BuildError::Scheme(error)) => match error.downcast_ref::<MaglevError>() {
                Some(MaglevError::TableTooSmall { nodes, .. }) => prop_assert!(*nodes > table),
                // Where a table is named, it must do.
                Some(MaglevError::NoSlot { needed: Some(needed), .. }) => {
                    prop_assert!(*needed > table);
                    prop_assert!(Maglev::new(*needed).unwrap().check_members(&members).is_ok());
                }
                other => prop_assert!(matches!(other, Some(MaglevError::NoSlot { needed: None, .. })), "{:?}", other),
            },
            Err(other) => prop_assert!(false, "{other}"),
        }
    }

    #[test]
    fn the_order_of_the_list_never_changes_the_table(
        weights in prop::collection::vec(1_u32..10, 2..40),
        equal in any::<bool>(),
        rotation in any::<prop::sample::Index>(),
    ) {
        let mut nodes: Vec<Node> = (0..weights.len())
            .map(|i| Node::new(format!("backend-{i}"), if equal { 3 } else { weights[i] }).unwrap())
            .collect();
        let given = build(1009, &Members::listed(nodes.clone()).unwrap());
        nodes.reverse();
        nodes.rotate_left(rotation.index(weights.len()));
        let other = build(1009, &Members::listed(nodes).unwrap());
        prop_assert_eq!(owners(&*given, 1009), owners(&*other, 1009));
    }

    #[test]
    fn equal_weights_equal_no_weights(n in 1_usize..100, weight in 1_u32..=u32::MAX) {
        let (plain, heavy) = (build(1009, &named("n", &vec![1; n])), build(1009, &named("n", &vec![weight; n])));
        prop_assert_eq!(owners(&*plain, 1009), owners(&*heavy, 1009));
    }

    #[test]
    fn absurd_tables_are_refused_and_never_panic(text in ".{0,12}", number in any::<u64>()) {
        for value in [text, number.to_string(), format!("-{number}"), format!("{}", number >> 40)] {
            if let Ok(scheme) = Maglev::default().with("table", &value) {
                let table: u32 = value.parse().unwrap();
                prop_assert_eq!(next_prime(table), Some(table));
                prop_assert_eq!(scheme.expected_heap_bytes(&Members::dense(1).unwrap()), 2 * u64::from(table));
            }
        }
    }
}

#[test]
fn the_first_turns_follow_the_definition() {
    let table = 65_537;
    let members = Members::dense(2).unwrap();
    let sharder = build(table, &members);
    let keys: Vec<u64> = key_of_each_slot(table).collect();
    for (id, name, _) in members.iter() {
        let (first, second) = (name_hash(&name), mix64(name_hash(&name)));
        let (offset, skip) = (first % u64::from(table), second % u64::from(table - 1) + 1);
        // Nobody can have taken the first slots of two nodes.
        for slot in [offset, (offset + skip) % u64::from(table)] {
            assert_eq!(sharder.shard(keys[usize::try_from(slot).unwrap()]), id);
        }
    }
}

#[test]
fn weights_one_and_ten_get_one_and_ten_elevenths_of_the_slots() {
    let counts = slot_counts(&*build(65_537, &named("n", &[1, 10])));
    assert_eq!(counts, [5958, 59_579]);
}

#[test]
fn composite_tables_are_refused_with_the_next_prime() {
    for (value, next) in [("8", "11"), ("10", "11"), ("65536", "65537"), ("1", "2"), ("2147483646", "2147483647")] {
        let message = Maglev::default().with("table", value).unwrap_err().to_string();
        assert!(message.contains(&format!("{value} is not prime; the next prime is {next} ")), "{message}");
    }
    for value in ["0", "2147483648", "4294967311", "", "prime", "1e5", "-7"] {
        let message = Maglev::default().with("table", value).unwrap_err().to_string();
        assert!(message.contains("a prime from 2 to 2147483647"), "{message}");
    }
    assert_eq!(Maglev::default().with("table", "11").unwrap().spec(), "maglev:table=11");
    assert_eq!(Maglev::default().with("table", "65537").unwrap().spec(), "maglev");
}

#[test]
fn more_nodes_than_slots_are_refused_with_a_table_that_serves_them() {
    let refused = |nodes| match Maglev::default().build(&Members::dense(nodes).unwrap()) {
        Err(BuildError::Scheme(error)) => error.downcast_ref::<MaglevError>().unwrap().clone(),
        other => panic!("not refused: {other:?}"),
    };
    assert_eq!(refused(65_538), MaglevError::TableTooSmall { table: 65_537, nodes: 65_538, next_prime: 65_539 });
    let MaglevError::TableTooSmall { next_prime, .. } = refused(MAX_NODES) else { panic!() };
    assert_eq!(next_prime, 2_147_483_647);
}

#[test]
fn a_node_too_light_for_a_slot_is_named_with_the_table_it_needs() {
    let message = Maglev::new(101).unwrap().build(&named("n", &[1, 1000])).unwrap_err().to_string();
    assert_eq!(
        message,
        "node \"n0\" with weight 1 of 1001 gets none of the 101 slots; take table=1009 or a larger prime, or weights \
         that differ less"
    );
    let message = Maglev::new(101).unwrap().build(&named("n", &[1, u32::MAX])).unwrap_err().to_string();
    assert!(message.contains("no table is large enough"), "{message}");
    // A change that does not fit leaves the table as it was.
    let mut sharder = build(101, &named("n", &[1, 1]));
    let before = owners(&*sharder, 101);
    assert!(sharder.apply(&Change::Reweight { name: "n1".into(), weight: 1000 }).is_err());
    assert_eq!(owners(&*sharder, 101), before);
}

#[test]
fn as_many_nodes_as_slots_have_one_slot_each_also_in_wide_entries() {
    assert_eq!(slot_counts(&*build(65_537, &Members::dense(65_537).unwrap())), vec![1; 65_537]);
    let narrow = build(65_537, &Members::dense(65_536).unwrap());
    assert_eq!(narrow.heap_bytes(), 2 * 65_537);
    assert!(slot_counts(&*narrow).into_iter().all(|count| count == 1 || count == 2));
    assert_eq!(slot_counts(&*build(2, &Members::dense(1).unwrap())), [2]);
}

#[test]
fn sequential_keys_and_keys_of_32_bits_reach_all_nodes_evenly() {
    let sharder = build(65_537, &Members::dense(100).unwrap());
    for keys in [(0..200_000).collect::<Vec<u64>>(), (0..200_000).map(|i| mix64(i) >> 32).collect()] {
        let mut counts = vec![0.0_f64; 100];
        for key in keys {
            counts[sharder.shard(key).index()] += 1.0;
        }
        let spread = counts.iter().map(|count| (count / 2000.0 - 1.0).abs()).fold(0.0, f64::max);
        println!("largest deviation of 100 nodes at 2000 keys each: {spread:.4}");
        assert!(spread < 0.12);
    }
}

#[test]
fn explaining_shows_the_slot() {
    let steps = build(7, &named("n", &[1])).explain(1);
    assert_eq!(steps[1].value, "11400714819323198485 * 7 / 2^64 = 4");
    assert_eq!(steps[2].value, "n0");
}

/// Section 3.4 of the paper: slot counts are the floor or ceiling of M/N, so that the fullest node
/// holds ceil(M/N)·N/M of the mean. Exact.
#[test]
fn peaks_are_those_of_the_paper() {
    for (table, n, published) in [(65_537_u32, 100_u32, 1.000_96), (65_537, 1000, 1.007_06), (655_373, 1000, 1.000_96)]
    {
        let shares = build(table, &Members::dense(n).unwrap()).exact_shares().unwrap();
        let floor = u128::from(table / n);
        assert!(shares.parts.iter().all(|&count| count == floor || count == floor + 1));
        let peak = shares.peak_to_average();
        println!("M={table}, N={n}: peak-to-average {peak:.5}; published {published}");
        assert_eq!(peak, f64::from(table.div_ceil(n)) * f64::from(n) / f64::from(table));
        assert!((peak - published).abs() < 0.000_005);
    }
}

/// The fraction of slots that change between two nodes which both stay, when the nodes at the given
/// positions of n are lost.
fn needless(table: u32, n: u32, seed: u32, lost: &[u32]) -> f64 {
    let sharder = |keep: &dyn Fn(u32) -> bool| {
        let nodes = (0..n).filter(|&i| keep(i)).map(|i| Node::new(format!("seed-{seed}-backend-{i}"), 1).unwrap());
        build(table, &Members::listed(nodes.collect()).unwrap())
    };
    let (before, after) = (sharder(&|_| true), sharder(&|i| !lost.contains(&i)));
    // The list is in the order of numbers, so a survivor's new position is known without names.
    let position = |old: u32| old - lost.iter().map(|&gone| u32::from(gone < old)).sum::<u32>();
    let moved = key_of_each_slot(table).filter(|&key| {
        let (old, new) = (before.shard(key).0, after.shard(key).0);
        !lost.contains(&old) && position(old) != new
    });
    moved.count() as f64 / f64::from(table)
}

/// What runs of the paper's Listing 1 lose when one backend of N leaves: mean of several sets of
/// names, within 10 %.
#[test]
fn one_lost_backend_disturbs_as_many_slots_as_the_papers_listing() {
    for (table, n, seeds, low, high) in
        [(65_537, 100, 24, 0.0055, 0.0060), (65_537, 1000, 12, 0.0055, 0.0059), (655_373, 1000, 6, 0.0032, 0.0032)]
    {
        let mean = (0..seeds).map(|seed| needless(table, n, seed, &[seed * 17 % n])).sum::<f64>() / f64::from(seeds);
        println!(
            "M={table}, N={n}: {:.3} % of slots; expected {:.2} to {:.2} %",
            100.0 * mean,
            100.0 * low,
            100.0 * high
        );
        assert!(mean > 0.9 * low && mean < 1.1 * high);
    }
}

/// The same for 5 % of 1000 backends.
#[test]
fn fifty_lost_backends_disturb_as_many_slots_as_the_papers_listing() {
    for (table, low, high) in [(65_537, 0.031, 0.032), (655_373, 0.0092, 0.0092)] {
        let lost = |seed: u32| (0..50).map(|i| i * 20 + seed).collect::<Vec<_>>();
        let mean = (0..4).map(|seed| needless(table, 1000, seed, &lost(seed))).sum::<f64>() / 4.0;
        println!("M={table}: {:.2} % of slots; expected {:.2} to {:.2} %", 100.0 * mean, 100.0 * low, 100.0 * high);
        assert!(mean > 0.9 * low && mean < 1.1 * high);
    }
}

/// Listing the backends backwards changes a table that is filled in list order by 0.4 % of its slots
/// at 100 backends and 3 % at 1000 (reports to Envoy). Here by none.
#[test]
fn backends_listed_backwards_change_no_slot() {
    for n in [10, 100, 1000] {
        let nodes: Vec<Node> = (0..n).map(|i| Node::new(format!("10.0.0.{i}:80"), 1).unwrap()).collect();
        let forward = build(65_537, &Members::listed(nodes.clone()).unwrap());
        let backward = build(65_537, &Members::listed(nodes.into_iter().rev().collect()).unwrap());
        assert_eq!(owners(&*forward, 65_537), owners(&*backward, 65_537));
    }
}
