//! Which machines the nodes stand on, from flags.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use shardlab_keys::{TableRow, read_table};
use shardlab_report::for_terminal;
use shardlab_study::Machines;

/// The flags that place nodes on machines.
#[derive(Debug, clap::Args)]
pub(crate) struct MachineArgs {
    /// Machines behind the nodes: node i stands on machine i mod N, and keeps it while it stays
    #[arg(long, value_name = "N", conflicts_with = "machines_file", allow_negative_numbers = true)]
    machines: Option<u32>,
    /// CSV file that says where each node stands: node,machine
    #[arg(long, value_name = "FILE")]
    machines_file: Option<PathBuf>,
}

impl MachineArgs {
    /// Whether machines are given.
    pub(crate) const fn are_given(&self) -> bool {
        self.machines.is_some() || self.machines_file.is_some()
    }

    /// The machines, where they are given.
    pub(crate) fn machines(&self) -> anyhow::Result<Option<Machines>> {
        match (self.machines, &self.machines_file) {
            (Some(count), _) => Ok(Some(Machines::round_robin(count).context("--machines")?)),
            (None, Some(file)) => {
                let shown = for_terminal(&file.to_string_lossy());
                let machines = Machines::table(&rows(file)?, shown.clone()).context(shown)?;
                Ok(Some(machines))
            }
            (None, None) => Ok(None),
        }
    }
}

/// Reads a table of nodes and machines; a first row `node,machine` is a header.
fn rows(file: &Path) -> anyhow::Result<Vec<(String, String)>> {
    let shown = for_terminal(&file.to_string_lossy());
    let mut rows = Vec::new();
    let mut seen = std::collections::BTreeSet::new();
    for TableRow { line, fields } in read_table(file).context("the table of machines")? {
        let [node, machine] = &fields[..] else {
            bail!("{shown}:{line}: {} fields; a table of machines has node,machine", fields.len());
        };
        if rows.is_empty() && line == 1 && (node.as_str(), machine.as_str()) == ("node", "machine") {
            continue;
        }
        if !seen.insert(node.clone()) {
            bail!("{shown}:{line}: node: {node:?} stands twice in the table");
        }
        rows.push((node.clone(), machine.clone()));
    }
    Ok(rows)
}
