use shardlab_core::{KeyHasher, RawBatch, RawChunk, RawKey};
use shardlab_hash::{Xxh3, mix64};
use shardlab_keys::{BLOCK, Documents, Progress};

use crate::StudyError;

/// Different values in the order of their first arrival, each with its documents and their weight.
///
/// An open table of numbers finds the values; their texts stand back to back. For d values of b bytes
/// that is b + 16 d bytes, twice that while it grows, 11 to 22 bytes a value for the table, and 16 more
/// with weights.
#[derive(Debug, Default)]
pub(crate) struct Values {
    /// 0 for an empty slot, else the number of the value plus one above the low bits of its hash.
    slots: Vec<u64>,
    texts: Vec<u8>,
    /// Where each text ends; two texts a value where values are whole documents.
    ends: Vec<u64>,
    rows: Vec<u64>,
    /// Empty where documents have no weights.
    weights: Vec<u128>,
    form: Form,
}

/// What a value is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Form {
    /// What decides the place: the routing value or the id.
    #[default]
    Placed,
    /// Id and routing value together.
    Document,
    /// A 64-bit key that needs no hashing, as eight bytes.
    Key,
}

/// The bits of a slot that hold bits of the hash: as many as the largest table can read.
const TAG: u64 = 0xFFFF_FFFF;

/// Slots of the first table; every table is a power of two.
const FIRST_SLOTS: usize = 1 << 10;

fn wide(size: usize) -> u64 {
    u64::try_from(size).unwrap_or(u64::MAX)
}

impl Values {
    fn of(form: Form) -> Self {
        Self { form, ..Self::default() }
    }

    /// How many different values there are.
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// The documents of a value.
    pub(crate) fn rows(&self, value: usize) -> u64 {
        self.rows[value]
    }

    /// The weight of a value; none where documents have none.
    pub(crate) fn weight(&self, value: usize) -> Option<u128> {
        self.weights.get(value).copied()
    }

    pub(crate) fn is_weighted(&self) -> bool {
        !self.weights.is_empty()
    }

    pub(crate) fn total_rows(&self) -> u64 {
        self.rows.iter().sum()
    }

    pub(crate) fn total_weight(&self) -> Option<u128> {
        self.is_weighted().then(|| self.weights.iter().sum())
    }

    /// Whether values are 64-bit keys, which no hash touches.
    pub(crate) fn are_keys(&self) -> bool {
        self.form == Form::Key
    }

    /// What decides the place of a value.
    pub(crate) fn text(&self, value: usize) -> &[u8] {
        self.at(value).placed()
    }

    /// A value that is a number: a key, or a decimal text.
    pub(crate) fn number(&self, value: usize) -> Option<u64> {
        let text = self.text(value);
        match self.form {
            Form::Key => text.try_into().ok().map(u64::from_le_bytes),
            _ => shardlab_core::KeyFault::decimal(text).ok(),
        }
    }

    /// A value for people.
    pub(crate) fn shown(&self, value: usize) -> String {
        match self.form {
            Form::Key => self.number(value).unwrap_or_default().to_string(),
            _ => super::texts::shown(self.text(value)),
        }
    }

    fn at(&self, value: usize) -> RawKey<'_> {
        let fields = if self.form == Form::Document { 2 } else { 1 };
        let edge = |place: usize| -> usize {
            let end = if place == 0 { 0 } else { self.ends[place - 1] };
            usize::try_from(end).unwrap_or(usize::MAX)
        };
        let first = value * fields;
        let id = &self.texts[edge(first)..edge(first + 1)];
        let routing = if fields == 2 { &self.texts[edge(first + 1)..edge(first + 2)] } else { &[] };
        RawKey { id, routing }
    }

    /// Counts a document of a value. Returns the number of the value.
    fn add(&mut self, key: RawKey<'_>, weight: Option<u64>) -> usize {
        if self.len() >= self.slots.len() / 4 * 3 {
            self.grow();
        }
        let mask = self.slots.len() - 1;
        let tag = hash(&key) & TAG;
        let mut slot = first_slot(tag, mask);
        while let Some(value) = (self.slots[slot] >> TAG.count_ones()).checked_sub(1) {
            let value = usize::try_from(value).unwrap_or(usize::MAX);
            // The tag settles almost every comparison without a look at the text.
            if self.slots[slot] & TAG == tag && self.at(value) == key {
                self.rows[value] += 1;
                if let (Some(sum), Some(weight)) = (self.weights.get_mut(value), weight) {
                    *sum += u128::from(weight);
                }
                return value;
            }
            slot = (slot + 1) & mask;
        }
        let value = self.len();
        // More than 2^32 values would take more memory than their owner can have allowed.
        self.slots[slot] = wide(value + 1) << TAG.count_ones() | tag;
        self.texts.extend_from_slice(key.id);
        self.ends.push(wide(self.texts.len()));
        if self.form == Form::Document {
            self.texts.extend_from_slice(key.routing);
            self.ends.push(wide(self.texts.len()));
        }
        self.rows.push(1);
        self.weights.extend(weight.map(u128::from));
        value
    }

    fn grow(&mut self) {
        let length = (self.slots.len() * 2).max(FIRST_SLOTS);
        let mut slots = vec![0_u64; length];
        for &taken in self.slots.iter().filter(|&&slot| slot != 0) {
            let mut slot = first_slot(taken & TAG, length - 1);
            while slots[slot] != 0 {
                slot = (slot + 1) & (length - 1);
            }
            slots[slot] = taken;
        }
        self.slots = slots;
    }

    /// Bytes of heap.
    pub(crate) fn heap_bytes(&self) -> u64 {
        let words = (self.slots.capacity() + self.ends.capacity() + self.rows.capacity()) * size_of::<u64>();
        let sums = self.weights.capacity() * size_of::<u128>();
        wide(self.texts.capacity() + words + sums)
    }

    /// All values in the order of their first arrival, as batches to be placed. `work` gets the number
    /// of the first value of each.
    pub(crate) fn batches<E>(&self, mut work: impl FnMut(usize, &RawBatch<'_>) -> Result<(), E>) -> Result<(), E> {
        let mut chunk = RawChunk::default();
        let mut first = 0;
        while first < self.len() {
            chunk.clear();
            let end = (first + BLOCK).min(self.len());
            for value in first..end {
                match self.form {
                    Form::Key => chunk.push_hashed(self.number(value).unwrap_or_default()),
                    _ => chunk.push(self.at(value), None),
                }
            }
            work(first, &chunk.as_batch())?;
            first = end;
        }
        Ok(())
    }
}

fn hash(key: &RawKey<'_>) -> u64 {
    // XXH3 takes any bytes.
    let of = |bytes| Xxh3.hash(&RawKey::id(bytes)).unwrap_or_default();
    let id = of(key.id);
    if key.routing.is_empty() { id } else { mix64(id ^ mix64(of(key.routing))) }
}

fn first_slot(hash: u64, mask: usize) -> usize {
    // The low bits choose the slot, and the table is never longer than they reach.
    usize::try_from(hash & wide(mask)).unwrap_or(0)
}

/// A document, for people.
#[derive(Clone, Debug, Default)]
pub(crate) struct Heaviest {
    pub(crate) weight: u64,
    pub(crate) document: String,
}

/// Everything that is counted in one pass over the documents.
#[derive(Debug, Default)]
pub(crate) struct Census {
    /// What decides the place.
    pub(crate) placed: Values,
    /// Documents with a routing value; those without stand in `placed` by their ids.
    routed: Values,
    /// For each placed value, whether it is the id of a document without routing value; empty as long
    /// as no document has a routing value, when all are.
    ids: Vec<bool>,
    pub(crate) heaviest: Heaviest,
    has_routing: bool,
    has_ids: bool,
}

/// What a value of a census is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Grain {
    /// What decides the place, as nearly every scheme has it.
    Placed,
    /// Whole documents, for schemes that spread the documents of one routing value.
    Documents,
}

impl Census {
    /// Counts all documents.
    ///
    /// # Errors
    /// They cannot be read, there are none, or they need more memory than allowed.
    pub(crate) fn take(
        documents: &mut dyn Documents,
        grain: Grain,
        max_memory: u64,
        progress: &(dyn Fn(Progress) + Sync),
    ) -> Result<Self, StudyError> {
        let form = if grain == Grain::Placed { Form::Placed } else { Form::Document };
        let mut census = Self { placed: Values::of(form), routed: Values::of(Form::Document), ..Self::default() };
        let mut chunk = RawChunk::default();
        while documents.next_chunk(&mut chunk)? {
            census.add(&chunk.as_batch(), grain);
            progress(documents.progress());
            let needed = census.heap_bytes();
            if needed > max_memory {
                let what =
                    format!("counting the different values of the first {} documents", census.placed.total_rows());
                return Err(StudyError::Memory { what, needed: needed.into(), limit: max_memory });
            }
        }
        if census.placed.len() == 0 { Err(StudyError::NoKeys) } else { Ok(census) }
    }

    fn add(&mut self, batch: &RawBatch<'_>, grain: Grain) {
        if let Some(keys) = batch.hashed() {
            self.placed.form = Form::Key;
            self.has_ids = true;
            for key in keys {
                self.placed.add(RawKey::id(&key.to_le_bytes()), None);
            }
            return;
        }
        for (row, key) in batch.iter().enumerate() {
            let weight = batch.weights().map(|weights| weights[row]);
            if let Some(weight) = weight.filter(|&weight| weight > self.heaviest.weight) {
                self.heaviest = Heaviest { weight, document: super::texts::shown(key.id) };
            }
            if grain == Grain::Documents {
                self.placed.add(key, weight);
                continue;
            }
            let routed = !key.routing.is_empty();
            if routed && !self.has_routing {
                self.ids = vec![true; self.placed.len()];
            }
            self.has_routing |= routed;
            self.has_ids |= !routed;
            let value = self.placed.add(RawKey::id(key.placed()), weight);
            if routed {
                self.routed.add(key, None);
            }
            if self.has_routing {
                if value == self.ids.len() {
                    self.ids.push(false);
                }
                self.ids[value] |= !routed;
            }
        }
    }

    /// Different documents.
    pub(crate) fn distinct_documents(&self) -> u64 {
        if !self.has_routing {
            return wide(self.placed.len());
        }
        wide(self.routed.len() + self.ids.iter().filter(|&&id| id).count())
    }

    /// What decides the place, for people.
    pub(crate) fn placed_by(&self) -> &'static str {
        match (self.has_routing, self.has_ids) {
            _ if self.placed.are_keys() => "keys",
            (true, true) => "routing values and ids",
            (true, false) => "routing values",
            _ => "ids",
        }
    }

    pub(crate) fn heap_bytes(&self) -> u64 {
        self.placed.heap_bytes() + self.routed.heap_bytes() + wide(self.ids.capacity())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_table_counts_as_a_plain_map_does(
            documents in prop::collection::vec(("[ab]{0,3}", "[ab]{0,2}", 0_u64..9), 0..600),
        ) {
            let mut census = Census { routed: Values::of(Form::Document), ..Census::default() };
            let (mut placed, mut different) = (BTreeMap::new(), BTreeMap::new());
            for part in documents.chunks(7) {
                let mut chunk = RawChunk::default();
                for (id, routing, weight) in part {
                    let key = RawKey { id: id.as_bytes(), routing: routing.as_bytes() };
                    chunk.push(key, Some(*weight));
                    let (rows, sum) = placed.entry(key.placed()).or_insert((0_u64, 0_u128));
                    *rows += 1;
                    *sum += u128::from(*weight);
                    different.insert((id, routing), ());
                }
                census.add(&chunk.as_batch(), Grain::Placed);
            }
            prop_assert_eq!(census.placed.len(), placed.len());
            prop_assert_eq!(census.distinct_documents(), different.len() as u64);
            for value in 0..census.placed.len() {
                let counted = (census.placed.rows(value), census.placed.weight(value).unwrap());
                prop_assert_eq!(&counted, &placed[census.placed.text(value)]);
            }
        }
    }

    #[test]
    fn nothing_is_lost_while_the_table_grows_and_order_is_that_of_arrival() {
        let mut values = Values::default();
        for round in 0..2_u64 {
            for number in 0..5000_usize {
                assert_eq!(values.add(RawKey::id(number.to_string().as_bytes()), None), number);
                assert_eq!(values.rows(number), round + 1);
            }
        }
        assert_eq!(values.number(4999), Some(4999));
    }
}
