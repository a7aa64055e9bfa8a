use shardlab_core::rows::{Answer, Tuning, counted, six_digits};

use crate::escape::{for_markdown, for_terminal};
use crate::table::{Format, Table};
use shardlab_core::rows::{bytes, nanoseconds, percent, ratio};

/// Up to so many numbers of nodes are all shown in text; of more, those that meet the target and those
/// near the nodes asked for. JSON and CSV have all.
const MOST_COUNTS: usize = 64;
const NEAR: u32 = 16;

/// A tuning as text: the answer, its price, and what was tried. As CSV it is one row a value or number
/// of nodes that was tried.
#[must_use]
pub fn tune_text(tuning: &Tuning, format: Format, width: Option<u16>) -> String {
    if format == Format::Csv {
        return if tuning.node_counts.is_empty() { tried_csv(tuning) } else { counts_csv(tuning) };
    }
    let escape = if format == Format::Markdown { for_markdown } else { for_terminal };
    let mut text = String::new();
    let mut block = |words: &str| {
        text.push_str(words.trim_end());
        text.push_str("\n\n");
    };
    block(&escape(&answer_in_words(tuning)));
    if let Some(impossible) = &tuning.impossible {
        let what = if tuning.node_counts.is_empty() { "no value" } else { "nothing" };
        block(&escape(&format!("On {} nodes {what} can meet it with these keys: {impossible}.", tuning.nodes)));
    }
    if !tuning.answers.is_empty() {
        block(&answers(tuning).render(format, width));
    }
    for answer in tuning.answers.iter().filter(|answer| answer.not_reached.is_some()) {
        let reason = answer.not_reached.as_deref().unwrap_or_default();
        block(&escape(&format!("{}: {reason}.", question(tuning, answer))));
    }
    if !tuning.tried.is_empty() {
        block("Peak-to-average at the values that were tried:");
        block(&tried(tuning).render(format, width));
    }
    if !tuning.node_counts.is_empty() {
        block("Peak-to-average of these keys at other numbers of nodes:");
        block(&counts(tuning).render(format, width));
    }
    let notes = tuning.notes.iter().chain(tuning.keys.iter().flat_map(|keys| &keys.notes));
    let notes: Vec<String> = notes.map(|note| format!("- {}", escape(note))).collect();
    if !notes.is_empty() {
        block(&format!("Notes:\n{}", notes.join("\n")));
    }
    let digest = tuning.keys.as_ref().map(|keys| format!(", key digest {}", keys.digest)).unwrap_or_default();
    text.push_str(&format!("{}, seed {}{digest}\n", tuning.tool, tuning.seed));
    text
}

fn answer_in_words(tuning: &Tuning) -> String {
    let Tuning { scheme, nodes, peak, option, confidence, .. } = tuning;
    let weighted = if tuning.weighted { " of different weights" } else { "" };
    let keys = tuning
        .keys
        .as_ref()
        .map(|keys| format!("; {} from {}", counted(keys.accepted, "document"), keys.description))
        .unwrap_or_default();
    let target = format!(
        "{scheme} on {}{weighted}, peak-to-average at most {}{keys}",
        counted(nodes, "node"),
        six_digits(*peak)
    );
    match tuning.value {
        Some(value) if tuning.tried.is_empty() => format!("{target}: {option}={value}"),
        Some(value) => format!("{target}: {option}={value} meets it for {} of all node names", percent(*confidence)),
        None => format!("{target}: not met"),
    }
}

fn question(tuning: &Tuning, answer: &Answer) -> String {
    match answer.question {
        "mean" => "met on average".to_owned(),
        "quantile" => format!("met for {} of all names", percent(tuning.confidence)),
        "these_names" => "met with these names".to_owned(),
        "these_keys" => "met with these names and keys".to_owned(),
        other => other.to_owned(),
    }
}

fn answers(tuning: &Tuning) -> Table {
    let headings =
        ["smallest that is", &tuning.option, "heap", "build", "moves when a node is lost", "of that between survivors"];
    let mut table = Table::new(headings).with_numbers(1..headings.len());
    for answer in &tuning.answers {
        table.row([
            question(tuning, answer),
            answer.value.map_or_else(|| "none".to_owned(), |value| value.to_string()),
            answer.heap_bytes.map(bytes).unwrap_or_default(),
            answer.build_ns.map(nanoseconds).unwrap_or_default(),
            answer.loss.as_ref().map(|loss| percent(loss.moved)).unwrap_or_default(),
            answer.loss.as_ref().map(|loss| percent(loss.disruption)).unwrap_or_default(),
        ]);
    }
    table.without_empty_columns()
}

fn tried(tuning: &Tuning) -> Table {
    let quantile = percent(tuning.confidence);
    let headings = [&tuning.option, "draws", "mean", &quantile, "these names", "promised", "these keys", "heap"];
    let mut table = Table::new(headings).with_numbers(0..headings.len());
    for tried in &tuning.tried {
        table.row([
            tried.value.to_string(),
            tried.draws.to_string(),
            ratio(tried.mean),
            ratio(tried.quantile),
            ratio(tried.these_names),
            tried.promised.map(ratio).unwrap_or_default(),
            tried.these_keys.map(ratio).unwrap_or_default(),
            bytes(tried.heap_bytes),
        ]);
    }
    table.without_empty_columns()
}

fn tried_csv(tuning: &Tuning) -> String {
    let headings = [&tuning.option, "draws", "mean", "quantile", "these_names", "promised", "these_keys", "heap_bytes"];
    let mut table = Table::new(headings).with_numbers(0..headings.len());
    let number = |value: f64| six_digits(value).to_string();
    for tried in &tuning.tried {
        table.row([
            tried.value.to_string(),
            tried.draws.to_string(),
            number(tried.mean),
            number(tried.quantile),
            number(tried.these_names),
            tried.promised.map(number).unwrap_or_default(),
            tried.these_keys.map(number).unwrap_or_default(),
            tried.heap_bytes.to_string(),
        ]);
    }
    table.render(Format::Csv, None)
}

fn counts(tuning: &Tuning) -> Table {
    let mut table = Table::new(["nodes", "lowest possible", "these keys", "meets it", ""]).with_numbers(0..3);
    let whole = tuning.node_counts.len() <= MOST_COUNTS;
    for count in &tuning.node_counts {
        let meets = count.these_keys.is_some_and(|found| found <= tuning.peak);
        if !(whole || meets || count.nodes.abs_diff(tuning.nodes) <= NEAR) {
            continue;
        }
        table.row([
            count.nodes.to_string(),
            ratio(count.floor),
            count.these_keys.map(ratio).unwrap_or_default(),
            if meets { "yes" } else { "" }.to_owned(),
            count.not_applicable.as_ref().map(|reason| format!("n/a: {reason}")).unwrap_or_default(),
        ]);
    }
    table.without_empty_columns()
}

fn counts_csv(tuning: &Tuning) -> String {
    let mut table = Table::new(["nodes", "floor", "these_keys", "not_applicable"]).with_numbers(0..3);
    for count in &tuning.node_counts {
        table.row([
            count.nodes.to_string(),
            six_digits(count.floor).to_string(),
            count.these_keys.map(|found| six_digits(found).to_string()).unwrap_or_default(),
            count.not_applicable.clone().unwrap_or_default(),
        ]);
    }
    table.render(Format::Csv, None)
}
