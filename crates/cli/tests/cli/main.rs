//! What the command answers, read as programs read it: through JSON, NDJSON and exit codes.
#![allow(
    clippy::unwrap_used,
    clippy::cast_precision_loss,
    reason = "a failed unwrap is a failed test, and counts become fractions"
)]

mod common;
mod contract;
mod elastic;
mod figures;
mod instructions;
mod interruption;
mod jump_and_modulo;
mod loads;
mod misreadings;
mod pipes;
mod reading;
mod reviews;
mod situations;
mod studies;
mod untrusted;
mod verdicts;
