//! One file per subcommand.

pub(crate) mod compare;
pub(crate) mod diff;
pub(crate) mod inspect;
pub(crate) mod plan;
pub(crate) mod review;
pub(crate) mod route;
pub(crate) mod schemes;
pub(crate) mod split_plan;
pub(crate) mod tune;
pub(crate) mod verdict;
pub(crate) mod what_if;
