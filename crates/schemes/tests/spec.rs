//! Specs: what is taken, what is refused and in which words.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use proptest::prelude::*;
use shardlab_core::Members;
use shardlab_schemes::{Membership, all, comparison_rows, parse};

fn refusal(spec: &str) -> String {
    parse(spec).map(|parsed| parsed.scheme.spec()).expect_err(spec).to_string()
}

#[test]
fn canonical_specs_list_only_what_differs_in_alphabetical_order() {
    for (given, canonical) in [
        ("jump", "jump"),
        ("jump:rounding=paper", "jump"),
        ("jump:nodes=12,rounding=guava", "jump:rounding=guava"),
        ("ring:vnodes=160", "ring"),
        ("ring:vnodes=200", "ring:vnodes=200"),
        ("maglev:table=655373", "maglev:table=655373"),
        ("elastic:shards=6,partition=2,created=8.15", "elastic:created=8.15,partition=2"),
        ("elastic", "elastic:created=9.4"),
    ] {
        let scheme = parse(given).unwrap().scheme;
        assert_eq!(scheme.spec(), canonical);
        assert_eq!(parse(canonical).unwrap().scheme.spec(), canonical);
    }
}

#[test]
fn the_membership_may_stand_in_the_spec() {
    assert_eq!(parse("jump:nodes=2147483647").unwrap().membership, Some(Membership::Count(2_147_483_647)));
    assert_eq!(parse("ring:nodes-file=a.csv").unwrap().membership, Some(Membership::File("a.csv".into())));
    assert_eq!(parse("elastic:shards=6").unwrap().membership, Some(Membership::Count(6)));
    assert_eq!(parse("elastic:nodes=6").unwrap().membership, Some(Membership::Count(6)));
    assert_eq!(parse("modulo").unwrap().membership, None);
}

#[test]
fn what_is_wrong_is_said_with_what_would_be_right() {
    for (spec, words) in [
        ("hrw", "there is no scheme \"hrw\"; the schemes are elastic, modulo, jump, ring, rendezvous, maglev"),
        ("", "there is no scheme \"\""),
        ("jump:", "\"\" is not of the form option=value"),
        ("ring:vnodes", "\"vnodes\" is not of the form option=value"),
        ("ring:vnode=3", "ring has no option \"vnode\"; it takes vnodes; and nodes or nodes-file"),
        ("ring:vnodes=3,vnodes=3", "option \"vnodes\" is given twice"),
        ("ring:vnodes=0", "vnodes=\"0\" is not valid"),
        ("ring:nodes=3,nodes-file=a.csv", "nodes and nodes-file both give the membership; keep one"),
        ("elastic:shards=3,nodes=3", "shards and nodes both give the membership; keep one"),
        ("jump:nodes=0", "nodes=\"0\" is not valid: a whole number from 1 to 2147483647"),
        ("jump:nodes=-3", "nodes=\"-3\" is not valid"),
        ("jump:nodes=2147483648", "nodes=\"2147483648\" is not valid"),
        ("jump:shards=12", "jump has no option \"shards\""),
        ("jump:rounding=up", "rounding=\"up\" is not valid: paper or guava"),
        ("modulo:signed=i64", "signed=\"i64\" is not valid: i32"),
        ("maglev:table=65536", "65537"),
        ("elastic:created=9.x", "9.4"),
    ] {
        let error = refusal(spec);
        assert!(error.contains(words), "{spec}: {error}");
        assert!(error.contains(&format!("{spec:?}")), "{error}");
    }
}

#[test]
fn every_scheme_has_a_row_and_both_living_generations_of_elasticsearch_do() {
    let rows: Vec<String> = comparison_rows().iter().map(|scheme| scheme.spec()).collect();
    for scheme in all() {
        assert!(rows.iter().any(|row| row.split(':').next() == Some(scheme.name())), "{rows:?}");
    }
    assert!(rows.contains(&"elastic:created=8.15".to_owned()) && rows.contains(&"elastic:created=9.4".to_owned()));
}

#[test]
fn every_scheme_builds_for_ten_nodes() {
    for scheme in comparison_rows() {
        scheme.build(&Members::dense(10).unwrap()).unwrap_or_else(|error| panic!("{}: {error}", scheme.spec()));
    }
}

proptest! {
    #[test]
    fn no_text_makes_the_parser_panic(spec in "\\PC{0,40}|(elastic|jump|ring|maglev|modulo|rendezvous):[a-z_=,0-9.]{0,40}") {
        let _ = parse(&spec);
    }
}
