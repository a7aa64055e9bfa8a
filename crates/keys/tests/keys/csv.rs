//! Rows under a header.

use crate::common::{Document, read, skipping, strict};
use proptest::prelude::*;
use shardlab_keys::ReadOptions;

fn document(id: &str, routing: &str) -> Document {
    (id.into(), routing.into(), None)
}

#[test]
fn cells_stay_as_they_are_written() {
    let outcome = read("a.csv", b"_id\n007\n\"007\"\n73928e03\n 1 \n1e3\n", &strict());
    assert_eq!(outcome.ids(), ["007", "007", "73928e03", " 1 ", "1e3"]);
}

#[test]
fn the_header_is_found_behind_a_byte_order_mark() {
    let outcome = read("a.csv", b"\xEF\xBB\xBF_id,x\r\na,b\r\n", &strict());
    assert_eq!(outcome.ids(), ["a"]);
    assert_eq!(outcome.keys.notes.len(), 2);
    assert!(outcome.keys.notes[1].starts_with("2 of 2 lines end in CRLF"));
    assert_eq!(read("a.csv", b"\xEF\xBB\xBF\"_id\"\na\n", &strict()).ids(), ["a"]);
}

#[test]
fn columns_are_found_by_name_and_a_missing_one_lists_those_there_are() {
    let options = |id: &str, routing: Option<&str>, weight: Option<&str>| ReadOptions {
        id_field: Some(id.into()),
        routing_field: routing.map(Into::into),
        weight_field: weight.map(Into::into),
        ..ReadOptions::default()
    };
    let text = b"env,uid,org,size\nprod,u1,acme,10\nprod,u2,,0\n";
    let outcome = read("a.csv", text, &options("uid", Some("org"), Some("size")));
    assert_eq!(outcome.documents[0], (b"u1".to_vec(), b"acme".to_vec(), Some(10)));
    assert_eq!(outcome.documents[1], (b"u2".to_vec(), b"".to_vec(), Some(0)));
    assert_eq!(outcome.keys.with_routing, 1);

    let error = read("a.csv", text, &strict()).error();
    let expected = "a.csv:1: there is no column \"_id\"; the columns are env, uid, org, size; hint: --id-field uid";
    assert!(error.ends_with(expected), "{error}");
    let error = read("a.csv", text, &options("uid", Some("tenant"), None)).error();
    assert!(error.contains("no column \"tenant\"") && error.contains("--routing-field"), "{error}");
    let error = read("a.csv", b"_id;org\n1;2\n", &strict()).error();
    assert!(error.contains("that is one column, since columns are parted by commas"), "{error}");
    let error = read("a.csv", b"_id,x,_id\n1,2,3\n", &strict()).error();
    assert!(error.contains("\"_id\" stands twice in the header, as column 1 and column 3"), "{error}");
    assert_eq!(read("a.csv", b"_id,x,x\n1,2,3\n", &strict()).ids(), ["1"], "columns that nobody asked for may double");
}

#[test]
fn both_names_of_the_routing_column_are_read() {
    assert_eq!(read("a.csv", b"_routing,_id\nr,1\n,2\n", &strict()).documents, [document("1", "r"), document("2", "")]);
    assert_eq!(read("a.csv", b"_id,routing\n1,r\n", &strict()).documents, [document("1", "r")]);
    let both = read("a.csv", b"_id,routing,_routing\n1,r,r\n2,s,\n3,a,b\n", &skipping());
    assert_eq!(both.documents, [document("1", "r"), document("2", "s")]);
    assert_eq!(both.skipped(), [("_routing and routing hold different values".to_owned(), 1)]);
}

#[test]
fn a_column_in_other_letters_is_named_as_it_is_written() {
    let asked = |id: &str, weight: Option<&str>| ReadOptions {
        id_field: Some(id.into()),
        weight_field: weight.map(Into::into),
        ..strict()
    };
    let said = read("a.csv", b"Order_ID,bytes\n1,2\n", &asked("order_id", None)).error();
    assert!(said.contains("letter by letter: --id-field \"Order_ID\""), "{said}");
    let said = read("a.csv", b"id, Bytes\n1,2\n", &asked("id", Some("bytes"))).error();
    assert!(said.contains("letter by letter: --weight-field \" Bytes\""), "{said}");
    let said = read("a.csv", b"_ID,x\n1,2\n", &strict()).error();
    assert!(said.contains("letter by letter: --id-field \"_ID\""), "{said}");
}

#[test]
fn quoted_fields_hold_commas_quotes_and_line_ends() {
    let text = b"_id,x\r\n\"a,\"\"b\"\"\",1\r\n\"c\r\nd\",2\r\ne,\"\"\r\n";
    let outcome = read("a.csv", text, &strict());
    assert_eq!(outcome.ids(), ["a,\"b\"", "c\r\nd", "e"]);
    assert_eq!(outcome.keys.read, 3);
}

#[test]
fn bad_rows_are_told_with_the_line_they_start_on() {
    let text = b"_id,x\n\"a\nb\",1\nc\nd,2,3\n\ne,4\n\"f\"g,5\nh,6\n\"open,7\ni,8\n";
    let outcome = read("a.csv", text, &skipping());
    assert_eq!(outcome.ids(), ["a\nb", "e", "h", "i"]);
    let places: Vec<_> = outcome.keys.skipped.iter().map(|s| (s.first_at.as_str(), s.count)).collect();
    assert_eq!(places, [("a.csv:4", 2), ("a.csv:6", 1), ("a.csv:8", 1), ("a.csv:10", 1)]);
    let reasons: Vec<_> = outcome.skipped().into_iter().map(|(reason, _)| reason).collect();
    assert_eq!(
        reasons,
        [
            "row does not have as many fields as the header",
            "empty line",
            "text follows the quote that closes a field",
            "quoted field is never closed"
        ]
    );
    let error = read("a.csv", b"_id,x\na,1\nb\n", &strict()).error();
    assert!(error.contains("a.csv:3: the row has 1 field, and the header 2"), "{error}");
    assert!(read("a.csv", b"\n_id\n", &strict()).error().contains("a.csv:1: the first line must be the CSV header"));
    assert!(read("a.csv", b"\"_id\n1\n", &strict()).error().contains("a.csv:1: the first line must be the CSV header"));
}

#[test]
fn a_weight_that_is_missing_or_no_number_is_bad() {
    let options = ReadOptions { weight_field: Some("w".into()), ..skipping() };
    let outcome = read("a.csv", b"_id,w\na,1\nb,\nc,-1\nd, 1\ne,18446744073709551616\nf,2\n", &options);
    assert_eq!(outcome.ids(), ["a", "f"]);
    assert_eq!(outcome.skipped(), [("w: no whole number below 2^64".to_owned(), 4)]);
}

#[test]
fn quotes_that_never_pair_cost_no_more_than_a_few_readings() {
    // Every line opens a quote when it is read alone and leaves it open when it is read on.
    let text = format!("_id,x\n{}\"x\n", "a\",\"\"\",\n".repeat(20_000));
    let outcome = read("a.csv", text.as_bytes(), &skipping());
    assert!(outcome.error().contains("no keys"), "{}", outcome.error());
}

proptest! {
    #[test]
    fn what_the_csv_crate_writes_is_read_the_same(
        rows in prop::collection::vec((prop::collection::vec(any::<u8>(), 0..12), "[a\"\r\n,]{0,6}"), 1..40),
        crlf: bool,
        always: bool,
    ) {
        let mut writer = ::csv::WriterBuilder::new()
            .terminator(if crlf { ::csv::Terminator::CRLF } else { ::csv::Terminator::Any(b'\n') })
            .quote_style(if always { ::csv::QuoteStyle::Always } else { ::csv::QuoteStyle::Necessary })
            .from_writer(Vec::new());
        writer.write_record(["_id", "_routing"]).unwrap();
        for (id, routing) in &rows {
            writer.write_record([id.as_slice(), routing.as_bytes()]).unwrap();
        }
        let outcome = read("a.csv", &writer.into_inner().unwrap(), &strict());
        prop_assert!(outcome.error.is_none(), "{}", outcome.error());
        let expected: Vec<Document> = rows.into_iter().map(|(id, routing)| (id, routing.into(), None)).collect();
        prop_assert_eq!(outcome.documents, expected);
    }

    #[test]
    fn rows_that_are_good_are_those_of_the_csv_crate(text in "([ab]|\"|,|\"\"|\n|\",\"|\r\n){0,60}") {
        let bytes = format!("_id,_routing\n{text}");
        let ours = read("a.csv", bytes.as_bytes(), &skipping());
        // Where a row is bad the two differ on purpose.
        if ours.keys.skipped.is_empty() && ours.error.is_none() {
            let mut reader = ::csv::ReaderBuilder::new().from_reader(bytes.as_bytes());
            let theirs: Vec<Document> = reader
                .byte_records()
                .map(|row| row.map(|row| (row[0].to_vec(), row[1].to_vec(), None)).unwrap())
                .collect();
            prop_assert_eq!(ours.documents, theirs);
        }
    }
}

#[test]
fn a_routing_column_that_is_nearly_right_is_not_passed_over() {
    for header in ["_id, _routing", "_id,Routing", "_id,_ROUTING"] {
        let outcome = crate::common::read("a.csv", format!("{header}\nx,r\n").as_bytes(), &crate::common::strict());
        assert!(outcome.error().contains("is spelled otherwise"), "{header}: {}", outcome.error());
    }
}

#[test]
fn a_small_table_is_read_as_strictly_as_a_key_set() {
    let table = |bytes: &[u8]| {
        let file = crate::common::file("nodes.csv", bytes);
        shardlab_keys::read_table(&file.path)
            .map(|rows| rows.into_iter().map(|row| (row.line, row.fields)).collect::<Vec<_>>())
    };
    let rows = table(b"\xEF\xBB\xBFname,weight\r\n\"a,\"\"b\",1\r\nc\n").unwrap();
    let expected = [(1, vec!["name", "weight"]), (2, vec!["a,\"b", "1"]), (3, vec!["c"])];
    assert_eq!(rows, expected.map(|(line, fields)| (line, fields.into_iter().map(str::to_owned).collect())));
    assert_eq!(table(b"").unwrap(), []);
    for (bytes, place) in [
        (b"name,weight\n\"a,1\nb,2\n".as_slice(), "nodes.csv:2: a quoted field is never closed"),
        (b"a\n\nb\n", "nodes.csv:2: the line is empty"),
        (b"a\n\xFF\n", "nodes.csv:2: the string is not text"),
        (b"\"a\"b\n", "nodes.csv:1: text follows the quote"),
    ] {
        let error = table(bytes).unwrap_err().to_string();
        assert!(error.contains(place) && !error.contains("--skip-bad"), "{error}");
    }
}
