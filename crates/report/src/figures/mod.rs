//! Pictures of results, as SVG: one file a picture, all in one style.
//!
//! A title states what was found, a description stands in for the picture where it cannot be seen, and
//! the same bytes come out on every machine. Text is laid out for 800 pixels of width.

mod canvas;
mod flows;
mod growth;
mod load;
mod movement;
mod palette;
mod path;
mod place;
mod scale;
mod split_tree;
mod tuning;
mod words;

pub use canvas::ChartError;
pub use flows::flow_chart;
pub use growth::{cost_growth_chart, lookup_growth_chart};
pub use load::load_chart;
pub use movement::movement_chart;
pub(crate) use palette::style_sheet;
pub use path::path_chart;
pub use split_tree::split_tree_chart;
pub use tuning::tuning_chart;
