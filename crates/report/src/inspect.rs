use shardlab_core::rows::{Inspection, PlacedValues, PlacementOutcome, Trend, Verdict};

use crate::escape::{for_markdown, for_terminal};
use crate::table::{Format, Table};
use shardlab_core::rows::{bytes, percent, ratio};

/// An inspection as text: findings first, then the facts behind them. As CSV it is one row a finding.
#[must_use]
pub fn inspect_text(inspection: &Inspection, format: Format, width: Option<u16>) -> String {
    if format == Format::Csv {
        return findings_csv(inspection);
    }
    let escape = if format == Format::Markdown { for_markdown } else { for_terminal };
    let mut text = String::new();
    let mut block = |words: &str| {
        text.push_str(words.trim_end());
        text.push_str("\n\n");
    };
    block(&escape(&keys(inspection)));
    block(&findings(inspection, escape));
    block(&facts(inspection).render(format, width));
    if inspection.top_values.first().is_some_and(|top| top.rows > 1) || inspection.weights.is_some() {
        block("The most common values:");
        block(&top_values(inspection).render(format, width));
        block("What these values force on every scheme:");
        block(&floors(inspection).render(format, width));
    }
    block("The fullest node over the mean (peak/avg), and how many nodes are used where not all are:");
    block(&placements(inspection, load).render(format, width));
    let listed = |placed: &PlacedValues| placed.node_of_values.as_ref().map(|nodes| join(nodes));
    if inspection.cardinality.distinct_values <= LISTED {
        block("The node of each value, in the order in which they arrive:");
        block(&placements(inspection, |placed, _| listed(placed).unwrap_or_default()).render(format, width));
    }
    let few = separations(inspection);
    if let Some(few) = few {
        block("Numbers of nodes at which no node has more values than it must:");
        block(&few.render(format, width));
    }
    block(LEGEND);
    let notes: Vec<String> =
        inspection.keys.notes.iter().chain(&reasons(inspection)).map(|note| format!("- {}", escape(note))).collect();
    if !notes.is_empty() {
        block(&format!("Notes:\n{}", notes.join("\n")));
    }
    text.push_str(&format!("{}, seed {}, key digest {}\n", inspection.tool, inspection.seed, inspection.keys.digest));
    text
}

/// Up to so many values an inspection has the node of each.
const LISTED: u64 = 16;

const LEGEND: &str = "peak/avg counts documents. The mark ! says that the different values do not lie as chance would \
lay them by the scheme's own shares; repeated values and uneven schemes alone set none.";

fn join(nodes: &[u32]) -> String {
    nodes.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")
}

fn keys(inspection: &Inspection) -> String {
    let counted = &inspection.cardinality;
    let mut words =
        format!("{} from {}", shardlab_core::rows::counted(counted.rows, "document"), inspection.keys.description);
    for skipped in &inspection.keys.skipped {
        words.push_str(&format!("; {} skipped: {} (first at {})", skipped.count, skipped.reason, skipped.first_at));
    }
    words.push_str(&format!(
        "; placed by {}: {} different (counting them took {})",
        counted.placed_by,
        counted.distinct_values,
        bytes(counted.heap_bytes)
    ));
    words
}

fn findings(inspection: &Inspection, escape: fn(&str) -> String) -> String {
    if inspection.findings.is_empty() {
        return "Nothing was found that would matter or look odd.".to_owned();
    }
    let line = |finding: &shardlab_core::rows::Finding| {
        let severity = finding.severity.as_str();
        format!("- {severity}: {}. What to do: {}.", escape(&finding.sentence), escape(&finding.advice))
    };
    let lines: Vec<String> = inspection.findings.iter().map(line).collect();
    format!("Findings:\n{}", lines.join("\n"))
}

fn findings_csv(inspection: &Inspection) -> String {
    let mut table = Table::new(["severity", "kind", "sentence", "advice"]);
    for finding in &inspection.findings {
        let severity = finding.severity.as_str().to_owned();
        table.row([severity, finding.kind.to_owned(), finding.sentence.clone(), finding.advice.clone()]);
    }
    table.render(Format::Csv, None)
}

fn facts(inspection: &Inspection) -> Table {
    let mut table = Table::new(["fact", "value"]);
    let mut line = |name: &str, value: String| table.row([name.to_owned(), value]);
    let counted = &inspection.cardinality;
    line("documents", counted.rows.to_string());
    line("different documents", counted.distinct_documents.to_string());
    line("duplicates", counted.duplicates.to_string());
    line(&format!("different {}", counted.placed_by), counted.distinct_values.to_string());
    if let Some(texts) = &inspection.texts {
        line("lengths in bytes", format!("{} to {}", texts.shortest_bytes, texts.longest_bytes));
        if !texts.common_prefix.is_empty() {
            line("all begin with", texts.common_prefix.clone());
        }
        if !texts.common_suffix.is_empty() {
            line("all end with", texts.common_suffix.clone());
        }
        for uuid in &texts.uuids {
            line(&format!("UUIDs of version {}", uuid.version), uuid.count.to_string());
        }
    }
    if let Some(numbers) = &inspection.numbers {
        line("decimal numbers", format!("{} of {}", numbers.count, numbers.of));
        line("from, to", format!("{}, {}", numbers.min, numbers.max));
        for run in &numbers.constant_bits {
            line(&format!("constant bits {} to {}", run.from, run.to), format!("value {}", run.value));
        }
        line("common divisor of differences", numbers.divisor_of_differences.clone());
        line("common divisor of values", numbers.divisor.clone());
        if numbers.beyond_double > 0 {
            line("above 2^53 (held by a double)", format!("{} ({})", numbers.beyond_double, numbers.held_by_a_double));
        }
        for guess in &numbers.looks_like {
            line(&format!("may be {}", guess.kind), format!("{} to {}", guess.from, guess.to));
        }
    }
    let order = &inspection.order;
    let trend = match order.trend {
        Trend::Increasing => "increasing",
        Trend::Decreasing => "decreasing",
        Trend::Neither => "neither rising nor falling",
    };
    let correlation = order.correlation.map_or_else(|| "none".to_owned(), |value| format!("{value:.3}"));
    line(
        "order of arrival",
        format!("{trend} (correlation {correlation}; {} rise, {} fall)", order.ascents, order.descents),
    );
    if let Some(weights) = &inspection.weights {
        line("weight in all", weights.sum.clone());
        line(
            "heaviest document",
            format!("{} ({})", weights.heaviest_document, percent(weights.heaviest_document_share)),
        );
        line("heaviest value", format!("{} ({})", weights.heaviest_value, percent(weights.heaviest_value_share)));
    }
    table
}

fn top_values(inspection: &Inspection) -> Table {
    let mut table = Table::new(["value", "documents", "share", "share of weight"]).with_numbers(1..4);
    for top in &inspection.top_values {
        let weight = top.weight_share.map(percent).unwrap_or_default();
        table.row([top.value.clone(), top.rows.to_string(), percent(top.share), weight]);
    }
    table.without_empty_columns()
}

fn floors(inspection: &Inspection) -> Table {
    let headings =
        ["nodes", "least peak/avg", "expected of a fair hash", "least peak/avg of weight", "no help beyond n ="];
    let mut table = Table::new(headings).with_numbers(0..5);
    for floor in &inspection.floors {
        table.row([
            floor.nodes.to_string(),
            ratio(floor.rows_floor),
            ratio(floor.rows_expected),
            floor.weight_floor.map(ratio).unwrap_or_default(),
            floor.useless_beyond.map(|nodes| nodes.to_string()).unwrap_or_default(),
        ]);
    }
    table.without_empty_columns()
}

/// One row a scheme and hash, one column a number of nodes.
fn placements(inspection: &Inspection, cell: impl Fn(&PlacedValues, u32) -> String) -> Table {
    let nodes: Vec<u32> = inspection.floors.iter().map(|floor| floor.nodes).collect();
    let headings = ["scheme", "hash"].map(str::to_owned).into_iter().chain(nodes.iter().map(|n| format!("n={n}")));
    // Cells are numbers of ours, and specs and names of hashes have no line feeds.
    let mut table = Table::stacked(headings).with_numbers(2..nodes.len() + 2);
    for placements in inspection.placements.chunks(nodes.len().max(1)) {
        let Some(first) = placements.first() else { continue };
        let cells = placements.iter().map(|placement| match &placement.outcome {
            PlacementOutcome::NotApplicable { .. } => "n/a".to_owned(),
            PlacementOutcome::Placed(placed) => cell(placed, placement.nodes),
        });
        table.row([first.scheme.clone(), first.hash.clone()].into_iter().chain(cells));
    }
    table
}

fn load(placed: &PlacedValues, nodes: u32) -> String {
    let mark = if placed.verdict == Verdict::Structural { " !" } else { "" };
    let mut cell = format!("{}{mark}", ratio(placed.peak_to_average));
    if let Some(weight) = placed.weight_peak_to_average {
        cell.push_str(&format!("\nweight {}", ratio(weight)));
    }
    if placed.nodes_used < nodes {
        cell.push_str(&format!("\n{} used", placed.nodes_used));
    }
    cell
}

/// Why some rows have nothing at some numbers of nodes.
fn reasons(inspection: &Inspection) -> Vec<String> {
    let mut reasons = Vec::new();
    for placement in &inspection.placements {
        if let PlacementOutcome::NotApplicable { not_applicable } = &placement.outcome {
            reasons.push(format!("{} at n={}: {not_applicable}", placement.scheme, placement.nodes));
        }
    }
    reasons
}

fn separations(inspection: &Inspection) -> Option<Table> {
    if inspection.separations.is_empty() {
        return None;
    }
    let mut table = Table::new(["scheme", "hash", "nodes", "tried from 2 to"]).with_numbers([3]);
    for row in &inspection.separations {
        let nodes = if row.nodes.is_empty() { "none".to_owned() } else { join(&row.nodes) };
        table.row([row.scheme.clone(), row.hash.clone(), nodes, row.tried_to.to_string()]);
    }
    Some(table)
}
