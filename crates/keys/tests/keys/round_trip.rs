//! Any documents come back from any format, whatever the chunks, line ends and compression.

use crate::common::{Document, as_format, gzip, read, strict, zstd};
use proptest::prelude::*;
use shardlab_keys::{BLOCK, Format, ReadOptions};

/// Bytes without a line feed, neither empty nor with a carriage return at the end.
fn line() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>().prop_filter("no line feed", |byte| *byte != b'\n'), 1..24)
        .prop_filter("no carriage return at the end", |line| line.last() != Some(&b'\r'))
}

proptest! {
    #[test]
    fn any_lines_with_mixed_ends_come_back(
        lines in prop::collection::vec((line(), any::<bool>()), 1..60),
        last_has_an_end: bool,
        packed in 0..3,
    ) {
        let mut bytes = b"first\n".to_vec();
        for (line, crlf) in &lines {
            bytes.extend_from_slice(line);
            bytes.extend_from_slice(if *crlf { b"\r\n" } else { b"\n" });
        }
        if !last_has_an_end {
            bytes.pop();
            if bytes.last() == Some(&b'\r') {
                bytes.pop();
            }
        }
        let bytes = match packed {
            0 => bytes,
            1 => gzip(&bytes),
            _ => zstd(&bytes),
        };
        let outcome = read("a.txt", &bytes, &strict());
        prop_assert!(outcome.error.is_none());
        let ids: Vec<&[u8]> = outcome.documents[1..].iter().map(|(id, ..)| id.as_slice()).collect();
        prop_assert_eq!(ids, lines.iter().map(|(line, _)| line.as_slice()).collect::<Vec<_>>());
    }

    #[test]
    fn any_text_comes_back_from_ndjson(documents in prop::collection::vec((".{0,20}", ".{0,8}", any::<u64>()), 1..40)) {
        let text: String = documents
            .iter()
            .map(|(id, routing, weight)| {
                format!("{}\n", serde_json::json!({ "x": [id], "_id": id, "_routing": routing, "w": weight }))
            })
            .collect();
        let options = ReadOptions { weight_field: Some("w".into()), ..as_format(Format::Ndjson) };
        let outcome = read("a.txt", text.as_bytes(), &options);
        prop_assert!(outcome.error.is_none(), "{}", outcome.error());
        let expected: Vec<Document> =
            documents.iter().map(|(id, routing, weight)| (id.clone().into(), routing.clone().into(), Some(*weight))).collect();
        prop_assert_eq!(outcome.documents, expected);
    }

    #[test]
    fn no_bytes_make_a_reader_panic(bytes: Vec<u8>, skip_bad: bool, format in 0..3_usize) {
        let format = [Format::Lines, Format::Ndjson, Format::Csv][format];
        for head in [b"".as_slice(), b"_id\n", b"\x1F\x8B\x08", b"\x28\xB5\x2F\xFD", b"{\"_id\":"] {
            read("a", &[head, &bytes].concat(), &ReadOptions { skip_bad, ..as_format(format) });
        }
    }
}

#[test]
fn the_same_documents_have_the_same_digest_in_every_format() {
    let ids: Vec<String> = (0..BLOCK + 10).map(|i| format!("id-{i}")).collect();
    let lines = ids.join("\n");
    let csv = format!("_id\n{lines}\n");
    let json: String = ids.iter().map(|id| format!("{{\"_id\":\"{id}\"}}\n")).collect();
    let digests = [("a", lines), ("a.csv", csv), ("a.json", json)].map(|(name, text)| {
        let outcome = read(name, text.as_bytes(), &strict());
        assert_eq!(outcome.ids(), ids);
        outcome.keys.digest
    });
    assert!(digests[0] == digests[1] && digests[1] == digests[2], "{digests:?}");
}

#[test]
fn long_ids_make_smaller_chunks_and_no_other_digest() {
    let text: String = (0..40).map(|i| format!("{}{i}\n", "x".repeat(1 << 20))).collect();
    let file = crate::common::file("a.txt", text.as_bytes());
    let mut documents = shardlab_keys::open(&file.path, &strict()).unwrap();
    let mut chunk = shardlab_core::RawChunk::default();
    let mut sizes = Vec::new();
    while documents.next_chunk(&mut chunk).unwrap() {
        sizes.push(chunk.len());
    }
    assert_eq!(sizes.iter().sum::<usize>(), 40);
    assert!(sizes.iter().all(|&size| size <= 9), "{sizes:?}");
}
