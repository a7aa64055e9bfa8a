//! Places keys one by one with any scheme and prints the sum of the answers: the program whose
//! instructions `cargo xtask instructions` counts, so that what it counts can also be run and timed.
//!
//! ```sh
//! cargo run --release -p shardlab-schemes --example lookups -- ring:vnodes=200 1000 1000000
//! cargo run --release -p shardlab-schemes --example lookups -- ring:vnodes=200 1000 1000000 hashed
//! ```
//!
//! The last word makes it hash an id of 20 digits before each lookup.

use std::error::Error;
use std::hint::black_box;

use shardlab_core::{KeyHasher, Members, RawKey, Sharder};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let usage = "lookups SPEC NODES COUNT [hashed]";
    let [spec, nodes, count, way @ ..] = arguments.as_slice() else { return Err(usage.into()) };
    let scheme = shardlab_schemes::parse(spec)?.scheme;
    let sharder = scheme.build(&Members::dense(nodes.parse()?)?)?;
    let count: u64 = count.parse()?;
    let golden = 0x9E37_79B9_7F4A_7C15_u64;
    let keys: Vec<u64> = (1..=count).map(|i| shardlab_hash::mix64(i.wrapping_mul(golden))).collect();
    let sum = match way {
        [] => sum_of_lookups(&*sharder, &keys),
        [word] if word == "hashed" => {
            let hasher = scheme.adapt_hasher(scheme.native_hasher().unwrap_or_else(|| Box::new(shardlab_hash::Xxh3)));
            let ids: Vec<String> = keys.iter().map(|key| format!("{key:020}")).collect();
            sum_of_hashed_lookups(&*hasher, &*sharder, &ids)
        }
        _ => return Err(usage.into()),
    };
    println!("{sum}");
    Ok(())
}

/// Kept apart from everything else, so that a counter can be told its name.
#[inline(never)]
fn sum_of_lookups(sharder: &dyn Sharder, keys: &[u64]) -> u64 {
    keys.iter().fold(0, |sum, &key| sum + u64::from(sharder.shard(black_box(key)).0))
}

/// The same with hashing.
#[inline(never)]
fn sum_of_hashed_lookups(hasher: &dyn KeyHasher, sharder: &dyn Sharder, ids: &[String]) -> u64 {
    ids.iter().fold(0, |sum, id| {
        let key = hasher.hash(&RawKey::id(black_box(id.as_bytes()))).unwrap_or_default();
        sum + u64::from(sharder.shard(key).0)
    })
}
