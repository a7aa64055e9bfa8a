use std::num::NonZeroU64;
use std::path::PathBuf;

use anyhow::{Context, bail};
use shardlab_core::{MAX_NODES, Members, Scheme};
use shardlab_report::{split_plan_text, split_tree_chart};
use shardlab_study::{Reindex, Side, SplitRequest, split_plan};

use crate::input::KeyArgs;
use crate::output::{TableFormat, check_place, print_json, print_text, terminal_width, write_file};
use crate::progress::Bar;
use crate::resources::ResourceArgs;
use crate::size;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        shardlab split-plan --shards 6 --created 7.13 --to 54\n  \
                        shardlab split-plan --shards 5 --created 8.15 --routing-shards 30 --to 30 --chart ways.svg\n  \
                        shardlab split-plan --shards 12 --created 8.15 --to 18 --bytes 600GB --bandwidth 100MB/s\n  \
                        shardlab split-plan --shards 12 --created 8.15 --bytes 480GB --max-shard-size 100GB\n  \
                        shardlab split-plan --shards 1 --created 8.15 --to 5 --bytes 50GB --shard-heap 500MB\n  \
                        shardlab split-plan --shards 4 --created 8.15 --only-shard 2 --keys ids.txt\n  \
                        shardlab split-plan --shards 90 --created 8.15 --keys docs.csv --routing-field tenant\n  \
                        shardlab split-plan --shards 20 --created opensearch --partition 3")]
pub(crate) struct Args {
    /// Primary shards of the index
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = shards)]
    shards: u32,
    /// Shards to reach; left out, everything legal is listed
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = shards)]
    to: Option<u32>,
    /// Version that created the index: 8.15, 8.x, opensearch [default: 9.4, the newest generation]
    #[arg(long, value_name = "VERSION")]
    created: Option<String>,
    /// index.number_of_routing_shards, or routing_num_shards of the cluster state [default: by version]
    #[arg(long, value_name = "R", allow_hyphen_values = true)]
    routing_shards: Option<String>,
    /// index.routing_partition_size; 1 is off [default: 1]
    #[arg(long, value_name = "P", allow_hyphen_values = true)]
    partition: Option<String>,
    /// The servers' limit of shards, es.index.max_number_of_shards [default: 1024]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    max_shards: Option<String>,
    /// Bytes of all primary shards together, such as 600GB
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true, value_parser = size::parse)]
    bytes: Option<u64>,
    /// Documents of the index [default: those of --keys or --synthetic]
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = documents)]
    docs: Option<u64>,
    /// Find the least legal count that keeps shards at or below this size
    #[arg(long, value_name = "SIZE", requires = "bytes", allow_hyphen_values = true, value_parser = shard_size)]
    max_shard_size: Option<NonZeroU64>,
    /// Heap of one open shard, such as 500MB: while it runs, source and target are open together
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true, value_parser = size::parse)]
    shard_heap: Option<u64>,
    /// Cut this shard alone, the others staying as they are, by each rule that could
    #[arg(long, value_name = "S", allow_hyphen_values = true, value_parser = shard_number)]
    only_shard: Option<u32>,
    /// Parts to cut the one shard into
    #[arg(long, value_name = "K", default_value_t = 2, requires = "only_shard", allow_negative_numbers = true,
          value_parser = clap::value_parser!(u32).range(2..=1024))]
    parts: u32,
    /// Bytes a second that are written or sent, such as 100MB/s
    #[arg(long, value_name = "RATE", allow_hyphen_values = true, value_parser = size::parse_rate)]
    bandwidth: Option<u64>,
    /// Files cannot be linked, as across several disks: count copies
    #[arg(long)]
    no_hard_links: bool,
    #[command(flatten)]
    keys: KeyArgs,
    #[command(flatten)]
    resources: ResourceArgs,
    /// Form of the output
    #[arg(long, value_enum, default_value = "table")]
    format: TableFormat,
    /// Also draw the ways there as a tree in an SVG picture
    #[arg(long, value_name = "FILE")]
    chart: Option<PathBuf>,
}

/// Reads a number of shards.
fn shards(text: &str) -> Result<u32, String> {
    match text.parse::<u32>() {
        Ok(count) if (1..=MAX_NODES).contains(&count) && text.bytes().all(|byte| byte.is_ascii_digit()) => Ok(count),
        _ => Err(format!("a number of shards is a whole number from 1 to {MAX_NODES}")),
    }
}

fn documents(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| "a number of documents is a whole number from 0 to 2^64 - 1".to_owned())
}

fn shard_number(text: &str) -> Result<u32, String> {
    text.parse().map_err(|_| "a shard is named by its number, from 0 on".to_owned())
}

fn shard_size(text: &str) -> Result<NonZeroU64, String> {
    NonZeroU64::new(size::parse(text)?).ok_or_else(|| "a shard has room for at least one byte".to_owned())
}

pub(crate) fn run(args: Args) -> anyhow::Result<()> {
    if let Some(path) = &args.chart {
        check_place(path)?;
    }
    if args.bandwidth.is_some() && args.bytes.is_none() && args.keys.weight_field.is_none() {
        bail!("--bandwidth needs to know how many bytes there are; give --bytes SIZE, or --weight-field of the keys");
    }
    let request = request(&args)?;
    let rules = request.reindex.iter().fold(request.before.rules(), |rules, reindex| rules.and(reindex.side.rules()));
    let mut documents = args.keys.documents(rules)?;
    if documents.is_none() {
        args.keys.refuse_file_flags("a plan without keys")?;
    }
    let bar = Bar::new();
    let weighted = args.keys.weight_field.is_some();
    let plan =
        split_plan(&request, documents.as_deref_mut().map(|it| it as _), weighted, &|progress| bar.show(progress));
    bar.finish();
    let plan = plan?;
    if let Some(path) = &args.chart {
        write_file(path, &split_tree_chart(&plan)?)?;
    }
    match args.format.as_table() {
        Some(format) => print_text(&split_plan_text(&plan, format, terminal_width()), format),
        None => print_json(&serde_json::to_string_pretty(&plan)?),
    }
}

/// The question as the study takes it.
fn request(args: &Args) -> anyhow::Result<SplitRequest> {
    let asked = args.keys.hasher()?;
    let build = |scheme: Box<dyn Scheme>, shards: u32| {
        Side::new(scheme, &Members::dense(shards)?, asked.as_deref(), args.resources.max_memory)
            .map_err(anyhow::Error::from)
    };
    let own = scheme(args, args.created.as_deref(), true)?;
    let before = build(own.box_clone(), args.shards)?;
    let mut reindex: Vec<Reindex> = Vec::new();
    if let Some(to) = args.to {
        // Routing shards that were chosen for this index may not fit another count.
        let same = build(own, to).or_else(|_| build(scheme(args, args.created.as_deref(), false)?, to));
        if let Ok(side) = same {
            reindex.push(Reindex { words: format!("reindex into {to}"), side });
        }
        // A new index routes by the version that makes it, unless that is another product.
        let newest = build(scheme(args, None, false)?, to);
        let period = |side: &Side| side.placer.sharder.period();
        if let Ok(side) = newest
            && !args.created.as_ref().is_some_and(|created| created.eq_ignore_ascii_case("opensearch"))
            && reindex.iter().all(|same| period(&same.side) != period(&side))
        {
            reindex.push(Reindex { words: format!("reindex into {to} as {}", side.scheme.spec()), side });
        }
    }
    Ok(SplitRequest {
        before,
        to: args.to,
        reindex,
        bytes: args.bytes,
        docs: args.docs,
        max_shard_bytes: args.max_shard_size,
        shard_heap: args.shard_heap,
        one_shard: args.only_shard.map(|shard| (shard, args.parts)),
        bandwidth: args.bandwidth,
        hard_links: !args.no_hard_links,
        seed: args.keys.seed,
        threads: args.resources.threads(),
        max_memory: args.resources.max_memory,
    })
}

/// The scheme that the flags describe, with or without the routing shards they give.
fn scheme(args: &Args, created: Option<&str>, with_routing_shards: bool) -> anyhow::Result<Box<dyn Scheme>> {
    let mut scheme = shardlab_schemes::parse("elastic")?.scheme;
    let routing_shards = args.routing_shards.as_deref().filter(|_| with_routing_shards);
    let options = [
        ("--created", "created", created),
        ("--max-shards", "max_shards", args.max_shards.as_deref()),
        ("--partition", "partition", args.partition.as_deref()),
        ("--routing-shards", "routing_shards", routing_shards),
    ];
    for (flag, option, value) in options {
        if let Some(value) = value {
            scheme = scheme.with(option, value).context(flag)?;
        }
    }
    Ok(scheme)
}
