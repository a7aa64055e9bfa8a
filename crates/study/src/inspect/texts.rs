use shardlab_core::rows::{TextFacts, UuidCount};

use super::values::Values;

/// Characters of a value that are shown before it is cut.
const SHOWN: usize = 60;

/// Bytes of a text as people may read them, those that are no UTF-8 as `\xFF`, cut where it is long.
/// What could steer a terminal is left to whoever prints it.
pub(crate) fn shown(bytes: &[u8]) -> String {
    let mut text = String::new();
    // No character is longer than four bytes.
    for chunk in bytes.get(..4 * SHOWN).unwrap_or(bytes).utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            text.push_str(&format!("\\x{byte:02X}"));
        }
    }
    match text.char_indices().nth(SHOWN) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text,
    }
}

/// The version of a UUID in its form of 36 characters, with the variant that has versions.
pub(super) fn uuid_version(text: &[u8]) -> Option<u32> {
    let text: &[u8; 36] = text.try_into().ok()?;
    let fits = text.iter().enumerate().all(|(place, byte)| match place {
        8 | 13 | 18 | 23 => *byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    });
    let variant = matches!(text[19], b'8' | b'9' | b'a' | b'b' | b'A' | b'B');
    if fits && variant { char::from(text[14]).to_digit(16) } else { None }
}

/// Twenty letters of URL-safe base64, at least one of them beyond hexadecimal digits.
fn is_auto_id(text: &[u8]) -> bool {
    text.len() == 20
        && text.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
        && !text.iter().all(u8::is_ascii_hexdigit)
}

/// What the values look like as texts, and the bytes that all begin with; none for keys that need no
/// hashing.
pub(super) fn facts(values: &Values) -> Option<(TextFacts, usize)> {
    if values.are_keys() {
        return None;
    }
    let first = values.text(0);
    let (mut prefix, mut suffix) = (first.len(), first.len());
    let (mut shortest, mut longest) = (first.len(), first.len());
    let mut versions = [0_u64; 16];
    let mut auto_ids = 0;
    for value in 0..values.len() {
        let text = values.text(value);
        shortest = shortest.min(text.len());
        longest = longest.max(text.len());
        prefix = same(first.iter(), text.iter(), prefix);
        suffix = same(first.iter().rev(), text.iter().rev(), suffix);
        auto_ids += u64::from(is_auto_id(text));
        if let Some(version) = uuid_version(text) {
            versions[version as usize] += 1;
        }
    }
    // In a short text the same bytes could count for both ends.
    let suffix = suffix.min(shortest - prefix.min(shortest));
    let uuids =
        (0..).zip(versions).filter(|(_, count)| *count > 0).map(|(version, count)| UuidCount { version, count });
    let facts = TextFacts {
        shortest_bytes: u64::try_from(shortest).unwrap_or(u64::MAX),
        longest_bytes: u64::try_from(longest).unwrap_or(u64::MAX),
        common_prefix: shown(&first[..prefix]),
        common_suffix: shown(&first[first.len() - suffix..]),
        uuids: uuids.collect(),
        auto_ids,
    };
    Some((facts, prefix))
}

/// How many of the first `most` bytes are the same.
fn same<'a>(one: impl Iterator<Item = &'a u8>, other: impl Iterator<Item = &'a u8>, most: usize) -> usize {
    one.zip(other).take(most).take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uuids_tell_their_version() {
        assert_eq!(uuid_version(b"0198c1f2-7a3b-7cde-8f01-23456789abcd"), Some(7));
        assert_eq!(uuid_version(b"550e8400-e29b-41d4-a716-446655440000"), Some(4));
        assert_eq!(uuid_version(b"550e8400-e29b-41d4-c716-446655440000"), None);
        assert_eq!(uuid_version(b"550e8400e29b41d4a716446655440000"), None);
    }

    #[test]
    fn long_and_broken_texts_are_shown_safely() {
        assert_eq!(shown("é".repeat(1000).as_bytes()).chars().count(), SHOWN + 1);
        assert_eq!(shown(b"a\xFFb"), "a\\xFFb");
    }
}
