use shardlab_core::{Change, Members, NodeId, Scheme, Sharder, Shares, Step, TopK, Unsupported};

use crate::{Ring, RingTable};

/// A built instance.
#[derive(Clone, Debug)]
pub struct RingSharder {
    scheme: Ring,
    members: Members,
    table: RingTable,
}

impl RingSharder {
    pub(crate) fn new(scheme: Ring, members: Members) -> Self {
        let table = scheme.table(&members);
        Self { scheme, members, table }
    }

    /// The points.
    #[must_use]
    pub fn table(&self) -> &RingTable {
        &self.table
    }
}

impl Sharder for RingSharder {
    fn shard(&self, key: u64) -> NodeId {
        self.table.owner(key)
    }

    fn shard_many(&self, keys: &[u64], out: &mut [NodeId]) {
        self.table.owners(keys, out);
    }

    fn members(&self) -> &Members {
        &self.members
    }

    fn heap_bytes(&self) -> usize {
        self.table.heap_bytes()
    }

    fn apply(&mut self, change: &Change) -> Result<(), Unsupported> {
        let after = self.members.after(change)?;
        self.scheme.check_members(&after)?;
        *self = Self::new(self.scheme, after);
        Ok(())
    }

    fn exact_shares(&self) -> Option<Shares> {
        Some(self.table.shares(self.members.len()))
    }

    fn explain(&self, key: u64) -> Vec<Step> {
        let (at, position) = self.table.point(key);
        let around = if position < key { ", past the end of the circle" } else { "" };
        vec![
            Step::new("position on the circle", key.to_string()),
            Step::new(
                "first point at or after it",
                format!("{position} (point {} of {}{around})", at + 1, self.table.len()),
            ),
            Step::new("owner of the point", self.members.name(self.shard(key)).into_owned()),
        ]
    }

    fn as_top_k(&self) -> Option<&dyn TopK> {
        Some(self)
    }

    fn box_clone(&self) -> Box<dyn Sharder> {
        Box::new(self.clone())
    }
}

impl TopK for RingSharder {
    fn top_k(&self, key: u64, k: usize) -> Vec<NodeId> {
        let k = k.min(self.members.len() as usize);
        let mut owners = Vec::with_capacity(k);
        let mut seen = vec![false; if k == 0 { 0 } else { self.members.len() as usize }];
        // A node all of whose points were dropped stands behind those that have some.
        let pointless = std::iter::once_with(|| self.members.ids_by_name()).flatten();
        let mut candidates = self.table.walk(key).chain(pointless);
        while owners.len() < k {
            let Some(owner) = candidates.next() else { break };
            if !std::mem::replace(&mut seen[owner.index()], true) {
                owners.push(owner);
            }
        }
        owners
    }
}
