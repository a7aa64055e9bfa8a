//! Comparisons from end to end: what is measured, what never changes a result, and what is refused.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use proptest::prelude::*;
use shardlab_core::rows::{ChangeOutcome, Comparison, Measured, Movement, RowOutcome, Verdict};
use shardlab_core::{
    About, BuildError, Change, Disruption, LookupGrowth, Members, Node, NodeId, Promises, Resizing, Scheme, Sharder,
    SpecError, Unsupported,
};
use shardlab_harness::{CompareError, Impossible, Plan, Request, RowRequest};
use shardlab_keys::{SyntheticSpec, distinct, synthetic};

fn request(members: Members, schemes: Vec<Box<dyn Scheme>>) -> Request {
    let rows = schemes.into_iter().map(|scheme| RowRequest { scheme, required: true }).collect();
    Request { members, rows, hash: None, seed: 42, threads: 1, timing: false, max_memory: 2 << 30 }
}

fn run(request: Request, keys: &str) -> Result<Comparison, CompareError> {
    let (seed, plan) = (request.seed, Plan::new(request)?);
    let mut documents = synthetic(&SyntheticSpec::parse(keys).unwrap(), seed, plan.rules());
    plan.run(&mut *documents, "test".to_owned(), &|_| {})
}

fn scheme(spec: &str) -> Box<dyn Scheme> {
    shardlab_schemes::parse(spec).unwrap().scheme
}

fn dense(n: u32) -> Members {
    Members::dense(n).unwrap()
}

fn weighted(weights: &[u32]) -> Members {
    let nodes = weights.iter().enumerate().map(|(i, &weight)| Node::new(format!("node-{i}"), weight).unwrap());
    Members::listed(nodes.collect()).unwrap()
}

fn measured(comparison: &Comparison, row: usize) -> &Measured {
    match &comparison.rows[row].outcome {
        RowOutcome::Measured(measured) => measured,
        RowOutcome::NotApplicable { not_applicable } => panic!("not applicable: {not_applicable}"),
    }
}

fn moved(outcome: &ChangeOutcome) -> &Movement {
    match outcome {
        ChangeOutcome::Moved(movement) => movement,
        ChangeOutcome::NotApplicable { not_applicable } => panic!("not applicable: {not_applicable}"),
    }
}

fn reason(outcome: &ChangeOutcome) -> &str {
    match outcome {
        ChangeOutcome::NotApplicable { not_applicable } => not_applicable,
        ChangeOutcome::Moved(movement) => panic!("moved {movement:?}"),
    }
}

fn assert_near(measured: f64, expected: f64, keys: f64) {
    let sigma = (expected * (1.0 - expected) / keys).sqrt();
    assert!((measured - expected).abs() <= 4.0 * sigma + 1e-12, "{measured} in place of {expected}");
}

#[test]
fn the_textbook_movements_come_out() {
    let keys = 200_000.0;
    let schemes = ["modulo", "jump", "ring", "rendezvous", "maglev"].map(scheme).into();
    let comparison = run(request(dense(10), schemes), "random:200000").unwrap();
    let [modulo, jump, ring, rendezvous, maglev] = [0, 1, 2, 3, 4].map(|row| &measured(&comparison, row).movement);
    assert_near(moved(&modulo.add_one).moved, 10.0 / 11.0, keys);
    assert_near(moved(&modulo.double).moved, 0.5, keys);
    for movement in [jump, rendezvous] {
        assert_near(moved(&movement.add_one).moved, 1.0 / 11.0, keys);
        assert_near(moved(&movement.remove_last).moved, 0.1, keys);
        assert_near(moved(&movement.double).moved, 0.5, keys);
    }
    assert_near(moved(&rendezvous.remove_middle).moved, 0.1, keys);
    for movement in [jump, ring, rendezvous] {
        assert_eq!(moved(&movement.add_one).disruption, 0.0);
        assert_eq!(moved(&movement.add_one).excess, 0.0);
    }
    assert!(moved(&maglev.remove_middle).disruption > 0.0 && moved(&maglev.remove_middle).disruption < 0.01);
    assert_eq!(reason(&jump.remove_middle), "only the last node (\"9\") can leave");
    assert_eq!(reason(&modulo.remove_middle), "only the last node (\"9\") can leave");
    for movement in [modulo, jump, ring, rendezvous, maglev] {
        assert!((moved(&movement.add_one).ideal - 1.0 / 11.0).abs() < 1e-12);
        assert!((moved(&movement.double).ideal - 0.5).abs() < 1e-12);
    }
}

#[test]
fn elasticsearch_grows_by_factors_and_keeps_documents_inside_their_parents() {
    let schemes = vec![scheme("elastic:created=8.15"), scheme("elastic:created=9.4")];
    let comparison = run(request(dense(12), schemes), "sequential:20000").unwrap();
    for (row, changed_number) in [(0, 23.0 / 24.0), (1, 0.5)] {
        let movement = &measured(&comparison, row).movement;
        assert!(reason(&movement.add_one).contains("13 is not a multiple of 12"), "{:?}", movement.add_one);
        assert!(reason(&movement.remove_last).contains("11 does not divide 12"), "{:?}", movement.remove_last);
        assert_near(moved(&movement.double).moved, changed_number, 20_000.0);
        assert_eq!(moved(&movement.double).left_parent, Some(0.0));
    }
}

#[test]
fn each_scheme_brings_its_own_hash_unless_another_is_asked_for() {
    let schemes = || vec![scheme("elastic:created=8.15"), scheme("elastic:created=1.x"), scheme("jump")];
    let comparison = run(request(dense(3), schemes()), "sequential:1000").unwrap();
    let hashes: Vec<&str> = comparison.rows.iter().map(|row| row.hash.as_str()).collect();
    assert_eq!(hashes, ["es-murmur3", "djb2", "xxh3"]);
    let asked = Request { hash: Some(shardlab_hash::by_name("fnv1a").unwrap()), ..request(dense(3), schemes()) };
    assert!(run(asked, "sequential:1000").unwrap().rows.iter().all(|row| row.hash == "fnv1a"));
}

#[test]
fn the_worked_counts_of_elasticsearch_come_out() {
    let counts = |spec: &str, nodes, keys: &str| {
        measured(&run(request(dense(nodes), vec![scheme(spec)]), keys).unwrap(), 0).balance.counts.clone()
    };
    assert_eq!(counts("elastic:created=8.15", 5, "sequential:1000,start=1"), [221, 202, 185, 193, 199]);
    assert_eq!(counts("elastic:created=1.x", 3, "sequential:100000"), [30_100, 30_000, 39_900]);
    assert_eq!(counts("elastic:created=1.x", 5, "sequential:100000"), [20_000; 5]);
}

#[test]
fn a_hash_of_32_bits_before_a_scheme_that_reads_64_is_noted() {
    let asked = Request {
        hash: Some(shardlab_hash::by_name("murmur3").unwrap()),
        ..request(dense(10), vec![scheme("ring"), scheme("maglev"), scheme("rendezvous")])
    };
    let comparison = run(asked, "sequential:20000").unwrap();
    assert!(comparison.notes.iter().any(|note| note.starts_with("ring") && note.contains("64-bit hash")));
    assert_eq!(measured(&comparison, 0).balance.verdict, Verdict::Structural);
    for row in [1, 2] {
        assert_eq!(measured(&comparison, row).balance.verdict, Verdict::Chance);
    }
}

#[test]
fn weights_leave_out_the_schemes_that_take_none() {
    let mut request = request(weighted(&[1, 2, 3, 4]), shardlab_schemes::comparison_rows());
    for row in &mut request.rows {
        row.required = false;
    }
    let comparison = run(request, "random:100000").unwrap();
    for row in &comparison.rows {
        match (&row.outcome, row.scheme.as_str()) {
            (RowOutcome::Measured(measured), "ring" | "rendezvous" | "maglev") => {
                assert!(measured.balance.peak_to_average < 1.3, "{}: {:?}", row.scheme, measured.balance);
                // The four weights 1 to 4 and a new node of weight 1.
                assert!((moved(&measured.movement.add_one).ideal - 1.0 / 11.0).abs() < 1e-12);
            }
            (RowOutcome::NotApplicable { not_applicable }, _) => {
                assert!(
                    not_applicable.contains("takes no weights, but node \"node-1\" has weight 2"),
                    "{not_applicable}"
                );
            }
            (RowOutcome::Measured(_), name) => panic!("{name} took weights"),
        }
    }
    let rendezvous = comparison.rows.iter().position(|row| row.scheme == "rendezvous").unwrap();
    assert_eq!(measured(&comparison, rendezvous).balance.verdict, Verdict::Chance);
}

#[test]
fn a_named_scheme_that_cannot_serve_the_members_is_an_error() {
    let error = run(request(weighted(&[1, 2]), vec![scheme("jump")]), "random:10").unwrap_err();
    assert!(matches!(error, CompareError::Build { source: BuildError::WeightsUnsupported { .. }, .. }), "{error}");
}

#[test]
fn what_needs_too_much_memory_is_refused_before_it_is_built() {
    let small = Request { max_memory: 1_000_000, ..request(dense(1000), vec![scheme("ring"), scheme("jump")]) };
    let CompareError::Memory { largest, limit, .. } = Plan::new(small).unwrap_err() else { panic!("wrong error") };
    assert_eq!((largest.as_str(), limit), ("ring", 1_000_000));
    let huge = request(dense(2_147_483_647), vec![scheme("jump")]);
    assert!(matches!(Plan::new(huge), Err(CompareError::Memory { .. })));
}

#[test]
fn one_node_can_neither_lose_one_nor_be_uneven() {
    let schemes = ["elastic:created=8.15", "modulo", "jump", "ring", "rendezvous", "maglev"].map(scheme).into();
    let comparison = run(request(dense(1), schemes), "random:1000").unwrap();
    for row in 0..comparison.rows.len() {
        let measured = measured(&comparison, row);
        assert_eq!((measured.balance.peak_to_average, measured.balance.verdict), (1.0, Verdict::Chance));
        assert!(matches!(measured.movement.remove_last, ChangeOutcome::NotApplicable { .. }));
    }
}

#[test]
fn distinct_documents_are_placed_once() {
    let plan = Plan::new(request(dense(5), vec![scheme("rendezvous")])).unwrap();
    // Ten tenants and many items: every document is different, but routing values repeat.
    let spec = SyntheticSpec::parse("zipf-tenants:5000,tenants=10").unwrap();
    let mut documents = distinct(synthetic(&spec, 1, plan.rules()), u64::MAX);
    let comparison = plan.run(&mut *documents, String::new(), &|_| {}).unwrap();
    assert_eq!(comparison.keys.distinct, Some(5000));
    assert_eq!(measured(&comparison, 0).balance.counts.iter().sum::<u64>(), 5000);
    assert_eq!(measured(&comparison, 0).balance.verdict, Verdict::Structural, "ten tenants on five nodes");
}

#[test]
fn times_stand_in_their_own_fields_alone() {
    let timed = Request { timing: true, ..request(dense(10), vec![scheme("modulo"), scheme("rendezvous")]) };
    let timed = run(timed, "random:5000").unwrap();
    assert!(timed.timings.is_some() && measured(&timed, 0).lookup_ns.is_some_and(|ns| ns > 0.0));
    let untimed = run(request(dense(10), vec![scheme("modulo"), scheme("rendezvous")]), "random:5000").unwrap();
    assert!(untimed.timings.is_none() && measured(&untimed, 0).lookup_ns.is_none());
    let timings = timed.timings.as_ref().unwrap();
    assert_eq!(timings.timed_keys, 5000);
    assert!(timed.reading.iter().any(|words| words.contains("Only 5000 keys")), "{:?}", timed.reading);
    for (row, latency) in timings.latency.iter().enumerate() {
        assert_eq!(latency.scheme, timed.rows[row].scheme);
        assert_eq!(Some(latency.lookup_ns), measured(&timed, row).lookup_ns);
        assert!(latency.lookup_p99_ns >= latency.lookup_ns && latency.throughput_p99_ns >= latency.throughput_ns);
        assert!(latency.throughput_with_hash_ns.is_none(), "these keys are numbers and need no hash");
    }
    assert_eq!(measured(&timed, 1).balance, measured(&untimed, 1).balance);
    assert_eq!(measured(&timed, 1).movement, measured(&untimed, 1).movement);
}

#[test]
fn ids_are_also_timed_with_their_hash_and_the_sum_of_answers_is_that_of_the_keys() {
    let run_with = |keys: &str| {
        let request =
            Request { timing: true, ..request(dense(10), vec![scheme("modulo"), scheme("maglev:table=101")]) };
        run(request, keys).unwrap().timings.unwrap()
    };
    let (first, second) = (run_with("sequential:20000"), run_with("sequential:20000"));
    for (a, b) in first.latency.iter().zip(&second.latency) {
        assert!(a.throughput_with_hash_ns.is_some_and(|ns| ns > 0.0));
        assert_eq!(a.answers_sum, b.answers_sum, "two runs measured the same answers");
        // 1024 keys on ten nodes: 4.5 on average.
        assert!((3500..5700).contains(&a.answers_sum), "{}", a.answers_sum);
    }
}

#[test]
fn a_batch_that_answers_otherwise_than_single_lookups_is_never_timed() {
    let liar: Box<dyn Scheme> = Box::new(Liar { members: dense(3), shift: 0, batch_shift: 1 });
    let error = run(Request { timing: true, ..request(dense(3), vec![liar]) }, "random:2000").unwrap_err();
    let CompareError::Impossible { spec, result } = error else { panic!("{error}") };
    assert_eq!(spec, "liar");
    assert!(matches!(result, Impossible::BatchDiffers { .. }), "{result:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn the_number_of_threads_never_changes_a_result(nodes in 1_u32..40, threads in 2_usize..5, seed: u64, set in 0_usize..4) {
        let keys = ["random:150000", "sequential:140000", "uuid4:70000", "zipf-tenants:131073,tenants=50"][set];
        let run_with = |threads| {
            let mut request = Request { threads, seed, ..request(dense(nodes), shardlab_schemes::comparison_rows()) };
            request.rows.iter_mut().for_each(|row| row.required = false);
            run(request, keys).unwrap()
        };
        prop_assert_eq!(run_with(1), run_with(threads));
    }

    #[test]
    fn moved_is_never_below_the_minimum_and_counts_add_up(nodes in 2_u32..60, seed: u64) {
        let comparison = run(Request { seed, ..request(dense(nodes), shardlab_schemes::comparison_rows()) }, "random:3000").unwrap();
        for row in 0..comparison.rows.len() {
            let measured = measured(&comparison, row);
            prop_assert_eq!(measured.balance.counts.iter().sum::<u64>(), 3000);
            let movement = &measured.movement;
            for outcome in [&movement.add_one, &movement.remove_last, &movement.remove_middle, &movement.double] {
                if let ChangeOutcome::Moved(movement) = outcome {
                    prop_assert!(movement.moved >= movement.minimum && movement.disruption <= movement.moved);
                }
            }
        }
    }
}

/// A scheme that promises what it does not keep: after any change all keys go to the next node.
#[derive(Clone, Debug)]
struct Liar {
    members: Members,
    shift: u32,
    /// What a batch adds to the answer of a single lookup.
    batch_shift: u32,
}

const LIAR: About = About {
    summary: "breaks its promise",
    good_for: "tests",
    bad_at: "everything else",
    lookup_cost: "one remainder",
    lookup_growth: LookupGrowth::Constant,
    heap_cost: "0",
    options: &[],
};

impl Scheme for Liar {
    fn name(&self) -> &'static str {
        "liar"
    }

    fn spec(&self) -> String {
        "liar".to_owned()
    }

    fn about(&self) -> &'static About {
        &LIAR
    }

    fn promises(&self) -> Promises {
        Promises {
            resizing: Resizing::Any,
            disruption: Disruption::None,
            weights: false,
            order_free: false,
            citation: "this test",
        }
    }

    fn expected_heap_bytes(&self, _members: &Members) -> u64 {
        0
    }

    fn with(&self, option: &str, _value: &str) -> Result<Box<dyn Scheme>, SpecError> {
        Err(SpecError::unknown(self, option))
    }

    fn check_members(&self, _members: &Members) -> Result<(), BuildError> {
        Ok(())
    }

    fn build(&self, members: &Members) -> Result<Box<dyn Sharder>, BuildError> {
        Ok(Box::new(Self { members: members.clone(), ..self.clone() }))
    }

    fn box_clone(&self) -> Box<dyn Scheme> {
        Box::new(self.clone())
    }
}

impl Sharder for Liar {
    fn shard(&self, key: u64) -> NodeId {
        let n = u64::from(self.members.len());
        NodeId(u32::try_from((key % n + u64::from(self.shift)) % n).unwrap())
    }

    fn shard_many(&self, keys: &[u64], out: &mut [NodeId]) {
        for (slot, &key) in out.iter_mut().zip(keys) {
            *slot = NodeId((self.shard(key).0 + self.batch_shift) % self.members.len());
        }
    }

    fn members(&self) -> &Members {
        &self.members
    }

    fn heap_bytes(&self) -> usize {
        0
    }

    fn apply(&mut self, change: &Change) -> Result<(), Unsupported> {
        self.members = self.members.after(change)?;
        self.shift += 1;
        Ok(())
    }

    fn box_clone(&self) -> Box<dyn Sharder> {
        Box::new(self.clone())
    }
}

#[test]
fn a_broken_promise_is_an_error_and_not_a_number() {
    let liar: Box<dyn Scheme> = Box::new(Liar { members: dense(3), shift: 0, batch_shift: 0 });
    let error = run(request(dense(3), vec![liar]), "random:1000").unwrap_err();
    let CompareError::Impossible { spec, result } = error else { panic!("{error}") };
    assert_eq!(spec, "liar");
    assert!(matches!(result, Impossible::BrokenPromise { change: "add_one", .. }), "{result:?}");
}
