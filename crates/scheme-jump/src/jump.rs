use shardlab_core::{
    About, BuildError, Change, Disruption, LookupGrowth, Members, NodeId, OptionDoc, Promises, Resizing, Scheme,
    Sharder, SpecError, Step, Unsupported,
};
use shardlab_kernels::Simd;
use shardlab_kernels::jump::{Rounding, jump, jump_many};

use crate::walk::jumps;

const ABOUT: About = About {
    summary: "a key jumps up through the buckets until the next jump would leave them",
    good_for: "numbered shards that only join and leave at the end",
    bad_at: "a node in the middle that fails; weights",
    lookup_cost: "H_n steps (7.5 at n = 1000)",
    lookup_growth: LookupGrowth::Logarithmic,
    heap_cost: "0",
    options: &[OptionDoc {
        name: "rounding",
        default: "paper",
        meaning: "paper: two roundings, as the paper's listing; guava: one, as Guava computes it",
    }],
};

/// The scheme: `jump` or `jump:rounding=guava`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Jump {
    /// How the next bucket is rounded.
    pub rounding: Rounding,
}

impl Scheme for Jump {
    fn name(&self) -> &'static str {
        "jump"
    }

    fn spec(&self) -> String {
        match self.rounding {
            Rounding::Paper => "jump".to_owned(),
            Rounding::Guava => "jump:rounding=guava".to_owned(),
        }
    }

    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn promises(&self) -> Promises {
        Promises {
            resizing: Resizing::TailOnly,
            disruption: Disruption::None,
            weights: false,
            order_free: false,
            citation: "Lamping & Veach 2014, arXiv 1406.2294",
        }
    }

    fn expected_heap_bytes(&self, _members: &Members) -> u64 {
        0
    }

    fn with(&self, option: &str, value: &str) -> Result<Box<dyn Scheme>, SpecError> {
        match (option, value) {
            ("rounding", "paper") => Ok(Box::new(Self { rounding: Rounding::Paper })),
            ("rounding", "guava") => Ok(Box::new(Self { rounding: Rounding::Guava })),
            ("rounding", _) => Err(SpecError::bad_value(option, value, "paper or guava")),
            _ => Err(SpecError::unknown(self, option)),
        }
    }

    fn check_members(&self, members: &Members) -> Result<(), BuildError> {
        BuildError::refuse_weights("jump", members)
    }

    fn build(&self, members: &Members) -> Result<Box<dyn Sharder>, BuildError> {
        self.check_members(members)?;
        Ok(Box::new(JumpSharder { scheme: *self, members: members.clone(), simd: Simd::best() }))
    }

    fn box_clone(&self) -> Box<dyn Scheme> {
        Box::new(*self)
    }
}

/// A built instance: no table, whatever the number of nodes.
#[derive(Clone, Debug)]
pub struct JumpSharder {
    scheme: Jump,
    members: Members,
    simd: Simd,
}

impl Sharder for JumpSharder {
    fn shard(&self, key: u64) -> NodeId {
        NodeId(jump(key, self.members.len(), self.scheme.rounding))
    }

    fn shard_many(&self, keys: &[u64], out: &mut [NodeId]) {
        jump_many(self.simd, keys, self.members.len(), self.scheme.rounding, NodeId::numbers_mut(out));
    }

    fn members(&self) -> &Members {
        &self.members
    }

    fn heap_bytes(&self) -> usize {
        0
    }

    fn apply(&mut self, change: &Change) -> Result<(), Unsupported> {
        let after = change.at_the_tail("jump", &self.members)?;
        self.scheme.check_members(&after)?;
        self.members = after;
        Ok(())
    }

    fn explain(&self, key: u64) -> Vec<Step> {
        let n = self.members.len();
        let path: Vec<String> = jumps(key, n, self.scheme.rounding).map(|bucket| bucket.to_string()).collect();
        vec![Step::new("jumps", format!("{} (the next is {n} or more)", path.join(" → ")))]
    }

    fn box_clone(&self) -> Box<dyn Sharder> {
        Box::new(self.clone())
    }
}
