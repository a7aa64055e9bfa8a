use shardlab_core::KeyHasher;

use crate::{Djb2, EsMurmur3, Fnv1a, Identity, Java, Murmur3, Xxh3};

/// The hash that is used where nothing is said and the scheme brings none.
pub const DEFAULT: &str = "xxh3";

/// All names that [`by_name`] knows, the default first.
pub const NAMES: &[&str] = &["xxh3", "es-murmur3", "murmur3", "fnv1a", "djb2", "java", "identity"];

/// There is no hash of that name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownHash {
    /// What was asked for.
    pub name: String,
}

impl std::fmt::Display for UnknownHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "there is no hash {:?}; the hashes are {}", self.name, NAMES.join(", "))
    }
}

impl std::error::Error for UnknownHash {}

/// The hash of that name.
///
/// # Errors
/// There is none.
pub fn by_name(name: &str) -> Result<Box<dyn KeyHasher>, UnknownHash> {
    Ok(match name {
        "xxh3" => Box::new(Xxh3),
        "es-murmur3" => Box::new(EsMurmur3),
        "murmur3" => Box::new(Murmur3),
        "fnv1a" => Box::new(Fnv1a),
        "djb2" => Box::new(Djb2),
        "java" => Box::new(Java),
        "identity" => Box::new(Identity),
        _ => return Err(UnknownHash { name: name.to_owned() }),
    })
}
