//! The shared suite.

#[test]
fn rendezvous_keeps_its_promises() {
    shardlab_core::conformance::check(&shardlab_scheme_rendezvous::Rendezvous);
}
