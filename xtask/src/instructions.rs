//! Instructions of a lookup: the one check of speed that does not depend on the machine.
//!
//! Callgrind counts what the program executes between the first and the last instruction of a loop of
//! lookups, with the kernels switched to plain Rust. Counts are the same on every run and every x86-64
//! machine; they change with the code and with the compiler.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, bail, ensure};
use serde_json::{Value, json};

use crate::{machine, process, record};

const FILE: &str = "reports/instructions.json";

/// Lookups that are counted; more would only take longer.
const LOOKUPS: u32 = 2000;

const NODES: u32 = 100;

/// A count may differ by this from the stored one: layouts shift by an instruction or two.
const TOLERANCE: f64 = 0.03;

/// What is counted of each scheme, by the function that does it.
const WAYS: [(&str, &str); 2] = [("key", "sum_of_lookups"), ("id", "sum_of_hashed_lookups")];

/// Counts and stores, or counts and compares.
pub(crate) fn run(root: &Path, check: bool) -> anyhow::Result<()> {
    if machine::output(root, "valgrind", &["--version"]).is_none() {
        let missing = "valgrind cannot be run; install it (Debian: apt-get install valgrind)";
        ensure!(check, "{missing}");
        eprintln!("instructions: not compared, since {missing}");
        return Ok(());
    }
    let rustc = machine::output(root, "rustc", &["--version"]).context("cannot ask rustc for its version")?;
    let target = format!("{} {}", std::env::consts::ARCH, std::env::consts::OS);
    let path = root.join(FILE);
    if check {
        let stored =
            record::read_json(&path).with_context(|| format!("{FILE}: make it with cargo xtask instructions"))?;
        if stored["rustc"] != rustc || stored["target"] != target {
            eprintln!(
                "instructions: not compared, since {FILE} is of {} for {} and this is {rustc} for {target}",
                stored["rustc"], stored["target"]
            );
            return Ok(());
        }
        let faults = faults(&stored, &count_all(root, &rustc, &target)?);
        if faults.is_empty() {
            println!("instructions: all within {:.0} % of {FILE}", TOLERANCE * 100.0);
            return Ok(());
        }
        faults.iter().for_each(|fault| eprintln!("{fault}"));
        bail!("{} counts of instructions differ; if that is meant, run cargo xtask instructions", faults.len());
    }
    let counts = count_all(root, &rustc, &target)?;
    std::fs::write(&path, serde_json::to_string_pretty(&counts)? + "\n")
        .with_context(|| format!("cannot write {FILE}"))?;
    println!("{FILE}");
    Ok(())
}

fn count_all(root: &Path, rustc: &str, target: &str) -> anyhow::Result<Value> {
    let arguments = ["build", "--release", "--package", "shardlab-schemes", "--example", "lookups"];
    let program = process::build(root, &arguments, "lookups")?;
    let schemes = schemes(root)?;
    let mut rows = Vec::new();
    for scheme in schemes {
        let mut row = json!({ "scheme": scheme });
        for (way, function) in WAYS {
            let counted = count(&program, &scheme, way, function)?;
            // Rounded to hundredths, which is less than an instruction in a hundred lookups.
            row[way] = json!((counted * 100.0 / f64::from(LOOKUPS)).round() / 100.0);
        }
        rows.push(row);
    }
    Ok(json!({
        "made_by": "cargo xtask instructions",
        "meaning": "instructions of one lookup, from a 64-bit key or from an id of 20 digits, with plain Rust kernels",
        "rustc": rustc,
        "target": target,
        "nodes": NODES,
        "lookups": LOOKUPS,
        "tolerance": TOLERANCE,
        "rows": rows,
    }))
}

/// The specs of a comparison of everything, from the program itself, so that a new scheme is counted
/// without a line here.
fn schemes(root: &Path) -> anyhow::Result<Vec<String>> {
    let arguments = ["build", "--release", "--package", "shardlab-schemes", "--example", "specs"];
    let program = process::build(root, &arguments, "specs")?;
    let output = Command::new(&program).output().with_context(|| format!("cannot run {}", program.display()))?;
    ensure!(output.status.success(), "{} failed", program.display());
    Ok(String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect())
}

/// Instructions between entering and leaving a function.
fn count(program: &Path, scheme: &str, way: &str, function: &str) -> anyhow::Result<f64> {
    let mut command = Command::new("valgrind");
    command
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(format!("--toggle-collect=*{function}*"))
        .arg(program)
        .args([scheme, &NODES.to_string(), &LOOKUPS.to_string()])
        .env("SHARDLAB_SIMD", "portable");
    if way == "id" {
        command.arg("hashed");
    }
    let output = command.output().context("cannot run valgrind")?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "valgrind with {scheme} failed:\n{said}");
    let counted = collected(&said).with_context(|| format!("valgrind counted nothing for {scheme}:\n{said}"))?;
    ensure!(counted >= f64::from(LOOKUPS), "valgrind did not see {function}: it counted {counted}");
    Ok(counted)
}

/// The number behind "Collected" in callgrind's summary.
fn collected(said: &str) -> Option<f64> {
    let line = said.lines().find(|line| line.contains("Collected"))?;
    line.rsplit(':').next()?.trim().parse().ok()
}

/// What differs by more than the tolerance, or stands on one side alone.
fn faults(stored: &Value, counted: &Value) -> Vec<String> {
    let rows = |value: &Value| value["rows"].as_array().cloned().unwrap_or_default();
    let (stored, counted) = (rows(stored), rows(counted));
    let mut faults = Vec::new();
    for row in &counted {
        let Some(known) = stored.iter().find(|known| known["scheme"] == row["scheme"]) else {
            faults.push(format!("{}: not in {FILE}", row["scheme"]));
            continue;
        };
        for (way, _) in WAYS {
            match (known[way].as_f64(), row[way].as_f64()) {
                (Some(before), Some(now)) if (now / before - 1.0).abs() <= TOLERANCE => {}
                _ => faults
                    .push(format!("{} from a {way}: {} instructions, stored {}", row["scheme"], row[way], known[way])),
            }
        }
    }
    let gone = stored.iter().filter(|known| counted.iter().all(|row| row["scheme"] != known["scheme"]));
    faults.extend(gone.map(|known| format!("{}: in {FILE}, but no scheme of a comparison", known["scheme"])));
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_of_callgrind_is_read() {
        let said = "==7== Events    : Ir\n==7== Collected : 27016\n==7== \n==7== I   refs:      27,016\n";
        assert_eq!(collected(said), Some(27_016.0));
        assert_eq!(collected("==7== Events    : Ir\n"), None);
    }

    #[test]
    fn three_percent_are_forgiven_and_more_is_told() {
        let rows = |key: f64| json!({"rows": [{"scheme": "a", "key": key, "id": 50.0}]});
        assert!(faults(&rows(100.0), &rows(102.9)).is_empty() && faults(&rows(100.0), &rows(97.1)).is_empty());
        assert_eq!(faults(&rows(100.0), &rows(103.2)).len(), 1);
        assert_eq!(faults(&rows(100.0), &rows(96.8)).len(), 1);
        assert_eq!(faults(&json!({"rows": []}), &rows(1.0)), ["\"a\": not in reports/instructions.json"]);
        assert_eq!(faults(&rows(1.0), &json!({"rows": []})).len(), 1);
        assert_eq!(faults(&json!({"rows": [{"scheme": "a", "id": 50.0}]}), &rows(1.0)).len(), 1, "a missing number");
    }
}
