//! Readers that leave early.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use crate::common::file;

/// Runs the command, reads one line of its output and leaves. Returns its exit code and its stderr.
fn one_line(arguments: &[&str]) -> (Option<i32>, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_shardlab"))
        .args(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::with_capacity(64, child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert!(!line.is_empty());
    let output = child.wait_with_output().unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn a_closed_pipe_is_no_failure() {
    for format in ["table", "json", "ndjson", "csv"] {
        let line = ["route", "--scheme", "jump:nodes=5", "--synthetic", "uuid4:100000", "--format", format];
        assert_eq!(one_line(&line), (Some(0), String::new()), "{format}");
    }
}

#[test]
fn a_closed_pipe_is_no_failure_for_long_records_either() {
    let ids: String = (0..2000).map(|i| format!("{i}{}\n", "x".repeat(20_000))).collect();
    let ids = file("ids.txt", ids);
    let path = ids.path.to_str().unwrap();
    for format in ["csv", "ndjson"] {
        assert_eq!(
            one_line(&["route", "--scheme", "jump:nodes=5", "--keys", path, "--format", format]),
            (Some(0), String::new()),
            "{format}"
        );
    }
}

#[test]
fn a_closed_stderr_changes_nothing() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_shardlab"))
        .args(["route", "--scheme", "elastic:shards=5", "--keys", "-", "--format", "ndjson"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Notes and the count of keys find nobody who reads them.
    drop(child.stderr.take());
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), b"1\n").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(String::from_utf8_lossy(&output.stdout).contains("\"node\":3"));
}
