//! One file per subcommand.

pub(crate) mod compare;
pub(crate) mod route;
pub(crate) mod schemes;
pub(crate) mod verdict;
pub(crate) mod what_if;
