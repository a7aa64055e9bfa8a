//! A review as pages, pictures and files.

mod cells;
mod costs;
mod csv;
mod page;
mod pictures;
mod summary;

use shardlab_core::rows::{Judged, Judgement, Review, ReviewStudies, ReviewUnit};

use crate::figures::ChartError;
use crate::page::{Mark, PageError, page_html, page_markdown};

pub use summary::review_text;

/// Why a review could not be written down.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReviewFilesError {
    /// A picture could not be drawn.
    #[error(transparent)]
    Chart(#[from] ChartError),
    /// The page could not be built.
    #[error(transparent)]
    Page(#[from] PageError),
    /// The rows are no JSON.
    #[error("the review cannot be written as JSON: {0}")]
    Json(#[from] serde_json::Error),
}

/// All files of a review.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReviewFiles {
    /// Each file by its path in the folder, with `/` between folders.
    pub all: Vec<(String, String)>,
}

const HTML: &str = "review.html";
const MARKDOWN: &str = "review.md";
const JSON: &str = "review.json";
const DATA: &str = "data/";
const FIGURES: &str = "figures/";

impl ReviewFiles {
    /// Whether a review could have written a file of this path.
    #[must_use]
    pub fn is_name(path: &str) -> bool {
        let is_stem = |stem: &str| {
            !stem.is_empty()
                && stem.chars().all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-')
        };
        let in_folder = |folder: &str, ending: &str| {
            path.strip_prefix(folder).and_then(|name| name.strip_suffix(ending)).is_some_and(is_stem)
        };
        [HTML, MARKDOWN, JSON, "data", "figures"].contains(&path)
            || in_folder(DATA, ".csv")
            || in_folder(FIGURES, ".svg")
    }

    /// The name of the review as JSON.
    pub const JSON: &'static str = JSON;

    /// The review as JSON.
    #[must_use]
    pub fn json(&self) -> &str {
        self.all.iter().find(|(name, _)| name == JSON).map_or("", |(_, contents)| contents)
    }

    /// What stands beside the pages, in words.
    #[must_use]
    pub fn beside(&self) -> String {
        let count = |folder: &str| self.all.iter().filter(|(name, _)| name.starts_with(folder)).count();
        format!("{} tables in {DATA} and {} pictures in {FIGURES}", count(DATA), count(FIGURES))
    }
}

/// A review as one HTML file, Markdown, JSON, tables and pictures. All are the same bytes everywhere unless
/// times were measured.
///
/// # Errors
/// A picture or a page cannot be made.
pub fn review_files(review: &Review, studies: &ReviewStudies) -> Result<ReviewFiles, ReviewFilesError> {
    let pictures = pictures::draw(review, studies)?;
    let page = page::page(review, studies, &pictures);
    let json = serde_json::to_string_pretty(review)? + "\n";
    let mut all = vec![
        (HTML.to_owned(), page_html(&page)?),
        (MARKDOWN.to_owned(), page_markdown(&page, FIGURES.trim_end_matches('/'))?),
        (JSON.to_owned(), crate::escape::for_json(&json).into_owned()),
    ];
    all.extend(csv::tables(review, studies).into_iter().map(|(name, table)| (format!("{DATA}{name}.csv"), table)));
    all.extend(pictures.into_iter().map(|picture| (format!("{FIGURES}{}.svg", picture.name), picture.svg)));
    Ok(ReviewFiles { all })
}

/// A number and the interval it stands in; what is met or not without a number is empty.
fn value_and_range(judged: &Judged, unit: ReviewUnit) -> (String, Option<String>) {
    let value = judged.value.map(|value| unit.shown(value)).unwrap_or_default();
    let range = judged.low.zip(judged.high).map(|(low, high)| (unit.shown(low), unit.shown(high)));
    // An interval that looks like one number says nothing more.
    let range = range.filter(|(low, high)| low != high).map(|(low, high)| format!("{low} to {high}"));
    (value, range)
}

const fn mark(judgement: Judgement) -> Mark {
    match judgement {
        Judgement::Met => Mark::Met,
        Judgement::NotMet => Mark::NotMet,
        Judgement::Uncertain => Mark::Uncertain,
        Judgement::NotMeasured => Mark::NotApplicable,
    }
}
