//! What a command may take of the machine.

use crate::size;

/// The flags that every command with much to do shares.
#[derive(Debug, clap::Args)]
pub(crate) struct ResourceArgs {
    /// Threads; they never change a result [default: all processors]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Memory that tables, counters and matrices may take, such as 500MB or 2GiB
    #[arg(long, value_name = "SIZE", default_value = "2GiB", allow_hyphen_values = true, value_parser = size::parse)]
    pub(crate) max_memory: u64,
}

impl ResourceArgs {
    /// How many threads to use.
    pub(crate) fn threads(&self) -> usize {
        self.threads.map_or_else(|| std::thread::available_parallelism().map_or(1, usize::from), usize::from)
    }
}
