use std::path::PathBuf;

use anyhow::bail;
use shardlab_keys::Documents;
use shardlab_report::{tune_text, tuning_chart};
use shardlab_study::{TuneRequest, tune};

use crate::input::KeyArgs;
use crate::membership::{NodeArgs, of_spec};
use crate::output::{TableFormat, check_place, print_json, print_text, terminal_width, write_file};
use crate::progress::Bar;
use crate::resources::ResourceArgs;
use crate::run::Timing;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "The balance of a ring depends on the names of its nodes, so the target is asked of many memberships \
                  with other names: of their mean, of all but a few (--confidence), and of the very names given. \
                  Schemes without such an option are tried at other numbers of nodes, on keys that are \
                  given.\n\nExamples:\n  \
                  shardlab tune ring --nodes 10 --peak 1.10 --chart peak.svg\n  \
                  shardlab tune maglev --nodes-file nodes.csv --peak 1.01 --timing on\n  \
                  shardlab tune ring --nodes 12 --peak 1.2 --confidence 0.99 --keys orders.csv --routing-field tenant\n  \
                  shardlab tune elastic:created=8.15 --nodes 5 --peak 1.3 --keys orders.csv --routing-field tenant"
)]
pub(crate) struct Args {
    /// Scheme, such as ring or elastic:created=8.15; its other options stay as they are
    #[arg(value_name = "SPEC")]
    spec: String,
    #[command(flatten)]
    nodes: NodeArgs,
    /// The largest peak-to-average that is wanted, such as 1.10
    #[arg(long, value_name = "RATIO", allow_hyphen_values = true, value_parser = peak)]
    peak: f64,
    /// Part of all node names for which the target must hold
    #[arg(long, value_name = "PART", default_value = "0.95", allow_hyphen_values = true, value_parser = confidence)]
    confidence: f64,
    /// Memberships with other names [default: 1000, down to 20 for large tables]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u32).range(20..=10_000))]
    draws: Option<u32>,
    #[command(flatten)]
    keys: KeyArgs,
    /// Whether to measure build times; with "off" the output is the same bytes everywhere
    #[arg(long, value_enum, default_value = "off")]
    timing: Timing,
    #[command(flatten)]
    resources: ResourceArgs,
    /// Form of the output
    #[arg(long, value_enum, default_value = "table")]
    format: TableFormat,
    /// Also draw the peak against the values that were tried as an SVG picture
    #[arg(long, value_name = "FILE")]
    chart: Option<PathBuf>,
}

/// A plain decimal number, without the exponents and names of numbers that Rust also reads.
fn decimal(text: &str) -> Option<f64> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    if plain { text.parse().ok() } else { None }
}

fn peak(text: &str) -> Result<f64, String> {
    decimal(text)
        .filter(|peak| *peak > 1.0 && *peak <= 1000.0)
        .ok_or_else(|| "a peak-to-average is a decimal number above 1 and up to 1000, such as 1.10".to_owned())
}

fn confidence(text: &str) -> Result<f64, String> {
    decimal(text)
        .filter(|part| *part > 0.0 && *part < 1.0)
        .ok_or_else(|| "a confidence is a decimal number between 0 and 1, such as 0.95".to_owned())
}

pub(crate) fn run(args: Args) -> anyhow::Result<()> {
    if let Some(path) = &args.chart {
        check_place(path)?;
    }
    let parsed = shardlab_schemes::parse(&args.spec)?;
    let members = match (args.nodes.members()?, &parsed.membership) {
        (Some(_), Some(_)) => {
            bail!("--nodes or --nodes-file and the scheme {:?} both give the membership; keep one", args.spec)
        }
        (Some(members), None) => members,
        (None, Some(given)) => of_spec(given)?,
        (None, None) => bail!("say how many nodes there are: --nodes N or --nodes-file FILE"),
    };
    let request = TuneRequest {
        draws: args.draws,
        scheme: parsed.scheme,
        members,
        hash: args.keys.hasher()?,
        peak: args.peak,
        confidence: args.confidence,
        seed: args.keys.seed,
        brief: false,
        timing: args.timing == Timing::On,
        threads: args.resources.threads(),
        max_memory: args.resources.max_memory,
    };
    let mut documents = args.keys.documents(request.rules())?;
    if documents.is_none() {
        args.keys.refuse_file_flags("exact shares, which need no keys")?;
        if args.keys.hash.is_some() {
            bail!("--hash does nothing without keys; give --keys FILE or --synthetic SPEC, or leave it out");
        }
    }
    let bar = Bar::new();
    let documents = documents.as_mut().map(|documents| &mut **documents as &mut dyn Documents);
    let outcome = tune(&request, documents, &|progress| bar.show(progress));
    bar.finish();
    let tuning = outcome?;
    if let Some(path) = &args.chart {
        write_file(path, &tuning_chart(&tuning)?)?;
    }
    match args.format.as_table() {
        Some(format) => print_text(&tune_text(&tuning, format, terminal_width()), format),
        None => print_json(&serde_json::to_string_pretty(&tuning)?),
    }
}
