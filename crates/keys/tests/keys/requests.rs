//! The column of requests, beside that of weights or alone.

use shardlab_core::RawChunk;
use shardlab_keys::{ReadOptions, distinct, open};

use crate::common::{file, read, skipping, strict};

fn asking(base: ReadOptions, weight: Option<&str>) -> ReadOptions {
    ReadOptions { weight_field: weight.map(Into::into), requests_field: Some("hits".into()), ..base }
}

/// Weights and requests of a file, column by column.
fn columns(name: &str, text: &str, options: &ReadOptions, once: bool) -> (Option<Vec<u64>>, Option<Vec<u64>>) {
    let file = file(name, text.as_bytes());
    let mut documents = open(&file.path, options).unwrap();
    if once {
        documents = distinct(documents, 1 << 20);
    }
    let mut chunk = RawChunk::default();
    assert!(documents.next_chunk(&mut chunk).unwrap());
    let batch = chunk.as_batch();
    (batch.weights().map(<[u64]>::to_vec), batch.requests().map(<[u64]>::to_vec))
}

#[test]
fn requests_are_read_with_and_without_weights_from_csv_and_json() {
    let csv = "hits,_id,size\n7,a,80\n0,b,1\n";
    let json = "{\"_id\":\"a\",\"size\":80,\"hits\":7}\n{\"hits\":\"0\",\"_id\":\"b\",\"size\":1,\"_routing\":\"r\"}\n";
    for (name, text) in [("a.csv", csv), ("a.ndjson", json)] {
        assert_eq!(columns(name, text, &asking(strict(), Some("size")), false), (Some(vec![80, 1]), Some(vec![7, 0])));
        assert_eq!(columns(name, text, &asking(strict(), None), false), (None, Some(vec![7, 0])));
    }
    let repeated = "_id,hits\na,1\na,2\nb,3\n";
    assert_eq!(columns("a.csv", repeated, &asking(strict(), None), true), (None, Some(vec![1, 3])));
}

#[test]
fn what_is_no_number_of_requests_is_bad_by_its_own_name() {
    let error = read("a.csv", b"_id,hits\na,many\n", &asking(strict(), None)).error();
    assert!(error.contains("a.csv:2") && error.contains("hits: \"many\" is no number of requests"), "{error}");
    let error = read("a.csv", b"_id,hit\na,1\n", &asking(strict(), None)).error();
    assert!(error.contains("no column \"hits\"") && error.contains("--requests-field"), "{error}");
    let error = read("a.ndjson", b"{\"_id\":1}\n", &asking(strict(), None)).error();
    assert!(error.contains("hits"), "{error}");
    let skipped = read("a.csv", b"_id,hits\na,-1\nb,2\nc,18446744073709551616\n", &asking(skipping(), None));
    assert_eq!(skipped.skipped(), [("hits: no whole number below 2^64".to_owned(), 2)]);
    let error = read("a.txt", b"a\n", &asking(strict(), None)).error();
    assert!(error.contains("--requests-field names a field, and plain lines have none"), "{error}");
}

#[test]
fn the_same_numbers_as_requests_are_another_set_than_as_weights() {
    let text = b"_id,hits\na,1\n";
    let weights = ReadOptions { weight_field: Some("hits".into()), ..strict() };
    let digest = |options: &ReadOptions| read("a.csv", text, options).keys.digest;
    assert_ne!(digest(&weights), digest(&asking(strict(), None)));
}
