use std::fmt;

use serde::Serialize;

/// How one index becomes another with a different number of shards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ResizeOperation {
    /// Each shard becomes several.
    Split,
    /// Several shards become one.
    Shrink,
    /// The same number of shards again.
    Clone,
}

/// The rule that forbids a resize.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RefusalKind {
    /// A split target must be a multiple of the present count.
    NotAMultiple,
    /// A shrink target must divide the present count.
    NotADivisor,
    /// A split target must divide the number of routing shards, fixed at creation.
    NotDividingRoutingShards,
    /// An index may not have that many shards.
    AboveMaxShards,
    /// An index of one shard cannot shrink.
    OneShardSource,
    /// A shard of the target would hold more documents than a shard can.
    TooManyDocuments,
}

/// A refused resize: which rule, and where the nearest legal counts are.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Refusal {
    /// The rule that fails.
    pub kind: RefusalKind,
    /// The present number of shards.
    pub from: u32,
    /// The number asked for.
    pub to: u32,
    /// The number the rule compares with: routing shards, the most shards allowed, or the most documents in one.
    pub bound: Option<u32>,
    /// The largest legal count below the one asked for, the present count excluded.
    pub nearest_below: Option<u32>,
    /// The smallest legal count above the one asked for, the present count excluded.
    pub nearest_above: Option<u32>,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { from, to, .. } = self;
        match (self.kind, self.bound) {
            (RefusalKind::NotAMultiple, _) => write!(f, "{to} is not a multiple of {from}")?,
            (RefusalKind::NotADivisor, _) => write!(f, "{to} does not divide {from}")?,
            (RefusalKind::NotDividingRoutingShards, Some(routing)) => {
                write!(f, "{to} does not divide the {routing} routing shards")?;
                if let Some(rest) = routing.checked_rem(*to) {
                    write!(f, " ({routing} mod {to} = {rest})")?;
                }
            }
            (RefusalKind::NotDividingRoutingShards, None) => write!(f, "{to} does not divide the routing shards")?,
            (RefusalKind::AboveMaxShards, Some(max)) => write!(f, "{to} is above the limit of {max} shards")?,
            (RefusalKind::AboveMaxShards, None) => write!(f, "{to} is above the limit of shards")?,
            (RefusalKind::OneShardSource, _) => write!(f, "an index of one shard cannot shrink")?,
            (RefusalKind::TooManyDocuments, Some(most)) => {
                write!(f, "some of {to} shards would hold more than the {most} documents that a shard can hold")?;
            }
            (RefusalKind::TooManyDocuments, None) => write!(f, "some of {to} shards would hold too many documents")?,
        }
        match (self.nearest_below, self.nearest_above) {
            (Some(below), Some(above)) => write!(f, "; nearest legal counts: {below} and {above}"),
            (Some(only), None) | (None, Some(only)) => write!(f, "; nearest legal count: {only}"),
            (None, None) => write!(f, "; no other count is legal"),
        }
    }
}
