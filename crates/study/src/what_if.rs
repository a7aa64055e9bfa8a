use shardlab_core::rows::{Busiest, BusyNode, Fate, Flow, NodeFlow, WhatIf};
use shardlab_core::{Disruption, Members, NO_HASH, NodeId, RawBatch, ResizeOperation};
use shardlab_harness::{Fair, Impossible, balance, drive};
use shardlab_keys::{Documents, Progress};

use crate::load::{Cell, Door, Load, busiest_door, seconds};
use crate::matching::{Matching, Moves};
use crate::replicas::{self, CopyTally};
use crate::{Columns, Flows, Machines, Side, StudyError, Totals, exact_moved_fraction};

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
    /// How many distinct owners each key has; 1 is the owner alone.
    pub copies: u32,
    /// All bytes and all requests, where they are known.
    pub totals: Totals,
    /// Whether the requests are those of a second.
    pub requests_per_second: bool,
    /// Which columns the documents have.
    pub columns: Columns,
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
/// The documents cannot be read or placed, there are none, a scheme has no order of owners and copies are
/// asked for, a node stands on no machine, the matrix needs more memory than it may take, or a result is
/// impossible.
pub fn what_if(
    request: &Request,
    documents: &mut dyn Documents,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<WhatIf, StudyError> {
    let (from, to) = (request.before.members(), request.after.members());
    if request.copies != 1 {
        replicas::check(&request.before, request.copies)?;
        replicas::check(&request.after, request.copies)?;
    }
    let matching = match &request.matched {
        Some(matched) => Matching::new(matched.clone(), to),
        None => Matching::by_name(from, to),
    };
    if let Some(machines) = &request.machines {
        machines.check_memory(1, request.max_memory)?;
        machines.places_after(&machines.places(from)?, &matching, to)?;
    }
    let tally = count(request, &matching, documents, progress)?;
    Study::new(request, matching, &tally)?.rows(documents, &tally)
}

/// What is counted; sums of integers.
#[derive(Clone)]
struct Tally {
    flows: Flows,
    copies: Option<CopyTally>,
}

fn count(
    request: &Request,
    matching: &Matching,
    documents: &mut dyn Documents,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<Tally, StudyError> {
    let Request { before, after, copies, columns, threads, max_memory, .. } = request;
    let (from, to) = (before.members(), after.members());
    let empty = Tally {
        flows: Flows::new(from.len(), to.len(), *columns),
        copies: (*copies != 1).then(|| CopyTally::new(from, to)),
    };
    let limit = |used: usize| {
        let needed = used as u128 * (*threads as u128 + 1);
        let what = "the matrix from node to node".to_owned();
        if needed > u128::from(*max_memory) {
            Err(StudyError::Memory { what, needed, limit: *max_memory })
        } else {
            Ok(())
        }
    };
    limit(empty.flows.heap_bytes())?;
    let start = || (empty.clone(), Vec::new(), Vec::new());
    let step = |state: &mut (Tally, Vec<NodeId>, Vec<NodeId>), _: u64, batch: &RawBatch<'_>| {
        let (tally, from, to) = state;
        for (side, out) in [(before, &mut *from), (after, &mut *to)] {
            side.place(batch, out)?;
        }
        tally.flows.add_batch(from, to, batch);
        if let Some(tally) = &mut tally.copies {
            tally.add((before, after), matching, *copies, batch)?;
        }
        limit(tally.flows.heap_bytes())
    };
    let mut sum = empty.clone();
    for (tally, ..) in drive::<_, StudyError>(documents, *threads, progress, start, step)? {
        sum.flows.merge(&tally.flows);
        if let (Some(sum), Some(more)) = (&mut sum.copies, &tally.copies) {
            sum.merge(more);
        }
    }
    Ok(sum)
}

/// A matrix with everything that gives its cells a meaning.
struct Study<'a> {
    request: &'a Request,
    cells: Vec<Cell>,
    matching: Matching,
    moves: Moves,
    before: Vec<u64>,
    after: Vec<u64>,
    /// For splits and shrinks: where the documents of each shard come from.
    lineage: Option<(ResizeOperation, Vec<Vec<NodeId>>)>,
}

impl<'a> Study<'a> {
    fn new(request: &'a Request, matching: Matching, tally: &Tally) -> Result<Self, StudyError> {
        let flows = &tally.flows;
        let moves = matching.count(flows);
        if moves.total == 0 {
            return Err(StudyError::NoKeys);
        }
        Ok(Self {
            lineage: lineage(request),
            cells: request.totals.cells(flows),
            before: flows.before(),
            after: flows.after(),
            request,
            matching,
            moves,
        })
    }

    fn members(&self) -> (&Members, &Members) {
        (self.request.before.members(), self.request.after.members())
    }

    fn moves(&self, cell: &Cell) -> bool {
        self.matching.moves(cell.from, cell.to)
    }

    /// Whether data goes elsewhere: in a split or shrink a document that gets another shard number
    /// stays where it is, as long as it stays in the lineage of its shard.
    fn carries(&self, cell: &Cell) -> bool {
        match &self.lineage {
            Some((_, sources)) => !sources[cell.to.index()].contains(&cell.from),
            None => self.moves(cell),
        }
    }

    /// No keys, and no bytes and requests where these are known.
    fn nothing(&self) -> Load {
        self.request.totals.nothing(self.request.columns)
    }

    fn load(&self, keep: impl Fn(&Cell) -> bool) -> Load {
        let mut sum = self.nothing();
        self.cells.iter().filter(|cell| keep(cell)).for_each(|cell| sum.add(&cell.load));
        sum
    }

    /// A move is needed if its node must give keys away or its target must get some: a target that
    /// is new or has more weight, a source that goes or has less.
    fn is_monotone(&self) -> bool {
        let (from, to) = self.members();
        self.cells.iter().filter(|cell| self.moves(cell)).all(|cell| {
            let stays_as = self.matching.stays_as(cell.from);
            let loses = stays_as.is_none_or(|node| to.weight(node) < from.weight(cell.from));
            let gains = self.matching.was(cell.to).is_none_or(|node| from.weight(node) < to.weight(cell.to));
            loses || gains
        })
    }

    fn rows(&self, documents: &dyn Documents, tally: &Tally) -> Result<WhatIf, StudyError> {
        let Request { before, after, change, seed, bandwidth, .. } = self.request;
        let (from, to) = self.members();
        let moves = self.moves.fractions(self.matching.ideal(from, to), &before.scheme.spec())?;
        self.check_promise()?;
        let doors = self.doors();
        let carried = self.load(|cell| self.carries(cell));
        let rewritten_bytes = if self.is_reindex() { self.load(|_| true).bytes } else { carried.bytes };
        let judged = |side: &Side, counts: &[u64]| {
            balance(counts, &Fair::of(side.members()), side.placer.sharder.exact_shares().as_ref(), 2)
        };
        let hash = |side: &Side| if documents.are_hashed() { NO_HASH.to_owned() } else { side.placer.hasher.name() };
        let moved_requests = self.load(|cell| self.moves(cell)).requests;
        let machines = self.request.machines.as_ref().map(|machines| {
            let places = machines.places(from)?;
            let after = machines.places_after(&places, &self.matching, to)?;
            Ok::<_, StudyError>(machines.rows((&places, &after), &self.cells, self.nothing(), *bandwidth))
        });
        let copies = tally.copies.as_ref().map(|tally_of_copies| {
            let Request { copies, totals, .. } = self.request;
            tally_of_copies.rows((from, to), &self.matching, *copies, totals, &tally.flows)
        });
        let mut rows = WhatIf {
            tool: format!("shardlab {}", env!("CARGO_PKG_VERSION")),
            from: before.scheme.spec(),
            to: after.scheme.spec(),
            change: change.clone(),
            from_nodes: from.len(),
            to_nodes: to.len(),
            from_hash: hash(before),
            to_hash: hash(after),
            seed: *seed,
            keys: documents.key_set(),
            moves,
            left_parent_fraction: self.lineage.as_ref().map(|_| self.moves.fraction(carried.keys)),
            exact_moved_fraction: self.exact(),
            moved_interval: wilson(self.moves.moved, self.moves.total),
            moved_keys: self.moves.moved,
            moved_bytes: carried.bytes,
            rewritten_bytes,
            moved_requests,
            requests_per_second: moved_requests.map(|_| self.request.requests_per_second),
            seconds_serial: seconds(carried.bytes, *bandwidth),
            seconds_parallel: seconds(busiest_door(&doors), *bandwidth),
            seconds_rewritten: seconds(rewritten_bytes, *bandwidth),
            monotone: self.is_monotone(),
            before: judged(before, &self.before),
            after: judged(after, &self.after),
            busiest: self.busiest(&doors),
            per_node: self.per_node(&doors),
            matrix: self.matrix(),
            machines: machines.transpose()?,
            replicas: copies,
            heirs: self.heirs(tally),
            notes: self.notes(),
            reading: Vec::new(),
        };
        rows.reading =
            crate::reading::in_words(&rows, self.lineage.as_ref().map(|(operation, _)| *operation), self.is_reindex());
        Ok(rows)
    }

    /// Disruption where none is promised is no result.
    fn check_promise(&self) -> Result<(), StudyError> {
        let Request { before, after, matched, .. } = self.request;
        let spec = before.scheme.spec();
        let same_scheme = spec == after.scheme.spec() && before.placer.hasher.name() == after.placer.hasher.name();
        let (from, to) = self.members();
        // Only nodes that come or go by their names are a change of which the promise speaks; an
        // order of its own or another weight is not, and a reindex is another index.
        let joins_or_leaves = matched.is_none()
            && survivors_keep_weight_and_order(self.matching.after(), |node| from.weight(node), |node| to.weight(node));
        let promises = before.scheme.promises();
        let promised = promises.disruption == Disruption::None && promises.order_free && !self.is_reindex();
        if same_scheme && joins_or_leaves && promised && self.moves.disrupted > 0 {
            let result = Impossible::BrokenPromise { change: "what-if", disrupted: self.moves.disrupted };
            return Err(StudyError::Impossible { spec, result });
        }
        Ok(())
    }

    /// Whether documents of one resizable index are written into another that is no split or shrink of it.
    fn is_reindex(&self) -> bool {
        let resizable = |side: &Side| side.placer.sharder.as_resizable().is_some();
        resizable(&self.request.before) && self.lineage.is_none()
    }

    fn exact(&self) -> Option<f64> {
        let Request { before, after, .. } = self.request;
        let same_keys = before.placer.hasher.name() == after.placer.hasher.name();
        same_keys
            .then(|| exact_moved_fraction(&*before.placer.sharder, &*after.placer.sharder, self.matching.after()))?
    }

    fn matrix(&self) -> Vec<Flow> {
        let (from, to) = self.members();
        let moving = self.cells.iter().filter(|cell| self.moves(cell));
        moving
            .map(|cell| Flow {
                from: cell.from.0,
                to: cell.to.0,
                from_name: from.name(cell.from).into_owned(),
                to_name: to.name(cell.to).into_owned(),
                keys: cell.load.keys,
                bytes: cell.load.bytes,
                requests: cell.load.requests,
                data_moves: self.carries(cell),
            })
            .collect()
    }

    /// What each node holds and what passes its door: the nodes after, then those that leave.
    fn doors(&self) -> Vec<Door> {
        let mut doors = vec![Door::new(self.nothing()); self.after.len()];
        // Where each node before has its door.
        let mut places = Vec::with_capacity(self.before.len());
        for after in self.matching.after() {
            places.push(after.map_or_else(
                || {
                    doors.push(Door::new(self.nothing()));
                    doors.len() - 1
                },
                NodeId::index,
            ));
        }
        for cell in &self.cells {
            let (source, target) = (places[cell.from.index()], cell.to.index());
            doors[source].before.add(&cell.load);
            doors[target].after.add(&cell.load);
            if self.moves(cell) {
                let is_carried = self.carries(cell);
                doors[source].send(&cell.load, is_carried);
                doors[target].receive(&cell.load, is_carried);
            }
        }
        doors
    }

    /// Number, name and fate of the nodes behind the doors, in their order.
    fn behind_doors(&self) -> impl Iterator<Item = (NodeId, String, Fate)> + '_ {
        let (from, to) = self.members();
        let fate = |node: NodeId| if self.matching.was(node).is_some() { Fate::Stays } else { Fate::Joins };
        let there = to.iter().map(move |(node, name, _)| (node, name.into_owned(), fate(node)));
        let gone = from.iter().filter(|(node, ..)| self.matching.stays_as(*node).is_none());
        there.chain(gone.map(|(node, name, _)| (node, name.into_owned(), Fate::Leaves)))
    }

    /// Nodes in the order of the membership after, then those that leave.
    fn per_node(&self, doors: &[Door]) -> Vec<NodeFlow> {
        let rows = self.behind_doors().zip(doors);
        rows.map(|((node, node_name, fate), door)| NodeFlow { node: node.0, node_name, fate, load: door.row() })
            .collect()
    }

    /// The busiest node by each measure that is known.
    fn busiest(&self, doors: &[Door]) -> Vec<Busiest> {
        let (from, to) = self.members();
        type Pick = fn(&Load) -> Option<u128>;
        let measures: [(&'static str, Pick); 3] =
            [("keys", |load| Some(load.keys.into())), ("bytes", |load| load.bytes), ("requests", |load| load.requests)];
        let most = |members: &Members, loads: Vec<u128>| {
            let total: u128 = loads.iter().sum();
            // The first of several equal ones.
            let (node, &load) =
                (0..).map(NodeId).zip(&loads).max_by_key(|(node, load)| (**load, std::cmp::Reverse(*node)))?;
            let fair = total as f64 * f64::from(members.weight(node)) / members.total_weight() as f64;
            let over_fair = if fair > 0.0 { load as f64 / fair } else { 0.0 };
            Some(BusyNode { node_name: members.name(node).into_owned(), load, over_fair })
        };
        let mut gone = self.after.len()..;
        let places: Vec<usize> =
            self.matching.after().iter().filter_map(|after| after.map(NodeId::index).or_else(|| gone.next())).collect();
        let busiest = measures.into_iter().filter_map(|(measure, pick)| {
            let before: Option<Vec<u128>> = places.iter().map(|&place| pick(&doors[place].before)).collect();
            let after: Option<Vec<u128>> = doors[..self.after.len()].iter().map(|door| pick(&door.after)).collect();
            Some(Busiest { measure, before: most(from, before?)?, after: most(to, after?)? })
        });
        busiest.collect()
    }

    /// Who takes over from nodes that leave. A shrink joins shards and leaves nobody anything.
    fn heirs(&self, tally: &Tally) -> Option<shardlab_core::rows::Heirs> {
        if self.lineage.is_some() {
            return None;
        }
        let taken_over = match &tally.copies {
            Some(copies) => copies.heirs().to_vec(),
            None => {
                let mut taken = vec![0; self.after.len()];
                let lost = self.cells.iter().filter(|cell| self.matching.stays_as(cell.from).is_none());
                lost.for_each(|cell| taken[cell.to.index()] += cell.load.keys);
                taken
            }
        };
        replicas::heirs(self.members(), &self.matching, &taken_over, &self.before, &self.after)
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

/// The 95 % interval of Wilson for a fraction of a sample.
fn wilson(hits: u64, sample: u64) -> [f64; 2] {
    wilson_of(sample as f64, hits as f64 / sample as f64)
}

/// The interval in which the part of another sample as large lies with a probability of 95 %, given the part of one:
/// both vary, which is as much as one of half the size does.
pub(crate) fn next_sample(part: f64, sample: u64) -> [f64; 2] {
    wilson_of(sample as f64 / 2.0, part)
}

fn wilson_of(n: f64, p: f64) -> [f64; 2] {
    const Z: f64 = 1.959_963_985;
    let middle = p + Z * Z / (2.0 * n);
    let reach = Z * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt();
    let scale = 1.0 + Z * Z / n;
    [((middle - reach) / scale).max(0.0), ((middle + reach) / scale).min(1.0)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_of_a_fraction_is_wilsons() {
        let [low, high] = wilson(5, 100);
        assert!((low - 0.021_543).abs() < 1e-5 && (high - 0.111_751).abs() < 1e-5, "{low} {high}");
        assert_eq!(wilson(0, 10)[0], 0.0);
        assert_eq!(next_sample(0.05, 200), wilson(5, 100));
    }
}
