//! Reviews as files: what is asked, of which schemes, on which nodes and keys.

use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail};
use serde::Deserialize;
use shardlab_core::{Change, Members, NodeId, Scheme};
use shardlab_report::for_terminal;
use shardlab_study::{Compatible, Edit, ReviewChange, ReviewRequest, ReviewRequirements, check_edits};
use toml::Spanned;

use crate::edits::{Leads, StepEntry};
use crate::input::{EncodingArg, FormatArg, KeyArgs};
use crate::membership::{node, of_spec, read_nodes};
use crate::size::{self, Size};

/// The number of nodes where nothing is said.
const DEFAULT_NODES: u32 = 10;

/// What decides where nothing is asked in words.
const DEFAULT_QUESTION: &str = "Which sharding scheme meets these requirements?";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ReviewFile {
    title: Option<String>,
    question: Option<String>,
    background: Option<OneOrMore>,
    present: Option<Spanned<String>>,
    candidates: Option<Vec<Spanned<String>>>,
    tune: Option<bool>,
    hash: Option<Spanned<String>>,
    seed: Option<u64>,
    #[serde(default)]
    nodes: NodesTable,
    #[serde(default)]
    keys: KeysTable,
    #[serde(default)]
    load: LoadTable,
    #[serde(default)]
    requirements: RequirementsTable,
    #[serde(default)]
    change: Vec<Spanned<toml::Table>>,
    #[serde(default)]
    step: Vec<Spanned<StepEntry>>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum OneOrMore {
    One(String),
    More(Vec<String>),
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct NodesTable {
    count: Option<Spanned<u32>>,
    file: Option<Spanned<String>>,
    list: Option<Vec<Spanned<String>>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct KeysTable {
    file: Option<Spanned<String>>,
    synthetic: Option<Spanned<String>>,
    format: Option<Spanned<String>>,
    id_field: Option<String>,
    routing_field: Option<String>,
    weight_field: Option<String>,
    encoding: Option<Spanned<String>>,
    #[serde(default)]
    skip_bad: bool,
    #[serde(default)]
    distinct: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct LoadTable {
    bytes: Option<Spanned<String>>,
    bandwidth: Option<Spanned<String>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct RequirementsTable {
    peak: Option<Spanned<f64>>,
    moved: Option<Spanned<Part>>,
    needless: Option<Spanned<Part>>,
    disruption: Option<Spanned<Part>>,
    any_node_leaves: Option<bool>,
    weights: Option<bool>,
    memory: Option<Spanned<String>>,
    compatible_with: Option<Spanned<String>>,
    constant_lookup: Option<bool>,
    lookup_ns: Option<Spanned<f64>>,
}

/// A part of all keys: a number from 0 to 1, or a text such as "15 %".
#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "a part of all keys is a number from 0 to 1, or a text such as \"15 %\"")]
enum Part {
    Number(f64),
    Text(String),
}

impl Part {
    fn fraction(&self) -> anyhow::Result<f64> {
        let right = "a part of all keys is a number from 0 to 1, or a text such as \"15 %\"";
        let fraction = match self {
            Self::Number(number) => *number,
            Self::Text(text) => {
                let number = text.strip_suffix('%').map(str::trim).with_context(|| format!("{text:?}: {right}"))?;
                number.parse::<f64>().with_context(|| format!("{text:?}: {right}"))? / 100.0
            }
        };
        match fraction {
            // A zero with a sign is zero.
            0.0..=1.0 => Ok(fraction.abs()),
            _ => bail!("{fraction}: {right}"),
        }
    }
}

/// A review file together with what the command adds.
pub(crate) struct Asked {
    pub(crate) request: ReviewRequest,
    pub(crate) keys: KeyArgs,
    pub(crate) distinct: bool,
    /// Where the keys stand in the file, for errors about them.
    pub(crate) keys_at: String,
    /// What the keys are called in results: the path as the file writes it.
    pub(crate) description: Option<String>,
}

/// What the command itself decides.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Machine<'a> {
    /// The command that makes the review again, wherever this one was started.
    pub(crate) command: &'a str,
    pub(crate) threads: usize,
    pub(crate) max_memory: u64,
    pub(crate) timing: bool,
}

/// A file with its name and its folder, for errors and for the files that it names.
struct Source<'a> {
    shown: &'a str,
    text: &'a str,
    folder: &'a Path,
}

impl Source<'_> {
    fn line(&self, at: usize) -> usize {
        self.text.bytes().take(at).filter(|&byte| byte == b'\n').count() + 1
    }

    /// The place of a value, for errors about it.
    fn place<T>(&self, value: &Spanned<T>, name: &str) -> String {
        format!("{}:{}: {name}", self.shown, self.line(value.span().start))
    }

    /// Reads a value, and says where it stands if that fails.
    fn read<T, U>(
        &self,
        value: Option<&Spanned<T>>,
        name: &str,
        read: impl FnOnce(&T) -> anyhow::Result<U>,
    ) -> anyhow::Result<Option<U>> {
        value.map(|value| read(value.get_ref()).with_context(|| self.place(value, name))).transpose()
    }

    /// A path beside the file.
    fn beside(&self, path: &str) -> PathBuf {
        // What stands beside a file of this folder is shown as it was written.
        if self.folder == Path::new(".") { PathBuf::from(path) } else { self.folder.join(path) }
    }
}

/// Reads a review. `folder` is where the files that it names are looked for.
pub(crate) fn parse(text: &str, shown: &str, folder: &Path, machine: Machine<'_>) -> anyhow::Result<Asked> {
    let source = Source { shown, text, folder };
    let file: ReviewFile = toml::from_str(text).map_err(|error| {
        let line = error.span().map_or(1, |span| source.line(span.start));
        anyhow!("{shown}:{line}: {}", error.message())
    })?;
    let present = source.read(file.present.as_ref(), "present", |spec| Ok(shardlab_schemes::parse(spec)?))?;
    let given = match present.as_ref().and_then(|parsed| parsed.membership.as_ref()) {
        Some(membership) => {
            // A nodes file in a spec stands beside the review as well.
            let beside = match membership {
                shardlab_schemes::Membership::File(file) => {
                    shardlab_schemes::Membership::File(source.beside(file).to_string_lossy().into_owned())
                }
                other => other.clone(),
            };
            Some(of_spec(&beside).with_context(|| format!("{shown}: present"))?)
        }
        None => None,
    };
    let members = members(&source, &file.nodes, given)?;
    let hash = source.read(file.hash.as_ref(), "hash", |name| Ok(shardlab_hash::by_name(name)?))?;
    let seed = file.seed.unwrap_or(42);
    let keys = keys(&source, &file.keys, file.hash.as_ref().map(|hash| hash.get_ref().clone()), seed)?;
    let requirements = requirements(&source, &file.requirements)?;
    let candidates = match &file.candidates {
        None => shardlab_schemes::comparison_rows(),
        Some(specs) => {
            if specs.is_empty() {
                bail!("{shown}: candidates is empty; leave it out to review every scheme");
            }
            let mut schemes: Vec<Box<dyn Scheme>> = Vec::new();
            for spec in specs {
                let scheme = candidate(&source, spec)?;
                if schemes.iter().any(|known| known.spec() == scheme.spec()) {
                    bail!("{}: {:?} is given twice", source.place(spec, "candidates"), scheme.spec());
                }
                schemes.push(scheme);
            }
            schemes
        }
    };
    let changes = if file.change.is_empty() {
        usual_changes(&members)
    } else {
        let read = |entry: &Spanned<toml::Table>| -> anyhow::Result<ReviewChange> {
            let change = change(entry.get_ref())?;
            check_edits(&members, &change.edits)?;
            Ok(change)
        };
        let changes = file.change.iter().map(|entry| read(entry).with_context(|| source.place(entry, "change")));
        changes.collect::<anyhow::Result<_>>()?
    };
    let mut path: Vec<Vec<Edit>> = Vec::new();
    for entry in file.step {
        let place = source.place(&entry, "step");
        let step = edits(entry.into_inner()).with_context(|| place.clone())?;
        let so_far: Vec<Edit> = path.iter().flatten().chain(&step).cloned().collect();
        check_edits(&members, &so_far).with_context(|| place)?;
        path.push(step);
    }
    let size = |value: Option<&Spanned<String>>, name: &str| {
        source.read(value, name, |text| Ok(Size::parse(text).map_err(anyhow::Error::msg)?.noted(name)))
    };
    let bytes = size(file.load.bytes.as_ref(), "load.bytes")?;
    let bandwidth = source.read(file.load.bandwidth.as_ref(), "load.bandwidth", |text| {
        size::parse_rate(text).map_err(anyhow::Error::msg)
    })?;
    let background = match file.background {
        None => Vec::new(),
        // Paragraphs of one text are parted by empty lines.
        Some(OneOrMore::One(text)) => {
            let paragraphs = text.split("\n\n").map(|lines| lines.split_whitespace().collect::<Vec<_>>().join(" "));
            paragraphs.filter(|paragraph| !paragraph.is_empty()).collect()
        }
        Some(OneOrMore::More(paragraphs)) => paragraphs,
    };
    Ok(Asked {
        request: ReviewRequest {
            definition: text.to_owned(),
            command: machine.command.to_owned(),
            title: file.title.unwrap_or_else(|| "Sharding review".to_owned()),
            question: file.question.unwrap_or_else(|| DEFAULT_QUESTION.to_owned()),
            background,
            members,
            present: present.map(|parsed| parsed.scheme),
            candidates,
            tune: file.tune.unwrap_or(true),
            hash,
            requirements,
            changes,
            path,
            bytes,
            weighted: keys.weight_field.is_some(),
            bandwidth,
            seed,
            threads: machine.threads,
            timing: machine.timing,
            max_memory: machine.max_memory,
        },
        distinct: file.keys.distinct,
        keys_at: match (&file.keys.file, &file.keys.synthetic) {
            (Some(value), _) => source.place(value, "keys.file"),
            (None, Some(value)) => source.place(value, "keys.synthetic"),
            (None, None) => format!("{shown}: keys"),
        },
        description: file.keys.file.map(|file| for_terminal(file.get_ref())),
        keys,
    })
}

fn members(source: &Source<'_>, nodes: &NodesTable, given: Option<Members>) -> anyhow::Result<Members> {
    let ways = [nodes.count.is_some(), nodes.file.is_some(), nodes.list.is_some(), given.is_some()];
    if ways.iter().filter(|given| **given).count() > 1 {
        bail!("{}: nodes: give one of count, file, list, or a membership in present", source.shown);
    }
    if let Some(file) = &nodes.file {
        return read_nodes(&source.beside(file.get_ref())).with_context(|| source.place(file, "nodes.file"));
    }
    if let Some(list) = &nodes.list {
        let nodes = list.iter().map(|entry| node(entry.get_ref()).with_context(|| source.place(entry, "nodes.list")));
        let nodes = nodes.collect::<anyhow::Result<_>>()?;
        return Members::listed(nodes).with_context(|| format!("{}: nodes.list", source.shown));
    }
    if let Some(count) = &nodes.count {
        return Members::dense(*count.get_ref()).with_context(|| source.place(count, "nodes.count"));
    }
    Ok(given.map_or_else(|| Members::dense(DEFAULT_NODES), Ok)?)
}

fn keys(source: &Source<'_>, keys: &KeysTable, hash: Option<String>, seed: u64) -> anyhow::Result<KeyArgs> {
    if let (Some(_), Some(synthetic)) = (&keys.file, &keys.synthetic) {
        bail!("{}: keys come from a file or are synthetic, not both", source.place(synthetic, "keys.synthetic"));
    }
    if let Some(file) = keys.file.as_ref().filter(|file| file.get_ref() == "-") {
        bail!("{}: a review reads its keys several times, and stdin can be read once", source.place(file, "keys.file"));
    }
    let one_of = |value: &String, known: &[&str]| anyhow!("{value:?}; one of {}", known.join(", "));
    let format = source.read(keys.format.as_ref(), "keys.format", |name| match name.as_str() {
        "lines" => Ok(FormatArg::Lines),
        "csv" => Ok(FormatArg::Csv),
        "ndjson" => Ok(FormatArg::Ndjson),
        _ => Err(one_of(name, &["lines", "csv", "ndjson"])),
    })?;
    let encoding = source.read(keys.encoding.as_ref(), "keys.encoding", |name| match name.as_str() {
        "utf8" => Ok(EncodingArg::Utf8),
        "hex" => Ok(EncodingArg::Hex),
        "base64" => Ok(EncodingArg::Base64),
        _ => Err(one_of(name, &["utf8", "hex", "base64"])),
    })?;
    Ok(KeyArgs {
        keys: keys.file.as_ref().map(|file| source.beside(file.get_ref())),
        synthetic: keys.synthetic.as_ref().map(|spec| spec.get_ref().clone()),
        seed,
        keys_format: format,
        id_field: keys.id_field.clone(),
        routing_field: keys.routing_field.clone(),
        weight_field: keys.weight_field.clone(),
        requests_field: None,
        encoding: encoding.unwrap_or_default(),
        skip_bad: keys.skip_bad,
        hash,
    })
}

fn requirements(source: &Source<'_>, table: &RequirementsTable) -> anyhow::Result<ReviewRequirements> {
    let part = |value: Option<&Spanned<Part>>, name: &str| source.read(value, name, Part::fraction);
    let positive = |right: &'static str, least: f64| {
        move |number: &f64| match *number {
            value if value.is_finite() && value >= least => Ok(value),
            value => Err(anyhow!("{value}: {right}")),
        }
    };
    let peak = positive("a peak is a number from 1 on, the load of the fullest node over the fair load", 1.0);
    let time = positive("a time is a number of nanoseconds above 0", f64::MIN_POSITIVE);
    Ok(ReviewRequirements {
        peak: source.read(table.peak.as_ref(), "requirements.peak", peak)?,
        moved: part(table.moved.as_ref(), "requirements.moved")?,
        needless: part(table.needless.as_ref(), "requirements.needless")?,
        disruption: part(table.disruption.as_ref(), "requirements.disruption")?,
        any_node_leaves: table.any_node_leaves.unwrap_or(false),
        weights: table.weights.unwrap_or(false),
        memory: source
            .read(table.memory.as_ref(), "requirements.memory", |text| size::parse(text).map_err(anyhow::Error::msg))?,
        compatible_with: source.read(table.compatible_with.as_ref(), "requirements.compatible_with", |system| {
            Ok(Compatible { system: system.clone(), scheme: without_membership(shardlab_schemes::system(system)?)? })
        })?,
        constant_lookup: table.constant_lookup.unwrap_or(false),
        lookup_ns: source.read(table.lookup_ns.as_ref(), "requirements.lookup_ns", time)?,
    })
}

fn candidate(source: &Source<'_>, spec: &Spanned<String>) -> anyhow::Result<Box<dyn Scheme>> {
    let scheme = shardlab_schemes::parse(spec.get_ref()).map_err(Into::into).and_then(without_membership);
    scheme.with_context(|| source.place(spec, "candidates"))
}

/// All schemes of a review serve the same nodes, which stand in the file once.
fn without_membership(parsed: shardlab_schemes::Parsed) -> anyhow::Result<Box<dyn Scheme>> {
    match parsed.membership {
        None => Ok(parsed.scheme),
        Some(_) => bail!("{}: the nodes of a review stand in [nodes] or in present", parsed.scheme.spec()),
    }
}

fn edits(entry: StepEntry) -> anyhow::Result<Vec<Edit>> {
    match entry.leads()? {
        Leads::By(edits) => Ok(edits),
        Leads::To(_) => bail!("to: a review goes by changes of the nodes; the candidates are its schemes"),
    }
}

fn change(table: &toml::Table) -> anyhow::Result<ReviewChange> {
    let mut table = table.clone();
    let name = match table.remove("name") {
        None => None,
        Some(toml::Value::String(name)) if name.trim().is_empty() => {
            bail!("name: empty; leave it out, or name the change")
        }
        Some(toml::Value::String(name)) => Some(name),
        Some(_) => bail!("name: not a text; a name is one, such as \"add a node\""),
    };
    let moved = match table.remove("moved") {
        None => None,
        Some(value) => {
            let part: Result<Part, _> = value.try_into();
            let part = part.map_err(|_| {
                anyhow!("moved: a part of all keys is a number from 0 to 1, or a text such as \"15 %\"")
            })?;
            Some(part.fraction().context("moved")?)
        }
    };
    let entry: StepEntry = table.try_into().map_err(|error: toml::de::Error| anyhow!("{}", error.message()))?;
    Ok(ReviewChange { name, edits: edits(entry)?, moved })
}

/// What happens to every system sooner or later.
fn usual_changes(members: &Members) -> Vec<ReviewChange> {
    let one = |name: &str, change| ReviewChange {
        name: Some(name.to_owned()),
        edits: vec![Edit::Change(change)],
        moved: None,
    };
    let mut changes = vec![one("add a node", Change::Grow { to: members.len() + 1 })];
    if members.len() > 1 {
        let middle = members.name(NodeId(members.len() / 2)).into_owned();
        changes.push(one("lose a node in the middle", Change::Remove { name: middle }));
    }
    changes
}
