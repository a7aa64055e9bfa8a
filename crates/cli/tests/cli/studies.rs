//! What-if studies, paths and the gate, through the command.

use serde_json::Value;

use crate::common::{file, json, printed, refusal, run, shardlab, text};

const KEYS: &str = "--synthetic random:300000";

/// The number of a field, within a part of what is expected.
fn within(rows: &Value, field: &str, expected: f64, part: f64) {
    let measured = rows[field].as_f64().unwrap_or_else(|| panic!("{field} of {rows}"));
    assert!((measured / expected - 1.0).abs() < part, "{field}: {measured} in place of {expected}");
}

#[test]
fn twelve_to_eighteen_shards_of_600_gb_answer_as_the_review_asks() {
    let ask = |from: &str, to: &str| {
        json(&format!("what-if {from} {to} {KEYS} --bytes 600GB --bandwidth 100MB/s --format json"))
    };
    let jump = ask("jump:nodes=12", "jump:nodes=18");
    within(&jump, "moved_bytes", 200e9, 0.01);
    within(&jump, "seconds_serial", 2000.0, 0.01);
    within(&jump, "seconds_parallel", 333.3, 0.03);
    assert_eq!((&jump["excess_fraction"], &jump["monotone"]), (&0.0.into(), &true.into()));
    let modulo = ask("modulo:nodes=12", "modulo:nodes=18");
    within(&modulo, "moved_bytes", 400e9, 0.01);
    within(&modulo, "seconds_serial", 4000.0, 0.01);
    let reindex = ask("elastic:shards=12,created=8.15", "elastic:shards=18,created=8.15");
    assert_eq!(reindex["rewritten_bytes"], 600_000_000_000_u64);
    assert_eq!(reindex["exact_moved_fraction"], 0.944_444);
    within(&reindex, "moved_fraction", 17.0 / 18.0, 0.002);
    assert_eq!(reindex["left_parent_fraction"], Value::Null);
    let refused = json(&format!("what-if elastic:shards=12,created=8.15 --grow-to 18 {KEYS} --format json"));
    assert!(
        refused["not_applicable"]
            .as_str()
            .unwrap()
            .contains("18 is not a multiple of 12; nearest legal counts: 6 and 24")
    );
}

#[test]
fn a_study_has_every_field_that_programs_rely_on() {
    let rows = json(&format!("what-if ring:nodes=3 ring:nodes=4 {KEYS} --bytes 1GB --bandwidth 10MB/s --format json"));
    for field in [
        "moved_fraction",
        "minimum_fraction",
        "excess_fraction",
        "disruption_fraction",
        "ideal_fraction",
        "seconds_serial",
        "seconds_parallel",
        "moved_keys",
        "moved_bytes",
        "rewritten_bytes",
    ] {
        assert!(rows[field].is_number(), "{field}: {}", rows[field]);
    }
    assert!(rows["monotone"].is_boolean() && rows["left_parent_fraction"].is_null());
    for side in ["before", "after"] {
        assert!(rows[side]["peak_to_average"].is_number() && rows[side]["verdict"].is_string());
    }
    let nodes = rows["per_node"].as_array().unwrap();
    assert_eq!(nodes.len(), 4);
    for node in nodes {
        for field in [
            "node",
            "keys_before",
            "keys_after",
            "keys_in",
            "keys_out",
            "bytes_before",
            "bytes_after",
            "bytes_in",
            "bytes_out",
        ] {
            assert!(node[field].is_number(), "{field} of {node}");
        }
        assert!(node["node_name"].is_string());
    }
    for flow in rows["matrix"].as_array().unwrap() {
        assert_eq!(flow["to"], 3, "a ring moves to the new node alone");
        assert!(flow["from"].is_number() && flow["keys"].is_number() && flow["bytes"].is_number());
    }
    let without = json(&format!("what-if ring:nodes=3 ring:nodes=4 {KEYS} --format json"));
    assert!(without["moved_bytes"].is_null() && without["seconds_serial"].is_null());
}

#[test]
fn threads_never_change_a_study() {
    let with = |threads: u32| {
        printed(&run(&format!("what-if maglev:nodes=7 --remove 3 {KEYS} --threads {threads} --format json")))
    };
    assert_eq!(with(1), with(2));
    assert_eq!(with(1), with(3));
}

#[test]
fn a_weight_column_gives_the_bytes() {
    let keys = file("keys.csv", "_id,size\na,80\nb,1\nc,1\nd,1\n");
    let output = shardlab()
        .args(["what-if", "modulo:nodes=1", "modulo:nodes=2", "--weight-field", "size", "--format", "json", "--keys"])
        .arg(&keys.path)
        .output()
        .unwrap();
    let rows: Value = serde_json::from_str(&printed(&output)).unwrap();
    let total: u64 =
        rows["per_node"].as_array().unwrap().iter().map(|node| node["bytes_after"].as_u64().unwrap()).sum();
    assert_eq!(total, 83);
}

#[test]
fn questions_that_make_no_sense_say_what_would() {
    for (line, words) in [
        ("what-if jump:nodes=3", "say where it goes"),
        ("what-if jump jump:nodes=3", "does not say how many nodes there are"),
        ("what-if jump:nodes=3 jump:nodes=4 --grow-to 5", "cannot be used with"),
        ("what-if jump:nodes=3 --grow-to 2", "cannot grow from 3 to 2 nodes"),
        ("what-if ring:nodes=3 --remove nobody", "there is no node \"nobody\""),
        ("what-if ring:nodes=1 --remove 0", "only node"),
        ("what-if ring:nodes=3 --reweight 1", "not of the form NAME=WEIGHT"),
        (
            "what-if ring:nodes=3 --reweight 1=0.5",
            "--reweight: \"0.5\": a weight is a whole number from 1 to 4294967295",
        ),
        ("what-if ring:nodes=3 --reorder 0,1", "in the new order"),
        ("what-if jump:nodes=3 --grow-to 4 --bandwidth 100", "not a rate"),
        ("what-if jump:nodes=3 --grow-to 4 --require peak", "not of the form METRIC<=NUMBER"),
        (
            "what-if jump:nodes=3 --grow-to 4 --synthetic random:100 --require mooved<=1",
            "there is no number \"mooved\"",
        ),
        ("what-if ring:nodes=100000 ring:nodes=100001 --max-memory 10MB", "--max-memory"),
    ] {
        let error = refusal(&run(line));
        assert!(error.contains(words), "{line}: {error}");
    }
}

#[test]
fn the_gate_ends_with_1_and_names_the_line_that_fails() {
    let line = format!("what-if jump:nodes=10 --grow-to 11 {KEYS} --format json");
    for (requirement, code) in [("moved<=0.12", 0), ("disruption==0", 0), ("moved<=0.05", 1), ("left_parent==0", 1)] {
        let output = shardlab().args(line.split(' ')).args(["--require", requirement]).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{requirement}");
        assert!(serde_json::from_slice::<Value>(&output.stdout).is_ok(), "the result is printed all the same");
        assert_eq!(text(&output.stderr).contains(requirement), code == 1, "{}", text(&output.stderr));
    }
    let refused = run("what-if jump:nodes=10 --remove 3 --synthetic random:1000 --require moved<=1");
    assert_eq!(refused.status.code(), Some(1));
    let compare = run("compare --timing off --scheme ring --scheme jump --require peak<=1.1 --format csv");
    assert_eq!((compare.status.code(), text(&compare.stderr).lines().count()), (Some(1), 1));
    assert!(text(&compare.stderr).starts_with("ring: peak<=1.1 is not met"));
    assert_eq!(run("compare --timing off --scheme jump --require remove_middle.moved<=0.5").status.code(), Some(1));
}

#[test]
fn a_path_is_dearer_than_going_straight_and_a_ring_finds_its_way_back() {
    let plan = file(
        "growth.toml",
        "start = \"ring:nodes=12\"\nbytes = \"600GB\"\n[[step]]\ngrow_to = 16\n[[step]]\nremove = \"3\"\n[[step]]\nadd = [\"x\", \
         \"y=2\"]\n[[step]]\nto = \"start\"\n",
    );
    let output =
        shardlab().args(["plan", "--synthetic", "random:50000", "--format", "json"]).arg(&plan.path).output().unwrap();
    let rows: Value = serde_json::from_str(&printed(&output)).unwrap();
    assert_eq!(rows["steps"].as_array().unwrap().len(), 4);
    assert_eq!((&rows["restores_the_first_mapping"], &rows["straight_fraction"]), (&true.into(), &0.0.into()));
    assert!(rows["cumulative_fraction"].as_f64().unwrap() > 0.5);
    assert!(rows["moved_more_than_once_fraction"].as_f64().unwrap() > 0.2);
    assert_eq!(
        rows["times_moved"].as_array().unwrap().iter().map(|count| count.as_u64().unwrap()).sum::<u64>(),
        50_000
    );
    let stops = file("stops.toml", "start = \"jump:nodes=4\"\n[[step]]\nremove = \"1\"\n[[step]]\ngrow_to = 9\n");
    let output = shardlab().args(["plan", "--synthetic", "random:1000"]).arg(&stops.path).output().unwrap();
    let text = printed(&output);
    assert!(
        text.contains("The path stops at step 1") && text.contains("only the last node (\"3\") can leave"),
        "{text}"
    );
    assert!(!text.contains("All steps together"), "a path that goes nowhere is not free: {text}");
    let gate =
        shardlab().args(["plan", "--synthetic", "random:1000", "--require", "cumulative<=1"]).arg(&stops.path).output();
    assert_eq!(gate.unwrap().status.code(), Some(1));
}

#[test]
fn plans_that_cannot_be_read_name_line_and_field() {
    for (plan, words) in [
        ("", "missing field `start`"),
        ("start = \"ring:nodes=3\"\n", "no [[step]]"),
        ("start = \"ring\"\n[[step]]\ngrow_to = 4\n", "start: the scheme \"ring\" does not say how many nodes"),
        ("start = \"ring:nodes=3\"\n[[step]]\n", "step 1: no change"),
        ("start = \"ring:nodes=3\"\n[[step]]\ngrow_to = 4\nremove = \"1\"\n", "step 1: several changes"),
        ("start = \"ring:nodes=3\"\n[[step]]\ngrow = 4\n", ":3: unknown field `grow`"),
        ("start = \"ring:nodes=3\"\nbytes = \"many\"\n[[step]]\ngrow_to = 4\n", "bytes: \"many\" is not a size"),
        ("start = \"ring:nodes=3\"\n[[step]]\ngrow_to = 2\n", "step 1: cannot grow from 3 to 2 nodes"),
    ] {
        let output = shardlab().args(["plan", "-"]).write_stdin(plan).output().unwrap();
        let error = refusal(&output);
        assert!(error.contains(words), "{plan:?}: {error}");
    }
}

#[test]
fn machines_behind_the_nodes_are_judged_apart_from_the_nodes() {
    // Five equal shards, all on one machine of five.
    let rows: String = (0..5)
        .map(|node| format!("{node},node2\n"))
        .chain(["x,node1\ny,node3\nz,node4\nw,node5\n".to_owned()])
        .collect();
    let table = file("machines.csv", format!("node,machine\n{rows}"));
    let output = shardlab()
        .args([
            "what-if",
            "jump:nodes=5",
            "jump:nodes=4",
            "--synthetic",
            "random:100000",
            "--format",
            "json",
            "--machines-file",
        ])
        .arg(&table.path)
        .output()
        .unwrap();
    let study: Value = serde_json::from_str(&printed(&output)).unwrap();
    assert_eq!(study["machines"]["before"]["peak_to_average"], 5.0);
    assert!(study["before"]["peak_to_average"].as_f64().unwrap() < 1.02);
    assert_eq!(study["machines"]["moved_fraction"], 0.0, "everything stays on its machine");
    let split = json(
        "what-if elastic:shards=3,created=9.4 elastic:shards=6,created=9.4 --machines 3 --synthetic sequential:30000 --format json",
    );
    assert_eq!(split["machines"]["moved_fraction"], 0.0, "shard s and its child s + 3 share a machine");
    let older = json(
        "what-if elastic:shards=3,created=8.15 elastic:shards=6,created=8.15 --machines 3 --synthetic sequential:30000 --format json",
    );
    assert!(older["machines"]["moved_fraction"].as_f64().unwrap() > 0.5, "children 2s and 2s + 1 do not");
    let missing = file("machines.csv", "0,a\n1,b\n");
    let output =
        shardlab().args(["what-if", "jump:nodes=2", "--grow-to", "3", "--machines-file"]).arg(&missing.path).output();
    assert!(refusal(&output.unwrap()).contains("does not say where node \"2\" stands"));
    assert!(refusal(&run("what-if jump:nodes=2 --grow-to 3 --machines 0")).contains("at least one machine"));
}

#[test]
fn the_loss_of_each_node_names_the_worst_and_the_heirs() {
    let each = json("what-if ring:nodes=5,vnodes=3 --remove-each --synthetic random:50000 --format json");
    let rows = each["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 5);
    let moved: Vec<f64> = rows.iter().map(|row| row["moved_fraction"].as_f64().unwrap()).collect();
    assert!((moved.iter().sum::<f64>() - 1.0).abs() < 1e-3, "each key is lost once: {moved:?}");
    let worst = moved.iter().copied().fold(0.0, f64::max);
    assert_eq!(each["worst_moved_fraction"], worst);
    for (node, row) in rows.iter().enumerate() {
        let alone =
            json(&format!("what-if ring:nodes=5,vnodes=3 --remove {node} --synthetic random:50000 --format json"));
        assert_eq!(row["moved_fraction"], alone["moved_fraction"]);
        assert_eq!(row["peak_after"], alone["after"]["peak_to_average"]);
        assert_ne!(row["heir"], row["node_name"]);
        assert!(row["heir_fraction"].as_f64().unwrap() >= 0.25, "four heirs at most");
    }
    let growth: f64 = rows.iter().map(|row| row["largest_growth"].as_f64().unwrap()).fold(0.0, f64::max);
    assert_eq!(each["worst_growth"], growth);
    assert!(printed(&run("what-if jump:nodes=5 --remove-each --synthetic random:10")).contains("only the last node"));
}

#[test]
fn a_comparison_says_which_hash_and_whose_fault_a_skew_is() {
    let tenants = file("docs.csv", {
        let rows: String = (0..20_000)
            .map(|i| format!("d{i},{}\n", if i % 5 < 2 { "acme".to_owned() } else { format!("t{i}") }))
            .collect();
        format!("_id,_routing\n{rows}")
    });
    let output =
        shardlab().args(["compare", "--timing", "off", "--nodes", "12", "--keys"]).arg(&tenants.path).output().unwrap();
    let text = printed(&output);
    assert!(
        text.contains("Hash before each scheme: es-murmur3 (elastic:created=8.15, elastic:created=9.4); xxh3 (modulo,"),
        "{text}"
    );
    let beyond = text.lines().find(|line| line.contains("Beyond chance")).unwrap();
    assert!(beyond.contains("maglev (peak") && beyond.contains("its own shares give 1.0"), "{beyond}");
    let raw = printed(&run("compare --timing off --scheme modulo --hash identity --synthetic sequential:1000"));
    assert!(raw.contains("Hash before each scheme: identity."), "{raw}");
}
