use shardlab_core::rows::{MachineRows, PathRows, StepOutcome};

use crate::frame::{escape_of, footer, of_keys, size};
use crate::table::{Format, Table};
use shardlab_core::rows::{percent, ratio};

/// A path as text: a row for each step and what they come to. As CSV it is the steps alone.
#[must_use]
pub fn path_text(rows: &PathRows, format: Format, width: Option<u16>) -> String {
    let steps = steps(rows).render(format, width);
    if format == Format::Csv {
        return steps;
    }
    let escape = escape_of(format);
    let in_brackets = |bytes: Option<u128>| bytes.map_or_else(String::new, |bytes| format!(" ({})", size(bytes)));
    let mut text = escape(&format!(
        "{} on {} nodes, {} steps; {}",
        rows.start,
        rows.start_nodes,
        rows.steps.len(),
        of_keys(&rows.keys)
    ));
    text.push_str(&format!("\n\n{steps}\nReading:\n"));
    let mut line = |words: String| text.push_str(&format!("- {words}\n"));
    if let Some(stop) = rows.stops_at {
        let refused = rows.steps.get(stop - 1).map(|step| (&step.change, &step.outcome));
        if let Some((change, StepOutcome::NotApplicable { not_applicable })) = refused {
            line(escape(&format!(
                "The path stops at step {stop} ({change}): {not_applicable}. The same change in what-if studies what people do in its place."
            )));
        }
        if stop == 1 {
            text.push_str(&format!("\n{}", footer(&rows.tool, rows.seed, &rows.keys)));
            return text;
        }
        line("What follows is about the steps before it.".to_owned());
    }
    line(format!(
        "All steps together move {}{}; going straight to the end would move {}{}, so the detour costs {}.",
        percent(rows.cumulative_fraction),
        in_brackets(rows.cumulative_bytes),
        percent(rows.straight_fraction),
        in_brackets(rows.straight_bytes),
        percent(rows.detour_fraction)
    ));
    line(format!(
        "{} of the keys move at all, {} more than once.",
        percent(rows.moved_once_or_more_fraction),
        percent(rows.moved_more_than_once_fraction)
    ));
    if let Some(machines) = rows.cumulative_between_machines_fraction {
        line(format!("Between machines all steps together move {}.", percent(machines)));
    }
    if let Some(restored) = rows.restores_the_first_mapping {
        line(if restored {
            "The end has the nodes of the beginning, and every key is where it was.".to_owned()
        } else {
            format!(
                "The end has the nodes of the beginning, but {} of the keys are elsewhere.",
                percent(rows.straight_fraction)
            )
        });
    }
    text.push_str(&format!("\n{}", footer(&rows.tool, rows.seed, &rows.keys)));
    text
}

fn steps(rows: &PathRows) -> Table {
    let headings = [
        "step",
        "change",
        "to",
        "nodes",
        "moved",
        "minimum",
        "needless",
        "disruption",
        "cumulative",
        "moved data",
        "seconds",
        "peak after",
        "between machines",
        "machine data",
        "machine peak",
    ];
    let mut table = Table::new(headings).with_numbers([0].into_iter().chain(3..headings.len()));
    for (number, step) in (1..).zip(&rows.steps) {
        let mut cells = vec![number.to_string(), step.change.clone()];
        match &step.outcome {
            StepOutcome::NotApplicable { .. } => cells.push("n/a".to_owned()),
            StepOutcome::Done(done) => {
                let of_machines =
                    |cell: &dyn Fn(&MachineRows) -> String| done.machines.as_ref().map_or_else(String::new, cell);
                cells.extend([
                    done.to.clone(),
                    done.nodes.to_string(),
                    percent(done.moves.moved_fraction),
                    percent(done.moves.minimum_fraction),
                    percent(done.moves.excess_fraction),
                    percent(done.moves.disruption_fraction),
                    percent(done.cumulative_fraction),
                    done.moved_bytes.map_or_else(String::new, size),
                    done.seconds_serial.map_or_else(String::new, |seconds| format!("{seconds:.0}")),
                    ratio(done.after.peak_to_average),
                    of_machines(&|machines| percent(machines.moved_fraction)),
                    of_machines(&|machines| machines.moved_bytes.map_or_else(String::new, size)),
                    of_machines(&|machines| ratio(machines.after.peak_to_average)),
                ]);
            }
        }
        cells.resize(headings.len(), String::new());
        table.row(cells);
    }
    table.without_empty_columns()
}
