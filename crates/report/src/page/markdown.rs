//! A page as GitHub-flavoured Markdown, to be pasted into a pull request.

use std::fmt::Write as _;

use super::check::{Checked, PageError, check};
use super::glossary::{self, Piece};
use super::html::escaped;
use super::model::{Block, Cell, Page, PageTable, Span};
use super::visible;
use crate::escape::for_markdown;

/// The page as Markdown. Pictures are referred to as files `NAME.svg` in a folder, which is relative to
/// the place of the text; links within the page and terms are plain words, since headings of Markdown have
/// no names that can be relied on. The definitions of the terms stand at the end.
///
/// # Errors
/// The same as of [`page_html`](super::page_html), so that a page can be written in both forms or in none.
pub fn page_markdown(page: &Page, figures: &str) -> Result<String, PageError> {
    let checked = check(page)?;
    let writer = Writer { checked: &checked, figures: folder(figures) };
    let mut parts = vec![heading(1, &page.title)];
    parts.extend(page.lead.iter().map(|spans| paragraph(spans)));
    for section in &page.sections {
        parts.push(heading(2, &section.heading));
        writer.blocks(&section.blocks, 3, &mut parts);
    }
    definitions(&checked, &mut parts);
    parts.push(format!("Made by {}.", words(&page.generator)));
    let mut text = parts.join("\n\n");
    text.push('\n');
    Ok(text)
}

struct Writer<'a> {
    checked: &'a Checked,
    /// The folder of the pictures, percent-encoded, with a stroke at its end.
    figures: String,
}

impl Writer<'_> {
    fn blocks(&self, blocks: &[Block], level: usize, parts: &mut Vec<String>) {
        for block in blocks {
            self.block(block, level, parts);
        }
    }

    fn block(&self, block: &Block, level: usize, parts: &mut Vec<String>) {
        match block {
            Block::Paragraph(spans) => parts.push(paragraph(spans)),
            Block::List(points) => {
                parts.push(lines(points.iter().map(|spans| format!("- {}", paragraph(spans)))));
            }
            Block::Callout { kind, heading, blocks } => {
                let mut inner = vec![format!("**{}:** {}", kind.word(), strong(heading))];
                self.blocks(blocks, (level + 1).min(6), &mut inner);
                let quoted = inner.join("\n\n");
                parts.push(lines(quoted.lines().map(|line| format!("> {line}").trim_end().to_owned())));
            }
            Block::Table(content) => table(content, parts),
            Block::Figure(figure) => {
                if let Some(picture) = self.checked.pictures.get(&figure.name) {
                    parts.push(format!("![{}]({}{}.svg)", words(&picture.title), self.figures, figure.name));
                }
                if !figure.caption.is_empty() {
                    parts.push(paragraph(&figure.caption));
                }
            }
            Block::Command(line) => parts.push(fenced("sh", &visible(line))),
            Block::Listing { language, lines } => {
                let lines: Vec<String> = lines.iter().map(|line| visible(line)).collect();
                parts.push(fenced(language, &lines.join("\n")));
            }
            Block::Facts(facts) => {
                parts.push(lines(
                    facts.iter().map(|(name, spans)| format!("- {}: {}", strong(name), inline(spans, false))),
                ));
            }
            Block::Subheading(words) => parts.push(heading(level, words)),
            Block::Details { summary, blocks } => {
                parts.push(format!("<details>\n<summary>{}</summary>", unmentioned(&escaped(summary))));
                self.blocks(blocks, level, parts);
                parts.push("</details>".to_owned());
            }
        }
    }
}

/// Text as it is. A fence must be longer than any in the text.
fn fenced(language: &str, text: &str) -> String {
    let fence = "`".repeat(longest_run(text, '`').max(2) + 1);
    format!("{fence}{language}\n{text}\n{fence}")
}

fn table(table: &PageTable, parts: &mut Vec<String>) {
    parts.push(strong(&table.caption));
    let row = |cells: Vec<String>| format!("| {} |", cells.join(" | "));
    let mut rows = vec![
        row(table.columns.iter().map(|column| words(&column.heading)).collect()),
        row(table.columns.iter().map(|column| if column.numeric { "---:" } else { ":---" }.to_owned()).collect()),
    ];
    rows.extend(table.rows.iter().map(|cells| row(cells.iter().map(cell).collect())));
    parts.push(rows.join("\n"));
    if !table.footnotes.is_empty() {
        let notes = table.footnotes.iter().enumerate();
        parts.push(lines(notes.map(|(number, spans)| format!("- \\[{}\\] {}", number + 1, inline(spans, false)))));
    }
}

fn cell(cell: &Cell) -> String {
    let mut text = String::new();
    if let Some(mark) = cell.mark {
        let _ = write!(text, "{} {}", mark.symbol(), mark.word());
        if !cell.spans.is_empty() {
            text.push(' ');
        }
    }
    text.push_str(&inline(&cell.spans, true));
    for note in &cell.notes {
        let _ = write!(text, " \\[{note}\\]");
    }
    if !cell.below.is_empty() {
        let _ = write!(text, "<br>{}", inline(&cell.below, true));
    }
    text
}

fn definitions(checked: &Checked, parts: &mut Vec<String>) {
    if checked.terms.is_empty() {
        return;
    }
    parts.push(heading(2, "Definitions"));
    parts.push("As METHODOLOGY.md gives them, by its sections; those that this page uses.".to_owned());
    for (group, entries) in glossary::grouped(checked.terms.iter().copied()) {
        parts.push(heading(3, &group.section));
        if !group.context.is_empty() {
            parts.push(pieces(&group.context));
        }
        if !matches!(group.column.as_str(), "formula" | "definition") {
            parts.push(format!("Here: {}.", words(&group.column)));
        }
        parts.push(lines(entries.iter().map(|entry| {
            let names: Vec<String> = entry.names.iter().map(|name| code(name, false)).collect();
            format!("- {}: {}", names.join(", "), pieces(&entry.definition))
        })));
    }
}

fn pieces(pieces: &[Piece]) -> String {
    let piece = |piece: &Piece| match piece {
        Piece::Text(text) => words(text),
        Piece::Code(text) => code(text, false),
        Piece::Below(text) => format!("<sub>{}</sub>", words(text)),
    };
    unstructured(&pieces.iter().map(piece).collect::<String>())
}

fn lines(lines: impl Iterator<Item = String>) -> String {
    lines.collect::<Vec<_>>().join("\n")
}

fn heading(level: usize, text: &str) -> String {
    let words = words(text);
    let words = words.trim();
    // A sign at the end would be taken for the end of the heading.
    let words = words.strip_suffix('#').map_or_else(|| words.to_owned(), |before| format!("{before}\\#"));
    format!("{} {words}", "#".repeat(level))
}

fn paragraph(spans: &[Span]) -> String {
    unstructured(&inline(spans, false))
}

/// A line that begins no list, heading or code.
fn unstructured(line: &str) -> String {
    let line = line.trim_matches(' ');
    let digits = line.len() - line.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
    let (number, rest) = line.split_at(digits);
    if digits > 0 && rest.starts_with(['.', ')']) {
        return format!("{number}\\{rest}");
    }
    if line.starts_with(['-', '+', '=', '#']) { format!("\\{line}") } else { line.to_owned() }
}

fn inline(spans: &[Span], in_table: bool) -> String {
    let mut line = String::new();
    for (number, span) in spans.iter().enumerate() {
        match span {
            Span::Text(text) | Span::Term { words: text, .. } => line.push_str(&words(text)),
            Span::Strong(text) => {
                let begins = line.is_empty() || line.ends_with(' ');
                let ends = match spans.get(number + 1) {
                    None => true,
                    Some(Span::Text(next)) => next.starts_with(' '),
                    Some(_) => false,
                };
                line.push_str(&strong_between(text, begins, ends));
            }
            Span::Code(text) => line.push_str(&code(text, in_table)),
            Span::Link { words: text, href } if href.starts_with('#') => line.push_str(&words(text)),
            // Within angle brackets only they and line ends would need care, and the check allows neither.
            Span::Link { words: text, href } => {
                let _ = write!(line, "[{}](<{}>)", words(text), href.replace('&', "&amp;"));
            }
        }
    }
    line
}

/// Words without anything that Markdown, HTML or GitHub's own additions read.
fn words(text: &str) -> String {
    let safe = for_markdown(&visible(text)).replace("://", "\\://").replace('!', "\\!");
    // Letter by letter, since "www." may be written in capitals as well.
    let mut unlinked = String::with_capacity(safe.len());
    for letter in safe.chars() {
        if letter == '.' && ends_in_www(&unlinked) {
            unlinked.push('\\');
        }
        unlinked.push(letter);
    }
    unmentioned(&unlinked)
}

fn ends_in_www(text: &str) -> bool {
    text.len().checked_sub(3).and_then(|start| text.get(start..)).is_some_and(|end| end.eq_ignore_ascii_case("www"))
}

/// Text in which `@name` calls nobody and `#1` refers to nothing, which GitHub looks for after Markdown is
/// read. An empty comment parts the sign from what follows.
fn unmentioned(text: &str) -> String {
    let mut parted = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        parted.push(letter);
        let next = letters.peek().copied().unwrap_or(' ');
        // An escaped apostrophe or the like, `&#39;`, is none of these.
        if next.is_alphanumeric() && (letter == '@' || letter == '#' && !parted.ends_with("&#")) {
            parted.push_str("<!-- -->");
        }
    }
    parted
}

/// Words that matter more, in a line of their own.
fn strong(text: &str) -> String {
    strong_between(text.trim_matches(' '), true, true)
}

/// Words that matter more. Stars work where they touch letters or digits, and at the ends of words: whether
/// the words begin and end there is told.
fn strong_between(text: &str, begins: bool, ends: bool) -> String {
    let inner = text.trim_matches(' ');
    let (before, _) = text.split_once(inner).unwrap_or_default();
    let after = &text[before.len() + inner.len()..];
    let works = |letter: Option<char>, free: bool| {
        // Some letters, such as those in squares, are punctuation to Markdown.
        letter.is_some_and(|letter| letter.is_ascii_alphanumeric() || free && !letter.is_whitespace())
    };
    let starred = works(inner.chars().next(), begins || !before.is_empty())
        && works(inner.chars().next_back(), ends || !after.is_empty());
    if starred { format!("{before}**{}**{after}", words(inner)) } else { format!("<strong>{}</strong>", words(text)) }
}

/// What a machine reads or writes. Backticks where they need no care, else an element with escaped words.
fn code(text: &str, in_table: bool) -> String {
    let visible = visible(text);
    let needs_care = visible.is_empty()
        || visible.contains('`')
        || visible.starts_with(' ')
        || visible.ends_with(' ')
        || in_table && visible.contains(['|', '\\']);
    if needs_care { format!("<code>{}</code>", words(text)) } else { format!("`{visible}`") }
}

fn longest_run(text: &str, letter: char) -> usize {
    text.split(|other| other != letter).map(str::len).max().unwrap_or(0)
}

/// A folder as the beginning of an address.
fn folder(folder: &str) -> String {
    let mut encoded = String::new();
    for byte in folder.trim_end_matches('/').bytes() {
        if byte.is_ascii_alphanumeric() || b"-._/".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    if !encoded.is_empty() {
        encoded.push('/');
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_call_nobody_and_link_nowhere() {
        assert_eq!(words("@team #12 # 3 & a"), "@<!-- -->team #<!-- -->12 # 3 &amp; a");
        assert_eq!(words("https://a.b www.c WWW.d"), "https\\://a.b www\\.c WWW\\.d");
        assert_eq!(words("a![x](y)"), "a\\!\\[x\\](y)");
    }

    #[test]
    fn a_line_begins_nothing() {
        for (plain, safe) in
            [("- a", "\\- a"), ("12. a", "12\\. a"), ("1) a", "1\\) a"), ("    a", "a"), ("1.5", "1\\.5")]
        {
            assert_eq!(unstructured(plain), safe);
        }
    }

    #[test]
    fn code_stays_code() {
        assert_eq!(code("table:size=2", true), "`table:size=2`");
        assert_eq!(code("a|b", false), "`a|b`");
        assert_eq!(code("a|b", true), "<code>a\\|b</code>");
        assert_eq!(code("`", false), "<code>\\`</code>");
    }

    #[test]
    fn strong_words_are_starred_where_stars_are_read() {
        assert_eq!(strong("Even:"), "**Even:**");
        assert_eq!(strong_between("Even: ", false, false), "**Even:** ");
        assert_eq!(strong_between("(a)", false, true), "<strong>(a)</strong>");
        assert_eq!(strong_between("a", false, false), "**a**");
        assert_eq!(strong(" "), "<strong></strong>");
    }

    #[test]
    fn a_folder_is_encoded() {
        assert_eq!(folder("my figures (1)/"), "my%20figures%20%281%29/");
        assert_eq!(folder(""), "");
    }
}
