use shardlab_core::rows::{Removal, Removals};
use shardlab_core::{Change, Disruption, Members, NodeId, RawBatch};
use shardlab_harness::{Fair, drive, peak_to_average};
use shardlab_keys::{Documents, Progress};

use crate::matching::Matching;
use crate::replicas::largest_growth;
use crate::scenario::{rebuilt, swapped_with_the_last};
use crate::side::check_memory;
use crate::{Side, StudyError};

/// What is done when a node is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// The scheme removes it.
    Remove,
    /// The list of nodes is closed up, whatever the scheme promises.
    Renumber,
    /// The last node of the list takes its place.
    Swap,
}

impl Loss {
    /// What people do where a scheme cannot lose every node.
    pub const INSTEAD: [Self; 2] = [Self::Renumber, Self::Swap];

    /// What is done, in words.
    #[must_use]
    pub const fn in_words(self) -> &'static str {
        match self {
            Self::Remove => "remove the node",
            Self::Renumber => "close up the list (renumber)",
            Self::Swap => "put the last node in its place",
        }
    }

    /// The sharding after the loss of one node; `Err` with the scheme's reason where it refuses.
    fn after(self, before: &Side, name: &str, max_memory: u64) -> Result<Side, StudyError> {
        let members = before.members();
        let change = Change::Remove { name: name.to_owned() };
        match self {
            Self::Remove => {
                let mut sharder = before.placer.sharder.box_clone();
                sharder
                    .apply(&change)
                    .map_err(|reason| StudyError::Refused { spec: before.scheme.spec(), reason: reason.to_string() })?;
                Ok(before.with_sharder(sharder))
            }
            Self::Renumber => rebuilt(before, &members.after(&change)?, max_memory),
            // The last node itself leaves no hole.
            Self::Swap => match swapped_with_the_last(members, name) {
                Some(swapped) => rebuilt(before, &swapped, max_memory),
                None => rebuilt(before, &members.after(&change)?, max_memory),
            },
        }
    }
}

/// What the loss of each node alone would cost: who inherits it, and whose loss hurts most.
///
/// # Errors
/// The scheme cannot lose every node in this way ([`StudyError::Refused`] with its reason), the documents
/// cannot be read or placed, or it all needs more memory than allowed.
pub fn removals(
    before: &Side,
    loss: Loss,
    documents: &mut dyn Documents,
    seed: u64,
    threads: usize,
    max_memory: u64,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<Removals, StudyError> {
    // Where the others keep their keys, a key has to be placed anew for the loss of its own node alone, not
    // once for each node. The conformance suite tests the promise.
    let others_keep = loss == Loss::Remove && before.scheme.promises().disruption == Disruption::None;
    study((before, loss, others_keep), documents, seed, threads, max_memory, progress)
}

fn study(
    (before, loss, others_keep): (&Side, Loss, bool),
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
    let sides: Vec<Side> =
        members.iter().map(|(_, name, _)| loss.after(before, &name, max_memory)).collect::<Result<_, _>>()?;
    let matchings: Vec<Matching> = sides.iter().map(|side| Matching::by_name(members, side.members())).collect();
    let empty = || Tally::new(n);
    let start = || (empty(), Vec::new(), Vec::new(), Groups::default());
    let step = |state: &mut (Tally, Vec<NodeId>, Vec<NodeId>, Groups), _: u64, batch: &RawBatch<'_>| {
        let (tally, from, to, groups) = state;
        before.place(batch, from)?;
        from.iter().for_each(|node| tally.before[node.index()] += 1);
        if others_keep {
            groups.fill(before, batch, from)?;
            for ((side, keys), lost) in sides.iter().zip(&groups.keys).zip(&mut tally.lost) {
                to.resize(keys.len(), NodeId(0));
                side.placer.sharder.shard_many(keys, to);
                to.iter().for_each(|to| lost.heirs[to.index()] += 1);
            }
            return Ok(());
        }
        let all = sides.iter().zip(&matchings).zip(&mut tally.lost);
        for (((side, matching), lost), lose) in all.zip((0..).map(NodeId)) {
            side.place(batch, to)?;
            for (from, to) in from.iter().zip(&*to) {
                lost.after[to.index()] += 1;
                lost.moved += u64::from(matching.moves(*from, *to));
                lost.heirs[to.index()] += u64::from(*from == lose);
            }
        }
        Ok(())
    };
    let mut sum = empty();
    for (tally, ..) in drive::<_, StudyError>(documents, threads, progress, start, step)? {
        sum.merge(&tally);
    }
    if others_keep {
        for (lost, matching) in sum.lost.iter_mut().zip(&matchings) {
            lost.keep_others(&sum.before, matching);
        }
    }
    if sum.before.iter().sum::<u64>() == 0 {
        return Err(StudyError::NoKeys);
    }
    let each = sides.iter().zip(&matchings).zip(&sum.lost).zip((0..n).map(NodeId));
    let rows: Vec<Removal> = each
        .map(|(((side, matching), lost), node)| row((members, side.members()), matching, &sum.before, lost, node))
        .collect();
    let mean = |pick: fn(&Removal) -> f64| rows.iter().map(pick).sum::<f64>() / rows.len() as f64;
    let worst = |pick: fn(&Removal) -> f64| {
        rows.iter()
            .max_by(|a, b| pick(a).total_cmp(&pick(b)))
            .map_or((0.0, String::new()), |row| (pick(row), row.node_name.clone()))
    };
    let (worst_moved_fraction, worst_moved_node) = worst(|row| row.moved_fraction);
    let grown = rows.iter().filter_map(|row| Some((row.largest_growth?, &row.node_name)));
    let worst_growth = grown.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(growth, name)| (growth, name.clone()));
    let (worst_peak_after, worst_peak_node) = worst(|row| row.peak_after);
    Ok(Removals {
        tool: format!("shardlab {}", env!("CARGO_PKG_VERSION")),
        scheme: before.scheme.spec(),
        change: loss.in_words().to_owned(),
        seed,
        keys: documents.key_set(),
        mean_moved_fraction: mean(|row| row.moved_fraction),
        worst_moved_fraction,
        worst_moved_node,
        mean_peak_after: mean(|row| row.peak_after),
        worst_peak_after,
        worst_peak_node,
        worst_growth: worst_growth.as_ref().map(|(growth, _)| *growth),
        worst_growth_node: worst_growth.map(|(_, name)| name),
        rows,
    })
}

/// The keys of a batch, by the node that has them.
#[derive(Default)]
struct Groups {
    hashed: Vec<u64>,
    keys: Vec<Vec<u64>>,
}

impl Groups {
    fn fill(&mut self, before: &Side, batch: &RawBatch<'_>, owners: &[NodeId]) -> Result<(), StudyError> {
        self.keys.resize(before.members().len() as usize, Vec::new());
        self.keys.iter_mut().for_each(Vec::clear);
        let keys = match batch.hashed() {
            Some(keys) => keys,
            None => {
                self.hashed.resize(batch.len(), 0);
                let refused = |error| StudyError::Key { spec: before.scheme.spec(), error };
                before.placer.hasher.hash_many(batch, &mut self.hashed).map_err(refused)?;
                &self.hashed
            }
        };
        for (&key, owner) in keys.iter().zip(owners) {
            self.keys[owner.index()].push(key);
        }
        Ok(())
    }
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

impl Lost {
    /// Adds up what was counted of the lost node's keys alone: all others stay where they are.
    fn keep_others(&mut self, before: &[u64], matching: &Matching) {
        self.moved = self.heirs.iter().sum();
        self.after.copy_from_slice(&self.heirs);
        for (node, keys) in (0..).map(NodeId).zip(before) {
            if let Some(after) = matching.stays_as(node) {
                self.after[after.index()] += keys;
            }
        }
    }
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

fn row(
    (before, after): (&Members, &Members),
    matching: &Matching,
    counts: &[u64],
    lost: &Lost,
    node: NodeId,
) -> Removal {
    let total: u64 = counts.iter().sum();
    let fraction = |keys: u64| keys as f64 / total as f64;
    let minimum = matching.minimum(counts, &lost.after);
    // The first of several equal heirs, so that the answer does not depend on anything else.
    let heir = (0..after.len()).map(NodeId).max_by_key(|heir| (lost.heirs[heir.index()], std::cmp::Reverse(*heir)));
    let heir = heir.unwrap_or(NodeId(0));
    let held = counts[node.index()].max(1);
    let growth = largest_growth(matching, counts, &lost.after);
    Removal {
        node_name: before.name(node).into_owned(),
        moved_fraction: fraction(lost.moved),
        excess_fraction: fraction(lost.moved.saturating_sub(minimum)),
        peak_after: peak_to_average(&lost.after, &Fair::of(after)),
        heir: after.name(heir).into_owned(),
        heir_fraction: lost.heirs[heir.index()] as f64 / held as f64,
        largest_growth: growth.map(|(_, growth)| growth),
        largest_growth_node: growth.map(|(node, _)| after.name(node).into_owned()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use shardlab_core::{KeyRules, Node, Resizing};
    use shardlab_keys::SyntheticSpec;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn a_key_placed_for_the_loss_of_its_own_node_gives_what_placing_it_for_every_loss_gives(
            weights in prop::collection::vec(1_u32..4, 2..12),
            which in any::<prop::sample::Index>(),
            keys in prop::sample::select(vec!["random:3000", "uuid4:3000", "zipf-tenants:3000", "sequential:20"]),
            seed in any::<u64>(),
        ) {
            let nodes = weights.iter().enumerate().map(|(at, &weight)| Node::new(format!("n{}", at * 7 % 13), weight));
            let members = Members::listed(nodes.collect::<Result<_, _>>().expect("names")).expect("different names");
            let mut calm = shardlab_schemes::all();
            calm.retain(|scheme| {
                let promises = scheme.promises();
                promises.disruption == Disruption::None && promises.resizing == Resizing::Any
            });
            let scheme = calm.swap_remove(which.index(calm.len()));
            let before = Side::new(scheme, &members, None, 1 << 30).expect("room");
            let by = |others_keep: bool| {
                let spec = SyntheticSpec::parse(keys).expect("a key set");
                let mut documents = shardlab_keys::synthetic(&spec, seed, KeyRules::default());
                study((&before, Loss::Remove, others_keep), &mut *documents, seed, 2, 1 << 30, &|_| {}).expect("a study")
            };
            prop_assert_eq!(format!("{:?}", by(true)), format!("{:?}", by(false)));
        }
    }
}
