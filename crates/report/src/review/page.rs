//! A review as a page: the question, the answer, and then the numbers behind it.

use shardlab_core::rows::{
    Judged, Judgement, Review, ReviewRequirement, ReviewStudies, Tuning, Verdict, bytes, counted, nanoseconds, percent,
    ratio,
};

use super::cells::{Pictures, bound, dash, interval, list, measured, scheme, unbroken};
use super::costs::{changes, path, splits, switch};
use super::mark;
use super::pictures::{Picture, Subject};
use super::summary::standing;
use crate::page::{Block, Cell, Column, Page, PageTable, Section, Span, code, strong, term, text};

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
            let shown = |value: f64| requirement.unit.shown(value);
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
