//! Untrusted text, made harmless for the place where it is shown.

use std::borrow::Cow;

/// For a terminal: control characters and the marks that turn the direction of text become
/// `\u{…}`, so that no id can move the cursor, change colours or hide what it is.
#[must_use]
pub fn for_terminal(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        if letter.is_control() || is_invisible(letter) {
            safe.extend(letter.escape_unicode());
        } else {
            safe.push(letter);
        }
    }
    safe
}

/// Direction marks and isolates, zero-width characters, line and paragraph separators, and the byte
/// order mark.
const fn is_invisible(letter: char) -> bool {
    matches!(letter, '\u{61C}' | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{FEFF}')
}

/// For a cell of a Markdown table: as for a terminal, and nothing that Markdown or HTML reads.
#[must_use]
pub fn for_markdown(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in for_terminal(text).chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '\\' | '|' | '`' | '*' | '_' | '[' | ']' | '~' | '$' => {
                safe.push('\\');
                safe.push(letter);
            }
            _ => safe.push(letter),
        }
    }
    safe
}

/// For a text cell of a CSV file: as for a terminal, where CSV is printed as well, and a cell that a
/// spreadsheet would read as a formula gets an apostrophe in front. So does one that already begins
/// with an apostrophe, so that the way back is always to remove one.
#[must_use]
pub fn for_csv(text: &str) -> String {
    let safe = for_terminal(text);
    match safe.chars().next() {
        Some('=' | '+' | '-' | '@' | '\'') => format!("'{safe}"),
        _ => safe,
    }
}

/// For finished JSON: what a terminal must not get, and what JSON may hold unescaped in its strings,
/// becomes `\u009b` and the like, so that every parser still reads the same text.
#[must_use]
pub fn for_json(json: &str) -> Cow<'_, str> {
    // A line feed outside of strings is layout, and within strings the serialiser has escaped it.
    let harmful = |letter: char| letter != '\n' && (letter.is_control() || is_invisible(letter));
    if !json.contains(harmful) {
        return Cow::Borrowed(json);
    }
    let mut safe = String::with_capacity(json.len() + 64);
    for letter in json.chars() {
        if harmful(letter) {
            // All of them lie below U+10000, where one escape is enough.
            safe.push_str(&format!("\\u{:04x}", u32::from(letter)));
        } else {
            safe.push(letter);
        }
    }
    Cow::Owned(safe)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_gets_no_control_characters() {
        assert_eq!(for_terminal("a\u{1b}[31mb\r\n"), "a\\u{1b}[31mb\\u{d}\\u{a}");
        assert_eq!(for_terminal("\u{202e}evil\u{feff}"), "\\u{202e}evil\\u{feff}");
        assert_eq!(for_terminal("Zoë 吉星"), "Zoë 吉星");
    }

    #[test]
    fn markdown_gets_no_markup() {
        assert_eq!(for_markdown("<script>|`x`"), r"&lt;script&gt;\|\`x\`");
    }

    #[test]
    fn a_spreadsheet_gets_no_formula() {
        assert_eq!(for_csv("=1+1"), "'=1+1");
        assert_eq!(for_csv("@x"), "'@x");
        assert_eq!(for_csv("'=x"), "''=x");
        assert_eq!(for_csv("id-1"), "id-1");
        assert_eq!(for_csv("\u{1b}[31m\n=1"), "\\u{1b}[31m\\u{a}=1");
    }

    #[test]
    fn json_keeps_its_text_and_loses_what_steers_a_terminal() {
        let json = serde_json::to_string("\u{1b}[31m\u{9b}2J\u{202e}\u{7f}\n吉").unwrap();
        let safe = for_json(&json);
        assert!(!safe.contains(|letter: char| letter.is_control() || is_invisible(letter)), "{safe}");
        assert_eq!(serde_json::from_str::<String>(&safe).unwrap(), "\u{1b}[31m\u{9b}2J\u{202e}\u{7f}\n吉");
        assert_eq!(for_json("{\n  \"a\": \"b\"\n}"), "{\n  \"a\": \"b\"\n}");
    }
}
