//! Runs what other packages build, so that xtask itself stays light.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, bail, ensure};
use serde_json::Value;

/// Builds a target with optimisation and returns the program. Cargo's own words go to stderr.
pub(crate) fn build(root: &Path, arguments: &[&str], target: &str) -> anyhow::Result<PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(arguments)
        .args(["--message-format", "json-render-diagnostics"])
        .current_dir(root)
        .stderr(Stdio::inherit())
        .output()
        .context("cannot run cargo")?;
    ensure!(output.status.success(), "cargo {} failed", arguments.join(" "));
    let text = String::from_utf8_lossy(&output.stdout);
    program(&text, target).with_context(|| format!("cargo {} built no program {target}", arguments.join(" ")))
}

/// The program of that target in cargo's messages.
fn program(messages: &str, target: &str) -> Option<PathBuf> {
    messages.lines().find_map(|line| {
        let message: Value = serde_json::from_str(line).ok()?;
        let found = message["target"]["name"] == target && message["executable"].is_string();
        found.then(|| PathBuf::from(message["executable"].as_str().unwrap_or_default()))
    })
}

/// Builds the program of the bench package that measures.
pub(crate) fn measure(root: &Path) -> anyhow::Result<PathBuf> {
    build(root, &["bench", "--package", "shardlab-benches", "--bench", "measure", "--no-run"], "measure")
}

/// Runs a program that writes JSON to stdout; its stderr is ours.
pub(crate) fn json(program: &Path, arguments: &[&str], environment: &[(&str, &str)]) -> anyhow::Result<Value> {
    let output = Command::new(program)
        .args(arguments)
        .envs(environment.iter().copied())
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("cannot run {}", program.display()))?;
    if !output.status.success() {
        bail!("{} {} failed", program.display(), arguments.join(" "));
    }
    serde_json::from_slice(&output.stdout).with_context(|| format!("{} wrote no JSON", program.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_is_that_of_the_target_asked_for() {
        let messages = concat!(
            "{\"reason\":\"compiler-artifact\",\"target\":{\"name\":\"lookup\"},\"executable\":\"/x/lookup\"}\n",
            "{\"reason\":\"compiler-artifact\",\"target\":{\"name\":\"measure\"},\"executable\":null}\n",
            "not JSON at all\n",
            "{\"reason\":\"compiler-artifact\",\"target\":{\"name\":\"measure\"},\"executable\":\"/x/measure-1\"}\n",
        );
        assert_eq!(program(messages, "measure"), Some(PathBuf::from("/x/measure-1")));
        assert_eq!(program(messages, "batch"), None);
    }
}
