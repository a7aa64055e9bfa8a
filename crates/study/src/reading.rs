//! The numbers of a what-if in words.

use shardlab_core::ResizeOperation;
use shardlab_core::rows::{Verdict, WhatIf};

pub(crate) fn in_words(rows: &WhatIf, operation: Option<ResizeOperation>, reindex: bool) -> Vec<String> {
    let mut words = vec![moved(rows)];
    match operation {
        Some(ResizeOperation::Clone) => words.push("The number of shards stays as it is.".to_owned()),
        Some(operation) => {
            let name = if operation == ResizeOperation::Split { "split" } else { "shrink" };
            words.push(format!(
                "This is a {name}: documents change their shard number, but {} of them leave the lineage of their \
                 shard, and by hard links none is rewritten.",
                percent(rows.left_parent_fraction.unwrap_or(0.0))
            ));
        }
        None if reindex => words.push(
            "This is no split or shrink of the index: every document is written anew into another index (reindex), \
             wherever it lands."
                .to_owned(),
        ),
        None => {}
    }
    if let (Some(serial), Some(parallel)) = (rows.seconds_serial, rows.seconds_parallel) {
        words.push(format!(
            "One transfer after another takes {serial:.0} s, all nodes at work at once {parallel:.0} s; checking, \
             indexing and throttling are not in it."
        ));
    }
    if let Some(node) =
        rows.per_node.iter().max_by_key(|node| node.keys_in.max(node.keys_out)).filter(|_| rows.moved_keys > 0)
    {
        words.push(format!(
            "The bottleneck is node {:?}: {} keys arrive and {} depart.",
            node.node_name, node.keys_in, node.keys_out
        ));
    }
    for (when, balance) in [("Before", &rows.before), ("After", &rows.after)] {
        let verdict = match balance.verdict {
            Verdict::TooFewKeys => "too few keys to judge".to_owned(),
            Verdict::Chance => "within chance".to_owned(),
            Verdict::Structural => format!("beyond chance (p {:.1e})", balance.p_value),
        };
        words.push(format!(
            "{when}: the fullest node holds {:.3} times its fair load, {verdict} at {:.0} keys per node.",
            balance.peak_to_average, balance.keys_per_node
        ));
    }
    words
}

fn moved(rows: &WhatIf) -> String {
    let mut words = format!("{} of the keys change their node", percent(rows.moved_fraction));
    if let Some(exact) = rows.exact_moved_fraction {
        words.push_str(&format!(" (exactly {} of all keys there can be)", percent(exact)));
    }
    if rows.excess_fraction == 0.0 {
        words.push_str("; that is the least these counts allow");
    } else {
        words.push_str(&format!(
            "; the least these counts allow is {}, so {} move needlessly",
            percent(rows.minimum_fraction),
            percent(rows.excess_fraction)
        ));
    }
    words.push_str(&format!(". A perfectly balanced scheme would move {}.", percent(rows.ideal_fraction)));
    words
}

fn percent(fraction: f64) -> String {
    format!("{:.2} %", fraction * 100.0)
}
