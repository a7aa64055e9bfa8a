//! The shared suite on both readings of the key.

use shardlab_core::conformance;
use shardlab_scheme_modulo::Modulo;

#[test]
fn unsigned_modulo_keeps_its_promises() {
    conformance::check(&Modulo::default());
}

#[test]
fn signed_modulo_keeps_its_promises() {
    conformance::check(&Modulo { signed: true });
}
