#![doc = include_str!("../README.md")]

mod error;
mod exact;
mod flows;
mod inspect;
mod load;
mod machines;
mod matching;
mod plan;
mod reading;
mod removals;
mod replicas;
mod require;
mod review;
mod scenario;
mod side;
mod split_plan;
mod tune;
mod what_if;
mod workers;

pub use error::StudyError;
pub use exact::exact_moved_fraction;
pub use flows::{Columns, Flows, Sums};
pub use inspect::{InspectRequest, inspect};
pub use load::Totals;
pub use machines::{Machines, MachinesError};
pub use plan::{Path, Step, follow};
pub use removals::{Loss, removals};
pub use require::{RequireError, Requirement, Unmet, unmet_by_comparison, unmet_by_path, unmet_by_what_if};
pub use review::{Compatible, ReviewChange, ReviewRequest, ReviewRequirements, review};
pub use scenario::{Alternative, Edit, Outcome, check_edits, edit, edit_all};
pub use side::Side;
pub use split_plan::{Reindex, SplitRequest, split_plan};
pub use tune::{TuneRequest, peaks_of_names, tune};
pub use what_if::{Request, what_if};
