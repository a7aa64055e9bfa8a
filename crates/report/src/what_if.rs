use shardlab_core::rows::{Balance, Fate, Removals, WhatIf};

use crate::escape::{for_markdown, for_terminal};
use crate::table::{Format, Table};
use crate::units::{bytes, percent, ratio};

/// Beyond so many nodes the matrix is left out of text; JSON has it whole.
const WIDEST_MATRIX: usize = 24;

/// A what-if as text: the summary, one row a node, the matrix where it is legible, and the reading.
/// As CSV it is one row a node.
#[must_use]
pub fn what_if_text(rows: &WhatIf, format: Format, width: Option<u16>) -> String {
    if format == Format::Csv {
        return nodes(rows, true).render(Format::Csv, None);
    }
    let escape = if format == Format::Markdown { for_markdown } else { for_terminal };
    let mut text = String::new();
    let mut block = |words: &str| {
        text.push_str(words);
        text.push_str("\n\n");
    };
    block(&escape(&format!(
        "{}: {} on {} nodes → {} on {} nodes; {} keys from {}",
        rows.change, rows.from, rows.from_nodes, rows.to, rows.to_nodes, rows.keys.accepted, rows.keys.description
    )));
    block(summary(rows).render(format, width).trim_end());
    block(nodes(rows, false).render(format, width).trim_end());
    if let Some(matrix) = matrix(rows) {
        block("Keys from node (row) to node (column):");
        block(matrix.render(format, width).trim_end());
    }
    let list = |sentences: &[String]| {
        sentences.iter().map(|words| format!("- {}", escape(words))).collect::<Vec<_>>().join("\n")
    };
    block(&format!("Reading:\n{}", list(&rows.reading)));
    if !rows.notes.is_empty() {
        block(&format!("Notes:\n{}", list(&rows.notes)));
    }
    text.push_str(&format!("{}, seed {}, key digest {}\n", rows.tool, rows.seed, rows.keys.digest));
    text
}

/// Several what-ifs in one table, a row each, for choosing between them.
#[must_use]
pub fn what_if_summary(all: &[WhatIf], format: Format, width: Option<u16>) -> String {
    let headings = [
        "change",
        "to",
        "nodes",
        "moved",
        "minimum",
        "needless",
        "disruption",
        "left parent",
        "moved data",
        "peak after",
    ];
    let mut table = Table::new(headings).with_numbers(2..headings.len());
    for rows in all {
        table.row([
            rows.change.clone(),
            rows.to.clone(),
            rows.to_nodes.to_string(),
            percent(rows.moved_fraction),
            percent(rows.minimum_fraction),
            percent(rows.excess_fraction),
            percent(rows.disruption_fraction),
            rows.left_parent_fraction.map_or_else(dash, percent),
            rows.moved_bytes.map_or_else(dash, size),
            ratio(rows.after.peak_to_average),
        ]);
    }
    table.render(format, width)
}

fn dash() -> String {
    "–".to_owned()
}

fn size(size: u128) -> String {
    u64::try_from(size).map_or_else(|_| format!("{size} B"), bytes)
}

fn summary(rows: &WhatIf) -> Table {
    let mut table = Table::new(["", "keys", "data"]).with_numbers([1, 2]);
    let mut line = |name: &str, keys: String, data: String| table.row([name.to_owned(), keys, data]);
    line("moved", percent(rows.moved_fraction), rows.moved_bytes.map_or_else(dash, size));
    line("minimum for these counts", percent(rows.minimum_fraction), dash());
    line("needless", percent(rows.excess_fraction), dash());
    line("between surviving nodes", percent(rows.disruption_fraction), dash());
    line("ideal", percent(rows.ideal_fraction), dash());
    if let Some(exact) = rows.exact_moved_fraction {
        line("moved, of all keys there can be", percent(exact), dash());
    }
    if let Some(left) = rows.left_parent_fraction {
        line("left its parent", percent(left), dash());
    }
    if let Some(rewritten) = rows.rewritten_bytes {
        line("written anew", dash(), size(rewritten));
    }
    let seconds = |seconds: Option<f64>| seconds.map(|seconds| format!("{seconds:.0} s"));
    if let (Some(serial), Some(parallel)) = (seconds(rows.seconds_serial), seconds(rows.seconds_parallel)) {
        line("time in sequence", dash(), serial);
        line("time with all nodes at work", dash(), parallel);
    }
    if let Some(machines) = &rows.machines {
        line("moved between machines", percent(machines.moved_fraction), machines.moved_bytes.map_or_else(dash, size));
        let peak = |balance: &Balance| format!("{} ({})", ratio(balance.peak_to_average), balance.verdict.as_str());
        line("fullest machine over the mean, before", peak(&machines.before), dash());
        line("fullest machine over the mean, after", peak(&machines.after), dash());
    }
    let peak = |balance: &Balance| format!("{} ({})", ratio(balance.peak_to_average), balance.verdict.as_str());
    line("fullest node over the mean, before", peak(&rows.before), dash());
    line("fullest node over the mean, after", peak(&rows.after), dash());
    table
}

fn nodes(rows: &WhatIf, raw: bool) -> Table {
    let has_bytes = rows.moved_bytes.is_some();
    let mut headings = vec!["node", "name", "fate", "keys before", "keys after", "in", "out", "peak"];
    if raw {
        headings = vec!["node", "node_name", "fate", "keys_before", "keys_after", "keys_in", "keys_out", "keys_peak"];
    }
    if has_bytes {
        headings.extend(if raw {
            ["bytes_before", "bytes_after", "bytes_in", "bytes_out", "bytes_peak"]
        } else {
            ["data before", "data after", "data in", "data out", "data peak"]
        });
    }
    let mut table = Table::new(headings.clone()).with_numbers([0].into_iter().chain(3..headings.len()));
    for row in &rows.per_node {
        let fate = match row.fate {
            Fate::Stays => "stays",
            Fate::Joins => "joins",
            Fate::Leaves => "leaves",
        };
        let mut cells = vec![row.node.to_string(), row.node_name.clone(), fate.to_owned()];
        cells.extend(
            [row.keys_before, row.keys_after, row.keys_in, row.keys_out, row.keys_peak].map(|keys| keys.to_string()),
        );
        if has_bytes {
            let shown = |bytes: Option<u128>| {
                bytes.map_or_else(dash, |bytes| if raw { bytes.to_string() } else { size(bytes) })
            };
            cells.extend([row.bytes_before, row.bytes_after, row.bytes_in, row.bytes_out, row.bytes_peak].map(shown));
        }
        table.row(cells);
    }
    table
}

/// Rows are the nodes before and columns those after; what stays is left out.
fn matrix(rows: &WhatIf) -> Option<Table> {
    let (from, to) = (rows.from_nodes as usize, rows.to_nodes as usize);
    if rows.matrix.is_empty() || from > WIDEST_MATRIX || to > WIDEST_MATRIX {
        return None;
    }
    let mut cells = vec![vec![String::new(); to + 1]; from];
    for flow in &rows.matrix {
        let row = &mut cells[flow.from as usize];
        row[0].clone_from(&flow.from_name);
        row[flow.to as usize + 1] = flow.keys.to_string();
    }
    let after = rows.per_node.iter().filter(|node| node.fate != Fate::Leaves).map(|node| node.node_name.clone());
    let mut table = Table::new(std::iter::once("from \\ to".to_owned()).chain(after)).with_numbers(1..=to);
    for row in cells.into_iter().filter(|row| !row[0].is_empty()) {
        table.row(row);
    }
    Some(table)
}

/// What each single removal would cost, with the mean and the worst below.
#[must_use]
pub fn removals_text(removals: &Removals, format: Format, width: Option<u16>) -> String {
    let headings = ["node lost", "moved", "needless", "peak after", "largest heir", "inherits"];
    let mut table = Table::new(headings).with_numbers([1, 2, 3, 5]);
    for row in &removals.rows {
        table.row([
            row.node_name.clone(),
            percent(row.moved_fraction),
            percent(row.excess_fraction),
            ratio(row.peak_after),
            row.heir.clone(),
            percent(row.heir_fraction),
        ]);
    }
    let table = table.render(format, width);
    if format == Format::Csv {
        return table;
    }
    let escape = if format == Format::Markdown { for_markdown } else { for_terminal };
    format!(
        "{}\n\n{table}\nReading:\n- The loss of one node moves {} on average and {} at worst ({}).\n- The fullest \
         survivor then holds {} times its fair load on average and {} times at worst (without {}).\n\n{}, seed {}, key \
         digest {}\n",
        escape(&format!("{}; {} keys from {}", removals.scheme, removals.keys.accepted, removals.keys.description)),
        percent(removals.mean_moved_fraction),
        percent(removals.worst_moved_fraction),
        escape(&removals.worst_moved_node),
        ratio(removals.mean_peak_after),
        ratio(removals.worst_peak_after),
        escape(&removals.worst_peak_node),
        removals.tool,
        removals.seed,
        removals.keys.digest
    )
}
