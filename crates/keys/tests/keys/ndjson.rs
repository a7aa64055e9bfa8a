//! One JSON object a line.

use crate::common::{Document, elastic, read, skipping, strict};
use shardlab_keys::ReadOptions;

fn with(id: Option<&str>, routing: Option<&str>, weight: Option<&str>) -> ReadOptions {
    let owned = |name: Option<&str>| name.map(str::to_owned);
    ReadOptions {
        id_field: owned(id),
        routing_field: owned(routing),
        weight_field: owned(weight),
        ..ReadOptions::default()
    }
}

fn document(id: &str, routing: &str) -> Document {
    (id.into(), routing.into(), None)
}

fn one(line: &str, options: &ReadOptions) -> Document {
    let outcome = read("a.ndjson", line.as_bytes(), options);
    assert_eq!(outcome.documents.len(), 1, "{line}: {}", outcome.error());
    outcome.documents[0].clone()
}

fn fault(line: &str, options: &ReadOptions) -> String {
    let outcome = read("a.ndjson", line.as_bytes(), options);
    assert!(outcome.documents.is_empty(), "{line} was taken");
    let error = outcome.error();
    let at = error.find("a.ndjson:").unwrap_or_else(|| panic!("{error}"));
    error[at..].to_owned()
}

#[test]
fn an_integer_is_its_literal_text_and_noted_beyond_what_a_double_holds() {
    let text = "{\"_id\":1610521604143693812}\n{\"_id\":-9007199254740993}\n{\"_id\":9007199254740992}\n{\"_id\":7}\n";
    let outcome = read("a.jsonl", text.as_bytes(), &strict());
    assert_eq!(outcome.ids(), ["1610521604143693812", "-9007199254740993", "9007199254740992", "7"]);
    assert!(outcome.keys.notes[0].starts_with("2 JSON numbers lie beyond 2^53"), "{:?}", outcome.keys.notes);
    let long = "9".repeat(400);
    assert_eq!(one(&format!("{{\"_id\":{long}}}"), &strict()).0, long.as_bytes());
}

#[test]
fn other_values_are_no_ids() {
    for (value, what) in [
        ("1.5", "the number 1.5 has a fraction or an exponent"),
        ("1e3", "the number 1e3 has a fraction"),
        ("1.0", "the number 1.0 has a fraction"),
        ("null", "is null; it must be a string or a whole number"),
        ("true", "is a truth value"),
        ("[1]", "is a list"),
        ("{}", "is an object"),
        (r#""\ud800""#, "the string is not text"),
    ] {
        let error = fault(&format!("{{\"_id\":{value}}}"), &strict());
        assert!(error.starts_with(&format!("a.ndjson:1: _id: {what}")), "{error}");
    }
}

#[test]
fn strings_are_unescaped_and_unwanted_fields_are_not_looked_at() {
    let line = r#"{"\u005fid":"Zo\u00eb \"x\" \ud83d\ude00","other":{"_id":[1,{"a":"\ud800"}]},"n":1e999}"#;
    assert_eq!(one(line, &strict()), document("Zoë \"x\" 😀", ""));
    assert_eq!(one(r#" {"_id" : "a" } "#, &strict()), document("a", ""));
}

#[test]
fn both_names_of_the_routing_value_are_read() {
    let text = r#"{"_id":"21128","_routing":"21082","_source":{}}
{"_id":"2","routing":7}
{"_id":"3","_routing":null}
{"_id":"4","_routing":""}
{"_id":"5"}
{"_id":"6","_routing":"r","routing":"r"}
{"_id":"7","_routing":"","routing":"s"}"#;
    let outcome = read("a.ndjson", text.as_bytes(), &elastic(strict()));
    let expected = [("21128", "21082"), ("2", "7"), ("3", ""), ("4", ""), ("5", ""), ("6", "r"), ("7", "s")];
    assert_eq!(outcome.documents, expected.map(|(id, routing)| document(id, routing)));
    assert_eq!((outcome.keys.accepted, outcome.keys.with_routing), (7, 4));

    let two = r#"{"_id":"1","_routing":"a","routing":"b"}"#;
    assert!(fault(two, &strict()).contains("hold different values; say which one counts with --routing-field"));
    assert_eq!(one(two, &with(None, Some("routing"), None)), document("1", "b"));
    assert!(fault(r#"{"_id":"1","routing":{"a":1}}"#, &strict()).starts_with("a.ndjson:1: routing: is an object"));
}

#[test]
fn a_line_without_the_field_names_what_is_there() {
    let error = fault(r#"{"env":"prod","uid":1111}"#, &strict());
    assert!(
        error.starts_with("a.ndjson:1: _id: missing; the fields here are env, uid; hint: --id-field uid"),
        "{error}"
    );
    let error = fault(r#"{"index":{"_id":"1"}}"#, &strict());
    assert!(error.contains("hint: --id-field index._id"), "{error}");
    let error = fault("{}", &strict());
    assert!(error.starts_with("a.ndjson:1: _id: missing; to leave out"), "{error}");

    let text = "{\"_id\":1}\n{\"env\":\"prod\",\"uid\":1111}\n{\"uid\":2}\n";
    let outcome = read("a.ndjson", text.as_bytes(), &skipping());
    assert_eq!(outcome.keys.read, 3);
    assert_eq!(
        outcome.skipped(),
        [("_id: missing; the fields there are env, uid; hint: --id-field uid".to_owned(), 2)]
    );
    assert_eq!(outcome.keys.skipped[0].first_at, "a.ndjson:2");
}

#[test]
fn a_field_in_other_letters_is_named_as_it_is_written() {
    let said = fault(r#"{"Id":"a","Bytes":1}"#, &with(Some("id"), None, None));
    assert!(said.contains("letter by letter: --id-field \"Id\""), "{said}");
    let said = fault(r#"{"id":"a","meta":{"Bytes":1}}"#, &with(Some("id"), None, Some("meta.bytes")));
    assert!(said.contains("letter by letter: --weight-field \"meta.Bytes\""), "{said}");
}

#[test]
fn an_exact_name_wins_over_a_path() {
    let options = with(Some("_source.user.id"), Some("_source.org"), None);
    let line = r#"{"_source":{"x":{"id":"no"},"org":"acme","user":{"name":"n","id":42}},"_id":"no"}"#;
    assert_eq!(one(line, &options), document("42", "acme"));
    let line = r#"{"_source":{"user":{"id":"path"}},"_source.user.id":"exact"}"#;
    assert_eq!(one(line, &options), document("exact", ""));
    for line in [r#"{"_source":{"user":"x"}}"#, r#"{"_source":{"user":{}}}"#, r#"{"_source":[1]}"#] {
        assert!(fault(line, &options).contains("_source.user.id: missing"), "{line}");
    }
    // One object serves several fields.
    let options = with(Some("k"), Some("k.r"), Some("k.w"));
    assert!(fault(r#"{"k":{"r":"a","w":1}}"#, &options).contains("k: is an object"));
    let options = with(Some("k.i"), Some("k.r"), Some("k.w"));
    assert_eq!(one(r#"{"k":{"r":"a","w":1,"i":"x"}}"#, &options), (b"x".to_vec(), b"a".to_vec(), Some(1)));
}

#[test]
fn a_wanted_field_may_not_stand_twice() {
    for line in
        [r#"{"_id":"a","_id":"a"}"#, r#"{"_id":"a","x":1,"\u005fid":null}"#, r#"{"_id":"a","_routing":1,"_routing":2}"#]
    {
        assert!(fault(line, &strict()).contains("stands twice in one object"), "{line}");
    }
    let options = with(Some("a.b"), None, None);
    for line in [r#"{"a":{"b":1,"b":2}}"#, r#"{"a":{"b":1},"a":{}}"#, r#"{"a.b":1,"a.b":1}"#] {
        assert!(fault(line, &options).contains("a.b: stands twice in one object"), "{line}");
    }
    assert_eq!(one(r#"{"x":1,"x":2,"_id":"a"}"#, &strict()).0, b"a");
}

#[test]
fn weights_are_whole_numbers_and_every_record_needs_one() {
    let options = with(None, None, Some("bytes"));
    let weight = |value: &str| one(&format!("{{\"_id\":1,\"bytes\":{value}}}"), &options).2;
    assert_eq!(weight("0"), Some(0));
    assert_eq!(weight("18446744073709551615"), Some(u64::MAX));
    assert_eq!(weight("\"007\""), Some(7));
    for (line, what) in [
        (r#"{"_id":1}"#, "bytes: missing; the fields here are _id"),
        (r#"{"_id":1,"bytes":null}"#, "bytes: is null"),
        (r#"{"_id":1,"bytes":-1}"#, "bytes: \"-1\" is no weight"),
        (r#"{"_id":1,"bytes":1.0}"#, "bytes: the number 1.0 has a fraction"),
        (r#"{"_id":1,"bytes":18446744073709551616}"#, "bytes: \"18446744073709551616\" is no weight"),
        (r#"{"_id":1,"bytes":"1 kB"}"#, "bytes: \"1 kB\" is no weight"),
        (r#"{"_id":1,"bytes":""}"#, "bytes: \"\" is no weight"),
    ] {
        let error = fault(line, &options);
        assert!(error.starts_with(&format!("a.ndjson:1: {what}")), "{error}");
    }
    // A weight beyond 2^53 is no id that a program could change.
    let text = br#"{"_id":1,"bytes":18446744073709551615}"#;
    assert!(read("a.ndjson", text, &options).keys.notes.is_empty());
}

#[test]
fn what_is_no_object_is_bad() {
    for line in
        ["[1,2]", "\"x\"", "{\"_id\":1", "{\"_id\":1}{\"_id\":2}", "{\"_id\":1},", "   ", "{_id:1}", "{\"_id\":01}"]
    {
        let error = fault(line, &strict());
        assert!(error.starts_with("a.ndjson:1: not a JSON object: "), "{error}");
        assert!(!error.contains("at line"), "the parser counts every line as the first: {error}");
    }
    let outcome = read("a.ndjson", b"{\"_id\":1}\n{\"_id\":\"\xFF\"}\n\n{\"_id\":2,\"x\":\"\xFF\"}\n", &skipping());
    assert_eq!(outcome.ids(), ["1"]);
    assert_eq!(outcome.skipped(), [("line is not valid UTF-8".to_owned(), 2), ("empty line".to_owned(), 1)]);
}

#[test]
fn every_long_line_is_counted() {
    let text: String = (0..1011)
        .map(|i| format!("{{\"_id\":\"doc-{i}\",\"_source\":{{\"body\":\"{}\"}}}}\n", "x".repeat(100 + i * 37)))
        .collect();
    let outcome = read("dump.json", text.as_bytes(), &strict());
    assert_eq!((outcome.keys.read, outcome.keys.accepted), (1011, 1011));
}

#[test]
fn a_routing_field_that_no_record_has_is_noted() {
    let outcome = read("a.ndjson", b"{\"_id\":1}\n", &with(None, Some("tenant"), None));
    assert_eq!(
        outcome.keys.notes,
        ["no document has a routing value in the field tenant, so each is placed by its id"]
    );
}

#[test]
fn deep_nesting_does_no_harm() {
    let deep = format!("{{\"x\":{}{},\"_id\":\"a\"}}", "[".repeat(100_000), "]".repeat(100_000));
    assert_eq!(one(&deep, &strict()).0, b"a");
    let wanted = format!("{{\"_id\":{}1{}}}", "{\"_id\":".repeat(100_000), "}".repeat(100_000));
    assert!(fault(&wanted, &strict()).contains("is an object") || fault(&wanted, &strict()).contains("recursion"));
    let path = vec!["a"; 1000].join(".");
    let line = format!("{}1{}", "{\"a\":".repeat(1000), "}".repeat(1000));
    assert_eq!(one(&line, &with(Some(&path), None, None)).0, b"1");
}

#[test]
fn an_empty_id_is_a_matter_of_the_rules() {
    assert_eq!(one(r#"{"_id":""}"#, &strict()), document("", ""));
    assert!(fault(r#"{"_id":""}"#, &elastic(strict())).contains("_id: the id is empty, which Elasticsearch refuses"));
}
