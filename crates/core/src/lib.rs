#![doc = include_str!("../README.md")]

mod change;
#[cfg(feature = "conformance")]
pub mod conformance;
mod error;
mod hasher;
mod members;
mod placer;
mod raw;
mod refusal;
pub mod rows;
mod scheme;
mod sharder;

pub use change::{Change, ChangeError};
pub use error::{BuildError, SpecError, Unsupported};
pub use hasher::{KeyError, KeyFault, KeyForm, KeyHasher, KeyRules, NO_HASH};
pub use members::{MAX_NODES, Members, MembersError, Node};
pub use placer::{Hashed, Mapped, MappedError, Placer, Step};
pub use raw::{RawBatch, RawChunk, RawKey, TextColumn, Texts};
pub use refusal::{Refusal, RefusalKind, ResizeOperation};
pub use scheme::{About, Disruption, Knob, LookupGrowth, OptionDoc, Promises, Resizing, Scheme};
pub use sharder::{LeastShrink, NodeId, Period, RangeSplit, Resizable, RoutingSpread, Sharder, Shares, TopK};
