//! What the benches share: one way to make keys, one list of subjects, one check, one clock setting.
#![allow(dead_code, reason = "every bench is a crate of its own and uses a part of this")]

use std::time::Duration;

use criterion::Criterion;
use shardlab_core::{KeyHasher, Members, NodeId, RawChunk, RawKey, Scheme, Sharder};
pub(crate) use shardlab_harness::random_keys;

/// Enough that no branch predictor learns them: their seeds stand in every id of a record.
pub(crate) const KEYS: usize = 1 << 16;

/// The settings of every bench: half a second of warm-up and one second for a point. Fewer resamples
/// than criterion's default, since 300 points of a hundred thousand would take minutes of their own.
pub(crate) fn criterion() -> Criterion {
    Criterion::default()
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(1))
        .sample_size(20)
        .nresamples(10_000)
        .configure_from_args()
}

/// The letters of automatic ids.
const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// `length` letters drawn from a key.
fn id(mut state: u64, length: usize) -> String {
    let mut text = String::with_capacity(length);
    while text.len() < length {
        state = shardlab_hash::mix64(state.wrapping_add(1));
        for letter in state.to_le_bytes().iter().take(length - text.len()) {
            text.push(char::from(LETTERS[usize::from(letter & 63)]));
        }
    }
    text
}

/// Ids of one length, as Elasticsearch makes them of 20 letters.
pub(crate) fn ids_of_one_length(count: usize, length: usize) -> Vec<String> {
    random_keys(count, 20).into_iter().map(|key| id(key, length)).collect()
}

/// Ids of mixed lengths. Their lengths follow those of the 4,499,322 names in the npm package
/// all-the-package-names 2.0.2578 as far as a few quantiles go, straight between them and without the
/// last percent, which reaches 214; the letters are random, which those of names are not.
pub(crate) fn ids_of_mixed_lengths(count: usize) -> Vec<String> {
    const QUANTILES: [(u64, u64); 8] = [(0, 1), (5, 7), (25, 13), (50, 18), (75, 25), (95, 38), (99, 59), (100, 60)];
    random_keys(count, 21)
        .into_iter()
        .map(|key| {
            let percent = key % 100;
            let above = QUANTILES.iter().position(|&(at, _)| at > percent).unwrap_or(QUANTILES.len() - 1);
            let ((from, least), (to, most)) = (QUANTILES[above - 1], QUANTILES[above]);
            let length = least + (most - least) * (percent - from) / (to - from);
            id(key, usize::try_from(length).expect("a length below 61"))
        })
        .collect()
}

/// A chunk of documents with these ids.
pub(crate) fn chunk<'a>(ids: impl IntoIterator<Item = &'a [u8]>) -> RawChunk {
    let mut chunk = RawChunk::default();
    ids.into_iter().for_each(|id| chunk.push(RawKey::id(id), None));
    chunk
}

/// A membership named "0" to "n−1".
pub(crate) fn dense(nodes: u32) -> Members {
    Members::dense(nodes).expect("a valid number of nodes")
}

/// The scheme of a spec.
pub(crate) fn scheme(spec: &str) -> Box<dyn Scheme> {
    shardlab_schemes::parse(spec).expect("a spec of ours").scheme
}

/// The sharder of a spec with so many nodes, as the registry builds it.
pub(crate) fn sharder(spec: &str, nodes: u32) -> Box<dyn Sharder> {
    scheme(spec).build(&dense(nodes)).expect("a spec that can be built")
}

/// A scheme of the registry: its canonical spec, itself and a sharder of it.
pub(crate) type Built = (String, Box<dyn Scheme>, Box<dyn Sharder>);

/// Every scheme of the registry that can be built for so many nodes, checked. What cannot be built has
/// no time: Elasticsearch ends at 1024 shards.
pub(crate) fn subjects(nodes: u32) -> Vec<Built> {
    let members = dense(nodes);
    let keys = random_keys(4096, 7);
    let rows = shardlab_schemes::comparison_rows().into_iter().filter_map(|scheme| {
        let sharder = scheme.build(&members).ok()?;
        check(&*sharder, &keys);
        Some((scheme.spec(), scheme, sharder))
    });
    rows.collect()
}

/// The hash in front of a scheme where nobody asks for another.
pub(crate) fn hasher_of(scheme: &dyn Scheme) -> Box<dyn KeyHasher> {
    scheme.adapt_hasher(scheme.native_hasher().unwrap_or_else(|| Box::new(shardlab_hash::Xxh3)))
}

/// Outside any timed span: a batch answers what single lookups answer, and no node gets everything.
pub(crate) fn check(sharder: &dyn Sharder, keys: &[u64]) {
    let mut out = vec![NodeId(0); keys.len()];
    sharder.shard_many(keys, &mut out);
    let differs = keys.iter().zip(&out).find(|(key, node)| sharder.shard(**key) != **node);
    assert!(differs.is_none(), "a batch differs from a lookup: {differs:?}");
    let members = sharder.members().len();
    assert!(out.iter().all(|node| node.0 < members), "a node that is not there");
    assert!(members == 1 || out.iter().any(|node| *node != out[0]), "all keys went to one node");
}
