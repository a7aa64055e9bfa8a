//! The gate: requirements that a result must meet, for use in somebody's continuous integration.

use shardlab_study::{RequireError, Requirement, Unmet};

/// The flag that every command with numbers takes.
#[derive(Debug, clap::Args)]
pub(crate) struct GateArgs {
    /// Requirement such as 'peak<=1.10', 'moved<=0.12' or 'disruption==0'; may be given several times.
    /// Exit code 1 if one is not met
    #[arg(long, value_name = "METRIC<=NUMBER", value_parser = parse)]
    pub(crate) require: Vec<Requirement>,
}

fn parse(text: &str) -> Result<Requirement, RequireError> {
    Requirement::parse(text)
}

/// A result does not meet its requirements. It was printed all the same.
#[derive(Debug)]
pub(crate) struct NotMet(pub(crate) Vec<Unmet>);

impl std::fmt::Display for NotMet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} requirements are not met", self.0.len())
    }
}

impl std::error::Error for NotMet {}

/// Ends a command: well, or with what is not met.
pub(crate) fn settle(unmet: Vec<Unmet>) -> anyhow::Result<()> {
    if unmet.is_empty() { Ok(()) } else { Err(NotMet(unmet).into()) }
}

/// Two results place keys differently. That was printed.
#[derive(Debug)]
pub(crate) struct Changed;

impl std::fmt::Display for Changed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the mapping changed")
    }
}

impl std::error::Error for Changed {}

/// Ends a comparison of two results.
pub(crate) fn settle_diff(changed: Option<Changed>) -> anyhow::Result<()> {
    changed.map_or(Ok(()), |changed| Err(changed.into()))
}
