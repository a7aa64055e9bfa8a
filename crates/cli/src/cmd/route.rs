use std::ffi::OsString;
use std::io::{self, BufWriter, Write};

use anyhow::{Context, bail};
use serde::Serialize;
use shardlab_core::rows::KeySet;
use shardlab_core::{Hashed, KeyForm, KeyRules, Placer, RawBatch, RawChunk, RawKey, Step};
use shardlab_keys::Encoding;
use shardlab_report::{Format, Table, for_csv, for_json, for_terminal};

use crate::input::KeyArgs;
use crate::membership::{NodeArgs, of_spec};
use crate::output::{note, terminal_width};
use crate::progress::Bar;
use crate::size;

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum RouteFormat {
    /// Aligned columns for a terminal.
    Table,
    /// One JSON array.
    Json,
    /// One JSON object a line; carries every text faithfully.
    Ndjson,
    /// Comma-separated values.
    Csv,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
                        shardlab route --scheme elastic:shards=6,created=8.15 --explain 654321\n  \
                        shardlab route --scheme elastic:shards=5,created=8.15,partition=2 --routing user42 doc-1\n  \
                        shardlab route --nodes 12 --scheme jump --scheme ring order-1 order-2\n  \
                        shardlab route --scheme jump:nodes=2147483647 --hash identity 10000\n  \
                        shardlab route --scheme maglev:nodes=5 --keys ids.txt --format ndjson")]
pub(crate) struct Args {
    /// Keys to place
    #[arg(value_name = "KEY", conflicts_with_all = ["keys", "synthetic"])]
    key: Vec<OsString>,
    /// Scheme with options and membership, such as jump:nodes=12; may be given several times
    /// [default: every scheme]
    #[arg(long, value_name = "SPEC")]
    scheme: Vec<String>,
    /// Routing value for every KEY
    #[arg(long, value_name = "V", conflicts_with_all = ["keys", "synthetic"], allow_hyphen_values = true)]
    routing: Option<OsString>,
    #[command(flatten)]
    nodes: NodeArgs,
    #[command(flatten)]
    keys: KeyArgs,
    /// Show the working step by step
    #[arg(long)]
    explain: bool,
    /// Memory that tables may take, such as 500MB or 2GiB
    #[arg(long, value_name = "SIZE", default_value = "2GiB", allow_hyphen_values = true, value_parser = size::parse)]
    max_memory: u64,
    /// Form of the output
    #[arg(long, value_enum, default_value = "table")]
    format: RouteFormat,
}

/// A scheme that keys are routed by.
struct Target {
    spec: String,
    placer: Hashed,
}

/// Where one key goes by one scheme.
#[derive(Serialize)]
struct Placement<'a> {
    id: &'a str,
    /// The exact bytes, where the id is no text and `id` can only show it.
    #[serde(skip_serializing_if = "Option::is_none")]
    id_hex: Option<String>,
    routing: Option<&'a str>,
    /// The same for the routing value.
    #[serde(skip_serializing_if = "Option::is_none")]
    routing_hex: Option<String>,
    scheme: &'a str,
    key: serde_json::Value,
    node: u32,
    node_name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    searched: Option<Vec<u32>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    steps: Option<Vec<StepRow<'a>>>,
}

#[derive(Serialize)]
struct StepRow<'a> {
    label: &'a str,
    value: &'a str,
}

pub(crate) fn run(args: Args) -> anyhow::Result<()> {
    if args.explain && args.format == RouteFormat::Csv {
        bail!("--explain shows several lines a key, which --format csv cannot hold; use table, json or ndjson");
    }
    let (targets, rules) = targets(&args)?;
    let mut writer = Writer::new(&args);
    if args.key.is_empty() {
        let Some(mut documents) = args.keys.documents(rules)? else {
            bail!("there is no key to place: write one or more KEYs, or give --keys FILE or --synthetic SPEC");
        };
        let mut chunk = RawChunk::default();
        let bar = Bar::new();
        while documents.next_chunk(&mut chunk)? {
            bar.show(documents.progress());
            of_stdout(writer.batch(&chunk.as_batch(), &targets))?;
        }
        bar.finish();
        of_stdout(writer.finish())?;
        say_what_was_read(&documents.key_set());
        return Ok(());
    }
    of_stdout(writer.batch(&typed_keys(&args, rules)?.as_batch(), &targets))?;
    of_stdout(writer.finish())
}

/// An error of the system, which says nothing about where it comes from, is one of stdout here.
fn of_stdout(outcome: anyhow::Result<()>) -> anyhow::Result<()> {
    outcome.map_err(|error| match error.is::<std::io::Error>() || error.is::<csv::Error>() {
        true => error.context("cannot write to stdout"),
        false => error,
    })
}

fn targets(args: &Args) -> anyhow::Result<(Vec<Target>, KeyRules)> {
    let flag_members = args.nodes.members()?;
    let asked = args.keys.hasher()?;
    let mut schemes = Vec::new();
    for spec in &args.scheme {
        let parsed = shardlab_schemes::parse(spec)?;
        let members = match (&parsed.membership, &flag_members) {
            (Some(_), Some(_)) => {
                bail!("--nodes or --nodes-file and the scheme {spec:?} both give the membership; keep one")
            }
            (Some(given), None) => of_spec(given)?,
            (None, Some(members)) => members.clone(),
            (None, None) => bail!(
                "the scheme {spec:?} does not say how many nodes there are; write for example {}, or give --nodes N",
                with_nodes(spec, parsed.scheme.members_word())
            ),
        };
        schemes.push((parsed.scheme, members));
    }
    if schemes.is_empty() {
        let Some(members) = flag_members else {
            bail!("how many nodes are there? Give --nodes N, or a --scheme with nodes=N")
        };
        for scheme in shardlab_schemes::comparison_rows() {
            // Schemes that cannot serve this membership were not asked for by name.
            match scheme.check_members(&members) {
                Ok(()) => schemes.push((scheme, members.clone())),
                Err(reason) => note(&format!("{} is left out: {reason}", scheme.spec())),
            }
        }
    }
    let mut rules = KeyRules::default();
    let mut targets = Vec::new();
    let mut needed: u128 = 0;
    for (scheme, members) in schemes {
        let spec = scheme.spec();
        scheme.check_members(&members).with_context(|| spec.clone())?;
        needed += u128::from(scheme.expected_build_bytes(&members));
        if needed > u128::from(args.max_memory) {
            bail!(
                "{spec} for {} nodes needs about {} bytes of memory; the limit is {} bytes (raise --max-memory)",
                members.len(),
                scheme.expected_build_bytes(&members),
                args.max_memory
            );
        }
        for words in scheme.notes_for(&members) {
            note(&format!("{spec}: {words}"));
        }
        let hasher = asked.as_ref().map(|hasher| hasher.box_clone()).or_else(|| scheme.native_hasher());
        let hasher = scheme.adapt_hasher(hasher.unwrap_or_else(|| Box::new(shardlab_hash::Xxh3)));
        rules = rules.and(scheme.key_rules()).and(hasher.rules());
        let sharder = scheme.build(&members).with_context(|| spec.clone())?;
        targets.push(Target { spec, placer: Hashed { hasher, sharder } });
    }
    Ok((targets, rules))
}

/// A spec with the number of nodes written into it.
fn with_nodes(spec: &str, word: &str) -> String {
    let separator = if spec.contains(':') { ',' } else { ':' };
    format!("{spec}{separator}{word}=12")
}

fn typed_keys(args: &Args, rules: KeyRules) -> anyhow::Result<RawChunk> {
    let decode = |word: &OsString, what: &str| {
        let mut scratch = Vec::new();
        let bytes = args.keys.encoding.encoding().decode(word.as_encoded_bytes(), &mut scratch);
        bytes.map(<[u8]>::to_vec).with_context(|| format!("{what} {:?}", word.to_string_lossy()))
    };
    let routing = args.routing.as_ref().map(|word| decode(word, "--routing")).transpose()?.unwrap_or_default();
    let mut chunk = RawChunk::default();
    for word in &args.key {
        let id = decode(word, "KEY")?;
        let key = RawKey { id: &id, routing: &routing };
        rules.check(&key).with_context(|| format!("KEY {:?}", word.to_string_lossy()))?;
        chunk.push(key, None);
    }
    Ok(chunk)
}

fn say_what_was_read(keys: &KeySet) {
    let mut words = format!("read {}, accepted {}", keys.read, keys.accepted);
    for skipped in &keys.skipped {
        words.push_str(&format!("; skipped {}: {} (first at {})", skipped.count, skipped.reason, skipped.first_at));
    }
    for note in &keys.notes {
        words.push_str(&format!("; {note}"));
    }
    note(&words);
}

/// Writes placements in the asked form, as they come.
struct Writer<'a> {
    args: &'a Args,
    out: BufWriter<io::StdoutLock<'static>>,
    table: Table,
    rows: usize,
    written: bool,
}

/// Rows of one drawn table; longer output repeats the headings, so that memory stays bounded.
const TABLE_ROWS: usize = 10_000;

const COLUMNS: [&str; 7] = ["id", "routing", "scheme", "key", "node", "node_name", "searched"];

impl<'a> Writer<'a> {
    fn new(args: &'a Args) -> Self {
        let out = BufWriter::new(io::stdout().lock());
        Self { args, out, table: Table::new(COLUMNS).with_numbers([3, 4]), rows: 0, written: false }
    }

    fn batch(&mut self, batch: &RawBatch<'_>, targets: &[Target]) -> anyhow::Result<()> {
        if let Some(keys) = batch.hashed() {
            for &key in keys {
                let id = key.to_string();
                for target in targets {
                    let steps = self.args.explain.then(|| target.placer.sharder.explain(key));
                    self.placement(
                        Shown::text(&id),
                        Shown::text(""),
                        target,
                        Keyed { key, form: KeyForm::Unsigned64 },
                        None,
                        steps,
                    )?;
                }
            }
            return Ok(());
        }
        let encoding = self.args.keys.encoding.encoding();
        for document in batch.iter() {
            let id = Shown::of(document.id, encoding);
            let routing = Shown::of(document.routing, encoding);
            for target in targets {
                let hasher = &target.placer.hasher;
                let keyed = Keyed { key: hasher.hash(&document)?, form: hasher.form() };
                // Only a partitioned index spreads a routing value over several nodes.
                let searched =
                    if document.routing.is_empty() { None } else { target.placer.searched(document.routing)? };
                let searched = searched.map(|nodes| nodes.into_iter().map(|node| node.0).collect());
                let steps = if self.args.explain { Some(target.placer.explain(&document)?) } else { None };
                self.placement(id.borrowed(), routing.borrowed(), target, keyed, searched, steps)?;
            }
        }
        Ok(())
    }

    fn placement(
        &mut self,
        id: Shown<'_>,
        routing: Shown<'_>,
        target: &Target,
        Keyed { key, form }: Keyed,
        searched: Option<Vec<u32>>,
        steps: Option<Vec<Step>>,
    ) -> anyhow::Result<()> {
        let node = target.placer.sharder.shard(key);
        let name = target.placer.sharder.members().name(node);
        let row = Placement {
            id: &id.text,
            id_hex: id.hex,
            routing: (!routing.text.is_empty()).then_some(&*routing.text),
            routing_hex: routing.hex,
            scheme: &target.spec,
            key: json_key(form, key),
            node: node.0,
            node_name: &name,
            searched,
            steps: steps
                .as_ref()
                .map(|steps| steps.iter().map(|step| StepRow { label: &step.label, value: &step.value }).collect()),
        };
        match self.args.format {
            RouteFormat::Ndjson => {
                self.json(&row)?;
                self.out.write_all(b"\n")?;
            }
            RouteFormat::Json => {
                self.out.write_all(if self.written { b",\n  " } else { b"[\n  " })?;
                self.json(&row)?;
            }
            RouteFormat::Csv => {
                let mut csv = csv::WriterBuilder::new().from_writer(&mut self.out);
                if !self.written {
                    csv.write_record(COLUMNS)?;
                }
                let [id, routing, scheme, key, node, name, searched] = cells(&row, &form.show(key));
                csv.write_record([for_csv(&id), for_csv(&routing), scheme, key, node, for_csv(&name), searched])?;
                csv.flush()?;
            }
            RouteFormat::Table if self.args.explain => {
                let mut table = Table::new(["step", "value"]);
                table.row(["id".to_owned(), row.id.to_owned()]);
                if let Some(routing) = row.routing {
                    table.row(["routing".to_owned(), routing.to_owned()]);
                }
                for step in steps.iter().flatten() {
                    table.row([step.label.clone(), step.value.clone()]);
                }
                if let Some(searched) = &row.searched {
                    table.row(["searched".to_owned(), list(searched)]);
                }
                let title = for_terminal(row.scheme);
                write!(
                    self.out,
                    "{}{title}\n{}",
                    if self.written { "\n" } else { "" },
                    table.render(Format::Terminal, None)
                )?;
            }
            RouteFormat::Table => {
                self.table.row(cells(&row, &form.show(key)));
                self.rows += 1;
                if self.rows == TABLE_ROWS {
                    self.flush_table()?;
                }
            }
        }
        self.written = true;
        Ok(())
    }

    fn json(&mut self, row: &Placement<'_>) -> anyhow::Result<()> {
        let json = serde_json::to_string(row)?;
        Ok(self.out.write_all(for_json(&json).as_bytes())?)
    }

    fn flush_table(&mut self) -> anyhow::Result<()> {
        let table = std::mem::replace(&mut self.table, Table::new(COLUMNS).with_numbers([3, 4]));
        self.rows = 0;
        self.out.write_all(table.without_empty_columns().render(Format::Terminal, terminal_width()).as_bytes())?;
        Ok(())
    }

    fn finish(mut self) -> anyhow::Result<()> {
        if self.rows > 0 {
            self.flush_table()?;
        }
        if self.args.format == RouteFormat::Json {
            self.out.write_all(if self.written { b"\n]\n" } else { b"[]\n" })?;
        }
        Ok(self.out.flush()?)
    }
}

fn cells(row: &Placement<'_>, key: &str) -> [String; 7] {
    [
        row.id.to_owned(),
        row.routing.unwrap_or_default().to_owned(),
        row.scheme.to_owned(),
        key.to_owned(),
        row.node.to_string(),
        row.node_name.to_owned(),
        row.searched.as_deref().map(list).unwrap_or_default(),
    ]
}

fn list(nodes: &[u32]) -> String {
    nodes.iter().map(u32::to_string).collect::<Vec<_>>().join(" ")
}

fn json_key(form: KeyForm, key: u64) -> serde_json::Value {
    let shown = form.show(key);
    match shown.parse::<i64>() {
        Ok(number) if form.is_json_number() => number.into(),
        _ => shown.into(),
    }
}

/// A key and how it is written.
#[derive(Clone, Copy)]
struct Keyed {
    key: u64,
    form: KeyForm,
}

/// Bytes as the text that stands for them.
struct Shown<'a> {
    text: std::borrow::Cow<'a, str>,
    hex: Option<String>,
}

impl<'a> Shown<'a> {
    fn text(text: &'a str) -> Self {
        Self { text: text.into(), hex: None }
    }

    fn of(bytes: &'a [u8], encoding: Encoding) -> Self {
        let is_text = encoding != Encoding::Utf8 || std::str::from_utf8(bytes).is_ok();
        Self { text: encoding.encode(bytes), hex: (!is_text).then(|| Encoding::Hex.encode(bytes).into_owned()) }
    }

    fn borrowed(&self) -> Shown<'_> {
        Shown { text: (&*self.text).into(), hex: self.hex.clone() }
    }
}
