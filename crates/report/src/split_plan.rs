use shardlab_core::ResizeOperation;
use shardlab_core::rows::{Balance, How, OneShardRule, ResizeAlternative, SplitPlan, counted};

use crate::escape::{for_markdown, for_terminal};
use crate::table::{Format, Table};
use shardlab_core::rows::{bytes, percent, ratio};

/// Beyond so many rows a table of shards is left out of text; JSON has it whole.
const MOST_SHARDS: usize = 48;

/// Beyond so many counts a list is cut in text; JSON has it whole.
const MOST_COUNTS: usize = 24;

/// A split plan as text: what is legal, every way with its cost, children, documents, preconditions. As
/// CSV it is one row a way, or one row a legal count where none was asked for.
#[must_use]
pub fn split_plan_text(plan: &SplitPlan, format: Format, width: Option<u16>) -> String {
    if format == Format::Csv {
        let table = if plan.to.is_some() { raw_ways(plan) } else { raw_legal(plan) };
        return table.render(Format::Csv, None);
    }
    let escape = if format == Format::Markdown { for_markdown } else { for_terminal };
    let mut text = String::new();
    let mut block = |words: &str| {
        text.push_str(words.trim_end());
        text.push_str("\n\n");
    };
    let goal = plan.to.map_or_else(|| ", what is legal".to_owned(), |to| format!(" to {to}"));
    let routing =
        plan.routing_shards.map_or_else(String::new, |routing_shards| format!(" ({routing_shards} routing shards)"));
    block(&escape(&format!("{}: {}{routing}{goal}", plan.scheme, counted(plan.from, "shard"))));
    block(&legal(plan).render(format, width));
    let list = |sentences: &[String]| {
        sentences.iter().map(|words| format!("- {}", escape(words))).collect::<Vec<_>>().join("\n")
    };
    if !plan.reading.is_empty() {
        block(&format!("Reading:\n{}", list(&plan.reading)));
    }
    if !plan.alternatives.is_empty() {
        block("Ways there, and the nearest legal counts where it is refused:");
        block(&ways(plan).render(format, width));
        if plan.bytes.is_some() {
            block("Bytes of these ways, replicas not counted:");
            block(&way_bytes(plan).render(format, width));
        }
    }
    if !plan.sizes.is_empty() {
        block("What a shard holds at each legal count, if all are alike:");
        block(&sizes(plan).render(format, width));
    }
    if let Some(one) = &plan.one_shard {
        let held = one.keys.map_or_else(String::new, |keys| format!(", which holds {keys} of the documents"));
        block(&escape(&format!("Shard {} alone cut into {}{held}:", one.shard, one.parts)));
        for rule in &one.rules {
            block(&escape(&format!("{}.", rule.words)));
            match &rule.refused {
                Some(reason) => block(&escape(&format!("This rule cannot do it: {reason}."))),
                None => block(&parts(rule).render(format, width)),
            }
        }
    }
    if let Some(children) = children(plan) {
        block("Shards and what becomes of them:");
        block(&children.render(format, width));
    }
    if let Some(documents) = &plan.documents {
        block(&escape(&format!(
            "Where {} from {} would stand ({}):",
            counted(documents.keys.accepted, "document"),
            documents.keys.description,
            documents.change
        )));
        block(&balances(plan).render(format, width));
        if documents.per_shard.len() <= MOST_SHARDS {
            block(&shards(plan).render(format, width));
        }
    }
    if !plan.preconditions.is_empty() {
        block(&format!("Before it can start:\n{}", list(&plan.preconditions)));
    }
    if !plan.notes.is_empty() {
        block(&format!("Notes:\n{}", list(&plan.notes)));
    }
    text.push_str(&plan.tool);
    if let Some(documents) = &plan.documents {
        text.push_str(&format!(", seed {}, key digest {}", plan.seed, documents.keys.digest));
    }
    text.push('\n');
    text
}

const fn word(operation: ResizeOperation) -> &'static str {
    match operation {
        ResizeOperation::Split => "split",
        ResizeOperation::Shrink => "shrink",
        ResizeOperation::Clone => "clone",
    }
}

fn dash() -> String {
    "–".to_owned()
}

fn size(size: u128) -> String {
    u64::try_from(size).map_or_else(|_| format!("{size} B"), bytes)
}

/// Counts for people: runs as "2 to 1024", long lists cut.
fn counts(counts: &[u32]) -> String {
    if counts.is_empty() {
        return "none".to_owned();
    }
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for &count in counts {
        match runs.last_mut() {
            Some((_, last)) if count == *last + 1 => *last = count,
            _ => runs.push((count, count)),
        }
    }
    // A short run is easier to read as it is.
    let parts = runs.iter().flat_map(|&(first, last)| {
        if last - first > 8 {
            vec![format!("{first} to {last}")]
        } else {
            (first..=last).map(|count| count.to_string()).collect()
        }
    });
    let parts: Vec<String> = parts.collect();
    let more = parts.len().saturating_sub(MOST_COUNTS);
    let shown = parts.iter().take(MOST_COUNTS).cloned().collect::<Vec<_>>().join(", ");
    if more > 0 { format!("{shown} and {more} more") } else { shown }
}

fn legal(plan: &SplitPlan) -> Table {
    let mut table = Table::new(["", "counts"]);
    let mut line = |name: &str, value: String| table.row([name.to_owned(), value]);
    if let (Some(to), Some(legal)) = (plan.to, plan.legal) {
        let verdict = match (legal, plan.operation) {
            (true, Some(operation)) => format!("legal ({})", word(operation)),
            (true, None) => "legal".to_owned(),
            (false, _) => "refused".to_owned(),
        };
        line(&format!("{} to {to}", plan.from), verdict);
        let nearest = |count: Option<u32>| count.map_or_else(dash, |count| count.to_string());
        line("nearest legal below", nearest(plan.nearest_below));
        line("nearest legal above", nearest(plan.nearest_above));
    }
    line("legal splits", counts(&plan.legal_splits));
    line("legal shrinks", counts(&plan.legal_shrinks));
    if let Some(fit) = &plan.fit {
        let found = match (fit.shards, fit.bytes_per_shard) {
            (Some(shards), Some(each)) => format!("{shards}, with {} each if all are alike", size(each)),
            _ => "none".to_owned(),
        };
        line(&format!("least count for shards up to {}", bytes(fit.max_shard_bytes)), found);
    }
    line("rule", if plan.rule_verified { "verified" } else { "UNVERIFIED for splits" }.to_owned());
    table
}

const fn kind(how: How) -> &'static str {
    match how {
        How::Chain => "chain",
        How::Nearest => "nearest legal",
        How::Reindex => "reindex",
    }
}

fn step_words(way: &ResizeAlternative) -> String {
    let words: Vec<&str> = way.steps.iter().map(|step| word(step.operation)).collect();
    if words.is_empty() { kind(way.how).to_owned() } else { words.join(", ") }
}

fn ways(plan: &SplitPlan) -> Table {
    let headings = [
        "way",
        "kind",
        "operations",
        "shards",
        "documents rewritten",
        "shard number changed",
        "left its parent",
        "fullest new shard",
        "documents in it",
        "open shards",
        "heap of these",
    ];
    let mut table = Table::new(headings).with_numbers(3..headings.len());
    for way in &plan.alternatives {
        let rewritten = match way.costs.documents_rewritten {
            Some(documents) => documents.to_string(),
            None if way.costs.documents_rewritten_fraction == 0.0 => "none".to_owned(),
            None if way.costs.documents_rewritten_fraction == 1.0 => "all".to_owned(),
            None => format!("{} × all", way.costs.documents_rewritten_fraction),
        };
        table.row([
            way.words.clone(),
            kind(way.how).to_owned(),
            step_words(way),
            way.to.to_string(),
            rewritten,
            way.number_changed_fraction.map_or_else(dash, percent),
            way.left_parent_fraction.map_or_else(dash, percent),
            format!("{} of all", percent(way.costs.fullest_shard_fraction)),
            way.costs.most_documents_per_shard.map_or_else(String::new, |documents| documents.to_string()),
            way.costs.open_shards.to_string(),
            way.costs.transient_heap_bytes.map_or_else(String::new, size),
        ]);
    }
    table.without_empty_columns()
}

fn way_bytes(plan: &SplitPlan) -> Table {
    let headings = [
        "way",
        "a shard at the end",
        "fullest new shard",
        "written, linked",
        "written, copied",
        "disk, linked",
        "disk, copied",
        "merged later, up to",
        "relocated, up to",
        "over the network",
        "time",
    ];
    let mut table = Table::new(headings).with_numbers(1..headings.len());
    for way in &plan.alternatives {
        let Some(bytes) = &way.bytes else { continue };
        let sizes = [
            bytes.per_shard_after,
            bytes.fullest_shard,
            bytes.written_with_hard_links,
            bytes.written_without_hard_links,
            bytes.peak_with_hard_links,
            bytes.peak_without_hard_links,
            bytes.merged_later_at_most,
            bytes.relocated_at_most,
            bytes.over_network,
        ];
        let time = bytes.seconds.map_or_else(dash, |seconds| format!("{seconds:.0} s"));
        table.row(std::iter::once(way.words.clone()).chain(sizes.map(size)).chain([time]));
    }
    table
}

fn sizes(plan: &SplitPlan) -> Table {
    let mut table = Table::new(["shards", "by", "bytes a shard", "documents a shard"]).with_numbers([0, 2, 3]);
    // From one shard nearly every count is legal, and the first of them tell enough.
    for row in plan.sizes.iter().take(MOST_SHARDS) {
        table.row([
            row.shards.to_string(),
            row.operation.map_or("as it is", word).to_owned(),
            row.bytes_per_shard.map_or_else(String::new, size),
            row.documents_per_shard.map_or_else(String::new, |documents| documents.to_string()),
        ]);
    }
    table.without_empty_columns()
}

fn parts(rule: &OneShardRule) -> Table {
    let mut table = Table::new(["part", "from", "to", "documents", "bytes"]).with_numbers(0..5);
    for (place, part) in rule.parts.iter().take(MOST_SHARDS).enumerate() {
        table.row([
            place.to_string(),
            part.from.to_string(),
            part.to.to_string(),
            part.keys.map_or_else(String::new, |keys| keys.to_string()),
            part.bytes.map_or_else(String::new, size),
        ]);
    }
    table.without_empty_columns()
}

fn raw_legal(plan: &SplitPlan) -> Table {
    let mut table = Table::new(["to", "operation", "bytes_per_shard", "documents_per_shard"]).with_numbers([0, 2, 3]);
    let shrinks = plan.legal_shrinks.iter().map(|to| (to, ResizeOperation::Shrink));
    for (&to, operation) in shrinks.chain(plan.legal_splits.iter().map(|to| (to, ResizeOperation::Split))) {
        let size = plan.sizes.iter().find(|size| size.shards == to);
        let bytes = size.and_then(|size| size.bytes_per_shard).map_or_else(String::new, |bytes| bytes.to_string());
        let docs = size.and_then(|size| size.documents_per_shard).map_or_else(String::new, |docs| docs.to_string());
        table.row([to.to_string(), word(operation).to_owned(), bytes, docs]);
    }
    table.without_empty_columns()
}

/// One row a way, every number as it is.
fn raw_ways(plan: &SplitPlan) -> Table {
    let headings = [
        "way",
        "how",
        "operations",
        "to",
        "documents_rewritten_fraction",
        "number_changed_fraction",
        "left_parent_fraction",
        "copies_without_hard_links",
        "open_shards",
        "per_shard_after_bytes",
        "written_with_hard_links_bytes",
        "written_without_hard_links_bytes",
        "peak_with_hard_links_bytes",
        "peak_without_hard_links_bytes",
        "relocated_at_most_bytes",
        "seconds",
        "fullest_shard_fraction",
        "transient_heap_bytes",
    ];
    let mut table = Table::new(headings).with_numbers(3..headings.len());
    let fraction =
        |value: Option<f64>| value.map_or_else(String::new, |value| shardlab_core::rows::six_digits(value).to_string());
    for way in &plan.alternatives {
        let sizes = way.bytes.as_ref().map(|bytes| {
            [
                bytes.per_shard_after,
                bytes.written_with_hard_links,
                bytes.written_without_hard_links,
                bytes.peak_with_hard_links,
                bytes.peak_without_hard_links,
                bytes.relocated_at_most,
            ]
        });
        let cells = [
            way.words.clone(),
            kind(way.how).to_owned(),
            step_words(way),
            way.to.to_string(),
            way.costs.documents_rewritten_fraction.to_string(),
            fraction(way.number_changed_fraction),
            fraction(way.left_parent_fraction),
            way.costs.copies_without_hard_links.to_string(),
            way.costs.open_shards.to_string(),
        ];
        let sizes =
            sizes.map_or_else(|| std::array::from_fn(|_| String::new()), |sizes| sizes.map(|size| size.to_string()));
        let seconds = fraction(way.bytes.as_ref().and_then(|bytes| bytes.seconds));
        let heap = way.costs.transient_heap_bytes.map_or_else(String::new, |heap| heap.to_string());
        let fullest = fraction(Some(way.costs.fullest_shard_fraction));
        table.row(cells.into_iter().chain(sizes).chain([seconds, fullest, heap]));
    }
    table
}

fn children(plan: &SplitPlan) -> Option<Table> {
    if plan.children.is_empty() || plan.children.len() > MOST_SHARDS {
        return None;
    }
    let mut table = Table::new(["shard", "becomes"]).with_numbers([0]);
    for row in &plan.children {
        table.row([row.shard.to_string(), counts(&row.children)]);
    }
    Some(table)
}

fn balances(plan: &SplitPlan) -> Table {
    let mut table = Table::new(["", "shards", "documents a shard", "fullest over mean", "verdict"]).with_numbers(1..=3);
    let Some(documents) = &plan.documents else { return table };
    let mut line = |name: &str, balance: &Balance| {
        table.row([
            name.to_owned(),
            balance.counts.len().to_string(),
            format!("{:.0}", balance.keys_per_node),
            ratio(balance.peak_to_average),
            balance.verdict.as_str().to_owned(),
        ]);
    };
    line("before", &documents.before);
    line("after", &documents.after);
    if let Some(by_id) = &documents.by_id {
        line("after, if ids alone decided", by_id);
    }
    table.row([
        "shard number changed".to_owned(),
        percent(documents.number_changed_fraction),
        String::new(),
        String::new(),
        String::new(),
    ]);
    table.row([
        "left its parent".to_owned(),
        documents.left_parent_fraction.map_or_else(dash, percent),
        String::new(),
        String::new(),
        String::new(),
    ]);
    table
}

fn shards(plan: &SplitPlan) -> Table {
    let headings = ["shard", "documents", "bytes", "documents by id", "bytes by id"];
    let mut table = Table::new(headings).with_numbers(0..headings.len());
    for shard in plan.documents.iter().flat_map(|documents| &documents.per_shard) {
        table.row([
            shard.shard.to_string(),
            shard.keys.to_string(),
            shard.bytes.map_or_else(String::new, size),
            shard.keys_by_id.map_or_else(String::new, |keys| keys.to_string()),
            shard.bytes_by_id.map_or_else(String::new, size),
        ]);
    }
    table.without_empty_columns()
}
