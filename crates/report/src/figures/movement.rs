use shardlab_core::rows::{ChangeOutcome, Comparison, Measured, Movement, RowOutcome, counted};

use super::canvas::{Canvas, ChartError, MARGIN, Side, TEXT, WIDTH};
use super::palette::Role;
use super::scale::Scale;
use super::words::{harmless, width};
use shardlab_core::rows::percent;

/// The height of a row: two bars.
const ROW: f64 = 38.0;

/// Room for a percentage right of a bar.
const LABEL: f64 = 62.0;

type Change = (&'static str, fn(&Measured) -> &ChangeOutcome);

/// The changes that every comparison measures, in the words of its table.
const CHANGES: [Change; 4] = [
    ("add one", |row| &row.movement.add_one),
    ("remove last", |row| &row.movement.remove_last),
    ("remove middle", |row| &row.movement.remove_middle),
    ("double", |row| &row.movement.double),
];

/// What each change of membership moves by scheme, as an SVG picture: a column a change, a bar a scheme,
/// blue as far as keys had to move and vermilion beyond, and below it a thin bar for the keys that moved
/// between survivors. Where documents of a split stay in the lineage of their shard, the bar is grey: they
/// get another number and do not move.
///
/// # Errors
/// The picture cannot be drawn.
pub fn movement_chart(comparison: &Comparison) -> Result<String, ChartError> {
    let keys = counted(comparison.keys.accepted, "key");
    let asked = format!("{keys} from {} on {}", comparison.keys.description, counted(comparison.nodes, "node"));
    let mut canvas = Canvas::new(&finding(comparison), &asked);
    canvas.key(&[
        (Role::Good, "must move"),
        (Role::Bad, "moves needlessly"),
        (Role::Third, "moves between survivors (disruption)"),
        (Role::Quiet, "another shard number, in its parent shard"),
    ]);
    let names = comparison.rows.iter().map(|row| width(&harmless(&row.scheme), TEXT)).fold(0.0, f64::max).min(170.0);
    let left = MARGIN + names + 12.0;
    let column = (WIDTH - MARGIN - left) / 4.0;
    let top = canvas.top + 24.0;
    let bottom = comparison.rows.iter().fold(top, |height, _| height + ROW);
    let mut x = left;
    for (words, _) in CHANGES {
        let scale = Scale::linear(0.0, 1.0, x, x + column - LABEL);
        canvas.text((x, top - 12.0), words, Side::Start, Role::Ink);
        for (value, word) in [(0.0, "0"), (0.5, "50"), (1.0, "100 %")] {
            canvas.line([(scale.at(value), top), (scale.at(value), bottom + 4.0)], Role::Grid, 1);
            canvas.text((scale.at(value), bottom + 14.0), word, Side::Middle, Role::Muted);
        }
        x += column;
    }
    let mut middle = top + ROW / 2.0;
    for row in &comparison.rows {
        canvas.text_in((left - 8.0, middle), &row.scheme, Side::End, Role::Ink, names + 4.0);
        match &row.outcome {
            RowOutcome::Measured(measured) => {
                let mut x = left;
                for (words, pick) in CHANGES {
                    let scale = Scale::linear(0.0, 1.0, x, x + column - LABEL);
                    let said = bars(&mut canvas, pick(measured), &scale, middle);
                    canvas.describe(&format!("{}, {words}: {said}", row.scheme));
                    x += column;
                }
            }
            RowOutcome::NotApplicable { not_applicable } => {
                let words = format!("n/a: {not_applicable}");
                canvas.text_in((left + 4.0, middle), &words, Side::Start, Role::Muted, WIDTH - left - MARGIN);
                canvas.describe(&format!("{}: {words}", row.scheme));
            }
        }
        middle += ROW;
    }
    canvas.text(
        (f64::midpoint(left, WIDTH), bottom + 34.0),
        "keys whose owner changes, % of all keys",
        Side::Middle,
        Role::Muted,
    );
    canvas.svg(bottom + 52.0)
}

/// Draws what one change moved, and says it.
fn bars(canvas: &mut Canvas, outcome: &ChangeOutcome, scale: &Scale, middle: f64) -> String {
    let start = scale.at(0.0);
    let moved = match outcome {
        ChangeOutcome::Moved(moved) => moved,
        ChangeOutcome::NotApplicable { not_applicable } => {
            canvas.text((start + 4.0, middle), "n/a", Side::Start, Role::Muted);
            return format!("n/a: {not_applicable}");
        }
    };
    let end = scale.at(moved.moved);
    let (upper, lower) = (middle - 12.0, middle);
    let label = (end + 5.0, f64::midpoint(upper, lower));
    canvas.text(label, &percent(moved.moved), Side::Start, Role::Ink);
    if let Some(left_parent) = moved.left_parent {
        let gone = scale.at(left_parent);
        canvas.rectangle((start, upper), (end, lower), Role::Quiet);
        canvas.rectangle((start, upper), (gone, lower), Role::Bad);
        let left = percent(left_parent);
        canvas.text((start + 2.0, lower + 9.0), &format!("{left} leave it"), Side::Start, Role::Muted);
        return format!("{} get another number, {left} leave their parent shard", percent(moved.moved));
    }
    canvas.rectangle((start, upper), (scale.at(moved.minimum), lower), Role::Good);
    canvas.rectangle((scale.at(moved.minimum), upper), (end, lower), Role::Bad);
    if moved.disruption > 0.0 {
        canvas.rectangle((start, lower + 3.0), (scale.at(moved.disruption).max(start + 1.0), lower + 7.0), Role::Third);
    }
    format!(
        "{} moved, {} had to, {} between survivors",
        percent(moved.moved),
        percent(moved.minimum),
        percent(moved.disruption)
    )
}

fn finding(comparison: &Comparison) -> String {
    let mut worst: Option<(&str, &str, &Movement)> = None;
    for row in &comparison.rows {
        let RowOutcome::Measured(measured) = &row.outcome else { continue };
        for (words, pick) in CHANGES {
            // What stays inside its parent shard is not moved for nothing.
            if let ChangeOutcome::Moved(moved) = pick(measured)
                && moved.left_parent.is_none()
                && worst.is_none_or(|(_, _, most)| moved.excess > most.excess)
            {
                worst = Some((&row.scheme, words, moved));
            }
        }
    }
    match worst {
        Some((scheme, words, moved)) if moved.excess > 0.0 => format!(
            "{scheme} moves the most for nothing: {} of the keys on \"{words}\", where {} have to move",
            percent(moved.moved),
            percent(moved.minimum)
        ),
        Some(_) => "No scheme moves data needlessly in any change that it can follow".to_owned(),
        None => "No scheme follows any of these changes by moving keys".to_owned(),
    }
}
