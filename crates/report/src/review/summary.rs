//! A review in short, for a terminal or a pull request.

use shardlab_core::rows::{Candidate, Judgement, Review};

use super::value_and_range;
use crate::escape::{for_markdown, for_terminal};
use crate::table::{Format, Table};

/// The decision in short: the answer, each scheme against each requirement, why, and what would change it. As CSV
/// it is one row for each scheme and requirement.
#[must_use]
pub fn review_text(review: &Review, format: Format, width: Option<u16>) -> String {
    if format == Format::Csv {
        return super::csv::decision(review);
    }
    let escape = if format == Format::Markdown { for_markdown } else { for_terminal };
    let mut text = String::new();
    let mut block = |words: &str| {
        text.push_str(words.trim_end());
        text.push_str("\n\n");
    };
    let strong = |words: &str| if format == Format::Markdown { format!("**{words}**") } else { words.to_owned() };
    block(&escape(&review.question));
    block(&strong(&escape(&review.decision.headline)));
    let mut reasons: Vec<String> = Vec::new();
    if !review.requirements.is_empty() {
        block(&table(review, &mut reasons).render(format, width));
    }
    if !reasons.is_empty() {
        let lines = reasons.iter().enumerate().map(|(place, reason)| format!("[{}] {}", place + 1, escape(reason)));
        // Two spaces at the end of a line keep it a line in Markdown.
        let end = if format == Format::Markdown { "  \n" } else { "\n" };
        block(&lines.collect::<Vec<_>>().join(end));
    }
    let decision = &review.decision;
    for (heading, sentences) in [
        ("Why:", &decision.reasons),
        ("What is better at what:", &decision.trade_offs),
        ("What would change the answer:", &decision.would_change),
        ("Notes:", &review.notes),
    ] {
        if !sentences.is_empty() {
            let lines: Vec<String> = sentences.iter().map(|sentence| format!("- {}", escape(sentence))).collect();
            block(&format!("{heading}\n{}", lines.join("\n")));
        }
    }
    let inputs = &review.inputs;
    let keys = escape(&inputs.keys.description);
    text.push_str(&format!(
        "{} keys from {keys}, {}, seed {}, key digest {}\n",
        inputs.keys.accepted, review.tool, inputs.seed, inputs.keys.digest
    ));
    text
}

fn table(review: &Review, reasons: &mut Vec<String>) -> Table {
    let headings = std::iter::once("scheme".to_owned())
        .chain(review.requirements.iter().map(|requirement| requirement.heading.clone()));
    let mut table = Table::new(headings.chain(["answer".to_owned()]));
    for candidate in &review.candidates {
        let judged = review.requirements.iter().zip(&candidate.judged).map(|(requirement, judged)| {
            let (value, range) = value_and_range(judged, requirement.unit);
            let mark = super::mark(judged.judgement);
            let mut words = format!("{} {}", mark.symbol(), mark.word());
            if !value.is_empty() {
                words = format!("{} {value}", mark.symbol());
            }
            if let Some(range) = range {
                words.push_str(&format!(" ({range})"));
            }
            let is_bare = judged.value.is_none() && judged.judgement != Judgement::Met;
            if is_bare && !judged.words.is_empty() {
                let place = reasons.iter().position(|known| *known == judged.words).unwrap_or_else(|| {
                    reasons.push(judged.words.clone());
                    reasons.len() - 1
                });
                words.push_str(&format!(" [{}]", place + 1));
            }
            words
        });
        let cells: Vec<String> = judged.collect();
        table.row(std::iter::once(name(candidate)).chain(cells).chain([standing(candidate).to_owned()]));
    }
    table
}

/// The spec, with what is special about it.
pub(super) fn name(candidate: &Candidate) -> String {
    let mut name = candidate.scheme.clone();
    if candidate.is_present {
        name.push_str(" (in use)");
    }
    if candidate.tuned_from.is_some() {
        name.push_str(" (larger table)");
    }
    name
}

pub(super) const fn standing(candidate: &Candidate) -> &'static str {
    use shardlab_core::rows::Standing;
    match candidate.standing {
        Standing::Remains => "remains",
        Standing::Undecided => "undecided",
        Standing::Out => "out",
    }
}
