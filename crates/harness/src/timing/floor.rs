use shardlab_core::{Change, Members, NodeId, Sharder, Unsupported};

/// A sharder that does nothing, so that what is measured of it is the measuring loop.
#[derive(Clone, Debug)]
pub struct Floor(Members);

impl Floor {
    /// Sends every key to the first of these nodes.
    #[must_use]
    pub const fn new(members: Members) -> Self {
        Self(members)
    }
}

impl Sharder for Floor {
    fn shard(&self, _key: u64) -> NodeId {
        NodeId(0)
    }

    fn members(&self) -> &Members {
        &self.0
    }

    fn heap_bytes(&self) -> usize {
        0
    }

    fn apply(&mut self, change: &Change) -> Result<(), Unsupported> {
        self.0 = self.0.after(change)?;
        Ok(())
    }

    fn box_clone(&self) -> Box<dyn Sharder> {
        Box::new(self.clone())
    }
}
