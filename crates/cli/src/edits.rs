//! Changes as files write them: one table a change, with one field that says what is done.

use anyhow::{Context, bail};
use serde::Deserialize;
use shardlab_core::Change;
use shardlab_study::Edit;

use crate::membership::{node, weight};

/// One step; exactly one of its fields is given.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StepEntry {
    pub(crate) to: Option<String>,
    pub(crate) grow_to: Option<u32>,
    pub(crate) shrink_to: Option<u32>,
    pub(crate) add: Option<OneOrMore>,
    pub(crate) remove: Option<OneOrMore>,
    pub(crate) lose_rack: Option<String>,
    pub(crate) reweight: Option<String>,
    pub(crate) rename: Option<String>,
    pub(crate) renumber: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum OneOrMore {
    One(String),
    More(Vec<String>),
}

impl OneOrMore {
    fn list(self) -> Vec<String> {
        match self {
            Self::One(name) => vec![name],
            Self::More(names) => names,
        }
    }
}

/// Where a step goes: to a sharding of its own, or by edits one after another.
pub(crate) enum Leads {
    To(String),
    By(Vec<Edit>),
}

impl StepEntry {
    /// What is done; an error where nothing or several things are given.
    pub(crate) fn leads(self) -> anyhow::Result<Leads> {
        let mut found = Vec::new();
        found.extend(self.to.map(Leads::To));
        found.extend(self.grow_to.map(|to| Leads::By(vec![Edit::Change(Change::Grow { to })])));
        found.extend(self.shrink_to.map(|to| Leads::By(vec![Edit::Change(Change::Shrink { to })])));
        if let Some(names) = self.add {
            let nodes = names.list().into_iter().map(|entry| Ok(Edit::Change(Change::Add(node(&entry)?))));
            found.push(Leads::By(nodes.collect::<anyhow::Result<_>>()?));
        }
        found.extend(self.remove.map(|names| {
            Leads::By(names.list().into_iter().map(|name| Edit::Change(Change::Remove { name })).collect())
        }));
        found.extend(self.lose_rack.map(|prefix| Leads::By(vec![Edit::LoseRack { prefix }])));
        if let Some(node_text) = self.reweight {
            let (name, value) = node_text.rsplit_once('=').context("reweight is \"NAME=WEIGHT\"")?;
            let change = Change::Reweight {
                name: name.to_owned(),
                weight: weight(value).with_context(|| format!("reweight: {value:?}"))?,
            };
            found.push(Leads::By(vec![Edit::Change(change)]));
        }
        if let Some(names) = self.rename {
            let (from, to) = names.rsplit_once('=').context("rename is \"OLD=NEW\"")?;
            found.push(Leads::By(vec![Edit::Rename { from: from.to_owned(), to: to.to_owned() }]));
        }
        found.extend(self.renumber.map(|remove| Leads::By(vec![Edit::Renumber { remove }])));
        match (found.pop(), found.is_empty()) {
            (Some(leads), true) => Ok(leads),
            (None, _) => bail!(
                "no change; a step has one of to, grow_to, shrink_to, add, remove, lose_rack, reweight, rename, renumber"
            ),
            (Some(_), false) => bail!("several changes; a step has one, and more steps make a path"),
        }
    }
}
