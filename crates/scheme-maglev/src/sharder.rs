use shardlab_core::{Change, Members, NodeId, Scheme, Sharder, Shares, Step, Unsupported};
use shardlab_kernels::Simd;
use shardlab_kernels::table::{GOLDEN, entries_16, entries_32, slot_of};

use crate::Maglev;

/// Up to so many nodes a table entry has 16 bits.
pub(crate) const NARROW_NODES: u32 = 1 << 16;

/// The table: which node has each slot.
#[derive(Clone, Debug)]
pub(crate) enum Entries {
    Narrow(Box<[u16]>),
    Wide(Box<[NodeId]>),
}

impl Entries {
    #[inline]
    fn at(&self, slot: usize) -> NodeId {
        match self {
            Self::Narrow(entries) => NodeId(entries[slot].into()),
            Self::Wide(entries) => entries[slot],
        }
    }
}

/// A built instance.
#[derive(Clone, Debug)]
pub struct MaglevSharder {
    scheme: Maglev,
    members: Members,
    entries: Entries,
    simd: Simd,
}

impl MaglevSharder {
    pub(crate) fn new(scheme: Maglev, members: Members) -> Self {
        let entries = scheme.fill(&members);
        Self { scheme, members, entries, simd: Simd::best() }
    }

    /// The node of each slot.
    pub fn slots(&self) -> impl Iterator<Item = NodeId> + '_ {
        (0..self.scheme.table() as usize).map(|slot| self.entries.at(slot))
    }
}

impl Sharder for MaglevSharder {
    fn shard(&self, key: u64) -> NodeId {
        self.entries.at(slot_of(key, self.scheme.table()) as usize)
    }

    fn shard_many(&self, keys: &[u64], out: &mut [NodeId]) {
        let out = NodeId::numbers_mut(out);
        match &self.entries {
            Entries::Narrow(entries) => entries_16(self.simd, entries, keys, out),
            Entries::Wide(entries) => entries_32(self.simd, NodeId::numbers(entries), keys, out),
        }
    }

    fn members(&self) -> &Members {
        &self.members
    }

    fn heap_bytes(&self) -> usize {
        match &self.entries {
            Entries::Narrow(entries) => size_of_val(&**entries),
            Entries::Wide(entries) => size_of_val(&**entries),
        }
    }

    fn apply(&mut self, change: &Change) -> Result<(), Unsupported> {
        let after = self.members.after(change)?;
        self.scheme.check_members(&after)?;
        *self = Self::new(self.scheme, after);
        Ok(())
    }

    fn exact_shares(&self) -> Option<Shares> {
        let mut parts = vec![0; self.members.len() as usize];
        for node in self.slots() {
            parts[node.index()] += 1;
        }
        Some(Shares { parts, whole: self.scheme.table().into() })
    }

    fn explain(&self, key: u64) -> Vec<Step> {
        let table = self.scheme.table();
        let spread = key.wrapping_mul(GOLDEN);
        vec![
            Step::new("key times 0x9E3779B97F4A7C15", format!("{spread} (wrapping at 64 bits)")),
            Step::new("slot", format!("{spread} * {table} / 2^64 = {}", slot_of(key, table))),
            Step::new("node of the slot", self.members.name(self.shard(key)).into_owned()),
        ]
    }

    fn box_clone(&self) -> Box<dyn Sharder> {
        Box::new(self.clone())
    }
}
