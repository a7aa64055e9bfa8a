//! What stands around the tables of a study: how text from outside is made harmless, sizes, and the line
//! from which the study can be made again.

use shardlab_core::rows::{KeySet, counted};

use crate::escape::{for_markdown, for_terminal};
use crate::table::Format;
use shardlab_core::rows::bytes;

/// The escape for prose in a format.
pub(crate) fn escape_of(format: Format) -> fn(&str) -> String {
    if format == Format::Markdown { for_markdown } else { for_terminal }
}

/// What there is not.
pub(crate) fn dash() -> String {
    "–".to_owned()
}

/// Bytes, beyond 2^64 as they are.
pub(crate) fn size(size: u128) -> String {
    u64::try_from(size).map_or_else(|_| format!("{size} B"), bytes)
}

/// Bytes where they are known.
pub(crate) fn size_or_dash(known: Option<u128>) -> String {
    known.map_or_else(dash, size)
}

/// Seconds where they are known, and nothing where they are not.
pub(crate) fn seconds(known: Option<f64>) -> String {
    known.map_or_else(String::new, |seconds| format!("{seconds:.0} s"))
}

/// Sentences, one a line.
pub(crate) fn list(sentences: &[String], format: Format) -> String {
    let escape = escape_of(format);
    sentences.iter().map(|words| format!("- {}", escape(words))).collect::<Vec<_>>().join("\n")
}

/// Program, seed and digest: with them the study can be made again.
pub(crate) fn footer(tool: &str, seed: u64, keys: &KeySet) -> String {
    format!("{tool}, seed {seed}, key digest {}\n", keys.digest)
}

/// The keys of a study in its first line.
pub(crate) fn of_keys(keys: &KeySet) -> String {
    format!("{} from {}", counted(keys.accepted, "key"), keys.description)
}
