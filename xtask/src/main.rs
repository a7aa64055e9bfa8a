//! Chores of the workspace: a table of contents.

mod corpus;
mod new_scheme;
mod root;
mod tidy;

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
    /// Run what CI runs
    Ci,
}

fn main() -> ExitCode {
    let outcome = match Cli::parse().task {
        Task::Tidy => tidy::run(&root::workspace()),
        Task::NewScheme { name } => new_scheme::run(&root::workspace(), &name),
        Task::Corpus => corpus::run(&root::workspace()),
        Task::Ci => ci(),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
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
