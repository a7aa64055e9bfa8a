//! How the tests call the command.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::Output;

use assert_cmd::Command;
use serde_json::Value;

pub(crate) fn shardlab() -> Command {
    Command::new(env!("CARGO_BIN_EXE_shardlab"))
}

/// Runs the command with arguments parted by spaces.
pub(crate) fn run(line: &str) -> Output {
    shardlab().args(line.split_whitespace()).output().unwrap()
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// What a command that must succeed prints.
pub(crate) fn printed(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    text(&output.stdout)
}

/// What a command that must refuse its input says.
pub(crate) fn refusal(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stdout));
    text(&output.stderr)
}

/// The JSON document of a command.
pub(crate) fn json(line: &str) -> Value {
    serde_json::from_str(&printed(&run(line))).unwrap()
}

/// The objects of NDJSON.
pub(crate) fn objects(output: &Output) -> Vec<Value> {
    printed(output).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The node of each key, by `route` over the keys on stdin. The spec has the membership.
pub(crate) fn route_with<T: AsRef<str>>(flags: &str, keys: impl IntoIterator<Item = T>) -> Vec<u64> {
    let mut lines = String::new();
    for key in keys {
        let _ = writeln!(lines, "{}", key.as_ref());
    }
    let mut command = shardlab();
    command.args(["route", "--keys", "-", "--format", "ndjson"]).args(flags.split_whitespace());
    objects(&command.write_stdin(lines).output().unwrap()).iter().map(|row| row["node"].as_u64().unwrap()).collect()
}

pub(crate) fn route<T: AsRef<str>>(spec: &str, keys: impl IntoIterator<Item = T>) -> Vec<u64> {
    route_with(&format!("--scheme {spec}"), keys)
}

/// Counts per node of the first row of a comparison.
pub(crate) fn counts(comparison: &Value) -> Vec<u64> {
    numbers(&comparison["rows"][0]["balance"]["counts"])
}

pub(crate) fn numbers(list: &Value) -> Vec<u64> {
    list.as_array().unwrap().iter().map(|number| number.as_u64().unwrap()).collect()
}

/// The fraction that a change moved in a row of a comparison.
pub(crate) fn moved(comparison: &Value, row: usize, change: &str) -> f64 {
    comparison["rows"][row]["movement"][change]["moved"].as_f64().unwrap()
}

/// Four standard deviations of a fraction measured on so many keys.
pub(crate) fn assert_near(measured: f64, expected: f64, keys: f64) {
    let sigma = (expected * (1.0 - expected) / keys).sqrt();
    assert!((measured - expected).abs() < 4.0 * sigma + 1e-6, "{measured}, expected {expected}");
}

/// A folder with one file in it.
pub(crate) struct OneFile {
    _folder: tempfile::TempDir,
    pub(crate) path: PathBuf,
}

pub(crate) fn file(name: &str, bytes: impl AsRef<[u8]>) -> OneFile {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    OneFile { _folder: folder, path }
}

/// A comparison over a file, as JSON and without times.
pub(crate) fn compare_file(flags: &str, file: &OneFile) -> Output {
    let mut command = shardlab();
    command.args(["compare", "--timing", "off", "--format", "json"]).args(flags.split_whitespace());
    command.arg("--keys").arg(&file.path).output().unwrap()
}
