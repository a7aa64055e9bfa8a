//! Chores of the workspace: a table of contents.

mod browser;
mod corpus;
mod instructions;
mod machine;
mod new_scheme;
mod peers;
mod process;
mod record;
mod report;
mod root;
mod scaling;
mod tidy;

use std::path::PathBuf;
use std::process::{Command, ExitCode};

use anyhow::Context;
use clap::{Parser, Subcommand};

#[derive(Debug, Parser)]
#[command(name = "cargo xtask", about = "Chores of the shardlab workspace.")]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Check the shape of the house: who may depend on whom, shared lints, sizes, forbidden words
    Tidy,
    /// Add a scheme: its folder, its dependency line and its registry line
    NewScheme {
        /// Name in specs: lower-case letters, digits and hyphens
        name: String,
    },
    /// Fetch the names of all npm packages (4.5 million real ids) into target/corpus
    Corpus,
    /// Measure published crates against ours in turns; exit code 1 if a target is missed by more than its spread
    Peers {
        /// Form of the output
        #[arg(long, value_enum, default_value = "text")]
        format: peers::Format,
        /// Ids of mixed lengths, one a line, in place of synthetic ones; `cargo xtask corpus` fetches some
        #[arg(long, value_name = "FILE")]
        names: Option<PathBuf>,
    },
    /// Store a dated record of measured speed under reports/record
    Record(record::Args),
    /// Make what reports/ and the README show again from commands and records
    Report(report::Args),
    /// Say what changed between two records beyond noise
    BenchCompare {
        /// The folder or record.json of the earlier one
        old: PathBuf,
        /// The folder or record.json of the later one
        new: PathBuf,
    },
    /// Count the instructions of a lookup of each scheme with valgrind and store them in reports
    Instructions {
        /// Compare with what is stored, within 3 %; without valgrind say so and succeed
        #[arg(long)]
        check: bool,
    },
    /// Check a page of a report in headless Chromium: layout, contrast, keyboard, print
    Browser(browser::Args),
    /// Run what CI runs
    Ci,
}

fn main() -> ExitCode {
    let root = root::workspace();
    let done = |()| ExitCode::SUCCESS;
    let outcome = match Cli::parse().task {
        Task::Tidy => tidy::run(&root).map(done),
        Task::NewScheme { name } => new_scheme::run(&root, &name).map(done),
        Task::Corpus => corpus::run(&root).map(done),
        Task::Peers { format, names } => peers::run(&root, format, names.as_deref()),
        Task::Record(args) => record::run(&root, &args).map(done),
        Task::Report(args) => report::run(&root, &args),
        Task::BenchCompare { old, new } => record::compare(&old, &new).map(done),
        Task::Instructions { check } => instructions::run(&root, check).map(done),
        Task::Browser(args) => browser::run(&root, &args).map(done),
        Task::Ci => ci().map(done),
    };
    match outcome {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn ci() -> anyhow::Result<()> {
    let status =
        Command::new("bash").arg(".ci/run").current_dir(root::workspace()).status().context("cannot run bash")?;
    anyhow::ensure!(status.success(), "CI failed");
    Ok(())
}
