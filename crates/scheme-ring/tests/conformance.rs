//! The shared suite on the default and on a thinner ring.
#![allow(clippy::unwrap_used, reason = "helpers of tests say what they expect through unwrap")]

use shardlab_core::{Scheme, conformance};
use shardlab_scheme_ring::Ring;

#[test]
fn the_default_ring_keeps_its_promises() {
    conformance::check(&Ring::default());
}

#[test]
fn a_ring_of_64_points_keeps_its_promises() {
    conformance::check(&*Ring::default().with("vnodes", "64").unwrap());
}
