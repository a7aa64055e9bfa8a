//! Verdicts about counts that somebody already has.

use crate::common::{json, numbers, printed, refusal, run, shardlab};

#[test]
fn skew_of_a_large_index_is_told_from_chance() {
    let balance = json("verdict --format json --counts 414182,388317,362089,342782,324263,318252,304890,297171,288496");
    assert_eq!(numbers(&balance["counts"]).iter().sum::<u64>(), 3_040_442);
    assert_eq!(balance["verdict"], "structural");
    assert!((balance["peak_to_average"].as_f64().unwrap() - 1.226).abs() < 0.0005);
    assert!((balance["chi_square"].as_f64().unwrap() - 43_605.0).abs() < 1.0);
    let said = printed(&run("verdict --counts 414182,388317,362089,342782,324263,318252,304890,297171,288496"));
    assert!(said.contains("±548") && said.contains("ids") && said.contains("routing"), "{said}");
}

#[test]
fn empty_shards_with_few_documents_are_expected() {
    // How many documents, on how many shards, and the probability that one at least stays empty.
    for (documents, shards, probability) in [(10, 5, 0.4775), (100, 20, 0.1135), (1000, 100, 0.0043)] {
        let mut counts = vec![documents / (shards - 1); shards - 1];
        counts[0] += documents - counts.iter().sum::<usize>();
        counts.push(0);
        let list = counts.iter().map(usize::to_string).collect::<Vec<_>>().join(",");
        let balance = json(&format!("verdict --format json --counts {list}"));
        let found = balance["empty_probability"].as_f64().unwrap();
        assert!((found - probability).abs() < 0.00006, "{documents} on {shards}: {found}");
        assert_ne!(balance["verdict"], "structural");
        let said = printed(&run(&format!("verdict --counts {list}")));
        assert!(
            said.contains(&format!("1 of {shards} nodes are empty")) && said.contains(&format!("{probability}")),
            "{said}"
        );
    }
}

#[test]
fn the_text_of_cat_shards_may_come_from_stdin() {
    let text = "index shard prirep state docs store ip node\nlogs 1 p STARTED 990 1mb 127.0.0.1 a\nlogs 0 p STARTED 1010 \
                1mb 127.0.0.1 b\nlogs 0 r STARTED 1010 1mb 127.0.0.1 a\n";
    let mut command = shardlab();
    let output =
        command.args(["verdict", "--counts-file", "-", "--format", "json"]).write_stdin(text).output().unwrap();
    let verdicts: serde_json::Value = serde_json::from_str(&printed(&output)).unwrap();
    assert_eq!(verdicts[0]["index"], "logs");
    assert_eq!(numbers(&verdicts[0]["counts"]), [1010, 990], "in the order of the shards, without replicas");
    assert_eq!(verdicts[0]["verdict"], "chance");
}

#[test]
fn several_indices_pay_for_being_several() {
    let index = |name: &str| format!("{name} 0 p STARTED 1000 1mb\n{name} 1 p STARTED 1100 1mb\n");
    let p_value = |text: String| {
        let mut command = shardlab();
        let output =
            command.args(["verdict", "--counts-file", "-", "--format", "json"]).write_stdin(text).output().unwrap();
        serde_json::from_str::<serde_json::Value>(&printed(&output)).unwrap()[0]["p_value"].as_f64().unwrap()
    };
    let (alone, among_ten) = (p_value(index("a")), p_value(('a'..='j').map(|name| index(&name.to_string())).collect()));
    assert!(among_ten > 5.0 * alone, "{alone} {among_ten}");
}

#[test]
fn what_is_no_count_is_refused_with_its_place() {
    for (list, words) in [
        ("1,x", "\"x\": a count is a whole number"),
        ("1,-2", "\"-2\": a count is a whole number"),
        ("-1,2", "\"-1\": a count is a whole number"),
        ("1,,2", "a count is missing"),
        (",1", "a count is missing"),
        (",", "no counts"),
        ("1e3", "\"1e3\": a count is a whole number"),
        ("18446744073709551615,1", "2^64 or more"),
    ] {
        let said = refusal(&run(&format!("verdict --counts {list}")));
        assert!(said.contains(words), "{list}: {said}");
    }
}
