//! What `cargo xtask peers` and `cargo xtask record` run as a process: it measures, judges by the
//! targets in `targets.rs`, and writes JSON to stdout. Everything that is shown is made from that by
//! xtask, which stays free of these dependencies.

mod peers;
#[path = "../support/published.rs"]
mod published;
mod record;
#[path = "../support/mod.rs"]
mod support;
mod targets;

use std::io::Write;
use std::path::PathBuf;

use clap::{Parser, Subcommand};
use shardlab_core::rows::Scaling;
use shardlab_harness::{Sweep, SweepError};

#[derive(Debug, Parser)]
#[command(name = "measure")]
struct Cli {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Published crates against ours, in turns
    Peers {
        /// Ids of mixed lengths, one a line, in place of synthetic ones
        #[arg(long)]
        names: Option<PathBuf>,
    },
    /// Every scheme of the registry: lookups, batches, hashing, builds, memory
    Record,
    /// Every scheme as far as it goes, up to a million nodes
    Scale {
        /// Bytes that a table may take while it is built
        #[arg(long)]
        max_memory: u64,
        /// To ten thousand nodes alone, in seconds
        #[arg(long)]
        short: bool,
    },
}

fn main() -> anyhow::Result<()> {
    // `cargo bench --bench measure` adds this word for the benefit of other harnesses.
    let arguments = std::env::args_os().filter(|argument| argument != "--bench");
    // A variable that cannot be followed must not quietly mean something else in a record.
    let simd = shardlab_kernels::Simd::from_environment()?;
    let json = match Cli::parse_from(arguments).what {
        What::Peers { names } => serde_json::to_value(peers::run(simd, names.as_deref())?)?,
        What::Record => serde_json::to_value(record::run(simd))?,
        What::Scale { max_memory, short } => serde_json::to_value(scale(max_memory, short)?)?,
    };
    let mut out = std::io::stdout().lock();
    serde_json::to_writer_pretty(&mut out, &json)?;
    writeln!(out)?;
    Ok(())
}

fn scale(max_memory: u64, short: bool) -> Result<Scaling, SweepError> {
    let schemes = shardlab_schemes::comparison_rows();
    let sweep = if short { Sweep::short(&schemes, max_memory) } else { Sweep::full(&schemes, max_memory) };
    sweep.run(&mut |scheme, nodes| eprintln!("{scheme} with {nodes} nodes"))
}
