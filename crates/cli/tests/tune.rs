//! `tune`: the smallest value that meets a target of balance, held against published tables.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use assert_cmd::Command;
use proptest::prelude::*;
use serde_json::Value;

fn shardlab(flags: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_shardlab"));
    command.arg("tune").args(flags.split_whitespace());
    command
}

fn json(mut command: Command) -> Value {
    let output = command.args(["--format", "json"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn tune(flags: &str) -> Value {
    json(shardlab(flags))
}

fn with_keys(flags: &str, lines: &str) -> Value {
    let mut command = shardlab(flags);
    command.args(["--keys", "-", "--keys-format", "csv"]).write_stdin(lines);
    json(command)
}

fn answer(tuning: &Value, question: &str) -> Value {
    let answers = tuning["answers"].as_array().unwrap();
    answers.iter().find(|answer| answer["question"] == question).unwrap_or_else(|| panic!("{question}")).clone()
}

fn value(tuning: &Value, question: &str) -> u64 {
    answer(tuning, question)["value"].as_u64().unwrap()
}

fn tried(tuning: &Value, value: u64) -> Value {
    let tried = tuning["tried"].as_array().unwrap();
    tried.iter().find(|tried| tried["value"].as_u64() == Some(value)).unwrap_or_else(|| panic!("{value}")).clone()
}

fn number(row: &Value, field: &str) -> f64 {
    row[field].as_f64().unwrap()
}

#[test]
fn ten_nodes_need_some_250_points_for_ten_percent_on_average_and_600_for_nearly_all_names() {
    let tuning = tune("ring --nodes 10 --peak 1.10 --draws 300");
    assert!((220..=280).contains(&value(&tuning, "mean")), "{tuning:#}");
    assert!((500..=720).contains(&value(&tuning, "quantile")), "{tuning:#}");
    assert_eq!(tuning["value"].as_u64(), Some(value(&tuning, "quantile")));
    let (default, more) = (tried(&tuning, 160), tried(&tuning, 256));
    assert!((1.115..=1.135).contains(&number(&default, "mean")), "{default}");
    assert!((1.09..=1.105).contains(&number(&more, "mean")), "{more}");
    assert!(number(&tried(&tuning, 1024), "mean") < 1.06);
}

#[test]
fn an_answer_meets_the_target_and_its_neighbour_below_does_not() {
    let tuning = tune("ring --nodes 5 --peak 1.25 --draws 100");
    for (question, field) in [("mean", "mean"), ("quantile", "quantile"), ("these_names", "these_names")] {
        let found = value(&tuning, question);
        assert!(number(&tried(&tuning, found), field) <= 1.25);
        assert!(number(&tried(&tuning, found - 1), field) > 1.25, "{question}");
    }
    let price = answer(&tuning, "quantile");
    assert_eq!(price["heap_bytes"], tried(&tuning, value(&tuning, "quantile"))["heap_bytes"]);
    assert_eq!(price["loss"]["disruption"].as_f64(), Some(0.0));
    assert!((0.1..0.3).contains(&number(&price["loss"], "moved")), "{price}");
    assert!(price["build_ns"].is_null());
}

#[test]
fn a_table_is_the_next_prime_from_which_on_the_target_is_promised() {
    let tuning = tune("maglev --nodes 100 --peak 1.10");
    // The promise 1 + 99/M is at most 1.1 from 990 on.
    assert_eq!((tuning["value"].as_u64(), tuning["spec"].as_str()), (Some(991), Some("maglev:table=991")));
    assert!((number(&tried(&tuning, 1009), "these_names") - 1.0902).abs() < 0.0001);
    let (small, advised) = (answer(&tuning, "quantile"), answer(&tuning, "advised"));
    assert_eq!(advised["value"].as_u64(), Some(10_007));
    assert!(number(&small["loss"], "disruption") > number(&advised["loss"], "disruption"));
    assert_eq!(tune("maglev --nodes 10 --peak 1.10")["value"].as_u64(), Some(97));
}

#[test]
fn a_nodes_file_is_answered_for_its_very_names_and_weights() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("nodes.csv");
    std::fs::write(&path, "name,weight\nalpha,1\nbeta,2\ngamma,5\n").unwrap();
    let mut command = shardlab("ring --peak 1.2 --draws 100");
    command.arg("--nodes-file").arg(&path);
    let tuning = json(command);
    assert_eq!((tuning["nodes"].as_u64(), tuning["weighted"].as_bool()), (Some(3), Some(true)));
    assert!(number(&tried(&tuning, value(&tuning, "these_names")), "these_names") <= 1.2);
    std::fs::write(&path, "name\nalpha\nbeta\ngamma\n").unwrap();
    let mut command = shardlab("ring --peak 1.2 --draws 100");
    command.arg("--nodes-file").arg(&path);
    let (named, numbered) = (json(command), tune("ring --nodes 3 --peak 1.2 --draws 100"));
    assert_eq!(tried(&named, 16)["mean"], tried(&numbered, 16)["mean"]);
    assert_ne!(tried(&named, 16)["these_names"], tried(&numbered, 16)["these_names"]);
}

fn tenants(rows: impl IntoIterator<Item = (String, u64)>) -> String {
    let rows = rows.into_iter().enumerate().map(|(i, (tenant, bytes))| format!("d{i},{tenant},{bytes}\n"));
    std::iter::once("_id,routing,bytes\n".to_owned()).chain(rows).collect()
}

#[test]
fn no_value_helps_against_one_large_tenant_or_document() {
    let acme = (0..400).map(|_| ("acme".to_owned(), 1)).chain((0..600).map(|i| (format!("t{i}"), 1)));
    let tuning = with_keys("ring --nodes 8 --peak 1.5 --draws 20", &tenants(acme));
    assert!(tuning["value"].is_null());
    let reason = tuning["impossible"].as_str().unwrap();
    assert!(reason.contains("\"acme\"") && reason.contains("3.200") && reason.contains("up to 3"), "{reason}");
    let heavy = std::iter::once(("big".to_owned(), 80)).chain((0..20).map(|i| (format!("s{i}"), 1)));
    let tuning = with_keys("ring --nodes 3 --peak 2.3 --draws 20 --weight-field bytes", &tenants(heavy.clone()));
    assert!(tuning["impossible"].as_str().unwrap().contains("2.400"));
    let tuning = with_keys("ring --nodes 3 --peak 2.3 --draws 20", &tenants(heavy));
    assert!(tuning["impossible"].is_null());
}

#[test]
fn few_tenants_are_tried_at_each_number_of_shards() {
    let three = tenants((0..300).map(|i| ((i % 3 + 1).to_string(), 1)));
    let tuning = with_keys("elastic:created=8.15 --nodes 3 --peak 1.7", &three);
    assert_eq!((tuning["option"].as_str(), tuning["value"].as_u64()), (Some("nodes"), Some(5)));
    let counts = tuning["node_counts"].as_array().unwrap();
    let peaks: Vec<f64> = counts[2..8].iter().map(|count| number(count, "these_keys")).collect();
    assert_eq!(peaks, [2.0, 4.0, 1.66667, 2.0, 2.33333, 5.33333]);
    let tuning = with_keys("elastic:created=8.15 --nodes 3 --peak 1.1", &three);
    assert!(tuning["value"].is_null() && tuning["impossible"].is_null());
}

#[test]
fn documents_of_a_partitioned_index_are_placed_one_by_one() {
    let acme = tenants((0..2000).map(|i| (if i < 400 { "acme".to_owned() } else { format!("t{i}") }, 1)));
    let flags = "elastic:created=8.15,partition=4,routing_shards=8 --nodes 8 --peak 1.6";
    let tuning = with_keys(flags, &acme);
    assert!(tuning["impossible"].is_null());
    assert_eq!(tuning["value"].as_u64(), Some(8), "{:#}", tuning["node_counts"]);
    assert!(with_keys("elastic:created=8.15 --nodes 8 --peak 1.5", &acme)["impossible"].is_string());
}

#[test]
fn the_measured_peak_of_keys_is_an_answer_of_its_own() {
    let tuning = tune("ring --nodes 6 --peak 1.2 --draws 50 --synthetic uuid4:20000");
    let found = tried(&tuning, value(&tuning, "these_keys"));
    assert!(number(&found, "these_keys") <= 1.2);
    assert!((number(&found, "these_keys") / number(&found, "these_names") - 1.0).abs() < 0.05);
    let few = tune("ring --nodes 6 --peak 1.05 --draws 20 --max-memory 1MB --synthetic uuid4:100");
    let notes = few["notes"].to_string();
    assert!(notes.contains("by chance under any hash"), "{notes}");
    let reason = answer(&few, "these_keys")["not_reached"].to_string();
    assert!(few["answers"].as_array().unwrap().len() == 4 && reason.contains("--max-memory"), "{reason}");
}

#[test]
fn what_cannot_be_tuned_is_refused_with_a_reason() {
    for (flags, says) in [
        ("jump --nodes 8 --peak 1.1", "has no option that sets its balance"),
        ("ring --nodes 8 --peak 1", "above 1"),
        ("ring --nodes 8 --peak 1e1", "decimal number"),
        ("ring --nodes 8 --peak 1.1 --confidence 1", "between 0 and 1"),
        ("ring --peak 1.1", "--nodes N or --nodes-file FILE"),
        ("ring:nodes=3 --nodes 8 --peak 1.1", "both give the membership"),
        ("ring --nodes 8 --peak 1.1 --hash fnv1a", "--hash does nothing without keys"),
        ("ring --nodes 8 --peak 1.1 --id-field x", "--id-field"),
        ("rings --nodes 8 --peak 1.1", "there is no scheme"),
        ("ring --nodes 8 --peak 1.1 --draws 5", "20..=10000"),
    ] {
        let output = shardlab(flags).output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{flags}: {}", String::from_utf8_lossy(&output.stdout));
        assert!(error.contains(says), "{flags}: {error}");
    }
}

#[test]
fn every_form_is_the_same_for_any_number_of_threads() {
    for format in ["table", "json", "csv", "markdown"] {
        let printed = ["1", "3"].map(|threads| {
            let flags = format!("ring --nodes 4 --peak 1.3 --draws 30 --threads {threads} --format {format}");
            shardlab(&flags).output().unwrap().stdout
        });
        assert!(!printed[0].is_empty() && printed[0] == printed[1], "{format}");
    }
    let timed = tune("maglev --nodes 4 --peak 1.3 --timing on");
    assert!(number(&answer(&timed, "quantile"), "build_ns") > 0.0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn a_promised_table_keeps_its_promise_in_every_larger_one(nodes in 2_u32..40, percent in 2_u32..60) {
        let peak = 1.0 + f64::from(percent) / 100.0;
        let tuning = tune(&format!("maglev --nodes {nodes} --peak {peak}"));
        let found = tuning["value"].as_u64().unwrap();
        // The closed form: the smallest prime from (n − 1) / (peak − 1) on that has a slot for each node.
        let least = (f64::from(nodes - 1) / (peak - 1.0) - 1e-6).max(f64::from(nodes));
        let is_prime = |n: u64| n > 1 && (2..n).take_while(|d| d * d <= n).all(|d| !n.is_multiple_of(d));
        let prime = (2..).find(|&n: &u64| is_prime(n) && f64::from(u32::try_from(n).unwrap()) >= least).unwrap();
        prop_assert_eq!(found, prime);
        for row in tuning["tried"].as_array().unwrap() {
            if row["value"].as_u64().unwrap() >= found {
                prop_assert!(number(row, "these_names") <= peak + 1e-5, "{}", row);
            }
        }
    }
}
