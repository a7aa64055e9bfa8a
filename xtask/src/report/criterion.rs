//! Keeps the estimates that criterion leaves in the target folder, where the next run writes over them.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::{Context, ensure};
use serde_json::{Value, json};

use super::made::{files_below, write_file};
use crate::record::{beside_other_work, machine_lines, new_folder, read_json};
use crate::{machine, peers};

/// Keeps the estimates in a dated folder of their own, and says which.
pub(super) fn keep_alone(root: &Path) -> anyhow::Result<PathBuf> {
    let kept = read(&folder(root))?;
    let folder = new_folder(&root.join("reports/record"), &machine::today())?;
    write(&folder, kept, &machine::describe(root))?;
    Ok(folder)
}

/// Keeps the estimates beside a record.
pub(crate) fn keep_beside(root: &Path, record: &Path, machine: &Value) -> anyhow::Result<()> {
    write(record, read(&folder(root))?, machine)
}

/// Whether there is anything to keep, before a record is measured for minutes.
pub(crate) fn check(root: &Path) -> anyhow::Result<()> {
    read(&folder(root)).map(drop)
}

/// Where criterion writes, by the variables that it reads.
fn folder(root: &Path) -> PathBuf {
    let variable = |name| std::env::var_os(name).map(PathBuf::from);
    // A bench runs in the folder of its package, to which a variable with a relative path refers.
    let benches = root.join("benches");
    match (variable("CRITERION_HOME"), variable("CARGO_TARGET_DIR")) {
        (Some(home), _) => benches.join(home),
        (None, Some(target)) => benches.join(target).join("criterion"),
        (None, None) => root.join("target/criterion"),
    }
}

/// The last estimate of each bench, in the order of their names, and when the oldest and the newest were made.
struct Kept {
    rows: Vec<Value>,
    oldest: SystemTime,
    newest: SystemTime,
}

fn read(folder: &Path) -> anyhow::Result<Kept> {
    let mut files = Vec::new();
    files_below(folder, &mut files)?;
    let (mut rows, mut times) = (Vec::new(), Vec::new());
    for path in files.iter().filter(|path| path.ends_with("new/estimates.json")) {
        let (estimates, bench) = (read_json(path)?, read_json(&path.with_file_name("benchmark.json"))?);
        rows.push(row(&bench, &estimates).with_context(|| format!("{} is none of criterion's", path.display()))?);
        let time = fs::metadata(path).and_then(|file| file.modified());
        times.push(time.with_context(|| format!("cannot ask for the time of {}", path.display()))?);
    }
    // Numbers among the values of one bench go up.
    rows.sort_by_cached_key(|row| {
        let number = row["value"].as_str().and_then(|value| value.parse::<u64>().ok());
        let text = |name: &str| row[name].as_str().unwrap_or_default().to_owned();
        (text("group"), text("id"), number, text("value"))
    });
    let (oldest, newest) = (times.iter().min().copied(), times.iter().max().copied());
    let found = oldest
        .zip(newest)
        .with_context(|| format!("criterion has left no estimates in {}; run cargo bench first", folder.display()));
    found.map(|(oldest, newest)| Kept { rows, oldest, newest })
}

/// What is kept of one bench.
fn row(bench: &Value, estimates: &Value) -> anyhow::Result<Value> {
    let median = &estimates["median"];
    let interval = &median["confidence_interval"];
    let number = |value: &Value, name: &str| {
        let number = value.as_f64().filter(|number| number.is_finite() && *number >= 0.0);
        number.with_context(|| format!("{name} is no time"))
    };
    let elements = &bench["throughput"]["Elements"];
    ensure!(bench["group_id"].is_string(), "group_id is no text");
    ensure!(elements.is_null() || elements.as_u64().is_some_and(|count| count > 0), "Elements is no number above 0");
    Ok(json!({
        "group": bench["group_id"],
        "id": bench["function_id"],
        "value": bench["value_str"],
        "median_ns": number(&median["point_estimate"], "median.point_estimate")?,
        "median_low_ns": number(&interval["lower_bound"], "median.confidence_interval.lower_bound")?,
        "median_high_ns": number(&interval["upper_bound"], "median.confidence_interval.upper_bound")?,
        "confidence": number(&interval["confidence_level"], "median.confidence_interval.confidence_level")?,
        "elements": elements,
    }))
}

fn write(folder: &Path, kept: Kept, machine: &Value) -> anyhow::Result<()> {
    let time = |time: SystemTime| {
        let time = jiff::Timestamp::try_from(time).context("criterion's files are of a time that no calendar has")?;
        anyhow::Ok(time.strftime("%Y-%m-%d %H:%M UTC").to_string())
    };
    let json = json!({
        "made_by": "cargo bench, kept by cargo xtask",
        "oldest": time(kept.oldest)?,
        "newest": time(kept.newest)?,
        "machine": machine,
        "rows": kept.rows,
    });
    write_file(&folder.join("criterion.json"), (serde_json::to_string_pretty(&json)? + "\n").as_bytes())?;
    write_file(&folder.join("criterion.md"), text(&json).as_bytes())
}

/// The estimates for people.
fn text(kept: &Value) -> String {
    let words = |value: &Value| value.as_str().unwrap_or("?").to_owned();
    let mut text = format!(
        "# Estimates of criterion\n\nMade by `cargo bench` from {} to {}, kept by `cargo xtask` and never changed \
         afterwards; the numbers of one machine. Revision and load are those of the moment when they were kept.\n\n{}",
        words(&kept["oldest"]),
        words(&kept["newest"]),
        machine_lines(&kept["machine"])
    );
    text.push_str(beside_other_work(&kept["machine"]));
    text.push_str(
        "\nMedians in ns for one element (a lookup where a bench does many in a turn), and criterion's interval of \
         confidence for each.\n\n| group | bench | value | median ns | interval | confidence |\n\
         |---|---|--:|--:|--:|--:|\n",
    );
    for row in kept["rows"].as_array().into_iter().flatten() {
        let elements = row["elements"].as_f64().unwrap_or(1.0);
        let ns = |name: &str| peers::ns(row[name].as_f64().unwrap_or(f64::NAN) / elements);
        text.push_str(&format!(
            "| {} | {} | {} | {} | {} to {} | {:.0} % |\n",
            words(&row["group"]),
            row["id"].as_str().unwrap_or("–"),
            row["value"].as_str().unwrap_or("–"),
            ns("median_ns"),
            ns("median_low_ns"),
            ns("median_high_ns"),
            row["confidence"].as_f64().unwrap_or(f64::NAN) * 100.0
        ));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What criterion 0.8 leaves of one bench, in short.
    fn leave(folder: &Path, directory: &str, bench: &Value, median: f64) {
        let estimates = json!({"mean": {}, "median": {"point_estimate": median, "standard_error": 0.1,
            "confidence_interval": {"confidence_level": 0.95, "lower_bound": median - 1.0, "upper_bound": median + 1.0}}});
        for run in ["new", "base"] {
            let folder = folder.join(directory).join(run);
            write_file(&folder.join("estimates.json"), estimates.to_string().as_bytes()).unwrap();
            write_file(&folder.join("benchmark.json"), bench.to_string().as_bytes()).unwrap();
        }
    }

    fn bench(group: &str, value: Value, throughput: Value) -> Value {
        json!({"group_id": group, "function_id": "ring", "value_str": value, "throughput": throughput, "full_id": "x"})
    }

    #[test]
    fn the_last_estimates_are_kept_in_order_with_times_for_one_element() {
        let folder = tempfile::tempdir().unwrap();
        leave(folder.path(), "lookup/ring/1000", &bench("lookup", json!("1000"), json!({"Elements": 100})), 2500.0);
        leave(folder.path(), "lookup/ring/100", &bench("lookup", json!("100"), json!({"Elements": 100})), 300.0);
        leave(folder.path(), "build/ring", &bench("build", Value::Null, Value::Null), 123_456.0);
        let kept = read(folder.path()).unwrap();
        let medians: Vec<f64> = kept.rows.iter().map(|row| row["median_ns"].as_f64().unwrap()).collect();
        assert_eq!(medians, [123_456.0, 300.0, 2500.0], "once each, and 100 before 1000");
        let to = tempfile::tempdir().unwrap();
        write(to.path(), kept, &json!({"processor": "P"})).unwrap();
        let text = fs::read_to_string(to.path().join("criterion.md")).unwrap();
        assert!(text.contains("| lookup | ring | 1000 | 25.0 | 25.0 to 25.0 | 95 % |"), "{text}");
        assert!(text.contains("| build | ring | – | 123456 | 123455 to 123457 | 95 % |"), "{text}");
        assert!(text.contains("* processor: P\n") && text.contains("Other programs were running"), "{text}");
        assert_eq!(read_json(&to.path().join("criterion.json")).unwrap()["rows"][1]["elements"], 100);
    }

    #[test]
    fn no_estimates_and_strange_ones_are_errors_that_name_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let refused = |folder: &Path| format!("{:#}", read(folder).map(drop).unwrap_err());
        assert!(refused(folder.path()).contains("run cargo bench first"));
        assert!(refused(&folder.path().join("absent")).contains("run cargo bench first"));
        leave(folder.path(), "a", &bench("a", Value::Null, json!({"Elements": 0})), 1.0);
        let fault = refused(folder.path());
        assert!(
            fault.contains("a/new/estimates.json is none of criterion's: Elements is no number above 0"),
            "{fault}"
        );
        write_file(&folder.path().join("a/new/estimates.json"), b"{\"median\": {}}").unwrap();
        leave(folder.path(), "b", &bench("b", Value::Null, Value::Null), 1.0);
        write_file(
            &folder.path().join("a/new/benchmark.json"),
            bench("a", Value::Null, Value::Null).to_string().as_bytes(),
        )
        .unwrap();
        assert!(refused(folder.path()).contains("median.point_estimate is no time"));
    }
}
