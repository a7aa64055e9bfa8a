use shardlab_core::rows::{Fate, Flow, NodeFlow, WhatIf};
use shardlab_core::{Disruption, NO_HASH, NodeId, Placer, RawBatch, ResizeOperation};
use shardlab_harness::{Fair, Impossible, balance, drive, ideal_fraction, minimum_keys};
use shardlab_keys::{Documents, Progress};

use crate::{Flows, Machines, Side, StudyError, exact_moved_fraction};

/// What to study.
#[derive(Debug)]
pub struct Request {
    /// The sharding that there is.
    pub before: Side,
    /// The sharding that there would be.
    pub after: Side,
    /// What is done, in words.
    pub change: String,
    /// For each node before, the node after that is the same; by name where nothing is said.
    pub matched: Option<Vec<Option<NodeId>>>,
    /// Machines that hold the nodes, where they are of interest.
    pub machines: Option<Machines>,
    /// Bytes of all documents together. They are shared out by the weights of the documents, or
    /// evenly where there are none.
    pub bytes: Option<u128>,
    /// Bytes a second that one transfer takes.
    pub bandwidth: Option<u64>,
    /// The seed of synthetic keys, for the record.
    pub seed: u64,
    /// Threads that place documents.
    pub threads: usize,
    /// Bytes that the matrix may take.
    pub max_memory: u64,
}

/// Places all documents by both sides and says what lies between them.
///
/// # Errors
/// The documents cannot be read or placed, there are none, the matrix needs more memory than it may
/// take, or a result is impossible.
pub fn what_if(
    request: &Request,
    documents: &mut dyn Documents,
    weighted: bool,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<WhatIf, StudyError> {
    let flows = flows(request, documents, weighted, progress)?;
    Study::new(request, &flows)?.rows(documents)
}

/// The matrix of flows between both sides.
fn flows(
    request: &Request,
    documents: &mut dyn Documents,
    weighted: bool,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<Flows, StudyError> {
    let Request { before, after, threads, max_memory, .. } = request;
    let empty = Flows::new(before.members().len(), after.members().len(), weighted);
    let limit = |used: usize| {
        let needed = used as u128 * (*threads as u128 + 1);
        let what = "the matrix from node to node".to_owned();
        if needed > u128::from(*max_memory) {
            Err(StudyError::Memory { what, needed, limit: *max_memory })
        } else {
            Ok(())
        }
    };
    limit(empty.heap_bytes())?;
    let start = || (empty.clone(), Vec::new(), Vec::new());
    let step = |state: &mut (Flows, Vec<NodeId>, Vec<NodeId>), _: u64, batch: &RawBatch<'_>| {
        let (flows, from, to) = state;
        for (side, out) in [(before, &mut *from), (after, &mut *to)] {
            out.resize(batch.len(), NodeId(0));
            let refused = |error| StudyError::Key { spec: side.scheme.spec(), error };
            side.placer.place_many(batch, out).map_err(refused)?;
        }
        flows.add(from, to, batch.weights());
        limit(flows.heap_bytes())
    };
    let mut sum = empty.clone();
    for (flows, ..) in drive::<_, StudyError>(documents, *threads, progress, start, step)? {
        sum.merge(&flows);
    }
    Ok(sum)
}

/// A matrix with everything that gives its cells a meaning.
struct Study<'a> {
    request: &'a Request,
    /// Cells with bytes.
    cells: Vec<Cell>,
    matched: Vec<Option<NodeId>>,
    /// For each node after, whether it was there before.
    survivor: Vec<bool>,
    before: Vec<u64>,
    after: Vec<u64>,
    /// For splits and shrinks: where the documents of each shard come from.
    lineage: Option<(ResizeOperation, Vec<Vec<NodeId>>)>,
    total: u64,
}

#[derive(Clone, Copy)]
struct Cell {
    from: NodeId,
    to: NodeId,
    keys: u64,
    bytes: Option<u128>,
}

impl<'a> Study<'a> {
    fn new(request: &'a Request, flows: &Flows) -> Result<Self, StudyError> {
        let (before, after) = (flows.before(), flows.after());
        let total: u64 = before.iter().sum();
        if total == 0 {
            return Err(StudyError::NoKeys);
        }
        let (from, to) = (request.before.members(), request.after.members());
        let matched = request.matched.clone().unwrap_or_else(|| from.matched_in(to));
        let mut survivor = vec![false; after.len()];
        for node in matched.iter().flatten() {
            survivor[node.index()] = true;
        }
        let cells = with_bytes(flows, request.bytes);
        Ok(Self { lineage: lineage(request), request, cells, matched, survivor, before, after, total })
    }

    fn moves(&self, cell: &Cell) -> bool {
        self.matched[cell.from.index()] != Some(cell.to)
    }

    /// Whether data goes elsewhere: in a split or shrink a document that gets another shard number
    /// stays where it is, as long as it stays in the lineage of its shard.
    fn carries(&self, cell: &Cell) -> bool {
        match &self.lineage {
            Some((_, sources)) => !sources[cell.to.index()].contains(&cell.from),
            None => self.moves(cell),
        }
    }

    fn disrupts(&self, cell: &Cell) -> bool {
        self.moves(cell) && self.matched[cell.from.index()].is_some() && self.survivor[cell.to.index()]
    }

    fn keys(&self, keep: impl Fn(&Cell) -> bool) -> u64 {
        self.cells.iter().filter(|cell| keep(cell)).map(|cell| cell.keys).sum()
    }

    fn bytes(&self, keep: impl Fn(&Cell) -> bool) -> Option<u128> {
        self.cells
            .iter()
            .filter(|cell| keep(cell))
            .map(|cell| cell.bytes)
            .sum::<Option<u128>>()
            .filter(|_| self.has_bytes())
    }

    fn has_bytes(&self) -> bool {
        self.cells.iter().all(|cell| cell.bytes.is_some())
    }

    /// A move is needed if its node must give keys away or its target must get some: a target that
    /// is new or has more weight, a source that goes or has less.
    fn is_monotone(&self) -> bool {
        let (from, to) = (self.request.before.members(), self.request.after.members());
        let mut origin: Vec<Option<NodeId>> = vec![None; self.after.len()];
        for (place, node) in (0..).map(NodeId).zip(&self.matched) {
            if let Some(node) = node {
                origin[node.index()] = Some(place);
            }
        }
        self.cells.iter().filter(|cell| self.moves(cell)).all(|cell| {
            let loses = self.matched[cell.from.index()].is_none_or(|node| to.weight(node) < from.weight(cell.from));
            let gains = origin[cell.to.index()].is_none_or(|node| from.weight(node) < to.weight(cell.to));
            loses || gains
        })
    }

    fn rows(&self, documents: &dyn Documents) -> Result<WhatIf, StudyError> {
        let Request { before, after, change, seed, .. } = self.request;
        let moved_keys = self.keys(|cell| self.moves(cell));
        let disrupted = self.keys(|cell| self.disrupts(cell));
        let gone = u32::MAX;
        let positions: Vec<u32> = self.matched.iter().map(|node| node.map_or(gone, |node| node.0)).collect();
        let minimum = minimum_keys(&self.before, &self.after, &positions);
        self.check(moved_keys, minimum, disrupted)?;
        let fraction = |keys: u64| keys as f64 / self.total as f64;
        let per_node = self.per_node();
        let left_parent = self.lineage.as_ref().map(|_| fraction(self.keys(|cell| self.carries(cell))));
        let moved_bytes = self.bytes(|cell| self.carries(cell));
        let rewritten_bytes = if self.is_reindex() { self.bytes(|_| true) } else { moved_bytes };
        let seconds = |bytes: Option<u128>| Some(bytes? as f64 / self.request.bandwidth? as f64);
        let busiest = if self.lineage.is_some() {
            moved_bytes
        } else {
            per_node.iter().map(|node| node.bytes_in.max(node.bytes_out)).max().flatten()
        };
        let judged = |side: &Side, counts: &[u64]| {
            balance(counts, &Fair::of(side.members()), side.placer.sharder.exact_shares().as_ref(), 2)
        };
        let hash = |side: &Side| if documents.are_hashed() { NO_HASH.to_owned() } else { side.placer.hasher.name() };
        let mut rows = WhatIf {
            tool: format!("shardlab {}", env!("CARGO_PKG_VERSION")),
            from: before.scheme.spec(),
            to: after.scheme.spec(),
            change: change.clone(),
            from_nodes: before.members().len(),
            to_nodes: after.members().len(),
            from_hash: hash(before),
            to_hash: hash(after),
            seed: *seed,
            keys: documents.key_set(),
            moved_fraction: fraction(moved_keys),
            minimum_fraction: fraction(minimum),
            excess_fraction: fraction(moved_keys - minimum),
            disruption_fraction: fraction(disrupted),
            ideal_fraction: self.ideal(),
            left_parent_fraction: left_parent,
            exact_moved_fraction: self.exact(),
            moved_interval: wilson(moved_keys, self.total),
            moved_keys,
            moved_bytes,
            rewritten_bytes,
            seconds_serial: seconds(moved_bytes),
            seconds_parallel: seconds(busiest),
            monotone: self.is_monotone(),
            before: judged(before, &self.before),
            after: judged(after, &self.after),
            per_node,
            matrix: self.matrix(),
            machines: self.request.machines.as_ref().map(|machines| {
                machines.rows(self.cells.iter().map(|cell| (cell.from, cell.to, cell.keys, cell.bytes)))
            }),
            notes: self.notes(),
            reading: Vec::new(),
        };
        rows.reading =
            crate::reading::in_words(&rows, self.lineage.as_ref().map(|(operation, _)| *operation), self.is_reindex());
        Ok(rows)
    }

    /// Results that cannot be right are errors.
    fn check(&self, moved: u64, minimum: u64, disrupted: u64) -> Result<(), StudyError> {
        let Request { before, after, matched, .. } = self.request;
        let change = "what-if";
        let spec = before.scheme.spec();
        if moved < minimum {
            return Err(StudyError::Impossible { spec, result: Impossible::BelowMinimum { change, moved, minimum } });
        }
        let same_scheme = spec == after.scheme.spec() && before.placer.hasher.name() == after.placer.hasher.name();
        let (from, to) = (before.members(), after.members());
        // Only nodes that come or go by their names are a change of which the promise speaks; an
        // order of its own or another weight is not, and a reindex is another index.
        let joins_or_leaves = matched.is_none()
            && survivors_keep_weight_and_order(&self.matched, |node| from.weight(node), |node| to.weight(node));
        let promised = before.scheme.promises().disruption == Disruption::None && !self.is_reindex();
        if same_scheme && joins_or_leaves && promised && disrupted > 0 && before.scheme.promises().order_free {
            return Err(StudyError::Impossible { spec, result: Impossible::BrokenPromise { change, disrupted } });
        }
        Ok(())
    }

    /// Whether documents of one resizable index are written into another that is no split or shrink of it.
    fn is_reindex(&self) -> bool {
        let resizable = |side: &Side| side.placer.sharder.as_resizable().is_some();
        resizable(&self.request.before) && self.lineage.is_none()
    }

    fn ideal(&self) -> f64 {
        match &self.request.matched {
            None => ideal_fraction(self.request.before.members(), self.request.after.members()),
            // With other names for the same nodes, weights by position decide.
            Some(matched) => {
                let (from, to) = (self.request.before.members(), self.request.after.members());
                let part = |weight: u32, total: u64| f64::from(weight) / total as f64;
                let lost = (0..).map(NodeId).zip(matched).map(|(node, after)| {
                    let has = after.map_or(0.0, |after| part(to.weight(after), to.total_weight()));
                    (part(from.weight(node), from.total_weight()) - has).max(0.0)
                });
                lost.sum()
            }
        }
    }

    fn exact(&self) -> Option<f64> {
        let Request { before, after, .. } = self.request;
        let same_keys = before.placer.hasher.name() == after.placer.hasher.name();
        same_keys.then(|| exact_moved_fraction(&*before.placer.sharder, &*after.placer.sharder, &self.matched))?
    }

    fn matrix(&self) -> Vec<Flow> {
        let (from, to) = (self.request.before.members(), self.request.after.members());
        let moving = self.cells.iter().filter(|cell| self.moves(cell));
        moving
            .map(|cell| Flow {
                from: cell.from.0,
                to: cell.to.0,
                from_name: from.name(cell.from).into_owned(),
                to_name: to.name(cell.to).into_owned(),
                keys: cell.keys,
                bytes: cell.bytes,
            })
            .collect()
    }

    /// Nodes in the order of the membership after, then those that leave.
    fn per_node(&self) -> Vec<NodeFlow> {
        let (from, to) = (self.request.before.members(), self.request.after.members());
        let has_bytes = self.has_bytes();
        let empty = |node: NodeId, name: &str, fate: Fate| NodeFlow {
            node: node.0,
            node_name: name.to_owned(),
            fate,
            keys_before: 0,
            keys_after: 0,
            keys_in: 0,
            keys_out: 0,
            keys_peak: 0,
            bytes_before: has_bytes.then_some(0),
            bytes_after: has_bytes.then_some(0),
            bytes_in: has_bytes.then_some(0),
            bytes_out: has_bytes.then_some(0),
            bytes_peak: has_bytes.then_some(0),
        };
        let fate = |node: NodeId| if self.survivor[node.index()] { Fate::Stays } else { Fate::Joins };
        let mut rows: Vec<NodeFlow> = to.iter().map(|(node, name, _)| empty(node, &name, fate(node))).collect();
        // Where each node before has its row.
        let mut places = Vec::with_capacity(self.matched.len());
        for ((node, name, _), after) in from.iter().zip(&self.matched) {
            places.push(after.map_or_else(
                || {
                    rows.push(empty(node, &name, Fate::Leaves));
                    rows.len() - 1
                },
                NodeId::index,
            ));
        }
        let add = |sum: &mut Option<u128>, bytes: Option<u128>| *sum = sum.zip(bytes).map(|(sum, bytes)| sum + bytes);
        for cell in &self.cells {
            let (source, target) = (places[cell.from.index()], cell.to.index());
            rows[source].keys_before += cell.keys;
            add(&mut rows[source].bytes_before, cell.bytes);
            rows[target].keys_after += cell.keys;
            add(&mut rows[target].bytes_after, cell.bytes);
            if self.moves(cell) {
                rows[source].keys_out += cell.keys;
                add(&mut rows[source].bytes_out, cell.bytes);
                rows[target].keys_in += cell.keys;
                add(&mut rows[target].bytes_in, cell.bytes);
            }
        }
        for row in &mut rows {
            // Old copies are dropped only when everything has arrived.
            row.keys_peak = row.keys_before + row.keys_in;
            row.bytes_peak = row.bytes_before.zip(row.bytes_in).map(|(before, arriving)| before + arriving);
        }
        rows
    }

    fn notes(&self) -> Vec<String> {
        let mut notes: Vec<String> = Vec::new();
        for side in [&self.request.before, &self.request.after] {
            let spec = side.scheme.spec();
            for note in side.scheme.notes_for(side.members()) {
                let note = format!("{spec}: {note}");
                if !notes.contains(&note) {
                    notes.push(note);
                }
            }
        }
        notes
    }
}

/// Whether nodes that are there before and after have the same weight and the same order.
fn survivors_keep_weight_and_order(
    matched: &[Option<NodeId>],
    before: impl Fn(NodeId) -> u32,
    after: impl Fn(NodeId) -> u32,
) -> bool {
    let survivors = || (0..).map(NodeId).zip(matched).filter_map(|(node, same)| Some((node, (*same)?)));
    survivors().all(|(node, same)| before(node) == after(same)) && survivors().map(|(_, same)| same).is_sorted()
}

/// The lineage of a split, shrink or clone: only where the index after is what that operation makes
/// of the index before.
fn lineage(request: &Request) -> Option<(ResizeOperation, Vec<Vec<NodeId>>)> {
    let (before, after) = (&request.before, &request.after);
    if before.scheme.spec() != after.scheme.spec() || before.placer.hasher.name() != after.placer.hasher.name() {
        return None;
    }
    let rules = before.placer.sharder.as_resizable()?;
    let to = after.members().len();
    let operation = rules.operation_to(to).ok()?;
    let resized = rules.resized(to).ok()?;
    // From one shard the number space is chosen anew, and it may be another than that of `after`.
    let same_space = resized.period() == after.placer.sharder.period();
    if !same_space {
        return None;
    }
    let sources = (0..to).map(|target| rules.sources_of(to, NodeId(target)).ok()).collect::<Option<_>>()?;
    Some((operation, sources))
}

/// The cells of a matrix with their bytes: weights as they are, or a total shared out so that the
/// parts add up to it exactly.
fn with_bytes(flows: &Flows, total: Option<u128>) -> Vec<Cell> {
    let units = |keys: u64, weight: u128| if flows.is_weighted() { weight } else { u128::from(keys) };
    let all: u128 = flows.iter().map(|(_, _, keys, weight)| units(keys, weight)).sum();
    let mut seen = 0;
    let cells = flows.iter().map(|(from, to, keys, weight)| {
        let start = seen;
        seen += units(keys, weight);
        let bytes = match total {
            Some(total) => Some(share(total, seen, all) - share(total, start, all)),
            None => flows.is_weighted().then_some(weight),
        };
        Cell { from, to, keys, bytes }
    });
    cells.collect()
}

/// floor(total · part / all) without overflow: sizes are below 2^64 in practice and the product is
/// taken apart where it would not fit.
fn share(total: u128, part: u128, all: u128) -> u128 {
    if all == 0 {
        return 0;
    }
    total.checked_mul(part).map_or_else(|| total / all * part + total % all * (part / all), |product| product / all)
}

/// The 95 % interval of Wilson for a fraction of a sample.
fn wilson(hits: u64, sample: u64) -> [f64; 2] {
    const Z: f64 = 1.959_963_985;
    let (n, p) = (sample as f64, hits as f64 / sample as f64);
    let middle = p + Z * Z / (2.0 * n);
    let reach = Z * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt();
    let scale = 1.0 + Z * Z / n;
    [((middle - reach) / scale).max(0.0), ((middle + reach) / scale).min(1.0)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_total_add_up_to_it() {
        let mut flows = Flows::new(3, 3, false);
        let nodes = |n: u32| NodeId(n);
        flows.add(&[nodes(0), nodes(1), nodes(2)], &[nodes(1), nodes(1), nodes(0)], None);
        let bytes: Vec<u128> = with_bytes(&flows, Some(1000)).iter().filter_map(|cell| cell.bytes).collect();
        assert_eq!(bytes, [333, 333, 334]);
        assert!(with_bytes(&flows, None).iter().all(|cell| cell.bytes.is_none()));
    }

    #[test]
    fn the_interval_of_a_fraction_is_wilsons() {
        let [low, high] = wilson(5, 100);
        assert!((low - 0.021_543).abs() < 1e-5 && (high - 0.111_751).abs() < 1e-5, "{low} {high}");
        assert_eq!(wilson(0, 10)[0], 0.0);
    }
}
