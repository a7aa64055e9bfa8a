use shardlab_core::ResizeOperation;
use shardlab_core::rows::{How, ResizeAlternative, SplitPlan, counted};

use super::canvas::{Canvas, ChartError, MARGIN, Side, TEXT, WIDTH};
use super::palette::Role;
use crate::frame::size;
use shardlab_core::rows::percent;

/// The height of a way, and of a box in it.
const ROW: f64 = 50.0;
const BOX: f64 = 36.0;

/// From one column of boxes to the next, at the most and at the least.
const WIDEST: f64 = 140.0;
const NARROWEST: f64 = 88.0;

/// What costs need to be read.
const COSTS: f64 = 290.0;

/// Between a box and the next.
const GAP: f64 = 28.0;

/// Where nothing was asked for, so many legal counts are drawn.
const MOST_LEAVES: usize = 24;

/// A count of shards, and what leads on from it.
struct Branch {
    /// What is done, and the shards after it.
    words: [String; 2],
    /// Whether every document is written into another index.
    reindex: bool,
    branches: Vec<Branch>,
    /// What the whole way costs, where it ends here.
    costs: [String; 2],
}

impl Branch {
    fn depth(&self) -> usize {
        self.branches.iter().map(|branch| branch.depth() + 1).max().unwrap_or(0)
    }
}

/// The splits and shrinks of an Elasticsearch index as a tree, as an SVG picture: from the present shards
/// on the left along each way to its end, with what it rewrites; a reindex by a dashed line. Where no
/// count was asked for, what one operation reaches.
///
/// # Errors
/// The picture cannot be drawn.
pub fn split_tree_chart(plan: &SplitPlan) -> Result<String, ChartError> {
    let routing =
        plan.routing_shards.map_or_else(String::new, |count| format!(", {}", counted(count, "routing shard")));
    let mut canvas =
        Canvas::new(&finding(plan), &format!("{} on {}{routing}", plan.scheme, counted(plan.from, "shard")));
    for way in &plan.alternatives {
        let [rewrites, others] = costs(plan, way);
        canvas.describe(&format!("{}: {rewrites}, {others}", way.words));
    }
    if plan.to.is_none() {
        let some = |counts: &[u32]| {
            let shown: Vec<String> = counts.iter().take(MOST_LEAVES).map(u32::to_string).collect();
            if shown.is_empty() { "none".to_owned() } else { shown.join(", ") }
        };
        canvas.describe(&format!("Splits to: {}", some(&plan.legal_splits)));
        canvas.describe(&format!("Shrinks to: {}", some(&plan.legal_shrinks)));
    }
    if plan.chains_left_out > 0 {
        canvas.explain(&format!("{} that cost more are left out.", counted(plan.chains_left_out, "chain")));
    }
    let root = Branch {
        words: ["now".to_owned(), counted(plan.from, "shard")],
        reindex: false,
        branches: if plan.to.is_some() { ways(plan) } else { legal(plan) },
        costs: [String::new(), String::new()],
    };
    let columns = root.depth() as f64 + 1.0;
    let pitch = ((WIDTH - 2.0 * MARGIN - COSTS) / columns).clamp(NARROWEST, WIDEST);
    let layout = Layout { pitch, costs_at: MARGIN + pitch * columns - GAP + 14.0 };
    let mut next = canvas.top + 10.0 + ROW / 2.0;
    layout.draw(&mut canvas, &root, MARGIN, &mut next);
    canvas.svg(next - ROW / 2.0 + MARGIN)
}

struct Layout {
    pitch: f64,
    costs_at: f64,
}

impl Layout {
    /// Draws a branch and all behind it, and says at which height it stands. Leaves take one row each.
    fn draw(&self, canvas: &mut Canvas, branch: &Branch, x: f64, next: &mut f64) -> f64 {
        let right = x + self.pitch - GAP;
        let heights: Vec<f64> =
            branch.branches.iter().map(|onward| self.draw(canvas, onward, x + self.pitch, next)).collect();
        let middle = match (heights.first(), heights.last()) {
            (Some(first), Some(last)) => f64::midpoint(*first, *last),
            _ => {
                let middle = *next;
                *next += ROW;
                middle
            }
        };
        for (onward, height) in branch.branches.iter().zip(&heights) {
            let bend = right + GAP / 2.0;
            let line = [(right, middle), (bend, middle), (bend, *height), (x + self.pitch, *height)];
            if onward.reindex {
                canvas.dashes(line, Role::Bad, 1);
            } else {
                canvas.line(line, Role::Muted, 1);
            }
        }
        let role = if branch.reindex { Role::Bad } else { Role::Good };
        canvas.outline((x, middle - BOX / 2.0), (right, middle + BOX / 2.0), role);
        let centre = f64::midpoint(x, right);
        let room = right - x - 6.0;
        canvas.text_in((centre, middle - TEXT * 0.62), &branch.words[0], Side::Middle, Role::Muted, room);
        canvas.text_in((centre, middle + TEXT * 0.62), &branch.words[1], Side::Middle, Role::Ink, room);
        let room = WIDTH - MARGIN - self.costs_at;
        if branch.costs[0].is_empty() {
            return middle;
        }
        if right + 6.0 < self.costs_at - 20.0 {
            canvas.line([(right + 4.0, middle), (self.costs_at - 6.0, middle)], Role::Grid, 1);
        }
        let lift = if branch.costs[1].is_empty() { 0.0 } else { TEXT * 0.62 };
        canvas.text_in((self.costs_at, middle - lift), &branch.costs[0], Side::Start, Role::Ink, room);
        canvas.text_in((self.costs_at, middle + TEXT * 0.62), &branch.costs[1], Side::Start, Role::Muted, room);
        middle
    }
}

const fn word(operation: ResizeOperation) -> &'static str {
    match operation {
        ResizeOperation::Split => "split to",
        ResizeOperation::Shrink => "shrink to",
        ResizeOperation::Clone => "clone to",
    }
}

/// The ways that the plan has priced, those that begin alike in one branch.
fn ways(plan: &SplitPlan) -> Vec<Branch> {
    let mut tree: Vec<Branch> = Vec::new();
    for way in &plan.alternatives {
        let mut level = &mut tree;
        let Some((last, before)) = way.steps.split_last() else {
            level.push(Branch {
                words: ["reindex into".to_owned(), counted(way.to, "shard")],
                reindex: true,
                branches: Vec::new(),
                costs: costs(plan, way),
            });
            continue;
        };
        for step in before {
            let words = [word(step.operation).to_owned(), counted(step.to, "shard")];
            let same = level.iter().position(|branch| branch.words == words && !branch.branches.is_empty());
            let at = same.unwrap_or_else(|| {
                level.push(Branch { words, reindex: false, branches: Vec::new(), costs: Default::default() });
                level.len() - 1
            });
            level = &mut level[at].branches;
        }
        level.push(Branch {
            words: [word(last.operation).to_owned(), counted(last.to, "shard")],
            reindex: false,
            branches: Vec::new(),
            costs: costs(plan, way),
        });
    }
    tree
}

/// What a way rewrites, and what else it takes.
fn costs(plan: &SplitPlan, way: &ResizeAlternative) -> [String; 2] {
    let mut rewrites = rewritten(way);
    if let Some(bytes) = &way.bytes {
        let written = if plan.hard_links { bytes.written_with_hard_links } else { bytes.written_without_hard_links };
        if written > 0 {
            rewrites.push_str(&format!(" ({} written)", size(written)));
        }
    }
    let nearest = if way.how == How::Nearest { "nearest legal; " } else { "" };
    let fullest = if way.costs.fullest_shard_fraction >= 1.0 {
        "the whole index in one shard".to_owned()
    } else {
        format!("a shard up to {} of all", percent(way.costs.fullest_shard_fraction))
    };
    let mut others = format!("{nearest}{fullest}");
    if way.how == How::Reindex {
        // The words name the version of the new index where it is another.
        others = way.words.clone();
    }
    [rewrites, others]
}

fn rewritten(way: &ResizeAlternative) -> String {
    let copies = way.costs.documents_rewritten_fraction;
    if copies == 0.0 {
        "rewrites no document".to_owned()
    } else if way.how == How::Reindex {
        "rewrites every document".to_owned()
    } else {
        let times = if copies == 1.0 { "once".to_owned() } else { format!("{copies} times") };
        format!("copies the files of the index {times}")
    }
}

/// What one operation reaches, where no count was asked for.
fn legal(plan: &SplitPlan) -> Vec<Branch> {
    let shrinks = plan.legal_shrinks.iter().map(|to| (*to, ResizeOperation::Shrink));
    let all: Vec<(u32, ResizeOperation)> =
        shrinks.chain(plan.legal_splits.iter().map(|to| (*to, ResizeOperation::Split))).collect();
    let rewrites = if plan.hard_links { "rewrites no document" } else { "copies the files of the index" };
    let mut branches: Vec<Branch> = Vec::new();
    for (to, operation) in all.iter().take(MOST_LEAVES) {
        let found = plan.sizes.iter().find(|found| found.shards == *to);
        let bytes = found.and_then(|found| found.bytes_per_shard).map(|bytes| format!("{} a shard", size(bytes)));
        let docs = found.and_then(|found| found.documents_per_shard);
        let docs = docs.map(|docs| format!("{} a shard", counted(docs, "document")));
        branches.push(Branch {
            words: [word(*operation).to_owned(), counted(to, "shard")],
            reindex: false,
            branches: Vec::new(),
            costs: [rewrites.to_owned(), [bytes, docs].into_iter().flatten().collect::<Vec<_>>().join(", ")],
        });
    }
    let more = all.len().saturating_sub(MOST_LEAVES);
    if more > 0 || plan.legal_splits_cut {
        let words = if plan.legal_splits_cut { "and many more".to_owned() } else { format!("and {more} more") };
        branches.push(Branch {
            words: ["split to".to_owned(), "others".to_owned()],
            reindex: false,
            branches: Vec::new(),
            costs: [words, String::new()],
        });
    }
    branches
}

fn finding(plan: &SplitPlan) -> String {
    let from = plan.from;
    let Some(to) = plan.to else {
        let counts = |count: usize, cut: bool| match (count, cut) {
            (0, _) => "no count".to_owned(),
            (count, false) => counted(count, "legal count"),
            (count, true) => format!("more than {count} legal counts"),
        };
        return format!(
            "One split leads from {} to {}, one shrink to {}",
            counted(from, "shard"),
            counts(plan.legal_splits.len(), plan.legal_splits_cut),
            counts(plan.legal_shrinks.len(), false),
        );
    };
    let chain = plan.alternatives.iter().find(|way| way.how == How::Chain);
    match (plan.legal, chain) {
        (Some(true), Some(way)) if way.costs.operations <= 1 => {
            format!("{from} to {to} shards is legal: one operation, which {}", rewritten(way))
        }
        (Some(true), Some(way)) => format!("{from} to {to} shards is legal; the cheapest way {}", rewritten(way)),
        (Some(true), None) => format!("{from} to {to} shards is legal"),
        (_, Some(way)) => {
            let narrow =
                if way.costs.fullest_shard_fraction >= 1.0 { ", through one shard that holds everything" } else { "" };
            format!("{from} to {to} shards is refused in one operation; {} leads there{narrow}", way.words)
        }
        (_, None) => {
            format!("{from} to {to} shards is refused, and no chain leads there; a reindex rewrites every document")
        }
    }
}
