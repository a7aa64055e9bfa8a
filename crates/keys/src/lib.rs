#![doc = include_str!("../README.md")]

mod digest;
mod distinct;
mod documents;
mod error;
mod part;
mod read;
mod sample;
mod shown;
mod synthetic;
mod tally;

pub use distinct::distinct;
pub use documents::{BLOCK, Documents, Progress, Unit};
pub use error::{BadRecord, HeaderFault, ReadError, RecordFault};
pub use part::Part;
pub use read::{Encoding, Format, ReadOptions, TableRow, open, read_table};
pub use sample::sample;
pub use synthetic::{
    FORMS, MAX_TENANTS, MAX_WIDTH, SNOWFLAKE_EPOCH_MS, START_MS, SyntheticError, SyntheticSpec, synthetic,
};
