use shardlab_core::rows::{Balance, Busiest, CopyLoad, Fate, Flow, LoadChange, NodeFlow, WhatIf, counted};

use crate::frame::{dash, escape_of, footer, list, of_keys, seconds, size, size_or_dash};
use crate::table::{Format, Table};
use shardlab_core::rows::{percent, ratio};

/// Beyond so many nodes the largest flows stand in the place of the matrix; JSON has it whole.
const WIDEST_MATRIX: usize = 24;

/// How many of the largest flows stand in text.
const MOST_FLOWS: usize = 10;

/// How many nodes, machines or heirs stand in text; CSV and JSON have all.
const MOST_NODES: usize = 64;

/// A what-if as text: the summary, one row a node, the matrix where it is legible, and the reading.
/// As CSV it is one row a node.
#[must_use]
pub fn what_if_text(rows: &WhatIf, format: Format, width: Option<u16>) -> String {
    if format == Format::Csv {
        return nodes(rows, &rows.per_node.iter().collect::<Vec<_>>(), true).render(Format::Csv, None);
    }
    let escape = escape_of(format);
    let mut text = String::new();
    let mut block = |words: &str| {
        text.push_str(words);
        text.push_str("\n\n");
    };
    block(&escape(&format!(
        "{}: {} on {} → {} on {}; {}",
        rows.change,
        rows.from,
        counted(rows.from_nodes, "node"),
        rows.to,
        counted(rows.to_nodes, "node"),
        of_keys(&rows.keys)
    )));
    block(summary(rows).render(format, width).trim_end());
    if let Some(busiest) = busiest(rows) {
        block(busiest.render(format, width).trim_end());
    }
    let (shown, left_out) = busiest_nodes(rows);
    block(nodes(rows, &shown, false).render(format, width).trim_end());
    if left_out > 0 {
        block(&format!(
            "The {MOST_NODES} nodes with the most keys that arrive or depart; {left_out} more, see --format csv or json."
        ));
    }
    if let Some(matrix) = matrix(rows) {
        block("Keys from node (row) to node (column):");
        block(matrix.render(format, width).trim_end());
    } else if !rows.matrix.is_empty() {
        block("The largest flows from node to node:");
        block(largest_flows(&rows.matrix).render(format, width).trim_end());
        let left_out = rows.matrix.len().saturating_sub(MOST_FLOWS);
        if left_out > 0 {
            block(&format!("{left_out} more, see --format json."));
        }
    }
    if let Some(machines) = machines(rows) {
        block("Machines:");
        block(machines.render(format, width).trim_end());
    } else if let Some(machines) = &rows.machines {
        block(&format!("{} machines, see --format json.", machines.per_machine.len()));
    }
    if let Some(heirs) = heirs(rows) {
        block("Who takes over the keys of the nodes that leave:");
        block(heirs.render(format, width).trim_end());
    } else if let Some(heirs) = &rows.heirs {
        block(&format!("{} nodes take over the keys of those that leave, see --format json.", heirs.rows.len()));
    }
    block(&format!("Reading:\n{}", list(&rows.reading, format)));
    if !rows.notes.is_empty() {
        block(&format!("Notes:\n{}", list(&rows.notes, format)));
    }
    text.push_str(&footer(&rows.tool, rows.seed, &rows.keys));
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
        "written anew",
        "in sequence",
        "all at work",
        "all written",
        "peak after",
        "moved requests",
        "between machines",
        "copies made",
    ];
    let mut table = Table::new(headings).with_numbers(2..headings.len());
    let or_nothing = |known: Option<u128>| known.map_or_else(String::new, size);
    for rows in all {
        table.row([
            rows.change.clone(),
            rows.to.clone(),
            rows.to_nodes.to_string(),
            percent(rows.moves.moved_fraction),
            percent(rows.moves.minimum_fraction),
            percent(rows.moves.excess_fraction),
            percent(rows.moves.disruption_fraction),
            rows.left_parent_fraction.map_or_else(String::new, percent),
            or_nothing(rows.moved_bytes),
            or_nothing(rows.rewritten_bytes),
            seconds(rows.seconds_serial),
            seconds(rows.seconds_parallel),
            seconds(rows.seconds_rewritten),
            ratio(rows.after.peak_to_average),
            rows.moved_requests.map_or_else(String::new, |requests| requests.to_string()),
            rows.machines.as_ref().map_or_else(String::new, |machines| percent(machines.moved_fraction)),
            rows.replicas.as_ref().map_or_else(String::new, |copies| percent(copies.made_fraction)),
        ]);
    }
    table.without_empty_columns().render(format, width)
}

fn summary(rows: &WhatIf) -> Table {
    let headings = ["", "keys", "data", "requests"];
    let mut table = Table::new(headings).with_numbers([1, 2, 3]);
    let has_requests = rows.moved_requests.is_some();
    let per_second = if rows.requests_per_second == Some(true) { "/s" } else { "" };
    let mut row = |name: &str, keys: String, data: String, requests: Option<u128>| {
        let requests = match requests {
            Some(requests) => format!("{requests}{per_second}"),
            None if has_requests => dash(),
            None => String::new(),
        };
        table.row([name.to_owned(), keys, data, requests]);
    };
    // In a split the number of a document's shard changes and its data stays: two lines.
    match rows.left_parent_fraction {
        Some(left) => {
            row("shard number changed", percent(rows.moves.moved_fraction), dash(), rows.moved_requests);
            row("left its parent, data moved", percent(left), size_or_dash(rows.moved_bytes), None);
        }
        None => {
            row("moved", percent(rows.moves.moved_fraction), size_or_dash(rows.moved_bytes), rows.moved_requests);
        }
    }
    let mut line = |name: &str, keys: String, data: String| row(name, keys, data, None);
    line("minimum for these counts", percent(rows.moves.minimum_fraction), dash());
    line("needless", percent(rows.moves.excess_fraction), dash());
    line("between surviving nodes", percent(rows.moves.disruption_fraction), dash());
    line("ideal", percent(rows.moves.ideal_fraction), dash());
    if let Some(exact) = rows.exact_moved_fraction {
        line("moved, of all keys there can be", percent(exact), dash());
    }
    if let Some(rewritten) = rows.rewritten_bytes {
        line("written anew", dash(), size(rewritten));
    }
    let mut time = |name: &str, known: Option<f64>| {
        if known.is_some() {
            line(name, dash(), seconds(known));
        }
    };
    time("time in sequence, moved data", rows.seconds_serial);
    time("time with all nodes at work", rows.seconds_parallel);
    if rows.rewritten_bytes != rows.moved_bytes {
        time("time in sequence, data written anew", rows.seconds_rewritten);
    }
    let peak = |balance: &Balance| format!("{} ({})", ratio(balance.peak_to_average), balance.verdict.as_str());
    if let Some(machines) = &rows.machines {
        line("moved between machines", percent(machines.moved_fraction), size_or_dash(machines.moved_bytes));
        for (name, known) in [
            ("time in sequence, between machines", machines.seconds_serial),
            ("time with all machines at work", machines.seconds_parallel),
        ] {
            if known.is_some() {
                line(name, dash(), seconds(known));
            }
        }
        line("fullest machine over the mean, before", peak(&machines.before), dash());
        line("fullest machine over the mean, after", peak(&machines.after), dash());
    }
    line("fullest node over the mean, before", peak(&rows.before), dash());
    line("fullest node over the mean, after", peak(&rows.after), dash());
    if let Some(copies) = &rows.replicas {
        let fullest = |load: &CopyLoad| ratio(load.peak_to_average);
        line("copies made, of all copies", percent(copies.made_fraction), size_or_dash(copies.made_bytes));
        line("minimum for these counts of copies", percent(copies.made_minimum_fraction), dash());
        line("fullest node by copies, before", fullest(&copies.before), dash());
        line("fullest node by copies, after", fullest(&copies.after), dash());
        line("keys that lose their first owner", copies.lost_first_owner.to_string(), dash());
        line("of them with a copy that is left", copies.kept_a_copy.to_string(), dash());
        line("keys that lose every copy", copies.lost_every_copy.to_string(), size_or_dash(copies.lost_bytes));
    }
    table.without_empty_columns()
}

/// The busiest node by each measure, where they do not all say the same: bytes that are shared out evenly
/// lie as the keys do.
fn busiest(rows: &WhatIf) -> Option<Table> {
    let (keys, others) = rows.busiest.split_first()?;
    let like_keys =
        |row: &Busiest| row.before.node_name == keys.before.node_name && row.after.node_name == keys.after.node_name;
    if rows.moved_requests.is_none() && others.iter().all(like_keys) {
        return None;
    }
    let headings = ["busiest by", "before", "load", "over fair", "after", "load", "over fair"];
    let mut table = Table::new(headings).with_numbers([2, 3, 5, 6]);
    for row in &rows.busiest {
        let load = |load: u128| if row.measure == "bytes" { size(load) } else { load.to_string() };
        table.row([
            row.measure.to_owned(),
            row.before.node_name.clone(),
            load(row.before.load),
            ratio(row.before.over_fair),
            row.after.node_name.clone(),
            load(row.after.load),
            ratio(row.after.over_fair),
        ]);
    }
    Some(table)
}

/// The nodes that text has room for, in their order: those through whose door the most goes. And how many
/// are left out.
fn busiest_nodes(rows: &WhatIf) -> (Vec<&NodeFlow>, usize) {
    let mut places: Vec<usize> = (0..rows.per_node.len()).collect();
    if places.len() > MOST_NODES {
        places.sort_by_key(|&place| {
            let load = &rows.per_node[place].load;
            std::cmp::Reverse(load.keys_in.max(load.keys_out))
        });
        places.truncate(MOST_NODES);
        places.sort_unstable();
    }
    let left_out = rows.per_node.len() - places.len();
    (places.into_iter().map(|place| &rows.per_node[place]).collect(), left_out)
}

/// A number in a table of loads.
enum Amount {
    Count(u128),
    Bytes(u128),
    Net(i128),
}

impl Amount {
    fn raw(&self) -> String {
        match self {
            Self::Count(number) | Self::Bytes(number) => number.to_string(),
            Self::Net(number) => number.to_string(),
        }
    }

    fn shown(&self) -> String {
        match self {
            Self::Bytes(number) => size(*number),
            Self::Net(number) => format!("{number:+}"),
            Self::Count(_) => self.raw(),
        }
    }
}

/// One column of a table of loads: its heading in text, its name in CSV, and the number.
type LoadColumn = (&'static str, &'static str, fn(&LoadChange) -> Option<Amount>);

/// The columns of loads. Data has two pairs in a split, where another number is no move.
fn load_columns(lineage: bool, sample: &LoadChange, raw: bool) -> Vec<LoadColumn> {
    use Amount::{Bytes, Count, Net};
    let keys: [LoadColumn; 6] = [
        ("keys before", "keys_before", |load| Some(Count(load.keys_before.into()))),
        ("keys after", "keys_after", |load| Some(Count(load.keys_after.into()))),
        (if lineage { "number changed in" } else { "in" }, "keys_in", |load| Some(Count(load.keys_in.into()))),
        (if lineage { "number changed out" } else { "out" }, "keys_out", |load| Some(Count(load.keys_out.into()))),
        ("net", "keys_net", |load| Some(Net(load.keys_net))),
        ("peak", "keys_peak", |load| Some(Count(load.keys_peak.into()))),
    ];
    let data: [LoadColumn; 5] = [
        ("data before", "bytes_before", |load| load.bytes_before.map(Bytes)),
        ("data after", "bytes_after", |load| load.bytes_after.map(Bytes)),
        ("data in", "bytes_in", |load| load.bytes_in.map(Bytes)),
        ("data out", "bytes_out", |load| load.bytes_out.map(Bytes)),
        ("data peak", "bytes_peak", |load| load.bytes_peak.map(Bytes)),
    ];
    let moved: [LoadColumn; 2] = [
        ("data moved in", "bytes_moved_in", |load| load.bytes_moved_in.map(Bytes)),
        ("data moved out", "bytes_moved_out", |load| load.bytes_moved_out.map(Bytes)),
    ];
    let requests: [LoadColumn; 4] = [
        ("requests before", "requests_before", |load| load.requests_before.map(Count)),
        ("requests after", "requests_after", |load| load.requests_after.map(Count)),
        ("requests in", "requests_in", |load| load.requests_in.map(Count)),
        ("requests out", "requests_out", |load| load.requests_out.map(Count)),
    ];
    let mut columns = keys.to_vec();
    if sample.bytes_before.is_some() {
        // In CSV every name is there whatever the change is.
        match (raw, lineage) {
            (true, _) => columns.extend(data.into_iter().chain(moved)),
            (false, false) => columns.extend(data),
            (false, true) => columns.extend([data[0], data[1], moved[0], moved[1], data[4]]),
        }
    }
    if sample.requests_before.is_some() {
        columns.extend(requests);
    }
    columns
}

/// A table with the loads of places, after columns that say which places they are.
fn load_table<'a>(
    of: &[&'static str],
    places: impl Iterator<Item = (Vec<String>, &'a LoadChange)>,
    columns: &[LoadColumn],
    raw: bool,
) -> Table {
    let headings = columns.iter().map(|(heading, name, _)| if raw { *name } else { *heading });
    let numeric = (0..of.len()).filter(|&place| of[place] == "node").chain(of.len()..of.len() + columns.len());
    let mut table = Table::new(of.iter().copied().chain(headings)).with_numbers(numeric);
    let text = if raw { Amount::raw } else { Amount::shown };
    for (mut cells, load) in places {
        cells.extend(columns.iter().map(|(_, _, pick)| pick(load).as_ref().map_or_else(dash, text)));
        table.row(cells);
    }
    table
}

fn nodes(rows: &WhatIf, shown: &[&NodeFlow], raw: bool) -> Table {
    let Some(first) = rows.per_node.first() else { return Table::default() };
    let of = if raw { ["node", "node_name", "fate"] } else { ["node", "name", "fate"] };
    let places = shown.iter().map(|row| {
        let fate = match row.fate {
            Fate::Stays => "stays",
            Fate::Joins => "joins",
            Fate::Leaves => "leaves",
        };
        (vec![row.node.to_string(), row.node_name.clone(), fate.to_owned()], &row.load)
    });
    load_table(&of, places, &load_columns(rows.left_parent_fraction.is_some(), &first.load, raw), raw)
}

fn machines(rows: &WhatIf) -> Option<Table> {
    let machines = &rows.machines.as_ref()?.per_machine;
    let first = machines.first().filter(|_| machines.len() <= MOST_NODES)?;
    let places = machines.iter().map(|row| (vec![row.machine_name.clone()], &row.load));
    Some(load_table(&["machine"], places, &load_columns(false, &first.load, false), false))
}

fn heirs(rows: &WhatIf) -> Option<Table> {
    let heirs = &rows.heirs.as_ref()?.rows;
    let mut table = Table::new(["node", "keys", "part"]).with_numbers([1, 2]);
    if heirs.len() > MOST_NODES {
        return None;
    }
    for heir in heirs {
        table.row([heir.node_name.clone(), heir.keys.to_string(), percent(heir.fraction)]);
    }
    Some(table)
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

/// The largest flows by keys; of equals the first by place.
fn largest_flows(matrix: &[Flow]) -> Table {
    let mut flows: Vec<&Flow> = matrix.iter().collect();
    flows.sort_by_key(|flow| (std::cmp::Reverse(flow.keys), flow.from, flow.to));
    let mut table = Table::new(["from", "to", "keys", "data", "requests"]).with_numbers([2, 3, 4]);
    for flow in flows.into_iter().take(MOST_FLOWS) {
        table.row([
            flow.from_name.clone(),
            flow.to_name.clone(),
            flow.keys.to_string(),
            flow.bytes.map_or_else(String::new, size),
            flow.requests.map_or_else(String::new, |requests| requests.to_string()),
        ]);
    }
    table.without_empty_columns()
}
