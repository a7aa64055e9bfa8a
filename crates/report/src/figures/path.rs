use shardlab_core::rows::{PathRows, PathStep, StepOutcome, counted};

use super::canvas::{Canvas, ChartError, MARGIN, Side, WIDTH};
use super::palette::Role;
use super::scale::Scale;
use shardlab_core::rows::percent;

/// The height of a step.
const ROW: f64 = 28.0;

/// Where the bars begin, and the room for percentages right of them.
const LEFT: f64 = 262.0;
const LABEL: f64 = 150.0;

/// A path of more steps is drawn with several of them in a row.
const MOST_ROWS: usize = 60;

/// Neighbouring steps that are drawn as one, numbered from 1.
struct Row {
    words: String,
    before: f64,
    after: f64,
    minimum: f64,
    refused: Option<String>,
}

/// What a path moves as it goes, as an SVG picture: each step's bar begins where the one before ended,
/// blue as far as keys had to move and vermilion beyond; below them a bar for going straight to the end.
///
/// # Errors
/// The picture cannot be drawn.
pub fn path_chart(rows: &PathRows) -> Result<String, ChartError> {
    let keys = counted(rows.keys.accepted, "key");
    let asked =
        format!("{} on {}, {keys} from {}", rows.start, counted(rows.start_nodes, "node"), rows.keys.description);
    let mut canvas = Canvas::new(&finding(rows), &asked);
    canvas.key(&[
        (Role::Good, "had to move in that step"),
        (Role::Bad, "moved needlessly"),
        (Role::Fourth, "going straight to the end"),
    ]);
    let each = rows.steps.len().div_ceil(MOST_ROWS).max(1);
    let mut before = 0.0;
    let mut drawn: Vec<Row> = Vec::new();
    for (place, steps) in rows.steps.chunks(each).enumerate() {
        let row = row(place * each + 1, steps, before);
        before = row.after;
        drawn.push(row);
    }
    if each > 1 {
        canvas.explain(&format!("Each bar is {each} steps."));
    }
    let most = before.max(rows.straight_fraction).max(1e-6);
    let scale = Scale::linear(0.0, most * 100.0 * 1.02, LEFT, WIDTH - MARGIN - LABEL);
    let at = |fraction: f64| scale.at(fraction * 100.0);
    let top = canvas.top + 10.0;
    let bottom = drawn.iter().fold(top, |height, _| height + ROW) + ROW;
    for (value, word) in scale.ticks(60.0) {
        canvas.line([(scale.at(value), top), (scale.at(value), bottom + 4.0)], Role::Grid, 1);
        canvas.text((scale.at(value), bottom + 14.0), &format!("{word} %"), Side::Middle, Role::Muted);
    }
    let mut middle = top + ROW / 2.0;
    for (place, row) in drawn.iter().enumerate() {
        let has_next = drawn.get(place + 1).is_some_and(|next| next.refused.is_none());
        canvas.text_in((MARGIN, middle), &row.words, Side::Start, Role::Ink, LEFT - MARGIN - 10.0);
        if let Some(reason) = &row.refused {
            canvas.text_in(
                (LEFT + 6.0, middle),
                &format!("n/a: {reason}"),
                Side::Start,
                Role::Muted,
                WIDTH - LEFT - MARGIN,
            );
            canvas.describe(&format!("{}: n/a: {reason}", row.words));
        } else {
            let had_to = row.before + row.minimum;
            canvas.rectangle((at(row.before), middle - 7.0), (at(had_to), middle + 7.0), Role::Good);
            canvas.rectangle((at(had_to), middle - 7.0), (at(row.after), middle + 7.0), Role::Bad);
            if has_next {
                // The bar below begins where this one ends.
                canvas.line([(at(row.after), middle - 7.0), (at(row.after), middle + ROW - 7.0)], Role::Muted, 1);
            }
            let words = format!("+{} = {}", percent(row.after - row.before), percent(row.after));
            canvas.text((at(row.after) + 6.0, middle), &words, Side::Start, Role::Ink);
            canvas.describe(&format!(
                "{}: {} more, {} in all",
                row.words,
                percent(row.after - row.before),
                percent(row.after)
            ));
        }
        middle += ROW;
    }
    canvas.line([(MARGIN, middle - ROW / 2.0), (WIDTH - MARGIN, middle - ROW / 2.0)], Role::Grid, 1);
    canvas.text((MARGIN, middle), "going straight", Side::Start, Role::Ink);
    let end = at(rows.straight_fraction);
    canvas.rectangle((LEFT, middle - 7.0), (end.max(LEFT + 1.0), middle + 7.0), Role::Fourth);
    canvas.text((end + 6.0, middle), &percent(rows.straight_fraction), Side::Start, Role::Ink);
    canvas.describe(&format!("going straight: {}", percent(rows.straight_fraction)));
    let below = "all moves so far, % of the keys (above 100 % keys move more than once)";
    canvas.text((f64::midpoint(LEFT, WIDTH - LABEL), bottom + 34.0), below, Side::Middle, Role::Muted);
    canvas.svg(bottom + 52.0)
}

fn row(first: usize, steps: &[PathStep], before: f64) -> Row {
    let words = match steps {
        [step] => format!("{first}. {}", step.change),
        _ => format!("steps {first} to {}", first + steps.len() - 1),
    };
    let mut row = Row { words, before, after: before, minimum: 0.0, refused: None };
    for step in steps {
        match &step.outcome {
            StepOutcome::Done(done) => {
                row.after = done.cumulative_fraction;
                row.minimum += done.moves.minimum_fraction;
            }
            StepOutcome::NotApplicable { not_applicable } => {
                row.refused.get_or_insert_with(|| not_applicable.clone());
            }
        }
    }
    // Rounding must not let the bar of what had to move leave that of what moved.
    row.minimum = row.minimum.min(row.after - row.before);
    row
}

fn finding(rows: &PathRows) -> String {
    if rows.stops_at == Some(1) {
        return "The path stops at step 1".to_owned();
    }
    let stops = rows.stops_at.map_or_else(String::new, |step| format!("The path stops at step {step}; before it, "));
    let all = if stops.is_empty() { "All steps" } else { "all steps" };
    let straight = percent(rows.straight_fraction);
    let cumulative = percent(rows.cumulative_fraction);
    if rows.steps.len() == 1 {
        return format!("One step, going straight: {cumulative} of the keys move");
    }
    if rows.detour_fraction > 0.0 {
        format!(
            "{stops}{all} together move {cumulative} of the keys, {} more than going straight ({straight})",
            percent(rows.detour_fraction)
        )
    } else {
        format!("{stops}{all} together move {cumulative} of the keys, no more than going straight ({straight})")
    }
}
