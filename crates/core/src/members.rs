use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use crate::NodeId;

/// The largest number of nodes a membership can have: 2^31 − 1, the limit of jump consistent hash.
pub const MAX_NODES: u32 = i32::MAX as u32;

/// An owner of keys. Its name is its identity; its weight says how much it should own.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Node {
    name: String,
    weight: u32,
}

impl Node {
    /// A node with a weight from 1 to 4,294,967,295.
    ///
    /// # Errors
    /// The name is empty, or the weight is 0.
    pub fn new(name: impl Into<String>, weight: u32) -> Result<Self, MembersError> {
        let name = name.into();
        if name.is_empty() {
            return Err(MembersError::EmptyName);
        }
        if weight == 0 {
            return Err(MembersError::ZeroWeight { name });
        }
        Ok(Self { name, weight })
    }

    /// The identity of the node.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The weight; 1 where nothing was said.
    #[must_use]
    pub fn weight(&self) -> u32 {
        self.weight
    }
}

/// The nodes that share the keys, in the order in which they were given.
///
/// A membership of n nodes named "0" to "n−1" with weight 1 is held as the number alone, so that
/// 2^31 − 1 nodes cost nothing. Cloning is cheap. Two memberships are equal when they list the same
/// names and weights in the same order, however they were made.
#[derive(Clone, PartialEq, Eq)]
pub struct Members(Repr);

#[derive(Clone, PartialEq, Eq)]
enum Repr {
    Dense(u32),
    Listed(Arc<Listed>),
}

#[derive(PartialEq, Eq)]
struct Listed {
    nodes: Vec<Node>,
    /// Positions sorted by name bytes: the lookup by name, and the canonical order.
    by_name: Vec<u32>,
}

impl Listed {
    fn name(&self, rank: usize) -> &str {
        &self.nodes[self.by_name[rank] as usize].name
    }

    /// Both lists are walked once in the order of their names.
    fn matched_in(&self, after: &Self) -> Vec<Option<NodeId>> {
        let mut matched = vec![None; self.nodes.len()];
        let mut rank = 0;
        for own in 0..self.by_name.len() {
            while rank < after.by_name.len() && after.name(rank) < self.name(own) {
                rank += 1;
            }
            if rank < after.by_name.len() && after.name(rank) == self.name(own) {
                matched[self.by_name[own] as usize] = Some(NodeId(after.by_name[rank]));
            }
        }
        matched
    }
}

/// Why a list of nodes is not a membership.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MembersError {
    /// The list is empty.
    #[error("there must be at least one node")]
    Empty,
    /// More nodes than a node number can count.
    #[error("{count} nodes are more than the {MAX_NODES} that a node number can count")]
    TooMany {
        /// How many were given.
        count: u64,
    },
    /// A node without a name has no identity.
    #[error("a node name must not be empty")]
    EmptyName,
    /// The same name was given to two nodes.
    #[error("the node name {name:?} is given twice; a name is a node's identity")]
    DuplicateName {
        /// The repeated name.
        name: String,
    },
    /// A node that may own nothing is not a member.
    #[error("node {name:?} has weight 0; leave the node out, or give it a whole weight from 1 to 4294967295")]
    ZeroWeight {
        /// The node.
        name: String,
    },
}

impl Members {
    /// Nodes named "0" to "n−1", each with weight 1.
    ///
    /// # Errors
    /// n is 0 or more than [`MAX_NODES`].
    pub fn dense(n: u32) -> Result<Self, MembersError> {
        match n {
            0 => Err(MembersError::Empty),
            1..=MAX_NODES => Ok(Self(Repr::Dense(n))),
            _ => Err(MembersError::TooMany { count: n.into() }),
        }
    }

    /// The given nodes, in the given order.
    ///
    /// # Errors
    /// The list is empty or too long, or two nodes have the same name.
    pub fn listed(nodes: Vec<Node>) -> Result<Self, MembersError> {
        let count = match u32::try_from(nodes.len()) {
            Ok(0) => return Err(MembersError::Empty),
            Ok(count @ 1..=MAX_NODES) => count,
            _ => {
                let count = u64::try_from(nodes.len()).unwrap_or(u64::MAX);
                return Err(MembersError::TooMany { count });
            }
        };
        let mut by_name: Vec<u32> = (0..count).collect();
        by_name.sort_unstable_by(|&a, &b| nodes[a as usize].name.cmp(&nodes[b as usize].name));
        for pair in by_name.windows(2) {
            if nodes[pair[0] as usize].name == nodes[pair[1] as usize].name {
                let name = nodes[pair[0] as usize].name.clone();
                return Err(MembersError::DuplicateName { name });
            }
        }
        // Equality compares representations, so what could be dense must be dense.
        let dense = nodes.iter().zip(0_u32..).all(|(node, i)| node.weight == 1 && is_decimal_of(&node.name, i));
        Ok(Self(if dense { Repr::Dense(count) } else { Repr::Listed(Arc::new(Listed { nodes, by_name })) }))
    }

    /// How many nodes there are, at least 1.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "a membership is never empty")]
    pub fn len(&self) -> u32 {
        match &self.0 {
            Repr::Dense(n) => *n,
            // The constructor has checked that the length fits.
            Repr::Listed(listed) => u32::try_from(listed.nodes.len()).unwrap_or(MAX_NODES),
        }
    }

    /// Whether the nodes are "0" to "n−1" with weight 1, held without a list.
    #[must_use]
    pub fn is_dense(&self) -> bool {
        matches!(self.0, Repr::Dense(_))
    }

    /// The name of a node.
    ///
    /// # Panics
    /// The id is not of this membership.
    #[must_use]
    pub fn name(&self, id: NodeId) -> Cow<'_, str> {
        match &self.0 {
            Repr::Dense(n) => {
                assert!(id.0 < *n, "node {} of {n}", id.0);
                Cow::Owned(id.0.to_string())
            }
            Repr::Listed(listed) => Cow::Borrowed(&listed.nodes[id.index()].name),
        }
    }

    /// The weight of a node, at least 1.
    ///
    /// # Panics
    /// The id is not of this membership.
    #[must_use]
    pub fn weight(&self, id: NodeId) -> u32 {
        match &self.0 {
            Repr::Dense(n) => {
                assert!(id.0 < *n, "node {} of {n}", id.0);
                1
            }
            Repr::Listed(listed) => listed.nodes[id.index()].weight,
        }
    }

    /// The sum of all weights. It fits: 2^31 nodes of at most 2^32 each.
    #[must_use]
    pub fn total_weight(&self) -> u64 {
        match &self.0 {
            Repr::Dense(n) => u64::from(*n),
            Repr::Listed(listed) => listed.nodes.iter().map(|node| u64::from(node.weight)).sum(),
        }
    }

    /// The first node whose weight is not 1, for schemes that take no weights.
    #[must_use]
    pub fn first_weighted(&self) -> Option<&Node> {
        match &self.0 {
            Repr::Dense(_) => None,
            Repr::Listed(listed) => listed.nodes.iter().find(|node| node.weight != 1),
        }
    }

    /// Whether all nodes have the same weight.
    #[must_use]
    pub fn equal_weights(&self) -> bool {
        match &self.0 {
            Repr::Dense(_) => true,
            Repr::Listed(listed) => listed.nodes.iter().all(|node| node.weight == listed.nodes[0].weight),
        }
    }

    /// The node with this name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<NodeId> {
        match &self.0 {
            Repr::Dense(n) => {
                let id: u32 = name.parse().ok()?;
                (id < *n && is_decimal_of(name, id)).then_some(NodeId(id))
            }
            Repr::Listed(listed) => listed
                .by_name
                .binary_search_by(|&i| listed.nodes[i as usize].name.as_str().cmp(name))
                .ok()
                .map(|at| NodeId(listed.by_name[at])),
        }
    }

    /// All nodes in the order given.
    pub fn iter(&self) -> impl Iterator<Item = (NodeId, Cow<'_, str>, u32)> {
        (0..self.len()).map(NodeId).map(|id| (id, self.name(id), self.weight(id)))
    }

    /// All nodes in the order of their name bytes, the order in which ties break and which does not
    /// depend on how the list was written.
    #[must_use]
    pub fn ids_by_name(&self) -> Vec<NodeId> {
        match &self.0 {
            Repr::Dense(n) => {
                let mut names: Vec<(String, u32)> = (0..*n).map(|i| (i.to_string(), i)).collect();
                names.sort_unstable();
                names.into_iter().map(|(_, i)| NodeId(i)).collect()
            }
            Repr::Listed(listed) => listed.by_name.iter().map(|&i| NodeId(i)).collect(),
        }
    }

    /// For each node here, the node with the same name in `after`, if it is still there.
    #[must_use]
    pub fn matched_in(&self, after: &Self) -> Vec<Option<NodeId>> {
        match (&self.0, &after.0) {
            (Repr::Dense(n), Repr::Dense(m)) => (0..*n).map(|i| (i < *m).then_some(NodeId(i))).collect(),
            (Repr::Listed(before), Repr::Listed(after)) => before.matched_in(after),
            _ => self.iter().map(|(_, name, _)| after.find(&name)).collect(),
        }
    }

    pub(crate) fn to_nodes(&self) -> Vec<Node> {
        match &self.0 {
            Repr::Dense(n) => (0..*n).map(|i| Node { name: i.to_string(), weight: 1 }).collect(),
            Repr::Listed(listed) => listed.nodes.clone(),
        }
    }
}

impl fmt::Debug for Members {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Repr::Dense(n) => write!(f, "Members::dense({n})"),
            Repr::Listed(listed) => f.debug_list().entries(&listed.nodes).finish(),
        }
    }
}

fn is_decimal_of(name: &str, number: u32) -> bool {
    // Only the canonical spelling is the dense name: "007" is another identity than "7".
    name.len() <= 10 && name == number.to_string()
}
