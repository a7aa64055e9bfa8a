use shardlab_core::{KeyFault, KeyForm, KeyHasher, KeyRules, RawKey, Step};

/// Elasticsearch's partitioned routing around a hash: the documents of one routing value spread over
/// several neighbouring keys, chosen by their ids.
///
/// offset = floorMod(hash(id), size); key = hash(routing) + offset as a wrapping 32-bit sum. Both
/// hashes are read as signed numbers from their low 32 bits.
#[derive(Debug)]
pub struct Partitioned {
    inner: Box<dyn KeyHasher>,
    size: u32,
}

impl Partitioned {
    /// Spreads each routing value over `size` keys (`index.routing_partition_size`), at least 1.
    #[must_use]
    pub fn new(inner: Box<dyn KeyHasher>, size: u32) -> Self {
        Self { inner, size: size.max(1) }
    }

    fn offset(&self, id: &[u8]) -> Result<u32, KeyFault> {
        let hash = i64::from(low32(self.inner.hash(&RawKey::id(id))?).cast_signed());
        // The remainder is below the size, which is a u32.
        Ok(u32::try_from(hash.rem_euclid(i64::from(self.size))).unwrap_or(0))
    }

    fn routing_hash(&self, routing: &[u8]) -> Result<u32, KeyFault> {
        if routing.is_empty() {
            return Err(KeyFault::RoutingRequired);
        }
        self.inner.hash(&RawKey::id(routing)).map(low32)
    }
}

#[expect(clippy::cast_possible_truncation, reason = "Elasticsearch hashes are the low 32 bits")]
const fn low32(key: u64) -> u32 {
    key as u32
}

impl KeyHasher for Partitioned {
    fn name(&self) -> String {
        format!("{} partitioned by {}", self.inner.name(), self.size)
    }

    fn bits(&self) -> u32 {
        32
    }

    fn form(&self) -> KeyForm {
        KeyForm::Signed32
    }

    fn rules(&self) -> KeyRules {
        KeyRules { routing_required: true, ..self.inner.rules() }
    }

    fn hash(&self, key: &RawKey<'_>) -> Result<u64, KeyFault> {
        let routing = self.routing_hash(key.routing)?;
        Ok(u64::from(routing.wrapping_add(self.offset(key.id)?)))
    }

    fn explain(&self, key: &RawKey<'_>) -> Result<Vec<Step>, KeyFault> {
        let routing = self.routing_hash(key.routing)?.cast_signed();
        let id = low32(self.inner.hash(&RawKey::id(key.id))?).cast_signed();
        let offset = self.offset(key.id)?;
        let name = self.inner.name();
        let sum = KeyForm::Signed32.show(self.hash(key)?);
        Ok(vec![
            Step::new(format!("hash of routing ({name})"), routing.to_string()),
            Step::new(format!("hash of id ({name})"), id.to_string()),
            Step::new("offset", format!("{id} mod {} = {offset}", self.size)),
            Step::new("hash", format!("{routing} + {offset} = {sum} (wrapping at 32 bits)")),
        ])
    }

    fn searched(&self, routing: &[u8]) -> Result<Option<Vec<u64>>, KeyFault> {
        let first = self.routing_hash(routing)?;
        Ok(Some((0..self.size).map(|offset| u64::from(first.wrapping_add(offset))).collect()))
    }

    fn box_clone(&self) -> Box<dyn KeyHasher> {
        Box::new(Self { inner: self.inner.box_clone(), size: self.size })
    }
}
