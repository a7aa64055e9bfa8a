use shardlab_core::rows::{KeySet, PathRows, StepOutcome, StepRows};
use shardlab_core::{NodeId, RawBatch};
use shardlab_harness::{Fair, balance, drive};
use shardlab_keys::{Documents, Progress};

use crate::load::seconds;
use crate::matching::Matching;
use crate::{Columns, Flows, Machines, Side, StudyError, Sums, Totals};

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
    /// Machines that hold the nodes, where they are of interest.
    pub machines: Option<Machines>,
    /// Bytes of all documents together. They are shared out by the weights of the documents, or evenly
    /// where there are none.
    pub bytes: Option<u128>,
    /// Whether documents have weights.
    pub weighted: bool,
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
    if let Some(machines) = &path.machines {
        machines.check_memory(path.steps.len(), path.max_memory)?;
    }
    let places = path.machines.as_ref().map(|machines| places(machines, &stages)).transpose()?;
    let tally = count(path, &stages, documents, progress)?;
    rows(path, &stages, places.as_deref(), &tally, documents.key_set())
}

/// The machine of each node at every stage.
fn places(machines: &Machines, stages: &[&Side]) -> Result<Vec<Vec<usize>>, StudyError> {
    let mut places = vec![machines.places(stages[0].members())?];
    for pair in stages.windows(2) {
        let (from, to) = (pair[0].members(), pair[1].members());
        let after = machines.places_after(&places[places.len() - 1], &Matching::by_name(from, to), to)?;
        places.push(after);
    }
    Ok(places)
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
    /// Documents that going straight from the first to the last stage moves, and their weight.
    straight: Sums,
    /// All documents.
    all: Sums,
}

fn count(
    path: &Path,
    stages: &[&Side],
    documents: &mut dyn Documents,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<Tally, StudyError> {
    let names = Names::of(stages);
    let columns = Columns { weights: path.weighted, requests: false };
    let matrix = |pair: &[&Side]| Flows::new(pair[0].members().len(), pair[1].members().len(), columns);
    let empty = Tally {
        flows: stages.windows(2).map(matrix).collect(),
        times_moved: vec![0; stages.len()],
        straight: Sums::default(),
        all: Sums::default(),
    };
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
            side.place(batch, out)?;
        }
        for (flows, pair) in tally.flows.iter_mut().zip(placed.windows(2)) {
            flows.add_batch(&pair[0], &pair[1], batch);
        }
        let at_row = |row: usize, stage: usize| names.numbers[stage][placed[stage][row].index()];
        for row in 0..batch.len() {
            let at = |stage: usize| at_row(row, stage);
            let moves = (1..stages.len()).filter(|&stage| at(stage) != at(stage - 1)).count();
            tally.times_moved[moves] += 1;
            let weight = batch.weights().map_or(0, |weights| u128::from(weights[row]));
            let document = Sums { keys: 1, weight, requests: 0 };
            tally.all.add(&document);
            if at(0) != at(stages.len() - 1) {
                tally.straight.add(&document);
            }
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
        sum.straight.add(&tally.straight);
        sum.all.add(&tally.all);
    }
    Ok(sum)
}

fn rows(
    path: &Path,
    stages: &[&Side],
    places: Option<&[Vec<usize>]>,
    tally: &Tally,
    keys: KeySet,
) -> Result<PathRows, StudyError> {
    let total: u64 = tally.times_moved.iter().sum();
    if total == 0 {
        return Err(StudyError::NoKeys);
    }
    let fraction = |keys: u64| keys as f64 / total as f64;
    let totals = Totals { bytes: path.bytes, requests: None };
    let columns = Columns { weights: path.weighted, requests: false };
    let nothing = totals.nothing(columns);
    let mut steps = Vec::new();
    let (mut cumulative, mut between_machines) = (nothing, path.machines.as_ref().map(|_| 0.0));
    for (place, step) in path.steps.iter().enumerate() {
        let outcome = match (&step.after, tally.flows.get(place)) {
            (Ok(after), Some(flows)) => {
                let (from, to) = (stages[place].members(), after.members());
                let matching = Matching::by_name(from, to);
                let moves = matching.count(flows).fractions(matching.ideal(from, to), &after.scheme.spec())?;
                let cells = totals.cells(flows);
                let mut moved = nothing;
                let moving = cells.iter().filter(|cell| matching.moves(cell.from, cell.to));
                moving.for_each(|cell| moved.add(&cell.load));
                cumulative.add(&moved);
                let machines = path.machines.as_ref().zip(places).map(|(machines, places)| {
                    machines.rows((&places[place], &places[place + 1]), &cells, nothing, path.bandwidth)
                });
                between_machines = between_machines.zip(machines.as_ref()).map(|(sum, rows)| sum + rows.moved_fraction);
                StepOutcome::Done(Box::new(StepRows {
                    to: after.scheme.spec(),
                    nodes: to.len(),
                    moves,
                    cumulative_fraction: fraction(cumulative.keys),
                    moved_bytes: moved.bytes,
                    seconds_serial: seconds(moved.bytes, path.bandwidth),
                    after: balance(
                        &flows.after(),
                        &Fair::of(to),
                        after.placer.sharder.exact_shares().as_ref(),
                        path.steps.len(),
                    ),
                    machines,
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
        cumulative_fraction: fraction(cumulative.keys),
        straight_fraction: fraction(tally.straight.keys),
        detour_fraction: fraction(cumulative.keys) - fraction(tally.straight.keys),
        moved_once_or_more_fraction: fraction(total - tally.times_moved[0]),
        moved_more_than_once_fraction: fraction(tally.times_moved.iter().skip(2).sum()),
        times_moved: tally.times_moved.clone(),
        cumulative_bytes: cumulative.bytes,
        cumulative_between_machines_fraction: between_machines,
        straight_bytes: totals.bytes_of(
            (tally.straight.keys, tally.straight.weight),
            (tally.all.keys, tally.all.weight),
            columns,
        ),
        returns_to_the_first_nodes: returns,
        restores_the_first_mapping: returns.then_some(tally.straight.keys == 0),
    })
}
