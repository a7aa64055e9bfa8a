//! What-if studies: known questions with their right answers, and what must hold for every change.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use proptest::prelude::*;
use shardlab_core::rows::{Fate, Verdict, WhatIf};
use shardlab_core::{Change, Members, Node};
use shardlab_keys::{SyntheticSpec, synthetic};
use shardlab_study::{Alternative, Edit, Outcome, Request, Side, StudyError, edit, what_if};

const MEMORY: u64 = 1 << 30;

fn dense(n: u32) -> Members {
    Members::dense(n).unwrap()
}

fn named(names: &[&str]) -> Members {
    Members::listed(names.iter().map(|name| Node::new(*name, 1).unwrap()).collect()).unwrap()
}

fn side(spec: &str, members: &Members) -> Side {
    Side::new(shardlab_schemes::parse(spec).unwrap().scheme, members, None, MEMORY).unwrap()
}

fn request(before: Side, after: Side) -> Request {
    Request {
        before,
        after,
        change: "test".to_owned(),
        matched: None,
        machines: None,
        bytes: Some(600_000_000_000),
        bandwidth: Some(100_000_000),
        seed: 42,
        threads: 1,
        max_memory: MEMORY,
    }
}

fn study(request: &Request, keys: &str) -> WhatIf {
    let rules = request.before.rules().and(request.after.rules());
    let mut documents = synthetic(&SyntheticSpec::parse(keys).unwrap(), request.seed, rules);
    what_if(request, &mut *documents, false, &|_| {}).unwrap()
}

fn from_to(from: &str, n: u32, to: &str, m: u32, keys: &str) -> WhatIf {
    study(&request(side(from, &dense(n)), side(to, &dense(m))), keys)
}

fn alternatives(before: &Side, change: Change) -> (String, Vec<Alternative>) {
    match edit(before, &Edit::Change(change), MEMORY).unwrap() {
        Outcome::Refused { reason, alternatives, .. } => (reason, alternatives),
        Outcome::Done { words, .. } => panic!("{words} was not refused"),
    }
}

fn done(before: &Side, asked: &Edit) -> Request {
    match edit(before, asked, MEMORY).unwrap() {
        Outcome::Done { after, matched, .. } => Request { matched, ..request(before.clone(), *after) },
        Outcome::Refused { reason, .. } => panic!("{reason}"),
    }
}

fn assert_near(measured: f64, expected: f64, keys: u32) {
    let sigma = (expected * (1.0 - expected) / f64::from(keys)).sqrt();
    assert!((measured - expected).abs() <= 4.0 * sigma + 1e-9, "{measured} in place of {expected}");
}

fn within(measured: Option<f64>, expected: f64, part: f64) {
    let measured = measured.unwrap();
    assert!((measured / expected - 1.0).abs() < part, "{measured} in place of {expected}");
}

#[test]
fn twelve_to_eighteen_shards_of_600_gb_cost_what_the_review_needs_to_know() {
    let jump = from_to("jump", 12, "jump", 18, "random:1000000");
    assert_near(jump.moved_fraction, 1.0 / 3.0, 1_000_000);
    assert_eq!((jump.excess_fraction, jump.disruption_fraction, jump.monotone), (0.0, 0.0, true));
    within(jump.seconds_serial, 2000.0, 0.005);
    within(jump.seconds_parallel, 333.3, 0.02);
    let modulo = from_to("modulo", 12, "modulo", 18, "random:1000000");
    assert_near(modulo.moved_fraction, 2.0 / 3.0, 1_000_000);
    assert!((modulo.exact_moved_fraction.unwrap() - 2.0 / 3.0).abs() < 1e-9);
    within(modulo.seconds_serial, 4000.0, 0.005);
    assert!(!modulo.monotone);
    let reindex = from_to("elastic:created=8.15", 12, "elastic:created=8.15", 18, "random:1000000");
    assert!((reindex.exact_moved_fraction.unwrap() - 17.0 / 18.0).abs() < 1e-6);
    assert_near(reindex.moved_fraction, 17.0 / 18.0, 1_000_000);
    assert_eq!(reindex.rewritten_bytes, Some(600_000_000_000));
    assert_eq!(reindex.left_parent_fraction, None);
    let newer = from_to("elastic:created=9.4", 12, "elastic:created=9.4", 18, "random:1000000");
    assert!((newer.exact_moved_fraction.unwrap() - 2.0 / 3.0).abs() < 1e-6);
    let (reason, others) = alternatives(&side("elastic:created=8.15", &dense(12)), Change::Grow { to: 18 });
    assert_eq!(reason, "18 is not a multiple of 12; nearest legal counts: 6 and 24");
    let words: Vec<&str> = others.iter().map(|other| other.words.as_str()).collect();
    assert_eq!(words, ["shrink to 6", "split to 24", "reindex into 18"]);
}

#[test]
fn a_split_changes_numbers_and_moves_no_data() {
    // The documents doc-0 to doc-19999 change their numbers in 95.6 % and 49.6 %.
    for (spec, changed) in [("elastic:created=8.15", 23.0 / 24.0), ("elastic:created=9.4", 0.5)] {
        let split = from_to(spec, 12, spec, 24, "sequential:200000");
        assert_near(split.moved_fraction, changed, 200_000);
        assert_eq!(split.left_parent_fraction, Some(0.0));
        assert_eq!((split.moved_bytes, split.rewritten_bytes, split.seconds_serial), (Some(0), Some(0), Some(0.0)));
    }
    let other_age = from_to("elastic:created=8.15", 12, "elastic:created=9.4", 12, "sequential:100000");
    assert_eq!(other_age.left_parent_fraction, None);
    // Published for ids "0" to "99999": 91 %.
    assert!((other_age.moved_fraction - 0.91).abs() < 0.005, "{}", other_age.moved_fraction);
    assert_near(other_age.moved_fraction, other_age.exact_moved_fraction.unwrap(), 100_000);
    assert_eq!(other_age.rewritten_bytes, Some(600_000_000_000));
}

#[test]
fn compacting_the_list_of_a_numbered_scheme_moves_much_more_than_it_must() {
    for (names, remove, moved, needless) in
        [(4, "n1", 0.667, 0.417), (10, "n0", 0.989, 0.889), (10, "n5", 0.489, 0.389), (10, "n9", 0.1, 0.0)]
    {
        let all: Vec<String> = (0..names).map(|i| format!("n{i}")).collect();
        let members = named(&all.iter().map(String::as_str).collect::<Vec<_>>());
        let renumbered = done(&side("jump", &members), &Edit::Renumber { remove: remove.to_owned() });
        let rows = study(&renumbered, "random:300000");
        assert!((rows.moved_fraction - moved).abs() < 0.005, "{remove} of {names}: {}", rows.moved_fraction);
        assert!((rows.excess_fraction - needless).abs() < 0.005, "{remove} of {names}: {}", rows.excess_fraction);
    }
}

#[test]
fn a_name_that_sorts_first_shifts_every_bucket() {
    let rows = study(
        &request(side("jump", &named(&["b", "c", "d"])), side("jump", &named(&["a", "b", "c", "d"]))),
        "random:300000",
    );
    assert_near(rows.moved_fraction, 11.0 / 12.0, 300_000);
    assert!((rows.ideal_fraction - 0.25).abs() < 1e-12);
}

#[test]
fn a_middle_node_that_a_numbered_scheme_cannot_lose_has_two_ways_out() {
    let (reason, others) = alternatives(&side("jump", &dense(10)), Change::Remove { name: "5".into() });
    assert_eq!(reason, "only the last node (\"9\") can leave");
    let moved: Vec<f64> = others
        .into_iter()
        .map(|other| study(&request(side("jump", &dense(10)), other.after), "random:300000").moved_fraction)
        .collect();
    assert_near(moved[0], 0.489, 300_000);
    assert_near(moved[1], 0.189, 300_000);
}

#[test]
fn a_renamed_node_takes_nearly_everything_along_in_schemes_that_hash_names() {
    let members = named(&["10.0.0.1:6379", "10.0.0.2:6379", "10.0.0.3:6379", "10.0.0.4:6379"]);
    let mut all = side("ring", &members);
    for i in 1..=4 {
        let renamed = done(&all, &Edit::Rename { from: format!("10.0.0.{i}:6379"), to: format!("10.9.0.{i}:6379") });
        all = renamed.after;
    }
    let matched = Some((0..4).map(|i| Some(shardlab_core::NodeId(i))).collect());
    let rows = study(&Request { matched, ..request(side("ring", &members), all) }, "random:100000");
    assert!((0.70..=0.80).contains(&rows.moved_fraction), "{}", rows.moved_fraction);
    let jump = done(&side("jump", &members), &Edit::Rename { from: "10.0.0.2:6379".into(), to: "other".into() });
    assert_eq!(study(&jump, "random:100000").moved_keys, 0, "a numbered scheme does not look at names");
}

#[test]
fn the_order_of_the_list_matters_only_where_it_is_the_numbering() {
    let members = named(&["a", "b", "c"]);
    let reorder = Edit::Reorder { names: ["b", "a", "c"].map(str::to_owned).to_vec() };
    for (spec, moves) in [("ring", false), ("rendezvous", false), ("maglev", false), ("jump", true), ("modulo", true)] {
        let rows = study(&done(&side(spec, &members), &reorder), "random:30000");
        assert_eq!(rows.moved_keys > 0, moves, "{spec}");
    }
    let short = Edit::Reorder { names: vec!["a".into(), "b".into()] };
    assert!(matches!(edit(&side("ring", &members), &short, MEMORY), Err(StudyError::Change(_))));
}

#[test]
fn more_weight_draws_keys_to_its_node_alone() {
    for spec in ["ring", "rendezvous"] {
        let asked = Edit::Change(Change::Reweight { name: "3".into(), weight: 3 });
        let rows = study(&done(&side(spec, &dense(10)), &asked), "random:200000");
        assert!((rows.ideal_fraction - 0.15).abs() < 1e-12);
        assert!(rows.monotone && rows.excess_fraction == 0.0, "{spec}");
        assert!((rows.moved_fraction - 0.15).abs() < 0.02, "{spec}: {}", rows.moved_fraction);
        assert!(rows.matrix.iter().all(|flow| flow.to_name == "3"), "{spec}");
    }
}

#[test]
fn a_lost_rack_is_one_change() {
    let members = named(&["r1-a", "r1-b", "r2-a", "r2-b", "r3-a"]);
    let rows = study(&done(&side("rendezvous", &members), &Edit::LoseRack { prefix: "r2-".into() }), "random:100000");
    assert_near(rows.moved_fraction, 0.4, 100_000);
    assert_eq!(rows.per_node.iter().filter(|node| node.fate == Fate::Leaves).count(), 2);
    assert_eq!(rows.after.verdict, Verdict::Chance);
    let nobody = edit(&side("ring", &members), &Edit::LoseRack { prefix: "x".into() }, MEMORY);
    assert!(matches!(nobody, Err(StudyError::Change(_))));
    let all = edit(&side("ring", &members), &Edit::LoseRack { prefix: "r".into() }, MEMORY);
    assert!(matches!(all, Err(StudyError::Members(_))));
}

#[test]
fn from_one_scheme_to_another_nearly_everything_moves() {
    let rows = from_to("modulo", 10, "ring", 10, "random:100000");
    assert!((rows.moved_fraction - 0.9).abs() < 0.02, "{}", rows.moved_fraction);
    assert!(rows.minimum_fraction < 0.1);
}

#[test]
fn a_matrix_that_is_too_large_is_refused_before_it_is_built() {
    let mut request = request(side("jump", &dense(2000)), side("jump", &dense(2001)));
    request.max_memory = 10_000_000;
    let mut documents = synthetic(&SyntheticSpec::parse("random:10").unwrap(), 1, request.before.rules());
    assert!(matches!(what_if(&request, &mut *documents, false, &|_| {}), Err(StudyError::Memory { .. })));
}

/// Any scheme of the registry with a change that it may or may not be able to do.
fn schemes() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "elastic:created=8.15",
        "elastic:created=9.4",
        "modulo",
        "jump",
        "ring:vnodes=20",
        "rendezvous",
        "maglev:table=1009",
    ])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn whatever_changes_the_numbers_agree_with_one_another(
        from in schemes(), to in schemes(), n in 1_u32..40, m in 1_u32..40, seed: u64, threads in 1_usize..4, bytes in 1_u64..1_000_000_000_000,
    ) {
        let request = Request { seed, threads, bytes: Some(bytes.into()), ..request(side(from, &dense(n)), side(to, &dense(m))) };
        let rows = study(&request, "random:5000");
        prop_assert!(rows.moved_fraction >= rows.minimum_fraction);
        prop_assert!(rows.disruption_fraction <= rows.moved_fraction);
        prop_assert_eq!(rows.matrix.iter().map(|flow| flow.keys).sum::<u64>(), rows.moved_keys);
        let sum = |pick: fn(&shardlab_core::rows::NodeFlow) -> u64| rows.per_node.iter().map(pick).sum::<u64>();
        prop_assert_eq!(sum(|node| node.keys_in), sum(|node| node.keys_out));
        prop_assert_eq!(sum(|node| node.keys_before), 5000);
        prop_assert_eq!(sum(|node| node.keys_after), 5000);
        let size = |pick: fn(&shardlab_core::rows::NodeFlow) -> Option<u128>| rows.per_node.iter().map(pick).sum::<Option<u128>>();
        prop_assert_eq!(size(|node| node.bytes_in), size(|node| node.bytes_out));
        prop_assert_eq!(size(|node| node.bytes_before), Some(bytes.into()));
        prop_assert_eq!(size(|node| node.bytes_after), Some(bytes.into()));
        for node in &rows.per_node {
            prop_assert_eq!(node.keys_before + node.keys_in, node.keys_after + node.keys_out);
        }
        let after: Vec<u64> = rows.per_node.iter().filter(|node| node.fate != Fate::Leaves).map(|node| node.keys_after).collect();
        prop_assert_eq!(&after, &rows.after.counts);
        let alone = Request { threads: 1, ..request };
        prop_assert_eq!(study(&alone, "random:5000"), rows);
    }

    #[test]
    fn steps_of_a_path_compose_to_its_end(spec in schemes(), n in 2_u32..20, seed: u64) {
        // Documents of one step land where the next one finds them.
        let (a, b, c) = (side(spec, &dense(n)), side(spec, &dense(2 * n)), side(spec, &dense(4 * n)));
        let step = |from: &Side, to: &Side| study(&Request { seed, ..request(from.clone(), to.clone()) }, "random:2000");
        let (first, second, straight) = (step(&a, &b), step(&b, &c), step(&a, &c));
        prop_assert_eq!(&first.after.counts, &second.before.counts);
        prop_assert_eq!(&second.after.counts, &straight.after.counts);
        prop_assert!(straight.moved_keys <= first.moved_keys + second.moved_keys);
    }
}
