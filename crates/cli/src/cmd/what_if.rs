use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use serde_json::json;
use shardlab_core::rows::{Removals, WhatIf};
use shardlab_core::{Change, KeyHasher, KeyRules, Members, Scheme};
use shardlab_keys::{Documents, SyntheticSpec};
use shardlab_report::{
    Format, flow_chart, for_markdown, for_terminal, removals_csv, removals_text, what_if_summary, what_if_text,
};
use shardlab_study::{
    Columns, Edit, Loss, Outcome, Request, Side, StudyError, Totals, Unmet, edit, removals, unmet_by_what_if, what_if,
};

use crate::gate::{GateArgs, settle};
use crate::input::KeyArgs;
use crate::machines::MachineArgs;
use crate::membership::{self, of_spec};
use crate::output::{TableFormat, check_place, note, print, print_as_json, print_text, terminal_width, write_file};
use crate::progress::Bar;
use crate::resources::ResourceArgs;
use crate::size::{self, Requests, Size};

/// The keys of a study where none are given: enough that sampling does not show in three digits.
const DEFAULT_KEYS: &str = "random:10000000";

#[derive(Debug, clap::Args)]
#[command(after_help = "FROM and TO are specs with a membership. Without TO, one flag says what happens to the nodes \
                        of FROM. Where a scheme refuses, what people then do is studied in its place. Without --keys \
                        and --synthetic, random:10000000 is studied (--remove-each: random:1000000).\n\nExamples:\n  \
                        shardlab what-if jump:nodes=12 jump:nodes=18 --bytes 600GB --bandwidth 100MB/s\n  \
                        shardlab what-if elastic:shards=12,created=8.15 elastic:shards=18,created=8.15 --bytes 600GB\n  \
                        shardlab what-if elastic:shards=12,created=8.15 elastic:shards=12,created=9.4\n  \
                        shardlab what-if ring:nodes-file=nodes.csv --remove cache-3 --keys ids.txt\n  \
                        shardlab what-if maglev:nodes=12 --remove 5 --chart flows.svg\n  \
                        shardlab what-if ring:nodes=12 --remove 5 --replicas 3 --requests 50000/s\n  \
                        shardlab what-if jump:nodes=10 --remove 5 --format json")]
pub(crate) struct Args {
    /// The sharding that there is, such as jump:nodes=12
    #[arg(value_name = "FROM")]
    from: String,
    /// The sharding that there would be
    #[arg(value_name = "TO")]
    to: Option<String>,
    #[command(flatten)]
    edit: EditArgs,
    #[command(flatten)]
    keys: KeyArgs,
    /// Count each document (id and routing value) once
    #[arg(long, help_heading = "Keys")]
    distinct: bool,
    #[command(flatten)]
    machines: MachineArgs,
    /// Copies of each key, on its first K distinct owners; for schemes that have an order of owners
    #[arg(long, value_name = "K", default_value_t = 1, allow_negative_numbers = true)]
    replicas: u32,
    /// Bytes of all documents together, such as 600GB; shared out by --weight-field where it is given
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true, value_parser = Size::parse)]
    bytes: Option<Size>,
    /// Column or field with the requests for a key
    #[arg(long, value_name = "NAME", help_heading = "Keys")]
    requests_field: Option<String>,
    /// Requests for all documents together, a rate such as 50000/s or a count; shared out by
    /// --requests-field where it is given
    #[arg(long, value_name = "NUMBER", allow_hyphen_values = true, value_parser = Requests::parse)]
    requests: Option<Requests>,
    /// Bytes a second of one transfer, such as 100MB/s
    #[arg(long, value_name = "RATE", allow_hyphen_values = true, value_parser = size::parse_rate)]
    bandwidth: Option<u64>,
    #[command(flatten)]
    gate: GateArgs,
    #[command(flatten)]
    resources: ResourceArgs,
    /// Form of the output
    #[arg(long, value_enum, default_value = "table")]
    format: TableFormat,
    /// Also draw from where to where keys move as an SVG picture
    #[arg(long, value_name = "FILE")]
    chart: Option<PathBuf>,
    /// Other commands have these flags. Here they would leave open whose nodes they are.
    #[arg(long, hide = true, num_args = 0..=1, value_name = "FILE")]
    nodes_file: Option<Option<String>>,
    #[arg(long, hide = true, num_args = 0..=1, value_name = "N")]
    nodes: Option<Option<String>>,
}

/// What happens to the nodes of FROM.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Changes")]
#[group(multiple = false, conflicts_with = "to")]
struct EditArgs {
    /// Append nodes until there are N
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    grow_to: Option<u32>,
    /// Drop nodes from the end until there are N
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    shrink_to: Option<u32>,
    /// Add a node: NAME or NAME=WEIGHT
    #[arg(long, value_name = "NODE")]
    add: Option<String>,
    /// Remove a node by its name, wherever it stands
    #[arg(long, value_name = "NODE")]
    remove: Option<String>,
    /// Remove each node in turn, and say whose loss hurts most and who inherits
    #[arg(long)]
    remove_each: bool,
    /// Remove all nodes whose name begins with PREFIX
    #[arg(long, value_name = "PREFIX")]
    lose_rack: Option<String>,
    /// Give a node another weight: NAME=WEIGHT
    #[arg(long, value_name = "NODE=WEIGHT")]
    reweight: Option<String>,
    /// Give a node another name, the same machine with the same data: OLD=NEW
    #[arg(long, value_name = "OLD=NEW")]
    rename: Option<String>,
    /// List the same nodes in another order: names separated by commas
    #[arg(long, value_name = "NAMES")]
    reorder: Option<String>,
    /// Remove a node and close up the list, the usual mistake with schemes that number their nodes
    #[arg(long, value_name = "NODE")]
    renumber: Option<String>,
}

impl EditArgs {
    fn edit(&self) -> anyhow::Result<Option<Edit>> {
        let change = |change| Ok(Some(Edit::Change(change)));
        if let Some(to) = self.grow_to {
            return change(Change::Grow { to });
        }
        if let Some(to) = self.shrink_to {
            return change(Change::Shrink { to });
        }
        if let Some(node) = &self.add {
            return change(Change::Add(membership::node(node).context("--add")?));
        }
        if let Some(name) = &self.remove {
            return change(Change::Remove { name: name.clone() });
        }
        if let Some(node) = &self.reweight {
            let (name, text) = pair("--reweight", node, "NAME=WEIGHT")?;
            let weight = membership::weight(&text).with_context(|| format!("--reweight: {text:?}"))?;
            return change(Change::Reweight { name, weight });
        }
        if let Some(names) = &self.rename {
            let (from, to) = pair("--rename", names, "OLD=NEW")?;
            return Ok(Some(Edit::Rename { from, to }));
        }
        let names = |list: &String| list.split(',').map(str::to_owned).collect();
        let edit = self.lose_rack.clone().map(|prefix| Edit::LoseRack { prefix });
        let edit = edit.or_else(|| self.reorder.as_ref().map(|list| Edit::Reorder { names: names(list) }));
        Ok(edit.or_else(|| self.renumber.clone().map(|remove| Edit::Renumber { remove })))
    }
}

fn pair(flag: &str, text: &str, form: &str) -> anyhow::Result<(String, String)> {
    let (left, right) = text.rsplit_once('=').with_context(|| format!("{flag} {text:?} is not of the form {form}"))?;
    Ok((left.to_owned(), right.to_owned()))
}

pub(crate) fn run(mut args: Args) -> anyhow::Result<()> {
    if let Some(path) = &args.chart {
        check_place(path)?;
    }
    args.keys.requests_field = args.requests_field.take();
    for (flag, option, given) in
        [("--nodes-file", "nodes-file=a.csv", &args.nodes_file), ("--nodes", "nodes=12", &args.nodes)]
    {
        if given.is_some() {
            bail!("what-if has no {flag}; each spec says which nodes it has, as in ring:{option}");
        }
    }
    let asked = args.keys.hasher()?;
    let before = side(&args.from, None, asked.as_deref(), args.resources.max_memory)?;
    check_copies(&args, &before)?;
    if args.edit.remove_each {
        return each_removal(&args, &before);
    }
    let edited = args.edit.edit()?;
    let (outcome, edit_asked) = match (&args.to, &edited) {
        (Some(to), _) => {
            let after = side(to, Some(before.members()), asked.as_deref(), args.resources.max_memory)?;
            check_copies(&args, &after)?;
            let words = format!("{} to {}", args.from, to);
            (Outcome::Done { after: Box::new(after), matched: None, words }, false)
        }
        (None, Some(asked)) => (edit(&before, asked, args.resources.max_memory)?, true),
        (None, None) => bail!(
            "say where it goes: a second spec such as {:?}, or a change such as --grow-to N",
            with_more(&args.from)
        ),
    };
    if let Some(size) = args.bytes {
        size.noted("--bytes");
    }
    match outcome {
        Outcome::Done { after, matched, words } => {
            let request = request(&args, before, *after, matched, words)?;
            let rows = study(&args, &request)?;
            if let Some(path) = &args.chart {
                write_file(path, &flow_chart(&rows)?)?;
            }
            show(&args, &rows)
        }
        Outcome::Refused { words, reason, alternatives } => {
            debug_assert!(edit_asked, "only a change is refused");
            if args.chart.is_some() {
                bail!(
                    "{words}: {reason}. --chart draws one change that can be done; ask for what is done in its place, such \
                     as a second spec or --renumber NODE, or leave it out"
                );
            }
            if args.keys.keys.as_deref() == Some(Path::new("-")) && alternatives.len() > 1 {
                bail!(
                    "{words}: {reason}. Several alternatives are studied in its place, and stdin can be read once; give --keys a file"
                );
            }
            let mut studied = Vec::new();
            for alternative in alternatives {
                let request = request(&args, before.clone(), alternative.after, None, alternative.words)?;
                studied.push(study(&args, &request)?);
            }
            show_refused(&args, &words, &reason, &studied)
        }
    }
}

fn with_more(spec: &str) -> String {
    spec.split(':').next().map_or_else(String::new, |name| format!("{name}:nodes=18"))
}

/// A side from its spec. Where the spec has no membership, that of the other side holds.
fn side(spec: &str, other: Option<&Members>, asked: Option<&dyn KeyHasher>, max_memory: u64) -> anyhow::Result<Side> {
    let parsed = shardlab_schemes::parse(spec)?;
    let members = match (&parsed.membership, other) {
        (Some(given), _) => of_spec(given)?,
        (None, Some(other)) => other.clone(),
        (None, None) => bail!(
            "the scheme {spec:?} does not say how many nodes there are; write for example {}:{}=12",
            spec,
            parsed.scheme.members_word()
        ),
    };
    Ok(Side::new(parsed.scheme, &members, asked, max_memory)?)
}

fn request(
    args: &Args,
    before: Side,
    after: Side,
    matched: Option<Vec<Option<shardlab_core::NodeId>>>,
    change: String,
) -> anyhow::Result<Request> {
    let requests = args.requests.map(|requests| requests.total.into());
    Ok(Request {
        machines: args.machines.machines()?,
        before,
        after,
        change,
        matched,
        copies: args.replicas,
        totals: Totals { bytes: args.bytes.map(|size| size.bytes.into()), requests },
        requests_per_second: args.requests.is_some_and(|requests| requests.per_second),
        columns: Columns { weights: args.keys.weight_field.is_some(), requests: args.keys.requests_field.is_some() },
        bandwidth: args.bandwidth,
        seed: args.keys.seed,
        threads: args.resources.threads(),
        max_memory: args.resources.max_memory,
    })
}

/// Refuses copies where the scheme has no order of owners, and says which schemes have one.
fn check_copies(args: &Args, side: &Side) -> anyhow::Result<()> {
    if args.replicas == 1 || side.placer.sharder.as_top_k().is_some() {
        return Ok(());
    }
    let two = Members::dense(2)?;
    let has_copies = |scheme: &dyn Scheme| scheme.build(&two).is_ok_and(|sharder| sharder.as_top_k().is_some());
    let mut able: Vec<String> =
        shardlab_schemes::all().iter().filter(|scheme| has_copies(&***scheme)).map(|scheme| scheme.spec()).collect();
    able.dedup();
    bail!(
        "--replicas: {} names one owner for a key and no order of further ones; schemes that do: {}",
        side.scheme.spec(),
        able.join(", ")
    )
}

/// Keys for many placements of each: fewer than for one change.
const KEYS_FOR_EACH: &str = "random:1000000";

fn each_removal(args: &Args, before: &Side) -> anyhow::Result<()> {
    if !args.gate.require.is_empty() {
        bail!("--require holds for one change; take --remove NODE");
    }
    let one_change = [
        ("--replicas", args.replicas != 1),
        ("--machines", args.machines.are_given()),
        ("--requests", args.requests.is_some()),
        ("--requests-field", args.keys.requests_field.is_some()),
        ("--bytes", args.bytes.is_some()),
        ("--bandwidth", args.bandwidth.is_some()),
        ("--chart", args.chart.is_some()),
    ];
    if let Some((flag, _)) = one_change.iter().find(|(_, given)| *given) {
        bail!("{flag} is for one change and does nothing with --remove-each; take --remove NODE, or leave it out");
    }
    let (change, reason) = match loss_of_each(args, before, Loss::Remove) {
        Ok(rows) => return show_removals(args, &rows),
        Err(error) => match error.downcast::<StudyError>() {
            Ok(StudyError::Refused { reason, .. }) => ("remove each node in turn", reason),
            Ok(other) => return Err(other.into()),
            Err(other) => return Err(other),
        },
    };
    if args.keys.keys.as_deref() == Some(Path::new("-")) {
        bail!(
            "{change}: {reason}. Several alternatives are studied in its place, and stdin can be read once; give --keys a file"
        );
    }
    let mut studied = Vec::new();
    for loss in Loss::INSTEAD {
        studied.push(loss_of_each(args, before, loss)?);
    }
    let Some(format) = args.format.as_table() else {
        let refused = json!({ "change": change, "not_applicable": reason, "alternatives": studied });
        return print_as_json(&refused);
    };
    if format == Format::Csv {
        note(&format!("{} cannot {change}: {reason}", args.from));
        return print(&removals_csv(&studied));
    }
    let tables: Vec<String> = studied.iter().map(|rows| removals_text(rows, format, terminal_width())).collect();
    let escape = if format == Format::Markdown { for_markdown } else { for_terminal };
    let refused = escape(&format!("{} cannot {change}: {reason}.", args.from));
    print_text(&format!("{refused}\n\nWhat people then do, and what it costs:\n\n{}", tables.join("\n")), format)
}

fn loss_of_each(args: &Args, before: &Side, loss: Loss) -> anyhow::Result<Removals> {
    let mut documents = documents(args, before.rules(), KEYS_FOR_EACH)?;
    let bar = Bar::new();
    let outcome = removals(
        before,
        loss,
        &mut *documents,
        args.keys.seed,
        args.resources.threads(),
        args.resources.max_memory,
        &|progress| bar.show(progress),
    );
    bar.finish();
    Ok(outcome?)
}

fn show_removals(args: &Args, rows: &Removals) -> anyhow::Result<()> {
    match args.format.as_table() {
        Some(format) => print_text(&removals_text(rows, format, terminal_width()), format),
        None => print_as_json(rows),
    }
}

fn study(args: &Args, request: &Request) -> anyhow::Result<WhatIf> {
    let rules = request.before.rules().and(request.after.rules());
    let mut documents = documents(args, rules, DEFAULT_KEYS)?;
    let bar = Bar::new();
    let outcome = what_if(request, &mut *documents, &|progress| bar.show(progress));
    bar.finish();
    Ok(outcome?)
}

/// The documents that are given, else synthetic ones.
fn documents(args: &Args, rules: KeyRules, default: &str) -> anyhow::Result<Box<dyn Documents>> {
    let documents = match args.keys.documents(rules)? {
        Some(documents) => documents,
        None => {
            args.keys.refuse_file_flags(default)?;
            shardlab_keys::synthetic(&SyntheticSpec::parse(default)?, args.keys.seed, rules)
        }
    };
    Ok(if args.distinct { shardlab_keys::distinct(documents, args.resources.max_memory) } else { documents })
}

fn show(args: &Args, rows: &WhatIf) -> anyhow::Result<()> {
    let unmet = unmet_by_what_if(rows, &args.gate.require)?;
    match args.format.as_table() {
        Some(format) => print_text(&what_if_text(rows, format, terminal_width()), format)?,
        None => print_as_json(rows)?,
    }
    settle(unmet)
}

/// A refused change is shown with its alternatives, and meets no requirement.
fn show_refused(args: &Args, words: &str, reason: &str, studied: &[WhatIf]) -> anyhow::Result<()> {
    let unmet = args.gate.require.iter().map(|requirement| Unmet {
        subject: words.to_owned(),
        requirement: requirement.to_string(),
        measured: format!("n/a: {reason}"),
    });
    let unmet = unmet.collect();
    let Some(format) = args.format.as_table() else {
        let refused = json!({ "change": words, "not_applicable": reason, "alternatives": studied });
        print_as_json(&refused)?;
        return settle(unmet);
    };
    let table = what_if_summary(studied, format, terminal_width());
    if format == Format::Csv {
        note(&format!("{} cannot {words}: {reason}", args.from));
        print(&table)?;
        return settle(unmet);
    }
    let escape = if format == Format::Markdown { for_markdown } else { for_terminal };
    let mut text = escape(&format!("{} cannot {words}: {reason}.", args.from)) + "\n";
    if studied.is_empty() {
        text.push_str("There is no other way to these nodes.\n");
    } else {
        text.push_str(&format!("\nWhat people then do, and what it costs:\n\n{table}"));
    }
    print_text(&text, format)?;
    settle(unmet)
}
