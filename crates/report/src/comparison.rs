use shardlab_core::rows::{
    ChangeOutcome, Comparison, ComparisonRow, KeySet, Latency, Measured, Movement, RowOutcome, Timings, counted,
    six_digits,
};

use crate::escape::{for_json, for_markdown, for_terminal};
use crate::table::{Format, Table};
use shardlab_core::rows::{bytes, nanoseconds, percent, ratio};

/// A comparison as a table with everything that a reader needs around it: keys, notes, reasons and a
/// reading in words.
#[must_use]
pub fn comparison_text(comparison: &Comparison, format: Format, width: Option<u16>) -> String {
    if format == Format::Csv {
        return comparison_csv(comparison);
    }
    let escape = if format == Format::Markdown { for_markdown } else { for_terminal };
    let mut reasons = Reasons::default();
    let timed = comparison.timings.is_some();
    let mut table =
        Table::stacked(headings(timed)).with_numbers((1..headings(timed).len()).filter(|&column| column != 4));
    for row in &comparison.rows {
        table.row(cells(row, comparison.timings.as_ref(), &mut reasons));
    }
    let mut text = String::new();
    let mut line = |words: &str| {
        text.push_str(words);
        text.push('\n');
    };
    let weighted = if comparison.weighted { " of different weights" } else { "" };
    line(&format!("{}{weighted}; {}", counted(comparison.nodes, "node"), escape(&keys_in_words(&comparison.keys))));
    line("");
    line(&table.render(format, width));
    for (number, reason) in reasons.0.iter().enumerate() {
        // Two spaces at the end are a line break in Markdown and nothing on a terminal.
        line(&format!(
            "[{}] n/a: {}{}",
            number + 1,
            escape(reason),
            if format == Format::Markdown { "  " } else { "" }
        ));
    }
    if !reasons.0.is_empty() {
        line("");
    }
    line(LEGEND);
    if let Some(timings) = &comparison.timings {
        line(&times_legend(timings));
    }
    line(&format!("Hash before each scheme: {}.", escape(&hashes(&comparison.rows))));
    for (title, sentences) in [("Reading", &comparison.reading), ("Notes", &comparison.notes)] {
        if !sentences.is_empty() {
            line("");
            line(&format!("{title}:"));
            for sentence in sentences {
                line(&format!("- {}", escape(sentence)));
            }
        }
    }
    line("");
    line(&format!(
        "{}, seed {}, key digest {}{}",
        comparison.tool,
        comparison.seed,
        comparison.keys.digest,
        comparison
            .timings
            .as_ref()
            .map(|timings| escape(&format!("; {}, {} threads", timings.machine, timings.threads)))
            .unwrap_or_default()
    ));
    text
}

/// Each hash with the schemes behind it, or the one hash of all.
fn hashes(rows: &[ComparisonRow]) -> String {
    let mut found: Vec<(&str, Vec<&str>)> = Vec::new();
    for row in rows {
        match found.iter_mut().find(|(hash, _)| *hash == row.hash) {
            Some((_, schemes)) => schemes.push(&row.scheme),
            None => found.push((&row.hash, vec![&row.scheme])),
        }
    }
    match found.as_slice() {
        [(hash, _)] => (*hash).to_owned(),
        _ => found
            .iter()
            .map(|(hash, schemes)| format!("{hash} ({})", schemes.join(", ")))
            .collect::<Vec<_>>()
            .join("; "),
    }
}

const LEGEND: &str = "peak/avg and min/avg: largest and smallest load over the mean (over the fair load, with weights); \
exact peak: the same of the scheme's own shares, without sampling; cv: coefficient of variation, beside what \
chance alone gives; moves: keys whose owner changed, and in brackets how many of them needlessly.";

fn times_legend(timings: &Timings) -> String {
    format!(
        "lookup: each key waits for the answer before it; in batch: independent keys; both without hashing, medians (and \
         99th percentiles) of timed runs, keys in random order; hashed: in batches, with the hash of the documents. The \
         measuring loop itself takes {} and {} of this. Rounds of the typical row differ by {}{}.",
        nanoseconds(timings.floor_lookup_ns),
        nanoseconds(timings.floor_throughput_ns),
        percent(timings.noise_fraction),
        if timings.too_noisy { ": too much to trust these times" } else { "" },
    )
}

/// A comparison for programs: `rows[]` and what they need to be made again.
///
/// # Errors
/// A number that JSON cannot carry.
pub fn comparison_json(comparison: &Comparison) -> Result<String, serde_json::Error> {
    Ok(for_json(&serde_json::to_string_pretty(comparison)?).into_owned() + "\n")
}

fn headings(timed: bool) -> Vec<&'static str> {
    let mut headings = vec![
        "scheme",
        "peak/avg",
        "min/avg",
        "cv\n(chance)",
        "verdict",
        "exact\npeak",
        "add one",
        "remove\nlast",
        "remove\nmiddle",
        "double",
        "heap",
    ];
    if timed {
        headings.extend(["build", "lookup\n(p99)", "in batch\n(p99)", "in batch,\nhashed"]);
    }
    headings
}

fn cells(row: &ComparisonRow, timings: Option<&Timings>, reasons: &mut Reasons) -> Vec<String> {
    let mut cells = vec![row.scheme.clone()];
    match &row.outcome {
        RowOutcome::NotApplicable { not_applicable } => {
            cells.push(reasons.mark(not_applicable));
        }
        RowOutcome::Measured(measured) => {
            let Measured { balance, movement, .. } = &**measured;
            cells.extend([
                ratio(balance.peak_to_average),
                ratio(balance.min_to_average),
                format!("{:.4}\n({:.4})", balance.cv, balance.noise_floor_cv),
                balance.verdict.as_str().to_owned(),
                balance.exact_peak_to_average.map_or_else(|| "–".to_owned(), ratio),
            ]);
            for outcome in [&movement.add_one, &movement.remove_last, &movement.remove_middle, &movement.double] {
                cells.push(moved(outcome, reasons));
            }
            cells.push(bytes(measured.heap_bytes));
            if let Some(timings) = timings {
                let shown = |time: Option<f64>| time.map_or_else(|| "–".to_owned(), nanoseconds);
                let latency = timings.latency.iter().find(|latency| latency.scheme == row.scheme);
                let with_p99 = |time, p99: Option<f64>| {
                    p99.map_or_else(|| shown(time), |_| format!("{}\n({})", shown(time), shown(p99)))
                };
                cells.extend([
                    shown(measured.build_ns),
                    with_p99(measured.lookup_ns, latency.map(|latency| latency.lookup_p99_ns)),
                    with_p99(measured.throughput_ns, latency.map(|latency| latency.throughput_p99_ns)),
                    shown(latency.and_then(|latency| latency.throughput_with_hash_ns)),
                ]);
            }
        }
    }
    cells
}

fn moved(outcome: &ChangeOutcome, reasons: &mut Reasons) -> String {
    match outcome {
        ChangeOutcome::Moved(Movement { moved, excess, .. }) => format!("{}\n({})", percent(*moved), percent(*excess)),
        ChangeOutcome::NotApplicable { not_applicable } => reasons.mark(not_applicable),
    }
}

/// Reasons for what is not applicable, each with a number below the table.
#[derive(Default)]
struct Reasons(Vec<String>);

impl Reasons {
    fn mark(&mut self, reason: &str) -> String {
        let place = self.0.iter().position(|known| known == reason).unwrap_or_else(|| {
            self.0.push(reason.to_owned());
            self.0.len() - 1
        });
        format!("n/a [{}]", place + 1)
    }
}

fn keys_in_words(keys: &KeySet) -> String {
    let mut words = format!("{} from {}", counted(keys.accepted, "key"), keys.description);
    if keys.read != keys.accepted {
        words.push_str(&format!(" ({} read)", keys.read));
    }
    if let Some(distinct) = keys.distinct {
        words.push_str(&format!(", {distinct} of them different"));
    }
    if keys.with_routing > 0 {
        words.push_str(&format!(", {} with a routing value", keys.with_routing));
    }
    for skipped in &keys.skipped {
        words.push_str(&format!("; {} skipped: {} (first at {})", skipped.count, skipped.reason, skipped.first_at));
    }
    for note in &keys.notes {
        words.push_str(&format!("; {note}"));
    }
    words
}

/// One row a scheme with all its numbers, for spreadsheets.
#[must_use]
pub fn comparison_csv(comparison: &Comparison) -> String {
    let changes = ["add_one", "remove_last", "remove_middle", "double"];
    let mut header: Vec<String> = ["scheme", "hash", "not_applicable", "verdict"].map(str::to_owned).to_vec();
    header.extend(
        [
            "peak_to_average",
            "min_to_average",
            "cv",
            "chi_square",
            "p_value",
            "noise_floor_cv",
            "expected_cv",
            "keys_per_node",
            "exact_peak_to_average",
        ]
        .map(str::to_owned),
    );
    let numbers_from = 4;
    for change in changes {
        header.extend(["moved", "minimum", "excess", "disruption", "ideal"].map(|part| format!("{change}_{part}")));
    }
    header.extend(["heap_bytes", "expected_heap_bytes", "build_ns", "lookup_ns", "throughput_ns"].map(str::to_owned));
    header.extend(["lookup_p99_ns", "throughput_p99_ns", "throughput_with_hash_ns"].map(str::to_owned));
    let numeric_end = header.len();
    // Reasons are text, and stand behind the numbers so that those keep their places.
    header.extend(changes.map(|change| format!("{change}_not_applicable")));
    let mut table = Table::new(header.clone()).with_numbers(numbers_from..numeric_end);
    for row in &comparison.rows {
        let mut cells = vec![row.scheme.clone(), row.hash.clone()];
        match &row.outcome {
            RowOutcome::NotApplicable { not_applicable } => cells.push(not_applicable.clone()),
            RowOutcome::Measured(measured) => {
                let mut latency = comparison.timings.iter().flat_map(|timings| &timings.latency);
                cells.extend(measured_cells(measured, latency.find(|latency| latency.scheme == row.scheme)));
            }
        }
        cells.resize(header.len(), String::new());
        table.row(cells);
    }
    table.render(Format::Csv, None)
}

fn measured_cells(measured: &Measured, latency: Option<&Latency>) -> Vec<String> {
    let number = |value: f64| six_digits(value).to_string();
    let optional = |value: Option<f64>| value.map(number).unwrap_or_default();
    let balance = &measured.balance;
    let mut cells = vec![String::new(), balance.verdict.as_str().to_owned()];
    cells.extend(
        [
            balance.peak_to_average,
            balance.min_to_average,
            balance.cv,
            balance.chi_square,
            balance.p_value,
            balance.noise_floor_cv,
            balance.expected_cv,
            balance.keys_per_node,
        ]
        .map(number),
    );
    cells.push(optional(balance.exact_peak_to_average));
    let movement = &measured.movement;
    let outcomes = [&movement.add_one, &movement.remove_last, &movement.remove_middle, &movement.double];
    for outcome in outcomes {
        match outcome {
            ChangeOutcome::Moved(moved) => {
                cells.extend([moved.moved, moved.minimum, moved.excess, moved.disruption, moved.ideal].map(number));
            }
            ChangeOutcome::NotApplicable { .. } => cells.extend([const { String::new() }; 5]),
        }
    }
    cells.extend([measured.heap_bytes.to_string(), measured.expected_heap_bytes.to_string()]);
    cells.extend([measured.build_ns, measured.lookup_ns, measured.throughput_ns].map(optional));
    cells.push(optional(latency.map(|latency| latency.lookup_p99_ns)));
    cells.push(optional(latency.map(|latency| latency.throughput_p99_ns)));
    cells.push(optional(latency.and_then(|latency| latency.throughput_with_hash_ns)));
    cells.extend(outcomes.map(|outcome| match outcome {
        ChangeOutcome::Moved(_) => String::new(),
        ChangeOutcome::NotApplicable { not_applicable } => not_applicable.clone(),
    }));
    cells
}
