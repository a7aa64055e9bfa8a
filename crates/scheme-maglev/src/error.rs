/// Why a Maglev table cannot be built for a membership.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MaglevError {
    /// Fewer slots than nodes: some node would own nothing.
    #[error(
        "a table of {table} slots cannot serve {nodes} nodes; the next prime is table={next_prime}, and 100 slots for \
         each node or more are advised"
    )]
    TableTooSmall {
        /// Slots of the table.
        table: u32,
        /// Nodes to be served.
        nodes: u32,
        /// The smallest table that serves them.
        next_prime: u32,
    },
    /// A node is so light that the table has no slot for it.
    #[error("node {node:?} with weight {weight} of {total_weight} gets none of the {table} slots; {}", way_out(*.needed))]
    NoSlot {
        /// The first such node by name.
        node: String,
        /// Its weight.
        weight: u32,
        /// The sum of all weights.
        total_weight: u64,
        /// Slots of the table.
        table: u32,
        /// A table in which every node has a slot; none if it would be larger than any.
        needed: Option<u32>,
    },
}

fn way_out(needed: Option<u32>) -> String {
    match needed {
        Some(table) => format!("take table={table} or a larger prime, or weights that differ less"),
        None => "no table is large enough: take weights that differ less".to_owned(),
    }
}
