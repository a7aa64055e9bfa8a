//! What changes, paths, splits and another scheme cost, as sections of a page.

use shardlab_core::rows::{CandidateChange, ChangeCosts, Review, ReviewStudies, SplitPlan, bytes, percent, ratio};

use super::cells::{Pictures, dash, fraction, interval, list, measured, scheme, unbroken};
use super::pictures::Subject;
use crate::page::{Block, Cell, Column, PageTable, Section, term, text};

pub(super) fn changes(review: &Review, pictures: &Pictures<'_>) -> Section {
    let mut section = Section::new("changes", "Changes").paragraph(vec![
        text("Keys whose owner changes, beside "),
        term("the least that must move", "minimum"),
        text(" between the very counts that were measured. What moves beyond that moves "),
        term("needlessly", "excess"),
        text("; "),
        term("disruption", "disruption"),
        text(" is what moves between nodes that both stay."),
    ]);
    if has_lineage(review) {
        section = section.paragraph(vec![
            text("A split or a shrink gives documents other shard numbers, and that is what the table counts as moved. No data \
                  goes elsewhere but for documents that "),
            term("leave their parent shard", "left_parent"),
            text(", and these alone count against a requirement."),
        ]);
    }
    for (place, words) in review.changes.iter().enumerate() {
        section = section.block(Block::subheading(words)).block(change_table(review, place, words).into());
    }
    section = section.block(Block::subheading("The usual changes side by side"));
    let caption = "The same four changes for every scheme, whatever the review asks for.";
    section = pictures.of(Subject::Movement, caption).fold(section, Section::block);
    let caption = "Rows are nodes before the change, columns are nodes after it.";
    pictures.of(Subject::Flows, caption).fold(section, Section::block)
}

/// Whether documents stay inside their parent shards in any of the changes.
fn has_lineage(review: &Review) -> bool {
    measured(review).flat_map(|(_, rows)| &rows.changes).any(|change| match change {
        CandidateChange::Done(costs) => costs.left_parent_fraction.is_some(),
        CandidateChange::NotApplicable { instead, .. } => {
            instead.iter().any(|costs| costs.left_parent_fraction.is_some())
        }
    })
}

/// The columns about what a change costs; those about bytes and lineage where there are any.
fn cost_columns(with: &Shown) -> Vec<Column> {
    let mut columns = vec![
        Column::number("moved").term("moved"),
        Column::number("least").term("minimum"),
        Column::number("needless").term("excess"),
        Column::number("disruption").term("disruption"),
    ];
    if with.lineage {
        columns.push(Column::number("left parent").term("left_parent"));
    }
    if with.bytes {
        columns.push(Column::number("bytes").term("moved_bytes"));
    }
    if with.time {
        columns.push(Column::number("time").term("seconds_parallel"));
    }
    columns.push(Column::number("peak after").term("peak_to_average"));
    columns
}

/// What the costs of some changes have.
#[derive(Clone, Copy)]
struct Shown {
    lineage: bool,
    bytes: bool,
    time: bool,
}

impl Shown {
    fn of<'a>(costs: impl Iterator<Item = &'a ChangeCosts>) -> Self {
        let costs: Vec<&ChangeCosts> = costs.collect();
        let any = |has: fn(&ChangeCosts) -> bool| costs.iter().any(|costs| has(costs));
        Self {
            lineage: any(|costs| costs.left_parent_fraction.is_some()),
            bytes: any(|costs| costs.moved_bytes.is_some()),
            time: any(|costs| costs.seconds_parallel.is_some()),
        }
    }
}

fn cost_cells(costs: &ChangeCosts, with: &Shown) -> Vec<Cell> {
    let moves = &costs.moves;
    let range = costs.moved_interval.and_then(|[low, high]| interval(&percent(low), &percent(high)));
    let mut cells = vec![
        fraction(moves.moved_fraction).below(range.unwrap_or_default()),
        fraction(moves.minimum_fraction),
        fraction(moves.excess_fraction),
        fraction(moves.disruption_fraction),
    ];
    if with.lineage {
        cells.push(costs.left_parent_fraction.map_or_else(dash, fraction));
    }
    if with.bytes {
        let shown = |total: u128| {
            let exact = u64::try_from(total).unwrap_or(u64::MAX);
            Cell::number(unbroken(bytes(exact)), exact as f64)
        };
        let cell = costs.moved_bytes.map_or_else(dash, shown);
        // Where an index is written anew, all of it is.
        let rewritten = costs.rewritten_bytes.filter(|rewritten| Some(*rewritten) != costs.moved_bytes);
        let written = rewritten.and_then(|total| u64::try_from(total).ok());
        cells.push(written.map_or(cell.clone(), |total| cell.below(text(format!("{} anew", unbroken(bytes(total)))))));
    }
    if with.time {
        let cell = costs.seconds_parallel.map_or_else(dash, |time| Cell::number(unbroken(seconds(time)), time));
        let serial = costs.seconds_serial.map(|time| format!("{} serial", unbroken(seconds(time))));
        cells.push(serial.map_or(cell.clone(), |serial| cell.below(text(serial))));
    }
    cells.push(Cell::number(ratio(costs.peak_after), costs.peak_after));
    cells
}

fn seconds(time: f64) -> String {
    if time >= 7200.0 {
        format!("{:.1} h", time / 3600.0)
    } else if time >= 120.0 {
        format!("{:.1} min", time / 60.0)
    } else {
        format!("{time:.1} s")
    }
}

fn change_table(review: &Review, place: usize, words: &str) -> PageTable {
    let all = measured(review).filter_map(|(_, rows)| rows.changes.get(place));
    let costs = all.flat_map(|change| -> Vec<&ChangeCosts> {
        match change {
            CandidateChange::Done(costs) => vec![costs],
            CandidateChange::NotApplicable { instead, .. } => instead.iter().collect(),
        }
    });
    let with = Shown::of(costs);
    let columns: Vec<Column> = std::iter::once(Column::text("scheme")).chain(cost_columns(&with)).collect();
    let mut table = PageTable::new(
        format!("{words}: what moves, and where the scheme refuses, what people then do and what that moves"),
        columns,
    );
    for (candidate, rows) in measured(review) {
        match rows.changes.get(place) {
            Some(CandidateChange::Done(costs)) => {
                table.row(std::iter::once(scheme(candidate)).chain(cost_cells(costs, &with)).collect::<Vec<_>>());
            }
            Some(CandidateChange::NotApplicable { not_applicable, instead }) => {
                let number = table.footnote(text(not_applicable));
                let refused = Cell::code(&candidate.scheme).below(text("cannot be done")).footnote(number);
                let empty = (1..table.columns.len()).map(|_| dash());
                table.row(std::iter::once(refused).chain(empty).collect::<Vec<_>>());
                for costs in instead {
                    let instead = Cell::code(&candidate.scheme).below(text(format!("instead: {}", costs.change)));
                    table.row(std::iter::once(instead).chain(cost_cells(costs, &with)).collect::<Vec<_>>());
                }
            }
            None => {}
        }
    }
    table
}

pub(super) fn path(review: &Review, pictures: &Pictures<'_>) -> Option<Section> {
    let first = review.paths.first()?;
    // A path that stops early does not know all of its steps.
    let longest = review.paths.iter().max_by_key(|path| path.steps.len()).unwrap_or(first);
    let mut section = Section::new("path", "The path").paragraph(vec![
        text(format!("The steps: {}. ", longest.steps.join(", then "))),
        text("All their moves are added up, beside going straight from the first to the last stage."),
    ]);
    let with_bytes = review.paths.iter().any(|path| path.cumulative_bytes.is_some());
    let mut columns = vec![
        Column::text("scheme"),
        Column::number("all steps").term("moved"),
        Column::number("going straight").term("moved"),
        Column::number("moved more than once"),
        Column::number("worst peak on the way").term("peak_to_average"),
    ];
    if with_bytes {
        columns.insert(2, Column::number("bytes of all steps").term("moved_bytes"));
    }
    let mut table = PageTable::new("What the path moves, in parts of all keys", columns);
    for path in &review.paths {
        let candidate = review.candidates.iter().find(|candidate| candidate.scheme == path.scheme);
        let mut cells = vec![candidate.map_or_else(|| Cell::code(&path.scheme), scheme)];
        if let Some(reason) = &path.not_applicable {
            let number = table.footnote(text(reason));
            cells.push(Cell::text("cannot be done").footnote(number));
            cells.extend((2..table.columns.len()).map(|_| dash()));
        } else {
            cells.push(fraction(path.cumulative_fraction));
            if with_bytes {
                let total = path.cumulative_bytes.and_then(|total| u64::try_from(total).ok());
                cells.push(total.map_or_else(dash, |total| Cell::number(unbroken(bytes(total)), total as f64)));
            }
            cells.push(fraction(path.straight_fraction));
            cells.push(fraction(path.moved_more_than_once_fraction));
            cells.push(Cell::number(ratio(path.worst_peak), path.worst_peak));
        }
        table.row(cells);
    }
    section = section.block(table.into());
    let caption = "Each bar begins where the one before ended; above 100 % keys move more than once.";
    Some(pictures.of(Subject::Path, caption).fold(section, Section::block))
}

pub(super) fn switch(review: &Review) -> Option<Section> {
    let present = review.inputs.present.as_ref()?;
    let costs = measured(review).filter_map(|(_, rows)| rows.switch.as_ref());
    let with = Shown::of(costs);
    let mut columns = vec![Column::text("to")];
    columns.extend(cost_columns(&with));
    let mut table = PageTable::new(format!("What going from {present} to each other scheme costs, once"), columns);
    for (candidate, rows) in measured(review) {
        if let Some(costs) = &rows.switch {
            let mut cells = vec![scheme(candidate)];
            cells.extend(cost_cells(costs, &with));
            table.row(cells);
        }
    }
    let section = Section::new("switch", "Going there").paragraph(vec![text(
        "The nodes stay as they are, and every key whose owner changes has to move once. Nothing here counts towards \
              the requirements.",
    )]);
    (!table.rows.is_empty()).then(|| section.block(table.into()))
}

pub(super) fn splits(studies: &ReviewStudies, pictures: &Pictures<'_>) -> Option<Section> {
    if studies.split_plans.is_empty() {
        return None;
    }
    let mut section = Section::new("splits", "Splits and shrinks").paragraph(vec![text(
        "How the index in use gets to each number of shards, by the rules of the system that was named.",
    )]);
    for plan in &studies.split_plans {
        let to = plan.to.map(|to| to.to_string()).unwrap_or_default();
        section = section.block(Block::subheading(format!("{} to {to} shards", plan.from)));
        if let Some(refusal) = &plan.refusal {
            section = section.paragraph(vec![text(format!("Refused: {refusal}."))]);
        }
        section = section.block(ways(plan).into());
        let notes: Vec<String> = plan.preconditions.iter().chain(&plan.notes).cloned().collect();
        if !notes.is_empty() {
            section = section.block(Block::details("What must hold before it starts, and notes", vec![list(&notes)]));
        }
    }
    let caption = "A box is a number of shards, and each way leads from the left to the right. Beside its end stand what it \
                   writes, and the largest part of the index that one shard holds on the way.";
    Some(pictures.of(Subject::Splits, caption).fold(section, Section::block))
}

/// A way of no more bytes stays on one line.
const SHORT_WAY: usize = 20;

fn ways(plan: &SplitPlan) -> PageTable {
    let columns = [
        Column::text("way"),
        Column::number("operations"),
        Column::number("documents written").term("documents_rewritten_fraction"),
        Column::number("copies without links").term("copies_without_hard_links"),
        Column::number("change their number").term("number_changed_fraction"),
        Column::number("leave their lineage").term("left_parent_fraction"),
    ];
    let to = plan.to.map(|to| to.to_string()).unwrap_or_default();
    let mut table = PageTable::new(format!("Ways from {} to {to} shards, cheapest first", plan.from), columns);
    for way in &plan.alternatives {
        let fraction = |value: Option<f64>| value.map_or_else(dash, fraction);
        table.row(vec![
            Cell::text(if way.words.len() <= SHORT_WAY { unbroken(&way.words) } else { way.words.clone() }),
            Cell::number(way.costs.operations.to_string(), way.costs.operations.into()),
            fraction(Some(way.costs.documents_rewritten_fraction)),
            Cell::number(way.costs.copies_without_hard_links.to_string(), way.costs.copies_without_hard_links as f64),
            fraction(way.number_changed_fraction),
            fraction(way.left_parent_fraction),
        ]);
    }
    table
}
