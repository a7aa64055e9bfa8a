use std::collections::BTreeMap;

use shardlab_core::rows::Tried;
use shardlab_core::{Knob, Members, Scheme};

use super::draws::{mean_and_quantile, peak, renamed};
use super::{Keys, TuneRequest};
use crate::StudyError;
use crate::workers::in_parallel;

/// Below so many points, slots or the like of all nodes together every single value is told apart;
/// above it the search stops at one part in 64, which is finer than what draws can tell.
const EXACT_BELOW: u64 = 50_000;
const PART: u32 = 64;

/// Why a search ended without a value.
#[derive(Clone, Debug)]
pub(super) enum Stop {
    /// The largest value does not meet the target either.
    Largest { tried: u32 },
    /// A larger value needs more memory than allowed.
    Memory { value: u32, needed: u128, limit: u64 },
}

/// Values of an option and what came out at each.
pub(super) struct Search<'a> {
    request: &'a TuneRequest,
    knob: Knob,
    keys: Option<&'a Keys<'a>>,
    /// None for a value that cannot serve these nodes, such as a table with fewer slots than nodes.
    tried: BTreeMap<u32, Option<Tried>>,
}

impl<'a> Search<'a> {
    pub(super) fn new(request: &'a TuneRequest, knob: Knob, keys: Option<&'a Keys<'a>>) -> Self {
        Self { request, knob, keys, tried: BTreeMap::new() }
    }

    pub(super) fn into_tried(self) -> Vec<Tried> {
        self.tried.into_values().flatten().collect()
    }

    /// The smallest value that meets the target, by doubling and then halving the interval between one
    /// that fails and one that does not.
    pub(super) fn smallest(&mut self, question: &str) -> Result<Result<u32, Stop>, StudyError> {
        let Knob { least, most, round_up, .. } = self.knob;
        let mut fails: Option<u32> = None;
        let mut at = least;
        let mut meets = loop {
            let Some(value) = round_up(at).filter(|&value| value <= most) else {
                return Ok(Err(Stop::Largest { tried: fails.unwrap_or(least) }));
            };
            if let Some(stop) = self.evaluate(value)? {
                return Ok(Err(stop));
            }
            if self.meets(value, question) {
                break value;
            }
            fails = Some(value);
            at = match value.checked_mul(2) {
                Some(next) if value < most => next.min(most),
                _ => return Ok(Err(Stop::Largest { tried: value })),
            };
        };
        let Some(mut fails) = fails else { return Ok(Ok(meets)) };
        while meets - fails > self.resolution(meets) {
            // The middle may round up to the upper end; then the lower half has no value of its own.
            let middle = fails + (meets - fails) / 2;
            let Some(value) = round_up(middle).filter(|&value| value < meets) else {
                meets = self.last_below(fails, middle, meets, question)?;
                break;
            };
            // What a larger value could afford, this one can.
            if self.evaluate(value)?.is_none() && self.meets(value, question) {
                meets = value;
            } else {
                fails = value;
            }
        }
        Ok(Ok(meets))
    }

    /// Looks at each value between two ends, of which there are few.
    fn last_below(&mut self, fails: u32, middle: u32, meets: u32, question: &str) -> Result<u32, StudyError> {
        let mut at = fails + 1;
        while let Some(value) = (self.knob.round_up)(at).filter(|&value| value < middle) {
            if self.evaluate(value)?.is_none() && self.meets(value, question) {
                return Ok(value);
            }
            at = value + 1;
        }
        Ok(meets)
    }

    fn resolution(&self, value: u32) -> u32 {
        let points = u64::from(value) * self.request.members.total_weight();
        let promised = self.tried.get(&value).and_then(Option::as_ref).is_some_and(|tried| tried.promised.is_some());
        if promised || points <= EXACT_BELOW { 1 } else { (value / PART).max(1) }
    }

    fn meets(&self, value: u32, question: &str) -> bool {
        let Some(Some(tried)) = self.tried.get(&value) else { return false };
        let found = match question {
            "mean" => tried.mean,
            "quantile" => tried.quantile,
            "these_names" => tried.these_names,
            _ => tried.these_keys.unwrap_or(f64::INFINITY),
        };
        // A promise holds from here on, where a single share may be right by luck.
        let promised = if question == "these_keys" { None } else { tried.promised };
        found.max(promised.unwrap_or(found)) <= self.request.peak
    }

    /// As [`evaluate`](Self::evaluate). Whether there is a result.
    pub(super) fn evaluate_if_possible(&mut self, value: u32) -> Result<bool, StudyError> {
        Ok(self.evaluate(value)?.is_none() && matches!(self.tried.get(&value), Some(Some(_))))
    }

    /// Finds out what a value leads to, unless that is known or needs too much memory.
    fn evaluate(&mut self, value: u32) -> Result<Option<Stop>, StudyError> {
        if self.tried.contains_key(&value) {
            return Ok(None);
        }
        let TuneRequest { members, threads, max_memory, .. } = self.request;
        let scheme = self.request.with(self.knob.option, value)?;
        if scheme.check().is_err() || scheme.check_members(members).is_err() {
            self.tried.insert(value, None);
            return Ok(None);
        }
        let at_once = u128::try_from((*threads).max(1)).unwrap_or(u128::MAX);
        let needed = u128::from(scheme.expected_build_bytes(members)).saturating_mul(at_once);
        if needed > u128::from(*max_memory) {
            return Ok(Some(Stop::Memory { value, needed, limit: *max_memory }));
        }
        let tried = self.outcome(value, &*scheme)?;
        self.tried.insert(value, Some(tried));
        Ok(None)
    }

    fn outcome(&self, value: u32, scheme: &dyn Scheme) -> Result<Tried, StudyError> {
        let TuneRequest { members, confidence, seed, threads, .. } = self.request;
        let refused = |source| StudyError::Build { spec: scheme.spec(), source };
        let exact = |members: &Members| {
            let sharder = scheme.build(members).map_err(refused)?;
            let shares = sharder.exact_shares().ok_or_else(|| StudyError::NothingToTune { spec: scheme.spec() })?;
            Ok::<_, StudyError>((peak(&shares, members), shares.whole))
        };
        let side = self.request.side(scheme.box_clone(), members)?;
        let (these_names, whole) = exact(members)?;
        let gap = scheme.largest_share_gap().filter(|_| members.equal_weights());
        // With parts that differ by a few units at most, names do not matter.
        let (draws, (mean, quantile)) = if gap.is_some() {
            (1, (these_names, these_names))
        } else {
            let draws = self.request.draws_for(u64::from(value) * members.total_weight());
            let mut samples = in_parallel(draws as usize, *threads, |draw| {
                let draw = u32::try_from(draw).unwrap_or(u32::MAX);
                Ok::<_, StudyError>(exact(&renamed(members, *seed, draw)?)?.0)
            })?;
            (draws, mean_and_quantile(&mut samples, *confidence))
        };
        let nodes = f64::from(members.len());
        Ok(Tried {
            value,
            draws,
            mean,
            quantile,
            these_names,
            // At worst one node has the gap more than each of the others, which is (n−1)/n of it above the mean.
            promised: gap.map(|gap| 1.0 + gap as f64 * (nodes - 1.0) / whole as f64),
            these_keys: self.keys.map(|keys| keys.peak(&side)).transpose()?,
            heap_bytes: scheme.expected_heap_bytes(members),
        })
    }
}
