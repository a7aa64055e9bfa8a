//! Dated records of measured speed: made once, never changed.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use serde_json::{Value, json};

use crate::report::criterion;
use crate::{machine, peers, process, scaling};

/// What goes into a record.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Also follow every scheme up to a million nodes, each table built once (some minutes)
    #[arg(long)]
    full: bool,
    /// Bytes that a table may take while it is built, with --full
    #[arg(long, default_value_t = 8_000_000_000, requires = "full")]
    max_memory: u64,
    /// Ids of mixed lengths for the published crates, one a line, in place of synthetic ones
    #[arg(long, value_name = "FILE")]
    names: Option<PathBuf>,
    /// What benches/duckdb/compare.py wrote, to be kept with the rest
    #[arg(long, value_name = "FILE")]
    duckdb: Option<PathBuf>,
    /// Also keep criterion's last estimates beside the record
    #[arg(long)]
    benches: bool,
}

/// A load above this before anything begins is other work.
const QUIET: f64 = 0.5;

/// Measures and writes a new folder under `reports/record`.
pub(crate) fn run(root: &Path, args: &Args) -> anyhow::Result<()> {
    let duckdb = args.duckdb.as_deref().map(read_json).transpose()?;
    let names =
        args.names.as_deref().map(|path| path.canonicalize().with_context(|| format!("--names: {}", path.display())));
    let names = names.transpose()?;
    if args.benches {
        criterion::check(root)?;
    }
    let program = process::measure(root)?;
    let description = machine::describe(root);
    let mut record = process::json(&program, &["record"], &[])?;
    record["peers"] = peers::measured(&program, names.as_deref(), &[])?;
    record["peers_portable"] = peers::measured(&program, names.as_deref(), &[("SHARDLAB_SIMD", "portable")])?;
    if args.full {
        let max_memory = format!("--max-memory={}", args.max_memory);
        record["scaling"] = process::json(&program, &["scale", &max_memory], &[])?;
    }
    record["duckdb"] = duckdb.unwrap_or(Value::Null);
    record["machine"] = description;
    record["date"] = json!(machine::today());
    let folder = new_folder(&root.join("reports/record"), &machine::today())?;
    write(&folder.join("record.json"), &(serde_json::to_string_pretty(&record)? + "\n"))?;
    write(&folder.join("record.md"), &text(&record))?;
    if args.benches {
        criterion::keep_beside(root, &folder, &record["machine"])?;
    }
    println!("{}", folder.display());
    Ok(())
}

pub(crate) fn read_json(path: &Path) -> anyhow::Result<Value> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    serde_json::from_str(&text).with_context(|| format!("{} is not JSON", path.display()))
}

fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

/// A folder that was not there: the date, or the date with a number.
pub(crate) fn new_folder(records: &Path, date: &str) -> anyhow::Result<PathBuf> {
    fs::create_dir_all(records).with_context(|| format!("cannot make {}", records.display()))?;
    for number in 1..=99 {
        let folder = records.join(if number == 1 { date.to_owned() } else { format!("{date}-{number}") });
        match fs::create_dir(&folder) {
            Ok(()) => return Ok(folder),
            // Another record of today: it is never written over.
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error).with_context(|| format!("cannot make {}", folder.display())),
        }
    }
    anyhow::bail!("there are 99 records of {date} already")
}

/// A value of a description, for people.
fn words(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(list) => list.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", "),
        Value::Null => "unknown".to_owned(),
        other => other.to_string(),
    }
}

/// The description of a machine as a list.
pub(crate) fn machine_lines(machine: &Value) -> String {
    let fields = machine.as_object().into_iter().flatten();
    fields.map(|(name, value)| format!("* {}: {}\n", name.replace('_', " "), words(value))).collect()
}

/// What must be said of times that were measured while something else was running, or may have been.
pub(crate) fn beside_other_work(machine: &Value) -> &'static str {
    if machine["load_before"].as_f64().is_some_and(|load| load <= QUIET) {
        return "";
    }
    "\n**Other programs were running when this was measured: times may be too long, and ratios are what is left to \
     believe.**\n"
}

/// The record for people.
fn text(record: &Value) -> String {
    let machine = &record["machine"];
    let mut text = format!(
        "# Speed on {}\n\nMade by `cargo xtask record` and never changed afterwards; the numbers of one machine at one \
         moment. Compare ratios within one record, and two records of one machine with `cargo xtask bench-compare`.\n\n",
        words(&record["date"])
    );
    text.push_str(&machine_lines(machine));
    text.push_str(&format!(
        "* kernels: {}\n* rounds of the typical row differ by {:.1} %\n",
        words(&record["simd"]),
        record["noise_fraction"].as_f64().unwrap_or(f64::NAN) * 100.0
    ));
    text.push_str(beside_other_work(machine));
    text.push_str(&lookups(record));
    text.push_str("\n## Published crates beside ours\n\n");
    text.push_str(&peers::text(&record["peers"]));
    text.push_str("\n## The same without vector instructions\n\n");
    text.push_str(&peers::text(&record["peers_portable"]));
    if record["scaling"].is_object() {
        text.push_str("\n## How cost grows\n\n");
        text.push_str(&scaling::text(&record["scaling"]));
    }
    text.push_str("\n## Files beside DuckDB\n\n");
    match record["duckdb"]["text"].as_str() {
        Some(duckdb) => text.push_str(duckdb),
        None => text.push_str("Not measured for this record; see benches/duckdb.\n"),
    }
    text
}

/// One row a scheme and size, one column a way of asking.
fn lookups(record: &Value) -> String {
    const COLUMNS: [(&str, &str); 6] = [
        ("latency", "each waits"),
        ("single", "one by one"),
        ("single_in_order", "keys in order"),
        ("many", "`shard_many`"),
        ("many_with_hash", "with hash"),
        ("build", "build"),
    ];
    let mut text = "\n## Lookups and builds\n\nMedians in ns for a lookup or a build. Each waits: every key depends on the \
                    answer before. One by one: independent keys through `dyn Sharder::shard`. Keys in order: 0, 1, 2, … in \
                    place of random keys, which read tables cell by cell; the random keys are what counts. With hash: \
                    `shard_many` with hashing of ids of 20 letters.\n\n| scheme | nodes |"
        .to_owned();
    COLUMNS.iter().for_each(|(_, heading)| text.push_str(&format!(" {heading} |")));
    text.push_str(" heap bytes |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|\n");
    let rows: Vec<&Value> = record["rows"].as_array().into_iter().flatten().collect();
    let mut shown: Vec<(&Value, &Value)> = Vec::new();
    for row in &rows {
        let name = (&row["scheme"], &row["nodes"]);
        if shown.contains(&name) {
            continue;
        }
        shown.push(name);
        text.push_str(&format!("| {} | {} |", row["scheme"].as_str().unwrap_or("?"), row["nodes"]));
        for (what, _) in COLUMNS {
            let found = rows.iter().find(|row| (&row["scheme"], &row["nodes"]) == name && row["what"] == what);
            let ns = found.and_then(|row| row["ns"].as_f64());
            text.push_str(&format!(" {} |", ns.map_or_else(|| "–".to_owned(), peers::ns)));
        }
        text.push_str(&format!(" {} |\n", row["heap_bytes"]));
    }
    text
}

/// What two records say about one row, if both have it.
fn paired<'a>(old: &'a Value, new: &'a Value) -> Vec<Pair> {
    let rows = |record: &'a Value| {
        let ours = record["rows"].as_array().into_iter().flatten();
        ours.filter_map(|row| {
            let name = format!("{}, {} nodes, {}", row["scheme"].as_str()?, row["nodes"], row["what"].as_str()?);
            // Nothing of the loop around a sharder that does nothing is ours to change.
            Some((name, row["scheme"] == "floor", Interval::of(row)?))
        })
        .chain(record["peers"]["contests"].as_array().into_iter().flatten().flat_map(|contest| {
            contest["published"].as_array().into_iter().flatten().filter_map(move |time| {
                let name = format!(
                    "{}, {} nodes, {}",
                    contest["question"].as_str()?,
                    contest["nodes"],
                    time["name"].as_str()?
                );
                Some((name, true, Interval::of(time)?))
            })
        }))
        .collect::<Vec<_>>()
    };
    let old = rows(old);
    let pairs = rows(new).into_iter().filter_map(|(name, fixed, new)| {
        let (_, _, before) = old.iter().find(|(known, ..)| *known == name)?;
        Some(Pair { name, fixed, old: *before, new })
    });
    pairs.collect()
}

/// A row in both records.
#[derive(Debug)]
struct Pair {
    name: String,
    /// Code that is not ours, or the loop alone: what changes of it is the machine.
    fixed: bool,
    old: Interval,
    new: Interval,
}

/// A median with the quartiles of its rounds, in nanoseconds.
#[derive(Clone, Copy, Debug)]
struct Interval {
    low: f64,
    median: f64,
    high: f64,
}

impl Interval {
    fn of(row: &Value) -> Option<Self> {
        Some(Self { low: row["ns_low"].as_f64()?, median: row["ns"].as_f64()?, high: row["ns_high"].as_f64()? })
    }
}

/// Changes smaller than this are not told, however quiet the machine: the layout of a program in memory
/// alone makes as much.
const LEAST_CHANGE: f64 = 0.05;

/// What happened to the machine between two records, seen on code that did not change.
#[derive(Clone, Copy, Debug)]
struct Drift {
    /// How many times as long it takes, on the median.
    factor: f64,
    /// How far all but a twentieth of its rows are from that, as a fraction.
    noise: f64,
}

impl Drift {
    fn of(pairs: &[Pair]) -> Option<Self> {
        let fixed = || pairs.iter().filter(|pair| pair.fixed).map(|pair| pair.new.median / pair.old.median);
        let at = |mut values: Vec<f64>, numerator: usize, denominator: usize| {
            values.sort_unstable_by(f64::total_cmp);
            values.get((values.len() * numerator / denominator).min(values.len().saturating_sub(1))).copied()
        };
        let factor = at(fixed().collect(), 1, 2)?;
        let noise = at(fixed().map(|ratio| (ratio / factor).ln().abs().exp_m1()).collect(), 19, 20)?;
        Some(Self { factor, noise })
    }
}

/// New over old with the machine's drift taken out, if it is a change beyond noise: the quartiles of
/// the two do not overlap, and the medians differ by more than code that did not change.
fn change(pair: &Pair, drift: Drift) -> Option<f64> {
    let (old, new) = (pair.old, pair.new);
    let ratio = new.median / drift.factor / old.median;
    let apart = new.low / drift.factor > old.high || new.high / drift.factor < old.low;
    (apart && ratio.ln().abs().exp_m1() > drift.noise.max(LEAST_CHANGE)).then_some(ratio)
}

/// Says what changed between two records beyond noise.
pub(crate) fn compare(old: &Path, new: &Path) -> anyhow::Result<()> {
    let file = |path: &Path| if path.is_dir() { path.join("record.json") } else { path.to_path_buf() };
    let (old_path, new_path) = (file(old), file(new));
    let (old, new) = (read_json(&old_path)?, read_json(&new_path)?);
    for (record, path) in [(&old, &old_path), (&new, &new_path)] {
        ensure!(record["rows"].is_array(), "{} is not a record: it has no rows", path.display());
    }
    let same = |name: &str| old["machine"][name] == new["machine"][name];
    for name in ["processor", "cpus", "rustc", "kernel"] {
        if !same(name) {
            println!("note: {name} differs: {} and {}", old["machine"][name], new["machine"][name]);
        }
    }
    let pairs = paired(&old, &new);
    ensure!(!pairs.is_empty(), "the two records have no row in common");
    let drift = Drift::of(&pairs).context("the two records have no row in common of code that did not change")?;
    println!(
        "machine: code that did not change takes {:.3} times as long in the second record, within {:.1} %; the first is \
         taken out below, and only what differs by more than the second is told",
        drift.factor,
        drift.noise.max(LEAST_CHANGE) * 100.0
    );
    let mut changes: Vec<(f64, &Pair)> =
        pairs.iter().filter(|pair| !pair.fixed).filter_map(|pair| Some((change(pair, drift)?, pair))).collect();
    changes.sort_by(|a, b| a.0.total_cmp(&b.0));
    for (ratio, pair) in &changes {
        println!(
            "{} {:>6.1} %  {} -> {} ns  {}",
            if *ratio < 1.0 { "faster" } else { "SLOWER" },
            (ratio - 1.0) * 100.0,
            peers::ns(pair.old.median),
            peers::ns(pair.new.median),
            pair.name
        );
    }
    let ours = pairs.iter().filter(|pair| !pair.fixed).count();
    println!("{} of {ours} rows changed beyond noise", changes.len());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(scheme: &str, ns: f64) -> Value {
        json!({"scheme": scheme, "nodes": 10, "what": "many", "ns": ns, "ns_low": ns * 0.98, "ns_high": ns * 1.02, "heap_bytes": 0})
    }

    #[test]
    fn only_changes_beyond_noise_and_drift_are_told() {
        let old =
            json!({"rows": [row("floor", 1.0), row("a", 10.0), row("b", 10.0), row("c", 10.0), row("gone", 1.0)]});
        // The machine is 20 % slower; a kept its speed, b became twice as fast, c 3 % slower.
        let new = json!({"rows": [row("floor", 1.2), row("a", 12.0), row("b", 6.0), row("c", 12.36)]});
        let pairs = paired(&old, &new);
        assert_eq!(pairs.len(), 4);
        let drift = Drift::of(&pairs).unwrap();
        assert_eq!((drift.factor, drift.noise), (1.2, 0.0));
        let changes: Vec<_> = pairs.iter().map(|pair| change(pair, drift)).collect();
        assert!(changes[0].is_none() && changes[1].is_none() && changes[3].is_none(), "{changes:?}");
        assert!(changes[2].is_some_and(|ratio| (ratio - 0.5).abs() < 1e-12), "{changes:?}");
    }

    #[test]
    fn a_wide_spread_hides_a_change() {
        let old = Interval { low: 8.0, median: 10.0, high: 13.0 };
        let new = Interval { low: 9.0, median: 12.0, high: 15.0 };
        let drift = Drift { factor: 1.0, noise: 0.0 };
        assert_eq!(change(&Pair { name: String::new(), fixed: false, old, new }, drift), None);
    }

    #[test]
    fn what_unchanged_code_shows_is_noise() {
        let narrow = |median: f64| Interval { low: median * 0.999, median, high: median * 1.001 };
        let pair = |fixed, new| Pair { name: String::new(), fixed, old: narrow(10.0), new: narrow(new) };
        // Published crates strayed by up to 20 % between the two records, with narrow spreads within each.
        let mut pairs: Vec<Pair> = [8.4, 9.0, 10.0, 10.0, 10.0, 11.0, 12.0].map(|new| pair(true, new)).into();
        pairs.push(pair(false, 11.8));
        pairs.push(pair(false, 12.6));
        let drift = Drift::of(&pairs).unwrap();
        assert_eq!(drift.factor, 1.0);
        assert_eq!(change(&pairs[7], drift), None);
        assert!(change(&pairs[8], drift).is_some_and(|ratio| (ratio - 1.26).abs() < 1e-9));
    }

    #[test]
    fn a_record_is_never_written_over() {
        let root = tempfile::tempdir().unwrap();
        let names = (0..3).map(|_| new_folder(root.path(), "2026-01-01").unwrap());
        let names: Vec<_> = names.map(|path| path.file_name().unwrap().to_owned()).collect();
        assert_eq!(names, ["2026-01-01", "2026-01-01-2", "2026-01-01-3"]);
    }

    #[test]
    fn a_record_measured_beside_other_work_says_so() {
        let record = |load: Value| {
            json!({"date": "2026-01-01", "simd": "avx512", "noise_fraction": 0.02, "rows": [row("a", 1.5)],
                   "machine": {"load_before": load}, "peers": {}, "peers_portable": {}, "duckdb": null})
        };
        assert!(text(&record(json!(1.7))).contains("Other programs were running"));
        assert!(text(&record(Value::Null)).contains("Other programs were running"), "unknown is not quiet");
        let quiet = text(&record(json!(0.1)));
        assert!(!quiet.contains("Other programs were running"));
        assert!(quiet.contains("| a | 10 | – | – | – | 1.50 | – | – | 0 |"), "{quiet}");
    }
}
