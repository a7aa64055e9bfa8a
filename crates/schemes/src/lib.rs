#![doc = include_str!("../README.md")]

mod registry;
mod spec;
mod system;

pub use registry::{all, comparison_rows};
pub use spec::{Membership, ParseError, Parsed, Problem, parse};
pub use system::system;
