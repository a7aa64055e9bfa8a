//! Lines that fit a terminal.

/// Below so many columns nothing is wrapped: what is left would be shreds.
const NARROWEST: usize = 20;

/// The lines of a text that are at most `width` characters long, broken at spaces, and within a word
/// only where the word alone is longer. Spaces at a break are dropped.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let width = width.max(1);
    if text.chars().count() <= width {
        return vec![text.to_owned()];
    }
    let mut lines = vec![String::new()];
    let mut used = 0;
    for word in text.split(' ') {
        let mut word = word;
        let mut length = word.chars().count();
        if used > 0 {
            if used + 1 + length <= width {
                if let Some(line) = lines.last_mut() {
                    line.push(' ');
                    line.push_str(word);
                }
                used += 1 + length;
                continue;
            }
            lines.push(String::new());
        }
        while length > width {
            let cut = word.char_indices().nth(width).map_or(word.len(), |(place, _)| place);
            if let Some(line) = lines.last_mut() {
                line.push_str(&word[..cut]);
            }
            lines.push(String::new());
            word = &word[cut..];
            length -= width;
        }
        if let Some(line) = lines.last_mut() {
            line.push_str(word);
        }
        used = length;
    }
    lines
}

/// A text for a terminal of this width: lines that are too long go on in the next one, those of a list
/// below their first word. Tables must be rendered for the same width already.
#[must_use]
pub fn fit(text: &str, width: Option<u16>) -> String {
    let Some(width) = width.map(usize::from).filter(|&width| width >= NARROWEST) else { return text.to_owned() };
    let mut fitted = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let (words, end) = line.strip_suffix('\n').map_or((line, ""), |words| (words, "\n"));
        if words.chars().count() <= width {
            fitted.push_str(line);
            continue;
        }
        let body = words.trim_start_matches(' ');
        let margin = words.len() - body.len();
        let (mark, body) = body.strip_prefix("- ").map_or(("", body), |body| ("- ", body));
        let indent = margin + mark.len();
        for (place, part) in wrap(body, width.saturating_sub(indent)).iter().enumerate() {
            if place > 0 {
                fitted.push('\n');
            }
            let mark = if place == 0 { mark } else { "  ".get(..mark.len()).unwrap_or_default() };
            fitted.push_str(&" ".repeat(margin));
            fitted.push_str(mark);
            fitted.push_str(part);
        }
        fitted.push_str(end);
    }
    fitted
}

/// How wide each column becomes where all together have room for `room` characters: no wider than it
/// needs, no narrower than `least` as long as that fits.
pub(crate) fn share_out(needs: &[usize], least: &[usize], room: usize) -> Vec<usize> {
    let mut widths: Vec<usize> = needs.iter().zip(least).map(|(&need, &least)| need.min(least)).collect();
    let mut left = room.saturating_sub(widths.iter().sum());
    // Columns that lack little are filled first, so that as few as possible have to be wrapped.
    let mut order: Vec<usize> = (0..needs.len()).collect();
    order.sort_by_key(|&column| needs[column] - widths[column]);
    for (place, &column) in order.iter().enumerate() {
        let share = left / (order.len() - place);
        let more = (needs[column] - widths[column]).min(share);
        widths[column] += more;
        left -= more;
    }
    widths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_at_spaces_and_long_words_anywhere() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("abcdefgh ij", 3), ["abc", "def", "gh", "ij"]);
        assert_eq!(wrap("äöü äöü", 3), ["äöü", "äöü"]);
        assert_eq!(wrap("", 5), [""]);
        assert_eq!(wrap("  as it is ", 20), ["  as it is "]);
    }

    #[test]
    fn a_list_goes_on_below_its_first_word_and_short_lines_stay() {
        let text = "Reading:\n- one two three four five six\n  indented words that go on and on\n";
        let fitted = fit(text, Some(20));
        assert_eq!(fitted, "Reading:\n- one two three four\n  five six\n  indented words\n  that go on and on\n");
        assert_eq!(fit(text, None), text);
        assert_eq!(fit(text, Some(5)), text, "too narrow to be of use");
    }

    #[test]
    fn columns_get_what_they_need_before_the_widest_is_cut() {
        assert_eq!(share_out(&[5, 50, 8], &[5, 10, 8], 40), [5, 27, 8]);
        assert_eq!(share_out(&[5, 6], &[5, 6], 40), [5, 6]);
        assert_eq!(share_out(&[50, 50], &[10, 10], 10), [10, 10], "what does not fit is left to the eye");
    }
}
