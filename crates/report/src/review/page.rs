//! A review as a page: the question, the answer, and then the numbers behind it.

use shardlab_core::rows::{
    Candidate, CandidateChange, CandidateRows, ChangeCosts, Judged, Judgement, Review, ReviewRequirement,
    ReviewStudies, SplitPlan, Tuning, Verdict, counted,
};

use super::mark;
use super::pictures::{Picture, Subject};
use super::summary::standing;
use crate::page::{Block, Cell, Column, Page, PageTable, Section, Span, code, strong, term, text};
use crate::units::{bytes, nanoseconds, percent, ratio};

pub(super) fn page(review: &Review, studies: &ReviewStudies, pictures: &[Picture]) -> Page {
    let mut page = Page::new(&review.title, &review.tool).lead(strong(&review.question));
    for paragraph in &review.background {
        page = page.lead(text(paragraph));
    }
    let pictures = Pictures(pictures);
    let sections = [
        Some(decision(review)),
        Some(balance(review, studies, &pictures)),
        Some(changes(review, &pictures)),
        path(review, &pictures),
        switch(review),
        splits(studies, &pictures),
        speed(review, &pictures),
        Some(keys(review)),
        Some(again(review)),
    ];
    sections.into_iter().flatten().fold(page, Page::section)
}

/// The pictures, by what they belong to.
struct Pictures<'a>(&'a [Picture]);

impl Pictures<'_> {
    fn of(&self, subject: Subject, caption: &str) -> impl Iterator<Item = Block> + '_ {
        let caption = caption.to_owned();
        let of = self.0.iter().filter(move |picture| picture.subject == subject);
        of.map(move |picture| Block::figure(&picture.name, &picture.svg, text(&caption)))
    }
}

/// A number and its unit on one line.
fn unbroken(words: impl AsRef<str>) -> String {
    words.as_ref().replace(' ', "\u{a0}")
}

/// The heading of a requirement, its bound on one line.
fn bound(heading: &str) -> String {
    match heading.rsplit_once('≤') {
        Some((before, after)) => format!("{before}≤{}", unbroken(after)),
        None => heading.to_owned(),
    }
}

/// A part of all keys.
fn fraction(value: f64) -> Cell {
    Cell::number(unbroken(percent(value)), value)
}

/// The ends of an interval with their unit once; none where they look alike.
fn interval(low: &str, high: &str) -> Option<Vec<Span>> {
    let unit = high.find(' ').map_or("", |at| &high[at..]);
    let low = low.strip_suffix(unit).unwrap_or(low);
    (low != high.strip_suffix(unit).unwrap_or(high)).then(|| vec![text(format!("{} to {}", low, unbroken(high)))])
}

fn list(sentences: &[String]) -> Block {
    Block::List(sentences.iter().map(|sentence| vec![text(sentence)]).collect())
}

/// A scheme as the first cell of a row.
fn scheme(candidate: &Candidate) -> Cell {
    let cell = Cell::code(&candidate.scheme);
    match (&candidate.tuned_from, candidate.is_present) {
        (_, true) => cell.below(text("in use")),
        (Some(_), false) => cell.below(text("larger table")),
        (None, false) => cell,
    }
}

fn decision(review: &Review) -> Section {
    let decision = &review.decision;
    let mut answer = Vec::new();
    if !decision.reasons.is_empty() {
        answer.push(list(&decision.reasons));
    }
    let mut section = Section::new("decision", "Decision");
    let requirements =
        review.requirements.iter().map(|requirement| (requirement.heading.clone(), vec![text(&requirement.words)]));
    if !review.requirements.is_empty() {
        section = section
            .block(Block::Callout { kind: kind(review), heading: decision.headline.clone(), blocks: answer })
            .block(decision_table(review).into());
        section = section.paragraph(vec![
            text("A number stands above the interval in which "),
            term("95 % of other draws", "elsewhere"),
            text(" of names and keys lie. A requirement is met when the whole interval is within its bound, not met when \
                  none of it is, and uncertain between."),
        ]);
    } else {
        section = section.block(Block::note(&decision.headline, answer));
    }
    if !decision.trade_offs.is_empty() {
        section = section.block(Block::subheading("What is better at what")).block(list(&decision.trade_offs));
    }
    if !decision.would_change.is_empty() {
        section = section.block(Block::subheading("What would change the answer")).block(list(&decision.would_change));
    }
    if !review.requirements.is_empty() {
        section = section.block(Block::subheading("Requirements")).block(Block::Facts(requirements.collect()));
    }
    section
}

const fn kind(review: &Review) -> crate::page::CalloutKind {
    match review.decision.remaining.is_empty() {
        true => crate::page::CalloutKind::Warning,
        false => crate::page::CalloutKind::Answer,
    }
}

/// The definition of what a requirement is about.
fn definition(requirement: &str) -> Option<&'static str> {
    Some(match requirement {
        "peak" => "peak_to_average",
        "moved" => "moved",
        "needless" => "excess",
        "disruption" => "disruption",
        "memory" => "heap_bytes",
        "lookup_ns" => "lookup_ns",
        "compatible_with" => "compatible_with",
        "constant_lookup" => "constant_lookup",
        _ => return None,
    })
}

fn decision_table(review: &Review) -> PageTable {
    let columns = review.requirements.iter().map(|requirement| {
        let column = Column::text(bound(&requirement.heading));
        definition(requirement.name).map_or(column.clone(), |term| column.term(term))
    });
    let columns: Vec<Column> =
        std::iter::once(Column::text("scheme")).chain([Column::text("answer")]).chain(columns).collect();
    let mut table = PageTable::new("Each scheme against each requirement", columns);
    for candidate in &review.candidates {
        let mut cells = vec![scheme(candidate), Cell::spans(strong(standing(candidate)))];
        for (requirement, judged) in review.requirements.iter().zip(&candidate.judged) {
            let shown = |value: f64| super::shown(value, requirement.unit);
            let value = judged.value.map(shown).unwrap_or_default();
            let mut cell = Cell::text(unbroken(value)).marked(mark(judged.judgement));
            cell.sort = judged.value;
            if let Some(range) = judged.low.zip(judged.high).and_then(|(low, high)| interval(&shown(low), &shown(high)))
            {
                cell = cell.below(range);
            }
            if needs_words(judged, requirement) {
                cell = cell.footnote(table.footnote(text(&judged.words)));
            }
            cells.push(cell);
        }
        table.row(cells);
    }
    table
}

/// Whether a judgement is not clear from its number: there is none, it has no interval though it depends on the keys,
/// or documents of a split stay where they are.
fn needs_words(judged: &Judged, requirement: &ReviewRequirement) -> bool {
    let is_bare = judged.value.is_none() && judged.judgement != Judgement::Met;
    let depends = matches!(requirement.name, "moved" | "peak" | "compatible_with") && judged.low.is_none();
    !judged.words.is_empty() && (is_bare || (depends && judged.value.is_some()))
}

fn measured(review: &Review) -> impl Iterator<Item = (&Candidate, &CandidateRows)> + Clone {
    review.candidates.iter().filter_map(|candidate| Some((candidate, &**candidate.measured.as_ref()?)))
}

fn balance(review: &Review, studies: &ReviewStudies, pictures: &Pictures<'_>) -> Section {
    let inputs = &review.inputs;
    let mut section = Section::new("balance", "Balance").paragraph(vec![
        text(format!("{} on {}: ", counted(inputs.keys.accepted, "key"), counted(inputs.nodes, "node"))),
        term("the load of the fullest node", "peak_to_average"),
        text(
            " over the fair load, beside the interval for other names of nodes and other keys. \"Chance\" says that a \
              perfectly fair placement spreads as much; \"structural\" that it does not.",
        ),
    ]);
    let by_weight = measured(review).any(|(_, rows)| rows.weight_load.is_some());
    let mut columns = vec![
        Column::text("scheme"),
        Column::number("peak").term("peak_to_average"),
        Column::number("other draws").term("elsewhere"),
        Column::number("exact peak").term("exact_peak_to_average"),
        Column::number("emptiest").term("min_to_average"),
        Column::number("cv").term("cv"),
        Column::text("verdict").term("p_value"),
        Column::number("heap").term("heap_bytes"),
        Column::text("lookup grows").term("constant_lookup"),
    ];
    if by_weight {
        columns.insert(2, Column::number("peak by weight"));
    }
    let mut table = PageTable::new("How evenly the keys lie, and what the table takes", columns);
    for candidate in &review.candidates {
        let Some(rows) = &candidate.measured else {
            let reason = candidate.judged.iter().map(|judged| judged.words.clone()).find(|words| !words.is_empty());
            let number = table.footnote(text(reason.unwrap_or_else(|| "it cannot serve these nodes".to_owned())));
            let empty = (1..table.columns.len()).map(|_| Cell::not_applicable().footnote(number));
            let cells = std::iter::once(scheme(candidate)).chain(empty).collect::<Vec<_>>();
            table.row(cells);
            continue;
        };
        let balance = &rows.balance;
        let mut cells = vec![
            scheme(candidate),
            Cell::number(ratio(balance.peak_to_average), balance.peak_to_average),
            match &rows.peak_elsewhere {
                Some(other) => {
                    let cell =
                        Cell::text(format!("{} to {}", ratio(other.low), ratio(other.high))).sorted_by(other.high);
                    match other.keys_are_uneven {
                        true => cell.footnote(table.footnote(text(
                            "The measured peak is far beyond what other names and keys that all differ would give: the \
                             keys themselves are uneven.",
                        ))),
                        false => cell,
                    }
                }
                None => dash(),
            },
            balance.exact_peak_to_average.map_or_else(dash, |peak| Cell::number(ratio(peak), peak)),
            Cell::number(ratio(balance.min_to_average), balance.min_to_average),
            Cell::number(format!("{:.4}", balance.cv), balance.cv)
                .below(text(format!("chance {:.4}", balance.noise_floor_cv))),
            Cell::text(unbroken(balance.verdict.as_str())).below(text(p_value(balance.p_value, balance.verdict))),
            Cell::number(unbroken(bytes(rows.heap_bytes)), rows.heap_bytes as f64),
            Cell::text(unbroken(rows.lookup_growth)),
        ];
        if by_weight {
            let load = rows.weight_load.as_ref().map(|load| load.peak_to_average);
            cells.insert(2, load.map_or_else(dash, |peak| Cell::number(ratio(peak), peak)));
        }
        table.row(cells);
    }
    section = section.block(table.into());
    let caption = "Bars reach from the emptiest to the fullest node.";
    section = pictures.of(Subject::Load, caption).fold(section, Section::block);
    if !studies.tunings.is_empty() {
        section = section.block(Block::subheading("What a larger table buys"));
        section = section.block(Block::List(studies.tunings.iter().map(tuned).collect()));
        let caption = "Peaks of the shares alone, without what chance adds with few keys.";
        section = pictures.of(Subject::Tuning, caption).fold(section, Section::block);
    }
    section
}

fn dash() -> Cell {
    Cell::text("–")
}

fn p_value(value: f64, verdict: Verdict) -> String {
    match verdict {
        Verdict::TooFewKeys => String::new(),
        // Too small for a number.
        _ if value < f64::MIN_POSITIVE => unbroken("p < 1e-307"),
        _ if value < 0.001 => unbroken(format!("p {value:.0e}")),
        _ => unbroken(format!("p {value:.2}")),
    }
}

fn tuned(tuning: &Tuning) -> Vec<Span> {
    let answer = tuning.answers.iter().find(|answer| answer.question == "quantile");
    let heap = answer.and_then(|answer| answer.heap_bytes).map(|heap| format!(" ({} of heap)", bytes(heap)));
    match (&tuning.spec, answer.and_then(|answer| answer.not_reached.as_ref())) {
        (Some(spec), _) => vec![
            code(&tuning.scheme),
            text(format!(
                ": the smallest {} that keeps the peak of its shares below {} for {:.0} of 100 sets of names is ",
                tuning.option,
                ratio(tuning.peak),
                tuning.confidence * 100.0
            )),
            code(spec),
            text(format!("{}.", heap.unwrap_or_default())),
        ],
        (None, reason) => vec![
            code(&tuning.scheme),
            text(format!(": no {} does it: {}.", tuning.option, reason.cloned().unwrap_or_default())),
        ],
    }
}

fn changes(review: &Review, pictures: &Pictures<'_>) -> Section {
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

fn path(review: &Review, pictures: &Pictures<'_>) -> Option<Section> {
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

fn switch(review: &Review) -> Option<Section> {
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

fn splits(studies: &ReviewStudies, pictures: &Pictures<'_>) -> Option<Section> {
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

fn speed(review: &Review, pictures: &Pictures<'_>) -> Option<Section> {
    let timings = review.timings.as_ref()?;
    let lookups = &timings.lookups;
    let mut section = Section::new("speed", "Speed").paragraph(vec![
        text(format!("Measured on {}, on one thread, hashing excluded unless said. ", lookups.machine)),
        text(format!(
            "The loop alone takes {} in a chain and {} in a batch, which is part of every number.",
            nanoseconds(lookups.floor_lookup_ns),
            nanoseconds(lookups.floor_throughput_ns)
        )),
    ]);
    if lookups.too_noisy {
        section = section.block(Block::warning(
            "Do not rely on these times",
            vec![Block::paragraph(text(format!(
                "Rounds differ by {}: something else used the machine while they were measured.",
                percent(lookups.noise_fraction)
            )))],
        ));
    }
    let columns = [
        Column::text("scheme"),
        Column::number("lookup").term("lookup_ns"),
        Column::number("in batches").term("throughput_ns"),
        Column::number("with hashing").term("throughput_with_hash_ns"),
        Column::number("to build").term("build_ns"),
    ];
    let mut table =
        PageTable::new("Time of one lookup: the median, and below it the 99th percentile of the runs", columns);
    for latency in &lookups.latency {
        let candidate = review.candidates.iter().find(|candidate| candidate.scheme == latency.scheme);
        let time = |ns: f64| Cell::number(unbroken(nanoseconds(ns)), ns);
        let build = timings.build_ns.iter().find(|build| build.scheme == latency.scheme);
        table.row(vec![
            candidate.map_or_else(|| Cell::code(&latency.scheme), scheme),
            time(latency.lookup_ns).below(text(unbroken(nanoseconds(latency.lookup_p99_ns)))),
            time(latency.throughput_ns).below(text(unbroken(nanoseconds(latency.throughput_p99_ns)))),
            latency.throughput_with_hash_ns.map_or_else(dash, time),
            build.map_or_else(dash, |build| time(build.build_ns)),
        ]);
    }
    section = section.block(table.into());
    if !timings.faster.is_empty() {
        section = section.block(list(&timings.faster));
    }
    let caption = "Each scheme with its default options, or as large a table as it advises.";
    Some(pictures.of(Subject::Growth, caption).fold(section, Section::block))
}

fn keys(review: &Review) -> Section {
    let keys = &review.inputs.keys;
    let mut facts: Vec<(String, Vec<Span>)> = vec![
        ("source".to_owned(), vec![code(&keys.description)]),
        ("read".to_owned(), vec![text(keys.read.to_string())]),
        ("used".to_owned(), vec![text(keys.accepted.to_string())]),
    ];
    for skipped in &keys.skipped {
        let words = format!("{}: {}, first at {}", skipped.reason, skipped.count, skipped.first_at);
        facts.push(("left out".to_owned(), vec![text(words)]));
    }
    if let Some(distinct) = keys.distinct {
        facts.push(("different".to_owned(), vec![text(distinct.to_string())]));
    }
    facts.push(("with a routing value".to_owned(), vec![text(keys.with_routing.to_string())]));
    if let Some(floor) = &review.keys_floor {
        let kind = if floor.by_weight { "heaviest value" } else { "most common value" };
        let words = format!(
            " has {} of the {}; whatever keeps it on one node has a peak of at least {}",
            percent(floor.share),
            if floor.by_weight { "weight" } else { "documents" },
            ratio(floor.peak)
        );
        facts.push((kind.to_owned(), vec![code(&floor.value), text(words)]));
    }
    let section = Section::new("keys", "Keys").block(Block::Facts(facts));
    let notes: Vec<String> = keys.notes.clone();
    if notes.is_empty() { section } else { section.block(list(&notes)) }
}

fn again(review: &Review) -> Section {
    let inputs = &review.inputs;
    let schemes = review.candidates.iter().map(|candidate| format!("{} ({})", candidate.scheme, candidate.hash));
    let mut facts = vec![
        ("program".to_owned(), vec![text(&review.tool)]),
        ("seed".to_owned(), vec![code(inputs.seed.to_string())]),
        ("key digest".to_owned(), vec![code(&inputs.keys.digest)]),
        ("schemes, and the hash before each".to_owned(), vec![text(schemes.collect::<Vec<_>>().join("; "))]),
    ];
    if let Some(timings) = &review.timings {
        facts.push(("machine".to_owned(), vec![text(&timings.lookups.machine)]));
        facts.push(("threads".to_owned(), vec![text(timings.lookups.threads.to_string())]));
        facts.push(("made by".to_owned(), vec![code(&timings.lookups.command)]));
    }
    let mut section = Section::new("again", "Making it again")
        .paragraph(vec![
            text("The same review and the same keys give the same numbers on every machine; times are apart and differ. With "),
            code("--timing off"),
            text(" all files are the same bytes."),
        ])
        .block(Block::command(&inputs.command))
        .block(Block::Facts(facts));
    let lines = inputs.definition.lines().map(str::to_owned).collect();
    let listing = Block::Listing { language: "toml", lines };
    section = section.block(Block::details("The review as its author wrote it", vec![listing]));
    if !review.notes.is_empty() {
        section = section.block(Block::subheading("Notes")).block(list(&review.notes));
    }
    section
}
