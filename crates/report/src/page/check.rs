//! What a page must fulfil before it is written in any form.

use std::collections::{BTreeMap, BTreeSet};

use super::figure::{self, Picture};
use super::glossary::{self, Place};
use super::model::{Block, Cell, Page, PageTable, Span};
use crate::escape::for_terminal;

/// A page that cannot be written, since something in it is wrong.
#[derive(Debug, thiserror::Error)]
#[error("cannot write the page: {0}")]
pub struct PageError(pub(super) Kind);

#[derive(Debug, thiserror::Error)]
pub(super) enum Kind {
    /// A term that no table of METHODOLOGY.md defines.
    #[error("METHODOLOGY.md does not define the term {0:?}")]
    Term(&'static str),
    /// A link that could run a program or loads something in the clear.
    #[error("the link \"{}\" is neither #section, nor a relative path, nor https", for_terminal(.0))]
    Link(String),
    /// A link to a place that the page does not have.
    #[error("the page has no section \"{}\" to link to", for_terminal(.0))]
    Target(String),
    /// A name of a section that no link can lead to.
    #[error("\"{}\" is no name of a section: lower-case letters, digits and hyphens, and none that the page uses itself", for_terminal(.0))]
    SectionName(String),
    /// Two sections or figures of one name.
    #[error("{0:?} names two parts of the page")]
    Twice(String),
    /// A name of a picture that is no file name everywhere.
    #[error("\"{}\" is no name of a figure: lower-case letters, digits, hyphens, underscores", for_terminal(.0))]
    FigureName(String),
    /// A picture that no chart has drawn.
    #[error("the figure {name:?}: {reason}")]
    Figure { name: String, reason: String },
    /// A row with too few or too many cells.
    #[error("row {row} of the table \"{}\" has {found} cells for {expected} columns", for_terminal(.table))]
    Row { table: String, row: usize, found: usize, expected: usize },
    /// A table in which nothing could stand.
    #[error("the table \"{}\" has no columns", for_terminal(.0))]
    NoColumns(String),
    /// A reference to a footnote that is not there.
    #[error("row {row} of the table \"{}\" refers to footnote {number} of {footnotes}", for_terminal(.table))]
    Footnote { table: String, row: usize, number: usize, footnotes: usize },
    /// A place to sort by that is none.
    #[error("row {row} of the table \"{}\" is sorted by a value that is not a number", for_terminal(.table))]
    Sort { table: String, row: usize },
    /// The template could not be filled.
    #[error("its template fails: {0}")]
    Template(#[from] minijinja::Error),
}

/// Names that the page gives to its own parts.
const OWN: [&str; 3] = ["contents", "definitions", "top"];

/// What was found while a page was checked.
#[derive(Debug, Default)]
pub(super) struct Checked {
    /// The definitions that the page uses, in the order of METHODOLOGY.md.
    pub(super) terms: BTreeSet<Place>,
    /// Its pictures by name.
    pub(super) pictures: BTreeMap<String, Picture>,
}

/// Goes over the whole page.
pub(super) fn check(page: &Page) -> Result<Checked, PageError> {
    let mut sections = BTreeSet::new();
    for section in &page.sections {
        if !is_section_name(&section.id) || OWN.contains(&section.id.as_str()) {
            return Err(PageError(Kind::SectionName(section.id.clone())));
        }
        if !sections.insert(section.id.as_str()) {
            return Err(PageError(Kind::Twice(section.id.clone())));
        }
    }
    let mut visit = Visit { sections, checked: Checked::default() };
    let found = page
        .lead
        .iter()
        .try_for_each(|spans| visit.spans(spans))
        .and_then(|()| page.sections.iter().try_for_each(|section| visit.blocks(&section.blocks)));
    found.map_err(PageError)?;
    Ok(visit.checked)
}

struct Visit<'a> {
    sections: BTreeSet<&'a str>,
    checked: Checked,
}

impl Visit<'_> {
    fn blocks(&mut self, blocks: &[Block]) -> Result<(), Kind> {
        blocks.iter().try_for_each(|block| match block {
            Block::Paragraph(spans) => self.spans(spans),
            Block::List(points) => points.iter().try_for_each(|spans| self.spans(spans)),
            Block::Callout { blocks, .. } | Block::Details { blocks, .. } => self.blocks(blocks),
            Block::Table(table) => self.table(table),
            Block::Figure(figure) => {
                self.spans(&figure.caption)?;
                let name = &figure.name;
                if !is_figure_name(name) {
                    return Err(Kind::FigureName(name.clone()));
                }
                let picture = figure::picture(name, &figure.svg)
                    .map_err(|reason| Kind::Figure { name: name.clone(), reason: for_terminal(&reason) })?;
                match self.checked.pictures.insert(name.clone(), picture) {
                    Some(_) => Err(Kind::Twice(name.clone())),
                    None => Ok(()),
                }
            }
            Block::Facts(facts) => facts.iter().try_for_each(|(_, spans)| self.spans(spans)),
            Block::Command(_) | Block::Listing { .. } | Block::Subheading(_) => Ok(()),
        })
    }

    fn table(&mut self, table: &PageTable) -> Result<(), Kind> {
        let caption = || table.caption.clone();
        if table.columns.is_empty() {
            return Err(Kind::NoColumns(caption()));
        }
        table.columns.iter().filter_map(|column| column.term).try_for_each(|term| self.term(term))?;
        for (row, cells) in (1..).zip(&table.rows) {
            if cells.len() != table.columns.len() {
                let (found, expected) = (cells.len(), table.columns.len());
                return Err(Kind::Row { table: caption(), row, found, expected });
            }
            for Cell { spans, sort, below, notes, mark: _ } in cells {
                self.spans(spans)?;
                self.spans(below)?;
                if sort.is_some_and(f64::is_nan) {
                    return Err(Kind::Sort { table: caption(), row });
                }
                let footnotes = table.footnotes.len();
                if let Some(&number) = notes.iter().find(|number| !(1..=footnotes).contains(number)) {
                    return Err(Kind::Footnote { table: caption(), row, number, footnotes });
                }
            }
        }
        table.footnotes.iter().try_for_each(|spans| self.spans(spans))
    }

    fn spans(&mut self, spans: &[Span]) -> Result<(), Kind> {
        spans.iter().try_for_each(|span| match span {
            Span::Term { term, .. } => self.term(term),
            Span::Link { href, .. } if !is_harmless(href) => Err(Kind::Link(href.clone())),
            Span::Link { href, .. } => match href.strip_prefix('#') {
                Some(target) if !self.sections.contains(target) => Err(Kind::Target(target.to_owned())),
                _ => Ok(()),
            },
            Span::Text(_) | Span::Strong(_) | Span::Code(_) => Ok(()),
        })
    }

    fn term(&mut self, term: &'static str) -> Result<(), Kind> {
        self.checked.terms.insert(glossary::find(term).ok_or(Kind::Term(term))?);
        Ok(())
    }
}

/// Names of the page's own making begin with `term-` and `figure-`.
fn is_section_name(name: &str) -> bool {
    name.starts_with(|letter: char| letter.is_ascii_lowercase())
        && name.chars().all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-')
        && !["term-", "figure-", "table-"].iter().any(|own| name.starts_with(own))
}

fn is_figure_name(name: &str) -> bool {
    let letter = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit();
    name.starts_with(letter) && name.chars().all(|other| letter(other) || matches!(other, '-' | '_'))
}

/// Whether a link can do nothing but lead somewhere: within the page, to a file beside it, or to a page
/// that is fetched in a safe way. Letters that an address may not hold have to be percent-encoded before.
fn is_harmless(href: &str) -> bool {
    let allowed = |letter: char| letter.is_ascii_alphanumeric() || "-._~:/?#@!$&'()*+,;=%".contains(letter);
    if href.is_empty() || !href.chars().all(allowed) {
        return false;
    }
    if let Some(rest) = href.strip_prefix("https://") {
        return rest.starts_with(|letter: char| letter.is_ascii_alphanumeric());
    }
    // A colon in the first part of a path would make it a scheme, and two strokes a host.
    let first = href.split(['/', '?', '#']).next().unwrap_or_default();
    !href.starts_with('/') && !first.contains(':')
}

#[cfg(test)]
mod tests {
    use super::super::model::{Column, Figure, Section, link, term, text};
    use super::*;

    #[test]
    fn links_lead_somewhere_and_do_nothing_else() {
        for good in ["#load", "study.json", "figures/load.svg#x", "../a/b?c=d", "https://example.org/a(b)"] {
            assert!(is_harmless(good), "{good}");
        }
        for bad in [
            "",
            "javascript:alert(1)",
            "JavaScript:alert(1)",
            "java\tscript:alert(1)",
            " javascript:alert(1)",
            "data:text/html,x",
            "http://example.org",
            "//example.org",
            "\\\\example.org",
            "/etc/passwd",
            "https://",
            "https:example.org",
            "a\"onclick=\"b",
            "a b",
            "\u{202e}a",
            "file:///etc/passwd",
        ] {
            assert!(!is_harmless(bad), "{bad:?}");
        }
    }

    #[test]
    fn what_is_wrong_in_a_page_is_said() {
        let page = |block: Block| Page::new("t", "g").section(Section::new("one", "One").block(block));
        let said = |page: &Page| check(page).expect_err("it is wrong").to_string();
        let line = |span: Span| page(Block::paragraph(span));
        assert!(said(&line(term("x", "no_such_term"))).contains("does not define the term \"no_such_term\""));
        assert!(said(&line(link("x", "javascript:a"))).contains("neither"));
        assert!(said(&line(link("x", "#two"))).contains("no section \"two\""));
        let mut table = PageTable::new("cap\u{1b}", [Column::text("a"), Column::number("b")]);
        table.row([Cell::text("1")]);
        let message = said(&page(table.clone().into()));
        assert!(message.contains("row 1 of the table \"cap\\u{1b}\" has 1 cells for 2 columns"), "{message}");
        table.rows[0].push(Cell::text("2").footnote(1));
        assert!(said(&page(table.clone().into())).contains("refers to footnote 1 of 0"));
        table.rows[0][1] = Cell::number("?", f64::NAN);
        assert!(said(&page(table.clone().into())).contains("not a number"));
        table.columns[1].term = Some("nonsense");
        assert!(said(&page(table.into())).contains("nonsense"));
        assert!(said(&page(PageTable::new("c", []).into())).contains("no columns"));
        assert!(said(&page(Block::figure("../x", "", text("")))).contains("no name of a figure"));
        assert!(said(&page(Block::Figure(Figure { name: "x".to_owned(), ..Figure::default() }))).contains("SVG"));
        for bad in ["", "One", "1", "contents", "term-a", "a b", "é"] {
            let message = said(&Page::new("t", "g").section(Section::new(bad, "One")));
            assert!(message.contains("no name of a section"), "{message}");
        }
        let twice = Page::new("t", "g").section(Section::new("one", "One")).section(Section::new("one", "Two"));
        assert!(said(&twice).contains("names two parts"));
    }
}
