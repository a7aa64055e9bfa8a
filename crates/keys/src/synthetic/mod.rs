mod make;
mod spec;

pub use make::synthetic;
pub use spec::{FORMS, MAX_TENANTS, MAX_WIDTH, SNOWFLAKE_EPOCH_MS, START_MS, SyntheticError, SyntheticSpec};
