use crate::Unsupported;
use crate::members::{Members, MembersError, Node};

/// A change of membership.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Change {
    /// Append nodes until there are `to`. Beside dense names the new nodes carry on counting;
    /// beside a list they are called "new-1", "new-2", … with weight 1.
    Grow {
        /// The new number of nodes.
        to: u32,
    },
    /// Drop nodes from the end of the list until there are `to`.
    Shrink {
        /// The new number of nodes.
        to: u32,
    },
    /// Append one node.
    Add(Node),
    /// Remove one node by its identity, wherever it stands in the list.
    Remove {
        /// The name of the node that leaves.
        name: String,
    },
    /// Give a node another weight.
    Reweight {
        /// The name of the node.
        name: String,
        /// Its new weight, at least 1.
        weight: u32,
    },
}

/// Why a change does not fit a membership, whatever the scheme.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ChangeError {
    /// `Grow` to fewer or `Shrink` to more nodes than there are.
    #[error("cannot {verb} from {from} to {to} nodes")]
    WrongDirection {
        /// "grow" or "shrink".
        verb: &'static str,
        /// Nodes before.
        from: u32,
        /// Nodes asked for.
        to: u32,
    },
    /// There is no node of that name.
    #[error("there is no node {name:?}")]
    UnknownNode {
        /// The name asked for.
        name: String,
    },
    /// The last remaining node cannot leave.
    #[error("{name:?} is the only node and cannot leave")]
    OnlyNode {
        /// The node.
        name: String,
    },
    /// The nodes after the change would not be a membership.
    #[error(transparent)]
    Members(#[from] MembersError),
}

impl Change {
    /// The membership after a change, for a scheme whose owners are positions in the list and which
    /// takes no weights: nodes join and leave at the end alone.
    ///
    /// # Errors
    /// [`Unsupported::TailOnly`] for the removal of any other node than the last,
    /// [`Unsupported::Weights`] for weights, or the change does not fit the members.
    pub fn at_the_tail(&self, scheme: &'static str, members: &Members) -> Result<Members, Unsupported> {
        match self {
            Self::Reweight { .. } => return Err(Unsupported::Weights { scheme }),
            Self::Add(node) if node.weight() != 1 => return Err(Unsupported::Weights { scheme }),
            Self::Remove { name } => {
                let last = members.name(crate::NodeId(members.len() - 1));
                if members.find(name).is_some() && *name != last {
                    return Err(Unsupported::TailOnly { last: last.into_owned() });
                }
            }
            _ => {}
        }
        Ok(members.after(self)?)
    }
}

impl Members {
    /// The membership after a change. Nodes that stay keep their order; new ones stand at the end.
    ///
    /// # Errors
    /// The change does not fit: see [`ChangeError`].
    pub fn after(&self, change: &Change) -> Result<Self, ChangeError> {
        let n = self.len();
        match change {
            Change::Grow { to } if *to < n => Err(ChangeError::WrongDirection { verb: "grow", from: n, to: *to }),
            Change::Shrink { to } if *to > n => Err(ChangeError::WrongDirection { verb: "shrink", from: n, to: *to }),
            Change::Grow { to } | Change::Shrink { to } if self.is_dense() => Ok(Self::dense(*to)?),
            Change::Shrink { to } => {
                let mut nodes = self.to_nodes();
                nodes.truncate(*to as usize);
                Ok(Self::listed(nodes)?)
            }
            Change::Grow { to } => {
                if *to > crate::MAX_NODES {
                    return Err(MembersError::TooMany { count: u64::from(*to) }.into());
                }
                let mut nodes = self.to_nodes();
                let fresh = (1_u64..).map(|i| format!("new-{i}")).filter(|name| self.find(name).is_none());
                for name in fresh.take((*to - n) as usize) {
                    nodes.push(Node::new(name, 1)?);
                }
                Ok(Self::listed(nodes)?)
            }
            Change::Add(node) => {
                if self.is_dense() && node.weight() == 1 && n < crate::MAX_NODES && node.name() == n.to_string() {
                    return Ok(Self::dense(n + 1)?);
                }
                let mut nodes = self.to_nodes();
                nodes.push(node.clone());
                Ok(Self::listed(nodes)?)
            }
            Change::Remove { name } => {
                let id = self.find(name).ok_or_else(|| ChangeError::UnknownNode { name: name.clone() })?;
                if n == 1 {
                    return Err(ChangeError::OnlyNode { name: name.clone() });
                }
                if self.is_dense() && id.0 == n - 1 {
                    return Ok(Self::dense(n - 1)?);
                }
                let mut nodes = self.to_nodes();
                nodes.remove(id.index());
                Ok(Self::listed(nodes)?)
            }
            Change::Reweight { name, weight } => {
                let id = self.find(name).ok_or_else(|| ChangeError::UnknownNode { name: name.clone() })?;
                let mut nodes = self.to_nodes();
                nodes[id.index()] = Node::new(name.clone(), *weight)?;
                Ok(Self::listed(nodes)?)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(names: &[&str]) -> Members {
        Members::listed(names.iter().map(|name| Node::new(*name, 1).unwrap()).collect()).unwrap()
    }

    #[test]
    fn a_list_that_spells_the_dense_names_equals_the_dense_membership() {
        assert_eq!(listed(&["0", "1", "2"]), Members::dense(3).unwrap());
        assert_ne!(listed(&["0", "2", "1"]), Members::dense(3).unwrap());
        assert_ne!(listed(&["0", "01"]), Members::dense(2).unwrap());
    }

    #[test]
    fn adding_and_removing_the_last_dense_node_stays_dense() {
        let three = Members::dense(3).unwrap();
        let four = three.after(&Change::Add(Node::new("3", 1).unwrap())).unwrap();
        assert_eq!(four, Members::dense(4).unwrap());
        assert_eq!(four.after(&Change::Remove { name: "3".into() }).unwrap(), three);
    }

    #[test]
    fn removing_a_middle_node_keeps_the_others_in_order() {
        let left = Members::dense(4).unwrap().after(&Change::Remove { name: "1".into() }).unwrap();
        assert_eq!(left, listed(&["0", "2", "3"]));
        assert_eq!(
            Members::dense(4).unwrap().matched_in(&left),
            [Some(crate::NodeId(0)), None, Some(crate::NodeId(1)), Some(crate::NodeId(2))]
        );
    }

    #[test]
    fn nodes_are_matched_by_name_wherever_they_stand() {
        let (before, after) = (listed(&["c", "a", "d", "b"]), listed(&["x", "b", "c", "aa"]));
        let found: Vec<Option<crate::NodeId>> = before.iter().map(|(_, name, _)| after.find(&name)).collect();
        assert_eq!(before.matched_in(&after), found);
        assert_eq!(found, [Some(crate::NodeId(2)), None, None, Some(crate::NodeId(1))]);
    }

    #[test]
    fn growing_a_list_takes_new_names_that_are_free() {
        let grown = listed(&["a", "new-2"]).after(&Change::Grow { to: 4 }).unwrap();
        assert_eq!(grown, listed(&["a", "new-2", "new-1", "new-3"]));
    }

    #[test]
    fn impossible_memberships_are_refused() {
        assert_eq!(Members::dense(0), Err(MembersError::Empty));
        assert_eq!(Members::dense(1 << 31), Err(MembersError::TooMany { count: 1 << 31 }));
        assert_eq!(Members::listed(vec![]), Err(MembersError::Empty));
        let twice = Members::listed(vec![Node::new("a", 1).unwrap(), Node::new("a", 2).unwrap()]);
        assert_eq!(twice, Err(MembersError::DuplicateName { name: "a".into() }));
        assert!(matches!(Node::new("a", 0), Err(MembersError::ZeroWeight { .. })));
        let one = Members::dense(1).unwrap();
        assert!(matches!(one.after(&Change::Remove { name: "0".into() }), Err(ChangeError::OnlyNode { .. })));
        assert!(matches!(one.after(&Change::Shrink { to: 0 }), Err(ChangeError::Members(MembersError::Empty))));
    }

    #[test]
    fn names_are_found_by_their_exact_bytes() {
        let dense = Members::dense(20).unwrap();
        assert_eq!(dense.find("19"), Some(crate::NodeId(19)));
        assert_eq!(dense.find("+1"), None);
        assert_eq!(dense.find("01"), None);
        assert_eq!(dense.find("20"), None);
        assert_eq!(dense.ids_by_name()[1], crate::NodeId(1));
        assert_eq!(dense.ids_by_name()[2], crate::NodeId(10));
    }
}
