use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use serde_json::Value;
use shardlab_report::{diff, diff_text, for_terminal};

use crate::gate::{Changed, settle_diff};
use crate::output::{TableFormat, print_as_json, print_text, terminal_width};

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Both files are results of the same command: review.json, or what --format json prints. Changes of \
                        the mapping (where keys are placed, which of them move) stand apart from judgements, numbers that \
                        follow, and times.\n\nExit code 1 says that the mapping changed; times never do.\n\nExamples:\n  \
                        shardlab diff old/review.json new/review.json\n  \
                        shardlab diff stored.json new.json --format markdown\n  \
                        shardlab compare --format json | shardlab diff stored.json -"
)]
pub(crate) struct Args {
    /// The earlier result; "-" is stdin
    #[arg(value_name = "OLD")]
    old: PathBuf,
    /// The later result; "-" is stdin
    #[arg(value_name = "NEW")]
    new: PathBuf,
    /// Form of the output
    #[arg(long, value_enum, default_value = "table")]
    format: TableFormat,
}

pub(crate) fn run(args: Args) -> anyhow::Result<()> {
    let is_stdin = |path: &Path| path == Path::new("-");
    if is_stdin(&args.old) && is_stdin(&args.new) {
        bail!("OLD and NEW are both \"-\", and stdin can be read once; give one of them a file");
    }
    let (old, new) = (read(&args.old)?, read(&args.new)?);
    let found = diff(&old, &new).with_context(|| format!("{} and {}", shown(&args.old), shown(&args.new)))?;
    match args.format.as_table() {
        Some(format) => print_text(&diff_text(&found, format, terminal_width()), format)?,
        None => print_as_json(&found)?,
    }
    settle_diff(found.mapping_changed.then_some(Changed))
}

fn shown(path: &Path) -> String {
    if path == Path::new("-") { "<stdin>".to_owned() } else { for_terminal(&path.to_string_lossy()) }
}

fn read(path: &Path) -> anyhow::Result<Value> {
    let shown = shown(path);
    let text =
        if path == Path::new("-") { std::io::read_to_string(std::io::stdin()) } else { std::fs::read_to_string(path) };
    let text = text.with_context(|| format!("cannot read {shown}"))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    serde_json::from_str(text).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        anyhow::anyhow!("{shown}:{line}: column {column}: not JSON; give what --format json printed, or a review.json")
    })
}
