use std::fmt;
use std::io;

use shardlab_core::KeyFault;

use crate::read::MAX_RECORD;

/// Why documents could not be read or made.
///
/// The text names the place as `file:line`, then what is wrong, then what would be right. Names and
/// values from outside are shown with control characters escaped, so that no file can steer a
/// terminal.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The operating system does not open the file.
    #[error("{file}: cannot be opened: {source}")]
    Open {
        /// The file.
        file: String,
        /// What the system says.
        source: io::Error,
    },
    /// The path is a folder.
    #[error("{file}: is a folder, and keys are read from one file; name a file in it, or pipe several into \"-\"")]
    Folder {
        /// The path.
        file: String,
    },
    /// The operating system fails in the middle of the file.
    #[error("{file}:{line}: cannot be read further: {source}")]
    Read {
        /// The file.
        file: String,
        /// The line that was being read.
        line: u64,
        /// What the system says.
        source: io::Error,
    },
    /// The options cannot stand together.
    #[error("{file}: {what}")]
    Options {
        /// The file.
        file: String,
        /// Which ones, and what would be right.
        what: String,
    },
    /// The file is of a kind that is not read.
    #[error("{file}: {kind}, which is not read; {instead}")]
    Kind {
        /// The file.
        file: String,
        /// What it looks like.
        kind: &'static str,
        /// What to do.
        instead: &'static str,
    },
    /// The header of a CSV file is of no use, and with it every row.
    #[error("{file}:{line}: {fault}")]
    Header {
        /// The file.
        file: String,
        /// Where the header stands.
        line: u64,
        /// What is wrong.
        fault: HeaderFault,
    },
    /// A record cannot be used.
    #[error("{0}; to leave out such records and count them, say --skip-bad")]
    Record(#[from] Box<BadRecord>),
    /// A row of a file that is no key set, and from which nothing can be left out.
    #[error("{0}")]
    Row(Box<BadRecord>),
    /// Counting different documents takes more memory than it may.
    #[error(
        "counting each document once takes more than {limit} bytes of memory, with {distinct} different documents so far; raise --max-memory, or leave out --distinct"
    )]
    Memory {
        /// Bytes allowed.
        limit: u64,
        /// Different documents that were counted.
        distinct: u64,
    },
    /// Nothing was left to place.
    #[error("{file}: no keys{}", no_keys(*read))]
    NoKeys {
        /// The file.
        file: String,
        /// Records seen, all of them bad.
        read: u64,
    },
    /// A synthetic document breaks a rule of the schemes or hashes it is meant for.
    #[error("{spec}: document {document} (counted from 0): {fault}")]
    Synthetic {
        /// The spec of the set.
        spec: String,
        /// The number of the document.
        document: u64,
        /// The rule.
        fault: KeyFault,
    },
}

fn no_keys(read: u64) -> String {
    match read {
        0 => " (the file has no record); one id a line, one object a line, or a CSV header with rows".to_owned(),
        _ => format!("; all {read} records are bad and were left out"),
    }
}

/// A record that cannot be used, and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadRecord {
    /// The file as it is shown.
    pub file: String,
    /// The line on which the record starts, counted from 1.
    pub line: u64,
    /// The field that is wrong, where it is one field.
    pub field: Option<String>,
    /// What is wrong with it.
    pub fault: RecordFault,
}

impl fmt::Display for BadRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: ", self.file, self.line)?;
        if let Some(field) = &self.field {
            write!(f, "{field}: ")?;
        }
        self.fault.fmt(f)
    }
}

impl std::error::Error for BadRecord {}

/// What is wrong with a record.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RecordFault {
    /// A line without a byte.
    #[error("the line is empty; each line holds one record")]
    EmptyLine,
    /// The record is longer than memory is kept for.
    #[error("the record is longer than {MAX_RECORD} bytes (64 MiB); a line feed ends each record")]
    TooLong,
    /// NDJSON that is not UTF-8.
    #[error("not valid UTF-8 from byte {at} of the line on; JSON is UTF-8 text")]
    NotUtf8 {
        /// How many bytes of the line are valid.
        at: usize,
    },
    /// The line is not one JSON object.
    #[error("not a JSON object: {what} at column {column}; NDJSON has one whole object a line")]
    Json {
        /// The parser's words.
        what: String,
        /// Where it stopped, in bytes from 1.
        column: usize,
    },
    /// A wanted field is not there.
    #[error("missing{}", present.as_deref().map_or_else(String::new, |present| format!("; the fields here are {present}")))]
    Missing {
        /// The fields that are there, and the flag that would name one of them.
        present: Option<String>,
    },
    /// A wanted field stands twice in one object.
    #[error("stands twice in one object, and readers disagree on which one counts; leave one")]
    Doubled,
    /// A field holds something that is no text and no whole number.
    #[error("is {found}; it must be a string or a whole number")]
    Kind {
        /// What it is.
        found: &'static str,
    },
    /// A JSON number that programs write in more than one way.
    #[error("the number {number} has a fraction or an exponent; write a whole number or a string")]
    NotWhole {
        /// The number as written, shortened.
        number: String,
    },
    /// A JSON string that is no text.
    #[error("the string is not text: {what}; write whole characters")]
    NotText {
        /// The parser's words.
        what: String,
    },
    /// Two fields that both may hold the routing value hold different ones.
    #[error("_routing and routing hold different values; say which one counts with --routing-field")]
    TwoRoutings,
    /// The text is not in the encoding that was named.
    #[error("{what}; the input was said to be {encoding}")]
    Encoding {
        /// What is wrong.
        what: String,
        /// The encoding's name.
        encoding: &'static str,
    },
    /// No weight.
    #[error("{found} is no weight; a weight is a whole number from 0 to 18446744073709551615")]
    Weight {
        /// What stands there, shortened.
        found: String,
    },
    /// No number of requests.
    #[error("{found} is no number of requests; that is a whole number from 0 to 18446744073709551615")]
    Requests {
        /// What stands there, shortened.
        found: String,
    },
    /// A row that does not fit its header.
    #[error("the row has {found} field{}, and the header {expected}; quote fields that hold commas", if *found == 1 { "" } else { "s" })]
    Fields {
        /// Fields of the row.
        found: usize,
        /// Fields of the header.
        expected: usize,
    },
    /// A quoted field without an end.
    #[error("a quoted field is never closed; end it with a quote, and double the quotes inside")]
    OpenQuote,
    /// A quoted field that goes on behind its end.
    #[error(
        "text follows the quote that closes a field; double the quotes inside, and close the field on its own line"
    )]
    AfterQuote,
    /// A rule of the schemes or hashes that the documents are meant for.
    #[error("{0}")]
    Key(KeyFault),
    /// The compressed file ends too early.
    #[error("the compressed file is truncated, and nothing after this line can be read; fetch it again")]
    Truncated,
    /// The compressed file is damaged, or of a form that the decoder does not know.
    #[error(
        "the compressed file cannot be unpacked ({what}), and nothing after this line can be read; fetch it again, or unpack it first"
    )]
    Corrupt {
        /// The decoder's words.
        what: String,
    },
    /// The file was packed for a reader with more memory than is kept for it.
    #[error(
        "the compressed file needs a window above 128 MiB, and nothing after this line can be read; unpack it first, as with: zstd -dc --long=31 FILE | shardlab … --keys -"
    )]
    Window,
    /// Bytes that do not belong to the compressed file.
    #[error("bytes follow the end of the compressed data that are not compressed; cut them off, or compress them too")]
    Trailing,
}

impl RecordFault {
    /// The fault without the numbers of one record, so that equal faults count as one reason.
    pub(crate) fn reason(&self) -> &'static str {
        match self {
            Self::EmptyLine => "empty line",
            Self::TooLong => "record longer than 64 MiB",
            Self::NotUtf8 { .. } => "line is not valid UTF-8",
            Self::Json { .. } => "line is not a JSON object",
            Self::Missing { .. } => "missing",
            Self::Doubled => "stands twice in one object",
            Self::Kind { .. } => "neither a string nor a whole number",
            Self::NotWhole { .. } => "number with a fraction or an exponent",
            Self::NotText { .. } => "string is not text",
            Self::TwoRoutings => "_routing and routing hold different values",
            Self::Encoding { .. } => "not in the encoding that was named",
            Self::Weight { .. } | Self::Requests { .. } => "no whole number below 2^64",
            Self::Fields { .. } => "row does not have as many fields as the header",
            Self::OpenQuote => "quoted field is never closed",
            Self::AfterQuote => "text follows the quote that closes a field",
            Self::Key(fault) => match fault {
                KeyFault::NotUtf8 { .. } => "not valid UTF-8, and a hash or system takes text only",
                KeyFault::NotDecimal => "not a decimal number, which the hash \"identity\" needs",
                KeyFault::DecimalTooLarge => "number is 2^64 or more",
                KeyFault::EmptyId => "empty id, which Elasticsearch refuses",
                KeyFault::IdTooLong { .. } => "id longer than Elasticsearch allows",
                KeyFault::RoutingRequired => "no routing value, which a partitioned index needs",
                _ => "cannot be placed",
            },
            Self::Truncated => "compressed file is truncated; nothing after this line was read",
            Self::Corrupt { .. } => "compressed file cannot be unpacked; nothing after this line was read",
            Self::Window => "compressed file needs a window above 128 MiB; nothing after this line was read",
            Self::Trailing => "bytes follow the end of the compressed data",
        }
    }
}

/// What is wrong with the header of a CSV file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HeaderFault {
    /// The header itself is no record.
    #[error("the first line must be the CSV header: {0}")]
    Record(RecordFault),
    /// No column of that name.
    #[error("there is no column \"{column}\"; the columns are {present}")]
    Missing {
        /// The name asked for.
        column: String,
        /// The columns there are, and the flag that would name one of them.
        present: String,
    },
    /// A column that would be read if it were spelled right, and that must not be passed over.
    #[error(
        "the column \"{column}\" looks like \"{wanted}\" but is spelled otherwise; rename it, or name the columns with --id-field and --routing-field"
    )]
    Misspelled {
        /// The name in the header.
        column: String,
        /// The name that is read.
        wanted: &'static str,
    },
    /// Several columns of that name.
    #[error("the column \"{column}\" stands twice in the header, as column {first} and column {second}; rename one")]
    Doubled {
        /// The name.
        column: String,
        /// The first one, from 1.
        first: usize,
        /// The next one, from 1.
        second: usize,
    },
}
