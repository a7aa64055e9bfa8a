//! Options, their contradictions, creation rules and what a reader is told.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod common;

use common::scheme;
use shardlab_core::{BuildError, KeyFault, KeyHasher, Members, RawKey, SpecError};
use shardlab_scheme_elastic::{IndexError, alias_routing, check_alias_target, check_mapping};

fn refusal(options: &str, shards: u32) -> String {
    scheme(options).build(&Members::dense(shards).unwrap()).unwrap_err().to_string()
}

#[test]
fn the_canonical_spec_always_says_the_version_and_else_only_what_differs() {
    for (options, spec) in [
        ("", "elastic:created=9.4"),
        ("created=8.15", "elastic:created=8.15"),
        ("created=1", "elastic:created=1.x"),
        ("partition=1,max_shards=1024,created=8.x", "elastic:created=8.x"),
        (
            "routing_shards=60,partition=3,max_shards=2000,created=opensearch",
            "elastic:created=opensearch,max_shards=2000,partition=3,routing_shards=60",
        ),
    ] {
        let canonical = scheme(options).spec();
        assert_eq!(canonical, spec);
        assert_eq!(scheme(canonical.strip_prefix("elastic:").unwrap()).spec(), spec);
    }
}

#[test]
fn a_comparison_shows_both_generations_with_the_options_kept() {
    let rows: Vec<String> = scheme("partition=3").comparison_rows().iter().map(|row| row.spec()).collect();
    assert_eq!(rows, ["elastic:created=8.15,partition=3", "elastic:created=9.4,partition=3"]);
}

#[test]
fn options_that_an_age_does_not_have_are_contradictions() {
    for options in [
        "created=1.7,routing_shards=10",
        "created=4.9,routing_shards=10",
        "created=1.x,partition=2",
        "created=5.2.2,partition=2",
        "created=8.15,partition=10,routing_shards=10",
    ] {
        let found = scheme(options).check();
        assert!(matches!(found, Err(SpecError::Contradiction { .. })), "{options}: {found:?}");
        assert!(scheme(options).build(&Members::dense(5).unwrap()).is_err(), "{options}");
    }
    for options in ["created=5.0,routing_shards=10", "created=5.3,partition=2", "created=5.x,partition=2"] {
        assert!(scheme(options).check().is_ok(), "{options}");
    }
}

#[test]
fn creation_rules_are_told_with_their_numbers() {
    assert_eq!(
        refusal("created=6.2,routing_shards=30", 4),
        "30 mod 4 = 2; shard counts that divide 30: 1, 2, 3, 5, 6, 10, 15, 30"
    );
    assert!(refusal("created=8.15,routing_shards=3", 4).starts_with("3 routing shards are fewer than the 4 shards"));
    assert!(refusal("created=8.15", 1025).contains("1025 shards are above the limit of 1024"));
    assert!(refusal("created=6.8,partition=5", 5).contains("from 2 to 4"));
    assert!(refusal("created=6.8,partition=2", 2).contains("must be 1 (off): "));
    let five = Members::dense(5).unwrap();
    assert!(scheme("created=8.15,partition=639").build(&five).is_ok());
    assert!(scheme("created=9.4,partition=640").build(&five).is_err());
    assert!(matches!(
        scheme("").build(&Members::dense(1025).unwrap()),
        Err(BuildError::Scheme(error)) if error.is::<IndexError>()
    ));
    assert!(scheme("max_shards=1025").build(&Members::dense(1025).unwrap()).is_ok());
}

#[test]
fn notes_say_which_function_is_modelled_and_when_the_version_was_assumed() {
    let all = |options: &str| scheme(options).notes().join("\n");
    assert!(all("").contains("9.4 and later) was assumed"));
    assert!(!all("created=9.4").contains("assumed"));
    assert!(all("created=9.4").contains("floorMod(Murmur3, n)"));
    assert!(all("created=1.7").contains("DJB2"));
    assert!(all("created=2.11").contains("created=opensearch"));
    assert!(all("created=9.4,routing_shards=60").contains("no effect"));
    for options in ["created=0.90", "created=6.8", "created=8.15", "created=opensearch", "created=10.0"] {
        assert!(all(options).contains("models indices created on"), "{options}");
    }
}

#[test]
fn a_partition_that_does_nothing_is_warned_of_loudly() {
    let warns = |options: &str| scheme(options).notes().iter().any(|note| note.starts_with("WARNING"));
    assert!(warns("created=8.15,partition=3") && warns("created=opensearch,partition=3"));
    assert!(!warns("created=9.4,partition=3") && !warns("created=6.8,partition=3") && !warns("created=8.15"));

    let twenty = Members::dense(20).unwrap();
    let warning = |options: &str| {
        let notes = scheme(options).notes_for(&twenty);
        notes.into_iter().find(|note| note.starts_with("WARNING"))
    };
    let told = warning("created=8.15,partition=3").unwrap();
    assert!(told.contains("1.06 of 20 shards") && told.contains("routing_shards=20"), "{told}");
    assert_eq!(warning("created=8.15,partition=3,routing_shards=20"), None);
    assert_eq!(warning("created=9.4,partition=3"), None);
    assert!(scheme("created=8.15,partition=3").notes().join("").contains("1.06 of 20"));
}

#[test]
fn keys_follow_the_rules_of_the_server() {
    let rules = scheme("").key_rules();
    let long = "é".repeat(256);
    assert_eq!(rules.check(&RawKey::id(long.as_bytes())), Ok(()));
    let longer = format!("{long}a");
    assert_eq!(rules.check(&RawKey::id(longer.as_bytes())), Err(KeyFault::IdTooLong { bytes: 513, max: 512 }));
    assert_eq!(rules.check(&RawKey::id(b"")), Err(KeyFault::EmptyId));
    assert_eq!(rules.check(&RawKey { id: b"a", routing: "é".repeat(5000).as_bytes() }), Ok(()));

    let hasher = |options: &str| -> Box<dyn KeyHasher> {
        let scheme = scheme(options);
        scheme.adapt_hasher(scheme.native_hasher().unwrap())
    };
    assert_eq!(hasher("created=1.7").name(), "djb2");
    assert_eq!(hasher("created=8.15").name(), "es-murmur3");
    assert_eq!(hasher("partition=4").hash(&RawKey::id(b"a")), Err(KeyFault::RoutingRequired));
    assert!(hasher("partition=4").rules().routing_required && hasher("").rules().text);
}

#[test]
fn mappings_and_aliases_are_judged_as_on_a_server() {
    let index =
        |partition| shardlab_scheme_elastic::Index::new(common::generation("8.15"), 5, None, partition).unwrap();
    assert_eq!(check_mapping(index(1), false, true, true), Ok(()));
    assert_eq!(check_mapping(index(3), true, false, false), Ok(()));
    assert_eq!(check_mapping(index(3), false, false, false), Err(IndexError::RoutingNotRequired { partition: 3 }));
    assert_eq!(check_mapping(index(3), true, true, false), Err(IndexError::PartitionedJoin { partition: 3 }));
    assert_eq!(check_mapping(index(3), true, false, true), Err(IndexError::PartitionedRoutingPath { partition: 3 }));

    assert_eq!(alias_routing(Some(""), None), Ok(None));
    assert_eq!(alias_routing(Some("a,b"), None), Ok(Some("a,b")));
    assert_eq!(alias_routing(None, Some("a")), Ok(Some("a")));
    assert_eq!(alias_routing(Some("a"), Some("a")), Ok(Some("a")));
    assert!(matches!(alias_routing(Some("b"), Some("a")), Err(IndexError::AliasRouting { .. })));
    assert!(matches!(alias_routing(None, Some("a,b")), Err(IndexError::AliasRoutingList { .. })));
    assert_eq!(check_alias_target(2, false), Err(IndexError::NoWriteIndex { indices: 2 }));
    assert_eq!(check_alias_target(2, true), Ok(()));
}

#[test]
fn the_working_is_shown_in_the_words_of_each_generation() {
    let steps = |options: &str| -> Vec<(String, String)> {
        let hash = u64::from(1_424_940_152_u32);
        common::build(options, 6).explain(hash).into_iter().map(|step| (step.label, step.value)).collect()
    };
    let expect = |steps: Vec<(String, String)>, expected: &[(&str, &str)]| {
        let found: Vec<(&str, &str)> = steps.iter().map(|(label, value)| (&**label, &**value)).collect();
        assert_eq!(found, expected);
    };
    expect(
        steps("created=8.15"),
        &[("floorMod", "1424940152 mod 768 = 632"), ("routing factor", "768 / 6 = 128"), ("shard", "632 / 128 = 4")],
    );
    expect(steps("created=9.4"), &[("floorMod", "1424940152 mod 6 = 2"), ("shard", "2")]);
    expect(steps("created=1.7"), &[("remainder", "1424940152 rem 6 = 2"), ("shard", "|2| = 2")]);
    let negative = common::build("created=1.7", 6).explain(u64::from((-7_i32).cast_unsigned()));
    assert_eq!(negative[1].value, "|-1| = 1");
}
