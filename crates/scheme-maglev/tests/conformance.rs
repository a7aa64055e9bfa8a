//! The shared suite on the default and on other tables.

use shardlab_core::{Scheme, conformance};
use shardlab_scheme_maglev::Maglev;

#[test]
fn the_default_table_keeps_its_promises() {
    conformance::check(&Maglev::default());
}

#[test]
fn a_table_smaller_than_some_memberships_keeps_its_promises() {
    conformance::check(&*Maglev::default().with("table", "5003").unwrap());
}
