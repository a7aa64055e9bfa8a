#![doc = include_str!("../README.md")]

mod balance;
mod chance;
mod compare;
mod drive;
mod error;
mod memory;
mod movement;
mod pass;
mod reading;
mod scaling;
mod timing;

pub use balance::{Fair, balance, peak_to_average, weight_load};
pub use chance::{chance_peak, with_chance_peak};
pub use compare::{Plan, Request, RowRequest, hasher_for};
pub use drive::drive;
pub use error::{CompareError, Impossible};
pub use memory::is_available;
pub use movement::{ideal_fraction, minimum_keys};
pub use scaling::{Sweep, SweepError, random_keys};
pub use timing::{
    BATCH, Cycle, Floor, Samples, Schedule, Task, batches, build_time, chain, documents, interleaved, nearest_rank,
    singles,
};
