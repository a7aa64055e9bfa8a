//! Names and values from outside, made safe to print.

/// Characters of a value that are shown before it is cut.
const SHOWN: usize = 60;

/// Names of a list that are shown before it is cut.
const LISTED: usize = 12;

/// The bytes as text: control characters and characters that turn the direction of writing as
/// escapes, and bytes that are no UTF-8 as `\xFF`.
pub(crate) fn escaped(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            if c.is_control()
                || matches!(c, '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
            {
                text.extend(c.escape_default());
            } else {
                text.push(c);
            }
        }
        for byte in chunk.invalid() {
            text.push_str(&format!("\\x{byte:02X}"));
        }
    }
    text
}

/// As [`escaped`], cut after some characters.
pub(crate) fn short(bytes: &[u8]) -> String {
    // Four bytes is the longest a character can be, so a cut value never costs more than a few.
    let text = escaped(bytes.get(..4 * SHOWN).unwrap_or(bytes));
    match text.char_indices().nth(SHOWN) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text,
    }
}

/// Names with commas between, cut after some.
pub(crate) fn listed<'a>(names: impl ExactSizeIterator<Item = &'a [u8]>) -> String {
    let more = names.len().saturating_sub(LISTED);
    let mut text = names.take(LISTED).map(short).collect::<Vec<_>>().join(", ");
    if more > 0 {
        text.push_str(&format!(" and {more} more"));
    }
    text
}

/// The name that most looks like that of an id: what a hint proposes.
pub(crate) fn likely_id<'a>(names: impl Iterator<Item = &'a [u8]> + Clone) -> Option<&'a [u8]> {
    let rank = |name: &[u8]| {
        let name = name.to_ascii_lowercase();
        match name.rsplit(|&byte| byte == b'.').next().unwrap_or_default() {
            b"_id" => 0,
            b"id" => 1,
            b"uid" | b"uuid" | b"guid" | b"key" | b"_key" => 2,
            last if last.ends_with(b"id") || last.ends_with(b"key") => 3,
            _ => 4,
        }
    };
    // The first of the best, since `min_by_key` keeps the earlier one of two equals.
    names.min_by_key(|name| rank(name))
}

/// The name that differs from the wanted one in upper and lower case or in blanks around it alone.
pub(crate) fn misspelled<'a>(mut names: impl Iterator<Item = &'a [u8]>, wanted: &[u8]) -> Option<&'a [u8]> {
    names.find(|name| name.trim_ascii().eq_ignore_ascii_case(wanted.trim_ascii()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_steers_a_terminal_comes_through() {
        assert_eq!(escaped(b"a\x1b[31mb\n\xFF.csv"), "a\\u{1b}[31mb\\n\\xFF.csv");
        assert_eq!(escaped("Zoë\u{202E}gpj".as_bytes()), "Zoë\\u{202e}gpj");
    }

    #[test]
    fn long_values_are_cut_between_characters() {
        let long = "é".repeat(1000);
        assert_eq!(short(long.as_bytes()).chars().count(), SHOWN + 1);
        assert_eq!(short(b"abc"), "abc");
    }

    #[test]
    fn the_hint_prefers_what_looks_like_an_id() {
        let best = |names: &[&'static str]| likely_id(names.iter().map(|name| name.as_bytes()));
        assert_eq!(best(&["env", "uid"]), Some(b"uid".as_slice()));
        assert_eq!(best(&["userId", "_source.id"]), Some(b"_source.id".as_slice()));
        assert_eq!(best(&["env", "name"]), Some(b"env".as_slice()));
        assert_eq!(best(&[]), None);
    }
}
