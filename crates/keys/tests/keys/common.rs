//! What the tests share.

use std::io::Write;
use std::path::PathBuf;

use shardlab_core::rows::KeySet;
use shardlab_core::{KeyRules, RawChunk};
use shardlab_keys::{Documents, Format, ReadError, ReadOptions, open};

/// A document as owned bytes: id, routing value, weight.
pub(crate) type Document = (Vec<u8>, Vec<u8>, Option<u64>);

/// What a stream gave: its documents, its counts, and the error it ended in.
pub(crate) struct Outcome {
    pub(crate) documents: Vec<Document>,
    pub(crate) keys: KeySet,
    pub(crate) error: Option<ReadError>,
}

impl Outcome {
    pub(crate) fn ids(&self) -> Vec<String> {
        self.documents.iter().map(|(id, ..)| String::from_utf8_lossy(id).into_owned()).collect()
    }

    pub(crate) fn error(&self) -> String {
        self.error.as_ref().map(ToString::to_string).unwrap_or_default()
    }

    /// Reason and count of what was skipped.
    pub(crate) fn skipped(&self) -> Vec<(String, u64)> {
        self.keys.skipped.iter().map(|skipped| (skipped.reason.clone(), skipped.count)).collect()
    }
}

/// Takes all there is, and checks what holds for every stream.
pub(crate) fn drain(mut stream: Box<dyn Documents>) -> Outcome {
    let mut chunk = RawChunk::default();
    let mut documents = Vec::new();
    let error = loop {
        match stream.next_chunk(&mut chunk) {
            Ok(true) => {
                assert!(!chunk.is_empty() && chunk.len() <= shardlab_keys::BLOCK);
                let batch = chunk.as_batch();
                for (row, key) in batch.iter().enumerate() {
                    let weight = batch.weights().map(|weights| weights[row]);
                    documents.push((key.id.to_vec(), key.routing.to_vec(), weight));
                }
            }
            Ok(false) => break None,
            Err(error) => break Some(error),
        }
    };
    assert!(matches!(stream.next_chunk(&mut chunk), Ok(false)) && chunk.is_empty(), "nothing follows the end");
    let keys = stream.key_set();
    let skipped: u64 = keys.skipped.iter().map(|skipped| skipped.count).sum();
    assert_eq!(keys.read, keys.accepted + skipped, "read = accepted + skipped");
    Outcome { documents, keys, error }
}

/// A folder with one file in it.
pub(crate) struct OneFile {
    _folder: tempfile::TempDir,
    pub(crate) path: PathBuf,
}

pub(crate) fn file(name: &str, bytes: &[u8]) -> OneFile {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::File::create(&path).unwrap().write_all(bytes).unwrap();
    OneFile { _folder: folder, path }
}

/// Reads a file of that name and content.
pub(crate) fn read(name: &str, bytes: &[u8], options: &ReadOptions) -> Outcome {
    let file = file(name, bytes);
    match open(&file.path, options) {
        Ok(stream) => {
            let mut outcome = drain(stream);
            let folder = format!("{}/", file.path.parent().unwrap().display());
            assert!(outcome.keys.description.starts_with(&folder));
            for skipped in &mut outcome.keys.skipped {
                skipped.first_at = skipped.first_at.replace(&folder, "");
            }
            outcome
        }
        Err(error) => {
            let keys = drain(shardlab_keys::synthetic(&"random:1".parse().unwrap(), 0, KeyRules::default())).keys;
            Outcome { documents: Vec::new(), keys, error: Some(error) }
        }
    }
}

pub(crate) fn strict() -> ReadOptions {
    ReadOptions::default()
}

pub(crate) fn skipping() -> ReadOptions {
    ReadOptions { skip_bad: true, ..ReadOptions::default() }
}

pub(crate) fn as_format(format: Format) -> ReadOptions {
    ReadOptions { format: Some(format), ..ReadOptions::default() }
}

/// The rules of Elasticsearch.
pub(crate) fn elastic(options: ReadOptions) -> ReadOptions {
    let rules = KeyRules { text: true, id_not_empty: true, id_max_bytes: Some(512), ..KeyRules::default() };
    ReadOptions { rules, ..options }
}

pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub(crate) fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 1).unwrap()
}
