use shardlab_core::{Change, ChangeError, Members, Node, NodeId, Unsupported};

use crate::side::check_memory;
use crate::{Side, StudyError};

/// A change of membership as people name it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Edit {
    /// Grow, shrink, add, remove or reweight, by the rules of the scheme.
    Change(Change),
    /// All nodes leave whose name begins with this.
    LoseRack {
        /// The beginning of the names.
        prefix: String,
    },
    /// A node gets another name and stays the same machine with the same data.
    Rename {
        /// The name it has.
        from: String,
        /// The name it gets.
        to: String,
    },
    /// The same nodes, listed in another order.
    Reorder {
        /// All names in the new order.
        names: Vec<String>,
    },
    /// A node leaves and the list closes up, whether or not the scheme promises anything for that.
    Renumber {
        /// The node that leaves.
        remove: String,
    },
}

/// What an edit leads to.
#[derive(Debug)]
pub enum Outcome {
    /// The scheme can do it.
    Done {
        /// The sharding after it.
        after: Box<Side>,
        /// Which nodes are the same, where names do not say so.
        matched: Option<Vec<Option<NodeId>>>,
        /// What is done, in words.
        words: String,
    },
    /// The scheme refuses; people then do one of the alternatives.
    Refused {
        /// What was asked for, in words.
        words: String,
        /// The scheme's reason.
        reason: String,
        /// What can be done in its place.
        alternatives: Vec<Alternative>,
    },
}

/// Something that people do when a scheme refuses.
#[derive(Debug)]
pub struct Alternative {
    /// What is done, in words.
    pub words: String,
    /// The sharding after it.
    pub after: Side,
}

/// Does an edit to a sharding.
///
/// # Errors
/// The edit does not fit the members: an unknown node, no node left, a doubled name.
pub fn edit(before: &Side, edit: &Edit, max_memory: u64) -> Result<Outcome, StudyError> {
    let members = before.members();
    match edit {
        Edit::Change(change) => apply(before, change, max_memory),
        Edit::LoseRack { prefix } => lose_rack(before, prefix, max_memory),
        Edit::Rename { from, to } => {
            let id = find(members, from)?;
            let mut nodes = nodes(members);
            nodes[id.index()] = Node::new(to.clone(), members.weight(id))?;
            let after = rebuilt(before, &Members::listed(nodes)?, max_memory)?;
            let matched = (0..members.len()).map(|node| Some(NodeId(node))).collect();
            let words = format!("rename {from:?} to {to:?}, the same machine with the same data");
            Ok(Outcome::Done { after: Box::new(after), matched: Some(matched), words })
        }
        Edit::Reorder { names } => {
            let listed = names.iter().map(|name| {
                let id = find(members, name)?;
                Ok(Node::new(name.clone(), members.weight(id))?)
            });
            let after = Members::listed(listed.collect::<Result<_, StudyError>>()?)?;
            if let Some((_, missing, _)) = members.iter().find(|(_, name, _)| after.find(name).is_none()) {
                return Err(ChangeError::UnknownNode { name: format!("{missing} (in the new order)") }.into());
            }
            let after = rebuilt(before, &after, max_memory)?;
            let words = "list the same nodes in another order".to_owned();
            Ok(Outcome::Done { after: Box::new(after), matched: None, words })
        }
        Edit::Renumber { remove } => {
            find(members, remove)?;
            let after = members.after(&Change::Remove { name: remove.clone() })?;
            let after = rebuilt(before, &after, max_memory)?;
            let words = format!("remove {remove:?} and close up the list");
            Ok(Outcome::Done { after: Box::new(after), matched: None, words })
        }
    }
}

/// Does several edits one after another. Where the scheme refuses one, alternatives are offered only if it is the
/// only one: what people would then do about the others is anybody's guess.
///
/// # Errors
/// As for one edit.
pub fn edit_all(before: &Side, edits: &[Edit], max_memory: u64) -> Result<Outcome, StudyError> {
    if let [only] = edits {
        return edit(before, only, max_memory);
    }
    let (mut side, mut done) = (before.clone(), Vec::new());
    for next in edits {
        match edit(&side, next, max_memory)? {
            Outcome::Done { after, words, .. } => {
                done.push(words);
                side = *after;
            }
            Outcome::Refused { words, reason, .. } => {
                done.push(words);
                return Ok(Outcome::Refused { words: done.join(", "), reason, alternatives: Vec::new() });
            }
        }
    }
    Ok(Outcome::Done { after: Box::new(side), matched: None, words: done.join(", ") })
}

/// Whether edits, one after another, fit members: every node that they name is there when its turn comes, none is
/// there twice, and one is left. Whether a scheme can do them is another question.
///
/// # Errors
/// The first edit that does not fit.
pub fn check_edits(members: &Members, edits: &[Edit]) -> Result<(), StudyError> {
    let mut members = members.clone();
    for edit in edits {
        match edit {
            Edit::Change(change) => {
                if let Change::Remove { name } | Change::Reweight { name, .. } = change {
                    find(&members, name)?;
                }
                members = members.after(change)?;
            }
            Edit::LoseRack { prefix } => {
                let (lost, left): (Vec<Node>, Vec<Node>) =
                    nodes(&members).into_iter().partition(|node| node.name().starts_with(prefix));
                if lost.is_empty() {
                    return Err(StudyError::UnknownNode {
                        name: format!("{prefix}…"),
                        known: nearest(&members, prefix),
                    });
                }
                members = Members::listed(left)?;
            }
            Edit::Rename { from, to } => {
                let id = find(&members, from)?;
                let mut nodes = nodes(&members);
                nodes[id.index()] = Node::new(to.clone(), members.weight(id))?;
                members = Members::listed(nodes)?;
            }
            Edit::Reorder { names } => names.iter().try_for_each(|name| find(&members, name).map(drop))?,
            Edit::Renumber { remove } => {
                find(&members, remove)?;
                members = members.after(&Change::Remove { name: remove.clone() })?;
            }
        }
    }
    Ok(())
}

/// An edit in words.
pub(crate) fn edit_in_words(edit: &Edit) -> String {
    match edit {
        Edit::Change(change) => in_words(change),
        Edit::LoseRack { prefix } => format!("lose all nodes {prefix:?}…"),
        Edit::Rename { from, to } => format!("rename {from:?} to {to:?}"),
        Edit::Reorder { .. } => "list the same nodes in another order".to_owned(),
        Edit::Renumber { remove } => format!("remove {remove:?} and close up the list"),
    }
}

/// The change in words.
fn in_words(change: &Change) -> String {
    match change {
        Change::Grow { to } => format!("grow to {to} nodes"),
        Change::Shrink { to } => format!("shrink to {to} nodes"),
        Change::Add(node) if node.weight() == 1 => format!("add {:?}", node.name()),
        Change::Add(node) => format!("add {:?} with weight {}", node.name(), node.weight()),
        Change::Remove { name } => format!("remove {name:?}"),
        Change::Reweight { name, weight } => format!("give {name:?} weight {weight}"),
        _ => format!("{change:?}"),
    }
}

fn apply(before: &Side, change: &Change, max_memory: u64) -> Result<Outcome, StudyError> {
    if let Change::Remove { name } | Change::Reweight { name, .. } = change {
        find(before.members(), name)?;
    }
    // What does not fit the members is an error of the question; what is left to refuse is the scheme's.
    let members = before.members().after(change)?;
    let words = in_words(change);
    check_memory(&*before.scheme, &members, max_memory)?;
    let mut sharder = before.placer.sharder.box_clone();
    match sharder.apply(change) {
        Ok(()) => Ok(Outcome::Done { after: Box::new(before.with_sharder(sharder)), matched: None, words }),
        Err(reason) => {
            let alternatives = alternatives(before, change, &members, &reason, max_memory);
            Ok(Outcome::Refused { words, reason: reason.to_string(), alternatives })
        }
    }
}

/// What people do when a scheme refuses a change.
fn alternatives(
    before: &Side,
    change: &Change,
    members: &Members,
    reason: &Unsupported,
    max_memory: u64,
) -> Vec<Alternative> {
    let mut found = Vec::new();
    let mut offer = |words: String, after: Result<Side, StudyError>| {
        // What cannot be built either is no way out.
        if let Ok(after) = after {
            found.push(Alternative { words, after });
        }
    };
    if let Unsupported::NotAFactor(refusal) = reason
        && let Some(rules) = before.placer.sharder.as_resizable()
    {
        for to in [refusal.nearest_below, refusal.nearest_above].into_iter().flatten() {
            let resized = rules.resized(to).map(|sharder| before.with_sharder(sharder));
            let verb = if to > before.members().len() { "split" } else { "shrink" };
            if let Ok(after) = resized {
                offer(format!("{verb} to {to}"), Ok(after));
            }
        }
        offer(format!("reindex into {}", members.len()), rebuilt(before, members, max_memory));
        return found;
    }
    match change {
        Change::Remove { name } => {
            offer(format!("remove {name:?} and close up the list (renumber)"), rebuilt(before, members, max_memory));
            if let Some(swapped) = swapped_with_the_last(before.members(), name) {
                offer(format!("put the last node in the place of {name:?}"), rebuilt(before, &swapped, max_memory));
            }
        }
        _ => offer("rebuild".to_owned(), rebuilt(before, members, max_memory)),
    }
    found
}

/// The members with the last one in the place of a node that leaves; `None` where that is the last itself.
pub(crate) fn swapped_with_the_last(members: &Members, name: &str) -> Option<Members> {
    let place = members.find(name)?;
    let mut nodes = nodes(members);
    let last = nodes.pop()?;
    *nodes.get_mut(place.index())? = last;
    Members::listed(nodes).ok()
}

fn lose_rack(before: &Side, prefix: &str, max_memory: u64) -> Result<Outcome, StudyError> {
    let members = before.members();
    let (lost, left): (Vec<Node>, Vec<Node>) =
        nodes(members).into_iter().partition(|node| node.name().starts_with(prefix));
    if lost.is_empty() {
        return Err(StudyError::UnknownNode { name: format!("{prefix}…"), known: nearest(members, prefix) });
    }
    let left = Members::listed(left)?;
    let words = format!("lose the {} nodes {prefix:?}…", lost.len());
    let mut sharder = before.placer.sharder.box_clone();
    for node in lost.iter().rev() {
        let change = Change::Remove { name: node.name().to_owned() };
        if let Err(reason) = sharder.apply(&change) {
            let closed_up = rebuilt(before, &left, max_memory);
            let closed_up =
                closed_up.map(|after| Alternative { words: "close up the list (renumber)".to_owned(), after });
            let alternatives = closed_up.into_iter().collect();
            return Ok(Outcome::Refused { words, reason: reason.to_string(), alternatives });
        }
    }
    Ok(Outcome::Done { after: Box::new(before.with_sharder(sharder)), matched: None, words })
}

pub(crate) fn rebuilt(before: &Side, members: &Members, max_memory: u64) -> Result<Side, StudyError> {
    check_memory(&*before.scheme, members, max_memory)?;
    let refused = |source| StudyError::Build { spec: before.scheme.spec(), source };
    Ok(before.with_sharder(before.scheme.build(members).map_err(refused)?))
}

fn find(members: &Members, name: &str) -> Result<NodeId, StudyError> {
    members.find(name).ok_or_else(|| StudyError::UnknownNode { name: name.to_owned(), known: nearest(members, name) })
}

/// The names there are, or the nearest of them where they are many.
fn nearest(members: &Members, name: &str) -> String {
    const SHOWN: usize = 5;
    if members.is_dense() {
        return format!("the {} nodes are \"0\" to \"{}\"", members.len(), members.len() - 1);
    }
    let mut names: Vec<(usize, String)> = members
        .iter()
        .map(|(_, known, _)| {
            (strsim::damerau_levenshtein(&known.to_lowercase(), &name.to_lowercase()), known.into_owned())
        })
        .collect();
    let all = names.len();
    if all > SHOWN {
        // Equally near ones stay in the order of the list.
        names.sort_by_key(|(distance, _)| *distance);
        names.truncate(SHOWN);
    }
    let list = names.iter().map(|(_, name)| format!("{name:?}")).collect::<Vec<_>>().join(", ");
    if all > SHOWN { format!("the nearest of the {all} nodes are {list}") } else { format!("the nodes are {list}") }
}

fn nodes(members: &Members) -> Vec<Node> {
    members.iter().filter_map(|(_, name, weight)| Node::new(name, weight).ok()).collect()
}
