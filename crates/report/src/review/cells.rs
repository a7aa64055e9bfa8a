//! Pieces that several sections of a page are made of.

use shardlab_core::rows::{Candidate, CandidateRows, Review, percent};

use super::pictures::{Picture, Subject};
use crate::page::{Block, Cell, Span, text};

/// The pictures, by what they belong to.
pub(super) struct Pictures<'a>(pub(super) &'a [Picture]);

impl Pictures<'_> {
    pub(super) fn of(&self, subject: Subject, caption: &str) -> impl Iterator<Item = Block> + '_ {
        let caption = caption.to_owned();
        let of = self.0.iter().filter(move |picture| picture.subject == subject);
        of.map(move |picture| Block::figure(&picture.name, &picture.svg, text(&caption)))
    }
}

/// A number and its unit on one line.
pub(super) fn unbroken(words: impl AsRef<str>) -> String {
    words.as_ref().replace(' ', "\u{a0}")
}

/// The heading of a requirement, its bound on one line.
pub(super) fn bound(heading: &str) -> String {
    match heading.rsplit_once('≤') {
        Some((before, after)) => format!("{before}≤{}", unbroken(after)),
        None => heading.to_owned(),
    }
}

/// A part of all keys.
pub(super) fn fraction(value: f64) -> Cell {
    Cell::number(unbroken(percent(value)), value)
}

/// The ends of an interval with their unit once; none where they look alike.
pub(super) fn interval(low: &str, high: &str) -> Option<Vec<Span>> {
    let unit = high.find(' ').map_or("", |at| &high[at..]);
    let low = low.strip_suffix(unit).unwrap_or(low);
    (low != high.strip_suffix(unit).unwrap_or(high)).then(|| vec![text(format!("{} to {}", low, unbroken(high)))])
}

/// Sentences as points.
pub(super) fn list(sentences: &[String]) -> Block {
    Block::List(sentences.iter().map(|sentence| vec![text(sentence)]).collect())
}

/// A scheme as the first cell of a row.
pub(super) fn scheme(candidate: &Candidate) -> Cell {
    let cell = Cell::code(&candidate.scheme);
    match (&candidate.tuned_from, candidate.is_present) {
        (_, true) => cell.below(text("in use")),
        (Some(_), false) => cell.below(text("larger table")),
        (None, false) => cell,
    }
}

/// The candidates that serve the nodes.
pub(super) fn measured(review: &Review) -> impl Iterator<Item = (&Candidate, &CandidateRows)> + Clone {
    review.candidates.iter().filter_map(|candidate| Some((candidate, &**candidate.measured.as_ref()?)))
}

/// A cell of what is not known.
pub(super) fn dash() -> Cell {
    Cell::text("–")
}
