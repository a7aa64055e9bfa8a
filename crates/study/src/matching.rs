use shardlab_core::rows::MoveFractions;
use shardlab_core::{Members, NodeId};
use shardlab_harness::{Impossible, ideal_fraction, minimum_keys};

use crate::{Flows, StudyError};

/// Which nodes before and after a change are the same.
#[derive(Clone, Debug)]
pub(crate) struct Matching {
    /// For each node before: the node after that is the same.
    after: Vec<Option<NodeId>>,
    /// For each node after: the node before that is the same.
    before: Vec<Option<NodeId>>,
}

impl Matching {
    /// By the names of the nodes.
    pub(crate) fn by_name(from: &Members, to: &Members) -> Self {
        Self::new(from.matched_in(to), to)
    }

    /// For each node before the node after that is the same.
    pub(crate) fn new(after: Vec<Option<NodeId>>, to: &Members) -> Self {
        let mut before = vec![None; to.len() as usize];
        for (place, node) in (0..).map(NodeId).zip(&after) {
            if let Some(node) = node {
                before[node.index()] = Some(place);
            }
        }
        Self { after, before }
    }

    /// For each node before the node after that is the same.
    pub(crate) fn after(&self) -> &[Option<NodeId>] {
        &self.after
    }

    /// What a node before is after the change, if it stays.
    pub(crate) fn stays_as(&self, from: NodeId) -> Option<NodeId> {
        self.after[from.index()]
    }

    /// What a node after was before the change, if it was there.
    pub(crate) fn was(&self, to: NodeId) -> Option<NodeId> {
        self.before[to.index()]
    }

    /// Whether nodes leave.
    pub(crate) fn loses_nodes(&self) -> bool {
        self.after.contains(&None)
    }

    pub(crate) fn moves(&self, from: NodeId, to: NodeId) -> bool {
        self.stays_as(from) != Some(to)
    }

    /// Whether a key moves between two nodes which both survive.
    pub(crate) fn disrupts(&self, from: NodeId, to: NodeId) -> bool {
        self.moves(from, to) && self.stays_as(from).is_some() && self.was(to).is_some()
    }

    /// The least that must move between these counts.
    pub(crate) fn minimum(&self, before: &[u64], after: &[u64]) -> u64 {
        let gone = u32::MAX;
        let positions: Vec<u32> = self.after.iter().map(|node| node.map_or(gone, |node| node.0)).collect();
        minimum_keys(before, after, &positions)
    }

    /// What a perfectly balanced scheme would have to move for the weights of these members.
    pub(crate) fn ideal(&self, from: &Members, to: &Members) -> f64 {
        if self.after == from.matched_in(to) {
            return ideal_fraction(from, to);
        }
        // With other names for the same nodes, their weights decide.
        let part = |weight: u32, total: u64| f64::from(weight) / total as f64;
        let lost = (0..).map(NodeId).zip(&self.after).map(|(node, after)| {
            let has = after.map_or(0.0, |after| part(to.weight(after), to.total_weight()));
            (part(from.weight(node), from.total_weight()) - has).max(0.0)
        });
        lost.sum()
    }

    /// What the flows between two memberships come to.
    pub(crate) fn count(&self, flows: &Flows) -> Moves {
        let mut moves =
            Moves { total: 0, moved: 0, minimum: self.minimum(&flows.before(), &flows.after()), disrupted: 0 };
        for (from, to, load) in flows.iter() {
            moves.total += load.keys;
            moves.moved += if self.moves(from, to) { load.keys } else { 0 };
            moves.disrupted += if self.disrupts(from, to) { load.keys } else { 0 };
        }
        moves
    }
}

/// What moved, in keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Moves {
    pub(crate) total: u64,
    pub(crate) moved: u64,
    pub(crate) minimum: u64,
    pub(crate) disrupted: u64,
}

impl Moves {
    /// The same as fractions. Less than the minimum is impossible, and never printed.
    pub(crate) fn fractions(&self, ideal: f64, spec: &str) -> Result<MoveFractions, StudyError> {
        let Self { moved, minimum, .. } = *self;
        let Some(excess) = moved.checked_sub(minimum) else {
            let result = Impossible::BelowMinimum { change: "what-if", moved, minimum };
            return Err(StudyError::Impossible { spec: spec.to_owned(), result });
        };
        Ok(MoveFractions {
            moved_fraction: self.fraction(moved),
            minimum_fraction: self.fraction(minimum),
            excess_fraction: self.fraction(excess),
            disruption_fraction: self.fraction(self.disrupted),
            ideal_fraction: ideal,
        })
    }

    /// A number of keys over all keys.
    pub(crate) fn fraction(&self, keys: u64) -> f64 {
        keys as f64 / self.total.max(1) as f64
    }
}
