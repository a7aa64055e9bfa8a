use anyhow::bail;
use shardlab_core::MAX_NODES;
use shardlab_report::inspect_text;
use shardlab_study::{InspectRequest, inspect};

use crate::input::KeyArgs;
use crate::output::{TableFormat, print_json, print_text, terminal_width};
use crate::progress::Bar;
use crate::resources::ResourceArgs;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Findings are harmful, to watch, or harmless; each has its number and what to do. Without keys it \
                        inspects an embedded file of real-looking ids.\n\nExamples:\n  \
                        shardlab inspect --keys ids.txt\n  \
                        shardlab inspect --keys orders.csv --id-field id --routing-field tenant --weight-field bytes\n  \
                        shardlab inspect --synthetic snowflake:100000 --nodes 4,8,16,1000\n  \
                        shardlab inspect --keys ids.txt --hash java --nodes 31,32 --format json"
)]
pub(crate) struct Args {
    #[command(flatten)]
    keys: KeyArgs,
    /// Numbers of nodes of interest, separated by commas
    #[arg(long, value_name = "LIST", default_value = "4,8,12,16", allow_hyphen_values = true)]
    nodes: String,
    #[command(flatten)]
    resources: ResourceArgs,
    /// Form of the output
    #[arg(long, value_enum, default_value = "table")]
    format: TableFormat,
}

pub(crate) fn run(args: Args) -> anyhow::Result<()> {
    let request = InspectRequest {
        schemes: shardlab_schemes::comparison_rows(),
        hash: args.keys.hasher()?,
        nodes: counts(&args.nodes)?,
        whole_lines: args.keys.are_whole_lines(),
        seed: args.keys.seed,
        threads: args.resources.threads(),
        max_memory: args.resources.max_memory,
    };
    let mut documents = args.keys.documents_or_sample(request.rules())?;
    let bar = Bar::new();
    let outcome = inspect(&request, &mut *documents, &|progress| bar.show(progress));
    bar.finish();
    let inspection = outcome?;
    match args.format.as_table() {
        Some(format) => print_text(&inspect_text(&inspection, format, terminal_width()), format),
        None => print_json(&serde_json::to_string_pretty(&inspection)?),
    }
}

/// Numbers of nodes in ascending order, each once.
fn counts(list: &str) -> anyhow::Result<Vec<u32>> {
    let mut counts = Vec::new();
    for word in list.split(',').map(str::trim) {
        match word.parse::<u32>() {
            Ok(count) if (1..=MAX_NODES).contains(&count) && word.bytes().all(|byte| byte.is_ascii_digit()) => {
                counts.push(count);
            }
            _ => bail!(
                "--nodes {list:?}: {word:?} is no number of nodes; write whole numbers from 1 to {MAX_NODES} with commas \
                 between, such as 4,8,12,16"
            ),
        }
    }
    counts.sort_unstable();
    counts.dedup();
    Ok(counts)
}
