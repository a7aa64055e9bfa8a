//! Who the nodes are: from flags, from a spec, or from a CSV file.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use shardlab_core::{MAX_NODES, Members, Node};
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
    let shown = path.display();
    let bytes = std::fs::read(path).with_context(|| format!("cannot read the nodes file {shown}"))?;
    let text = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&bytes);
    let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(text);
    let mut columns = Columns { name: 0, weight: 1, most: 2 };
    let mut nodes: Vec<Node> = Vec::new();
    let mut lines: std::collections::BTreeMap<String, u64> = std::collections::BTreeMap::new();
    for (number, record) in reader.records().enumerate() {
        let record = record.map_err(|error| csv_problem(path, &error))?;
        let line = record.position().map_or(0, csv::Position::line);
        let place = format!("{shown}:{line}");
        if number == 0
            && let Some(header) = Columns::of_header(&record)
        {
            columns = header;
            continue;
        }
        if record.len() > columns.most {
            bail!("{place}: {} fields; a nodes file has name,weight (or name alone)", record.len());
        }
        let name = record.get(columns.name).unwrap_or_default();
        let weight = match record.get(columns.weight) {
            None | Some("") => 1,
            Some(text) => weight(text).with_context(|| format!("{place}: weight: {text:?}"))?,
        };
        if let Some(first) = lines.insert(name.to_owned(), line) {
            bail!("{place}: name: {name:?} already stands in line {first}; a name is a node's identity");
        }
        nodes.push(Node::new(name, weight).with_context(|| format!("{place}: name"))?);
    }
    Members::listed(nodes).with_context(|| format!("{shown}: no nodes; write one a line as name,weight"))
}

/// Where the columns of a nodes file stand, and how many fields a row may have.
struct Columns {
    name: usize,
    weight: usize,
    most: usize,
}

impl Columns {
    /// The order that a header gives, if the row is one.
    fn of_header(row: &csv::StringRecord) -> Option<Self> {
        Some(match row.iter().collect::<Vec<_>>()[..] {
            ["name"] => Self { name: 0, weight: 1, most: 1 },
            ["name", "weight"] => Self { name: 0, weight: 1, most: 2 },
            ["weight", "name"] => Self { name: 1, weight: 0, most: 2 },
            _ => return None,
        })
    }
}

fn weight(text: &str) -> anyhow::Result<u32> {
    let right = "a weight is a whole number from 1 to 4294967295 (multiply all weights by one factor to get rid of \
                 fractions, and leave out a node that should own nothing)";
    match text.parse::<u32>() {
        Ok(weight) if weight > 0 && text.bytes().all(|byte| byte.is_ascii_digit()) => Ok(weight),
        _ => bail!("{right}"),
    }
}

fn csv_problem(path: &Path, error: &csv::Error) -> anyhow::Error {
    let line = error.position().map_or(0, csv::Position::line);
    anyhow::anyhow!("{}:{line}: this is not CSV in UTF-8: {error}", path.display())
}
