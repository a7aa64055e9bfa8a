//! `inspect`: what makes keys bad on their own, held against situations people met, and no alarm where
//! there is none.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::fmt::Write as _;

use assert_cmd::Command;
use proptest::prelude::*;
use serde_json::Value;

fn shardlab(flags: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_shardlab"));
    command.arg("inspect").args(flags.split_whitespace());
    command
}

fn json(mut command: Command) -> Value {
    let output = command.args(["--format", "json"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn inspect<T: std::fmt::Display>(flags: &str, lines: impl IntoIterator<Item = T>) -> Value {
    let mut text = String::new();
    for line in lines {
        let _ = writeln!(text, "{line}");
    }
    let mut command = shardlab(flags);
    command.args(["--keys", "-"]).write_stdin(text);
    json(command)
}

fn synthetic(flags: &str) -> Value {
    json(shardlab(flags))
}

fn severities(inspection: &Value, severity: &str) -> Vec<String> {
    let findings = inspection["findings"].as_array().unwrap();
    let found = findings.iter().filter(|finding| finding["severity"] == severity);
    found.map(|finding| finding["kind"].as_str().unwrap().to_owned()).collect()
}

fn sentence(inspection: &Value, kind: &str) -> String {
    let findings = inspection["findings"].as_array().unwrap();
    let found = findings.iter().find(|finding| finding["kind"] == kind);
    let found = found.unwrap_or_else(|| panic!("no finding {kind} in {findings:#?}"));
    found["sentence"].as_str().unwrap().to_owned()
}

/// A number of each placement of a scheme and hash, in the order of the numbers of nodes.
fn placed(inspection: &Value, scheme: &str, hash: &str, field: &str) -> Vec<f64> {
    let rows = inspection["placements"].as_array().unwrap();
    let rows = rows.iter().filter(|row| row["scheme"] == scheme && row["hash"] == hash);
    rows.map(|row| row[field].as_f64().unwrap()).collect()
}

fn no_alarm(inspection: &Value) {
    for severity in ["harmful", "watch"] {
        assert_eq!(severities(inspection, severity), Vec::<String>::new(), "{:#}", inspection["findings"]);
    }
}

const OLD: &str = "elastic:created=8.15";

fn snowflakes(sequence: impl Fn(u64) -> u64) -> impl Iterator<Item = u64> {
    (0..1000).map(move |i| (411_165_025_343 + 37 * i) << 22 | 1 << 12 | sequence(i))
}

#[test]
fn snowflakes_of_a_calm_machine_are_named_with_their_constant_bits() {
    let found = inspect("--nodes 4,5,7,8,12,16,1000,1024", snowflakes(|_| 0));
    assert_eq!(severities(&found, "harmful"), ["constant_bits"]);
    assert!(sentence(&found, "constant_bits").contains("the low 12 bits constant at 0"));
    assert_eq!(found["numbers"]["low_constant_bits"].as_u64(), Some(22));
    assert_eq!(found["numbers"]["looks_like"][0]["kind"], "snowflake");
    let raw = placed(&found, "modulo", "identity", "nodes_used");
    assert_eq!(raw, [1.0, 5.0, 7.0, 1.0, 3.0, 1.0, 125.0, 1.0]);
    assert_eq!(placed(&found, "modulo", "identity", "peak_keys")[..3], [1000.0, 200.0, 143.0]);
    let mixed = placed(&found, "modulo", "xxh3", "peak_keys")[5];
    assert!((66.0..=96.0).contains(&mixed), "{mixed} keys on the fullest of 16 nodes");
}

#[test]
fn a_sequence_that_toggles_leaves_two_buckets() {
    let found = inspect("--nodes 4,16,256", snowflakes(|i| i % 2));
    assert_eq!(severities(&found, "harmful"), ["constant_bits"]);
    assert!(sentence(&found, "constant_bits").starts_with("bits 1 to 21 are constant"));
    assert_eq!(placed(&found, "modulo", "identity", "nodes_used"), [2.0, 2.0, 2.0]);
    assert_eq!(placed(&found, "modulo", "identity", "peak_keys"), [500.0, 500.0, 500.0]);
}

#[test]
fn a_weak_hash_of_texts_leaves_slots_empty() {
    let found = inspect("--hash java --nodes 31,32", (0..100).map(|i| format!("k{i:02}")));
    assert_eq!(placed(&found, "modulo", "java", "nodes_used"), [10.0, 19.0]);
    assert!(severities(&found, "harmful").contains(&"hash_pattern".to_owned()));
    assert!(severities(&found, "watch").contains(&"short_hash".to_owned()));
}

#[test]
fn multiples_use_the_nodes_that_their_divisor_leaves() {
    let found = inspect("--nodes 4,5,6,7,8,10,12", (0..420).map(|i| 10 * i));
    assert_eq!(placed(&found, "modulo", "identity", "nodes_used"), [2.0, 1.0, 3.0, 7.0, 4.0, 1.0, 6.0]);
    assert_eq!(severities(&found, "harmful"), ["common_divisor"]);
    assert!(sentence(&found, "common_divisor").contains("multiples of 10"));
    // At seven nodes nothing is wrong yet.
    let found = inspect("--nodes 7", (0..420).map(|i| 10 * i));
    assert_eq!(
        (severities(&found, "harmful").len(), severities(&found, "watch")),
        (0, vec!["common_divisor".to_owned()])
    );
}

#[test]
fn dense_numbers_under_modulo_are_perfectly_even_and_hashed_ones_nearly() {
    let found = synthetic("--synthetic sequential:1000000 --nodes 10");
    no_alarm(&found);
    assert_eq!(placed(&found, "modulo", "identity", "peak_to_average"), [1.0]);
    let hashed = placed(&found, "modulo", "xxh3", "peak_to_average")[0];
    assert!(hashed > 1.0 && hashed < 1.013, "{hashed}");
}

#[test]
fn ids_that_went_through_a_double_have_lost_digits_and_each_other() {
    let rounded = [824, 1080, 1336, 1592, 1848].map(|end| 1_610_521_604_143_693_000_u64 + end);
    let double = (0..1000).map(|i| {
        let id = 1_610_521_604_143_693_812_u64 + i;
        *rounded.iter().min_by_key(|near| near.abs_diff(id)).unwrap()
    });
    let found = inspect("--nodes 8", double);
    assert!(severities(&found, "harmful").contains(&"passed_through_a_double".to_owned()));
    assert!(sentence(&found, "passed_through_a_double").contains("2^8 = 256"));
    assert_eq!(found["cardinality"]["distinct_values"].as_u64(), Some(5));
    assert_eq!(found["numbers"]["divisor_of_differences"], "256");
    assert_eq!(placed(&found, "modulo", "identity", "nodes_used"), [1.0]);
    let original = inspect("--nodes 8", (0..1000).map(|i| 1_610_521_604_143_693_812_u64 + i));
    no_alarm(&original);
    assert_eq!(placed(&original, "modulo", "identity", "peak_keys"), [125.0]);
}

#[test]
fn ids_that_end_in_zero_bits_by_their_make_did_not_go_through_a_double() {
    let twice = snowflakes(|_| 0).chain(snowflakes(|_| 0));
    let found = inspect("", twice);
    assert!(!severities(&found, "harmful").contains(&"passed_through_a_double".to_owned()));
    assert!(severities(&found, "watch").contains(&"duplicates".to_owned()));
}

fn csv(rows: impl IntoIterator<Item = (String, String)>) -> impl Iterator<Item = String> {
    let rows: Vec<_> = rows.into_iter().collect();
    std::iter::once("_id,routing".to_owned()).chain(rows.into_iter().map(|(id, routing)| format!("{id},{routing}")))
}

#[test]
fn three_routing_values_collide_on_three_shards_and_separate_on_five_to_seven() {
    let rows = csv((0..300).map(|i| (format!("d{i}"), (i % 3 + 1).to_string())));
    let found = inspect("--keys-format csv --nodes 3,4,5,6,7,8", rows);
    let placements = found["placements"].as_array().unwrap();
    let nodes = placements.iter().filter(|row| row["scheme"] == OLD).map(|row| row["node_of_values"].to_string());
    assert_eq!(nodes.collect::<Vec<_>>(), ["[2,1,1]", "[0,0,0]", "[4,3,0]", "[4,2,3]", "[0,3,2]", "[0,0,1]"]);
    let separation = &found["separations"][0];
    assert_eq!((separation["scheme"].as_str(), separation["nodes"].to_string().as_str()), (Some(OLD), "[5,6,7]"));
    assert!(severities(&found, "harmful").contains(&"few_values".to_owned()));
    assert!(sentence(&found, "few_values").contains("5, 6, 7"));
}

#[test]
fn a_large_tenant_is_a_floor_that_no_number_of_shards_lowers() {
    let tenants = (0..400).map(|i| (format!("d{i}"), "acme".to_owned()));
    let rows = csv(tenants.chain((0..600).map(|i| (format!("e{i}"), format!("t{i}")))));
    let found = inspect("--keys-format csv --nodes 8,16,32", rows);
    assert_eq!(placed(&found, OLD, "es-murmur3", "peak_keys"), [472.0, 436.0, 418.0]);
    let floors = found["floors"].as_array().unwrap();
    let floors: Vec<f64> = floors.iter().map(|floor| floor["rows_floor"].as_f64().unwrap()).collect();
    assert_eq!(floors, [3.2, 6.4, 12.8]);
    assert_eq!(found["floors"][0]["useless_beyond"].as_u64(), Some(2));
    assert_eq!(severities(&found, "harmful"), ["common_value"]);
    assert!(sentence(&found, "common_value").contains("never has fewer than 400"));
}

#[test]
fn one_heavy_document_is_seen_in_bytes_alone() {
    let rows = ["_id,bytes".to_owned(), "big,80".to_owned()].into_iter().chain((0..20).map(|i| format!("s{i},1")));
    let found = inspect("--keys-format csv --weight-field bytes --nodes 3", rows);
    assert_eq!(severities(&found, "harmful"), ["heavy_document"]);
    assert_eq!(found["floors"][0]["weight_floor"].as_f64(), Some(2.4));
    assert_eq!(found["floors"][0]["rows_floor"].as_f64(), Some(1.0));
}

#[test]
fn repeated_documents_are_counted() {
    let ids = (0..14_754).chain(0..4821).map(|i| format!("doc-{i}"));
    let found = inspect("", ids);
    let counted = &found["cardinality"];
    let counted = ["rows", "distinct_documents", "duplicates"].map(|field| counted[field].as_u64().unwrap());
    assert_eq!(counted, [19_575, 14_754, 4821]);
    assert_eq!(severities(&found, "watch"), ["duplicates"]);
}

#[test]
fn an_id_with_two_routing_values_is_two_documents() {
    let rows = [("a", "x"), ("a", "y"), ("a", "x"), ("x", "")].map(|(id, to)| (id.to_owned(), to.to_owned()));
    let found = inspect("--keys-format csv", csv(rows));
    assert_eq!(found["cardinality"]["distinct_documents"].as_u64(), Some(3));
    assert_eq!(found["cardinality"]["distinct_values"].as_u64(), Some(2));
    assert_eq!(found["cardinality"]["placed_by"], "routing values and ids");
}

/// Ids that count up in 15 bytes and are written in URL-safe base64, as automatic ids are.
fn automatic_ids() -> impl Iterator<Item = String> {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    (0..12_000_u64).map(|i| {
        let (time, machine) = (1_700_000_000_000 + i / 3, 0x00A1_B2C3_D4E5_u64);
        let bytes = u128::from(i & 0xFF_FFFF) << 96 | u128::from(machine) << 48 | u128::from(time);
        (0..20).map(|place| char::from(LETTERS[usize::try_from(bytes >> (114 - 6 * place) & 63).unwrap()])).collect()
    })
}

#[test]
fn what_is_harmless_raises_no_alarm() {
    let flakes = inspect("--nodes 5,8,12", automatic_ids());
    no_alarm(&flakes);
    assert_eq!(severities(&flakes, "harmless"), ["auto_ids", "common_affix", "order"]);
    for (kind, keys) in [
        ("sequential", "--synthetic sequential:100000"),
        ("time-ordered UUIDs", "--synthetic uuid7:20000"),
        ("random UUIDs", "--synthetic uuid4:20000"),
        ("padded numbers", "--synthetic padded:20000 --nodes 5,7,10"),
        ("few documents", "--synthetic uuid4:10 --nodes 5,12"),
        ("few numbers", "--synthetic sequential:7,start=3 --nodes 4,64"),
        ("random keys", "--synthetic random:20000"),
        ("the sample", ""),
    ] {
        eprintln!("{kind}");
        no_alarm(&synthetic(keys));
    }
}

#[test]
fn a_table_that_was_taken_for_keys_gets_no_all_clear() {
    let rows = |separator: &str| {
        std::iter::once(format!("order_id{separator}tenant{separator}bytes"))
            .chain((0..200).map(|i| format!("{i}{separator}acme{separator}{}", 10 * i)))
            .collect::<Vec<_>>()
    };
    for (separator, word) in [(",", "commas"), (";", "semicolons"), ("\t", "tabs")] {
        let found = inspect("", rows(separator));
        assert_eq!(found["findings"][0]["kind"], "looks_like_columns", "{word}");
        assert_eq!(found["findings"][0]["severity"], "harmful");
        assert!(sentence(&found, "looks_like_columns").contains(word));
        let advice = found["findings"][0]["advice"].as_str().unwrap();
        assert!(advice.contains("--keys-format csv --id-field \"order_id\""), "{advice}");
    }
    let headless = inspect("", (0..200).map(|i| format!("{i},acme,{}", 10 * i)));
    assert!(severities(&headless, "watch").contains(&"looks_like_columns".to_owned()));
    let objects = inspect("", (0..200).map(|i| format!("{{\"_id\":\"{i}\",\"x\":1}}")));
    assert_eq!(objects["findings"][0]["kind"], "looks_like_json");
    // Read as what it is, the same file is quiet.
    let read = inspect("--keys-format csv --id-field order_id", rows(","));
    assert!(severities(&read, "harmful").iter().all(|kind| kind != "looks_like_columns"), "{:#}", read["findings"]);
}

#[test]
fn a_first_line_that_is_no_value_is_suspected() {
    for name in ["id", "customer", "_id"] {
        let found = inspect("", std::iter::once(name.to_owned()).chain((1..500).map(|i| i.to_string())));
        assert_eq!(severities(&found, "watch"), ["first_line_differs"], "{name}");
        assert!(sentence(&found, "first_line_differs").contains(name));
        let advice = found["findings"][0]["advice"].as_str().unwrap();
        assert!(advice.contains("--keys-format csv --id-field"), "{advice}");
    }
    let uuid = |i: u32| format!("{i:08x}-e29b-41d4-a716-446655440000");
    let found = inspect("", std::iter::once("uuid".to_owned()).chain((1..500).map(uuid)));
    assert_eq!(severities(&found, "watch"), ["first_line_differs"]);
    // Words among words, and keys made of parts, are nothing to suspect.
    no_alarm(&inspect("", (0..500).map(|i| format!("user-{i}"))));
    no_alarm(&inspect("", (0..500).map(|i| format!("tenant{}:{i}", i % 7))));
    no_alarm(&inspect("", std::iter::once("id".to_owned()).chain((0..500).map(|i| format!("u{i}")))));
}

#[test]
fn advice_about_partitions_says_where_they_do_next_to_nothing() {
    let rows = (0..1000).map(|i| (format!("d{i}"), if i % 2 == 0 { "acme".to_owned() } else { format!("t{i}") }));
    let found = inspect("--keys-format csv", csv(rows));
    let findings = found["findings"].as_array().unwrap();
    let common = findings.iter().find(|finding| finding["kind"] == "common_value").unwrap();
    let advice = common["advice"].as_str().unwrap();
    for words in [
        "7.0 to 9.3",
        "next to nothing with the default routing shards",
        "as many routing shards as shards",
        "later split",
    ] {
        assert!(advice.contains(words), "{words}: {advice}");
    }
}

#[test]
fn raw_sequential_numbers_hurt_schemes_that_read_positions_and_not_jump() {
    let found = synthetic("--synthetic sequential:100000 --hash identity --nodes 10");
    assert_eq!(severities(&found, "harmful"), Vec::<String>::new());
    // One for each scheme that reads positions, however many there are.
    let watched = severities(&found, "watch");
    assert!(!watched.is_empty() && watched.iter().all(|kind| kind == "raw_positions"), "{watched:?}");
    assert!(placed(&found, "jump", "identity", "peak_to_average")[0] < 1.03);
    assert_eq!(placed(&found, "ring", "identity", "nodes_used"), [1.0]);
}

#[test]
fn times_in_milliseconds_that_tick_in_seconds_are_multiples() {
    let found = synthetic("--synthetic unix-ms:5000 --nodes 8,7");
    assert_eq!(found["numbers"]["looks_like"][0]["kind"], "unix milliseconds");
    assert_eq!(found["numbers"]["divisor_of_differences"], "1000");
    assert_eq!(severities(&found, "harmful"), ["common_divisor"]);
}

#[test]
fn order_of_arrival_is_told_for_numbers_and_texts() {
    for (keys, trend) in [("sequential:1000", "increasing"), ("uuid7:1000", "increasing"), ("uuid4:1000", "neither")] {
        assert_eq!(synthetic(&format!("--synthetic {keys}"))["order"]["trend"], trend, "{keys}");
    }
    assert_eq!(inspect("", (0..1000).rev())["order"]["trend"], "decreasing");
}

#[test]
fn bad_numbers_of_nodes_and_too_little_memory_are_refused() {
    for (flags, says) in [
        ("--nodes 4,,8", "\"\" is no number of nodes"),
        ("--nodes 0", "from 1 to 2147483647"),
        ("--nodes 4,x", "\"x\""),
        ("--synthetic uuid4:100000 --max-memory 1MB", "raise --max-memory"),
        ("--synthetic uuid4:10 --nodes 2147483647", "raise --max-memory"),
        ("--synthetic uuid4:10 --hash identity", "decimal"),
    ] {
        let output = shardlab(flags).output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{flags}");
        assert!(error.contains(says), "{flags}: {error}");
    }
}

#[test]
fn every_form_is_the_same_for_any_number_of_threads() {
    for format in ["table", "json", "csv", "markdown"] {
        let printed = ["1", "3"].map(|threads| {
            let flags = format!("--synthetic zipf-tenants:20000 --threads {threads} --format {format}");
            shardlab(&flags).output().unwrap().stdout
        });
        assert!(!printed[0].is_empty() && printed[0] == printed[1], "{format}");
    }
    let csv = shardlab("--synthetic snowflake:1000 --format csv").output().unwrap().stdout;
    assert!(String::from_utf8(csv).unwrap().starts_with("severity,kind,sentence,advice\nharmful,constant_bits,"));
}

#[test]
fn ids_cannot_steer_a_terminal() {
    let mut command = shardlab("--keys - --nodes 2");
    let output = command.write_stdin("\u{1b}[31mred\n".repeat(50)).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(!output.stdout.contains(&0x1b));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn shares_floors_and_placements_agree(tenants in 1_usize..40, rows in 1_usize..400, seed in 0_u64..1000) {
        let ids = (0..rows as u64).map(|i| format!("t{}", (i * (seed + 1)) % tenants as u64));
        let found = inspect("--nodes 3,8", ids);
        let top: u64 = found["top_values"].as_array().unwrap().iter().map(|top| top["rows"].as_u64().unwrap()).sum();
        prop_assert!(top <= rows as u64);
        for (at, floor) in found["floors"].as_array().unwrap().iter().enumerate() {
            for row in found["placements"].as_array().unwrap().iter().skip(at).step_by(2) {
                let (peak, floor) = (row["peak_to_average"].as_f64().unwrap(), floor["rows_floor"].as_f64().unwrap());
                prop_assert!(peak >= floor * 0.99999, "{} under {}: {}", peak, floor, row);
            }
        }
    }
}
