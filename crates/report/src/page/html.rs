//! A page as one HTML file that needs nothing else.

use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Serde, Value};
use minijinja::{AutoEscape, Environment, UndefinedBehavior};
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use super::check::{Checked, Kind, PageError, check};
use super::glossary::{self, Piece};
use super::model::{Block, CalloutKind, Cell, Mark, Page, PageTable, Section, Span};
use super::visible;
use crate::figures::style_sheet;

const TEMPLATE: &str = "page.html";

/// Tables of more columns are set smaller.
const DENSE: usize = 6;

/// The template, compiled once. What it writes is made visible and escaped unless Rust code here has
/// marked it as finished markup, which it does for pictures, the style sheet and the script alone.
static TEMPLATES: LazyLock<Result<Environment<'static>, String>> = LazyLock::new(|| {
    let mut templates = Environment::new();
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).keep_trailing_newline(true).build();
    templates.set_syntax(syntax.map_err(|error| error.to_string())?);
    templates.set_undefined_behavior(UndefinedBehavior::Strict);
    templates.set_auto_escape_callback(|_| AutoEscape::Html);
    templates.set_formatter(|out, _, value| {
        let written = match value.as_str() {
            Some(text) if value.is_safe() => out.write_str(text),
            Some(text) => out.write_str(&escaped(text)),
            None if value.is_number() => out.write_str(&value.to_string()),
            None if value.is_safe() => out.write_str(&value.to_string()),
            None => {
                return Err(minijinja::Error::new(minijinja::ErrorKind::BadEscape, "a page holds text and numbers"));
            }
        };
        Ok(written?)
    });
    templates.add_template(TEMPLATE, include_str!("page.html")).map_err(|error| error.to_string())?;
    Ok(templates)
});

/// The page as one HTML5 file: nothing is loaded from elsewhere, and a content security policy forbids
/// it. It is also well-formed XML, reads and prints without scripts, and the same page gives the same
/// bytes.
///
/// # Errors
/// When the page uses a term that METHODOLOGY.md does not define, a link that is neither `#section`, nor
/// a relative path, nor https, a name twice, a table whose rows do not fit its columns or its footnotes,
/// or a figure that none of this crate's charts could have drawn. The error names it.
pub fn page_html(page: &Page) -> Result<String, PageError> {
    let checked = check(page)?;
    let template = match &*TEMPLATES {
        Ok(templates) => templates.get_template(TEMPLATE),
        Err(reason) => Err(minijinja::Error::new(minijinja::ErrorKind::SyntaxError, reason.clone())),
    };
    let view = View::new(page, &checked);
    template.and_then(|template| template.render(Serde(view))).map_err(|error| PageError(Kind::Template(error)))
}

/// Text as it stands in HTML and XML, between tags and in attributes.
pub(super) fn escaped(text: &str) -> String {
    let visible = visible(text);
    let mut safe = String::with_capacity(visible.len());
    for letter in visible.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            _ => safe.push(letter),
        }
    }
    safe
}

/// What the template reads.
#[derive(Serialize)]
struct View<'a> {
    policy: String,
    style: Value,
    script: Value,
    title: &'a str,
    generator: &'a str,
    lead: Vec<Vec<Piecewise<'a>>>,
    sections: Vec<SectionView<'a>>,
    definitions: Vec<GroupView<'a>>,
}

#[derive(Serialize)]
struct SectionView<'a> {
    id: &'a str,
    heading: &'a str,
    blocks: Vec<BlockView<'a>>,
}

#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum BlockView<'a> {
    Paragraph { spans: Vec<Piecewise<'a>> },
    List { points: Vec<Vec<Piecewise<'a>>> },
    Callout { class: &'static str, word: &'static str, level: u8, heading: &'a str, blocks: Vec<BlockView<'a>> },
    Table(TableView<'a>),
    Figure { name: &'a str, title: &'a str, markup: Value, caption: Vec<Piecewise<'a>> },
    Command { line: &'a str },
    Listing { lines: &'a [String] },
    Facts { facts: Vec<FactView<'a>> },
    Subheading { level: u8, words: &'a str },
    Details { summary: &'a str, blocks: Vec<BlockView<'a>> },
}

#[derive(Serialize)]
struct FactView<'a> {
    name: &'a str,
    spans: Vec<Piecewise<'a>>,
}

/// A piece of a line.
#[derive(Serialize)]
struct Piecewise<'a> {
    kind: &'static str,
    words: &'a str,
    href: String,
}

#[derive(Serialize)]
struct TableView<'a> {
    id: String,
    caption: &'a str,
    class: &'static str,
    columns: Vec<ColumnView<'a>>,
    rows: Vec<Vec<CellView<'a>>>,
    footnotes: Vec<Vec<Piecewise<'a>>>,
}

#[derive(Serialize)]
struct ColumnView<'a> {
    heading: Piecewise<'a>,
    class: &'static str,
}

#[derive(Serialize)]
struct CellView<'a> {
    spans: Vec<Piecewise<'a>>,
    sort: Option<String>,
    mark: Option<MarkView>,
    below: Vec<Piecewise<'a>>,
    notes: &'a [usize],
    class: &'static str,
}

#[derive(Serialize)]
struct MarkView {
    class: &'static str,
    symbol: &'static str,
    word: &'static str,
}

#[derive(Serialize)]
struct GroupView<'a> {
    section: &'a str,
    context: Vec<Piecewise<'a>>,
    column: &'a str,
    entries: Vec<EntryView<'a>>,
}

#[derive(Serialize)]
struct EntryView<'a> {
    id: &'a str,
    names: &'a [String],
    definition: Vec<Piecewise<'a>>,
}

impl<'a> View<'a> {
    fn new(page: &'a Page, checked: &'a Checked) -> Self {
        // Paper is light, whatever the reader prefers on a screen.
        let figures = style_sheet().replace("@media (", "@media screen and (");
        let style = format!("{}{figures}", include_str!("page.css"));
        let script = include_str!("page.js").to_owned();
        let hash = |text: &str| BASE64.encode(Sha256::digest(text));
        let policy = format!(
            "default-src 'none'; style-src 'sha256-{}'; script-src 'sha256-{}'; img-src data:; base-uri 'none'; form-action 'none'",
            hash(&style),
            hash(&script)
        );
        let mut maker = Maker { checked, tables: 0 };
        Self {
            policy,
            style: Value::from_safe_string(style),
            script: Value::from_safe_string(script),
            title: &page.title,
            generator: &page.generator,
            lead: page.lead.iter().map(|spans| spans_view(spans)).collect(),
            sections: page.sections.iter().map(|section| maker.section(section)).collect(),
            definitions: glossary::grouped(checked.terms.iter().copied())
                .into_iter()
                .map(|(group, entries)| GroupView {
                    section: &group.section,
                    context: pieces_view(&group.context),
                    column: if matches!(group.column.as_str(), "formula" | "definition") { "" } else { &group.column },
                    entries: entries
                        .into_iter()
                        .map(|entry| EntryView {
                            id: &entry.id,
                            names: &entry.names,
                            definition: pieces_view(&entry.definition),
                        })
                        .collect(),
                })
                .collect(),
        }
    }
}

/// Numbers the tables of a page, so that their footnotes can be linked to.
struct Maker<'a> {
    checked: &'a Checked,
    tables: usize,
}

impl<'a> Maker<'a> {
    fn section(&mut self, section: &'a Section) -> SectionView<'a> {
        SectionView { id: &section.id, heading: &section.heading, blocks: self.blocks(&section.blocks, 3) }
    }

    /// Blocks whose headings are of a level.
    fn blocks(&mut self, blocks: &'a [Block], level: u8) -> Vec<BlockView<'a>> {
        blocks.iter().filter_map(|block| self.block(block, level)).collect()
    }

    fn block(&mut self, block: &'a Block, level: u8) -> Option<BlockView<'a>> {
        Some(match block {
            Block::Paragraph(spans) => BlockView::Paragraph { spans: spans_view(spans) },
            Block::List(points) => BlockView::List { points: points.iter().map(|spans| spans_view(spans)).collect() },
            Block::Callout { kind, heading, blocks } => BlockView::Callout {
                class: match kind {
                    CalloutKind::Answer => "answer",
                    CalloutKind::Warning => "warning",
                    CalloutKind::Note => "note",
                },
                word: kind.word(),
                level,
                heading,
                blocks: self.blocks(blocks, (level + 1).min(6)),
            },
            Block::Table(table) => BlockView::Table(self.table(table)),
            Block::Figure(figure) => {
                // The check has read it already.
                let picture = self.checked.pictures.get(&figure.name)?;
                BlockView::Figure {
                    name: &figure.name,
                    title: &picture.title,
                    markup: Value::from_safe_string(picture.markup.clone()),
                    caption: spans_view(&figure.caption),
                }
            }
            Block::Command(line) => BlockView::Command { line },
            Block::Listing { lines, .. } => BlockView::Listing { lines },
            Block::Facts(facts) => BlockView::Facts {
                facts: facts.iter().map(|(name, spans)| FactView { name, spans: spans_view(spans) }).collect(),
            },
            Block::Subheading(words) => BlockView::Subheading { level, words },
            Block::Details { summary, blocks } => BlockView::Details { summary, blocks: self.blocks(blocks, level) },
        })
    }

    fn table(&mut self, table: &'a PageTable) -> TableView<'a> {
        self.tables += 1;
        let numeric = |number: usize| table.columns.get(number).is_some_and(|column| column.numeric);
        TableView {
            id: format!("table-{}", self.tables),
            caption: &table.caption,
            class: match (table.rows.len() > 1, table.columns.len() > DENSE) {
                (true, true) => "sortable dense",
                (true, false) => "sortable",
                (false, true) => "dense",
                (false, false) => "",
            },
            columns: table
                .columns
                .iter()
                .map(|column| {
                    let heading = match column.term {
                        Some(term) => term_view(&column.heading, term),
                        None => Piecewise { kind: "text", words: &column.heading, href: String::new() },
                    };
                    ColumnView { class: class(column.numeric, column.heading.chars().count() > 18), heading }
                })
                .collect(),
            rows: table
                .rows
                .iter()
                .map(|cells| cells.iter().enumerate().map(|(number, cell)| cell_view(cell, numeric(number))).collect())
                .collect(),
            footnotes: table.footnotes.iter().map(|spans| spans_view(spans)).collect(),
        }
    }
}

fn cell_view(cell: &Cell, numeric: bool) -> CellView<'_> {
    let long = is_long(&spans_view(&cell.spans), 30) || is_long(&spans_view(&cell.below), 30);
    CellView {
        spans: spans_view(&cell.spans),
        // As JavaScript reads it.
        sort: cell.sort.map(|value| value.to_string().replace("inf", "Infinity")),
        mark: cell.mark.map(|mark| MarkView {
            class: match mark {
                Mark::Met => "met",
                Mark::NotMet => "not-met",
                Mark::Uncertain => "uncertain",
                Mark::NotApplicable => "not-applicable",
            },
            symbol: mark.symbol(),
            word: mark.word(),
        }),
        below: spans_view(&cell.below),
        notes: &cell.notes,
        class: class(numeric, long),
    }
}

/// Whether it is so much text that a column of it must be wide enough for several words.
fn is_long(pieces: &[Piecewise<'_>], most: usize) -> bool {
    pieces.iter().map(|piece| piece.words.chars().count()).sum::<usize>() > most
}

const fn class(numeric: bool, long: bool) -> &'static str {
    match (numeric, long) {
        (true, true) => "number long",
        (true, false) => "number",
        (false, true) => "long",
        (false, false) => "",
    }
}

fn spans_view(spans: &[Span]) -> Vec<Piecewise<'_>> {
    spans
        .iter()
        .map(|span| match span {
            Span::Text(words) => Piecewise { kind: "text", words, href: String::new() },
            Span::Strong(words) => Piecewise { kind: "strong", words, href: String::new() },
            Span::Code(words) => Piecewise { kind: "code", words, href: String::new() },
            Span::Term { words, term } => term_view(words, term),
            Span::Link { words, href } => {
                let kind = if href.starts_with("https:") { "away" } else { "link" };
                Piecewise { kind, words, href: href.clone() }
            }
        })
        .collect()
}

fn term_view<'a>(words: &'a str, term: &str) -> Piecewise<'a> {
    // The check has found every term.
    let href = glossary::find(term).map(|place| format!("#{}", glossary::entry(place).id)).unwrap_or_default();
    Piecewise { kind: "term", words, href }
}

fn pieces_view(pieces: &[Piece]) -> Vec<Piecewise<'_>> {
    pieces
        .iter()
        .map(|piece| match piece {
            Piece::Text(words) => Piecewise { kind: "text", words, href: String::new() },
            Piece::Code(words) => Piecewise { kind: "code", words, href: String::new() },
            Piece::Below(words) => Piecewise { kind: "below", words, href: String::new() },
        })
        .collect()
}
