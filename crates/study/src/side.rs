use shardlab_core::{BuildError, Hashed, KeyHasher, KeyRules, Members, NodeId, Placer, RawBatch, Scheme, Sharder};

use shardlab_harness::{hasher_for, is_available};

use crate::StudyError;

/// One side of a study: a scheme, built for a membership, with its hash in front.
#[derive(Debug)]
pub struct Side {
    /// The scheme.
    pub scheme: Box<dyn Scheme>,
    /// Hash and sharder.
    pub placer: Hashed,
}

/// Refuses to build what needs more memory than it may take or than the system gives.
pub(crate) fn check_memory(scheme: &dyn Scheme, members: &Members, limit: u64) -> Result<(), StudyError> {
    let needed = u128::from(scheme.expected_build_bytes(members));
    let what = format!("{} for {} nodes", scheme.spec(), members.len());
    if needed > u128::from(limit) {
        return Err(StudyError::Memory { what, needed, limit });
    }
    if is_available(needed) { Ok(()) } else { Err(StudyError::NotAvailable { what, needed }) }
}

impl Clone for Side {
    fn clone(&self) -> Self {
        Self { scheme: self.scheme.box_clone(), placer: self.placer.clone() }
    }
}

impl Side {
    /// Builds a side. The hash is the one asked for, the scheme's own, or the default.
    ///
    /// # Errors
    /// The scheme cannot serve the members, or needs more than `max_memory` bytes for them.
    pub fn new(
        scheme: Box<dyn Scheme>,
        members: &Members,
        asked: Option<&dyn KeyHasher>,
        max_memory: u64,
    ) -> Result<Self, StudyError> {
        let refused = |source: BuildError| StudyError::Build { spec: scheme.spec(), source };
        scheme.check().map_err(|error| refused(error.into()))?;
        scheme.check_members(members).map_err(refused)?;
        check_memory(&*scheme, members, max_memory)?;
        let hasher = hasher_for(&*scheme, asked);
        let sharder = scheme.build(members).map_err(refused)?;
        Ok(Self { scheme, placer: Hashed { hasher, sharder } })
    }

    /// The same scheme and hash around another instance.
    #[must_use]
    pub fn with_sharder(&self, sharder: Box<dyn Sharder>) -> Self {
        Self { scheme: self.scheme.box_clone(), placer: Hashed { hasher: self.placer.hasher.box_clone(), sharder } }
    }

    /// The nodes of a batch of documents.
    pub(crate) fn place(&self, batch: &RawBatch<'_>, out: &mut Vec<NodeId>) -> Result<(), StudyError> {
        out.resize(batch.len(), NodeId(0));
        self.placer.place_many(batch, out).map_err(|error| StudyError::Key { spec: self.scheme.spec(), error })
    }

    /// What it demands of every document.
    #[must_use]
    pub fn rules(&self) -> KeyRules {
        self.scheme.key_rules().and(self.placer.hasher.rules())
    }

    /// The nodes.
    #[must_use]
    pub fn members(&self) -> &Members {
        self.placer.sharder.members()
    }
}
