use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use shardlab_core::KeyRules;

use super::Encoding;
use super::archive::{Codec, Input, MAGIC_BYTES, Members};
use super::lines::Lines;
use super::reader::{Reader, Stored};
use crate::{Documents, ReadError, shown};

/// How a file holds its records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// One id a line.
    Lines,
    /// Rows of RFC 4180 under a header, parted by commas.
    Csv,
    /// One JSON object a line.
    Ndjson,
}

impl Format {
    /// The format that a file's name stands for, endings of compression left out: `.csv`; `.ndjson`,
    /// `.jsonl` and `.json`; lines for all others.
    #[must_use]
    pub fn of_name(path: &Path) -> Self {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        let mut name = name.as_str();
        while let Some(shorter) = [".gz", ".gzip", ".zst", ".zstd"].iter().find_map(|end| name.strip_suffix(end)) {
            name = shorter;
        }
        match name.rsplit_once('.') {
            Some((_, "csv")) => Self::Csv,
            Some((_, "ndjson" | "jsonl" | "json")) => Self::Ndjson,
            _ => Self::Lines,
        }
    }
}

/// How a file is read. The default takes the format from the file's name and refuses the first bad
/// record.
#[derive(Clone, Debug, Default)]
pub struct ReadOptions {
    /// The format, in place of what the name says; standard input is lines where nothing is said.
    pub format: Option<Format>,
    /// The field of the id, `_id` where nothing is said. For NDJSON a name at the top level, else a
    /// path with dots through objects.
    pub id_field: Option<String>,
    /// The field of the routing value; where nothing is said, `_routing` or `routing`, if any.
    pub routing_field: Option<String>,
    /// The field of the weight; where nothing is said, documents have none.
    pub weight_field: Option<String>,
    /// The field of the requests for a document; where nothing is said, documents have none.
    pub requests_field: Option<String>,
    /// Leaves bad records out and counts them, in place of refusing the first.
    pub skip_bad: bool,
    /// What the schemes and hashes demand that the documents are meant for.
    pub rules: KeyRules,
    /// How ids and routing values are written.
    pub encoding: Encoding,
}

/// Opens a file of documents; `-` is standard input.
///
/// Compression is recognised by the first bytes, whatever the name: gzip and zstd, with any number of
/// members.
///
/// # Errors
/// The file cannot be opened or is not of a kind that is read, the options cannot stand together, or
/// a CSV file has no header with the wanted columns. Bad records are errors of
/// [`next_chunk`](Documents::next_chunk).
pub fn open(path: &Path, options: &ReadOptions) -> Result<Box<dyn Documents>, ReadError> {
    if path == Path::new("-") {
        let file = "<stdin>".to_owned();
        return Ok(Box::new(start(
            file,
            Box::new(io::stdin()),
            None,
            options,
            options.format.unwrap_or(Format::Lines),
        )?));
    }
    let name = shown::escaped(path.as_os_str().as_encoded_bytes());
    let failed = |source| ReadError::Open { file: name.clone(), source };
    let file = File::open(path).map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    if metadata.is_dir() {
        return Err(ReadError::Folder { file: name });
    }
    // Pipes and devices have no size.
    let size = metadata.is_file().then_some(metadata.len());
    let format = options.format.unwrap_or_else(|| Format::of_name(path));
    Ok(Box::new(start(name, Box::new(file), size, options, format)?))
}

/// Opens bytes that are part of the program, in plain lines.
pub(crate) fn open_embedded(
    name: &str,
    bytes: &'static [u8],
    options: &ReadOptions,
) -> Result<Box<dyn Documents>, ReadError> {
    let size = u64::try_from(bytes.len()).ok();
    Ok(Box::new(start(name.to_owned(), Box::new(bytes), size, options, Format::Lines)?))
}

pub(super) fn start(
    file: String,
    source: Box<dyn Read + Send>,
    size: Option<u64>,
    options: &ReadOptions,
    format: Format,
) -> Result<Reader, ReadError> {
    if format == Format::Lines {
        let fields = [
            ("--id-field", &options.id_field),
            ("--routing-field", &options.routing_field),
            ("--weight-field", &options.weight_field),
            ("--requests-field", &options.requests_field),
        ];
        if let Some((flag, _)) = fields.iter().find(|(_, field)| field.is_some()) {
            let what = format!(
                "{flag} names a field, and plain lines have none; say --keys-format csv or --keys-format ndjson"
            );
            return Err(ReadError::Options { file, what });
        }
    }
    let named = [&options.id_field, &options.routing_field, &options.weight_field, &options.requests_field];
    if named.iter().any(|field| field.as_deref() == Some("")) {
        let what =
            "a field has an empty name; --id-field, --routing-field, --weight-field and --requests-field take a \
                    column or a field"
                .to_owned();
        return Err(ReadError::Options { file, what });
    }
    let taken = Arc::new(AtomicU64::new(0));
    let mut input = Input::new(Box::new(Counted { inner: source, taken: Arc::clone(&taken) }));
    let head = match input.peek(HEAD_BYTES) {
        Ok(head) => head,
        Err(source) => return Err(ReadError::Read { file, line: 1, source }),
    };
    if let Some(&(_, kind, instead)) = FOREIGN.iter().find(|(magic, ..)| head.starts_with(magic)) {
        return Err(ReadError::Kind { file, kind, instead });
    }
    let mut notes = if format == Format::Lines && options.format.is_none() { guess(head) } else { Vec::new() };
    let content: Box<dyn Read + Send> = match Codec::of(&head[..head.len().min(MAGIC_BYTES)]) {
        Some(_) => Box::new(Members::new(input)),
        None => {
            if let Some(end) = [".gz", ".gzip", ".zst", ".zstd"].iter().find(|end| file.ends_with(**end)) {
                notes.push(format!("the name ends in {end}, but the file is not compressed, and was read as it is"));
            }
            Box::new(input)
        }
    };
    let mut lines = Lines::new(content);
    if Codec::of(lines.peek(MAGIC_BYTES)).is_some() {
        return Err(ReadError::Kind { file, kind: "compressed twice", instead: "unpack it once, and then again" });
    }
    Reader::new(Stored { file, taken, size, notes }, lines, format, options)
}

/// Bytes looked at before a file is read.
const HEAD_BYTES: usize = 8;

/// First bytes of files that would only give nonsense when read as text.
const FOREIGN: &[(&[u8], &str, &str)] = &[
    (b"\xFD7zXZ\0", "an xz archive", "unpack it first, as with: xz -dc FILE | shardlab … --keys -"),
    (b"BZh91AY&", "a bzip2 archive", "unpack it first, as with: bzip2 -dc FILE | shardlab … --keys -"),
    (b"PK\x03\x04", "a zip archive", "unpack it first, as with: unzip -p FILE | shardlab … --keys -"),
    (b"PAR1", "a Parquet file", "write its id column as CSV or NDJSON first"),
];

/// A word about plain lines that look like something else.
fn guess(head: &[u8]) -> Vec<String> {
    let text = head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(head);
    if text.starts_with(b"{\"") {
        vec![
            "the file looks like JSON, but is read as plain ids, one a line; say --keys-format ndjson to read fields"
                .into(),
        ]
    } else {
        Vec::new()
    }
}

/// Counts the bytes that pass, for progress.
struct Counted {
    inner: Box<dyn Read + Send>,
    taken: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(out)?;
        self.taken.fetch_add(u64::try_from(n).unwrap_or(0), Ordering::Relaxed);
        Ok(n)
    }
}
