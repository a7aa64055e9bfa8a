use shardlab_core::{
    About, BuildError, Change, Disruption, LookupGrowth, Members, NodeId, Promises, Resizing, Scheme, Sharder,
    SpecError, Step, TopK, Unsupported,
};

use shardlab_kernels::rendezvous::Nodes;

use crate::score::{cost, seed};
use crate::table::Seeds;

const ABOUT: About = About {
    summary: "the node on which the key scores highest",
    good_for: "few nodes, exact balance and weights, replicas, any change at the least possible movement",
    bad_at: "many nodes: every lookup scores them all",
    lookup_cost: "n scores of three 16-bit products each; with unequal weights also about ln n logarithms",
    lookup_growth: LookupGrowth::Linear,
    heap_cost: "12 n in blocks of 32 nodes, with unequal weights 20 n",
    options: &[],
};

/// The scheme: `rendezvous`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rendezvous;

impl Scheme for Rendezvous {
    fn name(&self) -> &'static str {
        "rendezvous"
    }

    fn spec(&self) -> String {
        "rendezvous".to_owned()
    }

    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn promises(&self) -> Promises {
        Promises {
            resizing: Resizing::Any,
            disruption: Disruption::None,
            weights: true,
            order_free: true,
            citation: "Thaler and Ravishankar, Using Name-Based Mappings to Increase Hit Rates, IEEE/ACM ToN 1998",
        }
    }

    fn expected_heap_bytes(&self, members: &Members) -> u64 {
        let nodes = u64::from(members.len());
        Nodes::heap_bytes_of(nodes) + nodes * if members.equal_weights() { 4 } else { 12 }
    }

    fn expected_build_bytes(&self, members: &Members) -> u64 {
        // Names are sorted, which a membership without a list makes for the moment.
        let names = if members.is_dense() { 64 } else { 4 };
        self.expected_heap_bytes(members) + names * u64::from(members.len())
    }

    fn with(&self, option: &str, _value: &str) -> Result<Box<dyn Scheme>, SpecError> {
        Err(SpecError::unknown(self, option))
    }

    /// Every membership has a rendezvous; how much memory it takes is the caller's to judge.
    fn check_members(&self, _members: &Members) -> Result<(), BuildError> {
        Ok(())
    }

    fn build(&self, members: &Members) -> Result<Box<dyn Sharder>, BuildError> {
        Ok(Box::new(RendezvousSharder::new(members.clone())))
    }

    fn box_clone(&self) -> Box<dyn Scheme> {
        Box::new(*self)
    }
}

/// A built instance.
#[derive(Clone, Debug)]
pub struct RendezvousSharder {
    members: Members,
    seeds: Seeds,
    /// Weights in the order of the seeds, where they differ; equal weights need none, since the
    /// lowest cost is then the highest score.
    weights: Option<Box<[f64]>>,
    /// The node of each seed.
    nodes: Box<[NodeId]>,
}

impl RendezvousSharder {
    fn new(members: Members) -> Self {
        let nodes = members.ids_by_name().into_boxed_slice();
        let seeds = Seeds::new(nodes.iter().map(|&id| seed(&members.name(id))));
        let weights = (!members.equal_weights())
            .then(|| nodes.iter().map(|&id| f64::from(members.weight(id))).collect::<Box<[f64]>>());
        Self { members, seeds, weights, nodes }
    }
}

impl Sharder for RendezvousSharder {
    fn shard(&self, key: u64) -> NodeId {
        let at = match &self.weights {
            None => self.seeds.best(key),
            Some(weights) => self.seeds.cheapest(weights, key),
        };
        self.nodes[at as usize]
    }

    fn shard_many(&self, keys: &[u64], out: &mut [NodeId]) {
        assert_eq!(keys.len(), out.len(), "as many answers as keys");
        if self.weights.is_none() {
            self.seeds.best_many(keys, out);
            for node in out {
                *node = self.nodes[node.index()];
            }
            return;
        }
        for (slot, &key) in out.iter_mut().zip(keys) {
            *slot = self.shard(key);
        }
    }

    fn members(&self) -> &Members {
        &self.members
    }

    fn heap_bytes(&self) -> usize {
        self.seeds.heap_bytes() + size_of_val(&*self.nodes) + self.weights.as_deref().map_or(0, size_of_val)
    }

    fn apply(&mut self, change: &Change) -> Result<(), Unsupported> {
        *self = Self::new(self.members.after(change)?);
        Ok(())
    }

    fn explain(&self, key: u64) -> Vec<Step> {
        let best = self.top_k(key, 3).into_iter().map(|id| {
            let (name, weight) = (self.members.name(id), self.members.weight(id));
            let score = crate::score(key, &name);
            let value = match &self.weights {
                None => format!("score {score} of 2^32"),
                Some(_) => format!("score {score} of 2^32, weight {weight}, cost {:.6e}", cost(score, weight)),
            };
            Step::new(format!("node {name}"), value)
        });
        let rule = if self.weights.is_some() { "lowest cost" } else { "highest score" };
        let count = self.members.len();
        std::iter::once(Step::new("rule", format!("the {rule} of {count} nodes; the best of them")))
            .chain(best)
            .collect()
    }

    fn as_top_k(&self) -> Option<&dyn TopK> {
        Some(self)
    }

    fn box_clone(&self) -> Box<dyn Sharder> {
        Box::new(self.clone())
    }
}

impl TopK for RendezvousSharder {
    fn top_k(&self, key: u64, k: usize) -> Vec<NodeId> {
        self.seeds.top(self.weights.as_deref(), key, k).into_iter().map(|at| self.nodes[at as usize]).collect()
    }
}
