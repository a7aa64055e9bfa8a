use shardlab_core::rows::{KeySet, PathRows, StepOutcome, StepRows};
use shardlab_core::{Members, NodeId, Placer, RawBatch};
use shardlab_harness::{Fair, balance, drive, ideal_fraction, minimum_keys};
use shardlab_keys::{Documents, Progress};

use crate::{Flows, Side, StudyError};

/// One step of a path: where it leads, or why it cannot be done.
#[derive(Debug)]
pub struct Step {
    /// What is done, in words.
    pub words: String,
    /// The sharding after it, or the scheme's reason against it.
    pub after: Result<Side, String>,
}

/// A path of several changes, studied as a whole.
#[derive(Debug)]
pub struct Path {
    /// The sharding at its beginning.
    pub start: Side,
    /// The steps. A step that is refused ends the path.
    pub steps: Vec<Step>,
    /// Bytes of all documents together.
    pub bytes: Option<u128>,
    /// Bytes a second of one transfer.
    pub bandwidth: Option<u64>,
    /// The seed of synthetic keys, for the record.
    pub seed: u64,
    /// Threads that place documents.
    pub threads: usize,
    /// Bytes that the matrices may take.
    pub max_memory: u64,
}

/// Places all documents at every stage of a path and says what its steps move, what moves more than
/// once, what going straight would move, and whether the end is the beginning again.
///
/// # Errors
/// As for a what-if.
pub fn follow(
    path: &Path,
    documents: &mut dyn Documents,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<PathRows, StudyError> {
    let stages: Vec<&Side> =
        std::iter::once(&path.start).chain(path.steps.iter().map_while(|step| step.after.as_ref().ok())).collect();
    let tally = count(path, &stages, documents, progress)?;
    rows(path, &stages, &tally, documents.key_set())
}

/// Nodes of all stages numbered by name, so that a key's whereabouts can be compared across stages.
struct Names {
    /// For each stage and each of its nodes: the number of the name.
    numbers: Vec<Vec<u32>>,
}

impl Names {
    fn of(stages: &[&Side]) -> Self {
        let mut known = std::collections::BTreeMap::new();
        let mut number = |name: String| {
            let next = u32::try_from(known.len()).unwrap_or(u32::MAX);
            *known.entry(name).or_insert(next)
        };
        let numbers =
            stages.iter().map(|side| side.members().iter().map(|(_, name, _)| number(name.into_owned())).collect());
        Self { numbers: numbers.collect() }
    }
}

/// What is counted on the way; sums of integers.
#[derive(Clone)]
struct Tally {
    /// A matrix for each step.
    flows: Vec<Flows>,
    /// How many documents moved so many times.
    times_moved: Vec<u64>,
    /// Documents that going straight from the first to the last stage moves.
    straight: u64,
}

fn count(
    path: &Path,
    stages: &[&Side],
    documents: &mut dyn Documents,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<Tally, StudyError> {
    let names = Names::of(stages);
    let matrix = |pair: &[&Side]| Flows::new(pair[0].members().len(), pair[1].members().len(), false);
    let empty =
        Tally { flows: stages.windows(2).map(matrix).collect(), times_moved: vec![0; stages.len()], straight: 0 };
    let limit = |tally: &Tally| {
        let needed: usize = tally.flows.iter().map(Flows::heap_bytes).sum();
        let needed = needed as u128 * (path.threads as u128 + 1);
        let what = "the matrices from node to node".to_owned();
        if needed > u128::from(path.max_memory) {
            return Err(StudyError::Memory { what, needed, limit: path.max_memory });
        }
        Ok(())
    };
    limit(&empty)?;
    let start = || (empty.clone(), vec![Vec::new(); stages.len()]);
    let step = |state: &mut (Tally, Vec<Vec<NodeId>>), _: u64, batch: &RawBatch<'_>| {
        let (tally, placed) = state;
        for (side, out) in stages.iter().zip(placed.iter_mut()) {
            out.resize(batch.len(), NodeId(0));
            let refused = |error| StudyError::Key { spec: side.scheme.spec(), error };
            side.placer.place_many(batch, out).map_err(refused)?;
        }
        for (flows, pair) in tally.flows.iter_mut().zip(placed.windows(2)) {
            flows.add(&pair[0], &pair[1], None);
        }
        let at_row = |row: usize, stage: usize| names.numbers[stage][placed[stage][row].index()];
        for row in 0..batch.len() {
            let at = |stage: usize| at_row(row, stage);
            let moves = (1..stages.len()).filter(|&stage| at(stage) != at(stage - 1)).count();
            tally.times_moved[moves] += 1;
            tally.straight += u64::from(at(0) != at(stages.len() - 1));
        }
        limit(tally)
    };
    let mut sum = empty.clone();
    for (tally, _) in drive::<_, StudyError>(documents, path.threads, progress, start, step)? {
        for (flows, more) in sum.flows.iter_mut().zip(&tally.flows) {
            flows.merge(more);
        }
        for (count, more) in sum.times_moved.iter_mut().zip(&tally.times_moved) {
            *count += more;
        }
        sum.straight += tally.straight;
    }
    Ok(sum)
}

fn rows(path: &Path, stages: &[&Side], tally: &Tally, keys: KeySet) -> Result<PathRows, StudyError> {
    let total: u64 = tally.times_moved.iter().sum();
    if total == 0 {
        return Err(StudyError::NoKeys);
    }
    let fraction = |keys: u64| keys as f64 / total as f64;
    let bytes = |keys: u64| path.bytes.map(|all| all * u128::from(keys) / u128::from(total));
    let seconds = |keys: u64| Some(bytes(keys)? as f64 / path.bandwidth? as f64);
    let mut steps = Vec::new();
    let mut cumulative = 0;
    for (place, step) in path.steps.iter().enumerate() {
        let outcome = match (&step.after, tally.flows.get(place)) {
            (Ok(after), Some(flows)) => {
                let counts = Counts::of(flows, stages[place].members(), after.members());
                cumulative += counts.moved;
                let fair = Fair::of(after.members());
                let shares = after.placer.sharder.exact_shares();
                StepOutcome::Done(Box::new(StepRows {
                    to: after.scheme.spec(),
                    nodes: after.members().len(),
                    moved_fraction: fraction(counts.moved),
                    minimum_fraction: fraction(counts.minimum),
                    excess_fraction: fraction(counts.moved.saturating_sub(counts.minimum)),
                    disruption_fraction: fraction(counts.disrupted),
                    ideal_fraction: ideal_fraction(stages[place].members(), after.members()),
                    cumulative_fraction: fraction(cumulative),
                    moved_bytes: bytes(counts.moved),
                    seconds_serial: seconds(counts.moved),
                    after: balance(&flows.after(), &fair, shares.as_ref(), path.steps.len()),
                }))
            }
            (Err(reason), _) => StepOutcome::NotApplicable { not_applicable: reason.clone() },
            (Ok(_), None) => StepOutcome::NotApplicable { not_applicable: "a step before it was refused".to_owned() },
        };
        steps.push((step.words.clone(), outcome).into());
    }
    let returns =
        stages.len() > 1 && stages.first().map(|side| side.members()) == stages.last().map(|side| side.members());
    Ok(PathRows {
        tool: format!("shardlab {}", env!("CARGO_PKG_VERSION")),
        start: path.start.scheme.spec(),
        start_nodes: path.start.members().len(),
        seed: path.seed,
        keys,
        steps,
        stops_at: path.steps.iter().position(|step| step.after.is_err()).map(|place| place + 1),
        cumulative_fraction: fraction(cumulative),
        straight_fraction: fraction(tally.straight),
        detour_fraction: fraction(cumulative) - fraction(tally.straight),
        moved_once_or_more_fraction: fraction(total - tally.times_moved[0]),
        moved_more_than_once_fraction: fraction(tally.times_moved.iter().skip(2).sum()),
        times_moved: tally.times_moved.clone(),
        cumulative_bytes: bytes(cumulative),
        straight_bytes: bytes(tally.straight),
        returns_to_the_first_nodes: returns,
        restores_the_first_mapping: returns.then_some(tally.straight == 0),
    })
}

/// What one matrix says of a step.
struct Counts {
    moved: u64,
    minimum: u64,
    disrupted: u64,
}

impl Counts {
    fn of(flows: &Flows, from: &Members, to: &Members) -> Self {
        let matched = from.matched_in(to);
        let survivor = to.matched_in(from);
        let (mut moved, mut disrupted) = (0, 0);
        for (before, after, keys, _) in flows.iter() {
            let stays_on = matched[before.index()];
            if stays_on != Some(after) {
                moved += keys;
                if stays_on.is_some() && survivor[after.index()].is_some() {
                    disrupted += keys;
                }
            }
        }
        let positions: Vec<u32> = matched.iter().map(|node| node.map_or(u32::MAX, |node| node.0)).collect();
        Self { moved, minimum: minimum_keys(&flows.before(), &flows.after(), &positions), disrupted }
    }
}
