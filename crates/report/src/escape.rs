//! Untrusted text, made harmless for the place where it is shown.

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

/// For a text cell of a CSV file: a cell that a spreadsheet would read as a formula gets an
/// apostrophe in front, and so does one that already begins with an apostrophe, so that the way back
/// is always to remove one.
#[must_use]
pub fn for_csv(text: &str) -> String {
    match text.chars().next() {
        Some('=' | '+' | '-' | '@' | '\t' | '\r' | '\n' | '\'') => format!("'{text}"),
        _ => text.to_owned(),
    }
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
    }
}
