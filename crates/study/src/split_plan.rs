mod chains;
mod costs;
mod observed;
mod words;

use std::num::NonZeroU64;

use shardlab_core::rows::{
    ChildShards, How, OneShard, OneShardPart, OneShardRule, PredictedDocuments, PredictedShard, ResizeAlternative,
    ResizeStep, ShardFit, ShardSize, SplitPlan, Spread, WhatIf,
};
use shardlab_core::{NodeId, RangeSplit, Refusal, RefusalKind, Resizable, ResizeOperation, Sharder};
use shardlab_harness::{Fair, balance};
use shardlab_keys::{Documents, Progress};

use self::chains::{Chain, Found, chains};
use self::costs::{Known, exact_left_parent, lineage};
use self::observed::{ById, Observed, Parts, Sum, bytes_of};
use crate::{Columns, Request, Side, StudyError, Totals, exact_moved_fraction, what_if};

/// Longer lists of counts and of children are cut; nobody reads them, and from one shard nearly every
/// count is legal.
const MOST_LISTED: u32 = 1 << 16;

/// Beyond so many pairs of a present and a new shard the lineage of a chain is not worked out.
const MOST_LINEAGE: u64 = 1 << 22;

/// An index that documents could be written into anew.
#[derive(Debug)]
pub struct Reindex {
    /// What it is, in words.
    pub words: String,
    /// The index.
    pub side: Side,
}

/// What to plan.
#[derive(Debug)]
pub struct SplitRequest {
    /// The index that there is; its scheme must know splits and shrinks.
    pub before: Side,
    /// Shards to reach; without it the plan lists what is legal.
    pub to: Option<u32>,
    /// The last resort, best first.
    pub reindex: Vec<Reindex>,
    /// Bytes of all primary shards together.
    pub bytes: Option<u64>,
    /// Documents of the index.
    pub docs: Option<u64>,
    /// The size that no shard may exceed; needs `bytes`.
    pub max_shard_bytes: Option<NonZeroU64>,
    /// Heap of one open shard, in bytes.
    pub shard_heap: Option<u64>,
    /// One shard that is to be cut alone, and into how many.
    pub one_shard: Option<(u32, u32)>,
    /// Bytes a second that are written or sent.
    pub bandwidth: Option<u64>,
    /// Whether files are linked and not copied.
    pub hard_links: bool,
    /// The seed of synthetic keys, for the record.
    pub seed: u64,
    /// Threads that place documents.
    pub threads: usize,
    /// Bytes that tables may take.
    pub max_memory: u64,
}

/// Plans how an index gets to another number of shards.
///
/// # Errors
/// The scheme knows no splits and shrinks, the count is 0, a size per shard is given without the size of
/// the index, or the documents cannot be read or placed.
pub fn split_plan(
    request: &SplitRequest,
    documents: Option<&mut dyn Documents>,
    weighted: bool,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<SplitPlan, StudyError> {
    let plan = Planner::new(request)?;
    let (predicted, parts) = match documents {
        Some(documents) => {
            let (predicted, parts) = plan.predict(documents, weighted, progress)?;
            (Some(predicted), parts)
        }
        None => (None, None),
    };
    let bytes = request.bytes.map(u128::from).or_else(|| {
        let shards = &predicted.as_ref()?.per_shard;
        shards.iter().map(|shard| shard.bytes).sum::<Option<u128>>()
    });
    let docs = request.docs.or_else(|| predicted.as_ref().map(|predicted| predicted.keys.accepted));
    let mut rows = plan.rows(predicted, bytes, docs)?;
    rows.one_shard = parts.or_else(|| plan.one_shard(None, &[]));
    Ok(rows)
}

/// The parts of each rule with the documents and the bytes that fall into them.
type PartSums = Vec<(Sum, Option<u128>)>;

struct Planner<'a> {
    request: &'a SplitRequest,
    rules: &'a dyn Resizable,
    from: u32,
    /// The index after the one operation, or why there is none.
    direct: Option<Result<Chain, Refusal>>,
    /// The rules by which the one shard can be cut.
    cuts: Vec<RangeSplit>,
}

impl<'a> Planner<'a> {
    fn new(request: &'a SplitRequest) -> Result<Self, StudyError> {
        let sharder = &*request.before.placer.sharder;
        let refused = || StudyError::NotResizable { spec: request.before.scheme.spec() };
        let rules = sharder.as_resizable().ok_or_else(refused)?;
        if request.to == Some(0) {
            return Err(StudyError::ZeroShards);
        }
        if let (Some(max), None) = (request.max_shard_bytes, request.bytes) {
            return Err(StudyError::SizeUnknown { max_shard_bytes: max.get() });
        }
        let from = sharder.members().len();
        let cuts = match request.one_shard {
            None => Vec::new(),
            Some((shard, _)) if shard >= from => return Err(StudyError::NoSuchShard { shard, last: from - 1 }),
            Some((shard, parts)) => {
                let cuts = rules.splits_of_one(NodeId(shard), parts);
                if cuts.is_empty() {
                    return Err(StudyError::ShardNotCut { spec: request.before.scheme.spec(), parts });
                }
                cuts
            }
        };
        let direct = request.to.map(|to| one_operation(rules, to));
        Ok(Self { request, rules, from, direct, cuts })
    }

    fn sharder(&self) -> &dyn Sharder {
        &*self.request.before.placer.sharder
    }

    /// Where documents stand after the operation; after the first reindex where it is refused, and where
    /// they stand now where no count was asked for.
    fn predict(
        &self,
        documents: &mut dyn Documents,
        weighted: bool,
        progress: &(dyn Fn(Progress) + Sync),
    ) -> Result<(PredictedDocuments, Option<OneShard>), StudyError> {
        let before = &self.request.before;
        let (change, after) = match (&self.direct, self.request.reindex.first()) {
            (Some(Ok(chain)), _) => (words::steps(self.from, &chain.steps), before.with_sharder(chain.end.box_clone())),
            (Some(Err(_)), Some(reindex)) => (reindex.words.clone(), reindex.side.clone()),
            _ => ("as it is".to_owned(), before.clone()),
        };
        let counted = after.clone();
        let sharder = &*counted.placer.sharder;
        let mut documents = Observed {
            by_id: after.scheme.native_hasher().map(|hasher| ById {
                hasher,
                sharder,
                sums: vec![Sum::default(); sharder.members().len() as usize],
                is_other: false,
            }),
            parts: self.request.one_shard.map(|(shard, _)| Parts {
                placer: &before.placer,
                shard: NodeId(shard),
                rules: &self.cuts,
                sums: self
                    .cuts
                    .iter()
                    .map(|cut| vec![Sum::default(); cut.ranges.as_ref().map_or(0, Vec::len)])
                    .collect(),
                all: 0,
            }),
            total: Sum::default(),
            documents,
        };
        let request = Request {
            machines: None,
            before: before.clone(),
            after,
            change,
            matched: None,
            copies: 1,
            totals: Totals { bytes: self.request.bytes.map(u128::from), requests: None },
            requests_per_second: false,
            columns: Columns { weights: weighted, requests: false },
            bandwidth: None,
            seed: self.request.seed,
            threads: self.request.threads,
            max_memory: self.request.max_memory,
        };
        let WhatIf { change, keys, before, after, moves, left_parent_fraction, per_node, to_nodes, .. } =
            what_if(&request, &mut documents, progress)?;
        let Observed { by_id, parts, total, .. } = documents;
        let bytes = |sums: &[Sum]| bytes_of(sums, total, weighted, self.request.bytes.map(u128::from));
        let by_id = by_id.filter(|by_id| by_id.is_other).map(|by_id| by_id.sums);
        let by_id_bytes = by_id.as_deref().map(bytes).unwrap_or_default();
        let parts = parts.and_then(|parts| {
            let with_bytes = |sums: &Vec<Sum>| sums.iter().copied().zip(bytes(sums)).collect::<PartSums>();
            self.one_shard(Some(parts.all), &parts.sums.iter().map(with_bytes).collect::<Vec<_>>())
        });
        // Nodes after the change stand first; those that are gone follow.
        let per_shard = per_node.iter().take(to_nodes as usize).map(|node| PredictedShard {
            shard: node.node,
            keys: node.load.keys_after,
            bytes: node.load.bytes_after,
            keys_by_id: by_id.as_ref().and_then(|sums| sums.get(node.node as usize)).map(|sum| sum.keys),
            bytes_by_id: by_id_bytes.get(node.node as usize).copied().flatten(),
        });
        let per_shard = per_shard.collect();
        let number_changed_fraction = moves.moved_fraction;
        let by_id = by_id.map(|sums| {
            let counts: Vec<u64> = sums.iter().map(|sum| sum.keys).collect();
            balance(&counts, &Fair::Equal(counts.len()), sharder.exact_shares().as_ref(), 2)
        });
        let documents = PredictedDocuments {
            change,
            keys,
            before,
            after,
            number_changed_fraction,
            left_parent_fraction,
            by_id,
            per_shard,
        };
        Ok((documents, parts))
    }

    /// How the one shard can be cut, with what falls into each part where documents were counted.
    fn one_shard(&self, keys: Option<u64>, sums: &[PartSums]) -> Option<OneShard> {
        let (shard, parts) = self.request.one_shard?;
        let rule = |(place, cut): (usize, &RangeSplit)| {
            let sum = |part: usize| sums.get(place).and_then(|sums| sums.get(part));
            let ranges = cut.ranges.clone().unwrap_or_default();
            let parts = ranges.into_iter().enumerate().map(|(part, (from, to))| OneShardPart {
                from,
                to,
                keys: sum(part).map(|(sum, _)| sum.keys),
                bytes: sum(part).and_then(|(_, bytes)| *bytes),
            });
            OneShardRule {
                rule: cut.rule.to_owned(),
                words: cut.words.clone(),
                refused: cut.ranges.as_ref().err().cloned(),
                modulus: cut.modulus,
                parts: parts.collect(),
            }
        };
        Some(OneShard { shard, parts, keys, rules: self.cuts.iter().enumerate().map(rule).collect() })
    }

    /// What a shard holds now and at each legal count.
    fn sizes(&self, known: Known, legal: &[u32]) -> Vec<ShardSize> {
        if self.request.to.is_some() || (known.bytes.is_none() && known.docs.is_none()) {
            return Vec::new();
        }
        let mut counts: Vec<u32> = legal.iter().copied().chain([self.from]).collect();
        counts.sort_unstable();
        let size = |shards: u32| ShardSize {
            shards,
            operation: self.rules.operation_to(shards).ok().filter(|_| shards != self.from),
            bytes_per_shard: known.bytes.map(|bytes| bytes.div_ceil(shards.max(1).into())),
            documents_per_shard: known.per_shard(shards),
        };
        counts.into_iter().map(size).collect()
    }

    fn rows(
        &self,
        documents: Option<PredictedDocuments>,
        bytes: Option<u128>,
        docs: Option<u64>,
    ) -> Result<SplitPlan, StudyError> {
        let SplitRequest { before, to, bandwidth, hard_links, seed, .. } = self.request;
        let known =
            Known { bytes, docs, bandwidth: *bandwidth, shard_heap: self.request.shard_heap, hard_links: *hard_links };
        let too_full = |shards: u32| self.too_full(known, shards);
        let refusal = match (&self.direct, *to) {
            (Some(Err(refusal)), _) => Some(refusal.clone()),
            (Some(Ok(_)), Some(to)) if to <= self.from => too_full(to),
            _ => None,
        };
        let (legal_splits, legal_splits_cut) = self.legal_splits();
        let mut legal_shrinks = self.rules.legal_shrinks();
        legal_shrinks.retain(|&shards| too_full(shards).is_none());
        let legal = to.map(|_| refusal.is_none());
        let (nearest_below, nearest_above) = match *to {
            None => (None, None),
            // From one shard the legal counts are a run, of which the list may show the beginning alone.
            Some(to) if self.from == 1 => match &refusal {
                Some(refusal) => (refusal.nearest_below, refusal.nearest_above),
                None => {
                    let legal = |count: &u32| *count > 1 && self.rules.operation_to(*count).is_ok();
                    (to.checked_sub(1).filter(legal), to.checked_add(1).filter(legal))
                }
            },
            Some(to) => {
                let all = || legal_shrinks.iter().chain(&legal_splits).copied();
                (all().filter(|&count| count < to).max(), all().filter(|&count| count > to).min())
            }
        };
        let refusal = refusal.map(|refusal| Refusal { nearest_below, nearest_above, ..refusal });
        let fits = |shards: u32| shards > self.from || too_full(shards).is_none();
        let found = to.map_or_else(Found::default, |to| chains(self.sharder(), to, *hard_links, &fits));
        let operation = match &self.direct {
            Some(Ok(chain)) if refusal.is_none() => chain.steps.first().map(|step| step.operation),
            _ => None,
        };
        let legal_counts: Vec<u32> = legal_shrinks.iter().chain(&legal_splits).copied().collect();
        let mut rows = SplitPlan {
            tool: format!("shardlab {}", env!("CARGO_PKG_VERSION")),
            scheme: before.scheme.spec(),
            from: self.from,
            to: *to,
            routing_shards: self.rules.routing_shards(),
            legal,
            rule_verified: self.rules.rule_verified(to.unwrap_or(self.from.saturating_add(1))),
            refused_by: refusal.as_ref().map(|refusal| refusal.kind),
            refusal: refusal.as_ref().map(ToString::to_string),
            operation,
            nearest_below,
            nearest_above,
            legal_splits,
            legal_splits_cut,
            legal_shrinks,
            chains: found.chains.iter().map(|chain| chain.steps.clone()).collect(),
            chains_left_out: found.left_out,
            alternatives: Vec::new(),
            children: if refusal.is_none() { self.children() } else { Vec::new() },
            fit: self.fit()?,
            sizes: self.sizes(known, &legal_counts),
            one_shard: None,
            spread: self.spread(),
            documents,
            bytes,
            docs,
            hard_links: *hard_links,
            seed: *seed,
            preconditions: Vec::new(),
            notes: before.scheme.notes_for(before.members()),
            reading: Vec::new(),
        };
        let nearest = [nearest_below, nearest_above].into_iter().flatten().filter(|_| refusal.is_some());
        rows.alternatives = self.alternatives(known, &found, nearest);
        words::fill(&mut rows, self.rules);
        Ok(rows)
    }

    /// Whether a shard must exceed what one can hold, were there so many: the mean does.
    fn too_full(&self, known: Known, shards: u32) -> Option<Refusal> {
        let most = self.rules.most_documents()?;
        let exceeds = known.per_shard(shards)? > most;
        exceeds.then(|| Refusal {
            kind: RefusalKind::TooManyDocuments,
            from: self.from,
            to: shards,
            bound: u32::try_from(most).ok(),
            nearest_below: None,
            nearest_above: None,
        })
    }

    /// Every split, and whether there are more than are listed.
    fn legal_splits(&self) -> (Vec<u32>, bool) {
        if self.from > 1 {
            return (self.rules.legal_splits(), false);
        }
        let legal = |to: &u32| self.rules.operation_to(*to).is_ok();
        ((2..=MOST_LISTED).filter(legal).collect(), legal(&(MOST_LISTED + 1)))
    }

    fn children(&self) -> Vec<ChildShards> {
        let (Some(Ok(_)), Some(to)) = (&self.direct, self.request.to) else { return Vec::new() };
        if self.from.max(to) > MOST_LISTED {
            return Vec::new();
        }
        let mut children: Vec<ChildShards> =
            (0..self.from).map(|shard| ChildShards { shard, children: Vec::new() }).collect();
        for target in 0..to {
            for source in self.rules.sources_of(to, NodeId(target)).unwrap_or_default() {
                children[source.index()].children.push(target);
            }
        }
        children
    }

    fn alternatives(&self, known: Known, found: &Found, nearest: impl Iterator<Item = u32>) -> Vec<ResizeAlternative> {
        let mut memo: Vec<(Fate, Fractions)> = Vec::new();
        let mut alternative = |how, chain: &Chain| {
            let (costs, bytes) = known.of_chain(self.from, &chain.steps);
            let fractions = self.fractions(chain, &mut memo);
            ResizeAlternative {
                how,
                words: words::steps(self.from, &chain.steps),
                to: chain.end.members().len(),
                steps: chain.steps.clone(),
                costs,
                number_changed_fraction: fractions.number_changed,
                left_parent_fraction: fractions.left_parent,
                bytes,
            }
        };
        let mut all: Vec<ResizeAlternative> = found.chains.iter().map(|chain| alternative(How::Chain, chain)).collect();
        let nearest: Vec<Chain> = nearest.filter_map(|to| one_operation(self.rules, to).ok()).collect();
        all.extend(nearest.iter().map(|chain| alternative(How::Nearest, chain)));
        // Nobody wants the whole index in one shard, even for a while, if a near count would do.
        all.sort_by_key(|way| crowds(self.from, way));
        all.extend(self.request.reindex.iter().map(|reindex| {
            let to = reindex.side.members().len();
            let (costs, bytes) = known.of_reindex(self.from, to);
            ResizeAlternative {
                how: How::Reindex,
                words: reindex.words.clone(),
                to,
                steps: Vec::new(),
                costs,
                number_changed_fraction: self.reindexed_number_changed(&reindex.side),
                left_parent_fraction: None,
                bytes,
            }
        }));
        all
    }

    fn number_changed(&self, after: &dyn Sharder) -> Option<f64> {
        let matched = self.sharder().members().matched_in(after.members());
        exact_moved_fraction(self.sharder(), after, &matched)
    }

    /// The same for another index, which may hash otherwise and then has nothing in common with this one.
    fn reindexed_number_changed(&self, after: &Side) -> Option<f64> {
        let same_keys = self.request.before.placer.hasher.name() == after.placer.hasher.name();
        same_keys.then(|| self.number_changed(&*after.placer.sharder))?
    }

    /// Straight ways to one count all end alike, so what was worked out is kept.
    fn fractions(&self, chain: &Chain, memo: &mut Vec<(Fate, Fractions)>) -> Fractions {
        let after = &*chain.end;
        let small =
            |step: &ResizeStep| step.to <= MOST_LISTED && u64::from(step.to) * u64::from(self.from) <= MOST_LINEAGE;
        let lineage = if chain.steps.iter().all(small) { lineage(self.sharder(), &chain.steps) } else { None };
        let fate = (after.members().len(), after.period(), lineage);
        if let Some((_, known)) = memo.iter().find(|(known, _)| *known == fate) {
            return *known;
        }
        let fractions = Fractions {
            number_changed: self.number_changed(after),
            left_parent: fate.2.as_ref().and_then(|lineage| exact_left_parent(self.sharder(), after, lineage)),
        };
        memo.push((fate, fractions));
        fractions
    }

    /// The least count whose shards stay below the size asked for: a shrink, the present count, or else
    /// a split.
    fn fit(&self) -> Result<Option<ShardFit>, StudyError> {
        let (Some(max), Some(total)) = (self.request.max_shard_bytes, self.request.bytes) else { return Ok(None) };
        let needed = total.div_ceil(max.get()).max(1);
        let found = self.rules.least_shrink(total, max);
        let is_enough = |shards: &u32| u64::from(*shards) >= needed;
        let shards = match found.and_then(|found| found.shards) {
            Some(shards) => Some(shards),
            // From one shard every count is legal up to the limit, so the need itself is asked first.
            None => u32::try_from(needed)
                .ok()
                .filter(|&needed| self.from == 1 && self.rules.operation_to(needed).is_ok())
                .or_else(|| self.legal_splits().0.into_iter().find(is_enough)),
        };
        Ok(Some(ShardFit {
            max_shard_bytes: max.get(),
            needed,
            shards,
            operation: shards.and_then(|shards| self.rules.operation_to(shards).ok()),
            bytes_per_shard: shards.map(|shards| u128::from(total.div_ceil(u64::from(shards)))),
            server_shards: found.map(|found| found.server),
            server_differs: found.is_some_and(|found| Some(found.server) != found.shards),
        }))
    }

    fn spread(&self) -> Option<Spread> {
        let now = self.rules.routing_spread()?;
        let after = match &self.direct {
            Some(Ok(chain)) => chain.end.as_resizable().and_then(Resizable::routing_spread),
            _ => None,
        };
        // Less than a tenth of what the owner asked for beyond the one shard that there is anyway.
        let wanted = f64::from(now.size.min(self.from));
        let almost_no_effect = self.from > 1 && now.mean - 1.0 < 0.1 * (wanted - 1.0);
        Some(Spread {
            partition: now.size,
            shards_per_routing_value: now.mean,
            shards_per_routing_value_after: after.map(|after| after.mean),
            with_routing_shards_equal_to_shards: now.mean_without_factor,
            almost_no_effect,
        })
    }
}

/// Whether a way puts an index of several shards into one shard on its way to several.
pub(super) fn crowds(from: u32, way: &ResizeAlternative) -> bool {
    from > 1 && way.to > 1 && way.steps.iter().any(|step| step.to == 1)
}

/// Where a chain ends: shards, period of the answers, lineage of each shard.
type Fate = (u32, Option<shardlab_core::Period>, Option<Vec<Vec<NodeId>>>);

#[derive(Clone, Copy)]
struct Fractions {
    number_changed: Option<f64>,
    left_parent: Option<f64>,
}

fn one_operation(rules: &dyn Resizable, to: u32) -> Result<Chain, Refusal> {
    let operation: ResizeOperation = rules.operation_to(to)?;
    Ok(Chain { steps: vec![ResizeStep { operation, to }], end: rules.resized(to)? })
}
