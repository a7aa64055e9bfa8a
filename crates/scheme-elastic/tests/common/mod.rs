//! Builds schemes from options and reads tables of reference answers.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
#![allow(dead_code, reason = "each test file uses its own part")]

use shardlab_core::{Hashed, Members, NodeId, Placer, RawChunk, RawKey, Scheme, Sharder};

/// The scheme with these options, written as in a spec.
pub(crate) fn scheme(options: &str) -> Box<dyn Scheme> {
    let pairs = options.split(',').filter(|pair| !pair.is_empty()).map(|pair| pair.split_once('=').unwrap());
    pairs.fold(shardlab_scheme_elastic::scheme(), |scheme, (option, value)| scheme.with(option, value).unwrap())
}

/// The index of so many shards.
pub(crate) fn build(options: &str, shards: u32) -> Box<dyn Sharder> {
    scheme(options).build(&Members::dense(shards).unwrap()).unwrap()
}

/// The whole way from a document to its shard, as the tool goes it.
pub(crate) fn placer(options: &str, shards: u32) -> Hashed {
    let scheme = scheme(options);
    Hashed {
        hasher: scheme.adapt_hasher(scheme.native_hasher().unwrap()),
        sharder: scheme.build(&Members::dense(shards).unwrap()).unwrap(),
    }
}

/// The shards of some documents.
pub(crate) fn place<'a>(placer: &dyn Placer, documents: impl IntoIterator<Item = (&'a str, &'a str)>) -> Vec<u32> {
    let mut chunk = RawChunk::default();
    for (id, routing) in documents {
        chunk.push(RawKey { id: id.as_bytes(), routing: routing.as_bytes() }, None);
    }
    let mut out = vec![NodeId(u32::MAX); chunk.len()];
    placer.place_many(&chunk.as_batch(), &mut out).unwrap();
    out.into_iter().map(|node| node.0).collect()
}

/// The shards of documents without routing values.
pub(crate) fn place_ids<T: AsRef<str>>(options: &str, shards: u32, ids: &[T]) -> Vec<u32> {
    place(&placer(options, shards), ids.iter().map(|id| (id.as_ref(), "")))
}

/// How many documents each shard holds.
pub(crate) fn counts(shards: u32, places: &[u32]) -> Vec<usize> {
    let mut counts = vec![0; shards as usize];
    for &place in places {
        counts[place as usize] += 1;
    }
    counts
}

/// The columns of every row of a table.
pub(crate) fn rows(table: &str) -> Vec<Vec<&str>> {
    let rows: Vec<Vec<&str>> = table
        .lines()
        .filter(|line| !line.starts_with('#') && !line.is_empty())
        .map(|line| line.split('\t').collect())
        .collect();
    assert!(!rows.is_empty());
    rows
}

/// A column that is a number.
pub(crate) fn number(text: &str) -> u32 {
    text.parse().unwrap_or_else(|_| panic!("{text:?} is no number"))
}

/// A column that is a list of numbers.
pub(crate) fn numbers(text: &str) -> Vec<u32> {
    text.split(',').map(number).collect()
}

/// A column that is a JSON string; null is no routing value.
pub(crate) fn string(text: &str) -> String {
    serde_json::from_str::<Option<String>>(text).unwrap().unwrap_or_default()
}

/// The generation of a version.
pub(crate) fn generation(created: &str) -> shardlab_scheme_elastic::Generation {
    shardlab_scheme_elastic::Created::parse(created).unwrap().generation()
}
