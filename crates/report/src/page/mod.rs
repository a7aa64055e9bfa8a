//! Pages: what a report holds, apart from the form in which it is read.
//!
//! A [`Page`] is built once and written as one self-contained HTML file ([`page_html`]) or as Markdown for
//! a pull request ([`page_markdown`]). Both list the definitions of the terms that the page uses, taken
//! from METHODOLOGY.md.

mod check;
mod figure;
mod glossary;
mod html;
mod markdown;
mod model;

pub use check::PageError;
pub use html::page_html;
pub use markdown::page_markdown;
pub use model::{
    Block, CalloutKind, Cell, Column, Figure, Mark, Page, PageTable, Section, Span, code, link, strong, term, text,
};

use crate::escape::for_terminal;

/// Text as a page shows it, before its markup is escaped: as on a terminal, and without the two
/// characters beyond those that no XML document may hold.
fn visible(text: &str) -> String {
    let safe = for_terminal(text);
    if !safe.contains(['\u{FFFE}', '\u{FFFF}']) {
        return safe;
    }
    safe.replace('\u{FFFE}', "\\u{fffe}").replace('\u{FFFF}', "\\u{ffff}")
}
