#![doc = include_str!("../README.md")]

mod comparison;
mod diff;
mod escape;
mod figures;
mod frame;
mod inspect;
pub mod page;
mod path;
mod removals;
mod review;
mod split_plan;
mod table;
mod tune;
mod what_if;
mod wrap;

pub use comparison::{comparison_csv, comparison_json, comparison_text};
pub use diff::{DiffError, Difference, DifferenceKind, Differences, diff, diff_text};
pub use escape::{for_csv, for_json, for_markdown, for_terminal};
pub use figures::{
    ChartError, cost_growth_chart, flow_chart, load_chart, lookup_growth_chart, movement_chart, path_chart,
    split_tree_chart, tuning_chart,
};
pub use inspect::inspect_text;
pub use path::path_text;
pub use removals::{removals_csv, removals_text};
pub use review::{ReviewFiles, ReviewFilesError, review_files, review_text};
pub use shardlab_core::rows::{bytes, nanoseconds, percent, ratio};
pub use split_plan::split_plan_text;
pub use table::{Format, Table};
pub use tune::tune_text;
pub use what_if::{what_if_summary, what_if_text};
pub use wrap::fit;
