//! The fields that outside programs rely on, and the promise that nothing but times ever differs.

use serde_json::Value;

use crate::common::{file, json, objects, printed, run, shardlab};

fn assert_keys(object: &Value, names: &[&str]) {
    for name in names {
        assert!(object.get(name).is_some(), "{name} is missing in {object}");
    }
}

fn assert_balance(balance: &Value) {
    let numbers = [
        "peak_to_average",
        "min_to_average",
        "cv",
        "chi_square",
        "p_value",
        "noise_floor_cv",
        "expected_cv",
        "keys_per_node",
    ];
    assert_keys(balance, &numbers);
    for name in numbers {
        assert!(balance[name].as_f64().is_some_and(|number| number >= 0.0), "{name}: {}", balance[name]);
    }
    assert!(balance["counts"].as_array().unwrap().iter().all(Value::is_u64));
    assert!(["too few keys", "structural", "chance"].contains(&balance["verdict"].as_str().unwrap()));
}

#[test]
fn a_comparison_has_every_field() {
    let comparison = json("compare --nodes 5 --synthetic sequential:20000 --timing off --format json");
    let rows = comparison["rows"].as_array().unwrap();
    assert!(rows.len() >= 7);
    for row in rows {
        assert!(row["scheme"].is_string());
        assert_balance(&row["balance"]);
        let counts = row["balance"]["counts"].as_array().unwrap();
        assert_eq!(counts.len(), 5);
        assert_eq!(counts.iter().map(|count| count.as_u64().unwrap()).sum::<u64>(), 20_000);
        assert_keys(&row["movement"], &["add_one", "remove_last", "remove_middle", "double"]);
        for (name, change) in row["movement"].as_object().unwrap() {
            if let Some(reason) = change.get("not_applicable") {
                assert!(reason.as_str().is_some_and(|reason| !reason.is_empty()), "{name}");
                assert_eq!(change.as_object().unwrap().len(), 1, "a reason stands in place of numbers");
                continue;
            }
            let part = |part: &str| change[part].as_f64().unwrap();
            for name in ["moved", "minimum", "excess", "disruption", "ideal"] {
                assert!((0.0..=1.0).contains(&part(name)), "{name}: {change}");
            }
            assert!((part("moved") - part("minimum") - part("excess")).abs() < 2e-6, "{change}");
        }
        assert!(row["heap_bytes"].is_u64());
        for name in ["build_ns", "lookup_ns", "throughput_ns"] {
            assert!(row[name].is_null(), "{name}: {}", row[name]);
        }
    }
    let keys = &comparison["keys"];
    assert_eq!((keys["read"].as_u64(), keys["accepted"].as_u64()), (Some(20_000), Some(20_000)));
    assert!(keys["skipped"].is_array() && keys["consecutive_duplicates"].is_u64());
    assert!(keys["description"].is_string() && keys["digest"].is_string());
    assert!(keys.get("distinct").is_none(), "it is counted with --distinct alone");
    assert!(comparison["tool"].is_string() && comparison["seed"].is_u64());
    assert!(comparison["timings"].is_null());
}

#[test]
fn times_are_positive_and_stand_in_their_own_fields() {
    let comparison = json(
        "compare --nodes 3 --scheme jump --scheme ring:vnodes=10 --synthetic random:20000 --format json --threads 2",
    );
    for row in comparison["rows"].as_array().unwrap() {
        for name in ["build_ns", "lookup_ns", "throughput_ns"] {
            assert!(row[name].as_f64().is_some_and(|time| time > 0.0), "{name}: {}", row[name]);
        }
    }
    let timings = &comparison["timings"];
    assert!(timings.is_object());
    assert_eq!(timings["threads"], 2);
    assert!(timings["command"].as_str().unwrap().starts_with("shardlab compare --nodes 3"));
    assert!(timings["machine"].is_string());
}

#[test]
fn only_times_tell_one_run_from_another() {
    let with_times = |threads: &str| {
        let line = "compare --nodes 7 --scheme jump --scheme maglev:table=101 --synthetic uuid4:70000 --format json";
        let mut comparison = json(&format!("{line} --threads {threads}"));
        comparison["timings"] = Value::Null;
        for row in comparison["rows"].as_array_mut().unwrap() {
            for name in ["build_ns", "lookup_ns", "throughput_ns"] {
                row[name] = Value::Null;
            }
        }
        comparison
    };
    let without = json(
        "compare --nodes 7 --scheme jump --scheme maglev:table=101 --synthetic uuid4:70000 --format json --timing off",
    );
    let mut with = with_times("2");
    // The reading says in words what the times are.
    let words = |comparison: &mut Value| comparison.as_object_mut().unwrap().remove("reading").unwrap();
    assert!(words(&mut with).to_string().contains("ns"));
    let mut without = without;
    assert!(!words(&mut without).to_string().contains(" ns"));
    assert_eq!(with, without);
}

#[test]
fn without_times_the_output_is_the_same_bytes_for_any_number_of_threads() {
    for format in ["table", "json", "csv", "markdown"] {
        let line =
            format!("compare --nodes 7 --synthetic zipf-tenants:150000 --timing off --distinct --format {format}");
        let once = printed(&run(&line));
        for threads in [1, 2, 3] {
            assert!(printed(&run(&format!("{line} --threads {threads}"))) == once, "{format}, {threads} threads");
        }
    }
}

#[test]
fn routing_twice_prints_the_same_bytes() {
    let line = "route --nodes 12 --synthetic uuid4:500 --seed 7 --format ndjson";
    assert!(printed(&run(line)) == printed(&run(line)));
    assert!(printed(&run(line)) != printed(&run(&line.replace("--seed 7", "--seed 8"))));
}

#[test]
fn a_routed_key_has_every_field_in_the_form_of_its_hash() {
    for (hash, is_number, negative) in [
        ("es-murmur3", true, true),
        ("djb2", true, true),
        ("java", true, true),
        ("murmur3", true, false),
        ("xxh3", false, false),
        ("fnv1a", false, false),
    ] {
        let line = format!("route --scheme modulo:nodes=7 --hash {hash} --synthetic uuid4:200 --format ndjson");
        let rows = objects(&run(&line));
        assert_eq!(rows.len(), 200);
        let mut below_zero = 0;
        for row in &rows {
            assert!(row["id"].is_string() && row["routing"].is_null() && row.get("searched").is_none(), "{row}");
            assert_eq!(row["scheme"], "modulo");
            let node = row["node"].as_u64().unwrap();
            assert_eq!(row["node_name"], node.to_string());
            if is_number {
                let key = row["key"].as_i64().unwrap();
                below_zero += u32::from(key < 0);
                assert!(key <= i64::from(u32::MAX), "{key}");
            } else {
                let key: u64 = row["key"].as_str().unwrap().parse().unwrap();
                assert_eq!(key % 7, node, "the key is the one that is placed");
            }
        }
        assert_eq!(below_zero > 0, negative, "{hash}");
    }
    let rows = objects(&run("route --scheme modulo:nodes=7 --hash identity --format ndjson 18446744073709551615"));
    assert_eq!(rows[0]["key"], "18446744073709551615");
}

#[test]
fn the_key_of_a_partitioned_document_is_the_sum_that_is_placed() {
    let spec = "elastic:shards=5,created=8.15,partition=3,routing_shards=5";
    let key = |line: &str| objects(&run(line))[0]["key"].as_i64().unwrap();
    let routing = key("route --scheme elastic:shards=5,created=8.15 --format ndjson user42");
    let id = key("route --scheme elastic:shards=5,created=8.15 --format ndjson doc-1");
    let rows = objects(&run(&format!("route --scheme {spec} --routing user42 --format ndjson doc-1")));
    assert_eq!(rows[0]["key"].as_i64(), Some(routing + id.rem_euclid(3)));
    assert_eq!(rows[0]["routing"], "user42");
    assert!(rows[0]["searched"].is_array());
    assert_eq!(rows[0]["scheme"], "elastic:created=8.15,partition=3,routing_shards=5");
}

#[test]
fn node_is_a_position_and_node_name_a_name() {
    let nodes = file("nodes.csv", "name,weight\nzeta,3\nalpha,1\nmid,2\n");
    let mut command = shardlab();
    command.args([
        "route",
        "--scheme",
        "rendezvous",
        "--format",
        "ndjson",
        "--synthetic",
        "random:300",
        "--nodes-file",
    ]);
    let rows = objects(&command.arg(&nodes.path).output().unwrap());
    for row in &rows {
        let node = usize::try_from(row["node"].as_u64().unwrap()).unwrap();
        assert_eq!(row["node_name"], ["zeta", "alpha", "mid"][node]);
    }
    assert!((0..3_u64).all(|node| rows.iter().any(|row| row["node"] == node)));
}

#[test]
fn keys_come_key_by_key_and_within_a_key_scheme_by_scheme() {
    let rows = objects(&run("route --nodes 4 --scheme ring --scheme jump --format ndjson b a"));
    let order: Vec<(&str, &str)> =
        rows.iter().map(|row| (row["id"].as_str().unwrap(), row["scheme"].as_str().unwrap())).collect();
    assert_eq!(order, [("b", "ring"), ("b", "jump"), ("a", "ring"), ("a", "jump")]);
}

#[test]
fn the_json_array_holds_the_objects_of_ndjson() {
    let line = "route --nodes 4 --scheme ring --scheme jump --synthetic padded:5 --format";
    let array: Vec<Value> = serde_json::from_str(&printed(&run(&format!("{line} json")))).unwrap();
    assert_eq!(array, objects(&run(&format!("{line} ndjson"))));
}

#[test]
fn a_verdict_is_a_balance_object() {
    let balance = json("verdict --counts 221,202,185,193,199 --format json");
    assert_balance(&balance);
    let names = |object: &Value| object.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    let line = "compare --nodes 5 --scheme elastic:created=8.15 --synthetic sequential:1000,start=1 --timing off --format json";
    let compared = &json(line)["rows"][0]["balance"];
    assert_eq!(names(&balance), names(compared));
    for name in ["counts", "cv", "chi_square", "p_value", "noise_floor_cv", "verdict"] {
        assert_eq!(balance[name], compared[name], "{name}");
    }
}

#[test]
fn a_default_row_that_cannot_be_built_says_why_and_a_named_one_is_an_error() {
    let nodes = file("nodes.csv", "a,1\nb,2\n");
    let mut command = shardlab();
    command.args(["compare", "--timing", "off", "--format", "json", "--synthetic", "random:1000", "--nodes-file"]);
    let comparison: Value = serde_json::from_str(&printed(&command.arg(&nodes.path).output().unwrap())).unwrap();
    let rows = comparison["rows"].as_array().unwrap();
    let without: Vec<&Value> = rows.iter().filter(|row| row.get("not_applicable").is_some()).collect();
    assert!(without.iter().any(|row| row["scheme"] == "jump") && without.len() < rows.len());
    for row in without {
        assert!(row["not_applicable"].as_str().unwrap().contains("no weights"), "{row}");
        assert!(row.get("balance").is_none());
    }
    let mut command = shardlab();
    command.args(["route", "--format", "ndjson", "a", "--nodes-file"]);
    let output = command.arg(&nodes.path).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("jump is left out: jump takes no weights"), "{said}");
    assert!(objects(&output).iter().all(|row| row["scheme"] != "jump"));
}

#[test]
fn the_schemes_are_listed_with_promises_options_and_sources() {
    let listed = json("schemes --format json");
    for scheme in listed["schemes"].as_array().unwrap() {
        assert_keys(scheme, &["scheme", "summary", "resizing", "disruption", "weights", "options", "citation"]);
        let name = scheme["scheme"].as_str().unwrap();
        let rows = objects(&run(&format!("route --scheme {name} --nodes 3 --format ndjson 1")));
        assert_eq!(rows[0]["scheme"], scheme["default_spec"]);
        for format in ["table", "markdown", "csv"] {
            assert!(printed(&run(&format!("schemes --format {format}"))).contains(name));
        }
    }
}
