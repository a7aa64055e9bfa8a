//! Text from outside that would like to be more than text.

use std::fmt::Write as _;

use proptest::prelude::*;
use serde_json::Value;

use crate::common::{file, objects, printed, refusal, shardlab};

/// Escape sequences, marks that turn the direction of text, invisible characters and line ends.
const STEERING: &str = "\u{1b}[31m\u{1b}]0;t\u{7}\u{9b}2J\u{202e}gpj\u{200f}\u{2066}\u{200b}\u{feff}\u{7f}\r\t\u{8}";

const MARKUP: &str = "<script>alert(1)</script> | `x` \"q\" 'a' [l](javascript:x) &amp; \\";

fn nasty() -> Vec<String> {
    let mut ids: Vec<String> = [STEERING, MARKUP].map(str::to_owned).to_vec();
    ids.extend(["=1+1", "+1", "-1", "@SUM(A1)", "'=1", "\t=1", "a\nb", "\u{2028}x"].map(str::to_owned));
    ids
}

fn is_harmful(letter: char) -> bool {
    letter != '\n'
        && (letter.is_control()
            || matches!(letter, '\u{61C}' | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{FEFF}'))
}

fn assert_harmless(shown: &str) {
    assert!(!shown.contains(is_harmful), "{:?}", shown.find(is_harmful).map(|at| &shown[at..]));
}

fn ndjson(ids: &[String], routing: &[String]) -> String {
    let mut lines = String::new();
    for (id, routing) in ids.iter().zip(routing) {
        let _ = writeln!(lines, "{}", serde_json::json!({ "_id": id, "_routing": routing }));
    }
    lines
}

fn route(format: &str, flags: &[&str], input: &str) -> std::process::Output {
    let mut command = shardlab();
    command.args(["route", "--keys", "-", "--format", format]).args(flags);
    command.write_stdin(input).output().unwrap()
}

#[test]
fn ids_and_routing_values_steer_nothing_in_any_format() {
    let ids = nasty();
    let input = ndjson(&ids, &ids);
    let flags = ["--keys-format", "ndjson", "--scheme", "elastic:shards=5,created=8.15", "--scheme", "jump:nodes=4"];
    for format in ["table", "json", "ndjson", "csv"] {
        let output = route(format, &flags, &input);
        assert_harmless(&printed(&output));
        assert_harmless(&String::from_utf8_lossy(&output.stderr));
    }
    let explained = route("table", &[&flags[..], &["--explain"]].concat(), &input);
    assert_harmless(&printed(&explained));
    for row in objects(&route("ndjson", &flags, &input)).iter().step_by(2).zip(&ids) {
        assert_eq!((row.0["id"].as_str(), row.0["routing"].as_str()), (Some(&**row.1), Some(&**row.1)));
    }
}

#[test]
fn a_spreadsheet_finds_no_formula() {
    let ids = nasty();
    let output = route("csv", &["--keys-format", "ndjson", "--scheme", "jump:nodes=4"], &ndjson(&ids, &ids));
    let shown = printed(&output);
    let mut rows = csv::Reader::from_reader(shown.as_bytes());
    let mut seen = 0;
    for (row, id) in rows.records().zip(&ids) {
        let row = row.unwrap();
        for cell in [&row[0], &row[1]] {
            assert!(!cell.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']), "{cell}");
        }
        if id.starts_with(['=', '+', '-', '@', '\'']) {
            assert_eq!(row[0].strip_prefix('\''), Some(&**id), "the way back is to take one apostrophe off");
        }
        seen += 1;
    }
    assert_eq!(seen, ids.len());
}

#[test]
fn names_of_nodes_and_fields_are_harmless_where_they_are_shown() {
    let mut nodes = Vec::new();
    let mut writer = csv::Writer::from_writer(&mut nodes);
    for name in nasty() {
        writer.write_record([&name, "1"]).unwrap();
    }
    drop(writer);
    let nodes = file("nodes.csv", nodes);
    for format in ["table", "json", "csv", "markdown"] {
        let mut command = shardlab();
        command.args(["compare", "--scheme", "jump", "--scheme", "rendezvous", "--timing", "off", "--format", format]);
        command.args(["--synthetic", "random:1000", "--nodes-file"]).arg(&nodes.path);
        let shown = printed(&command.output().unwrap());
        assert_harmless(&shown);
        assert!(format != "markdown" || !shown.contains("<script"), "{shown}");
    }
    let mut command = shardlab();
    command.args(["route", "--scheme", "ring", "--format", "ndjson", "--synthetic", "random:200", "--nodes-file"]);
    for row in objects(&command.arg(&nodes.path).output().unwrap()) {
        let node = usize::try_from(row["node"].as_u64().unwrap()).unwrap();
        assert_eq!(row["node_name"].as_str(), Some(&*nasty()[node]));
    }
    let output = route(
        "table",
        &["--keys-format", "ndjson", "--scheme", "jump:nodes=4", "--id-field", STEERING],
        "{\"\\u001b[31m\":1}\n",
    );
    assert_harmless(&refusal(&output));
}

#[test]
#[cfg(unix)]
fn the_name_of_a_file_is_harmless_in_every_format() {
    let name = "\u{1b}[31m<b>|`\u{202e}gpj\n=1.txt";
    let keys = file(name, "a\nb\nc\n");
    for format in ["table", "json", "csv", "markdown"] {
        let mut command = shardlab();
        command.args(["compare", "--nodes", "3", "--scheme", "jump", "--timing", "off", "--format", format, "--keys"]);
        let shown = printed(&command.arg(&keys.path).output().unwrap());
        assert_harmless(&shown);
        assert!(format != "markdown" || !shown.contains("<b>"), "{shown}");
    }
    let bad = file(name, "\n");
    for flag in ["--keys", "--nodes-file"] {
        let mut command = shardlab();
        let said = refusal(&command.args(["compare", "--scheme", "jump", flag]).arg(&bad.path).output().unwrap());
        assert_harmless(&said);
        assert!(said.contains("[31m"), "{said}");
    }
    let mut command = shardlab();
    assert_harmless(&refusal(&command.args(["verdict", "--counts-file"]).arg(&bad.path).output().unwrap()));
}

#[test]
fn what_is_typed_wrong_is_shown_harmlessly() {
    for arguments in [
        ["route", "--scheme", "\u{1b}[31m:nodes=3", "a"],
        ["route", "--scheme", "jump:\u{202e}=3", "a"],
        ["compare", "--hash", "\u{1b}[31m", "--distinct"],
        ["verdict", "--counts", "1,\u{1b}[31m", "--format=json"],
        ["compare", "--synthetic", "\u{1b}[31m:5", "--distinct"],
    ] {
        assert_harmless(&refusal(&shardlab().args(arguments).output().unwrap()));
    }
}

#[test]
fn an_index_name_is_harmless_in_every_format() {
    let name = "<b>\u{1b}[31m|=1";
    let input = format!("{name} 0 p STARTED 10 1mb\n{name} 1 p STARTED 12 1mb\n");
    for format in ["table", "json", "csv", "markdown"] {
        let mut command = shardlab();
        command.args(["verdict", "--counts-file", "-", "--format", format]);
        let shown = printed(&command.write_stdin(input.clone()).output().unwrap());
        assert_harmless(&shown);
        if format == "json" {
            let verdicts: Value = serde_json::from_str(&shown).unwrap();
            assert_eq!(verdicts[0]["index"], name);
        }
        assert!(format != "markdown" || !shown.contains("<b>"), "{shown}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn any_text_comes_back_from_ndjson(documents in prop::collection::vec((any::<String>(), any::<String>()), 1..40)) {
        let (ids, routing): (Vec<String>, Vec<String>) = documents.into_iter().unzip();
        let output = route("ndjson", &["--keys-format", "ndjson", "--scheme", "ring:nodes=3"], &ndjson(&ids, &routing));
        assert_harmless(&printed(&output));
        let rows = objects(&output);
        prop_assert_eq!(rows.len(), ids.len());
        for (row, (id, routing)) in rows.iter().zip(ids.iter().zip(&routing)) {
            prop_assert_eq!(row["id"].as_str(), Some(&**id));
            prop_assert_eq!(row["routing"].as_str().unwrap_or_default(), &**routing);
        }
    }

    #[test]
    fn any_bytes_come_back_from_hex(ids in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..40), 1..40)) {
        let hex: Vec<String> =
            ids.iter().map(|id| id.iter().map(|byte| format!("{byte:02x}")).collect()).collect();
        let output = route("ndjson", &["--encoding", "hex", "--scheme", "jump:nodes=3"], &hex.join("\n"));
        let rows = objects(&output);
        prop_assert_eq!(rows.len(), ids.len());
        for (row, hex) in rows.iter().zip(&hex) {
            prop_assert_eq!(row["id"].as_str(), Some(&**hex));
        }
        // The same bytes as plain lines are the same keys, unless a line feed is among them.
        if !ids.iter().flatten().any(|byte| matches!(byte, b'\n' | b'\r')) {
            let lines = ids.join(&b'\n');
            let mut command = shardlab();
            command.args(["route", "--keys", "-", "--scheme", "jump:nodes=3", "--format", "ndjson"]);
            let plain = command.write_stdin(lines.clone()).output().unwrap();
            if plain.status.success() && !lines.starts_with(b"\xEF\xBB\xBF") {
                let keys = |rows: &[Value]| rows.iter().map(|row| row["key"].clone()).collect::<Vec<_>>();
                prop_assert_eq!(keys(&objects(&plain)), keys(&rows));
            }
        }
    }
}
