//! Text in pictures: made harmless, measured, cut and broken into lines.

use std::fmt::Write as _;

use crate::escape::for_terminal;

/// For the text of an SVG picture, before its markup is escaped: as for a terminal, and without the two
/// characters beyond those that no XML document may hold.
pub(super) fn harmless(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in for_terminal(text).chars() {
        if matches!(letter, '\u{FFFE}' | '\u{FFFF}') {
            safe.extend(letter.escape_unicode());
        } else {
            safe.push(letter);
        }
    }
    safe
}

/// About how wide a text is at a size in pixels, rather too wide than too narrow: which font a reader
/// has is not known, and this is a wide one.
pub(super) fn width(text: &str, size: f64) -> f64 {
    text.chars().map(advance).sum::<f64>() * size
}

fn advance(letter: char) -> f64 {
    match letter {
        ' ' | '\u{A0}' | ',' | '.' | ':' | ';' | '\'' | '!' | '|' | 'i' | 'j' | 'l' => 0.33,
        'f' | 't' | 'r' | '(' | ')' | '[' | ']' | '-' | '/' | '"' | 'I' => 0.43,
        'm' | 'w' | 'M' | 'W' | '%' | '@' | '…' | '→' => 0.97,
        'A'..='Z' => 0.72,
        '\0'..='\u{2FF}' => 0.62,
        '\u{1100}'.. => 1.05,
        _ => 0.75,
    }
}

/// The text, cut to a width with a mark where something is missing. Escape it first.
pub(super) fn cut(text: &str, size: f64, room: f64) -> String {
    if width(text, size) <= room {
        return text.to_owned();
    }
    let mut kept = String::new();
    let mut left = room - advance('…') * size;
    for letter in text.chars() {
        left -= advance(letter) * size;
        if left < 0.0 {
            break;
        }
        kept.push(letter);
    }
    kept.truncate(kept.trim_end().len());
    kept + "…"
}

/// The text in lines of a width, at most so many; the last one is cut where more would follow, and so is
/// a word that is wider than a line.
pub(super) fn lines(text: &str, size: f64, room: f64, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut rest = String::new();
    // A number and its sign of percent stay together.
    let glued = text.replace(" %", "\u{A0}%");
    for word in glued.split(' ') {
        if let Some(last) = lines.last_mut()
            && width(last, size) + width(" ", size) + width(word, size) <= room
        {
            let _ = write!(last, " {word}");
        } else if lines.len() < most {
            lines.push(cut(word, size, room));
        } else if let Some(last) = lines.last_mut() {
            // Long enough to be cut, which marks that more would follow.
            let _ = write!(rest, " {word}");
            let cut_line = cut(&format!("{last}{rest}"), size, room);
            *last = cut_line;
            break;
        }
    }
    lines
}

/// A number of keys where there is little room: three digits and a unit.
pub(super) fn short(count: f64) -> String {
    const STEPS: [(&str, f64); 4] = [("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)];
    match STEPS.iter().find(|(_, size)| count >= *size) {
        Some((unit, size)) => {
            let value = count / size;
            let decimals = if value >= 99.95 {
                0
            } else if value >= 9.995 {
                1
            } else {
                2
            };
            format!("{value:.decimals$} {unit}")
        }
        None if count < 10.0 && count.fract() != 0.0 => format!("{count:.2}"),
        None => format!("{count:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_xml_forbids_is_written_out() {
        assert_eq!(harmless("a\0\u{FFFF}\u{202E}b\u{1b}[31m"), "a\\u{0}\\u{ffff}\\u{202e}b\\u{1b}[31m");
    }

    #[test]
    fn a_cut_text_says_so_and_keeps_its_room() {
        assert_eq!(cut("node-17", 12.0, 200.0), "node-17");
        let cut_text = cut(&"node-".repeat(40), 12.0, 100.0);
        assert!(cut_text.ends_with('…') && width(&cut_text, 12.0) <= 100.0, "{cut_text}");
    }

    #[test]
    fn lines_are_broken_at_spaces_and_the_last_is_cut() {
        let broken = lines("one two three four five six seven", 10.0, 60.0, 2);
        assert_eq!(broken.len(), 2);
        assert!(broken.iter().all(|line| width(line, 10.0) <= 60.0), "{broken:?}");
        assert!(broken[1].ends_with('…'), "{broken:?}");
        assert_eq!(lines("all of it fits", 10.0, 500.0, 2), ["all of it fits"]);
    }

    #[test]
    fn short_numbers_have_three_digits() {
        assert_eq!([short(7.0), short(999.0), short(12_345.0), short(2e6)], ["7", "999", "12.3 k", "2.00 M"]);
        assert_eq!([short(0.25), short(99_960.0)], ["0.25", "100 k"]);
    }
}
