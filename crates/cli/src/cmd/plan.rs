use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use serde::Deserialize;
use shardlab_core::KeyHasher;
use shardlab_keys::SyntheticSpec;
use shardlab_report::{for_terminal, path_chart, path_text};
use shardlab_study::{Outcome, Side, Step, edit_all, follow, unmet_by_path};

use crate::edits::{Leads, StepEntry};
use crate::gate::{GateArgs, settle};
use crate::input::KeyArgs;
use crate::machines::MachineArgs;
use crate::membership::of_spec;
use crate::output::{TableFormat, check_place, print_as_json, print_text, terminal_width, write_file};
use crate::progress::Bar;
use crate::resources::ResourceArgs;
use crate::size::{self, Size};

/// The keys of a plan where none are given.
const DEFAULT_KEYS: &str = "random:1000000";

#[derive(Debug, clap::Args)]
#[command(after_help = "The file names a start and the steps after it, each with one change:\n\n  \
                        start = \"ring:nodes=12\"\n  bytes = \"600GB\"        # optional\n  bandwidth = \"100MB/s\"  # \
                        optional\n\n  [[step]]\n  grow_to = 16\n\n  [[step]]\n  remove = \"3\"\n\n  [[step]]\n  add = \
                        [\"a\", \"b=2\"]\n\n  [[step]]\n  to = \"start\"          # or a spec such as \
                        \"jump:nodes=24\"\n\nOther changes: shrink_to, lose_rack, reweight = \"NAME=WEIGHT\", rename = \
                        \"OLD=NEW\", renumber = \"NAME\".\n\nExamples:\n  shardlab plan growth.toml\n  shardlab plan \
                        growth.toml --keys ids.txt --require 'moved<=0.30' --format json\n  shardlab plan growth.toml --machines \
                        3 --chart growth.svg\n\nWithout --keys and --synthetic, random:1000000 is studied.")]
pub(crate) struct Args {
    /// The plan; "-" is stdin
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    keys: KeyArgs,
    /// Count each document (id and routing value) once
    #[arg(long, help_heading = "Keys")]
    distinct: bool,
    #[command(flatten)]
    machines: MachineArgs,
    #[command(flatten)]
    gate: GateArgs,
    #[command(flatten)]
    resources: ResourceArgs,
    /// Form of the output
    #[arg(long, value_enum, default_value = "table")]
    format: TableFormat,
    /// Also draw what moves step by step, beside going straight, as an SVG picture
    #[arg(long, value_name = "FILE")]
    chart: Option<PathBuf>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PlanFile {
    start: String,
    bytes: Option<String>,
    bandwidth: Option<String>,
    #[serde(default)]
    step: Vec<StepEntry>,
}

pub(crate) fn run(args: Args) -> anyhow::Result<()> {
    if let Some(path) = &args.chart {
        check_place(path)?;
    }
    let stdin = args.file == Path::new("-");
    let shown = if stdin { "<stdin>".to_owned() } else { for_terminal(&args.file.to_string_lossy()) };
    let text = read(&args.file).with_context(|| format!("cannot read {shown}"))?;
    let plan: PlanFile = toml::from_str(&text).map_err(|error| {
        let line =
            error.span().map_or(1, |span| text.bytes().take(span.start).filter(|&byte| byte == b'\n').count() + 1);
        anyhow::anyhow!("{shown}:{line}: {}", error.message())
    })?;
    let asked = args.keys.hasher()?;
    let start =
        side(&plan.start, asked.as_deref(), args.resources.max_memory).with_context(|| format!("{shown}: start"))?;
    let bytes = plan.bytes.as_deref().map(Size::parse).transpose();
    let bandwidth = plan.bandwidth.as_deref().map(size::parse_rate).transpose();
    let mut path = shardlab_study::Path {
        machines: args.machines.machines()?,
        bytes: bytes
            .map_err(anyhow::Error::msg)
            .with_context(|| format!("{shown}: bytes"))?
            .map(|size| size.noted("bytes").into()),
        weighted: args.keys.weight_field.is_some(),
        bandwidth: bandwidth.map_err(anyhow::Error::msg).with_context(|| format!("{shown}: bandwidth"))?,
        seed: args.keys.seed,
        threads: args.resources.threads(),
        max_memory: args.resources.max_memory,
        steps: Vec::new(),
        start,
    };
    if plan.step.is_empty() {
        bail!("{shown}: no [[step]]; a plan has one or more");
    }
    for (number, entry) in (1..).zip(plan.step) {
        let step = step(&path, entry, asked.as_deref(), args.resources.max_memory)
            .with_context(|| format!("{shown}: step {number}"))?;
        path.steps.push(step);
    }
    let rules = path
        .steps
        .iter()
        .filter_map(|step| step.after.as_ref().ok())
        .fold(path.start.rules(), |rules, side| rules.and(side.rules()));
    let documents = match args.keys.documents(rules)? {
        Some(documents) => documents,
        None => {
            args.keys.refuse_file_flags(DEFAULT_KEYS)?;
            shardlab_keys::synthetic(&SyntheticSpec::parse(DEFAULT_KEYS)?, args.keys.seed, rules)
        }
    };
    let mut documents =
        if args.distinct { shardlab_keys::distinct(documents, args.resources.max_memory) } else { documents };
    let bar = Bar::new();
    let outcome = follow(&path, &mut *documents, &|progress| bar.show(progress));
    bar.finish();
    let rows = outcome?;
    if let Some(path) = &args.chart {
        write_file(path, &path_chart(&rows)?)?;
    }
    let unmet = unmet_by_path(&rows, &args.gate.require)?;
    match args.format.as_table() {
        Some(format) => print_text(&path_text(&rows, format, terminal_width()), format)?,
        None => print_as_json(&rows)?,
    }
    settle(unmet)
}

fn read(path: &Path) -> std::io::Result<String> {
    if path == Path::new("-") { std::io::read_to_string(std::io::stdin()) } else { std::fs::read_to_string(path) }
}

fn side(spec: &str, asked: Option<&dyn KeyHasher>, max_memory: u64) -> anyhow::Result<Side> {
    let parsed = shardlab_schemes::parse(spec)?;
    let Some(given) = &parsed.membership else {
        bail!(
            "the scheme {spec:?} does not say how many nodes there are; write for example {spec}:{}=12",
            parsed.scheme.members_word()
        );
    };
    Ok(Side::new(parsed.scheme, &of_spec(given)?, asked, max_memory)?)
}

/// The step after those that the path has. Where an earlier one was refused there is nothing to do it to.
fn step(
    path: &shardlab_study::Path,
    entry: StepEntry,
    asked: Option<&dyn KeyHasher>,
    max_memory: u64,
) -> anyhow::Result<Step> {
    let before = match path.steps.last() {
        None => &path.start,
        Some(step) => match &step.after {
            Ok(side) => side,
            Err(_) => {
                entry.leads()?;
                return Ok(Step {
                    words: "(not reached)".to_owned(),
                    after: Err("a step before it was refused".to_owned()),
                });
            }
        },
    };
    let edits = match entry.leads()? {
        Leads::To(spec) if spec == "start" => {
            return Ok(Step { words: "go back to the start".to_owned(), after: Ok(path.start.clone()) });
        }
        Leads::To(spec) => {
            let words = format!("go to {spec}");
            return Ok(Step { words, after: Ok(side(&spec, asked, max_memory)?) });
        }
        Leads::By(edits) => edits,
    };
    match edit_all(before, &edits, max_memory)? {
        Outcome::Done { after, words, .. } => Ok(Step { words, after: Ok(*after) }),
        Outcome::Refused { words, reason, .. } => Ok(Step { words, after: Err(reason) }),
    }
}
