mod archive;
mod columns;
mod csv;
mod encoding;
mod json;
mod lines;
mod open;
mod parser;
mod reader;
mod table;

pub use encoding::Encoding;
pub(crate) use open::open_embedded;
pub use open::{Format, ReadOptions, open};
pub(crate) use reader::Unread;
pub use table::{TableRow, read_table};

/// The most bytes of one record: 64 MiB. Longer ones are bad, so that no file can ask for more memory.
pub(crate) const MAX_RECORD: usize = 64 << 20;
