//! Plans of splits and shrinks: known questions through the command, rows of a real server through the
//! function behind it.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::num::NonZeroU64;

use assert_cmd::Command;
use serde_json::{Value, json};
use shardlab_core::rows::{How, SplitPlan};
use shardlab_core::{Members, RefusalKind, ResizeOperation};
use shardlab_report::{Format, fit, split_plan_text};
use shardlab_study::{Side, SplitRequest, StudyError, split_plan};

const ERRORS: &str = include_str!("../../scheme-elastic/tests/data/errors.tsv");
const LEGAL: &str = include_str!("../../scheme-elastic/tests/data/resize_legal.tsv");
const MAP: &str = include_str!("../../scheme-elastic/tests/data/resize_map.tsv");

fn shardlab(arguments: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_shardlab"));
    command.arg("split-plan").args(arguments.split_whitespace());
    command
}

fn json(arguments: &str) -> Value {
    let output = shardlab(arguments).args(["--format", "json"]).unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}

fn text(arguments: &str) -> String {
    String::from_utf8(shardlab(arguments).unwrap().stdout).unwrap()
}

fn request(spec: &str, shards: u32, to: Option<u32>) -> Result<SplitRequest, StudyError> {
    let scheme = shardlab_schemes::parse(spec).unwrap().scheme;
    Ok(SplitRequest {
        before: Side::new(scheme, &Members::dense(shards).unwrap(), None, 1 << 30)?,
        to,
        reindex: Vec::new(),
        bytes: None,
        docs: None,
        max_shard_bytes: None,
        shard_heap: None,
        one_shard: None,
        bandwidth: None,
        hard_links: true,
        seed: 42,
        threads: 1,
        max_memory: 1 << 30,
    })
}

fn planned(request: &SplitRequest) -> Result<SplitPlan, StudyError> {
    split_plan(request, None, false, &|_| {})
}

fn plan(spec: &str, shards: u32, to: impl Into<Option<u32>>) -> SplitPlan {
    planned(&request(spec, shards, to.into()).unwrap()).unwrap()
}

fn chains(plan: &SplitPlan) -> Vec<Vec<u32>> {
    plan.chains.iter().map(|chain| chain.iter().map(|step| step.to).collect()).collect()
}

fn rows(data: &str) -> impl Iterator<Item = Vec<&str>> {
    data.lines().filter(|line| !line.starts_with('#') && !line.is_empty()).map(|line| line.split('\t').collect())
}

fn numbers(list: &str) -> Vec<u32> {
    list.trim_matches(['[', ']']).split(',').map(|number| number.trim().parse().unwrap()).collect()
}

#[test]
fn a_multiple_that_does_not_divide_the_routing_shards_is_refused_with_the_remainder() {
    let plan = json("--shards 6 --created 7.13 --to 54");
    assert_eq!(plan["legal"], json!(false));
    assert_eq!(plan["refused_by"], json!("not_dividing_routing_shards"));
    assert_eq!(plan["operation"], json!(null));
    assert_eq!(plan["rule_verified"], json!(true));
    assert_eq!(plan["legal_splits"], json!([12, 24, 48, 96, 192, 384, 768]));
    assert_eq!(plan["legal_shrinks"], json!([1, 2, 3]));
    assert_eq!((&plan["nearest_below"], &plan["nearest_above"]), (&json!(48), &json!(96)));
    let text = text("--shards 6 --created 7.13 --to 54");
    assert!(text.contains("768 mod 54 = 12") && text.contains("nearest legal counts: 48 and 96"), "{text}");
    assert!(text.contains("12, 24, 48, 96, 192, 384, 768"), "{text}");
}

#[test]
fn which_rule_failed_is_said() {
    for (to, legal, rule) in [
        (18, false, json!("not_a_multiple")),
        (24, true, json!(null)),
        (36, false, json!("not_dividing_routing_shards")),
    ] {
        let plan = json(&format!("--shards 12 --created 8.15 --to {to}"));
        assert_eq!((&plan["legal"], &plan["refused_by"]), (&json!(legal), &rule), "{to}");
        assert_eq!(plan["legal_splits"], json!([24, 48, 96, 192, 384, 768]));
    }
    let shrink = json("--shards 4 --created 8.15 --to 3");
    assert_eq!(shrink["refused_by"], json!("not_a_divisor"));
    assert_eq!(shrink["legal_shrinks"], json!([1, 2]));
    let large = json("--shards 513 --created 8.15 --to 1026");
    assert_eq!(large["refused_by"], json!("above_max_shards"));
    assert_eq!((&large["nearest_below"], &large["nearest_above"]), (&json!(171), &json!(null)));
    assert_eq!(json("--shards 513 --created 8.15 --to 1026 --max-shards 2048")["operation"], json!("split"));
    assert_eq!(json("--shards 8 --created 8.15 --to 8")["operation"], json!("clone"));
    assert_eq!(json("--shards 459 --created 7.0")["legal_splits"], json!([918]));
    assert_eq!(json("--shards 459 --created 7.0")["routing_shards"], json!(918));
}

#[test]
fn a_split_of_an_index_of_9_4_is_judged_by_the_older_rule_and_called_unverified() {
    for (arguments, verified) in [
        ("--shards 6 --created 9.4 --to 12", false),
        ("--shards 6 --created 9.4 --to 54", false),
        ("--shards 6 --created 9.4 --to 3", true),
        ("--shards 6 --created 9.4", false),
        ("--shards 6 --created 9.3 --to 12", true),
    ] {
        assert_eq!(json(arguments)["rule_verified"], json!(verified), "{arguments}");
        assert_eq!(text(arguments).contains("UNVERIFIED"), !verified, "{arguments}");
    }
    let refused = text("--shards 6 --created 9.4 --to 54");
    assert!(refused.contains("Without that comparison 54 would be legal"), "{refused}");
}

#[test]
fn all_straight_chains_are_listed_cheapest_first() {
    let five = plan("elastic:created=7.5,routing_shards=30", 5, 30);
    assert_eq!(chains(&five), [vec![30], vec![10, 30], vec![15, 30]]);
    assert_eq!(five.legal_splits, [10, 15, 30]);
    // A copy for every child makes two small steps cheaper than a large one.
    let mut copied = request("elastic:created=7.5,routing_shards=30", 5, Some(30)).unwrap();
    copied.hard_links = false;
    assert_eq!(chains(&planned(&copied).unwrap()), [vec![10, 30], vec![15, 30], vec![30]]);
    let down = plan("elastic:created=8.15", 12, 2);
    assert_eq!(chains(&down), [vec![2], vec![4, 2], vec![6, 2]]);
}

#[test]
fn a_chain_turns_round_where_no_straight_one_leads() {
    // 6 and 15 have 3 in common and both divide 30. Of two ways that cost the same, the one that does not
    // crowd documents into fewer shards comes first.
    let six = plan("elastic:created=7.5,routing_shards=30", 6, 15);
    assert_eq!(six.refused_by, Some(RefusalKind::NotAMultiple));
    assert_eq!(chains(&six), [vec![30, 15], vec![3, 15], vec![1, 15]]);
    // 5 is no factor of 3, but both are of 15 and 30.
    let five = plan("elastic:created=7.5,routing_shards=30", 5, 3);
    assert_eq!(chains(&five), [vec![15, 3], vec![1, 3], vec![30, 3]]);
    for chain in six.alternatives.iter().chain(&five.alternatives).filter(|way| way.how == How::Chain) {
        assert_eq!(chain.left_parent_fraction, Some(0.0), "{}", chain.words);
    }
    // With the default numbers only one shard is common to all.
    assert_eq!(chains(&plan("elastic:created=8.15", 12, 18)), [vec![1, 18]]);
}

#[test]
fn long_lists_of_chains_are_cut_and_the_rest_counted() {
    let long = plan("elastic:created=8.15", 2, 1024);
    assert_eq!(long.chains.len(), 20);
    // Ordered ways to write 2^9 as factors above 1.
    assert_eq!(long.chains_left_out, 256 - 20);
    assert!(long.chains.is_sorted_by_key(Vec::len));
    assert_eq!(chains(&long)[0], [1024]);
    let huge = plan("elastic:created=8.15,routing_shards=2146435200,max_shards=2147483647", 3, 2_146_435_200);
    assert_eq!(huge.chains.len(), 20);
    assert!(huge.chains_left_out > 1_000_000);
}

#[test]
fn one_shard_may_be_split_to_any_count_and_gets_new_routing_shards() {
    let one = plan("elastic:created=8.15", 1, 7);
    assert_eq!(one.operation, Some(ResizeOperation::Split));
    assert_eq!((one.nearest_below, one.nearest_above), (Some(6), Some(8)));
    assert_eq!(one.legal_splits, (2..=1024).collect::<Vec<u32>>());
    assert!(one.legal_shrinks.is_empty());
    assert!(one.notes.iter().any(|note| note.contains("new number of routing shards")));
    // 1 > 3 > 6 holds since 3 shards get 768 routing shards; 1 > 5 > 15 does not, since 640 mod 15 = 10.
    assert_eq!(chains(&plan("elastic:created=8.15", 1, 6)), [vec![6], vec![3, 6]]);
    assert_eq!(chains(&plan("elastic:created=8.15", 1, 15)), [vec![15]]);
    let lifted = plan("elastic:created=8.15,max_shards=2147483647", 1, 720_720);
    assert_eq!((lifted.nearest_below, lifted.nearest_above), (Some(720_719), Some(720_721)));
    assert!(lifted.legal_splits_cut);
}

#[test]
fn a_split_says_what_it_needs_on_disk_with_and_without_links() {
    let tenths_of_gb = |number: u64| json!(number * 100_000_000);
    let ways = json("--shards 1 --created 8.15 --to 10 --bytes 264GB");
    let bytes = &ways["alternatives"][0]["bytes"];
    assert_eq!(bytes["per_shard_after"], tenths_of_gb(264));
    assert_eq!(bytes["written_with_hard_links"], json!(0));
    assert_eq!(bytes["written_without_hard_links"], tenths_of_gb(26_400));
    assert_eq!(bytes["peak_with_hard_links"], tenths_of_gb(2640));
    assert_eq!(bytes["peak_without_hard_links"], tenths_of_gb(29_040));
    let ways = json("--shards 12 --created 8.15 --to 24 --bytes 600GB --no-hard-links --bandwidth 100MB/s");
    let way = &ways["alternatives"][0];
    assert_eq!(way["bytes"]["written_without_hard_links"], tenths_of_gb(12_000));
    assert_eq!(way["bytes"]["over_network"], json!(0));
    assert_eq!(way["bytes"]["seconds"], json!(12_000.0));
    assert_eq!(way["documents_rewritten_fraction"], json!(2.0));
}

#[test]
fn a_reindex_is_the_last_resort_and_its_fraction_is_exact() {
    let plan = json("--shards 12 --created 8.15 --to 18 --bytes 600GB --bandwidth 100MB/s");
    let ways = plan["alternatives"].as_array().unwrap();
    let kinds: Vec<&str> = ways.iter().map(|way| way["how"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["nearest", "nearest", "chain", "reindex", "reindex"]);
    let reindex = &ways[3];
    assert_eq!(reindex["number_changed_fraction"], json!(0.944444), "17/18");
    assert_eq!(reindex["documents_rewritten_fraction"], json!(1.0));
    assert_eq!(reindex["bytes"]["written_with_hard_links"], json!(600_000_000_000_u64));
    assert_eq!(reindex["bytes"]["seconds"], json!(6000.0));
    assert_eq!(ways[1]["words"], json!("12 > 24"));
    let modular = json("--shards 12 --created 9.4 --to 18");
    let reindex = modular["alternatives"].as_array().unwrap().last().unwrap();
    assert_eq!(reindex["number_changed_fraction"], json!(0.666667));
}

#[test]
fn a_renumbered_document_has_not_left_its_parent() {
    let folder = tempfile::tempdir().unwrap();
    let ids = folder.path().join("ids.txt");
    std::fs::write(&ids, (0..20_000).map(|i| format!("doc-{i}\n")).collect::<String>()).unwrap();
    for (created, changed, exact, first) in
        [("8.15", 0.956, 23.0 / 24.0, json!([0, 1])), ("9.4", 0.496, 0.5, json!([0, 12]))]
    {
        let plan = json(&format!("--shards 12 --created {created} --to 24 --keys {}", ids.display()));
        let measured = plan["documents"]["number_changed_fraction"].as_f64().unwrap();
        assert!((measured - changed).abs() < 0.000_51, "{created}: {measured}");
        assert_eq!(plan["documents"]["left_parent_fraction"], json!(0.0));
        let way = &plan["alternatives"][0];
        assert!((way["number_changed_fraction"].as_f64().unwrap() - exact).abs() < 1e-6);
        assert_eq!(way["left_parent_fraction"], json!(0.0));
        assert_eq!(plan["children"][0], json!({ "shard": 0, "children": first }));
        assert_eq!(plan["documents"]["after"]["verdict"], json!("chance"));
        let kept: u64 =
            plan["documents"]["per_shard"].as_array().unwrap().iter().map(|it| it["keys"].as_u64().unwrap()).sum();
        assert_eq!(kept, 20_000);
    }
    let refused = json(&format!("--shards 12 --created 8.15 --to 18 --keys {}", ids.display()));
    let measured = refused["documents"]["number_changed_fraction"].as_f64().unwrap();
    assert!((measured - 0.9431).abs() < 0.00005, "{measured}");
    assert_eq!(refused["documents"]["left_parent_fraction"], json!(null));
}

#[test]
fn bytes_follow_the_weights_of_documents() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sizes.csv");
    let lines: String = (0..1000).map(|i| format!("doc-{i},{}\n", i % 7)).collect();
    std::fs::write(&file, format!("_id,size\n{lines}")).unwrap();
    let arguments = format!("--shards 2 --created 8.15 --to 4 --keys {} --weight-field size", file.display());
    let sum = |plan: &Value| -> u64 {
        plan["documents"]["per_shard"].as_array().unwrap().iter().map(|it| it["bytes"].as_u64().unwrap()).sum()
    };
    let own = json(&arguments);
    let total: u64 = (0..1000).map(|i| i % 7).sum();
    assert_eq!((sum(&own), own["bytes"].as_u64()), (total, Some(total)));
    assert_eq!(sum(&json(&format!("{arguments} --bytes 10GB"))), 10_000_000_000);
}

#[test]
fn the_least_count_below_a_size_is_a_shrink_the_present_one_or_a_split() {
    let fit = |shards, bytes, max| {
        let mut request = request("elastic:created=8.15", shards, None).unwrap();
        (request.bytes, request.max_shard_bytes) = (Some(bytes), NonZeroU64::new(max));
        planned(&request).unwrap().fit.unwrap()
    };
    let shrink = fit(12, 480, 100);
    assert_eq!((shrink.needed, shrink.shards, shrink.bytes_per_shard), (5, Some(6), Some(80)));
    assert_eq!((shrink.operation, shrink.server_differs), (Some(ResizeOperation::Shrink), false));
    let otherwise = fit(16, 3, 1);
    assert_eq!((otherwise.shards, otherwise.server_shards, otherwise.server_differs), (Some(4), Some(16), true));
    assert_eq!(fit(12, 1150, 100).operation, Some(ResizeOperation::Clone));
    let split = fit(12, 1300, 100);
    assert_eq!((split.shards, split.operation), (Some(24), Some(ResizeOperation::Split)));
    assert_eq!(fit(1, 1300, 100).shards, Some(13));
    assert_eq!(fit(12, 100_000, 100).shards, None);
    let text = text("--shards 16 --created 8.15 --bytes 3GB --max-shard-size 1GB");
    assert!(text.contains("answers 16 here"), "{text}");
}

#[test]
fn a_shrink_that_overfills_a_shard_is_refused_and_so_is_every_chain_through_it() {
    let plan = json("--shards 4 --created 8.15 --to 1 --docs 3000000000");
    assert_eq!((&plan["legal"], &plan["refused_by"]), (&json!(false), &json!("too_many_documents")));
    assert_eq!((&plan["legal_shrinks"], &plan["chains"]), (&json!([2]), &json!([])));
    assert_eq!((&plan["nearest_below"], &plan["nearest_above"]), (&json!(null), &json!(2)));
    assert!(text("--shards 4 --created 8.15 --to 1 --docs 3000000000").contains("2147483519"));
    assert_eq!(json("--shards 4 --created 8.15 --to 1 --docs 2147483519")["legal"], json!(true));
    let around = json("--shards 12 --created 8.15 --to 18 --docs 3000000000");
    assert_eq!(around["chains"], json!([]));
    // On average it fits, but a few large tenants make one shard fuller than the other.
    let skewed = text("--shards 4 --created 8.15 --to 2 --docs 4000000000 --synthetic zipf-tenants:20000,tenants=20");
    assert!(skewed.contains("legal (shrink)") && skewed.contains("WARNING: after \"4 > 2\""), "{skewed}");
}

#[test]
fn a_partition_that_does_next_to_nothing_is_called_so() {
    let plan = json("--shards 20 --created 8.15 --partition 3");
    assert_eq!(plan["spread"]["shards_per_routing_value"], json!(1.0625));
    assert_eq!(plan["spread"]["with_routing_shards_equal_to_shards"], json!(3.0));
    assert_eq!(plan["spread"]["almost_no_effect"], json!(true));
    assert!(text("--shards 20 --created 8.15 --partition 3").contains("WARNING: almost no effect"));
    let equal = json("--shards 20 --created 8.15 --partition 3 --routing-shards 20");
    assert_eq!(equal["spread"]["almost_no_effect"], json!(false));
    assert_eq!(json("--shards 20 --created 9.4 --partition 3")["spread"]["shards_per_routing_value"], json!(3.0));
}

#[test]
fn what_cannot_be_planned_is_refused_with_exit_code_2() {
    for (arguments, says) in [
        ("--shards 4 --to 0", "from 1 to"),
        ("--shards 0", "from 1 to"),
        ("--shards 4 --to -3", "from 1 to"),
        ("--shards 2000", "above the limit of 1024"),
        ("--shards 4 --created 7.5 --routing-shards 30", "30 mod 4 = 2"),
        ("--shards 4 --created 7.5 --routing-shards 2", "fewer"),
        ("--shards 4 --created 9.x", "9.3"),
        ("--shards 4 --created 7.5,partition=3", "created"),
        ("--shards 4 --partition 5000", "1023"),
        ("--shards 4 --max-shard-size 1GB", "--bytes"),
        ("--shards 4 --bandwidth 1MB/s", "--bytes"),
        ("--shards 4 --bytes 1GB --max-shard-size 0", "at least one byte"),
        ("--shards 4 --bytes much", "not a size"),
        ("--shards 4 --id-field x", "--keys"),
    ] {
        let output = shardlab(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments}");
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(message.contains(says), "{arguments}: {message}");
        assert!(output.stdout.is_empty(), "{arguments}");
    }
    assert!(matches!(planned(&request("elastic", 4, Some(0)).unwrap()), Err(StudyError::ZeroShards)));
    assert!(matches!(planned(&request("modulo", 4, Some(8)).unwrap()), Err(StudyError::NotResizable { .. })));
}

#[test]
fn every_form_of_the_output_has_its_rows() {
    let csv = text("--shards 12 --created 8.15 --to 18 --format csv");
    assert!(csv.starts_with("way,how,operations,to,") && csv.contains("12 > 24,nearest legal,split,24,"), "{csv}");
    assert_eq!(
        text("--shards 4 --created 8.15 --routing-shards 8 --format csv"),
        "to,operation\n1,shrink\n2,shrink\n8,split\n"
    );
    let markdown = text("--shards 12 --created 8.15 --to 24 --bytes 600GB --format markdown");
    assert!(markdown.contains("| 12 &gt; 24 "), "{markdown}");
}

#[test]
fn legal_counts_are_those_of_the_server() {
    for row in rows(LEGAL) {
        let [shards, routing_shards, splits, shrinks] = row[..] else { panic!("{row:?}") };
        let shards: u32 = shards.parse().unwrap();
        let plan = plan(&format!("elastic:created=7.0,routing_shards={routing_shards},max_shards=2048"), shards, None);
        let others = |list: &str| numbers(list).into_iter().filter(|&count| count != shards).collect::<Vec<_>>();
        assert_eq!(plan.legal_splits, others(splits), "{shards}");
        assert_eq!(plan.legal_shrinks, others(shrinks), "{shards}");
    }
}

#[test]
fn children_are_those_of_the_server() {
    for row in rows(MAP) {
        let [operation, shards, routing_shards, to, target, sources] = row[..] else { panic!("{row:?}") };
        let (shards, to, target): (u32, u32, u32) =
            (shards.parse().unwrap(), to.parse().unwrap(), target.parse().unwrap());
        let plan = plan(&format!("elastic:created=7.0,routing_shards={routing_shards}"), shards, to);
        let name = match plan.operation.unwrap() {
            ResizeOperation::Split => "split",
            ResizeOperation::Shrink => "shrink",
            ResizeOperation::Clone => "clone",
        };
        assert!(name == operation || name == "clone", "{row:?}");
        let parents: Vec<u32> =
            plan.children.iter().filter(|it| it.children.contains(&target)).map(|it| it.shard).collect();
        assert_eq!(parents, numbers(sources), "{row:?}");
    }
}

#[test]
fn what_the_server_refuses_is_refused() {
    let mut seen = 0;
    for row in rows(ERRORS) {
        let (operation, arguments, fine) = (row[0], row[1], row[2] == "ok");
        let Ok(arguments) = arguments.split(',').map(str::parse::<u32>).collect::<Result<Vec<_>, _>>() else {
            continue;
        };
        let spec = |routing_shards: u32| format!("elastic:created=7.0,routing_shards={routing_shards},max_shards=2048");
        match (operation, &arguments[..]) {
            ("factor", &[from, to]) => assert_eq!(plan("elastic:created=7.0", from, to).legal, Some(fine), "{row:?}"),
            ("routing_setting", &[shards, routing_shards]) if routing_shards > 0 => {
                assert_eq!(request(&spec(routing_shards), shards, None).is_ok(), fine, "{row:?}");
            }
            ("partition_build", &[shards, routing_shards, partition]) => {
                let spec = format!("{},partition={partition}", spec(routing_shards));
                let is_fine = shardlab_schemes::parse(&spec).is_ok() && request(&spec, shards, None).is_ok();
                assert_eq!(is_fine, fine, "{row:?}");
            }
            ("shards_setting", &[shards]) => {
                assert_eq!(request("elastic:created=7.0", shards, None).is_ok(), fine, "{row:?}");
            }
            ("split" | "shrink", &[shard, from, routing_shards, to]) if to > shard => {
                let plan = plan(&spec(routing_shards), from, to);
                let operations = match operation {
                    "split" => [ResizeOperation::Split, ResizeOperation::Clone],
                    _ => [ResizeOperation::Shrink, ResizeOperation::Clone],
                };
                assert_eq!(plan.operation.is_some_and(|found| operations.contains(&found)), fine, "{row:?}");
                let state = plan.refused_by == Some(RefusalKind::NotDividingRoutingShards);
                assert_eq!(row[2] == "IllegalStateException", state && operation == "split", "{row:?}");
            }
            _ => continue,
        }
        seen += 1;
    }
    assert!(seen > 80, "{seen}");
}

#[test]
fn the_command_answers_as_the_server_does() {
    for row in rows(LEGAL) {
        let [shards, routing_shards, splits, shrinks] = row[..] else { panic!("{row:?}") };
        let plan =
            json(&format!("--shards {shards} --created 7.0 --routing-shards {routing_shards} --max-shards 2048"));
        let others = |list: &str| {
            json!(numbers(list).into_iter().filter(|count| count.to_string() != shards).collect::<Vec<_>>())
        };
        assert_eq!((&plan["legal_splits"], &plan["legal_shrinks"]), (&others(splits), &others(shrinks)), "{shards}");
    }
    for row in rows(MAP) {
        let [_, shards, routing_shards, to, target, sources] = row[..] else { panic!("{row:?}") };
        let plan = json(&format!("--shards {shards} --created 7.0 --routing-shards {routing_shards} --to {to}"));
        let target: u32 = target.parse().unwrap();
        let holds = |child: &&Value| child["children"].as_array().unwrap().contains(&json!(target));
        let parents: Vec<u64> = plan["children"]
            .as_array()
            .unwrap()
            .iter()
            .filter(holds)
            .map(|child| child["shard"].as_u64().unwrap())
            .collect();
        assert_eq!(json!(parents), json!(numbers(sources)), "{row:?}");
    }
    let mut seen = 0;
    for row in rows(ERRORS) {
        let (operation, fine) = (row[0], row[2] == "ok");
        let Ok(numbers) = row[1].split(',').map(str::parse::<u32>).collect::<Result<Vec<_>, _>>() else { continue };
        let arguments = match (operation, &numbers[..]) {
            ("factor", [from, to]) => format!("--shards {from} --to {to} --created 7.0"),
            ("routing_setting", [shards, routing_shards]) => {
                format!("--shards {shards} --created 7.0 --routing-shards {routing_shards}")
            }
            ("shards_setting", [shards]) => format!("--shards {shards} --created 7.0"),
            ("partition_build", [shards, routing_shards, partition]) => {
                format!("--shards {shards} --created 7.0 --routing-shards {routing_shards} --partition {partition}")
            }
            ("split" | "shrink", [shard, from, routing_shards, to]) if to > shard => {
                let down = operation == "shrink";
                // Which of the two is asked for follows from the counts.
                if from != to && down == (to > from) {
                    continue;
                }
                format!("--shards {from} --created 7.0 --routing-shards {routing_shards} --to {to} --max-shards 2048")
            }
            _ => continue,
        };
        let output = shardlab(&arguments).args(["--format", "json"]).output().unwrap();
        let legal = match output.status.code() {
            Some(0) => serde_json::from_slice::<Value>(&output.stdout).unwrap()["legal"] != json!(false),
            code => {
                assert_eq!(code, Some(2), "{row:?}");
                false
            }
        };
        assert_eq!(legal, fine, "{row:?}: {}", String::from_utf8_lossy(&output.stderr));
        seen += 1;
    }
    assert!(seen > 80, "{seen}");
}

#[test]
fn shards_that_are_open_together_need_their_heap_together() {
    let plan = json("--shards 1 --created 8.15 --to 5 --shard-heap 5GB");
    let way = &plan["alternatives"][0];
    assert_eq!((&way["open_shards"], &way["transient_heap_bytes"]), (&json!(6), &json!(30_000_000_000_u64)));
    // Of several steps the worst counts, and a reindex holds source and target as well.
    let ways = json("--shards 12 --created 8.15 --to 18 --shard-heap 1GB");
    let heap = |words: &str| {
        let ways = ways["alternatives"].as_array().unwrap();
        ways.iter().find(|way| way["words"] == words).unwrap()["transient_heap_bytes"].clone()
    };
    assert_eq!(heap("12 > 1 > 18"), json!(19_000_000_000_u64));
    assert_eq!(heap("12 > 24"), json!(36_000_000_000_u64));
    assert_eq!(heap("reindex into 18"), json!(30_000_000_000_u64));
    assert!(text("--shards 1 --created 8.15 --to 5 --shard-heap 5GB").contains("30.0 GB"));
    assert!(json("--shards 1 --created 8.15 --to 5")["alternatives"][0].get("transient_heap_bytes").is_none());
}

#[test]
fn a_way_through_one_shard_stands_behind_the_near_counts_and_says_what_it_does() {
    let plan = json("--shards 12 --created 8.15 --to 18 --bytes 600GB");
    let ways = plan["alternatives"].as_array().unwrap();
    let words: Vec<&str> = ways.iter().map(|way| way["words"].as_str().unwrap()).collect();
    assert_eq!(words[..4], ["12 > 6", "12 > 24", "12 > 1 > 18", "reindex into 18"]);
    assert_eq!(
        (&ways[2]["fullest_shard_fraction"], &ways[2]["bytes"]["fullest_shard"]),
        (&json!(1.0), &json!(600_000_000_000_u64))
    );
    assert_eq!(ways[1]["fullest_shard_fraction"], json!(0.041_666_7));
    let said = text("--shards 12 --created 8.15 --to 18");
    assert!(
        said.contains("the whole index into one shard") && said.contains("not checked as long as --docs"),
        "{said}"
    );
    let known = text("--shards 12 --created 8.15 --to 18 --docs 1000000");
    assert!(known.contains("all 1000000 documents into one shard") && !known.contains("not checked"), "{known}");
    // A split of one shard, and a goal of one shard, are no such way.
    assert_eq!(json("--shards 1 --created 8.15 --to 5")["alternatives"][0]["how"], json!("chain"));
    assert_eq!(json("--shards 4 --created 8.15 --to 1")["alternatives"][0]["words"], json!("4 > 1"));
}

#[test]
fn without_a_goal_every_legal_count_has_its_size() {
    let plan = json("--shards 12 --created 8.15 --bytes 600GB --docs 24000");
    let sizes = plan["sizes"].as_array().unwrap();
    let find = |shards: u32| sizes.iter().find(|size| size["shards"] == json!(shards)).unwrap();
    assert_eq!(
        find(12),
        &json!({ "shards": 12, "operation": null, "bytes_per_shard": 50_000_000_000_u64, "documents_per_shard": 2000 })
    );
    assert_eq!(find(24)["bytes_per_shard"], json!(25_000_000_000_u64));
    assert_eq!((&find(6)["operation"], &find(6)["documents_per_shard"]), (&json!("shrink"), &json!(4000)));
    assert!(text("--shards 12 --created 8.15 --bytes 600GB").contains("50.0 GB"));
    assert!(json("--shards 12 --created 8.15").get("sizes").is_none());
    assert!(json("--shards 12 --created 8.15 --to 24 --bytes 600GB").get("sizes").is_none());
}

#[test]
fn one_hot_shard_can_be_cut_alone_by_each_rule_that_there_is() {
    let folder = tempfile::tempdir().unwrap();
    let ids = folder.path().join("ids.txt");
    std::fs::write(&ids, (0..1000).map(|i| format!("doc-{i}\n")).collect::<String>()).unwrap();
    let plan = json(&format!("--shards 4 --created 8.15 --only-shard 2 --keys {}", ids.display()));
    let cut = &plan["one_shard"];
    assert_eq!((&cut["shard"], &cut["parts"], &cut["keys"]), (&json!(2), &json!(2), &json!(264)));
    let parts = |rule: usize| {
        let parts = cut["rules"][rule]["parts"].as_array().unwrap();
        parts
            .iter()
            .map(|part| (part["from"].as_i64().unwrap(), part["to"].as_i64().unwrap(), part["keys"].as_u64().unwrap()))
            .collect::<Vec<_>>()
    };
    assert_eq!(cut["rules"][0]["rule"], json!("routing_slots"));
    assert_eq!(parts(0), [(512, 639, 133), (640, 767, 131)]);
    assert_eq!(cut["rules"][1]["rule"], json!("hash_range"));
    assert_eq!(parts(1), [(i64::from(i32::MIN), -1, 138), (0, i64::from(i32::MAX), 126)]);
    let said = text(&format!("--shards 4 --created 8.15 --only-shard 2 --keys {}", ids.display()));
    assert!(said.contains("by routing slot") && said.contains("OpenSearch") && said.contains("133"), "{said}");
    let newer = json(&format!("--shards 4 --created 9.4 --only-shard 2 --parts 3 --keys {}", ids.display()));
    let newer = &newer["one_shard"];
    let sum: u64 =
        newer["rules"][0]["parts"].as_array().unwrap().iter().map(|part| part["keys"].as_u64().unwrap()).sum();
    assert_eq!((&newer["rules"][0]["rule"], json!(sum)), (&json!("residues"), newer["keys"].clone()));
    let uneven = json("--shards 4 --created 8.15 --only-shard 2 --parts 3");
    assert!(uneven["one_shard"]["rules"][0]["refused"].as_str().unwrap().contains("256 mod 3 = 1"));
    for (arguments, says) in [
        ("--shards 4 --only-shard 4", "numbered from 0 to 3"),
        ("--shards 4 --created 1.7 --only-shard 0", "no rule that cuts one shard"),
        ("--shards 4 --only-shard 0 --parts 1", "2..=1024"),
        ("--shards 4 --parts 3", "--only-shard"),
    ] {
        let output = shardlab(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments}");
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains(says), "{arguments}: {said}");
    }
}

#[test]
fn a_proposed_routing_stands_beside_placing_by_ids() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("docs.csv");
    let lines: String = (0..9000)
        .map(|i| {
            format!("doc-{i},{},{}\n", if i % 3 == 0 { "acme".to_owned() } else { format!("t{}", i % 700) }, i % 5)
        })
        .collect();
    std::fs::write(&file, format!("_id,tenant,size\n{lines}")).unwrap();
    let arguments =
        format!("--shards 90 --created 8.15 --keys {} --routing-field tenant --weight-field size", file.display());
    let plan = json(&arguments);
    assert_eq!((&plan["routing_shards"], &plan["legal_splits"]), (&json!(720), &json!([180, 360, 720])));
    let documents = &plan["documents"];
    assert_eq!(documents["after"]["verdict"], json!("structural"));
    assert_eq!(documents["by_id"]["verdict"], json!("chance"));
    let sum = |field: &str| {
        documents["per_shard"].as_array().unwrap().iter().map(|shard| shard[field].as_u64().unwrap()).sum::<u64>()
    };
    assert_eq!((sum("keys"), sum("keys_by_id")), (9000, 9000));
    assert_eq!((sum("bytes"), sum("bytes_by_id")), (18_000, 18_000));
    // Ids alone are the same question without the field.
    let plain = json(&arguments.replace("--routing-field tenant", ""));
    assert_eq!(plain["documents"]["after"]["counts"], documents["by_id"]["counts"]);
    assert!(plain["documents"].get("by_id").is_none(), "nothing to compare with");
    let said = text(&format!("--shards 20 --created 8.15 --keys {} --routing-field tenant", file.display()));
    assert!(said.contains("if ids alone decided") && said.contains("documents by id"), "{said}");
}

#[test]
fn a_narrow_terminal_gets_lines_that_fit() {
    let mut request = request("elastic:created=8.15", 12, Some(18)).unwrap();
    (request.bytes, request.docs, request.bandwidth) = (Some(600_000_000_000), Some(1_000_000), Some(100_000_000));
    let plan = planned(&request).unwrap();
    for width in [40, 60, 80, 120] {
        let text = split_plan_text(&plan, Format::Terminal, Some(width));
        let text = fit(&text, Some(width));
        for line in text.lines() {
            assert!(line.chars().count() <= usize::from(width), "{width}: {line}");
        }
        for words in ["12 > 24", "600 GB", "94.44 %"] {
            assert!(text.contains(words), "{width}: {words}");
        }
    }
    // Where nobody looks, nothing is wrapped.
    assert!(split_plan_text(&plan, Format::Terminal, None).lines().any(|line| line.chars().count() > 150));
}

#[test]
fn counts_that_are_no_whole_numbers_are_refused_in_words() {
    for (arguments, expected) in [
        ("--shards 4 --created 8.15 --docs -2", "whole number from 0"),
        ("--shards 4 --created 8.15 --docs 1.5", "whole number from 0"),
        ("--shards 4 --created 8.15 --to 8 --only-shard -1", "by its number, from 0 on"),
        ("--shards 4 --created 8.15 --to 8 --only-shard a", "by its number, from 0 on"),
    ] {
        let output = shardlab(arguments).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && said.contains(expected), "{arguments}: {said}");
    }
}
