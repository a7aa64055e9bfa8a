//! The shared suite in both roundings.

use shardlab_core::conformance;
use shardlab_scheme_jump::{Jump, Rounding};

#[test]
fn jump_keeps_its_promises() {
    conformance::check(&Jump::default());
}

#[test]
fn jump_as_guava_rounds_keeps_its_promises() {
    conformance::check(&Jump { rounding: Rounding::Guava });
}
