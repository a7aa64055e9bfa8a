use std::collections::{BTreeMap, BTreeSet};

use shardlab_core::rows::{Fate, WhatIf, counted};

use super::canvas::{Canvas, ChartError, MARGIN, Side, TEXT};
use super::palette::{Role, SHADES};
use super::words::{harmless, short, width};
use shardlab_core::rows::percent;

/// More rows or columns than this are drawn several in one.
const MOST_BINS: usize = 100;

/// The side of the field of cells, at the most.
const FIELD: f64 = 500.0;

/// The side of a cell, at the most.
const LARGEST_CELL: f64 = 58.0;

/// What stays free beside a number in its cell, and beside a name above its column.
const AROUND: f64 = 8.0;

/// Room for names.
const NAME: f64 = 112.0;

/// Names nearer to each other would touch.
const APART: f64 = TEXT * 1.3;

/// Beyond this factor between the least and the most, shades are by equal factors.
const WIDE: f64 = 20.0;

/// The nodes along one side of the field, in equal groups but for the last.
struct Axis {
    names: Vec<String>,
    /// Whether the node joins (columns) or leaves (rows).
    marked: Vec<bool>,
    each: usize,
}

impl Axis {
    fn new(nodes: Vec<(String, bool)>, each: usize) -> Self {
        let (names, marked): (Vec<_>, Vec<_>) = nodes.into_iter().unzip();
        Self { names, marked, each }
    }

    fn bins(&self) -> usize {
        self.names.len().div_ceil(self.each)
    }

    /// How many nodes a bin has.
    fn nodes_in(&self, bin: usize) -> usize {
        self.each.min(self.names.len() - bin * self.each)
    }

    /// Whether any node of a bin is marked.
    fn is_marked(&self, bin: usize) -> bool {
        self.marked[bin * self.each..].iter().take(self.each).any(|marked| *marked)
    }
}

/// What lies in a cell.
#[derive(Clone, Copy, Default)]
struct Cell {
    keys: u128,
    /// Whether any of it goes elsewhere, and not to another number in its parent shard alone.
    data_moves: bool,
    /// Whether a node is here both row and column.
    diagonal: bool,
    /// Whether such a node keeps any of its keys.
    stays: bool,
}

struct Field {
    rows: Axis,
    columns: Axis,
    cells: Vec<Cell>,
}

/// From where to where a change moves keys, as an SVG picture: a row for each node before and a column
/// for each after, the same nodes in the same order, and in each cell the keys that go this way. What
/// stays on its node is grey, what stays inside its parent shard is green. Beyond 100 nodes a cell shows
/// the mean of several pairs of nodes, and the picture says of how many.
///
/// # Errors
/// The picture cannot be drawn.
pub fn flow_chart(rows: &WhatIf) -> Result<String, ChartError> {
    let field = field(rows);
    let asked = format!(
        "{} to {}, {} from {}",
        of_nodes(&rows.from, rows.from_nodes),
        of_nodes(&rows.to, rows.to_nodes),
        counted(rows.keys.accepted, "key"),
        rows.keys.description
    );
    let mut canvas = Canvas::new(&finding(rows), &asked);
    let each = field.rows.each;
    if each > 1 {
        let bins = format!("Each cell is the mean of {each} × {each} pairs of nodes");
        canvas.explain(&bins);
        canvas.describe(&bins);
    }
    let lineage = rows.left_parent_fraction.is_some();
    let mut meanings = vec![(Role::Quiet, "stays where it is")];
    if field.cells.iter().any(|cell| cell.diagonal && !cell.stays) {
        meanings.push((Role::Grid, "same node, keeps nothing"));
    }
    if lineage {
        meanings.push((Role::OtherShade(4), "another shard number, in its parent shard"));
    }
    if field.columns.marked.contains(&true) {
        meanings.push((Role::Third, if each > 1 { "a node that joins is among them" } else { "joins" }));
    }
    if field.rows.marked.contains(&true) {
        meanings.push((Role::Bad, if each > 1 { "a node that leaves is among them" } else { "leaves" }));
    }
    canvas.key(&meanings);
    for flow in rows.matrix.iter().take(MOST_BINS) {
        canvas.describe(&format!("{} to {}: {}", flow.from_name, flow.to_name, counted(flow.keys, "key")));
    }
    if rows.matrix.len() > MOST_BINS {
        canvas.describe(&format!("and {} more pairs of nodes", rows.matrix.len() - MOST_BINS));
    }
    let bottom = draw(&mut canvas, &field);
    canvas.svg(bottom)
}

fn of_nodes(spec: &str, nodes: u32) -> String {
    format!("{spec} on {}", counted(nodes, "node"))
}

fn finding(rows: &WhatIf) -> String {
    let moved = percent(rows.moves.moved_fraction);
    if rows.moved_keys == 0 {
        return format!("{}: no key moves", rows.change);
    }
    if let Some(left) = rows.left_parent_fraction {
        let leave = if left == 0.0 { "none leaves".to_owned() } else { format!("{} leave", percent(left)) };
        return format!("{}: {moved} of the keys get another shard number, {leave} its parent shard", rows.change);
    }
    let mut words = format!("{}: {moved} of the keys move", rows.change);
    let fate = |wanted: Fate| rows.per_node.iter().filter(|node| node.fate == wanted).count();
    match (fate(Fate::Joins), fate(Fate::Leaves)) {
        (joins, 0) if joins > 0 && rows.monotone => {
            words.push_str(&format!(", all onto the {}", with_verb(joins, "joins", "join")));
        }
        (0, leaves) if leaves > 0 && rows.monotone => {
            words.push_str(&format!(", all off the {}", with_verb(leaves, "leaves", "leave")));
        }
        _ => {}
    }
    if rows.moves.disruption_fraction > 0.0 {
        words.push_str(&format!(", {} between nodes that stay", percent(rows.moves.disruption_fraction)));
    }
    if rows.moves.excess_fraction > 0.0 {
        words.push_str(&format!(", {} needlessly", percent(rows.moves.excess_fraction)));
    }
    words
}

/// "node that joins" or "3 nodes that join".
fn with_verb(nodes: usize, one: &str, several: &str) -> String {
    if nodes == 1 { format!("node that {one}") } else { format!("{nodes} nodes that {several}") }
}

/// Sorts the flows into cells. Nodes stand in the order of the membership after, those that leave below.
fn field(rows: &WhatIf) -> Field {
    let mut row_of_name: BTreeMap<&str, usize> = BTreeMap::new();
    let mut before: Vec<(String, bool)> = Vec::new();
    let mut after: Vec<(String, bool)> = Vec::new();
    let mut stays: Vec<(usize, usize, bool)> = Vec::new();
    for node in &rows.per_node {
        if node.fate != Fate::Leaves {
            after.push((node.node_name.clone(), node.fate == Fate::Joins));
        }
        if node.fate != Fate::Joins {
            if node.fate == Fate::Stays {
                stays.push((before.len(), after.len() - 1, node.load.keys_before > node.load.keys_out));
            }
            row_of_name.insert(&node.node_name, before.len());
            before.push((node.node_name.clone(), node.fate == Fate::Leaves));
        }
    }
    // A node that stays under another name has had this one before.
    for flow in &rows.matrix {
        row_of_name.entry(&flow.from_name).or_insert_with(|| {
            before.push((flow.from_name.clone(), false));
            before.len() - 1
        });
    }
    // Groups of one size keep the diagonal straight.
    let each = before.len().max(after.len()).div_ceil(MOST_BINS).max(1);
    let (rows_side, columns) = (Axis::new(before, each), Axis::new(after, each));
    let mut cells = vec![Cell::default(); rows_side.bins() * columns.bins()];
    for (row, column, any) in stays {
        let cell = &mut cells[row / rows_side.each * columns.bins() + column / columns.each];
        cell.diagonal = true;
        cell.stays |= any;
    }
    for flow in &rows.matrix {
        let Some(row) = row_of_name.get(flow.from_name.as_str()) else { continue };
        let Some(column) = usize::try_from(flow.to).ok().filter(|&column| column < columns.names.len()) else {
            continue;
        };
        let cell = &mut cells[row / rows_side.each * columns.bins() + column / columns.each];
        cell.keys += u128::from(flow.keys);
        cell.data_moves |= flow.data_moves;
    }
    Field { rows: rows_side, columns, cells }
}

/// Which keys in a cell have which shade.
struct Shading {
    /// The least number of each shade.
    from: Vec<f64>,
    most: f64,
}

impl Shading {
    fn new(values: impl Iterator<Item = f64> + Clone) -> Self {
        let most = values.clone().fold(0.0, f64::max);
        let least = values.fold(most, f64::min);
        let shades = f64::from(SHADES);
        let from = (0..SHADES).map(|shade| {
            let part = f64::from(shade) / shades;
            match shade {
                0 => least,
                _ if most > least * WIDE => least * libm::pow(most / least, part),
                _ => least.max(most * part),
            }
        });
        Self { from: from.collect(), most }
    }

    fn shade(&self, value: f64) -> u8 {
        let below = (1..SHADES).zip(self.from.iter().skip(1)).take_while(|(_, from)| value >= **from);
        below.last().map_or(0, |(shade, _)| shade)
    }
}

/// Draws the field, its names and the scale; says how high the picture is.
fn draw(canvas: &mut Canvas, field: &Field) -> f64 {
    let (down, across) = (field.rows.bins(), field.columns.bins());
    let longest = down.max(across).max(1) as f64;
    let cell = (FIELD / longest).min(LARGEST_CELL).floor();
    let names = |side: &Axis| side.names.iter().map(|name| width(&harmless(name), TEXT)).fold(0.0, f64::max).min(NAME);
    let left = MARGIN + 24.0 + names(&field.rows) + 12.0;
    // Names as narrow as their columns are read without turning the head.
    let upright = names(&field.columns) + AROUND > cell;
    let top = canvas.top + 22.0 + if upright { names(&field.columns) } else { TEXT } + 14.0;
    let place = |row: usize, column: usize| (left + column as f64 * cell, top + row as f64 * cell);
    let (right, bottom) = (place(0, across).0, place(down, 0).1);
    let mean = |row: usize, column: usize, cell: &Cell| {
        cell.keys as f64 / (field.rows.nodes_in(row) * field.columns.nodes_in(column)) as f64
    };
    let cells = || field.cells.iter().enumerate().map(|(at, cell)| (at / across, at % across, cell));
    let shading =
        Shading::new(cells().filter(|(_, _, cell)| cell.keys > 0).map(|(row, column, cell)| mean(row, column, cell)));
    let gap = if cell >= 8.0 { 1.0 } else { 0.0 };
    let numbers = cells().filter(|(_, _, cell)| cell.keys > 0).map(|(row, column, cell)| mean(row, column, cell));
    let widest = numbers.map(|number| width(&short(number), TEXT)).fold(0.0, f64::max);
    let has_room = widest + AROUND <= cell;
    for (row, column, here) in cells() {
        let ((x, y), number) = (place(row, column), mean(row, column, here));
        let shade = shading.shade(number);
        let role = match here {
            Cell { keys: 0, stays: true, .. } => Role::Quiet,
            Cell { keys: 0, diagonal: true, .. } => {
                canvas.outline((x + gap, y + gap), (x + cell - 2.0 * gap, y + cell - 2.0 * gap), Role::Muted);
                continue;
            }
            Cell { keys: 0, .. } => continue,
            Cell { data_moves: true, .. } => Role::Shade(shade),
            _ => Role::OtherShade(shade),
        };
        canvas.rectangle((x, y), (x + cell - gap, y + cell - gap), role);
        if here.keys > 0 && here.diagonal {
            canvas.line([(x, y), (x + cell - gap, y + cell - gap)], Role::Ink, 1);
        }
        if here.keys > 0 && has_room {
            let middle = (x + cell / 2.0, y + cell / 2.0);
            canvas.text(middle, &short(number), Side::Middle, Role::on_shade(shade));
        }
    }
    canvas.outline((left - 1.0, top - 1.0), (right, bottom), Role::Muted);
    let [rows_named, columns_named] = [&field.rows, &field.columns].map(|side| named(side, cell));
    for bin in 0..down {
        let y = place(bin, 0).1;
        if rows_named.contains(&bin) {
            let name = &field.rows.names[bin * field.rows.each];
            canvas.text_in((left - 10.0, y + cell / 2.0), name, Side::End, Role::Ink, NAME);
        }
        if field.rows.is_marked(bin) {
            canvas.rectangle((left - 7.0, y), (left - 3.0, y + cell - gap), Role::Bad);
        }
    }
    for bin in 0..across {
        let x = place(0, bin).0;
        if columns_named.contains(&bin) {
            let name = &field.columns.names[bin * field.columns.each];
            if upright {
                canvas.upright((x + cell / 2.0, top - 10.0), name, Side::Start, Role::Ink, NAME);
            } else {
                canvas.text_in((x + cell / 2.0, top - 10.0 - TEXT / 2.0), name, Side::Middle, Role::Ink, cell);
            }
        }
        if field.columns.is_marked(bin) {
            canvas.rectangle((x, top - 7.0), (x + cell - gap, top - 3.0), Role::Third);
        }
    }
    canvas.text((f64::midpoint(left, right), canvas.top + 10.0), "to node", Side::Middle, Role::Muted);
    canvas.upright((MARGIN + 6.0, f64::midpoint(top, bottom)), "from node", Side::Middle, Role::Muted, FIELD);
    let scale_bottom = scale(canvas, field, &shading, right + 20.0, top);
    bottom.max(scale_bottom) + MARGIN + 4.0
}

/// Which bins have their names beside them: as many as do not touch, those that join or leave before all others. The
/// first node of a bin stands for all.
fn named(side: &Axis, cell: f64) -> BTreeSet<usize> {
    let mut named = BTreeSet::new();
    let far = |one: usize, other: usize| one.abs_diff(other) as f64 * cell >= APART;
    for wanted in [true, false] {
        for bin in (0..side.bins()).filter(|bin| side.is_marked(*bin) == wanted) {
            let (before, after) = (named.range(..bin).next_back(), named.range(bin..).next());
            if before.into_iter().chain(after).all(|other: &usize| far(*other, bin)) {
                named.insert(bin);
            }
        }
    }
    named
}

/// The shades with the keys that they stand for.
fn scale(canvas: &mut Canvas, field: &Field, shading: &Shading, x: f64, top: f64) -> f64 {
    if shading.most <= 0.0 {
        return top;
    }
    let moving = field.cells.iter().any(|cell| cell.keys > 0 && cell.data_moves);
    let within = field.cells.iter().any(|cell| cell.keys > 0 && !cell.data_moves);
    let mut y = top + 6.0;
    canvas.text((x, y), "keys from one node", Side::Start, Role::Muted);
    canvas.text((x, y + TEXT * 1.3), "to one other", Side::Start, Role::Muted);
    y += TEXT * 3.0;
    for (shade, from) in (0..SHADES).zip(&shading.from).rev() {
        let next = shading.from.get(usize::from(shade) + 1).copied();
        // Whole keys: each number belongs to one shade.
        let whole = |bound: f64| if field.rows.each == 1 { bound.ceil() } else { bound };
        let below = if field.rows.each == 1 { 1.0 } else { 0.0 };
        let (from, to) = (whole(*from), next.map_or(shading.most, |next| whole(next) - below));
        // Between least and most there may be no room for every shade.
        let is_empty = if below > 0.0 { to < from } else { to <= from };
        if is_empty && next.is_some() {
            continue;
        }
        let mut at = x;
        for role in
            [moving.then_some(Role::Shade(shade)), within.then_some(Role::OtherShade(shade))].into_iter().flatten()
        {
            canvas.rectangle((at, y - 8.0), (at + 18.0, y + 8.0), role);
            at += 18.0;
        }
        let range = if short(from) == short(to) { short(to) } else { format!("{} to {}", short(from), short(to)) };
        canvas.text((at + 7.0, y), &range, Side::Start, Role::Ink);
        y += 16.0;
    }
    y
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_that_leaves_has_its_name_and_no_two_names_touch() {
        let nodes: Vec<(String, bool)> = (0..40).map(|node| (node.to_string(), node == 39)).collect();
        let side = Axis::new(nodes, 1);
        let named: Vec<usize> = named(&side, 12.0).into_iter().collect();
        assert!(named.contains(&39), "{named:?}");
        assert!(named.windows(2).all(|pair| (pair[1] - pair[0]) as f64 * 12.0 >= APART), "{named:?}");
        assert!(named.len() >= 19, "as many as there is room for: {named:?}");
    }
}
