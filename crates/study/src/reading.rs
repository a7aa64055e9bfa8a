//! The numbers of a what-if in words.

use shardlab_core::ResizeOperation;
use shardlab_core::rows::{NodeFlow, Verdict, WhatIf, counted, percent};

pub(crate) fn in_words(rows: &WhatIf, operation: Option<ResizeOperation>, reindex: bool) -> Vec<String> {
    let mut words = vec![moved(rows, operation.is_some())];
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
    words.extend(times(rows, reindex));
    words.extend(machines(rows, operation.is_some()));
    words.extend(bottleneck(rows));
    words.extend(copies(rows));
    words.extend(heirs(rows));
    for (when, balance) in [("Before", &rows.before), ("After", &rows.after)] {
        let verdict = match balance.verdict {
            Verdict::TooFewKeys => "too few keys to judge".to_owned(),
            Verdict::Chance => "within chance".to_owned(),
            Verdict::Structural => format!("beyond chance (p {:.1e})", balance.p_value),
        };
        words.push(format!(
            "{when}: the fullest node holds {:.3} times its fair load, {verdict} at {} per node.",
            balance.peak_to_average,
            counted(format!("{:.0}", balance.keys_per_node), "key")
        ));
    }
    words
}

/// What the transfers take.
fn times(rows: &WhatIf, reindex: bool) -> Option<String> {
    let (serial, parallel) = (rows.seconds_serial?, rows.seconds_parallel?);
    let mut words = format!(
        "One transfer after another takes {serial:.0} s, all nodes at work at once {parallel:.0} s; checking, \
         indexing and throttling are not in it."
    );
    if let Some(rewritten) = rows.seconds_rewritten.filter(|_| reindex) {
        words.push_str(&format!(
            " That is for documents that land on another shard number; writing all of them anew, one after another, \
             takes {rewritten:.0} s."
        ));
    }
    Some(words)
}

/// What passes between machines.
fn machines(rows: &WhatIf, lineage: bool) -> Option<String> {
    let machines = rows.machines.as_ref()?;
    let mut words = format!("{} of the keys change their machine", percent(machines.moved_fraction));
    if let (Some(serial), Some(parallel)) = (machines.seconds_serial, machines.seconds_parallel) {
        words.push_str(&format!(": {serial:.0} s in sequence, {parallel:.0} s with all machines at work"));
    }
    words.push('.');
    if lineage && machines.moved_fraction > 0.0 {
        words.push_str(
            " No document leaves its lineage, but shards stand on other machines than those they come from, and are \
             carried there whole.",
        );
    }
    Some(words)
}

/// The node that carries the most: by bytes where they are known, else by keys.
fn bottleneck(rows: &WhatIf) -> Option<String> {
    let carried = |node: &NodeFlow| {
        let bytes = node.load.bytes_moved_in.max(node.load.bytes_moved_out).unwrap_or(0);
        (bytes, node.load.keys_moved_in.max(node.load.keys_moved_out))
    };
    let node = rows.per_node.iter().max_by_key(|node| carried(node)).filter(|node| carried(node).1 > 0)?;
    Some(format!(
        "The bottleneck is node {:?}: it takes {} and gives {}.",
        node.node_name,
        counted(node.load.keys_moved_in, "key"),
        node.load.keys_moved_out
    ))
}

fn copies(rows: &WhatIf) -> Option<String> {
    let copies = rows.replicas.as_ref()?;
    let mut words = format!(
        "With {} copies of each key, {} of the copies are made anew; the least these counts allow is {}.",
        copies.copies,
        percent(copies.made_fraction),
        percent(copies.made_minimum_fraction)
    );
    for (when, place) in [("before", copies.copies_before), ("after", copies.copies_after)] {
        if place < copies.copies {
            words.push_str(&format!(" The nodes {when} the change have place for {place} copies."));
        }
    }
    if copies.lost_first_owner > 0 {
        words.push_str(&format!(
            " The first owner of {} is lost; of these, {} with a copy elsewhere and {} without one.",
            counted(copies.lost_first_owner, "key"),
            copies.kept_a_copy,
            copies.lost_every_copy
        ));
    }
    Some(words)
}

fn heirs(rows: &WhatIf) -> Option<String> {
    let heirs = rows.heirs.as_ref()?;
    let mut words = format!(
        "Node {:?} inherits the most: {} of the {} of the nodes that leave, where an even share is {}.",
        heirs.largest_node,
        percent(heirs.largest_fraction),
        counted(heirs.keys, "key"),
        percent(heirs.even_fraction)
    );
    if let (Some(growth), Some(node)) = (heirs.largest_growth, &heirs.largest_growth_node) {
        words.push_str(&format!(" The node that grows the most is {node:?}, by {}.", percent(growth)));
    }
    Some(words)
}

fn moved(all: &WhatIf, lineage: bool) -> String {
    let rows = &all.moves;
    let what = if lineage { "shard number" } else { "node" };
    let mut words = format!("{} of the keys change their {what}", percent(rows.moved_fraction));
    if let Some(exact) = all.exact_moved_fraction {
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
