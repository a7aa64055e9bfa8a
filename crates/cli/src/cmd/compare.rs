use std::path::PathBuf;

use anyhow::bail;
use shardlab_core::Members;
use shardlab_harness::{Plan, Request, RowRequest};
use shardlab_report::{comparison_json, comparison_text, load_chart};

use shardlab_study::unmet_by_comparison;

use crate::gate::{GateArgs, settle};
use crate::input::KeyArgs;
use crate::membership::{NodeArgs, of_spec};
use crate::output::{TableFormat, check_place, print, print_text, terminal_width, write_file};
use crate::progress::Bar;
use crate::resources::ResourceArgs;
use crate::run::{Timing, command_line};

/// The number of nodes where nothing is said.
const DEFAULT_NODES: u32 = 10;

#[derive(Debug, clap::Args)]
#[command(after_help = "Without keys it compares on an embedded file of real-looking ids, without nodes on 10.\n\n\
                        Examples:\n  \
                        shardlab compare\n  \
                        shardlab compare --nodes 12 --scheme jump --scheme ring:vnodes=200\n  \
                        shardlab compare --nodes-file nodes.csv --synthetic random:1000000\n  \
                        shardlab compare --keys export.ndjson.gz --skip-bad --format markdown\n  \
                        zcat ids.gz | shardlab compare --keys - --timing off --format json")]
pub(crate) struct Args {
    #[command(flatten)]
    nodes: NodeArgs,
    /// Scheme with options, such as ring:vnodes=200; may be given several times [default: every scheme]
    #[arg(long, value_name = "SPEC")]
    scheme: Vec<String>,
    #[command(flatten)]
    keys: KeyArgs,
    /// Count each document (id and routing value) once
    #[arg(long, help_heading = "Keys")]
    distinct: bool,
    #[command(flatten)]
    gate: GateArgs,
    #[command(flatten)]
    resources: ResourceArgs,
    /// Whether to measure times; with "off" the output is the same bytes everywhere
    #[arg(long, value_enum, default_value = "on")]
    timing: Timing,
    /// Form of the output
    #[arg(long, value_enum, default_value = "table")]
    format: TableFormat,
    /// Also draw the load of the fullest and the emptiest node as an SVG picture
    #[arg(long, value_name = "FILE")]
    chart: Option<PathBuf>,
}

pub(crate) fn run(args: Args) -> anyhow::Result<()> {
    if let Some(path) = &args.chart {
        check_place(path)?;
    }
    let (rows, members) = rows_and_members(&args)?;
    let request = Request {
        members,
        rows,
        hash: args.keys.hasher()?,
        seed: args.keys.seed,
        threads: args.resources.threads(),
        timing: args.timing == Timing::On,
        max_memory: args.resources.max_memory,
    };
    let plan = Plan::new(request)?;
    let mut documents = args.keys.documents_or_sample(plan.rules())?;
    if args.distinct {
        documents = shardlab_keys::distinct(documents, args.resources.max_memory);
    }
    let bar = Bar::new();
    let outcome = plan.run(&mut *documents, command_line(), &|progress| bar.show(progress));
    bar.finish();
    let comparison = outcome?;
    if let Some(path) = &args.chart {
        write_file(path, &load_chart(&comparison)?)?;
    }
    let unmet = unmet_by_comparison(&comparison, &args.gate.require)?;
    match args.format.as_table() {
        Some(format) => print_text(&comparison_text(&comparison, format, terminal_width()), format)?,
        None => print(&comparison_json(&comparison)?)?,
    }
    settle(unmet)
}

/// The rows that are asked for, and the one membership that all of them serve.
fn rows_and_members(args: &Args) -> anyhow::Result<(Vec<RowRequest>, Members)> {
    let mut members = args.nodes.members()?.map(|members| ("--nodes or --nodes-file".to_owned(), members));
    if args.scheme.is_empty() {
        let rows = shardlab_schemes::comparison_rows();
        let rows = rows.into_iter().map(|scheme| RowRequest { scheme, required: false }).collect();
        return Ok((rows, members.map_or_else(|| Members::dense(DEFAULT_NODES), |(_, members)| Ok(members))?));
    }
    let flags = members.is_some();
    let mut rows: Vec<RowRequest> = Vec::new();
    for spec in &args.scheme {
        let parsed = shardlab_schemes::parse(spec)?;
        if let Some(given) = &parsed.membership {
            let given = of_spec(given)?;
            match &members {
                Some((first, _)) if flags => {
                    bail!("{first} and the scheme {spec:?} both give the membership; keep one")
                }
                Some((first, other)) if *other != given => bail!(
                    "the schemes {first:?} and {spec:?} give different memberships; a comparison has one (use --nodes)"
                ),
                _ => members = Some((spec.clone(), given)),
            }
        }
        let canonical = parsed.scheme.spec();
        if rows.iter().any(|row| row.scheme.spec() == canonical) {
            bail!("the scheme {canonical:?} is asked for twice");
        }
        rows.push(RowRequest { scheme: parsed.scheme, required: true });
    }
    Ok((rows, members.map_or_else(|| Members::dense(DEFAULT_NODES), |(_, members)| Ok(members))?))
}
