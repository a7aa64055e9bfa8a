//! The shared suite on every generation, with and without options.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use shardlab_core::{Scheme, conformance};

/// Runs the suite with the servers' limit of shards, and with one that lets 10,000 shards through.
fn check(options: &[(&str, &str)]) {
    let mut scheme = shardlab_scheme_elastic::scheme();
    for (option, value) in options {
        scheme = scheme.with(option, value).unwrap();
    }
    conformance::check(&*scheme);
    let lifted: Box<dyn Scheme> = scheme.with("max_shards", "20000").unwrap();
    conformance::check(&*lifted);
}

#[test]
fn the_default_keeps_its_promises() {
    check(&[]);
}

#[test]
fn indices_of_1_7_keep_their_promises() {
    check(&[("created", "1.7")]);
}

#[test]
fn indices_of_6_8_keep_their_promises() {
    check(&[("created", "6.8")]);
}

#[test]
fn indices_of_8_15_keep_their_promises() {
    check(&[("created", "8.15")]);
}

#[test]
fn indices_of_9_4_keep_their_promises() {
    check(&[("created", "9.4")]);
}

#[test]
fn indices_of_opensearch_keep_their_promises() {
    check(&[("created", "opensearch")]);
}

#[test]
fn explicit_routing_shards_keep_the_promises() {
    for created in ["5.0", "6.8", "8.15", "9.4", "opensearch"] {
        check(&[("created", created), ("routing_shards", "720")]);
    }
}

#[test]
fn partitions_keep_the_promises() {
    for created in ["8.15", "9.4", "opensearch"] {
        check(&[("created", created), ("partition", "3")]);
        check(&[("created", created), ("partition", "3"), ("routing_shards", "3840")]);
    }
}
