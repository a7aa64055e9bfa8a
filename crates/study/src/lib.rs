#![doc = include_str!("../README.md")]

mod error;
mod exact;
mod flows;
mod reading;
mod scenario;
mod side;
mod what_if;

pub use error::StudyError;
pub use exact::exact_moved_fraction;
pub use flows::Flows;
pub use scenario::{Alternative, Edit, Outcome, edit};
pub use side::Side;
pub use what_if::{Request, what_if};
