//! How cost grows: schemes from a few nodes to many, each table built once.

use std::time::{Duration, Instant};

use shardlab_core::rows::{GrowthPoint, Scaling, SchemeGrowth};
use shardlab_core::{Members, MembersError, Scheme};

use crate::error::Impossible;
use crate::memory::is_available;
use crate::timing::{Cycle, Schedule, Task, batch_equals_singles, batches, first_batch, interleaved, singles};

/// A scheme whose table must grow with its nodes is followed to here: a tenth of the table's advice
/// would be another scheme.
const MOST_NODES_OF_A_GROWING_TABLE: u32 = 100_000;

/// What to follow, how far and how exactly.
#[derive(Debug)]
pub struct Sweep<'a> {
    /// The schemes, each with the options it begins with.
    pub schemes: &'a [Box<dyn Scheme>],
    /// Numbers of nodes, in any order.
    pub nodes: &'a [u32],
    /// The most bytes that a table may take while it is built; the keys are not counted.
    pub max_memory: u64,
    /// How lookups are timed at each size.
    pub schedule: Schedule,
    /// How many random keys lookups are timed with, in turn. A few million are so many that the cells which
    /// they ask for do not all stay in a cache.
    pub keys: usize,
    /// The seed of these keys.
    pub seed: u64,
}

impl<'a> Sweep<'a> {
    /// The sweep of a dated record: eleven sizes up to a million nodes. It takes minutes.
    #[must_use]
    pub const fn full(schemes: &'a [Box<dyn Scheme>], max_memory: u64) -> Self {
        let schedule = Schedule { rounds: 7, turn: Duration::from_millis(20), sample: Duration::from_millis(1) };
        let nodes = &[10, 32, 100, 316, 1000, 3162, 10_000, 31_623, 100_000, 316_228, 1_000_000];
        Self { schemes, nodes, max_memory, schedule, keys: 1 << 22, seed: 9 }
    }

    /// A sweep of seconds: four sizes up to ten thousand nodes.
    #[must_use]
    pub const fn short(schemes: &'a [Box<dyn Scheme>], max_memory: u64) -> Self {
        let schedule = Schedule { rounds: 5, turn: Duration::from_millis(5), sample: Duration::from_micros(500) };
        Self { schemes, nodes: &[10, 100, 1000, 10_000], max_memory, schedule, keys: 1 << 20, seed: 9 }
    }

    /// Builds and times every scheme at every size that it can serve. A scheme ends, with the reason, before
    /// the first size that it cannot serve or that needs more memory than is allowed. `progress` is told the
    /// spec and the number of nodes of what was measured last.
    ///
    /// # Errors
    /// There is no key or no number of nodes, a number of nodes is none that a membership can have, or a
    /// scheme answers otherwise in a batch than alone.
    pub fn run(&self, progress: &mut dyn FnMut(&str, u32)) -> Result<Scaling, SweepError> {
        if self.keys == 0 {
            return Err(SweepError::NoKeys);
        }
        if self.nodes.is_empty() {
            return Err(SweepError::NoNodes);
        }
        let mut sizes = self.nodes.to_vec();
        sizes.sort_unstable();
        sizes.dedup();
        let members: Vec<Members> = sizes.into_iter().map(Members::dense).collect::<Result<_, _>>()?;
        let keys = random_keys(self.keys, self.seed);
        let schemes = self.schemes.iter().map(|scheme| self.growth(&**scheme, &members, &keys, progress));
        Ok(Scaling {
            max_memory: self.max_memory,
            keys: self.keys as u64,
            seed: self.seed,
            measured_on: None,
            schemes: schemes.collect::<Result<_, _>>()?,
        })
    }

    fn growth(
        &self,
        scheme: &dyn Scheme,
        memberships: &[Members],
        keys: &[u64],
        progress: &mut dyn FnMut(&str, u32),
    ) -> Result<SchemeGrowth, SweepError> {
        let (mut sizes, mut stops) = (Vec::new(), None);
        for members in memberships {
            match self.point(scheme, members, keys) {
                Ok(point) => sizes.push(point),
                Err(Stop::Reason(reason)) => {
                    stops = Some(format!("before {} nodes: {reason}", members.len()));
                    break;
                }
                Err(Stop::Impossible(result)) => return Err(SweepError::Impossible { spec: scheme.spec(), result }),
            }
            progress(&scheme.spec(), members.len());
        }
        let about = scheme.about();
        Ok(SchemeGrowth {
            scheme: scheme.spec(),
            lookup_cost: about.lookup_cost.to_owned(),
            heap_cost: about.heap_cost.to_owned(),
            sizes,
            stops,
        })
    }

    fn point(&self, scheme: &dyn Scheme, members: &Members, keys: &[u64]) -> Result<GrowthPoint, Stop> {
        let scheme = advised(scheme, members.len()).map_err(Stop::Reason)?;
        scheme.check_members(members)?;
        let (needed, most) = (scheme.expected_build_bytes(members), self.max_memory);
        if needed > most {
            return Err(Stop::Reason(format!("building takes {needed} bytes, more than the {most} that are allowed")));
        }
        if !is_available(needed.into()) {
            return Err(Stop::Reason(format!("building takes {needed} bytes, which the system does not give")));
        }
        let start = Instant::now();
        let sharder = scheme.build(members)?;
        let build_ns = start.elapsed().as_secs_f64() * 1e9;
        batch_equals_singles(&*sharder, first_batch(keys)).map_err(Stop::Impossible)?;
        let [mut single, mut many] = [Cycle::new(keys); 2];
        let samples = interleaved(
            &mut [
                Task::new(|count| singles(&*sharder, &mut single, count)),
                Task::new(|count| batches(&*sharder, &mut many, count)),
            ],
            self.schedule,
        );
        Ok(GrowthPoint {
            nodes: members.len(),
            spec: scheme.spec(),
            single_ns: samples[0].median(),
            many_ns: samples[1].median(),
            build_ns,
            heap_bytes: sharder.heap_bytes() as u64,
        })
    }
}

/// Why a sweep has no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SweepError {
    /// There is nothing to time lookups with.
    #[error("a sweep over numbers of nodes needs at least one key")]
    NoKeys,
    /// There is no size to build.
    #[error("a sweep over numbers of nodes needs at least one of them")]
    NoNodes,
    /// A number of nodes that no membership has.
    #[error(transparent)]
    Members(#[from] MembersError),
    /// A measurement that cannot be right: a bug in a scheme.
    #[error("{spec}: impossible result, please report it: {result}")]
    Impossible {
        /// The scheme.
        spec: String,
        /// What was measured.
        result: Impossible,
    },
}

/// Why a scheme goes no further.
enum Stop {
    Reason(String),
    Impossible(Impossible),
}

impl<E: std::error::Error> From<E> for Stop {
    fn from(error: E) -> Self {
        Self::Reason(error.to_string())
    }
}

/// The scheme with as large a table as it advises for so many nodes.
fn advised(scheme: &dyn Scheme, nodes: u32) -> Result<Box<dyn Scheme>, String> {
    let advice = scheme.knob().and_then(|knob| Some((knob, knob.advised_per_node?)));
    let Some((knob, per_node)) = advice else { return Ok(scheme.box_clone()) };
    if nodes > MOST_NODES_OF_A_GROWING_TABLE {
        let most = u64::from(MOST_NODES_OF_A_GROWING_TABLE) * u64::from(per_node);
        return Err(format!("with the {per_node} cells a node that it advises, its table would have more than {most}"));
    }
    let wanted = nodes.checked_mul(per_node).filter(|wanted| *wanted > knob.value);
    let Some(wanted) = wanted else { return Ok(scheme.box_clone()) };
    let value = (knob.round_up)(wanted).ok_or_else(|| format!("{} takes no {wanted} or more", knob.option))?;
    scheme.with(knob.option, &value.to_string()).map_err(|error| error.to_string())
}

/// Independent keys, the same in every run: SplitMix64 from the seed.
#[must_use]
pub fn random_keys(count: usize, seed: u64) -> Vec<u64> {
    let golden = 0x9E37_79B9_7F4A_7C15_u64;
    (1..=count as u64).map(|i| shardlab_hash::mix64(seed.wrapping_add(i.wrapping_mul(golden)))).collect()
}
