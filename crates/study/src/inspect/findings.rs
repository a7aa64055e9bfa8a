//! Facts turned into findings: how much each matters, in a sentence with its number, and what to do.

mod loads;
mod patterns;
mod shapes;

use shardlab_core::rows::{Finding, Inspection, PlacedValues, PlacementOutcome, Severity};

use super::numbers::Numbers;
use super::places::Row;
use super::values::Values;

/// Below so many values a pattern may be chance: twenty numbers have an even difference throughout in
/// one case of half a million.
const ENOUGH: u64 = 20;

/// Below so many on a node nothing can be said about a spread.
const PER_NODE: u64 = 5;

/// Everything that is worth a sentence, the most harmful first.
pub(super) fn findings(
    inspection: &Inspection,
    values: &Values,
    whole_lines: bool,
    numbers: Option<&Numbers>,
    rows: &[Row],
) -> Vec<Finding> {
    // A file that was not read as what it is makes all other findings void, so this one stands first.
    let mut found: Vec<Finding> = whole_lines.then(|| shapes::found(values, numbers)).flatten().into_iter().collect();
    found.extend(loads::found(inspection));
    found.extend(patterns::found(inspection, numbers, rows));
    found.sort_by_key(|finding| finding.severity);
    found
}

fn finding(kind: &'static str, severity: Severity, sentence: String, advice: &str) -> Finding {
    Finding { kind, severity, sentence, advice: advice.to_owned() }
}

/// The placements of one row, in the order of the inspection, where it could be placed.
fn placed<'a>(inspection: &'a Inspection, rows: &[Row], row: usize) -> Vec<(u32, &'a PlacedValues)> {
    let each = inspection.placements.len() / rows.len().max(1);
    let placements = inspection.placements.iter().skip(row * each).take(each);
    let placed = placements.filter_map(|placement| match &placement.outcome {
        PlacementOutcome::Placed(placed) => Some((placement.nodes, &**placed)),
        PlacementOutcome::NotApplicable { .. } => None,
    });
    placed.collect()
}

/// "1 of 4 nodes, 1 of 8".
fn used(cells: &[(u32, &PlacedValues)]) -> String {
    let cell = |(nodes, placed): &(u32, &PlacedValues)| format!("{} of {nodes}", placed.nodes_used);
    cells.iter().map(cell).collect::<Vec<_>>().join(", ")
}
