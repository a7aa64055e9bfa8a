//! Files and streams of keys, read strictly and counted.

use std::io::Write;

use serde_json::Value;

use crate::common::{
    OneFile, compare_file, counts, file, objects, printed, refusal, route, route_with, shardlab, text,
};

fn route_file(flags: &str, file: &OneFile) -> std::process::Output {
    let mut command = shardlab();
    command.args(["route", "--format", "ndjson"]).args(flags.split_whitespace());
    command.arg("--keys").arg(&file.path).output().unwrap()
}

fn placed(output: &std::process::Output) -> Vec<(String, u64)> {
    let pair = |row: &Value| (row["id"].as_str().unwrap().to_owned(), row["node"].as_u64().unwrap());
    objects(output).iter().map(pair).collect()
}

const FIVE: &str = "--scheme elastic:shards=5,created=8.15";

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn a_byte_order_mark_and_carriage_returns_are_taken_off_aloud() {
    let output = route_file(FIVE, &file("ids.txt", "\u{feff}id-1\r\nid-2\r\n"));
    assert_eq!(placed(&output)[0], ("id-1".into(), 0));
    let said = text(&output.stderr);
    assert!(said.contains("byte order mark") && said.contains("2 of 2 lines end in CRLF"), "{said}");
    // Whoever keeps them misplaces most ids.
    let plain: Vec<String> = (0..1000).map(|i| format!("doc-{i}")).collect();
    let kept: Vec<String> = plain.iter().map(|id| format!("{{\"_id\":\"{id}\\r\"}}")).collect();
    for (shards, wrong) in [(5, 802), (12, 913)] {
        let spec = format!("elastic:shards={shards},created=8.15");
        let with_cr = route_with(&format!("--keys-format ndjson --scheme {spec}"), &kept);
        let differing = route(&spec, &plain).iter().zip(&with_cr).filter(|(a, b)| a != b).count();
        assert_eq!(differing, wrong, "{shards} shards");
    }
    assert_eq!(route_with(&format!("--keys-format ndjson {FIVE}"), ["{\"_id\":\"\u{feff}id-1\"}"]), [3]);
}

#[test]
fn a_header_is_found_behind_a_byte_order_mark() {
    let output = route_file(FIVE, &file("ids.csv", "\u{feff}_id\nid-1\n"));
    assert_eq!(placed(&output), [("id-1".into(), 0)]);
}

#[test]
fn a_final_line_feed_is_no_key() {
    assert_eq!(placed(&route_file("--scheme jump:nodes=3", &file("ids.txt", "a\nb\n"))).len(), 2);
}

#[test]
fn what_looks_like_a_number_is_text() {
    let json = route_file(FIVE, &file("ids.ndjson", "{\"_id\":1610521604143693812}\n"));
    assert_eq!(placed(&json), [("1610521604143693812".into(), 2)]);
    assert!(text(&json.stderr).contains("beyond 2^53"), "{}", text(&json.stderr));
    let csv = route_file(FIVE, &file("ids.csv", "_id\n007\n\"007\"\n73928e03\n"));
    assert_eq!(placed(&csv), [("007".into(), 3), ("007".into(), 3), ("73928e03".into(), 4)]);
    assert_eq!(route("elastic:shards=5,created=8.15", ["7", "73928000", "1610521604143693800"]), [2, 0, 4]);
}

#[test]
fn every_member_of_an_archive_is_read() {
    let two = [gzip(b"a\nb\n"), gzip(b"c\n")].concat();
    assert_eq!(placed(&route_file("--scheme jump:nodes=3", &file("ids.gz", two))).len(), 3);
}

#[test]
fn a_damaged_archive_is_refused_or_counted_and_never_passed_over() {
    let whole = gzip((0..20_000).map(|i| format!("id-{i}\n")).collect::<String>().as_bytes());
    let truncated = file("ids.gz", &whole[..whole.len() / 2]);
    let said = refusal(&compare_file("--nodes 3 --scheme jump", &truncated));
    assert!(said.contains("truncated") && said.contains("ids.gz:"), "{said}");
    let comparison: Value =
        serde_json::from_str(&printed(&compare_file("--nodes 3 --scheme jump --skip-bad", &truncated))).unwrap();
    let keys = &comparison["keys"];
    assert_eq!(keys["read"].as_u64().unwrap(), keys["accepted"].as_u64().unwrap() + 1);
    assert!(keys["skipped"][0]["reason"].as_str().unwrap().contains("truncated"), "{keys}");
    let trailing = file("ids.gz", [gzip(b"a\nb\n"), b"tail".to_vec()].concat());
    assert!(refusal(&compare_file("--nodes 3 --scheme jump", &trailing)).contains("bytes follow the end"));
}

#[test]
fn a_bad_byte_is_bad_for_text_and_a_byte_for_bytes() {
    let ids = file("ids.txt", b"id-1\nid-\xFF\nid-3");
    let said = refusal(&route_file(FIVE, &ids));
    assert!(said.contains("ids.txt:2: ") && said.contains("UTF-8"), "{said}");
    let skipped = route_file(&format!("{FIVE} --skip-bad"), &ids);
    assert_eq!(placed(&skipped).len(), 2);
    assert!(text(&skipped.stderr).contains("read 3, accepted 2; skipped 1"), "{}", text(&skipped.stderr));
    assert_eq!(placed(&route_file("--scheme jump:nodes=3", &ids)).len(), 3);
    // Ids that differ in the bad byte alone stay two.
    let two = file("ids.txt", b"id-\xFE\nid-\xFF\n");
    let comparison: Value =
        serde_json::from_str(&printed(&compare_file("--nodes 3 --scheme jump --distinct", &two))).unwrap();
    assert_eq!(comparison["keys"]["distinct"], 2);
    let exact: Vec<Value> = objects(&route_file("--scheme jump:nodes=3", &two));
    assert_eq!((exact[0]["id_hex"].as_str(), exact[1]["id_hex"].as_str()), (Some("69642dfe"), Some("69642dff")));
}

#[test]
fn the_routing_value_of_an_export_counts_by_either_name() {
    let export = "{\"_id\":\"21128\",\"_routing\":\"21082\",\"_source\":{}}\n{\"_id\":\"1\",\"routing\":\"21082\"}\n{\"_id\":\"21082\"}\n";
    let rows = objects(&route_file(FIVE, &file("export.ndjson", export)));
    assert_eq!(rows[0]["routing"], "21082");
    assert!(rows.iter().all(|row| row["node"] == rows[2]["node"]), "{rows:?}");
    let flags = "--nodes 5 --scheme elastic:created=8.15";
    let comparison: Value =
        serde_json::from_str(&printed(&compare_file(flags, &file("export.ndjson", export)))).unwrap();
    assert_eq!(
        (comparison["keys"]["accepted"].as_u64(), comparison["keys"]["with_routing"].as_u64()),
        (Some(3), Some(2))
    );
}

#[test]
fn a_line_without_an_id_is_refused_with_a_hint() {
    let lines = file("lines.ndjson", "{\"env\":\"prod\",\"uid\":1111}\n");
    let said = refusal(&route_file(FIVE, &lines));
    assert!(said.contains("lines.ndjson:1: _id: missing") && said.contains("hint: --id-field uid"), "{said}");
    assert_eq!(placed(&route_file(&format!("{FIVE} --id-field uid"), &lines)).len(), 1);
}

#[test]
fn every_line_is_accepted_or_counted_as_skipped() {
    let lines: String = (0..1011)
        .map(|i| match i % 17 {
            0 => "{\"no\":1}\n".to_owned(),
            1 => "{torn\n".to_owned(),
            _ => format!("{{\"_id\":\"{i}\",\"text\":\"{}\"}}\n", "x".repeat(i * 7)),
        })
        .collect();
    let output = compare_file("--nodes 3 --scheme jump --skip-bad", &file("lines.ndjson", lines));
    let comparison: Value = serde_json::from_str(&printed(&output)).unwrap();
    let keys = &comparison["keys"];
    let skipped: u64 = keys["skipped"].as_array().unwrap().iter().map(|one| one["count"].as_u64().unwrap()).sum();
    assert_eq!((keys["read"].as_u64(), skipped), (Some(1011), 120));
    assert_eq!(keys["accepted"].as_u64(), Some(1011 - 120));
    assert_eq!(counts(&comparison).iter().sum::<u64>(), 1011 - 120);
}

#[test]
#[cfg(target_os = "linux")]
fn what_does_not_fit_into_memory_is_streamed() {
    let id = "x".repeat(999);
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    for _ in 0..200_000 {
        writeln!(encoder, "{id}").unwrap();
    }
    let ids = file("ids.gz", encoder.finish().unwrap());
    let mut command = assert_cmd::Command::new("sh");
    command.args(["-c", "ulimit -v 100000; exec \"$0\" \"$@\" > /dev/null", env!("CARGO_BIN_EXE_shardlab")]);
    command.args(["route", "--scheme", "jump:nodes=5", "--format", "csv", "--keys"]).arg(&ids.path);
    let output = command.output().unwrap();
    assert_eq!(text(&output.stderr), "note: read 200000, accepted 200000\n");
    assert!(output.status.success());
}

#[test]
fn repeated_ids_are_counted_once_where_that_is_asked_for() {
    let lines: String = (0..19_575).map(|i| format!("doc-{}\n", i % 14_754)).collect();
    let lines = file("ids.txt", lines);
    let run = |flags: &str| -> Value {
        serde_json::from_str(&printed(&compare_file(
            &format!("--nodes 5 --scheme elastic:created=8.15 {flags}"),
            &lines,
        )))
        .unwrap()
    };
    let (rows, once) = (run(""), run("--distinct"));
    assert_eq!(counts(&rows).iter().sum::<u64>(), 19_575);
    assert_eq!(counts(&once).iter().sum::<u64>(), 14_754);
    assert_eq!((once["keys"]["read"].as_u64(), once["keys"]["distinct"].as_u64()), (Some(19_575), Some(14_754)));
}

#[test]
fn keys_may_come_from_stdin_in_every_format() {
    for (format, input) in
        [("lines", "a\nb\n"), ("csv", "_id,n\na,1\nb,2\n"), ("ndjson", "{\"_id\":\"a\"}\n{\"_id\":\"b\"}\n")]
    {
        let mut command = shardlab();
        command.args([
            "route",
            "--scheme",
            "jump:nodes=3",
            "--format",
            "ndjson",
            "--keys",
            "-",
            "--keys-format",
            format,
        ]);
        let output = command.write_stdin(input).output().unwrap();
        assert_eq!(placed(&output).iter().map(|(id, _)| id.as_str()).collect::<Vec<_>>(), ["a", "b"], "{format}");
    }
    let mut command = shardlab();
    let output = command.args(["route", "--scheme", "jump:nodes=3", "--keys", "-"]).write_stdin("").output().unwrap();
    assert!(refusal(&output).contains("<stdin>: no keys"));
}

#[test]
fn a_picture_is_written_whole_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let ids = file("ids.txt", "a\n\nb\n");
    let mut command = shardlab();
    command.args(["compare", "--nodes", "3", "--scheme", "jump", "--timing", "off", "--chart"]);
    command.arg(folder.path().join("absent").join("load.svg"));
    assert!(refusal(&command.output().unwrap()).contains("cannot write"));
    // Neither does a comparison that fails leave anything behind.
    let mut command = shardlab();
    command.args(["compare", "--nodes", "3", "--scheme", "jump", "--timing", "off", "--chart"]);
    let output = command.arg(folder.path().join("load.svg")).arg("--keys").arg(&ids.path).output().unwrap();
    assert!(refusal(&output).contains("ids.txt:2: the line is empty"));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    let mut command = shardlab();
    command.args(["compare", "--nodes", "3", "--scheme", "jump", "--timing", "off", "--chart"]);
    let output = command.arg(folder.path().join("load.svg")).arg("--skip-bad").arg("--keys").arg(&ids.path);
    printed(&output.output().unwrap());
    assert!(std::fs::read_to_string(folder.path().join("load.svg")).unwrap().contains("<svg"));
}
