//! What-if studies: known questions with their right answers, and what must hold for every change.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use proptest::prelude::*;
use shardlab_core::rows::{Fate, StepOutcome, Verdict, WhatIf};
use shardlab_core::{Change, Members, Node};
use shardlab_keys::{SyntheticSpec, synthetic};
use shardlab_study::{
    Alternative, Columns, Edit, Loss, Machines, Outcome, Path, Request, Side, Step, StudyError, Totals, edit, follow,
    removals, what_if,
};

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
        copies: 1,
        totals: Totals { bytes: Some(600_000_000_000), requests: None },
        requests_per_second: false,
        columns: Columns::default(),
        bandwidth: Some(100_000_000),
        seed: 42,
        threads: 1,
        max_memory: MEMORY,
    }
}

fn study(request: &Request, keys: &str) -> WhatIf {
    let rules = request.before.rules().and(request.after.rules());
    let mut documents = synthetic(&SyntheticSpec::parse(keys).unwrap(), request.seed, rules);
    what_if(request, &mut *documents, &|_| {}).unwrap()
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
    assert_near(jump.moves.moved_fraction, 1.0 / 3.0, 1_000_000);
    assert_eq!((jump.moves.excess_fraction, jump.moves.disruption_fraction, jump.monotone), (0.0, 0.0, true));
    within(jump.seconds_serial, 2000.0, 0.005);
    within(jump.seconds_parallel, 333.3, 0.02);
    let modulo = from_to("modulo", 12, "modulo", 18, "random:1000000");
    assert_near(modulo.moves.moved_fraction, 2.0 / 3.0, 1_000_000);
    assert!((modulo.exact_moved_fraction.unwrap() - 2.0 / 3.0).abs() < 1e-9);
    within(modulo.seconds_serial, 4000.0, 0.005);
    assert!(!modulo.monotone);
    let reindex = from_to("elastic:created=8.15", 12, "elastic:created=8.15", 18, "random:1000000");
    assert!((reindex.exact_moved_fraction.unwrap() - 17.0 / 18.0).abs() < 1e-6);
    assert_near(reindex.moves.moved_fraction, 17.0 / 18.0, 1_000_000);
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
        assert_near(split.moves.moved_fraction, changed, 200_000);
        assert_eq!(split.left_parent_fraction, Some(0.0));
        assert_eq!((split.moved_bytes, split.rewritten_bytes, split.seconds_serial), (Some(0), Some(0), Some(0.0)));
    }
    let other_age = from_to("elastic:created=8.15", 12, "elastic:created=9.4", 12, "sequential:100000");
    assert_eq!(other_age.left_parent_fraction, None);
    // Published for ids "0" to "99999": 91 %.
    assert!((other_age.moves.moved_fraction - 0.91).abs() < 0.005, "{}", other_age.moves.moved_fraction);
    assert_near(other_age.moves.moved_fraction, other_age.exact_moved_fraction.unwrap(), 100_000);
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
        assert!(
            (rows.moves.moved_fraction - moved).abs() < 0.005,
            "{remove} of {names}: {}",
            rows.moves.moved_fraction
        );
        assert!(
            (rows.moves.excess_fraction - needless).abs() < 0.005,
            "{remove} of {names}: {}",
            rows.moves.excess_fraction
        );
    }
}

#[test]
fn a_name_that_sorts_first_shifts_every_bucket() {
    let rows = study(
        &request(side("jump", &named(&["b", "c", "d"])), side("jump", &named(&["a", "b", "c", "d"]))),
        "random:300000",
    );
    assert_near(rows.moves.moved_fraction, 11.0 / 12.0, 300_000);
    assert!((rows.moves.ideal_fraction - 0.25).abs() < 1e-12);
}

#[test]
fn a_middle_node_that_a_numbered_scheme_cannot_lose_has_two_ways_out() {
    let (reason, others) = alternatives(&side("jump", &dense(10)), Change::Remove { name: "5".into() });
    assert_eq!(reason, "only the last node (\"9\") can leave");
    let moved: Vec<f64> = others
        .into_iter()
        .map(|other| study(&request(side("jump", &dense(10)), other.after), "random:300000").moves.moved_fraction)
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
    assert!((0.70..=0.80).contains(&rows.moves.moved_fraction), "{}", rows.moves.moved_fraction);
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
        assert!((rows.moves.ideal_fraction - 0.15).abs() < 1e-12);
        assert!(rows.monotone && rows.moves.excess_fraction == 0.0, "{spec}");
        assert!((rows.moves.moved_fraction - 0.15).abs() < 0.02, "{spec}: {}", rows.moves.moved_fraction);
        assert!(rows.matrix.iter().all(|flow| flow.to_name == "3"), "{spec}");
    }
}

#[test]
fn a_lost_rack_is_one_change() {
    let members = named(&["r1-a", "r1-b", "r2-a", "r2-b", "r3-a"]);
    let rows = study(&done(&side("rendezvous", &members), &Edit::LoseRack { prefix: "r2-".into() }), "random:100000");
    assert_near(rows.moves.moved_fraction, 0.4, 100_000);
    assert_eq!(rows.per_node.iter().filter(|node| node.fate == Fate::Leaves).count(), 2);
    assert_eq!(rows.after.verdict, Verdict::Chance);
    let nobody = edit(&side("ring", &members), &Edit::LoseRack { prefix: "x".into() }, MEMORY);
    assert!(matches!(nobody, Err(StudyError::UnknownNode { .. })));
    let all = edit(&side("ring", &members), &Edit::LoseRack { prefix: "r".into() }, MEMORY);
    assert!(matches!(all, Err(StudyError::Members(_))));
}

#[test]
fn from_one_scheme_to_another_nearly_everything_moves() {
    let rows = from_to("modulo", 10, "ring", 10, "random:100000");
    assert!((rows.moves.moved_fraction - 0.9).abs() < 0.02, "{}", rows.moves.moved_fraction);
    assert!(rows.moves.minimum_fraction < 0.1);
}

#[test]
fn a_matrix_that_is_too_large_is_refused_before_it_is_built() {
    let mut request = request(side("jump", &dense(2000)), side("jump", &dense(2001)));
    request.max_memory = 10_000_000;
    let mut documents = synthetic(&SyntheticSpec::parse("random:10").unwrap(), 1, request.before.rules());
    assert!(matches!(what_if(&request, &mut *documents, &|_| {}), Err(StudyError::Memory { .. })));
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
        let request = Request { seed, threads, totals: Totals { bytes: Some(bytes.into()), requests: Some(777) }, ..request(side(from, &dense(n)), side(to, &dense(m))) };
        let rows = study(&request, "random:5000");
        prop_assert!(rows.moves.moved_fraction >= rows.moves.minimum_fraction);
        prop_assert!(rows.moves.disruption_fraction <= rows.moves.moved_fraction);
        prop_assert_eq!(rows.matrix.iter().map(|flow| flow.keys).sum::<u64>(), rows.moved_keys);
        let sum = |pick: fn(&shardlab_core::rows::NodeFlow) -> u64| rows.per_node.iter().map(pick).sum::<u64>();
        prop_assert_eq!(sum(|node| node.load.keys_in), sum(|node| node.load.keys_out));
        prop_assert_eq!(sum(|node| node.load.keys_before), 5000);
        prop_assert_eq!(sum(|node| node.load.keys_after), 5000);
        let size = |pick: fn(&shardlab_core::rows::NodeFlow) -> Option<u128>| rows.per_node.iter().map(pick).sum::<Option<u128>>();
        prop_assert_eq!(size(|node| node.load.bytes_in), size(|node| node.load.bytes_out));
        prop_assert_eq!(size(|node| node.load.bytes_before), Some(bytes.into()));
        prop_assert_eq!(size(|node| node.load.bytes_after), Some(bytes.into()));
        let asked = |pick: fn(&shardlab_core::rows::NodeFlow) -> Option<u128>| rows.per_node.iter().map(pick).sum::<Option<u128>>();
        prop_assert_eq!(asked(|node| node.load.requests_before), Some(777));
        prop_assert_eq!(asked(|node| node.load.requests_after), Some(777));
        prop_assert_eq!(asked(|node| node.load.requests_in), rows.moved_requests);
        prop_assert_eq!(size(|node| node.load.bytes_moved_in), rows.moved_bytes);
        prop_assert_eq!(size(|node| node.load.bytes_moved_out), rows.moved_bytes);
        prop_assert_eq!(rows.busiest.len(), 3);
        let net = |pick: fn(&shardlab_core::rows::NodeFlow) -> Option<i128>| rows.per_node.iter().map(pick).sum::<Option<i128>>();
        prop_assert_eq!(net(|node| Some(node.load.keys_net)), Some(0));
        prop_assert_eq!((net(|node| node.load.bytes_net), net(|node| node.load.requests_net)), (Some(0), Some(0)));
        for node in &rows.per_node {
            prop_assert_eq!(node.load.keys_before + node.load.keys_in, node.load.keys_after + node.load.keys_out);
        }
        let after: Vec<u64> = rows.per_node.iter().filter(|node| node.fate != Fate::Leaves).map(|node| node.load.keys_after).collect();
        prop_assert_eq!(&after, &rows.after.counts);
        let alone = Request { threads: 1, ..request };
        prop_assert_eq!(study(&alone, "random:5000"), rows);
    }

    #[test]
    fn machines_see_what_their_nodes_see_together(
        from in schemes(), to in schemes(), n in 1_u32..20, m in 1_u32..20, count in 1_u32..6, seed: u64,
    ) {
        let machines = Some(Machines::round_robin(count).unwrap());
        let request = Request { seed, machines, ..request(side(from, &dense(n)), side(to, &dense(m))) };
        let rows = study(&request, "random:3000");
        let machines = rows.machines.as_ref().unwrap();
        let each = |pick: fn(&shardlab_core::rows::LoadChange) -> u64| machines.per_machine.iter().map(|row| pick(&row.load)).sum::<u64>();
        prop_assert_eq!((each(|load| load.keys_before), each(|load| load.keys_after)), (3000, 3000));
        prop_assert_eq!(each(|load| load.keys_in), each(|load| load.keys_out));
        prop_assert!((machines.moved_fraction * 3000.0 - each(|load| load.keys_in) as f64).abs() < 1e-6);
        for (number, machine) in (0..).zip(&machines.per_machine) {
            let stands_here = |node: &shardlab_core::rows::NodeFlow| node.node % count == number;
            let before: u64 = rows.per_node.iter().filter(|node| node.fate != Fate::Joins && stands_here(node)).map(|node| node.load.keys_before).sum();
            prop_assert_eq!(machine.load.keys_before, before);
            prop_assert_eq!(machine.load.keys_before + machine.load.keys_in, machine.load.keys_after + machine.load.keys_out);
        }
    }

    #[test]
    fn steps_of_a_path_compose_to_its_end(
        spec in schemes(), other in schemes(), n in 2_u32..20, m in 2_u32..40, seed: u64, threads in 1_usize..4, bytes in 1_u64..1_000_000_000_000,
    ) {
        // Documents of one step land where the next one finds them, and every step is the what-if of it.
        let stages = [side(spec, &dense(n)), side(other, &dense(m)), side(spec, &dense(2 * n)), side(spec, &dense(n))];
        let bytes = Some(u128::from(bytes));
        let between = |from: &Side, to: &Side| {
            let totals = Totals { bytes, requests: None };
            let machines = Some(Machines::round_robin(3).unwrap());
            study(&Request { seed, totals, machines, ..request(from.clone(), to.clone()) }, "random:2000")
        };
        let path = Path {
            start: stages[0].clone(),
            steps: stages[1..].iter().map(|side| Step { words: "on".to_owned(), after: Ok(side.clone()) }).collect(),
            machines: Some(Machines::round_robin(3).unwrap()),
            bytes,
            weighted: false,
            bandwidth: Some(100_000_000),
            seed,
            threads,
            max_memory: MEMORY,
        };
        let rules = stages.iter().fold(stages[0].rules(), |rules, side| rules.and(side.rules()));
        let mut documents = synthetic(&SyntheticSpec::parse("random:2000").unwrap(), seed, rules);
        let rows = follow(&path, &mut *documents, &|_| {}).unwrap();
        let mut cumulative = 0.0;
        for (place, step) in rows.steps.iter().enumerate() {
            let alone = between(&stages[place], &stages[place + 1]);
            let StepOutcome::Done(step) = &step.outcome else { panic!("every step can be done") };
            prop_assert_eq!(step.moves, alone.moves);
            prop_assert_eq!(&step.after.counts, &alone.after.counts);
            prop_assert_eq!(&step.machines, &alone.machines);
            cumulative += step.moves.moved_fraction;
            prop_assert!((step.cumulative_fraction - cumulative).abs() < 1e-9);
        }
        prop_assert_eq!(rows.restores_the_first_mapping, Some(true));
        prop_assert_eq!((rows.straight_fraction, rows.straight_bytes), (0.0, Some(0)));
        let times: u64 = rows.times_moved.iter().zip(0_u64..).map(|(keys, times)| keys * times).sum();
        prop_assert!((cumulative * 2000.0 - times as f64).abs() < 1e-6);
    }

    #[test]
    fn copies_that_are_made_are_the_difference_of_owners_counted_key_by_key(
        spec in prop::sample::select(vec!["ring:vnodes=20", "rendezvous"]), n in 1_u32..12, m in 1_u32..12, copies in 2_u32..5, shift in 0_u32..4, seed: u64, threads in 1_usize..4,
    ) {
        // Named so that nodes leave in the middle and join.
        let list = |from: u32, count: u32| named(&(from..from + count).map(|i| format!("n{i}")).collect::<Vec<_>>().iter().map(String::as_str).collect::<Vec<_>>());
        let (before, after) = (side(spec, &list(0, n)), side(spec, &list(shift, m)));
        let request = Request { seed, copies, threads, ..request(before.clone(), after.clone()) };
        let rows = study(&request, "random:1000");
        let found = rows.replicas.as_ref().unwrap();
        // The naive way: sets of names, one key after another.
        let mut documents = synthetic(&SyntheticSpec::parse("random:1000").unwrap(), seed, before.rules());
        let mut chunk = shardlab_core::RawChunk::default();
        let (mut made, mut lost_first, mut lost_all, mut arrived) = (0, 0, 0, std::collections::BTreeMap::new());
        let mut heirs = std::collections::BTreeMap::new();
        while documents.next_chunk(&mut chunk).unwrap() {
            for &key in chunk.as_batch().hashed().unwrap() {
                let names = |side: &Side| -> Vec<String> {
                    let owners = side.placer.sharder.as_top_k().unwrap().top_k(key, copies as usize);
                    owners.into_iter().map(|node| side.members().name(node).into_owned()).collect()
                };
                let (owners, owners_after) = (names(&before), names(&after));
                made += owners_after.iter().filter(|name| !owners.contains(name)).count() as u64;
                owners.iter().for_each(|name| *arrived.entry(name.clone()).or_insert(0_i64) -= 1);
                owners_after.iter().for_each(|name| *arrived.entry(name.clone()).or_insert(0) += 1);
                if after.members().find(&owners[0]).is_none() {
                    lost_first += 1;
                    match owners.iter().find(|name| after.members().find(name).is_some()) {
                        Some(heir) => *heirs.entry(heir.clone()).or_insert(0_u64) += 1,
                        None => lost_all += 1,
                    }
                }
            }
        }
        let least: i64 = arrived.values().filter(|&&more| more > 0).sum();
        prop_assert_eq!(found.made, made);
        prop_assert_eq!((found.lost_first_owner, found.lost_every_copy), (lost_first, lost_all));
        prop_assert_eq!(found.kept_a_copy, lost_first - lost_all);
        prop_assert!(found.made_fraction >= found.made_minimum_fraction && found.made_excess_fraction >= 0.0);
        let minimum = found.made_minimum_fraction * 1000.0 * f64::from(copies.min(n));
        prop_assert!((minimum - least as f64).abs() < 1e-6);
        prop_assert_eq!(found.before.counts.iter().sum::<u64>(), 1000 * u64::from(copies.min(n)));
        prop_assert_eq!(found.after.counts.iter().sum::<u64>(), 1000 * u64::from(copies.min(m)));
        prop_assert!(found.before.counts.iter().all(|&count| count <= 1000), "owners are distinct");
        let inherited = rows.heirs.as_ref().map_or(0, |heirs| heirs.keys);
        prop_assert_eq!(inherited, heirs.values().sum::<u64>());
        for heir in rows.heirs.iter().flat_map(|heirs| &heirs.rows) {
            prop_assert_eq!(heirs.get(&heir.node_name), Some(&heir.keys));
        }
    }
}

#[test]
fn two_copies_survive_the_loss_of_one_node_and_a_rack_takes_some_with_it() {
    let members = named(&["r1-a", "r1-b", "r2-a", "r2-b", "r3-a", "r3-b"]);
    for spec in ["rendezvous", "ring"] {
        let before = side(spec, &members);
        let one = Request { copies: 2, ..done(&before, &Edit::Change(Change::Remove { name: "r2-a".into() })) };
        let rows = study(&one, "random:60000");
        let copies = rows.replicas.unwrap();
        assert_eq!(copies.lost_every_copy, 0);
        assert_eq!(copies.made_excess_fraction, 0.0, "{spec} makes the copies that are gone and no other");
        let heirs = rows.heirs.unwrap();
        assert_eq!((heirs.keys, heirs.lost.as_slice()), (copies.lost_first_owner, ["r2-a".to_owned()].as_slice()));
        let rack = Request { copies: 2, ..done(&before, &Edit::LoseRack { prefix: "r2-".into() }) };
        let rows = study(&rack, "random:60000");
        let copies = rows.replicas.unwrap();
        if spec == "rendezvous" {
            // Both owners in a rack of two nodes of six: 1 / C(6, 2).
            assert_near(copies.lost_every_copy as f64 / 60_000.0, 1.0 / 15.0, 60_000);
            assert_near(copies.made_fraction * 2.0, 2.0 / 3.0, 60_000);
            assert!((copies.before.cv / copies.before.noise_floor_cv.unwrap()) < 3.0);
        }
        assert!(copies.lost_every_copy > 0);
        assert_eq!(copies.lost_first_owner, copies.kept_a_copy + copies.lost_every_copy);
        let lost_part = copies.lost_every_copy as f64 / 60_000.0;
        within(copies.lost_bytes.map(|bytes| bytes as f64), 600e9 * lost_part, 1e-6);
    }
    let three =
        Request { copies: 3, ..done(&side("ring", &dense(3)), &Edit::Change(Change::Remove { name: "1".into() })) };
    let copies = study(&three, "random:1000").replicas.unwrap();
    assert_eq!(
        (copies.copies, copies.copies_before, copies.copies_after, copies.made),
        (3, 3, 2, 0),
        "two nodes hold two copies already"
    );
    let jump = Request { copies: 2, ..request(side("jump", &dense(3)), side("jump", &dense(4))) };
    let mut documents = synthetic(&SyntheticSpec::parse("random:10").unwrap(), 1, jump.before.rules());
    assert!(matches!(what_if(&jump, &mut *documents, &|_| {}), Err(StudyError::NoCopies { .. })));
}

/// The machine moves of a change that has no say in where nodes stand: the same by a table of machines.
#[test]
fn nodes_that_stay_keep_their_machine_whatever_their_place_in_the_list() {
    let names: Vec<String> = (0..12).map(|node| format!("cache-{node}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let without = |gone: usize| {
        let left: Vec<&str> =
            names.iter().enumerate().filter(|&(node, _)| node != gone).map(|(_, name)| *name).collect();
        named(&left)
    };
    let stands: Vec<(String, String)> =
        names.iter().enumerate().map(|(node, name)| ((*name).to_owned(), (node % 3).to_string())).collect();
    let by_rule = Machines::round_robin(3).unwrap();
    let by_table = Machines::table(&stands, "table".to_owned()).unwrap();
    for spec in ["ring", "rendezvous", "maglev"] {
        let with = |machines: &Machines, from: &Members, to: &Members| {
            let machines = Some(machines.clone());
            let rows = study(&Request { machines, ..request(side(spec, from), side(spec, to)) }, "random:20000");
            (rows.moves.moved_fraction, rows.machines.unwrap())
        };
        for gone in [0, 5, 11] {
            for (from, to) in [(named(&names), without(gone)), (without(gone), without(gone))] {
                let (moved, ruled) = with(&by_rule, &from, &to);
                assert!(ruled.moved_fraction <= moved, "{spec} {gone}: {} between machines", ruled.moved_fraction);
            }
            let (_, ruled) = with(&by_rule, &named(&names), &without(gone));
            let (_, told) = with(&by_table, &named(&names), &without(gone));
            assert_eq!(
                (ruled.moved_fraction, ruled.per_machine),
                (told.moved_fraction, told.per_machine),
                "{spec} {gone}"
            );
        }
    }
}

/// A node that came in the middle of a path stays where it came, as the others do.
#[test]
fn nodes_keep_their_machine_along_a_path() {
    let stages =
        [named(&["a", "b", "c", "d"]), named(&["b", "c", "d"]), named(&["b", "c", "d", "e"]), named(&["d", "e"])];
    let stands = [("a", "0"), ("b", "1"), ("c", "0"), ("d", "1"), ("e", "1")];
    let table: Vec<(String, String)> =
        stands.iter().map(|(node, machine)| ((*node).into(), (*machine).into())).collect();
    let steps = |machines: Machines| {
        let path = Path {
            start: side("ring", &stages[0]),
            steps: stages[1..]
                .iter()
                .map(|members| Step { words: "on".to_owned(), after: Ok(side("ring", members)) })
                .collect(),
            machines: Some(machines),
            bytes: None,
            weighted: false,
            bandwidth: None,
            seed: 42,
            threads: 1,
            max_memory: MEMORY,
        };
        let mut documents = synthetic(&SyntheticSpec::parse("random:2000").unwrap(), 42, path.start.rules());
        let rows = follow(&path, &mut *documents, &|_| {}).unwrap();
        let each = rows.steps.into_iter().map(|step| match step.outcome {
            StepOutcome::Done(step) => step.machines.unwrap().per_machine,
            StepOutcome::NotApplicable { not_applicable } => panic!("{not_applicable}"),
        });
        each.collect::<Vec<_>>()
    };
    assert_eq!(steps(Machines::round_robin(2).unwrap()), steps(Machines::table(&table, "table".to_owned()).unwrap()));
}

#[test]
fn more_machines_than_there_is_memory_for_are_refused_before_they_take_it() {
    let machines = Some(Machines::round_robin(u32::MAX).unwrap());
    let request = Request { machines, ..request(side("ring", &dense(3)), side("ring", &dense(2))) };
    let mut documents = synthetic(&SyntheticSpec::parse("random:100").unwrap(), 42, request.before.rules());
    let refused = what_if(&request, &mut *documents, &|_| {}).unwrap_err();
    assert!(matches!(refused, StudyError::Memory { .. }), "{refused}");
    assert!(refused.to_string().starts_with("the rows of 4294967295 machines"), "{refused}");
}

#[test]
fn a_split_carries_nothing_between_shards_and_whole_shards_between_machines() {
    for (spec, between) in [("elastic:created=8.15", 2.0 / 3.0), ("elastic:created=9.4", 0.0)] {
        let machines = Some(Machines::round_robin(3).unwrap());
        let rows = study(
            &Request { machines, ..request(side(spec, &dense(12)), side(spec, &dense(24))) },
            "sequential:100000",
        );
        assert!(rows.per_node.iter().any(|node| node.load.keys_in > 0 && node.load.bytes_in > Some(0)));
        for node in &rows.per_node {
            let load = &node.load;
            assert_eq!((load.bytes_moved_in, load.bytes_moved_out, load.keys_moved_in), (Some(0), Some(0), 0));
            assert_eq!(load.bytes_peak, load.bytes_before.max(load.bytes_after));
        }
        assert!(rows.matrix.iter().all(|flow| !flow.data_moves));
        assert!(!rows.reading.iter().any(|words| words.contains("bottleneck")), "{:?}", rows.reading);
        let machines = rows.machines.unwrap();
        assert!((machines.moved_fraction - between).abs() < 0.02, "{}", machines.moved_fraction);
        let carried: u128 = machines.per_machine.iter().map(|machine| machine.load.bytes_in.unwrap()).sum();
        assert_eq!(machines.moved_bytes, Some(carried));
    }
}

#[test]
fn a_reindex_takes_the_time_of_all_bytes_and_a_move_that_of_those_that_move() {
    let reindex = from_to("elastic:created=8.15", 12, "elastic:created=8.15", 18, "random:300000");
    within(reindex.seconds_serial, 6000.0 * 17.0 / 18.0, 0.002);
    assert_eq!(reindex.seconds_rewritten, Some(6000.0));
    let jump = from_to("jump", 12, "jump", 18, "random:10000");
    assert_eq!(jump.seconds_rewritten, jump.seconds_serial);
}

#[test]
fn every_single_loss_is_studied_for_numbered_schemes_by_what_people_do() {
    let before = side("jump", &dense(6));
    let of = |loss: Loss| {
        let mut documents = synthetic(&SyntheticSpec::parse("random:60000").unwrap(), 42, before.rules());
        removals(&before, loss, &mut *documents, 42, 2, MEMORY, &|_| {})
    };
    assert!(matches!(of(Loss::Remove), Err(StudyError::Refused { .. })));
    let (renumber, swap) = (of(Loss::Renumber).unwrap(), of(Loss::Swap).unwrap());
    for place in 0..6 {
        let name = place.to_string();
        let renumbered = study(&done(&before, &Edit::Renumber { remove: name }), "random:60000");
        assert_eq!(renumber.rows[place].moved_fraction, renumbered.moves.moved_fraction);
        assert!(swap.rows[place].moved_fraction <= renumber.rows[place].moved_fraction + 1e-12);
        let (growth, heirs) = (renumber.rows[place].largest_growth, renumbered.heirs.unwrap());
        assert_eq!(growth, heirs.largest_growth);
    }
    assert_eq!(swap.rows[5].moved_fraction, renumber.rows[5].moved_fraction, "the last leaves no hole");
}

#[test]
fn an_unknown_node_is_answered_with_the_nearest_there_are() {
    let names: Vec<String> = (1..=9).map(|i| format!("cache-{i}")).collect();
    let many = named(&names.iter().map(String::as_str).collect::<Vec<_>>());
    let words = |members: &Members, edit_asked: Edit| {
        edit(&side("ring", members), &edit_asked, MEMORY).unwrap_err().to_string()
    };
    let remove = |name: &str| Edit::Change(Change::Remove { name: name.into() });
    let nearest = words(&many, remove("cahce-3"));
    assert!(
        nearest.starts_with("there is no node \"cahce-3\"; the nearest of the 9 nodes are \"cache-3\","),
        "{nearest}"
    );
    assert_eq!(words(&named(&["a", "b"]), remove("c")), "there is no node \"c\"; the nodes are \"a\", \"b\"");
    assert_eq!(words(&dense(12), remove("12")), "there is no node \"12\"; the 12 nodes are \"0\" to \"11\"");
    assert!(words(&many, Edit::LoseRack { prefix: "rack".into() }).contains("cache-1"));
}
