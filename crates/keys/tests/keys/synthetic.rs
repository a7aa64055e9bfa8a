//! Synthetic sets: what they hold, that they are fixed, and what is refused.

use crate::common::{drain, strict};
use proptest::prelude::*;
use shardlab_core::{KeyRules, RawChunk};
use shardlab_keys::{BLOCK, Documents, FORMS, SyntheticError, SyntheticSpec, distinct, sample, synthetic};

fn make(spec: &str, seed: u64) -> Box<dyn Documents> {
    synthetic(&SyntheticSpec::parse(spec).unwrap(), seed, KeyRules::default())
}

fn chunks(spec: &str, seed: u64) -> Vec<RawChunk> {
    let mut documents = make(spec, seed);
    let mut chunks = Vec::new();
    let mut chunk = RawChunk::default();
    while documents.next_chunk(&mut chunk).unwrap() {
        chunks.push(chunk.clone());
    }
    chunks
}

fn refused(spec: &str) -> String {
    SyntheticSpec::parse(spec).unwrap_err().to_string()
}

#[test]
fn every_kind_begins_as_it_is_described() {
    // Random parts from a second implementation, in Python integers and its own powers.
    for (spec, expected) in [
        ("sequential:3", ["0", "1", "2"]),
        (
            "sequential:3,start=18446744073709551613",
            ["18446744073709551613", "18446744073709551614", "18446744073709551615"],
        ),
        ("padded:3", ["000000000000", "000000000001", "000000000002"]),
        ("padded:3,width=1", ["0", "1", "2"]),
        ("snowflake:3", ["1724551110456250368", "1724551110611439616", "1724551110766628864"]),
        ("unix-ms:3", ["1700000000000", "1700000001000", "1700000002000"]),
        ("unix-ms:3,step=7", ["1700000000000", "1700000000007", "1700000000014"]),
        ("zipf-tenants:3", ["tenant-0:0", "tenant-1:1", "tenant-28:2"]),
    ] {
        assert_eq!(drain(make(spec, 1)).ids(), expected, "{spec}");
    }
    let uuid4 = ["232dc888-c9ea-46b5-b0d6-7eec40fd4ef3", "9e0cfec2-d886-43df-8842-b11f5eaca817"];
    assert_eq!(drain(make("uuid4:2", 1)).ids(), uuid4);
    let uuid7 = ["018bcfe5-6800-76b5-b0d6-7eec40fd4ef3", "018bcfe5-6801-73df-8842-b11f5eaca817"];
    assert_eq!(drain(make("uuid7:2", 1)).ids(), uuid7);
    let keys = chunks("random:2", 1);
    assert_eq!(keys[0].as_batch().hashed(), Some([0x232D_C888_C9EA_96B5, 0x30D6_7EEC_40FD_4EF3].as_slice()));
}

#[test]
fn tenants_are_the_routing_values_of_their_documents() {
    let outcome = drain(make("zipf-tenants:20000,tenants=50,s=1", 3));
    assert_eq!(outcome.keys.with_routing, 20_000);
    let mut counts = [0_u32; 50];
    for (number, (id, routing, _)) in outcome.documents.iter().enumerate() {
        let routing = String::from_utf8(routing.clone()).unwrap();
        assert_eq!(id, format!("{routing}:{number}").as_bytes());
        counts[routing.strip_prefix("tenant-").unwrap().parse::<usize>().unwrap()] += 1;
    }
    // The harmonic number of 50 is 4.4992: rank 0 has 4445 of 20,000 by expectation, rank 1 half.
    assert!(counts[0].abs_diff(4445) < 240 && counts[1].abs_diff(2223) < 180, "{counts:?}");
}

#[test]
fn a_set_is_the_beginning_of_every_larger_one() {
    for kind in ["uuid4", "uuid7", "random", "zipf-tenants", "snowflake"] {
        let (small, large) = (chunks(&format!("{kind}:70000"), 5), chunks(&format!("{kind}:140000"), 5));
        assert!(small[0] == large[0], "{kind}");
        let (small, large) = (small[1].as_batch(), large[1].as_batch());
        assert!(small.iter().eq(large.iter().take(70_000 - BLOCK)), "{kind}");
        if let (Some(small), Some(large)) = (small.hashed(), large.hashed()) {
            assert_eq!(*small, large[..small.len()]);
        }
    }
}

#[test]
fn seeds_give_different_sets_and_each_seed_always_the_same() {
    let digest = |spec, seed| drain(make(spec, seed)).keys.digest;
    assert_eq!(digest("uuid4:100000", 1), digest("uuid4:100000", 1));
    assert_ne!(digest("uuid4:1000", 1), digest("uuid4:1000", 2));
    assert_eq!(digest("sequential:1000", 1), digest("sequential:1000", 2));
}

#[test]
fn random_documents_do_not_repeat() {
    for spec in ["uuid4:200000", "random:200000", "zipf-tenants:200000"] {
        let mut documents = distinct(make(spec, 0), u64::MAX);
        while documents.next_chunk(&mut RawChunk::default()).unwrap() {}
        let keys = documents.key_set();
        assert_eq!((keys.distinct, keys.consecutive_duplicates), (Some(200_000), 0), "{spec}");
    }
}

#[test]
fn the_canonical_form_lists_what_differs_in_alphabetical_order() {
    for (text, canonical) in [
        ("zipf-tenants:10,tenants=5,s=2", "zipf-tenants:10,s=2,tenants=5"),
        ("zipf-tenants:10,tenants=1000,s=1.10", "zipf-tenants:10"),
        ("zipf-tenants:10,s=0", "zipf-tenants:10,s=0"),
        ("sequential:007,start=0", "sequential:7"),
        ("padded:10,width=12", "padded:10"),
        ("snowflake:10,step_ms=1", "snowflake:10,step_ms=1"),
        ("unix-ms:10,step=1000", "unix-ms:10"),
    ] {
        let spec = SyntheticSpec::parse(text).unwrap();
        assert_eq!(spec.to_string(), canonical);
        assert_eq!(SyntheticSpec::parse(canonical).unwrap(), spec);
    }
    assert_eq!(drain(make("padded:10,width=12", 0)).keys.description, "padded:10");
}

#[test]
fn mistakes_are_told_with_what_would_be_right() {
    for (text, what) in [
        ("uuid:10", "there is no synthetic set \"uuid\"; the sets are sequential:N[,start=0], padded:N"),
        ("", "there is no synthetic set \"\""),
        ("uuid4", "\"\" is no number of documents; write uuid4:N"),
        ("uuid4:0", "\"0\" is no number of documents"),
        ("uuid4:1_000", "\"1_000\" is no number of documents"),
        ("uuid4:+5", "\"+5\" is no number of documents"),
        ("uuid4:-5", "\"-5\" is no number of documents"),
        ("uuid4:1e6", "\"1e6\" is no number of documents"),
        ("uuid4:18446744073709551616", "\"18446744073709551616\" is no number"),
        ("uuid4:5,x=1", "uuid4 has no option \"x\"; it takes none"),
        ("uuid4:5,", "uuid4 has no option \"\""),
        ("zipf-tenants:5,S=1", "zipf-tenants has no option \"S\"; it takes s, tenants"),
        ("padded:5,width=3,width=3", "padded: the option width is given twice; it takes width, each once"),
        ("padded:5,width", "width=\"\" is not valid: a whole number from 1 to 512"),
        ("padded:5,width=0", "width=\"0\" is not valid"),
        ("padded:1001,width=3", "the largest of 1001 numbers has 4 digits, but width=3; say width=4"),
        ("zipf-tenants:5,s=nan", "s=\"nan\" is not valid: the exponent of Zipf's law"),
        ("zipf-tenants:5,s=-1", "s=\"-1\" is not valid"),
        ("zipf-tenants:5,s=1e1", "s=\"1e1\" is not valid"),
        (
            "zipf-tenants:5,tenants=99999999999",
            "tenants=\"99999999999\" is not valid: a whole number from 1 to 16777216",
        ),
        (
            "sequential:2,start=18446744073709551615",
            "sequential: 2 documents do not fit: the last number would pass 2^64 - 1; at most 1 do",
        ),
        (
            "uuid7:18446744073709551615",
            "uuid7: 18446744073709551615 documents do not fit: the time of a UUID has 48 bits",
        ),
        (
            "snowflake:99999999999999",
            "snowflake: 99999999999999 documents do not fit: the time of a snowflake id has 41 bits",
        ),
        ("unix-ms:3,step=18446744073709551615", "unix-ms: 3 documents do not fit"),
        ("snowflake:3,step_ms=0", "step_ms=\"0\" is not valid"),
    ] {
        let error = refused(text);
        assert!(error.contains(what), "{text}: {error}");
    }
    assert!(matches!(SyntheticSpec::parse("padded:11,width=1"), Err(SyntheticError::TooNarrow { needed: 2, .. })));
    assert!(SyntheticSpec::parse("padded:1000,width=3").is_ok());
}

#[test]
fn the_largest_sets_can_be_begun() {
    for spec in ["uuid4:18446744073709551615", "sequential:18446744073709551615", "random:18446744073709551615"] {
        let mut documents = make(spec, 0);
        assert!(documents.next_chunk(&mut RawChunk::default()).unwrap());
        let progress = documents.progress();
        assert_eq!((progress.done, progress.total), (BLOCK as u64, Some(u64::MAX)));
    }
}

#[test]
fn rules_are_checked_on_made_documents_too() {
    let with = |spec: &str, rules| drain(synthetic(&SyntheticSpec::parse(spec).unwrap(), 0, rules)).error;
    let decimal = KeyRules { decimal: true, ..KeyRules::default() };
    assert!(with("sequential:100000", decimal).is_none());
    let error = with("uuid4:5", decimal).unwrap().to_string();
    assert!(error.starts_with("uuid4:5: document 0 (counted from 0): not a decimal number"), "{error}");
    let routed = KeyRules { routing_required: true, text: true, ..KeyRules::default() };
    assert!(with("zipf-tenants:5", routed).is_none());
    let error = with("random:5", routed).unwrap().to_string();
    assert!(error.contains("these keys are 64-bit numbers without ids or routing values"), "{error}");
    assert!(with("random:5", KeyRules { decimal: true, text: true, ..KeyRules::default() }).is_none());
}

#[test]
fn the_sample_is_good_for_every_system() {
    let outcome = drain(sample(&crate::common::elastic(strict())));
    assert!(outcome.error.is_none());
    assert_eq!((outcome.keys.accepted, outcome.documents.len()), (50_000, 50_000));
    let keys = drain(distinct(sample(&strict()), u64::MAX)).keys;
    assert_eq!(keys.distinct, Some(50_000));
    let named = shardlab_keys::ReadOptions { id_field: Some("x".into()), ..strict() };
    assert!(drain(sample(&named)).error().contains("sample: --id-field names a field"));
}

proptest! {
    #[test]
    fn parsing_never_panics(text in ".{0,60}") {
        let _ = SyntheticSpec::parse(&text);
    }

    #[test]
    fn what_looks_like_a_spec_is_refused_or_kept(
        kind in 0..FORMS.len(),
        count in prop_oneof![any::<u64>(), 0_u64..100],
        option in prop_oneof!["", "start", "width", "step", "step_ms", "tenants", "s"],
        value in "[0-9.]{0,22}",
    ) {
        let option = if option.is_empty() { option } else { format!(",{option}={value}") };
        if let Ok(spec) = SyntheticSpec::parse(&format!("{}:{count}{option}", FORMS[kind].0)) {
            prop_assert_eq!(spec.count(), count);
            prop_assert_eq!(&SyntheticSpec::parse(&spec.to_string()).unwrap(), &spec);
            // What is accepted can be made, at least as far as one chunk goes.
            let mut documents = synthetic(&spec, 1, KeyRules::default());
            if count < 100 {
                prop_assert!(documents.next_chunk(&mut RawChunk::default()).unwrap());
            }
        }
    }
}
