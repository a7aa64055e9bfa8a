//! Plain lines, and what holds for every format: marks, line ends, bad bytes, limits, messages.

use crate::common::{as_format, elastic, file, read, skipping, strict};
use shardlab_core::KeyRules;
use shardlab_keys::{Encoding, Format, ReadError, ReadOptions, distinct, open};

#[test]
fn a_byte_order_mark_is_taken_off_at_the_very_start_alone() {
    let outcome = read("a.txt", b"\xEF\xBB\xBFid-1\n\xEF\xBB\xBFid-2\n", &strict());
    assert_eq!(outcome.documents[0].0, b"id-1");
    assert_eq!(outcome.documents[1].0, b"\xEF\xBB\xBFid-2");
    assert_eq!(outcome.keys.notes, ["a UTF-8 byte order mark at the very start was taken off"]);
}

#[test]
fn carriage_returns_of_crlf_are_taken_off_and_counted() {
    let text: String = (0..1000).map(|i| format!("doc-{i}{}", if i % 2 == 0 { "\r\n" } else { "\n" })).collect();
    let outcome = read("a.txt", text.as_bytes(), &strict());
    assert_eq!(outcome.ids(), (0..1000).map(|i| format!("doc-{i}")).collect::<Vec<_>>());
    assert_eq!(outcome.keys.notes, ["500 of 1000 lines end in CRLF; the carriage returns were taken off"]);
    // Only one, and only in front of a line feed.
    assert_eq!(read("a.txt", b"a\r\r\nb\rc\nd\r", &strict()).ids(), ["a\r", "b\rc", "d\r"]);
}

#[test]
fn a_final_line_feed_makes_no_empty_key() {
    for text in ["a\nb\n", "a\nb"] {
        let outcome = read("a.txt", text.as_bytes(), &strict());
        assert_eq!(outcome.ids(), ["a", "b"]);
        assert_eq!(outcome.keys.read, 2);
        assert!(outcome.keys.notes.is_empty());
    }
}

#[test]
fn a_bad_byte_never_ends_the_reading_quietly() {
    let bytes = b"id-1\nid-\xFF\nid-3";
    assert_eq!(read("a.txt", bytes, &strict()).documents.len(), 3, "bytes are bytes for a hash of bytes");

    let outcome = read("a.txt", bytes, &elastic(skipping()));
    assert_eq!(outcome.ids(), ["id-1", "id-3"]);
    assert_eq!((outcome.keys.read, outcome.keys.accepted), (3, 2));
    assert_eq!(outcome.skipped(), [("not valid UTF-8, and a hash or system takes text only".to_owned(), 1)]);
    assert_eq!(outcome.keys.skipped[0].first_at, "a.txt:2");

    let outcome = read("a.txt", bytes, &elastic(strict()));
    assert_eq!(outcome.ids(), ["id-1"], "what stands before the bad line is handed out");
    assert!(outcome.error().contains("a.txt:2: the id is not valid UTF-8 from byte 3 on"), "{}", outcome.error());
    assert!(outcome.error().contains("--skip-bad"));
}

#[test]
fn ids_that_differ_in_a_bad_byte_stay_apart() {
    let file = file("a.txt", b"id-\xFE\nid-\xFF\n");
    let keys = crate::common::drain(distinct(open(&file.path, &strict()).unwrap(), u64::MAX)).keys;
    assert_eq!((keys.accepted, keys.distinct), (2, Some(2)));
    assert!(open(&file.path, &elastic(strict())).unwrap().next_chunk(&mut Default::default()).is_err());
}

#[test]
fn an_empty_line_is_bad_wherever_it_stands() {
    let outcome = read("a.txt", b"a\n\nb\n\r\n\n", &skipping());
    assert_eq!(outcome.ids(), ["a", "b"]);
    assert_eq!(outcome.skipped(), [("empty line".to_owned(), 3)]);
    assert_eq!(outcome.keys.skipped[0].first_at, "a.txt:2");
    assert!(read("a.txt", b"\n\n\n", &strict()).error().contains("a.txt:1: the line is empty"));
}

#[test]
fn a_file_without_a_document_is_an_error_that_names_it() {
    for format in [Format::Lines, Format::Ndjson, Format::Csv] {
        for bytes in [b"".as_slice(), b"\xEF\xBB\xBF", &crate::common::gzip(b""), &crate::common::zstd(b"")] {
            let outcome = read("a.txt", bytes, &as_format(format));
            assert!(outcome.error().contains("a.txt: no keys"), "{format:?} {bytes:?}: {}", outcome.error());
        }
    }
    let outcome = read("a.txt", b"\n\n", &skipping());
    assert!(outcome.error().contains("a.txt: no keys; all 2 records are bad"), "{}", outcome.error());
    assert_eq!(outcome.keys.read, 2);
    assert!(read("a.csv", b"_id\n", &strict()).error().contains("a.csv: no keys"));
}

#[test]
fn elasticsearch_takes_ids_of_512_bytes_and_no_longer() {
    let text = format!("{}\n{}\nx\n", "a".repeat(512), "é".repeat(257));
    assert_eq!(read("a.txt", text.as_bytes(), &strict()).documents.len(), 3);
    let outcome = read("a.txt", text.as_bytes(), &elastic(skipping()));
    assert_eq!(outcome.documents.len(), 2);
    assert_eq!(outcome.skipped(), [("id longer than Elasticsearch allows".to_owned(), 1)]);
    assert!(read("a.txt", text.as_bytes(), &elastic(strict())).error().contains("514 bytes, more than the 512"));
}

#[test]
fn duplicates_are_counted_and_with_distinct_passed_once() {
    // 19,575 lines of 14,754 ids, the repeated ones behind the rest.
    let text: String = (0..19_575_u32).map(|i| format!("doc-{}\n", i % 14_754)).collect();
    let file = file("a.txt", text.as_bytes());
    let plain = crate::common::drain(open(&file.path, &strict()).unwrap());
    let once = crate::common::drain(distinct(open(&file.path, &strict()).unwrap(), u64::MAX));
    assert_eq!((plain.documents.len(), plain.keys.distinct), (19_575, None));
    assert_eq!((once.documents.len(), once.keys.distinct), (14_754, Some(14_754)));
    assert_eq!((once.keys.read, once.keys.accepted), (19_575, 19_575));
    assert_eq!(once.keys.digest, plain.keys.digest, "the digest is that of the accepted documents");
    assert!(once.keys.distinct_heap_bytes.unwrap() > 14_754 * 16);
    let consecutive = read("a.txt", b"a\na\na\nb\na\n", &strict());
    assert_eq!(consecutive.keys.consecutive_duplicates, 2);
}

#[test]
fn a_chunk_of_nothing_but_duplicates_is_not_the_end() {
    let text = format!("{}b\n", "a\n".repeat(3 * shardlab_keys::BLOCK));
    let file = file("a.txt", text.as_bytes());
    assert_eq!(crate::common::drain(distinct(open(&file.path, &strict()).unwrap(), u64::MAX)).ids(), ["a", "b"]);
}

#[test]
fn a_huge_line_is_read_up_to_the_limit_and_bad_beyond() {
    let limit = 64 << 20;
    let mut bytes = b"a\n".to_vec();
    bytes.resize(2 + limit, b'x');
    bytes.extend_from_slice(b"\r\nb\n");
    let outcome = read("a.txt", &bytes, &strict());
    assert_eq!(outcome.documents[1].0.len(), limit);
    assert_eq!(outcome.documents.len(), 3);

    bytes.insert(2, b'y');
    let outcome = read("a.txt", &bytes, &skipping());
    assert_eq!(outcome.ids(), ["a", "b"]);
    assert_eq!(outcome.skipped(), [("record longer than 64 MiB".to_owned(), 1)]);
    assert_eq!(outcome.keys.skipped[0].first_at, "a.txt:2");
    assert!(read("a.txt", &bytes, &strict()).error().contains("a.txt:2: the record is longer than 67108864 bytes"));
    // Line numbers go on behind it, with and without an end of its own.
    bytes.extend_from_slice(b"\n");
    assert_eq!(read("a.txt", &bytes, &skipping()).keys.skipped[1].first_at, "a.txt:4");
    bytes.truncate(limit + 4);
    assert_eq!(read("a.txt", &bytes, &skipping()).ids(), ["a"]);
}

#[test]
fn ids_and_routing_values_are_decoded_where_it_is_said() {
    let options = |encoding, skip_bad| ReadOptions { encoding, skip_bad, ..ReadOptions::default() };
    assert_eq!(read("a.txt", b"6162\n00FF\n", &options(Encoding::Hex, false)).documents[1].0, [0, 255]);
    assert_eq!(read("a.txt", b"YWI=\nYWI\n", &options(Encoding::Base64, false)).ids(), ["ab", "ab"]);
    let outcome = read("a.csv", b"_id,_routing\n61,62\n61,6\n", &options(Encoding::Hex, true));
    assert_eq!(outcome.documents, [(b"a".to_vec(), b"b".to_vec(), None)]);
    assert_eq!(outcome.skipped(), [("_routing: not in the encoding that was named".to_owned(), 1)]);
    let error = read("a.txt", b"abc\n", &options(Encoding::Hex, false)).error();
    assert!(error.contains("a.txt:1: 3 hexadecimal digits do not make whole bytes; the input was said to be hex"));
}

#[test]
fn names_that_would_steer_a_terminal_are_shown_escaped() {
    let error = read("a\x1b[31m\n.txt", b"\n", &strict()).error();
    assert!(error.contains("a\\u{1b}[31m\\n.txt:1: the line is empty"), "{error}");
}

#[test]
fn files_that_cannot_be_read_say_why() {
    let file = file("a.txt", b"x");
    let missing = file.path.with_file_name("b.txt");
    assert!(matches!(open(&missing, &strict()), Err(ReadError::Open { .. })));
    let folder = open(file.path.parent().unwrap(), &strict()).err().unwrap();
    assert!(folder.to_string().contains("is a folder"), "{folder}");
    for (bytes, kind) in [
        (b"\xFD7zXZ\0\0\x04".as_slice(), "an xz archive"),
        (b"PK\x03\x04....", "a zip archive"),
        (b"\xFF\xFEa\0\n\0", "text in UTF-16"),
        (b"\xFE\xFF\0a\0\n", "text in UTF-16"),
    ] {
        let error = read("a.txt", bytes, &strict()).error();
        assert!(error.contains(&format!("a.txt: {kind}, which is not read")), "{error}");
    }
}

#[test]
fn plain_lines_have_no_fields_to_name() {
    let options = ReadOptions { id_field: Some("uid".into()), ..ReadOptions::default() };
    assert!(read("a.txt", b"x\n", &options).error().contains("--id-field names a field, and plain lines have none"));
    let noted = read("ids", b"{\"_id\":1}\n", &strict());
    assert_eq!(noted.ids(), ["{\"_id\":1}"]);
    assert!(noted.keys.notes[0].contains("--keys-format ndjson"));
}

#[test]
fn rules_of_other_hashes_are_kept_as_well() {
    let options = |rules| ReadOptions { rules, ..ReadOptions::default() };
    let decimal = KeyRules { decimal: true, ..KeyRules::default() };
    assert!(read("a.txt", b"12\nx\n", &options(decimal)).error().contains("a.txt:2: not a decimal number"));
    let routed = KeyRules { routing_required: true, ..KeyRules::default() };
    assert!(read("a.txt", b"12\n", &options(routed)).error().contains("needs a routing value"));
    let error = read("a.csv", b"_id,routing\n1,\n", &options(routed)).error();
    assert!(error.contains("a.csv:2: routing: a partitioned index needs"), "{error}");
}

#[test]
fn progress_ends_at_the_size_of_the_file() {
    let file = file("a.txt.gz", &crate::common::gzip(&b"id\n".repeat(1000)));
    let mut documents = open(&file.path, &strict()).unwrap();
    while documents.next_chunk(&mut Default::default()).unwrap() {}
    let progress = documents.progress();
    assert_eq!(Some(progress.done), progress.total);
}

#[test]
fn counting_each_document_once_keeps_to_its_memory() {
    let text: String = (0..100_000).map(|i| format!("id-{i}\n")).collect();
    let file = file("a.txt", text.as_bytes());
    let outcome = crate::common::drain(distinct(open(&file.path, &strict()).unwrap(), 1_000_000));
    assert!(outcome.error().contains("more than 1000000 bytes of memory"), "{}", outcome.error());
    assert_eq!(
        crate::common::drain(distinct(open(&file.path, &strict()).unwrap(), 1 << 30)).keys.distinct,
        Some(100_000)
    );
}
