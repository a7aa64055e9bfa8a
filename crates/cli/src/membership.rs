//! Who the nodes are: from flags, from a spec, or from a CSV file.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use shardlab_core::rows::counted;
use shardlab_core::{MAX_NODES, Members, Node};
use shardlab_keys::{TableRow, read_table};
use shardlab_report::for_terminal;
use shardlab_schemes::Membership;

/// The flags that give a membership.
#[derive(Debug, clap::Args)]
pub(crate) struct NodeArgs {
    /// Number of nodes, named "0" to "N-1"
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = count)]
    pub(crate) nodes: Option<u32>,
    /// CSV file with the nodes: name,weight (a weight left out is 1)
    #[arg(long, value_name = "FILE", conflicts_with = "nodes")]
    pub(crate) nodes_file: Option<PathBuf>,
}

/// Reads a number of nodes.
fn count(text: &str) -> Result<u32, String> {
    match text.parse::<u32>() {
        Ok(count) if (1..=MAX_NODES).contains(&count) && text.bytes().all(|byte| byte.is_ascii_digit()) => Ok(count),
        _ => Err(format!("a number of nodes is a whole number from 1 to {MAX_NODES}")),
    }
}

impl NodeArgs {
    /// The membership that the flags give, if they do.
    pub(crate) fn members(&self) -> anyhow::Result<Option<Members>> {
        match (&self.nodes, &self.nodes_file) {
            (Some(nodes), _) => Ok(Some(Members::dense(*nodes)?)),
            (None, Some(file)) => read_nodes(file).map(Some),
            (None, None) => Ok(None),
        }
    }
}

/// The membership that a spec gives.
pub(crate) fn of_spec(membership: &Membership) -> anyhow::Result<Members> {
    match membership {
        Membership::Count(nodes) => Ok(Members::dense(*nodes)?),
        Membership::File(file) => read_nodes(Path::new(file)),
    }
}

/// Reads a nodes file. A first row of the words `name` and `weight` is a header and gives the order
/// of the two columns.
pub(crate) fn read_nodes(path: &Path) -> anyhow::Result<Members> {
    let shown = for_terminal(&path.to_string_lossy());
    let rows = read_table(path).context("the nodes file")?;
    let header =
        rows.first().map(|row| Columns::of_header(&row.fields)).transpose().with_context(|| format!("{shown}:1"))?;
    let header = header.flatten();
    let columns = header.unwrap_or(Columns { name: 0, weight: 1, fields: None });
    let mut nodes: Vec<Node> = Vec::with_capacity(rows.len());
    let mut lines: std::collections::BTreeMap<&str, u64> = std::collections::BTreeMap::new();
    for TableRow { line, fields } in &rows[usize::from(header.is_some())..] {
        let place = format!("{shown}:{line}");
        match columns.fields {
            Some(expected) if fields.len() != expected => {
                bail!("{place}: the row has {}, and the header {expected}", counted(fields.len(), "field"));
            }
            None if fields.len() > 2 => {
                bail!("{place}: {} fields; a nodes file has name,weight (or name alone)", fields.len());
            }
            _ => {}
        }
        let name = fields.get(columns.name).map_or("", String::as_str);
        if fields.len() == 1 && name.contains([';', '\t']) {
            bail!(
                "{place}: name: {name:?}: columns are parted by commas; if this is the name, write its weight behind it, as in {name:?},1"
            );
        }
        let weight = match fields.get(columns.weight).map(String::as_str) {
            None | Some("") => 1,
            Some(text) => weight(text).with_context(|| format!("{place}: weight: {text:?}"))?,
        };
        if let Some(first) = lines.insert(name, *line) {
            bail!("{place}: name: {name:?} already stands in line {first}; a name is a node's identity");
        }
        nodes.push(Node::new(name, weight).with_context(|| format!("{place}: name"))?);
    }
    Members::listed(nodes).with_context(|| format!("{shown}: no nodes; write one a line as name,weight"))
}

/// Where the columns of a nodes file stand, and how many fields a row has where a header says so.
#[derive(Clone, Copy)]
struct Columns {
    name: usize,
    weight: usize,
    fields: Option<usize>,
}

impl Columns {
    /// The order that a header gives, if the row is one.
    fn of_header(row: &[String]) -> anyhow::Result<Option<Self>> {
        let words: Vec<&str> = row.iter().map(String::as_str).collect();
        Ok(Some(match words[..] {
            ["name"] => Self { name: 0, weight: 1, fields: Some(1) },
            ["name", "weight"] => Self { name: 0, weight: 1, fields: Some(2) },
            ["weight", "name"] => Self { name: 1, weight: 0, fields: Some(2) },
            _ => {
                // A header that is nearly right would otherwise become a node of that name.
                let near = |word: &&str| ["name", "weight"].iter().any(|known| word.trim().eq_ignore_ascii_case(known));
                if words.iter().all(near) {
                    bail!(
                        "{:?} looks like a header; the header of a nodes file is name,weight (or name alone)",
                        words.join(",")
                    );
                }
                return Ok(None);
            }
        }))
    }
}

/// Reads NAME or NAME=WEIGHT.
pub(crate) fn node(text: &str) -> anyhow::Result<Node> {
    let (name, weight_text) = text.rsplit_once('=').unwrap_or((text, "1"));
    Ok(Node::new(name, weight(weight_text).with_context(|| format!("{text:?}"))?)?)
}

/// Reads a weight.
pub(crate) fn weight(text: &str) -> anyhow::Result<u32> {
    let right = "a weight is a whole number from 1 to 4294967295 (multiply all weights by one factor to get rid of \
                 fractions, and leave out a node that should own nothing)";
    match text.parse::<u32>() {
        Ok(weight) if weight > 0 && text.bytes().all(|byte| byte.is_ascii_digit()) => Ok(weight),
        _ => bail!("{right}"),
    }
}
