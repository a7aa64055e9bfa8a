//! How fast is fast enough: the one table of targets.

/// Which of our ways a target is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Way {
    /// One key at a time through `dyn Sharder::shard`.
    Single,
    /// Batches through `shard_many`, by the kernels for AVX-512.
    Many,
    /// `Scheme::build`, by the kernels for AVX-512.
    Build,
}

/// A target of speed.
pub(crate) struct Target {
    /// The question of the contest.
    pub(crate) question: &'static str,
    pub(crate) nodes: u32,
    pub(crate) way: Way,
    /// How many times as fast as the fastest published crate: its nanoseconds over ours.
    pub(crate) at_least: f64,
}

const fn target(question: &'static str, way: Way, at_least: f64) -> Target {
    Target { question, nodes: 1000, way, at_least }
}

pub(crate) const ONE_LENGTH: &str = "elasticsearch, ids of 20 letters";
pub(crate) const MIXED: &str = "elasticsearch, ids of mixed lengths";

/// The targets of speed, as ratios.
pub(crate) const SPEED: [Target; 18] = [
    target(ONE_LENGTH, Way::Single, 4.0),
    target(ONE_LENGTH, Way::Many, 20.0),
    target(MIXED, Way::Many, 8.0),
    target("modulo", Way::Single, 1.0),
    target("modulo", Way::Many, 4.0),
    target("jump", Way::Single, 1.0),
    target("jump", Way::Many, 5.0),
    target("ring", Way::Single, 5.0),
    target("ring", Way::Many, 8.0),
    target("rendezvous", Way::Single, 20.0),
    target("rendezvous", Way::Many, 25.0),
    target("maglev 65537", Way::Single, 8.0),
    target("maglev 65537", Way::Many, 15.0),
    target("maglev 655373", Way::Single, 10.0),
    target("maglev 655373", Way::Many, 20.0),
    target("build ring", Way::Build, 2.0),
    target("build maglev 65537", Way::Build, 2.0),
    target("build maglev 655373", Way::Build, 2.0),
];

/// A target of memory: bytes that are not the payload, for each cell of a table.
pub(crate) struct Heap {
    pub(crate) what: &'static str,
    pub(crate) spec: &'static str,
    pub(crate) nodes: u32,
    /// Bytes for each cell, at most.
    pub(crate) at_most: f64,
    /// Cells of the table, and bytes of it that are its payload and not counted.
    pub(crate) table: fn(nodes: u64) -> (u64, u64),
}

/// A point of the ring has a position of 8 bytes and an owner of 4.
fn ring_index(nodes: u64) -> (u64, u64) {
    let points = 160 * nodes;
    // The index has a cap, beyond which it is smaller than its points.
    ((points - points / 3).next_power_of_two().min(1 << 24), 12 * points)
}

/// The targets of memory.
pub(crate) const HEAP: [Heap; 3] = [
    Heap {
        what: "ring: index over its points, bytes a cell",
        spec: "ring",
        nodes: 1000,
        at_most: 4.0,
        table: ring_index,
    },
    Heap { what: "maglev: bytes a slot", spec: "maglev", nodes: 1000, at_most: 2.0, table: |_| (65_537, 0) },
    Heap {
        what: "maglev with the most nodes of two bytes: bytes a slot",
        spec: "maglev:table=655373",
        nodes: 65_536,
        at_most: 2.0,
        table: |_| (655_373, 0),
    },
];

/// What a table may have beyond its cells: sentinels and padding, in bytes.
pub(crate) const HEAP_SLACK: u64 = 64;
