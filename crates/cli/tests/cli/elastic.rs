//! Questions about Elasticsearch, asked through the command.

use crate::common::{compare_file, counts, file, json, numbers, objects, printed, refusal, route, run, shardlab, text};

fn ids(range: std::ops::Range<u32>) -> impl Iterator<Item = String> {
    range.map(|number| number.to_string())
}

fn differing(a: &[u64], b: &[u64]) -> usize {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).filter(|(a, b)| a != b).count()
}

#[test]
fn the_working_of_one_document_shows_hash_routing_shards_and_shard() {
    let shown = printed(&run("route --scheme elastic:shards=6,created=8.15 --explain 654321"));
    for words in ["1424940152", "1424940152 mod 768 = 632", "632 / 128 = 4"] {
        assert!(shown.contains(words), "{words} in {shown}");
    }
}

#[test]
fn the_working_shows_how_many_routing_shards_there_are_by_default() {
    for (shards, routing_shards) in [(1, 1024), (5, 640), (6, 768), (12, 768), (90, 720), (459, 918), (1024, 2048)] {
        let shown = printed(&run(&format!("route --scheme elastic:shards={shards},created=7.17 --explain 1")));
        assert!(shown.contains(&format!("-126235597 mod {routing_shards} = ")), "{shown}");
        let factor = routing_shards / shards;
        assert!(shown.contains(&format!("{routing_shards} / {shards} = {factor}")), "{shown}");
    }
}

#[test]
fn generations_place_the_same_ids_differently() {
    let ten = |spec: &str| route(spec, ids(1..11));
    assert_eq!(ten("elastic:shards=5,created=8.15"), [4, 3, 0, 1, 0, 3, 2, 2, 0, 2]);
    assert_eq!(ten("elastic:shards=5,created=9.4"), [3, 2, 4, 2, 1, 2, 3, 1, 1, 1]);
    assert_eq!(route("elastic:shards=3,created=8.15", ids(1..6)), [2, 1, 1, 1, 0]);
    let names = ["1", "2", "user-42", "Zoë", "吉星"];
    assert_eq!(route("elastic:shards=5,created=8.x", names), [4, 3, 1, 1, 1]);
    assert_eq!(route("elastic:shards=5,created=opensearch", names), [4, 3, 1, 1, 1]);
    assert_eq!(route("elastic:shards=5,created=9.4", names), [3, 2, 3, 1, 0]);
}

#[test]
fn hashes_are_signed_numbers_of_utf_16_text() {
    let rows = objects(&run("route --scheme elastic:shards=5,created=8.15 --format ndjson 1 2 user-42 Zoë 吉星"));
    let hashes: Vec<i64> = rows.iter().map(|row| row["key"].as_i64().unwrap()).collect();
    assert_eq!(hashes, [-126_235_597, -303_927_213, -1_591_625_367, 1_280_953_131, 1_153_075_330]);
    let utf_8 = shardlab()
        .args(["route", "--scheme", "modulo:nodes=5", "--hash", "murmur3", "--format", "ndjson", "吉 星 高 照"])
        .output()
        .unwrap();
    assert_eq!(objects(&utf_8)[0]["key"].as_u64(), Some(3_435_142_074));
}

#[test]
fn a_version_that_was_not_given_is_assumed_aloud() {
    let output = run("route --scheme elastic:shards=5 1");
    assert!(text(&output.stderr).contains("created was not given"), "{}", text(&output.stderr));
    let comparison = json("compare --nodes 5 --scheme elastic --synthetic sequential:100 --timing off --format json");
    assert_eq!(comparison["rows"][0]["scheme"], "elastic:created=9.4");
    assert!(comparison["notes"].to_string().contains("created was not given"));
}

#[test]
fn a_routing_value_decides_and_an_empty_one_is_none() {
    let node = |routing: &str| {
        let mut command = shardlab();
        command.args(["route", "--scheme", "elastic:shards=5,created=8.15", "--format", "ndjson", "doc-1"]);
        let rows = objects(&command.args(["--routing", routing]).output().unwrap());
        (rows[0]["routing"].clone(), rows[0]["node"].as_u64().unwrap())
    };
    assert_eq!(node("user42"), ("user42".into(), 0));
    assert_eq!(node(""), (serde_json::Value::Null, 2));
}

#[test]
fn counts_of_sequential_ids_are_those_of_a_server() {
    let counted = |nodes: u32, created: &str, keys: &str| {
        counts(&json(&format!(
            "compare --nodes {nodes} --scheme elastic:created={created} --synthetic {keys} --timing off --format json"
        )))
    };
    assert_eq!(counted(5, "8.15", "sequential:1000,start=1"), [221, 202, 185, 193, 199]);
    assert_eq!(counted(3, "1.x", "sequential:100000"), [30_100, 30_000, 39_900]);
    let old = counted(33, "1.x", "sequential:100000");
    assert_eq!(old.iter().filter(|&&count| count == 0).count(), 17);
    assert_eq!(old.iter().filter(|&&count| count == 10_000).count(), 4);
    for (created, least, most) in [("8.15", 2941, 3122), ("9.4", 2963, 3153)] {
        let new = counted(33, created, "sequential:100000");
        assert_eq!((new.iter().min(), new.iter().max()), (Some(&least), Some(&most)), "{created}");
    }
}

#[test]
fn only_the_old_hash_on_numeric_ids_is_structural() {
    let verdict = |nodes: u32, created: &str| {
        json(&format!(
            "compare --nodes {nodes} --scheme elastic:created={created} --synthetic sequential:100000 --timing off \
             --format json"
        ))["rows"][0]["balance"]["verdict"]
            .clone()
    };
    assert_eq!(verdict(33, "1.7"), "structural");
    assert_eq!(verdict(33, "8.15"), "chance");
    assert_eq!(verdict(33, "9.4"), "chance");
    assert_eq!(verdict(3, "8.15"), "chance");
}

#[test]
fn a_plain_remainder_and_routing_shards_disagree_on_most_ids() {
    for (n, expected) in [(3, 662), (5, 806), (7, 865), (8, 878), (12, 912), (16, 935)] {
        let place = |created: &str| route(&format!("elastic:shards={n},created={created}"), ids(1..1001));
        assert_eq!(differing(&place("8.15"), &place("9.4")), expected, "{n} shards");
    }
}

#[test]
fn a_partition_searches_its_shards_and_only_those() {
    let searched = |spec: &str, routing: &str| {
        let mut command = shardlab();
        command.args(["route", "--scheme", spec, "--routing", routing, "--format", "ndjson"]);
        let rows = objects(&command.args((0..200).map(|i| format!("d{i}"))).output().unwrap());
        let list = numbers(&rows[0]["searched"]);
        assert!(list.is_sorted());
        let mut used: Vec<u64> = rows.iter().map(|row| row["node"].as_u64().unwrap()).collect();
        used.sort_unstable();
        used.dedup();
        assert!(used.iter().all(|node| list.contains(node)), "{used:?} in {list:?}");
        assert!(rows.iter().all(|row| numbers(&row["searched"]) == list));
        list
    };
    assert_eq!(searched("elastic:shards=20,created=8.15,partition=3,routing_shards=20", "tenant-7"), [3, 4, 5]);
    assert_eq!(searched("elastic:shards=20,created=9.4,partition=3", "tenant-7"), [3, 4, 5]);
    assert_eq!(searched("elastic:shards=20,created=8.15,partition=3", "tenant-7"), [10]);
}

#[test]
fn a_partition_that_does_nothing_is_warned_of() {
    let documents: String = (0..1000).map(|i| format!("{{\"_id\":\"d{i}\",\"_routing\":\"tenant-7\"}}\n")).collect();
    let documents = file("tenant.ndjson", documents);
    let compare = |spec: &str| -> serde_json::Value {
        serde_json::from_str(&printed(&compare_file(&format!("--nodes 20 --scheme {spec}"), &documents))).unwrap()
    };
    let default = compare("elastic:created=8.15,partition=3");
    assert_eq!(counts(&default)[10], 1000);
    assert!(default["notes"].to_string().contains("WARNING"), "{}", default["notes"]);
    assert_eq!(default["rows"][0]["balance"]["verdict"], "structural");
    let spread = compare("elastic:created=8.15,partition=3,routing_shards=20");
    assert_eq!(counts(&spread)[3..6], [332, 323, 345]);
    assert!(!spread["notes"].to_string().contains("WARNING"), "{}", spread["notes"]);
    assert_eq!(default["keys"]["with_routing"], 1000);
}

#[test]
fn few_routing_values_are_enumerated_and_not_assumed_even() {
    for (n, expected) in
        [(3, [2, 1, 1]), (4, [0, 0, 0]), (5, [4, 3, 0]), (6, [4, 2, 3]), (7, [0, 3, 2]), (8, [0, 0, 1])]
    {
        let lines = "_id,_routing\na,1\nb,2\nc,3\n";
        let mut command = shardlab();
        command.args(["route", "--keys", "-", "--keys-format", "csv", "--format", "ndjson", "--scheme"]);
        let output = command.arg(format!("elastic:shards={n},created=8.15")).write_stdin(lines).output().unwrap();
        let nodes: Vec<u64> = objects(&output).iter().map(|row| row["node"].as_u64().unwrap()).collect();
        assert_eq!(nodes, expected, "{n} shards");
    }
}

#[test]
fn one_large_tenant_is_a_floor_that_only_partitions_lower() {
    let mut rows = "_id,_routing\n".to_owned();
    rows.extend((0..400).map(|i| format!("d{i},acme\n")));
    rows.extend((0..600).map(|i| format!("e{i},t{i}\n")));
    let rows = file("tenants.csv", rows);
    for (n, options, hottest) in [
        (8, "", 472),
        (16, "", 436),
        (32, "", 418),
        (8, ",partition=2,routing_shards=8", 278),
        (8, ",partition=4,routing_shards=8", 186),
    ] {
        let output = compare_file(&format!("--nodes {n} --scheme elastic:created=8.15{options}"), &rows);
        let comparison = serde_json::from_str(&printed(&output)).unwrap();
        assert_eq!(counts(&comparison).into_iter().max(), Some(hottest), "{n} shards{options}");
    }
}

#[test]
fn reindexing_from_6_to_7_moves_routing_values_though_the_count_is_the_same() {
    let values: Vec<String> = (0..100).map(|i| format!("t{i}")).collect();
    let (six, seven) = (route("elastic:shards=5,created=6.8", &values), route("elastic:shards=5,created=7.0", &values));
    assert_eq!(differing(&six, &seven), 85);
}

#[test]
fn a_split_renumbers_documents_that_stay_with_their_parent() {
    let lines: String = (0..20_000).map(|i| format!("doc-{i}\n")).collect();
    let documents = file("ids.txt", lines);
    let flags = "--nodes 12 --scheme elastic:created=8.15 --scheme elastic:created=9.4";
    let comparison: serde_json::Value = serde_json::from_str(&printed(&compare_file(flags, &documents))).unwrap();
    for (row, per_mille) in [(0, 956.0), (1, 496.0)] {
        let double = &comparison["rows"][row]["movement"]["double"];
        assert_eq!((double["moved"].as_f64().unwrap() * 1000.0).round(), per_mille);
        assert_eq!(double["left_parent"].as_f64(), Some(0.0));
    }
}

#[test]
fn what_a_server_refuses_at_creation_names_the_rule() {
    for (spec, words) in [
        ("elastic:shards=4,created=8.15,routing_shards=30", "30 mod 4 = 2; shard counts that divide 30: 1, 2, 3, 5, 6"),
        ("elastic:shards=1025,created=8.15", "1025 shards are above the limit of 1024"),
        ("elastic:shards=5,created=9.x", "9.x spans two generations"),
        ("elastic:shards=0,created=8.15", "shards=\"0\" is not valid"),
    ] {
        let said = refusal(&run(&format!("route --scheme {spec} 1")));
        assert!(said.contains(words), "{said}");
        assert!(run(&format!("route --scheme {spec} 1")).stdout.is_empty());
    }
    assert_eq!(route("elastic:shards=1025,created=8.15,max_shards=1025", ["1"]).len(), 1);
}

#[test]
fn a_change_that_elasticsearch_refuses_says_which_counts_are_near() {
    let comparison =
        json("compare --nodes 12 --scheme elastic:created=7.13 --synthetic sequential:1000 --timing off --format json");
    let movement = &comparison["rows"][0]["movement"];
    let reason = |change: &str| movement[change]["not_applicable"].as_str().unwrap().to_owned();
    assert!(reason("add_one").contains("13 is not a multiple of 12"), "{movement}");
    assert!(reason("remove_last").contains("11 does not divide 12"), "{movement}");
    assert!(reason("remove_last").contains('6') && reason("add_one").contains("24"), "{movement}");
    assert!(movement["double"]["moved"].is_number());
}

#[test]
fn ids_that_differ_in_few_bytes_are_no_alarm() {
    // As servers make them: a clock and a counter in base64, so that neighbours share almost all bytes.
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let lines: String = (0..12_000_u64)
        .map(|i| {
            let number = (1_700_000_000_000 + i / 7) << 24 | i;
            let digits = (0..11).map(|place| char::from(DIGITS[usize::try_from(number >> (6 * place) & 63).unwrap()]));
            format!("{}_Ab3xYz9Q\n", digits.collect::<String>())
        })
        .collect();
    let documents = file("flake.txt", lines);
    for nodes in [5, 8, 12] {
        let flags = format!("--nodes {nodes} --scheme elastic:created=8.15 --scheme elastic:created=9.4");
        let comparison: serde_json::Value = serde_json::from_str(&printed(&compare_file(&flags, &documents))).unwrap();
        for row in comparison["rows"].as_array().unwrap() {
            assert_eq!(row["balance"]["verdict"], "chance", "{row}");
        }
    }
}
