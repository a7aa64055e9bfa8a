//! Input that looks like something else, and that a careless reader would take for it.

use crate::common::{file, json, printed, refusal, run, shardlab};

#[test]
fn a_line_feed_in_a_key_or_a_name_forges_no_row() {
    let key = "x\n victim  jump  16629034431890738719     2   2";
    let output = shardlab().args(["route", "--nodes", "3", "--scheme", "jump", key]).output().unwrap();
    assert_eq!(printed(&output).lines().count(), 3, "{}", printed(&output));
    let nodes = file("nodes.csv", "\"n\n evil  jump  1  9  9\"\nother\n");
    let output =
        shardlab().args(["route", "--scheme", "ring", "k", "l", "--nodes-file"]).arg(&nodes.path).output().unwrap();
    assert_eq!(printed(&output).lines().count(), 4, "{}", printed(&output));
    let output = shardlab().args(["route", "--nodes-file", "x\nnote: all is well", "--scheme", "ring", "k"]).output();
    assert_eq!(refusal(&output.unwrap()).lines().count(), 1);
}

#[test]
fn a_nodes_file_that_is_nearly_right_is_refused() {
    for (text, words) in [
        ("name,weight\n\"a,1\nb,2\nc,3\n", ":2: a quoted field is never closed"),
        ("name\nb,5\n", ":2: the row has 2 fields, and the header 1"),
        ("name,weight\nb\n", ":2: the row has 1 field, and the header 2"),
        ("name,name\na,b\n", "looks like a header"),
        ("Name,Weight\na,1\n", "looks like a header"),
        ("weight\n3\n", "looks like a header"),
        ("a;1\nb;2\n", ":1: name: \"a;1\": columns are parted by commas"),
        ("a\n\nb\n", ":2: the line is empty"),
    ] {
        let nodes = file("nodes.csv", text);
        let output =
            shardlab().args(["compare", "--scheme", "ring", "--nodes-file"]).arg(&nodes.path).output().unwrap();
        let error = refusal(&output);
        assert!(error.contains(words), "{text:?}: {error}");
    }
}

#[test]
fn a_hash_for_keys_that_need_none_is_refused_and_none_is_shown() {
    let error = refusal(&run("compare --synthetic random:1000 --hash murmur3 --timing off"));
    assert!(error.contains("--hash does nothing for --synthetic random:1000"), "{error}");
    let comparison = json("compare --synthetic random:1000 --timing off --format json");
    assert!(comparison["rows"].as_array().unwrap().iter().all(|row| row["hash"] == "none"));
    let routed = json("route --synthetic random:3 --scheme elastic:shards=5,created=8.15 --format json");
    assert!(routed.as_array().unwrap().iter().all(|row| row["key"] == row["id"] && row["key"].is_string()));
    assert!(refusal(&run("compare --skip-bad --timing off")).contains("--skip-bad"));
}

#[test]
fn a_table_of_shards_without_its_header_is_not_guessed() {
    let text = "idx 0 p 1000 7\nidx 1 p 1010 90\n";
    let output = shardlab().args(["verdict", "--counts-file", "-"]).write_stdin(text).output().unwrap();
    assert!(refusal(&output).contains("keep the header (?v)"));
    assert!(
        refusal(&shardlab().args(["verdict", "--counts", "58,856 18,389"]).output().unwrap()).contains("one of them")
    );
}

#[test]
fn indices_that_cannot_be_uneven_do_not_soften_the_verdict_on_others() {
    let mut text = String::from("index shard prirep state docs\n");
    for i in 0..2000 {
        text.push_str(&format!("single-{i} 0 p STARTED 100\n"));
    }
    for (shard, docs) in [1150, 1000, 900].iter().enumerate() {
        text.push_str(&format!("skewed {shard} p STARTED {docs}\n"));
    }
    let output =
        shardlab().args(["verdict", "--format", "json", "--counts-file", "-"]).write_stdin(text).output().unwrap();
    let verdicts: serde_json::Value = serde_json::from_str(&printed(&output)).unwrap();
    let skewed = verdicts.as_array().unwrap().iter().find(|one| one["index"] == "skewed").unwrap();
    let alone = json("verdict --counts 1150,1000,900 --format json");
    assert_eq!(skewed["p_value"], alone["p_value"]);
    assert_eq!(skewed["verdict"], "structural");
}
