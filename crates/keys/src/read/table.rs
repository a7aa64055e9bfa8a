use std::fs::File;
use std::path::Path;

use super::archive::Input;
use super::csv::{Next, Rows};
use super::lines::{Lines, Stop};
use crate::{BadRecord, ReadError, RecordFault, shown};

/// A row of a small CSV file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableRow {
    /// The line on which it starts, from 1.
    pub line: u64,
    /// Its fields.
    pub fields: Vec<String>,
}

/// Reads a whole CSV file that is no key set, such as a list of nodes, as strictly as a key set: quotes
/// must pair, no line may be empty, everything is UTF-8. A byte order mark and the carriage returns of
/// CRLF are taken off.
///
/// # Errors
/// The file cannot be opened or read, or a row is bad; the error names file and line.
pub fn read_table(path: &Path) -> Result<Vec<TableRow>, ReadError> {
    let file = shown::escaped(path.as_os_str().as_encoded_bytes());
    let opened = File::open(path).map_err(|source| ReadError::Open { file: file.clone(), source })?;
    if path.is_dir() {
        return Err(ReadError::Open { file, source: std::io::ErrorKind::IsADirectory.into() });
    }
    let mut lines = Lines::new(Box::new(Input::new(Box::new(opened))));
    if lines.peek(3) == b"\xEF\xBB\xBF" {
        lines.consume(3, 0);
    }
    let mut rows = Rows::default();
    let mut table = Vec::new();
    loop {
        let line = lines.number();
        let bad = |fault| ReadError::Row(Box::new(BadRecord { file: file.clone(), line, field: None, fault }));
        let row = match rows.find(&mut lines) {
            Ok(Next::End) => return Ok(table),
            Ok(Next::Row(row)) if row.end == 0 => return Err(bad(RecordFault::EmptyLine)),
            Ok(Next::Row(row)) => row,
            Ok(Next::Bad(fault, _)) | Err(Stop::Archive(fault)) => return Err(bad(fault)),
            Err(Stop::TooLong) => return Err(bad(RecordFault::TooLong)),
            Err(Stop::Io(source)) => return Err(ReadError::Read { file, line, source }),
        };
        let text = lines.text(row.end);
        if let Err(error) = std::str::from_utf8(text) {
            return Err(bad(RecordFault::NotText { what: format!("no UTF-8 from byte {} on", error.valid_up_to()) }));
        }
        rows.split(text);
        let fields = (0..rows.len()).map(|index| String::from_utf8_lossy(rows.get(text, index)).into_owned());
        table.push(TableRow { line, fields: fields.collect() });
        lines.consume(row.next, row.lines);
    }
}
