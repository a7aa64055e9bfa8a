//! How cost grows, over real schemes.
#![allow(clippy::unwrap_used, reason = "a test ends where something is missing")]

use std::time::Duration;

use shardlab_core::Scheme;
use shardlab_core::rows::{GrowthPoint, SchemeGrowth};
use shardlab_harness::{Schedule, Sweep, random_keys};

const BRIEF: Schedule = Schedule { rounds: 1, turn: Duration::ZERO, sample: Duration::ZERO };

fn schemes(specs: &[&str]) -> Vec<Box<dyn Scheme>> {
    specs.iter().map(|spec| shardlab_schemes::parse(spec).unwrap().scheme).collect()
}

fn sweep<'a>(schemes: &'a [Box<dyn Scheme>], nodes: &'a [u32], max_memory: u64) -> Sweep<'a> {
    Sweep { schemes, nodes, max_memory, schedule: BRIEF, keys: 1000, seed: 9 }
}

fn nodes(growth: &SchemeGrowth) -> Vec<u32> {
    growth.sizes.iter().map(|size| size.nodes).collect()
}

#[test]
fn sizes_come_in_order_and_each_once_and_progress_hears_of_all() {
    let schemes = schemes(&["modulo", "jump"]);
    let mut heard = Vec::new();
    let scaling = sweep(&schemes, &[100, 10, 100], u64::MAX)
        .run(&mut |scheme, nodes| heard.push(format!("{scheme} {nodes}")))
        .unwrap();
    assert_eq!(heard, ["modulo 10", "modulo 100", "jump 10", "jump 100"]);
    assert!(scaling.schemes.iter().all(|growth| nodes(growth) == [10, 100] && growth.stops.is_none()));
    let times = |size: &GrowthPoint| [size.single_ns, size.many_ns, size.build_ns];
    let sizes = scaling.schemes.iter().flat_map(|growth| &growth.sizes);
    assert!(sizes.flat_map(times).all(|ns| ns > 0.0 && ns.is_finite()));
}

#[test]
fn a_scheme_ends_before_what_it_cannot_serve_or_may_not_take_and_says_why() {
    let schemes = schemes(&["elastic:created=8.15", "ring", "rendezvous"]);
    // A ring of 10 nodes has 1600 points of 12 bytes and more, rendezvous 12 bytes a node.
    let scaling = sweep(&schemes, &[10, 2000], 1_000_000).run(&mut |_, _| {}).unwrap();
    let [elastic, ring, rendezvous] = scaling.schemes.try_into().unwrap();
    assert_eq!((nodes(&elastic), nodes(&ring), nodes(&rendezvous)), (vec![10], vec![10], vec![10, 2000]));
    let reason = elastic.stops.unwrap();
    assert!(reason.starts_with("before 2000 nodes: 2000 shards are above the limit of 1024"), "{reason}");
    let reason = ring.stops.unwrap();
    assert!(reason.contains("bytes, more than the 1000000 that are allowed"), "{reason}");
    assert_eq!(rendezvous.stops, None);
    // 2000 nodes are 63 blocks of 32.
    assert_eq!(rendezvous.sizes[1].heap_bytes, 63 * 32 * 8 + 2000 * 4);
}

#[test]
fn a_table_grows_with_its_nodes_and_the_spec_says_so() {
    let schemes = schemes(&["maglev:table=101"]);
    let scaling = sweep(&schemes, &[1, 10], u64::MAX).run(&mut |_, _| {}).unwrap();
    let specs: Vec<&str> = scaling.schemes[0].sizes.iter().map(|size| size.spec.as_str()).collect();
    assert_eq!(specs, ["maglev:table=101", "maglev:table=1009"]);
    let scaling = sweep(&schemes, &[100_001], u64::MAX).run(&mut |_, _| {}).unwrap();
    let beyond = scaling.schemes[0].stops.clone().unwrap();
    assert!(beyond.ends_with("100 cells a node that it advises, its table would have more than 10000000"), "{beyond}");
}

#[test]
fn nothing_to_measure_is_an_error() {
    let schemes = schemes(&["modulo"]);
    let run = |sweep: Sweep<'_>| sweep.run(&mut |_, _| {}).map(|_| ()).map_err(|error| error.to_string());
    assert!(run(sweep(&schemes, &[], 0)).unwrap_err().contains("at least one of them"));
    assert!(run(sweep(&schemes, &[0], 0)).unwrap_err().contains("at least one node"));
    assert!(run(sweep(&schemes, &[u32::MAX], 0)).unwrap_err().contains("more than the 2147483647"));
    assert!(run(Sweep { keys: 0, ..sweep(&schemes, &[1], 0) }).unwrap_err().contains("at least one key"));
}

#[test]
fn keys_are_the_same_in_every_run_and_differ_by_seed() {
    // The first outputs of SplitMix64 with seed 0, as its author's program prints them.
    assert_eq!(random_keys(2, 0), [0xE220_A839_7B1D_CDAF, 0x6E78_9E6A_A1B9_65F4]);
    assert_ne!(random_keys(2, 1), random_keys(2, 0));
}
