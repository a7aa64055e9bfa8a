use shardlab_core::rows::{KeySet, Skipped};
use shardlab_core::{RawBatch, RawChunk, RawKey};

use crate::digest::Digest;
use crate::error::BadRecord;
use crate::{RecordFault, shown};

/// Everything that is counted while documents pass: read = accepted + skipped at any time.
#[derive(Default)]
pub(crate) struct Tally {
    digest: Digest,
    read: u64,
    accepted: u64,
    with_routing: u64,
    consecutive_duplicates: u64,
    skips: Skips,
    last_id: Vec<u8>,
    last_routing: Vec<u8>,
    last_hashed: u64,
}

/// Records that were left out, by reason in the order in which reasons were first met.
#[derive(Default)]
pub(crate) struct Skips {
    count: u64,
    reasons: Vec<Reason>,
}

struct Reason {
    field: Option<String>,
    reason: &'static str,
    shown: Skipped,
}

impl Skips {
    /// Counts a record that is left out.
    pub(crate) fn skip(&mut self, bad: &BadRecord) {
        self.count += 1;
        let reason = bad.fault.reason();
        if let Some(known) = self.reasons.iter_mut().find(|known| known.is(reason, bad.field.as_deref())) {
            known.shown.count += 1;
            return;
        }
        let mut text = bad.field.as_ref().map_or_else(|| reason.to_owned(), |field| format!("{field}: {reason}"));
        if let RecordFault::Missing { present: Some(present) } = &bad.fault {
            // What the first such record holds is the best clue to the field that was meant.
            text.push_str(&format!("; the fields there are {present}"));
        }
        let first_at = format!("{}:{}", bad.file, bad.line);
        let shown = Skipped { reason: text, count: 1, first_at };
        self.reasons.push(Reason { field: bad.field.clone(), reason, shown });
    }

    /// Adds what was left out of later records, and leaves nothing behind.
    fn take_in(&mut self, later: &mut Self) {
        self.count += std::mem::take(&mut later.count);
        for reason in later.reasons.drain(..) {
            match self.reasons.iter_mut().find(|known| known.is(reason.reason, reason.field.as_deref())) {
                Some(known) => known.shown.count += reason.shown.count,
                None => self.reasons.push(reason),
            }
        }
    }
}

impl Reason {
    fn is(&self, reason: &str, field: Option<&str>) -> bool {
        self.reason == reason && self.field.as_deref() == field
    }
}

impl Tally {
    /// Counts a document and appends it to the chunk.
    pub(crate) fn accept(&mut self, key: RawKey<'_>, weight: Option<u64>, requests: Option<u64>, chunk: &mut RawChunk) {
        self.count(key, weight, requests);
        chunk.push(key, weight);
        if let Some(requests) = requests {
            chunk.set_requests(requests);
        }
    }

    /// Counts the documents of a chunk, and with them what was left out among them.
    pub(crate) fn take_in(&mut self, chunk: &RawBatch<'_>, skips: &mut Skips) {
        let mut weights = chunk.weights().map(|weights| weights.iter().copied());
        let mut requests = chunk.requests().map(|requests| requests.iter().copied());
        for key in chunk.iter() {
            let weight = weights.as_mut().and_then(Iterator::next);
            self.count(key, weight, requests.as_mut().and_then(Iterator::next));
        }
        self.read += skips.count;
        self.skips.take_in(skips);
    }

    fn count(&mut self, key: RawKey<'_>, weight: Option<u64>, requests: Option<u64>) {
        self.digest.document(&key, weight, requests);
        if self.accepted > 0 && self.last_id == key.id && self.last_routing == key.routing {
            self.consecutive_duplicates += 1;
        } else {
            self.last_id.clear();
            self.last_id.extend_from_slice(key.id);
            self.last_routing.clear();
            self.last_routing.extend_from_slice(key.routing);
        }
        self.read += 1;
        self.accepted += 1;
        self.with_routing += u64::from(!key.routing.is_empty());
    }

    /// Counts keys that need no hashing and appends them to the chunk.
    pub(crate) fn accept_hashed(&mut self, keys: impl Iterator<Item = u64>, chunk: &mut RawChunk) {
        let keys = chunk.extend_hashed(keys);
        let Some((&first, &last)) = keys.first().zip(keys.last()) else { return };
        self.digest.hashed(keys);
        let repeats = keys.windows(2).map(|pair| u64::from(pair[0] == pair[1])).sum::<u64>();
        self.consecutive_duplicates += repeats + u64::from(self.accepted > 0 && self.last_hashed == first);
        self.last_hashed = last;
        let count = u64::try_from(keys.len()).unwrap_or(u64::MAX);
        self.read += count;
        self.accepted += count;
    }

    pub(crate) const fn read(&self) -> u64 {
        self.read
    }

    pub(crate) const fn accepted(&self) -> u64 {
        self.accepted
    }

    pub(crate) const fn with_routing(&self) -> u64 {
        self.with_routing
    }

    pub(crate) fn key_set(&self, description: &str, notes: Vec<String>) -> KeySet {
        KeySet {
            description: shown::escaped(description.as_bytes()),
            digest: self.digest.hex(),
            read: self.read,
            accepted: self.accepted,
            skipped: self.skips.reasons.iter().map(|reason| reason.shown.clone()).collect(),
            consecutive_duplicates: self.consecutive_duplicates,
            distinct: None,
            distinct_heap_bytes: None,
            with_routing: self.with_routing,
            notes,
        }
    }
}
