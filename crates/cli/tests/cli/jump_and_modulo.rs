//! Questions about jump and modulo, asked through the command.

use crate::common::{
    assert_near, compare_file, counts, file, json, moved, objects, printed, refusal, route, route_with, run, shardlab,
};

fn numbered(numbers: impl IntoIterator<Item = u64>) -> Vec<String> {
    numbers.into_iter().map(|number| number.to_string()).collect()
}

fn identity(spec: &str, numbers: impl IntoIterator<Item = u64>) -> Vec<u64> {
    route_with(&format!("--hash identity --scheme {spec}"), numbered(numbers))
}

fn used(nodes: &[u64]) -> usize {
    nodes.iter().collect::<std::collections::BTreeSet<_>>().len()
}

fn differing(a: &[u64], b: &[u64]) -> usize {
    a.iter().zip(b).filter(|(a, b)| a != b).count()
}

#[test]
fn jump_agrees_with_published_pairs() {
    for (key, nodes, bucket) in
        [(1, 1, 0), (42, 57, 43), (0xDEAD_10CC, 1, 0), (0xDEAD_10CC, 666, 361), (256, 1024, 520)]
    {
        for rounding in ["paper", "guava"] {
            assert_eq!(identity(&format!("jump:nodes={nodes},rounding={rounding}"), [key]), [bucket], "{key} {nodes}");
        }
    }
}

#[test]
fn one_key_looks_as_if_everything_moved_and_many_show_the_half() {
    assert_eq!((identity("jump:nodes=10", [10_000]), identity("jump:nodes=20", [10_000])), (vec![6], vec![18]));
    let keys = || 0..10_000;
    assert_eq!(differing(&identity("jump:nodes=10", keys()), &identity("jump:nodes=20", keys())), 5000);
    let comparison = json(
        "compare --nodes 10 --scheme jump --hash identity --synthetic sequential:10000 --timing off --format json --distinct",
    );
    assert_eq!(moved(&comparison, 0, "double"), 0.5);
    assert_eq!(comparison["keys"]["distinct"], 10_000);
}

#[test]
fn balance_alone_hides_what_modulo_moves() {
    let keys = || 1..98;
    let comparison = json(
        "compare --nodes 2 --scheme jump --scheme modulo --hash identity --synthetic sequential:97,start=1 --timing off \
         --format json",
    );
    assert_eq!(counts(&comparison), [49, 48]);
    assert_eq!((moved(&comparison, 0, "add_one") * 97.0).round(), 31.0);
    assert_eq!((moved(&comparison, 1, "add_one") * 97.0).round(), 64.0);
    let mut of_three = [0; 3];
    for node in identity("jump:nodes=3", keys()) {
        of_three[usize::try_from(node).unwrap()] += 1;
    }
    assert_eq!(of_three, [34, 32, 31]);
}

#[test]
fn each_step_moves_what_theory_says() {
    for n in 1..10_u32 {
        let comparison = json(&format!(
            "compare --nodes {n} --scheme jump --scheme modulo --synthetic random:20000 --timing off --format json"
        ));
        let steps = f64::from(n);
        assert_near(moved(&comparison, 0, "add_one"), 1.0 / (steps + 1.0), 20_000.0);
        assert_near(moved(&comparison, 1, "add_one"), steps / (steps + 1.0), 20_000.0);
    }
}

#[test]
fn a_middle_node_cannot_leave_and_no_other_scenario_takes_its_place() {
    let comparison = json(
        "compare --nodes 10 --scheme jump --scheme modulo --scheme rendezvous --synthetic random:20000 --timing off \
         --format json",
    );
    for row in [0, 1] {
        let movement = &comparison["rows"][row]["movement"];
        assert_eq!(movement["remove_middle"]["not_applicable"], "only the last node (\"9\") can leave");
        assert!(movement["remove_last"]["moved"].is_number());
    }
    assert_near(moved(&comparison, 2, "remove_middle"), 0.1, 20_000.0);
}

/// The fraction of keys whose owner has another name by the second list, and how much of it was needless.
fn renamed(before: &[&str], after: &[&str], keys: &[String]) -> (f64, f64) {
    let owners = |names: &[&str]| -> Vec<String> {
        let nodes = file("nodes.csv", names.join("\n"));
        let mut command = shardlab();
        command
            .args(["route", "--scheme", "jump", "--keys", "-", "--format", "ndjson", "--nodes-file"])
            .arg(&nodes.path);
        let rows = objects(&command.write_stdin(keys.join("\n")).output().unwrap());
        rows.iter().map(|row| row["node_name"].as_str().unwrap().to_owned()).collect()
    };
    let (old, new) = (owners(before), owners(after));
    let moved = old.iter().zip(&new).filter(|(a, b)| a != b);
    // Between nodes that are in both lists nothing has to move.
    let needless =
        moved.clone().filter(|(a, b)| after.contains(&a.as_str()) && before.contains(&b.as_str())).count() as f64;
    (moved.count() as f64 / keys.len() as f64, needless / keys.len() as f64)
}

#[test]
fn compacting_the_list_of_jump_renames_most_owners() {
    let keys: Vec<String> = (0..20_000).map(|i| format!("order-{i}")).collect();
    let four = ["n0", "n1", "n2", "n3"];
    let ten = ["n0", "n1", "n2", "n3", "n4", "n5", "n6", "n7", "n8", "n9"];
    for (list, gone, moved, needless) in [
        (&four[..], "n1", 0.667, 0.417),
        (&ten[..], "n0", 0.989, 0.889),
        (&ten[..], "n5", 0.489, 0.389),
        (&ten[..], "n9", 0.1, 0.0),
    ] {
        let rest: Vec<&str> = list.iter().copied().filter(|name| *name != gone).collect();
        let (measured, without_need) = renamed(list, &rest, &keys);
        assert_near(measured, moved, 20_000.0);
        assert_near(without_need, needless, 20_000.0);
    }
}

#[test]
fn a_node_that_sorts_first_shifts_every_bucket_of_jump() {
    let keys: Vec<String> = (0..20_000).map(|i| format!("order-{i}")).collect();
    let (moved, _) = renamed(&["b", "c", "d"], &["a", "b", "c", "d"], &keys);
    assert_near(moved, 11.0 / 12.0, 20_000.0);
    let (moved, needless) = renamed(&["b", "c", "d"], &["b", "c", "d", "a"], &keys);
    assert_near(moved, 0.25, 20_000.0);
    assert_eq!(needless, 0.0);
}

#[test]
fn a_number_of_160_bits_is_refused_and_never_reduced_silently() {
    // The SHA-1 of "abc" as a number.
    let key = "968236873715988614170569073515315707566766479517";
    let said = refusal(&run(&format!("route --scheme jump:nodes=5 --hash identity {key}")));
    assert!(said.contains("2^64 or more") && said.contains("identity"), "{said}");
    // Its low 64 bits, for whoever reduces it on purpose.
    assert_eq!(identity("jump:nodes=5", [0x7850_C26C_9CD0_D89D]), [2]);
}

#[test]
fn no_nodes_and_fewer_are_refused() {
    for line in [
        "route --scheme jump:nodes=0 1",
        "route --scheme jump:nodes=-3 1",
        "route --nodes 0 --scheme jump 1",
        "route --nodes -3 --scheme jump 1",
        "compare --nodes 0 --scheme jump",
        "compare --nodes=-3 --scheme jump",
    ] {
        let said = refusal(&run(line));
        assert!(said.contains("whole number from 1 to 2147483647"), "{line}: {said}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn the_largest_membership_of_jump_takes_no_memory() {
    let mut command = assert_cmd::Command::new("sh");
    command.args(["-c", "ulimit -v 200000; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_shardlab")]);
    command.args(["route", "--scheme", "jump:nodes=2147483647", "--hash", "identity", "--format", "ndjson", "10000"]);
    let rows = objects(&command.output().unwrap());
    assert_eq!((rows[0]["node"].as_u64(), rows[0]["node_name"].as_str()), (Some(239_753_582), Some("239753582")));
}

fn snowflakes(toggle: u64) -> impl Iterator<Item = u64> {
    (0..1000).map(move |i| (1_000_000 + 37 * i) << 22 | 1 << 12 | (i & toggle))
}

#[test]
fn snowflake_ids_fall_into_few_buckets_of_a_power_of_two() {
    for (n, buckets) in [(4, 1), (8, 1), (16, 1), (1024, 1), (12, 3), (5, 5), (7, 7), (1000, 125)] {
        assert_eq!(used(&identity(&format!("modulo:nodes={n}"), snowflakes(0))), buckets, "n = {n}");
    }
    for n in [4, 16, 256] {
        assert_eq!(used(&identity(&format!("modulo:nodes={n}"), snowflakes(1))), 2, "n = {n}");
    }
    let line = |hash: &str| {
        json(&format!(
            "compare --nodes 16 --scheme modulo {hash} --synthetic snowflake:1000 --timing off --format json"
        ))["rows"][0]["balance"]
            .clone()
    };
    let (plain, hashed) = (line("--hash identity"), line(""));
    assert_eq!((plain["verdict"].as_str(), hashed["verdict"].as_str()), (Some("structural"), Some("chance")));
    assert_eq!(plain["counts"].as_array().unwrap().iter().filter(|count| count.as_u64() == Some(1000)).count(), 1);
    let most = hashed["peak_to_average"].as_f64().unwrap() * 62.5;
    assert!((66.0..=96.0).contains(&most), "{most}");
}

#[test]
fn multiples_of_ten_use_n_over_gcd_buckets() {
    for (n, buckets) in [(4, 2), (5, 1), (6, 3), (7, 7), (8, 4), (10, 1), (12, 6)] {
        let nodes = identity(&format!("modulo:nodes={n}"), (0..200).map(|i| 10 * i));
        assert_eq!(used(&nodes), buckets, "n = {n}");
    }
}

#[test]
fn dense_integers_are_perfectly_even_and_no_alarm() {
    let line = "compare --nodes 10 --scheme modulo --synthetic sequential:1000000 --timing off --format json";
    let plain = json(&format!("{line} --hash identity"));
    assert_eq!(counts(&plain), [100_000; 10]);
    assert_eq!(plain["rows"][0]["balance"]["verdict"], "chance");
    let hashed = json(line);
    assert!(counts(&hashed).iter().all(|&count| count.abs_diff(100_000) < 1_300), "{:?}", counts(&hashed));
    assert_eq!(hashed["rows"][0]["balance"]["verdict"], "chance");
}

#[test]
fn ids_that_went_through_a_double_are_few_and_crowded() {
    const FIRST: u64 = 1_610_521_604_143_693_812;
    // A double of this size keeps multiples of 256.
    let rounded = (0..1000).map(|i| (FIRST + i + 128) / 256 * 256);
    let lines = |numbers: Vec<String>| file("ids.txt", numbers.join("\n"));
    let compare = |numbers| -> serde_json::Value {
        let flags = "--nodes 8 --scheme modulo --hash identity --distinct";
        serde_json::from_str(&printed(&compare_file(flags, &lines(numbers)))).unwrap()
    };
    let crowded = compare(numbered(rounded));
    assert_eq!(crowded["keys"]["distinct"], 5);
    assert_eq!(counts(&crowded), [5, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(counts(&compare(numbered((0..1000).map(|i| FIRST + i)))), [125; 8]);
}

#[test]
fn java_hash_codes_take_the_floor_modulus() {
    for (n, bucket) in [(2, 0), (3, 1), (4, 0), (5, 2), (7, 5), (8, 0)] {
        let nodes = route_with(&format!("--hash java --scheme modulo:signed=i32,nodes={n}"), ["polygenelubricants"]);
        assert_eq!(nodes, [bucket], "n = {n}");
    }
    let short = || (0..100).map(|i| format!("k{i:02}"));
    assert_eq!(used(&route_with("--hash java --scheme modulo:signed=i32,nodes=31", short())), 10);
    assert_eq!(used(&route_with("--hash java --scheme modulo:signed=i32,nodes=32", short())), 19);
}

#[test]
fn doubling_modulo_moves_exactly_half_of_dense_numbers() {
    let keys = || 0..8_000;
    assert_eq!(differing(&identity("modulo:nodes=4", keys()), &identity("modulo:nodes=8", keys())), 4_000);
}

#[test]
fn resizing_modulo_moves_what_the_residues_say() {
    let keys: Vec<String> = (0..20_000).map(|i| format!("order-{i}")).collect();
    for (from, to, expected) in
        [(12, 18, 2.0 / 3.0), (4, 8, 0.5), (8, 12, 2.0 / 3.0), (3, 4, 0.75), (10, 11, 10.0 / 11.0)]
    {
        let place = |n: u32| route(&format!("modulo:nodes={n}"), &keys);
        let changed = differing(&place(from), &place(to)) as f64;
        assert_near(changed / 20_000.0, expected, 20_000.0);
    }
}
