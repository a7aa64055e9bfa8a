//! What a reader must be told about a configuration.

use shardlab_core::ResizeOperation;

use crate::{Created, DEFAULT_MAX_SHARDS, Elastic, Generation, Index, MAX_DOCS};

/// The notes for a scheme, with numbers where the index is known.
pub(crate) fn notes(scheme: &Elastic, index: Option<Index>) -> Vec<String> {
    let created = scheme.created_or_newest();
    let mut notes = Vec::new();
    if scheme.created.is_none() {
        notes.push(
            "created was not given: the newest generation (9.4 and later) was assumed; an index created earlier \
             places its documents elsewhere (say created=8.15, 1.x, opensearch, …)"
                .to_owned(),
        );
    }
    notes.push(function(created));
    if created.may_mean_opensearch() {
        notes.push(format!(
            "created={created} is a version of Elasticsearch; for an index of OpenSearch write created=opensearch"
        ));
    }
    notes.extend(resizing(scheme, created));
    if let (Some(number), Generation::ShardCount) = (scheme.routing_shards, scheme.generation()) {
        notes.push(format!(
            "routing_shards={number} has no effect on where documents go since 9.4; it counts for resize rules and \
             the bound of the partition alone"
        ));
    }
    notes.extend(partition(scheme, index));
    if scheme.max_shards != DEFAULT_MAX_SHARDS {
        notes.push(format!(
            "max_shards={} stands for -Des.index.max_number_of_shards on every node; the servers' default is {}",
            scheme.max_shards, DEFAULT_MAX_SHARDS
        ));
    }
    notes
}

fn function(created: Created) -> String {
    match created.generation() {
        Generation::Djb2 => {
            "models indices created on Elasticsearch 0.x and 1.x: shard = |DJB2 rem n| (cluster.routing.operation.hash \
             at its default, ids alone)"
        }
        Generation::ShardsAsRoutingShards => {
            "models indices created on Elasticsearch 2.0 to 6.x: shard = floorMod(Murmur3, R) / (R / n), where R \
             (routing shards) is n by default"
        }
        Generation::DefaultRoutingShards => {
            "models indices created on Elasticsearch 7.0 to 9.3 and on OpenSearch: shard = floorMod(Murmur3, R) / \
             (R / n), where R (routing shards) is n doubled up to 1024 by default; virtual shards and in-place splits \
             of OpenSearch are not modelled"
        }
        Generation::ShardCount => {
            "models indices created on Elasticsearch 9.4 and later: shard = floorMod(Murmur3, n), without routing \
             shards"
        }
    }
    .to_owned()
}

/// Where the counts alone do not decide whether a server would resize.
fn resizing(scheme: &Elastic, created: Created) -> Option<String> {
    Some(match scheme.generation() {
        Generation::ShardCount => {
            "whether a split of an index created on 9.4 or later must still divide its routing shards is unverified; \
             it is judged by that rule here"
                .to_owned()
        }
        Generation::Djb2 => {
            "no server that can split or shrink opens an index created on 0.x or 1.x; counts are judged by arithmetic \
             alone, and such an index has to be reindexed"
                .to_owned()
        }
        _ if !created.is_at_least(6, 0) => {
            "servers refuse to split an index created before 6.0, whatever the counts; shrinking needs 5.0 or later"
                .to_owned()
        }
        _ => return None,
    })
}

fn partition(scheme: &Elastic, index: Option<Index>) -> Option<String> {
    let size = scheme.partition;
    if size == 1 {
        return None;
    }
    if let Some(index) = index {
        let mean = index.mean_searched();
        let wanted = f64::from(size.min(index.shards()));
        let remedy = if size < index.shards() {
            format!("; routing_shards={} would spread them", index.shards())
        } else {
            String::new()
        };
        return (mean < 0.9 * wanted).then(|| {
            format!(
                "WARNING: partition={size} has little effect here: with {} routing shards the documents of one routing \
                 value stand on {mean:.2} of {} shards on average, not on {wanted}, since the offset is added before \
                 the hash is divided by the routing factor {}{remedy}",
                index.routing_shards(),
                index.shards(),
                index.routing_factor(),
            )
        });
    }
    if scheme.routing_shards.is_some() || scheme.generation() != Generation::DefaultRoutingShards {
        return None;
    }
    let mean = |shards: u32| {
        let index = scheme.index(shards).ok()?;
        Some(format!("{:.2} of {shards}", index.mean_searched()))
    };
    let examples: Vec<String> = [5, 20, 48].into_iter().filter_map(mean).collect();
    Some(format!(
        "WARNING: partition={size} has almost no effect with the default number of routing shards: the offset is \
         added before the hash is divided by the routing factor R / n, so that one routing value reaches \
         1 + (partition - 1) · n / R shards on average ({}); an index with as many routing shards as shards spreads it \
         over {size}",
        examples.join(", ")
    ))
}

/// What a server demands of a resize beside legal counts.
pub(crate) fn preconditions(operation: ResizeOperation) -> Vec<String> {
    let mut all = vec![
        "the index is read-only while it is resized (index.blocks.write: true), its shards are healthy, and the name \
         of the target is free; the source stays until it is deleted"
            .to_owned(),
        "the target inherits routing_partition_size and the routing function; number_of_routing_shards can be given \
         to a split from one shard alone"
            .to_owned(),
    ];
    match operation {
        ResizeOperation::Clone => {}
        ResizeOperation::Shrink => {
            all.push(
                "for a shrink all shards, a copy of each, stand on one node \
                 (index.routing.allocation.require._name), which needs room for all of it"
                    .to_owned(),
            );
            all.push(format!("no shard may hold more than {MAX_DOCS} documents after a shrink"));
        }
        ResizeOperation::Split => {
            all.push(
                "each shard is split on the node where it stands; where a child gets another data path, as with \
                 several disks, files are copied and not linked"
                    .to_owned(),
            );
            all.push(
                "the allocator may budget a full copy of its parent for every child and refuse a split for want of \
                 disk, even where links would need next to none"
                    .to_owned(),
            );
            all.push("an index that routes by fields of its documents (routing_path) cannot be split".to_owned());
        }
    }
    all
}
