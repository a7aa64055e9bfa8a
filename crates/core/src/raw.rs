/// One document's raw key: its id and the routing value that may stand in for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawKey<'a> {
    /// The id as bytes.
    pub id: &'a [u8],
    /// The routing value; empty where there is none, since an empty routing value is none.
    pub routing: &'a [u8],
}

impl<'a> RawKey<'a> {
    /// A document with an id and no routing value.
    #[must_use]
    pub const fn id(id: &'a [u8]) -> Self {
        Self { id, routing: &[] }
    }

    /// The bytes that decide the place: the routing value if there is one, else the id.
    #[must_use]
    pub const fn placed(&self) -> &'a [u8] {
        if self.routing.is_empty() { self.id } else { self.routing }
    }
}

/// A column of byte strings, stored back to back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextColumn {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl TextColumn {
    /// Appends one string.
    pub fn push(&mut self, text: &[u8]) {
        self.bytes.extend_from_slice(text);
        self.ends.push(self.bytes.len());
    }

    /// Removes all strings and keeps the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    /// How many strings there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The column as a view.
    #[must_use]
    pub fn as_texts(&self) -> Texts<'_> {
        Texts { bytes: &self.bytes, ends: &self.ends }
    }
}

/// A view of a column of byte strings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Texts<'a> {
    bytes: &'a [u8],
    ends: &'a [usize],
}

impl<'a> Texts<'a> {
    /// String number `row`.
    ///
    /// # Panics
    /// There is no such row.
    #[must_use]
    pub fn get(&self, row: usize) -> &'a [u8] {
        let start = if row == 0 { 0 } else { self.ends[row - 1] };
        &self.bytes[start..self.ends[row]]
    }

    /// How many strings there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// All strings back to back, and where each of them ends.
    #[must_use]
    pub const fn parts(&self) -> (&'a [u8], &'a [usize]) {
        (self.bytes, self.ends)
    }

    /// All strings in order.
    pub fn iter(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let bytes = self.bytes;
        let mut start = 0;
        self.ends.iter().map(move |&end| &bytes[std::mem::replace(&mut start, end)..end])
    }
}

/// A chunk of documents, owned: what readers and generators fill again and again.
///
/// A chunk holds either ids (with routing values and weights, where there are any) or 64-bit keys
/// that need no hashing; never both.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RawChunk {
    ids: TextColumn,
    routing: TextColumn,
    weights: Vec<u64>,
    requests: Vec<u64>,
    hashed: Vec<u64>,
}

impl RawChunk {
    /// Appends a document. All documents of a chunk have a weight, or none has.
    pub fn push(&mut self, key: RawKey<'_>, weight: Option<u64>) {
        debug_assert!(self.hashed.is_empty(), "a chunk of keys takes no ids");
        debug_assert!(
            weight.is_some() != self.weights.is_empty() || self.ids.is_empty(),
            "weights for all or for none"
        );
        // Routing values start with the first document that has one; those before it have none.
        if !key.routing.is_empty() || !self.routing.is_empty() {
            while self.routing.len() < self.ids.len() {
                self.routing.push(&[]);
            }
            self.routing.push(key.routing);
        }
        self.ids.push(key.id);
        self.weights.extend(weight);
    }

    /// Says how many requests there are for the document that was appended last. All documents of a
    /// chunk have such a number, or none has.
    pub fn set_requests(&mut self, requests: u64) {
        self.requests.push(requests);
        debug_assert!(self.requests.len() == self.ids.len(), "requests for all or for none");
    }

    /// Appends a 64-bit key that needs no hashing.
    pub fn push_hashed(&mut self, key: u64) {
        debug_assert!(self.ids.is_empty(), "a chunk of ids takes no keys");
        self.hashed.push(key);
    }

    /// Appends 64-bit keys that need no hashing, and gives them back.
    pub fn extend_hashed(&mut self, keys: impl Iterator<Item = u64>) -> &[u64] {
        debug_assert!(self.ids.is_empty(), "a chunk of ids takes no keys");
        let start = self.hashed.len();
        self.hashed.extend(keys);
        &self.hashed[start..]
    }

    /// Removes all documents and keeps the memory.
    pub fn clear(&mut self) {
        self.ids.clear();
        self.routing.clear();
        self.weights.clear();
        self.requests.clear();
        self.hashed.clear();
    }

    /// How many documents there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ids.len() + self.hashed.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The chunk as a view.
    #[must_use]
    pub fn as_batch(&self) -> RawBatch<'_> {
        RawBatch {
            ids: self.ids.as_texts(),
            routing: (!self.routing.is_empty()).then(|| self.routing.as_texts()),
            weights: (!self.weights.is_empty()).then_some(&self.weights),
            requests: (!self.requests.is_empty()).then_some(&self.requests),
            hashed: (!self.hashed.is_empty()).then_some(&self.hashed),
        }
    }
}

/// A batch of documents: ids with optional routing values and weights, or keys without hashing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawBatch<'a> {
    ids: Texts<'a>,
    routing: Option<Texts<'a>>,
    weights: Option<&'a [u64]>,
    requests: Option<&'a [u64]>,
    hashed: Option<&'a [u64]>,
}

impl<'a> RawBatch<'a> {
    /// How many documents there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.hashed.map_or(self.ids.len(), <[u64]>::len)
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The 64-bit keys, where the batch holds keys in place of ids.
    #[must_use]
    pub const fn hashed(&self) -> Option<&'a [u64]> {
        self.hashed
    }

    /// The weights, where documents have them.
    #[must_use]
    pub const fn weights(&self) -> Option<&'a [u64]> {
        self.weights
    }

    /// The requests for each document, where they are known.
    #[must_use]
    pub const fn requests(&self) -> Option<&'a [u64]> {
        self.requests
    }

    /// The ids as a column; empty where the batch holds keys.
    #[must_use]
    pub const fn ids(&self) -> Texts<'a> {
        self.ids
    }

    /// The routing values as a column, where any document has one.
    #[must_use]
    pub const fn routing(&self) -> Option<Texts<'a>> {
        self.routing
    }

    /// Document number `row`.
    ///
    /// # Panics
    /// There is no such row, or the batch holds keys in place of ids.
    #[must_use]
    pub fn get(&self, row: usize) -> RawKey<'a> {
        RawKey { id: self.ids.get(row), routing: self.routing.map_or(&[], |routing| routing.get(row)) }
    }

    /// All documents in order; none where the batch holds keys.
    pub fn iter(&self) -> impl Iterator<Item = RawKey<'a>> + use<'a> {
        let this = *self;
        (0..this.ids.len()).map(move |row| this.get(row))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn routing_may_start_anywhere_in_a_chunk() {
        let mut chunk = RawChunk::default();
        chunk.push(RawKey::id(b"a"), None);
        chunk.push(RawKey { id: b"b", routing: b"r" }, None);
        chunk.push(RawKey::id(b""), None);
        let batch = chunk.as_batch();
        let placed: Vec<&[u8]> = batch.iter().map(|key| key.placed()).collect();
        assert_eq!(placed, [b"a".as_slice(), b"r", b""]);
        chunk.clear();
        chunk.push(RawKey::id(b"a"), Some(7));
        assert_eq!(chunk.as_batch().routing(), None);
        assert_eq!(chunk.as_batch().weights(), Some([7_u64].as_slice()));
    }

    #[test]
    fn a_chunk_of_keys_has_no_ids() {
        let mut chunk = RawChunk::default();
        chunk.push_hashed(3);
        assert_eq!(chunk.len(), 1);
        assert_eq!(chunk.as_batch().hashed(), Some([3_u64].as_slice()));
        assert_eq!(chunk.as_batch().iter().count(), 0);
    }
}
