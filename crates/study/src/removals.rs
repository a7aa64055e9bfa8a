use shardlab_core::rows::{Removal, Removals};
use shardlab_core::{Change, Members, NodeId, Placer, RawBatch};
use shardlab_harness::{Fair, balance, drive, minimum_keys};
use shardlab_keys::{Documents, Progress};

use crate::side::check_memory;
use crate::{Side, StudyError};

/// What the loss of each node alone would cost: who inherits it, and whose loss hurts most.
///
/// # Errors
/// The scheme cannot lose every node (its reason is the error), the documents cannot be read or
/// placed, or it all needs more memory than allowed.
pub fn removals(
    before: &Side,
    documents: &mut dyn Documents,
    seed: u64,
    threads: usize,
    max_memory: u64,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<Removals, StudyError> {
    let members = before.members();
    let n = members.len();
    // All sharders after a removal are there at once, and each thread counts twice n for each of them.
    let needed = (u128::from(before.scheme.expected_heap_bytes(members))
        + (64 + 16 * (threads as u128 + 1)) * u128::from(n))
        * u128::from(n);
    if needed > u128::from(max_memory) {
        let what = format!("the loss of each of {n} nodes");
        return Err(StudyError::Memory { what, needed, limit: max_memory });
    }
    check_memory(&*before.scheme, members, max_memory)?;
    let mut sides = Vec::with_capacity(n as usize);
    for (_, name, _) in members.iter() {
        let mut sharder = before.placer.sharder.box_clone();
        let change = Change::Remove { name: name.into_owned() };
        sharder
            .apply(&change)
            .map_err(|reason| StudyError::Refused { spec: before.scheme.spec(), reason: reason.to_string() })?;
        sides.push(before.with_sharder(sharder));
    }
    let matched: Vec<Vec<Option<NodeId>>> = sides.iter().map(|side| members.matched_in(side.members())).collect();
    let empty = || Tally::new(n);
    let start = || (empty(), Vec::new(), Vec::new());
    let step = |state: &mut (Tally, Vec<NodeId>, Vec<NodeId>), _: u64, batch: &RawBatch<'_>| {
        let (tally, from, to) = state;
        let refused = |error| StudyError::Key { spec: before.scheme.spec(), error };
        from.resize(batch.len(), NodeId(0));
        to.resize(batch.len(), NodeId(0));
        before.placer.place_many(batch, from).map_err(refused)?;
        from.iter().for_each(|node| tally.before[node.index()] += 1);
        for (((side, matched), lost), lose) in sides.iter().zip(&matched).zip(&mut tally.lost).zip((0..).map(NodeId)) {
            side.placer.place_many(batch, to).map_err(refused)?;
            for (from, to) in from.iter().zip(&*to) {
                lost.after[to.index()] += 1;
                lost.moved += u64::from(matched[from.index()] != Some(*to));
                lost.heirs[to.index()] += u64::from(*from == lose);
            }
        }
        Ok(())
    };
    let mut sum = empty();
    for (tally, ..) in drive::<_, StudyError>(documents, threads, progress, start, step)? {
        sum.merge(&tally);
    }
    if sum.before.iter().sum::<u64>() == 0 {
        return Err(StudyError::NoKeys);
    }
    let each = sides.iter().zip(&sum.lost).zip((0..n).map(NodeId));
    let rows: Vec<Removal> =
        each.map(|((side, lost), node)| row(before.members(), side.members(), &sum.before, lost, node)).collect();
    let mean = |pick: fn(&Removal) -> f64| rows.iter().map(pick).sum::<f64>() / rows.len() as f64;
    let worst = |pick: fn(&Removal) -> f64| {
        rows.iter()
            .max_by(|a, b| pick(a).total_cmp(&pick(b)))
            .map_or((0.0, String::new()), |row| (pick(row), row.node_name.clone()))
    };
    let (worst_moved_fraction, worst_moved_node) = worst(|row| row.moved_fraction);
    let (worst_peak_after, worst_peak_node) = worst(|row| row.peak_after);
    Ok(Removals {
        tool: format!("shardlab {}", env!("CARGO_PKG_VERSION")),
        scheme: before.scheme.spec(),
        seed,
        keys: documents.key_set(),
        mean_moved_fraction: mean(|row| row.moved_fraction),
        worst_moved_fraction,
        worst_moved_node,
        mean_peak_after: mean(|row| row.peak_after),
        worst_peak_after,
        worst_peak_node,
        rows,
    })
}

/// What is counted; sums of integers.
struct Tally {
    before: Vec<u64>,
    lost: Vec<Lost>,
}

/// What is counted of one lost node.
#[derive(Clone)]
struct Lost {
    /// Keys of each survivor after.
    after: Vec<u64>,
    /// How many of the lost node's keys each survivor has after.
    heirs: Vec<u64>,
    moved: u64,
}

impl Tally {
    fn new(nodes: u32) -> Self {
        let n = nodes as usize;
        let lost = Lost { after: vec![0; n - 1], heirs: vec![0; n - 1], moved: 0 };
        Self { before: vec![0; n], lost: vec![lost; n] }
    }

    fn merge(&mut self, other: &Self) {
        let add = |sums: &mut [u64], more: &[u64]| sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
        add(&mut self.before, &other.before);
        for (sum, more) in self.lost.iter_mut().zip(&other.lost) {
            add(&mut sum.after, &more.after);
            add(&mut sum.heirs, &more.heirs);
            sum.moved += more.moved;
        }
    }
}

fn row(before: &Members, after: &Members, counts: &[u64], lost: &Lost, node: NodeId) -> Removal {
    let total: u64 = counts.iter().sum();
    let fraction = |keys: u64| keys as f64 / total as f64;
    let positions: Vec<u32> =
        before.matched_in(after).into_iter().map(|node| node.map_or(u32::MAX, |node| node.0)).collect();
    let minimum = minimum_keys(counts, &lost.after, &positions);
    // The first of several equal heirs, so that the answer does not depend on anything else.
    let heir = (0..after.len()).map(NodeId).max_by_key(|heir| (lost.heirs[heir.index()], std::cmp::Reverse(*heir)));
    let heir = heir.unwrap_or(NodeId(0));
    let held = counts[node.index()].max(1);
    Removal {
        node_name: before.name(node).into_owned(),
        moved_fraction: fraction(lost.moved),
        excess_fraction: fraction(lost.moved.saturating_sub(minimum)),
        peak_after: balance(&lost.after, &Fair::of(after), None, 1).peak_to_average,
        heir: after.name(heir).into_owned(),
        heir_fraction: lost.heirs[heir.index()] as f64 / held as f64,
    }
}
