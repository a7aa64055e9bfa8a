use shardlab_core::rows::{Comparison, Measured, RowOutcome, Verdict, counted};

use super::canvas::{Canvas, ChartError, MARGIN, Side, TEXT, WIDTH};
use super::palette::Role;
use super::scale::Scale;
use super::words::{harmless, width};
use shardlab_core::rows::ratio;

/// The height of a row.
const ROW: f64 = 30.0;

/// Room for the ratio left of a bar, and for ratio and verdict right of it.
const LEFT_OF_BAR: f64 = 50.0;
const RIGHT_OF_BAR: f64 = 140.0;

/// Peak and minimum load over the mean for every row of a comparison, as an SVG picture: one horizontal
/// bar a scheme from its emptiest to its fullest node, vermilion where the spread is beyond chance.
/// Behind them a line at 1, which every node would have, and a grey band: in 99 of 100 cases chance alone
/// leaves the fullest node within it, and the emptiest about as far below.
///
/// # Errors
/// The picture cannot be drawn.
pub fn load_chart(comparison: &Comparison) -> Result<String, ChartError> {
    let measured: Vec<(&str, &Measured)> = comparison.rows.iter().filter_map(measured).collect();
    let keys = counted(comparison.keys.accepted, "key");
    let asked = format!("{keys} from {} on {}", comparison.keys.description, counted(comparison.nodes, "node"));
    let mut canvas = Canvas::new(&finding(&measured), &asked);
    let chance = measured.iter().find_map(|(_, row)| row.balance.chance_peak.as_ref()).map(|peak| peak.p99 - 1.0);
    let mut meanings = vec![(Role::Good, "within chance")];
    if measured.iter().any(|(_, row)| is_beyond(row)) {
        meanings.push((Role::Bad, "beyond chance"));
    }
    if chance.is_some() {
        meanings.push((Role::Quiet, "what chance alone does in 99 of 100 cases"));
    }
    canvas.key(&meanings);
    let ends = |pick: fn(&Measured) -> f64| measured.iter().map(move |(_, row)| pick(row));
    let least = ends(|row| row.balance.min_to_average).fold(1.0, f64::min).min(1.0 - chance.unwrap_or(0.0));
    let most = ends(|row| row.balance.peak_to_average).fold(1.0, f64::max).max(1.0 + chance.unwrap_or(0.0));
    let spare = ((most - least) * 0.03).max(0.001);
    let names = comparison.rows.iter().map(|row| width(&harmless(&row.scheme), TEXT)).fold(0.0, f64::max).min(210.0);
    let left = MARGIN + names + 10.0;
    let (from, to) = ((least - spare).max(0.0), most + spare);
    let scale = Scale::linear(from, to, left + LEFT_OF_BAR, WIDTH - MARGIN - RIGHT_OF_BAR);
    canvas.top += 8.0;
    let (top, bottom) = (canvas.top, (0..comparison.rows.len()).fold(canvas.top, |height, _| height + ROW));
    if let Some(chance) = chance {
        canvas.rectangle((scale.at(1.0 - chance), top), (scale.at(1.0 + chance), bottom), Role::Quiet);
    }
    for (value, word) in scale.ticks(60.0) {
        let x = scale.at(value);
        canvas.line([(x, top), (x, bottom + 4.0)], Role::Grid, 1);
        canvas.text((x, bottom + 14.0), &word, Side::Middle, Role::Muted);
    }
    canvas.line([(scale.at(1.0), top), (scale.at(1.0), bottom + 4.0)], Role::Muted, 1);
    let mut middle = top + ROW / 2.0;
    for row in &comparison.rows {
        canvas.text_in((left, middle), &row.scheme, Side::End, Role::Ink, names + 6.0);
        match &row.outcome {
            RowOutcome::Measured(measured) => bar(&mut canvas, &row.scheme, measured, &scale, middle),
            RowOutcome::NotApplicable { not_applicable } => {
                let words = format!("n/a: {not_applicable}");
                canvas.text_in((left + 10.0, middle), &words, Side::Start, Role::Muted, WIDTH - left - 24.0);
                canvas.describe(&format!("{}: {words}", row.scheme));
            }
        }
        middle += ROW;
    }
    let mean = if comparison.weighted { "the load that its weight makes fair" } else { "the mean load" };
    let below = format!("load of the emptiest and of the fullest node over {mean}");
    canvas.text((f64::midpoint(left, WIDTH), bottom + 34.0), &below, Side::Middle, Role::Muted);
    canvas.svg(bottom + 52.0)
}

fn measured(row: &shardlab_core::rows::ComparisonRow) -> Option<(&str, &Measured)> {
    match &row.outcome {
        RowOutcome::Measured(measured) => Some((&row.scheme, measured)),
        RowOutcome::NotApplicable { .. } => None,
    }
}

fn is_beyond(row: &Measured) -> bool {
    row.balance.verdict == Verdict::Structural
}

/// What the picture shows, in a sentence.
fn finding(rows: &[(&str, &Measured)]) -> String {
    let peak = |row: &&(&str, &Measured)| row.1.balance.peak_to_average;
    let worst = |beyond: bool| {
        let rows = rows.iter().filter(move |(_, row)| !beyond || is_beyond(row));
        // The first of several that are alike.
        rows.rev().max_by(|a, b| peak(a).total_cmp(&peak(b)))
    };
    let beyond = rows.iter().filter(|(_, row)| is_beyond(row)).count();
    match (worst(true), worst(false)) {
        (Some((name, row)), _) if beyond == 1 => format!(
            "{name} is less even than chance: its fullest node has {} times the mean",
            ratio(row.balance.peak_to_average)
        ),
        (Some((name, row)), _) => format!(
            "{beyond} of {} schemes are less even than chance: the fullest node of {name} has {} times the mean",
            rows.len(),
            ratio(row.balance.peak_to_average)
        ),
        (None, Some((name, row))) => {
            let few = rows.iter().any(|(_, row)| row.balance.verdict == Verdict::TooFewKeys);
            let chance = if few { "too few keys to tell from chance" } else { "no more than chance" };
            format!(
                "The fullest node has {} times the mean at most ({name}), {chance}",
                ratio(row.balance.peak_to_average)
            )
        }
        (None, None) => "No scheme was measured".to_owned(),
    }
}

fn bar(canvas: &mut Canvas, name: &str, row: &Measured, scale: &Scale, middle: f64) {
    let (low, high) = (row.balance.min_to_average, row.balance.peak_to_average);
    let (role, verdict) = if is_beyond(row) { (Role::Bad, " beyond chance") } else { (Role::Good, "") };
    let (from, to) = (scale.at(low), scale.at(high));
    canvas.rectangle((from, middle - 4.0), (to.max(from + 2.0), middle + 4.0), role);
    canvas.text((from - 5.0, middle), &ratio(low), Side::End, Role::Ink);
    canvas.text((to + 6.0, middle), &format!("{}{verdict}", ratio(high)), Side::Start, Role::Ink);
    let verdict = row.balance.verdict.as_str();
    canvas.describe(&format!("{name}: {} to {} ({verdict})", ratio(low), ratio(high)));
}
