//! The crate from outside: one file for each kind of source.

#![allow(clippy::unwrap_used, reason = "helpers beside the tests say what they expect as the tests do")]

mod archives;
mod common;
mod csv;
mod lines;
mod ndjson;
mod requests;
mod round_trip;
mod sample;
mod synthetic;
