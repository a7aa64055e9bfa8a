//! Copies, requests, machines and single losses in studies.

use serde_json::Value;

use crate::common::{file, json, printed, refusal, run, shardlab, text};

const KEYS: &str = "--synthetic random:60000";

#[test]
fn copies_are_studied_where_a_scheme_has_an_order_of_owners() {
    let rows = json(&format!("what-if rendezvous:nodes=6 --remove 2 --replicas 2 --bytes 600GB {KEYS} --format json"));
    let copies = &rows["replicas"];
    assert_eq!((copies["copies"].as_u64(), copies["copies_after"].as_u64()), (Some(2), Some(2)));
    assert_eq!(copies["lost_every_copy"], 0);
    assert_eq!(copies["lost_first_owner"], copies["kept_a_copy"]);
    // A sixth of all copies was on the node that leaves, and no other copy is made.
    let made = copies["made_fraction"].as_f64().unwrap();
    assert!((made - 1.0 / 6.0).abs() < 0.01 && copies["made_excess_fraction"] == 0.0, "{copies}");
    let bytes = copies["made_bytes"].as_f64().unwrap();
    assert!((bytes / (1200e9 * made) - 1.0).abs() < 1e-3, "{copies}");
    let heirs = &rows["heirs"];
    assert_eq!(heirs["keys"], copies["lost_first_owner"]);
    let parts: f64 = heirs["rows"].as_array().unwrap().iter().map(|heir| heir["fraction"].as_f64().unwrap()).sum();
    assert!((parts - 1.0).abs() < 1e-4);
    assert_eq!(heirs["even_fraction"], 0.2);
    let told = printed(&run(&format!("what-if rendezvous:nodes=6 --remove 2 --replicas 2 {KEYS}")));
    for words in ["copies made, of all copies", "keys that lose every copy", "inherits the most", "grows the most"] {
        assert!(told.contains(words), "{words}: {told}");
    }
    let error = refusal(&run("what-if jump:nodes=6 --grow-to 7 --replicas 2"));
    assert!(error.contains("--replicas: jump names one owner") && error.contains("ring, rendezvous"), "{error}");
    let error = refusal(&run("what-if ring:nodes=6 modulo:nodes=6 --replicas 2"));
    assert!(error.contains("--replicas: modulo names one owner"), "{error}");
    for copies in ["0", "101"] {
        let error = refusal(&run(&format!("what-if ring:nodes=6 --remove 2 --replicas {copies} {KEYS}")));
        assert!(error.contains("1 to 100 can be studied"), "{error}");
    }
}

#[test]
fn a_lost_rack_takes_the_keys_whose_copies_all_stood_in_it() {
    let nodes = file("nodes.csv", "name\nr1-a\nr1-b\nr2-a\nr2-b\nr3-a\nr3-b\n");
    let spec = format!("rendezvous:nodes-file={}", nodes.path.display());
    let lost = |copies: &str| {
        let output = shardlab()
            .args(["what-if", &spec, "--lose-rack", "r2-", "--replicas", copies, "--format", "json"])
            .args(KEYS.split(' '))
            .output()
            .unwrap();
        let rows: Value = serde_json::from_str(&printed(&output)).unwrap();
        rows["replicas"]["lost_every_copy"].as_f64().unwrap() / 60_000.0
    };
    assert!((lost("2") - 1.0 / 15.0).abs() < 0.005);
    assert!(lost("3").abs() < f64::EPSILON, "three copies do not fit into a rack of two");
}

#[test]
fn keys_bytes_and_requests_stand_side_by_side() {
    let keys = file("keys.csv", "_id,size,hits\na,80,1\nb,1,900\nc,1,5\nd,1,5\ne,1,5\n");
    let ask = |more: &[&str]| -> Value {
        let output = shardlab()
            .args(["what-if", "modulo:nodes=1", "modulo:nodes=2", "--weight-field", "size", "--format", "json"])
            .args(more)
            .arg("--keys")
            .arg(&keys.path)
            .output()
            .unwrap();
        serde_json::from_str(&printed(&output)).unwrap()
    };
    let plain = ask(&["--requests-field", "hits"]);
    let sum = |rows: &Value, field: &str| -> u64 {
        rows["per_node"].as_array().unwrap().iter().map(|node| node[field].as_u64().unwrap()).sum()
    };
    assert_eq!((sum(&plain, "keys_after"), sum(&plain, "bytes_after"), sum(&plain, "requests_after")), (5, 84, 916));
    let first = &plain["per_node"][0];
    let net = first["keys_after"].as_i64().unwrap() - first["keys_before"].as_i64().unwrap();
    assert_eq!(first["keys_net"], net);
    assert_eq!(sum(&plain, "requests_in"), plain["moved_requests"].as_u64().unwrap());
    let flows = plain["matrix"].as_array().unwrap();
    assert_eq!(flows.iter().map(|flow| flow["requests"].as_u64().unwrap()).sum::<u64>(), plain["moved_requests"]);
    assert_eq!(plain["requests_per_second"], false);
    let busiest: Vec<&str> =
        plain["busiest"].as_array().unwrap().iter().map(|row| row["measure"].as_str().unwrap()).collect();
    assert_eq!(busiest, ["keys", "bytes", "requests"]);
    let scaled = ask(&["--requests-field", "hits", "--requests", "9160/s"]);
    assert_eq!(sum(&scaled, "requests_after"), 9160);
    assert_eq!(scaled["moved_requests"].as_u64().unwrap(), 10 * plain["moved_requests"].as_u64().unwrap());
    assert_eq!(scaled["requests_per_second"], true);
    let even = ask(&["--requests", "1000"]);
    assert_eq!(sum(&even, "requests_before"), 1000);
    let without = ask(&[]);
    assert!(without["moved_requests"].is_null() && without["per_node"][0]["requests_after"].is_null());
    let told = printed(&run(&format!("what-if ring:nodes=3 --grow-to 4 --requests 50000/s {KEYS}")));
    assert!(told.contains("/s") && told.contains("busiest by") && told.contains("requests after"), "{told}");
    for (line, words) in [
        ("what-if ring:nodes=3 --grow-to 4 --requests many", "no number of requests"),
        ("what-if ring:nodes=3 --grow-to 4 --requests -5", "no number of requests"),
        ("what-if ring:nodes=3 --grow-to 4 --requests-field hits", "--requests-field describes a key file"),
        ("what-if ring:nodes=3 --grow-to 4 --weight-field size", "--weight-field describes a key file"),
        ("what-if ring:nodes=3 --remove-each --requests 5", "--requests is for one change"),
    ] {
        let error = refusal(&run(line));
        assert!(error.contains(words), "{line}: {error}");
    }
}

#[test]
fn a_path_shows_its_machines_step_by_step() {
    let plan = file(
        "growth.toml",
        "start = \"jump:nodes=6\"\nbytes = \"600GB\"\nbandwidth = \"100MB/s\"\n[[step]]\ngrow_to = 9\n[[step]]\nto = \"start\"\n",
    );
    let ask =
        |more: &[&str]| shardlab().args(["plan"]).args(KEYS.split(' ')).args(more).arg(&plan.path).output().unwrap();
    let rows: Value = serde_json::from_str(&printed(&ask(&["--machines", "3", "--format", "json"]))).unwrap();
    let alone = json(&format!(
        "what-if jump:nodes=6 jump:nodes=9 --machines 3 --bytes 600GB --bandwidth 100MB/s {KEYS} --format json"
    ));
    assert_eq!(rows["steps"][0]["machines"], alone["machines"]);
    let between: f64 = (0..2).map(|step| rows["steps"][step]["machines"]["moved_fraction"].as_f64().unwrap()).sum();
    let cumulative = rows["cumulative_between_machines_fraction"].as_f64().unwrap();
    assert!((between - cumulative).abs() < 1e-5 && cumulative < rows["cumulative_fraction"].as_f64().unwrap());
    let machine = &rows["steps"][0]["machines"]["per_machine"][0];
    assert!(machine["keys_in"].is_u64() && machine["bytes_out"].is_u64(), "{machine}");
    let told = printed(&ask(&["--machines", "3"]));
    assert!(told.contains("between machines") && told.contains("Between machines all steps together move"), "{told}");
    assert!(!printed(&ask(&[])).contains("machine"), "nothing about machines where none are given");
    let heavy = file("keys.csv", "_id,size\na,80\nb,1\nc,1\nd,1\ne,1\n");
    let output = shardlab()
        .args(["plan", "--weight-field", "size", "--format", "json", "--keys"])
        .arg(&heavy.path)
        .arg(&plan.path)
        .output()
        .unwrap();
    let weighed: Value = serde_json::from_str(&printed(&output)).unwrap();
    let moved = |place: usize| weighed["steps"][place]["moved_bytes"].as_u64().unwrap();
    assert!(moved(0).abs_diff(moved(1)) <= 2, "back goes what went, up to the byte that sharing out rounds off");
    assert!(moved(0) < 40_000_000_000 || moved(0) > 560_000_000_000, "600 GB by weight, {}", moved(0));
    let table = file("machines.csv", "0,a\n1,a\n2,b\n3,b\n4,c\n5,c\n6,a\n7,b\n");
    let output = ask(&["--machines-file", table.path.to_str().unwrap()]);
    assert!(refusal(&output).contains("does not say where node \"8\" stands"));
}

#[test]
fn a_split_names_what_changes_its_number_apart_from_what_moves() {
    let line = "what-if elastic:shards=12,created=8.15 elastic:shards=24,created=8.15 --machines 3 --bytes 600GB \
                --bandwidth 100MB/s --synthetic sequential:30000";
    let rows = json(&format!("{line} --format json"));
    assert_eq!((&rows["moved_bytes"], &rows["seconds_serial"]), (&0.into(), &0.0.into()));
    for node in rows["per_node"].as_array().unwrap() {
        assert_eq!((&node["bytes_moved_in"], &node["bytes_moved_out"]), (&0.into(), &0.into()));
    }
    let machines = &rows["machines"];
    let carried: u64 =
        machines["per_machine"].as_array().unwrap().iter().map(|machine| machine["bytes_in"].as_u64().unwrap()).sum();
    assert_eq!(machines["moved_bytes"], carried);
    assert!((machines["seconds_serial"].as_f64().unwrap() / (carried as f64 / 1e8) - 1.0).abs() < 1e-4);
    let told = printed(&run(line));
    for words in ["shard number changed", "left its parent, data moved", "number changed in", "carried there whole"] {
        assert!(told.contains(words), "{words}: {told}");
    }
    assert!(!told.contains("bottleneck"), "nothing passes a node's door: {told}");
    let reindex = printed(&run(
        "what-if elastic:shards=12,created=8.15 elastic:shards=18,created=8.15 --bytes 600GB --bandwidth 100MB/s --synthetic sequential:30000",
    ));
    assert!(reindex.contains("data written anew") && reindex.contains("6000 s"), "{reindex}");
}

#[test]
fn what_people_do_in_place_of_a_refused_change_has_its_time() {
    let told = printed(&run(&format!("what-if jump:nodes=10 --remove 5 --bytes 600GB --bandwidth 100MB/s {KEYS}")));
    assert!(told.contains("moved data") && told.contains("in sequence") && told.contains("all at work"), "{told}");
    let each = json(&format!("what-if modulo:nodes=5 --remove-each {KEYS} --format json"));
    assert!(each["not_applicable"].as_str().unwrap().contains("only the last node"));
    let alternatives = each["alternatives"].as_array().unwrap();
    assert_eq!(alternatives.len(), 2);
    let moved = |row: &Value, place: usize| row["rows"][place]["moved_fraction"].as_f64().unwrap();
    for place in 0..5 {
        let renumbered = json(&format!("what-if modulo:nodes=5 --renumber {place} {KEYS} --format json"));
        assert_eq!(alternatives[0]["rows"][place]["moved_fraction"], renumbered["moved_fraction"]);
        assert!(moved(&alternatives[1], place) <= moved(&alternatives[0], place));
    }
    let told = printed(&run(&format!("what-if jump:nodes=5 --remove-each {KEYS}")));
    assert!(told.contains("close up the list (renumber)") && told.contains("put the last node in its place"), "{told}");
    assert!(told.contains("A survivor grows by"), "{told}");
}

#[test]
fn single_losses_are_one_table_that_says_what_is_done_about_each() {
    for (spec, changes) in [
        ("ring", &["remove the node"][..]),
        ("jump", &["close up the list (renumber)", "put the last node in its place"]),
    ] {
        let printed = printed(&run(&format!("what-if {spec}:nodes=4 --remove-each {KEYS} --format csv")));
        let expected: Vec<String> =
            changes.iter().flat_map(|change| (0..4).map(move |node| format!("{change},{node},"))).collect();
        let mut lines = printed.lines();
        assert!(lines.next().unwrap().starts_with("change,node lost,moved,"), "{printed}");
        let lines: Vec<&str> = lines.collect();
        assert_eq!(lines.len(), expected.len(), "{printed}");
        assert!(lines.iter().zip(&expected).all(|(line, start)| line.starts_with(start.as_str())), "{printed}");
    }
}

#[test]
fn more_machines_than_memory_has_room_for_are_refused() {
    let plan = file("one.toml", "start = \"ring:nodes=3\"\n[[step]]\ngrow_to = 4\n");
    for line in [
        format!("what-if ring:nodes=3 --grow-to 4 --machines 4294967295 {KEYS}"),
        format!("plan {} --machines 4294967295 {KEYS}", plan.path.display()),
    ] {
        let error = refusal(&run(&line));
        assert!(error.contains("the rows of 4294967295 machines") && error.contains("--max-memory"), "{error}");
    }
    for flags in ["--grow-to -1", "--shrink-to -1", "--grow-to 4 --machines -1", "--grow-to 4 --replicas -1"] {
        let error = refusal(&run(&format!("what-if ring:nodes=3 {flags} {KEYS}")));
        let flag = flags.rsplit("--").next().unwrap().split(' ').next().unwrap();
        assert!(error.contains("invalid value '-1'") && error.contains(&format!("--{flag} <")), "{error}");
    }
}

#[test]
fn questions_that_are_nearly_right_are_answered_with_what_is() {
    let bare = run(&format!("what-if ring:nodes=3 --grow-to 4 --bytes 600 {KEYS}"));
    printed(&bare);
    assert!(text(&bare.stderr).contains("note: --bytes: 600 has no unit and was taken as bytes"));
    let named = run(&format!("what-if ring:nodes=3 --grow-to 4 --bytes 600B {KEYS}"));
    assert!(!text(&named.stderr).contains("unit"));
    for flag in ["--nodes-file a.csv", "--nodes-file", "--nodes 5"] {
        let error = refusal(&run(&format!("what-if ring:nodes=3 --grow-to 4 {flag}")));
        assert!(error.contains("each spec says which nodes it has, as in ring:nodes"), "{flag}: {error}");
    }
    let error = refusal(&run("what-if ring:nodes=3 --remove 3"));
    assert!(error.contains("there is no node \"3\"; the 3 nodes are \"0\" to \"2\""), "{error}");
    for command in ["what-if", "plan"] {
        let help = printed(&run(&format!("{command} --help")));
        let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(help.contains("Without --keys and --synthetic, random:1"), "{help}");
    }
}

#[test]
fn a_large_matrix_is_told_by_its_largest_flows() {
    let told = printed(&run(&format!("what-if jump:nodes=200 modulo:nodes=200 {KEYS}")));
    assert!(told.contains("The largest flows from node to node:"), "{told}");
    assert!(
        told.contains("more, see --format json.") && told.contains("136 more, see --format csv or json."),
        "{told}"
    );
    assert!(told.lines().count() < 150, "{}", told.lines().count());
    let csv = printed(&run(&format!("what-if jump:nodes=200 modulo:nodes=200 --format csv {KEYS}")));
    assert_eq!(csv.lines().count(), 201, "CSV has every node");
    let many = printed(&run(&format!("what-if rendezvous:nodes=100 --lose-rack 1 --machines 90 {KEYS}")));
    assert!(many.contains("90 machines, see --format json."), "{many}");
    assert!(many.contains("nodes take over the keys of those that leave, see --format json."), "{many}");
    let small = printed(&run(&format!("what-if ring:nodes=3 --grow-to 4 {KEYS}")));
    assert!(!small.contains("more, see"), "{small}");
}
