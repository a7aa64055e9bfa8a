//! The `shardlab` command: a table of contents. Each subcommand has a file of its own in `cmd`.

mod cmd;
mod counts;
mod edits;
mod failure;
mod folder;
mod gate;
mod input;
mod machines;
mod membership;
mod output;
mod progress;
mod resources;
mod review_file;
mod run;
mod size;
mod undisturbed;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Debug, Parser)]
#[command(
    name = "shardlab",
    version,
    about = "Choose a sharding scheme with evidence.",
    long_about = "Choose a sharding scheme with evidence: where keys go, how evenly they lie, what a change of the \
                  number of nodes moves, and what a lookup costs.",
    after_help = "Exit codes: 0 done, 1 a requirement not met or a mapping changed, 2 bad input or usage.\nEnvironment: \
                  NO_COLOR; SHARDLAB_SIMD=portable|avx2|avx512|avx512ifma limits the instructions of lookups, never \
                  their answers.\n\nExamples:\n  \
                  shardlab compare\n  shardlab compare --nodes 12 --keys ids.csv --id-field user_id\n  \
                  shardlab route --scheme elastic:shards=6,created=8.15 --explain 654321\n  \
                  shardlab verdict --counts 58856,18389,22755\n  shardlab schemes",
    arg_required_else_help = true
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Compare schemes on the same keys: balance, movement, memory and speed.
    Compare(cmd::compare::Args),
    /// Say where each key goes, and why.
    Route(cmd::route::Args),
    /// Judge counts that somebody already has: chance or structural?
    Verdict(cmd::verdict::Args),
    /// Study a change: what moves, from where to where, how many bytes and how long.
    WhatIf(Box<cmd::what_if::Args>),
    /// Plan a split or shrink of an Elasticsearch index: what is legal, which chains lead there, what it costs.
    SplitPlan(cmd::split_plan::Args),
    /// Find what makes keys bad on their own: patterns, few or common values, heavy documents.
    Inspect(cmd::inspect::Args),
    /// Follow a path of several changes, and what going straight would cost.
    Plan(cmd::plan::Args),
    /// Find the smallest virtual nodes, table or number of shards that meets a target of balance.
    Tune(cmd::tune::Args),
    /// Hold schemes against requirements, and write pages, pictures and files for a design review.
    Review(cmd::review::Args),
    /// Say what changed between two results: mappings apart from times.
    Diff(cmd::diff::Args),
    /// List the schemes with their promises, costs, options and sources.
    Schemes(cmd::schemes::Args),
}

fn main() -> ExitCode {
    failure::exit_code(run(Cli::parse().command))
}

fn run(command: Command) -> anyhow::Result<()> {
    // A limit on the kernels that cannot be kept must not pass silently.
    shardlab_kernels::Simd::from_environment()?;
    match command {
        Command::Compare(args) => cmd::compare::run(args),
        Command::Route(args) => cmd::route::run(args),
        Command::Verdict(args) => cmd::verdict::run(args),
        Command::WhatIf(args) => cmd::what_if::run(*args),
        Command::SplitPlan(args) => cmd::split_plan::run(args),
        Command::Inspect(args) => cmd::inspect::run(args),
        Command::Plan(args) => cmd::plan::run(args),
        Command::Tune(args) => cmd::tune::run(args),
        Command::Review(args) => cmd::review::run(args),
        Command::Diff(args) => cmd::diff::run(args),
        Command::Schemes(args) => cmd::schemes::run(args),
    }
}
