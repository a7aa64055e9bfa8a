use std::fmt;

use crate::{KeyError, KeyFault, KeyHasher, NodeId, RawBatch, RawKey, Sharder};

/// One line of the working behind a placement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// What was computed.
    pub label: String,
    /// What came out.
    pub value: String,
}

impl Step {
    /// A line of working.
    pub fn new(label: impl Into<String>, value: impl Into<String>) -> Self {
        Self { label: label.into(), value: value.into() }
    }
}

/// What the harness, studies and `route` drive: documents in, nodes out.
///
/// [`Hashed`] is the usual one. Systems that hash key and node together implement it themselves.
pub trait Placer: fmt::Debug + Send + Sync {
    /// The nodes of a batch of documents.
    ///
    /// # Errors
    /// The first document that cannot be placed, with its row.
    ///
    /// # Panics
    /// `out` is not as long as the batch.
    fn place_many(&self, batch: &RawBatch<'_>, out: &mut [NodeId]) -> Result<(), KeyError>;

    /// The nodes that a search for this routing value must ask, ascending, where documents of one
    /// routing value may stand on several.
    ///
    /// # Errors
    /// The routing value cannot be hashed.
    fn searched(&self, routing: &[u8]) -> Result<Option<Vec<NodeId>>, KeyFault>;

    /// The working from document to node, for people.
    ///
    /// # Errors
    /// The document cannot be placed.
    fn explain(&self, document: &RawKey<'_>) -> Result<Vec<Step>, KeyFault>;
}

/// A hash in front of a sharder.
#[derive(Debug)]
pub struct Hashed {
    /// Turns documents into keys.
    pub hasher: Box<dyn KeyHasher>,
    /// Turns keys into nodes.
    pub sharder: Box<dyn Sharder>,
}

impl Clone for Hashed {
    fn clone(&self) -> Self {
        Self { hasher: self.hasher.box_clone(), sharder: self.sharder.box_clone() }
    }
}

impl Placer for Hashed {
    fn place_many(&self, batch: &RawBatch<'_>, out: &mut [NodeId]) -> Result<(), KeyError> {
        if let Some(keys) = batch.hashed() {
            if self.hasher.rules().routing_required {
                return Err(KeyError { row: 0, fault: KeyFault::NoRawKeys });
            }
            self.sharder.shard_many(keys, out);
            return Ok(());
        }
        let mut keys = vec![0; batch.len()];
        self.hasher.hash_many(batch, &mut keys)?;
        self.sharder.shard_many(&keys, out);
        Ok(())
    }

    fn searched(&self, routing: &[u8]) -> Result<Option<Vec<NodeId>>, KeyFault> {
        let Some(keys) = self.hasher.searched(routing)? else { return Ok(None) };
        let mut nodes: Vec<NodeId> = keys.into_iter().map(|key| self.sharder.shard(key)).collect();
        nodes.sort_unstable();
        nodes.dedup();
        Ok(Some(nodes))
    }

    fn explain(&self, document: &RawKey<'_>) -> Result<Vec<Step>, KeyFault> {
        let mut steps = self.hasher.explain(document)?;
        let key = self.hasher.hash(document)?;
        steps.extend(self.sharder.explain(key));
        let node = self.sharder.shard(key);
        let name = self.sharder.members().name(node);
        // A dense name only repeats the number.
        let shown = if name == node.to_string() { node.to_string() } else { format!("{node} ({name})") };
        steps.push(Step::new("node", shown));
        Ok(steps)
    }
}

/// A second level behind a placer: slots to nodes, or shards to machines.
#[derive(Debug)]
pub struct Mapped {
    inner: Box<dyn Placer>,
    table: Vec<NodeId>,
}

/// A second-level table that does not cover the first level.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the table maps {entries} places, but there are {nodes}")]
pub struct MappedError {
    /// Entries given.
    pub entries: usize,
    /// Nodes of the first level.
    pub nodes: u32,
}

impl Mapped {
    /// Sends what `inner` places on node i to `table[i]`.
    ///
    /// # Errors
    /// The table does not have one entry for each of the `nodes` of the first level.
    pub fn new(inner: Box<dyn Placer>, nodes: u32, table: Vec<NodeId>) -> Result<Self, MappedError> {
        if table.len() != nodes as usize {
            return Err(MappedError { entries: table.len(), nodes });
        }
        Ok(Self { inner, table })
    }
}

impl Placer for Mapped {
    fn place_many(&self, batch: &RawBatch<'_>, out: &mut [NodeId]) -> Result<(), KeyError> {
        self.inner.place_many(batch, out)?;
        for node in out {
            *node = self.table[node.index()];
        }
        Ok(())
    }

    fn searched(&self, routing: &[u8]) -> Result<Option<Vec<NodeId>>, KeyFault> {
        let Some(nodes) = self.inner.searched(routing)? else { return Ok(None) };
        let mut mapped: Vec<NodeId> = nodes.into_iter().map(|node| self.table[node.index()]).collect();
        mapped.sort_unstable();
        mapped.dedup();
        Ok(Some(mapped))
    }

    fn explain(&self, document: &RawKey<'_>) -> Result<Vec<Step>, KeyFault> {
        let mut steps = self.inner.explain(document)?;
        let mut batch = crate::RawChunk::default();
        batch.push(*document, None);
        let mut node = [NodeId(0)];
        self.place_many(&batch.as_batch(), &mut node).map_err(|error| error.fault)?;
        steps.push(Step::new("mapped to", node[0].to_string()));
        Ok(steps)
    }
}
