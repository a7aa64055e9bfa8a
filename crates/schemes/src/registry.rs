use shardlab_core::Scheme;

/// One line a scheme, in the order in which a comparison shows them.
const REGISTRY: &[fn() -> Box<dyn Scheme>] = &[
    shardlab_scheme_elastic::scheme,
    shardlab_scheme_modulo::scheme,
    shardlab_scheme_jump::scheme,
    shardlab_scheme_ring::scheme,
    shardlab_scheme_rendezvous::scheme,
    shardlab_scheme_maglev::scheme,
    // New schemes go above this line; `cargo xtask new-scheme` puts them there.
];

/// Every scheme with its default options.
#[must_use]
pub fn all() -> Vec<Box<dyn Scheme>> {
    REGISTRY.iter().map(|scheme| scheme()).collect()
}

/// The rows of a comparison of everything: every scheme, some in several configurations.
#[must_use]
pub fn comparison_rows() -> Vec<Box<dyn Scheme>> {
    all().iter().flat_map(|scheme| scheme.comparison_rows()).collect()
}
