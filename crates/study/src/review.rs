//! A review: requirements, schemes held against them, and what follows.

mod decide;
mod elsewhere;
mod held;
mod judge;
mod measure;
mod multinomial;
mod words;

use shardlab_core::rows::{
    BuildTime, Candidate, CandidateChange, Comparison, ComparisonRow, KeysFloor, Review, ReviewInputs, ReviewStudies,
    ReviewTimings, RowOutcome, Scaling, SplitPlan, Standing, Tuning, WhatIf,
};
use shardlab_core::{Change, KeyHasher, Members, Scheme};
use shardlab_harness::{Plan, Request as Comparing, RowRequest, Sweep, hasher_for};
use shardlab_keys::{Documents, Progress};

use crate::inspect::load::{heaviest_value, most_common_value};
use crate::inspect::values::{Census, Grain};
use crate::{Edit, Outcome, Side, SplitRequest, StudyError, TuneRequest, edit_all, split_plan, tune};
use held::Source;
use judge::Asked;
use measure::Measured;

/// A tuned table is made larger so many times before it is given up.
const TUNING_ROUNDS: usize = 4;

/// Memberships of other names behind each size that is tried.
const TUNING_DRAWS: u32 = 100;

/// The part of all names for which a tuned table must do.
const TUNING_CONFIDENCE: f64 = 0.95;

/// Matrices of more flows are too much for a table and a picture of a page.
const MOST_FLOWS: usize = 1 << 20;

/// What a scheme must do. What is not given is not asked.
#[derive(Debug, Default)]
pub struct ReviewRequirements {
    /// The largest tolerable peak-to-average.
    pub peak: Option<f64>,
    /// The largest part of all keys that a change may move, for changes without a bound of their own.
    pub moved: Option<f64>,
    /// The largest part of all keys that a change may move needlessly.
    pub needless: Option<f64>,
    /// The largest part of all keys that a change may move between survivors.
    pub disruption: Option<f64>,
    /// Whether any node must be able to leave, and not the last of the list alone.
    pub any_node_leaves: bool,
    /// Whether nodes must be able to have different weights.
    pub weights: bool,
    /// The most bytes of heap.
    pub memory: Option<u64>,
    /// The system that documents must be placed as.
    pub compatible_with: Option<Compatible>,
    /// Whether a lookup must take as many steps for any number of nodes.
    pub constant_lookup: bool,
    /// The most nanoseconds of a lookup.
    pub lookup_ns: Option<f64>,
}

/// A system that documents must be placed as.
#[derive(Debug)]
pub struct Compatible {
    /// Its name as it was written.
    pub system: String,
    /// The scheme that places as it does.
    pub scheme: Box<dyn Scheme>,
}

/// A change that is to be studied.
#[derive(Clone, Debug)]
pub struct ReviewChange {
    /// What its author calls it.
    pub name: Option<String>,
    /// What is done, one after another.
    pub edits: Vec<Edit>,
    /// The largest part of all keys that it may move.
    pub moved: Option<f64>,
}

/// What to review.
#[derive(Debug)]
pub struct ReviewRequest {
    /// The review as its author wrote it, for the record.
    pub definition: String,
    /// The command that makes it again, for the record.
    pub command: String,
    /// The title.
    pub title: String,
    /// What is to be decided.
    pub question: String,
    /// Paragraphs about what surrounds it.
    pub background: Vec<String>,
    /// The nodes.
    pub members: Members,
    /// The scheme in use, where there is one.
    pub present: Option<Box<dyn Scheme>>,
    /// The schemes to hold against the requirements.
    pub candidates: Vec<Box<dyn Scheme>>,
    /// Whether a scheme that misses the largest peak is tried again with a larger table.
    pub tune: bool,
    /// The hash in front of every scheme; each one's own, or the default, where there is none.
    pub hash: Option<Box<dyn KeyHasher>>,
    /// What a scheme must do.
    pub requirements: ReviewRequirements,
    /// The changes to study.
    pub changes: Vec<ReviewChange>,
    /// A path of changes that follow one another, empty where none is asked for.
    pub path: Vec<Vec<Edit>>,
    /// Bytes of all documents together. They are shared out by the weights of the documents where these have some.
    pub bytes: Option<u64>,
    /// Whether documents have weights.
    pub weighted: bool,
    /// Bytes a second of one transfer.
    pub bandwidth: Option<u64>,
    /// The seed of synthetic keys and of draws.
    pub seed: u64,
    /// Threads.
    pub threads: usize,
    /// Whether times are measured.
    pub timing: bool,
    /// Bytes that tables and counting may take.
    pub max_memory: u64,
}

impl ReviewRequest {
    /// The sides of all candidates, for the rules that documents must follow. Those that cannot serve the nodes
    /// have none.
    fn side(&self, scheme: &dyn Scheme) -> Result<Side, StudyError> {
        Side::new(scheme.box_clone(), &self.members, self.hash.as_deref(), self.max_memory)
    }

    /// What every document must fulfil so that every candidate can place it.
    #[must_use]
    pub fn rules(&self) -> shardlab_core::KeyRules {
        let schemes = self.present.iter().chain(&self.candidates);
        let reference = self.requirements.compatible_with.as_ref().map(|compatible| &compatible.scheme);
        let sides = schemes.chain(reference).filter_map(|scheme| self.side(&**scheme).ok());
        sides.fold(shardlab_core::KeyRules::default(), |rules, side| rules.and(side.rules()))
    }
}

/// A scheme on its way through a review.
struct Entry {
    scheme: Box<dyn Scheme>,
    is_present: bool,
    tuned_from: Option<String>,
    /// The built sharder, or why there is none.
    side: Result<Side, String>,
}

/// Runs the studies that the decision needs and says what follows. `open` gives the documents from their beginning
/// each time it is called.
///
/// # Errors
/// A candidate is given twice, a change does not fit the nodes, the documents cannot be read or placed, memory is
/// not enough, or a result is impossible.
pub fn review(
    request: &ReviewRequest,
    open: &dyn Fn() -> Result<Box<dyn Documents>, StudyError>,
    command: &str,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<(Review, ReviewStudies), StudyError> {
    // A quarter of the memory for the documents leaves the rest to the tables.
    let source = Source::new(open, request.max_memory / 4, progress)?;
    let mut entries = entries(request)?;
    let changes = measure::changes(request)?;
    let mut tunings = Vec::new();
    if let Some(peak) = request.requirements.peak.filter(|_| request.tune) {
        let keys = compare(request, &entries, &source, false, progress)?;
        (entries, tunings) = with_tuned(request, entries, &keys, peak)?;
    }
    let comparison = compare(request, &entries, &source, request.timing, progress)?;
    let asked = Asked::new(request, &changes);
    let measured = Measured::all(request, &entries, &changes, &comparison, &source, progress)?;
    let mut candidates = Vec::new();
    for ((entry, measured), row) in entries.iter().zip(measured).zip(&comparison.rows) {
        let judged = asked.judge(entry, measured.as_ref(), &comparison);
        candidates.push(Candidate {
            scheme: entry.scheme.spec(),
            hash: row.hash.clone(),
            is_present: entry.is_present,
            tuned_from: entry.tuned_from.clone(),
            standing: standing(&judged),
            judged,
            measured: measured.map(|measured| Box::new(measured.rows)),
        });
    }
    let floor = keys_floor(request, &source, progress)?;
    let (paths, path_rows) = measure::paths(request, &entries, &source, progress)?;
    let mut review = Review {
        schema: "shardlab-review",
        schema_version: shardlab_core::rows::REVIEW_SCHEMA_VERSION,
        tool: comparison.tool.clone(),
        title: request.title.clone(),
        question: request.question.clone(),
        background: request.background.clone(),
        inputs: ReviewInputs {
            definition: request.definition.clone(),
            command: request.command.clone(),
            nodes: request.members.len(),
            weighted: !request.members.equal_weights(),
            hash: request.hash.as_ref().map(|hasher| hasher.name()),
            seed: request.seed,
            keys: comparison.keys.clone(),
            bytes: request.bytes,
            bandwidth: request.bandwidth,
            present: request.present.as_ref().map(|scheme| scheme.spec()),
        },
        requirements: asked.requirements,
        changes: changes.iter().map(|change| change.words.clone()).collect(),
        candidates,
        decision: Default::default(),
        keys_floor: floor,
        paths,
        notes: comparison.notes.clone(),
        timings: comparison.timings.clone().map(|lookups| ReviewTimings {
            lookups: shardlab_core::rows::Timings { command: command.to_owned(), ..lookups },
            build_ns: build_times(&comparison),
            faster: Vec::new(),
        }),
    };
    review.decision = decide::decide(&review);
    let faster = decide::faster(&review);
    if let Some(timings) = &mut review.timings {
        timings.faster = faster;
    }
    let flows = flows(request, &entries, &changes, &review, &source, progress)?;
    let growth = growth(request, &entries)?;
    let split_plans = split_plans(request, &entries, &changes, &source, progress)?;
    Ok((review, ReviewStudies { comparison, flows, paths: path_rows, tunings, split_plans, growth }))
}

fn standing(judged: &[shardlab_core::rows::Judged]) -> Standing {
    use shardlab_core::rows::Judgement;
    let any = |of: Judgement| judged.iter().any(|judged| judged.judgement == of);
    if any(Judgement::NotMet) {
        Standing::Out
    } else if any(Judgement::Uncertain) || any(Judgement::NotMeasured) {
        Standing::Undecided
    } else {
        Standing::Remains
    }
}

/// The candidates in order, the scheme in use among them.
fn entries(request: &ReviewRequest) -> Result<Vec<Entry>, StudyError> {
    let mut entries: Vec<Entry> = Vec::new();
    let present = request.present.as_ref().map(|scheme| scheme.spec());
    let in_use = request.present.iter().filter(|scheme| {
        let spec = scheme.spec();
        request.candidates.iter().all(|candidate| candidate.spec() != spec)
    });
    for scheme in in_use.chain(&request.candidates) {
        let spec = scheme.spec();
        if entries.iter().any(|entry| entry.scheme.spec() == spec) {
            return Err(StudyError::CandidateTwice { spec });
        }
        entries.push(Entry {
            is_present: present.as_ref() == Some(&spec),
            tuned_from: None,
            side: buildable(request.side(&**scheme))?,
            scheme: scheme.box_clone(),
        });
    }
    if entries.iter().all(|entry| entry.side.is_err()) {
        // Somebody has to place the keys.
        if let Some(Entry { scheme, side: Err(reason), .. }) = entries.first() {
            return Err(StudyError::Refused { spec: scheme.spec(), reason: reason.clone() });
        }
    }
    Ok(entries)
}

/// A scheme that cannot serve the nodes is out for this reason; all else is an error.
fn buildable(side: Result<Side, StudyError>) -> Result<Result<Side, String>, StudyError> {
    match side {
        Ok(side) => Ok(Ok(side)),
        Err(StudyError::Build { source, .. }) => Ok(Err(source.to_string())),
        Err(error @ (StudyError::Memory { .. } | StudyError::NotAvailable { .. })) => Ok(Err(error.to_string())),
        Err(other) => Err(other),
    }
}

fn compare(
    request: &ReviewRequest,
    entries: &[Entry],
    source: &Source<'_>,
    timing: bool,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<Comparison, StudyError> {
    // What cannot be built asks for no memory, and takes its place again below.
    let served = entries.iter().filter(|entry| entry.side.is_ok());
    let rows = served.map(|entry| RowRequest { scheme: entry.scheme.box_clone(), required: true });
    let plan = Plan::new(Comparing {
        members: request.members.clone(),
        rows: rows.collect(),
        hash: request.hash.as_ref().map(|hasher| hasher.box_clone()),
        seed: request.seed,
        threads: request.threads,
        timing,
        max_memory: request.max_memory,
    })?;
    let mut comparison = plan.run(&mut *source.documents()?, String::new(), progress)?;
    for (place, entry) in entries.iter().enumerate() {
        if let Err(reason) = &entry.side {
            let row = ComparisonRow {
                scheme: entry.scheme.spec(),
                hash: hasher_for(&*entry.scheme, request.hash.as_deref()).name(),
                outcome: RowOutcome::NotApplicable { not_applicable: reason.clone() },
            };
            comparison.rows.insert(place, row);
        }
    }
    Ok(comparison)
}

fn build_times(comparison: &Comparison) -> Vec<BuildTime> {
    let time = |row: &ComparisonRow| match &row.outcome {
        RowOutcome::Measured(measured) => Some(BuildTime { scheme: row.scheme.clone(), build_ns: measured.build_ns? }),
        RowOutcome::NotApplicable { .. } => None,
    };
    comparison.rows.iter().filter_map(time).collect()
}

/// Behind each scheme that does not surely keep below the largest peak and has an option for it: the same with a
/// table that is large enough, where there is one.
fn with_tuned(
    request: &ReviewRequest,
    entries: Vec<Entry>,
    comparison: &Comparison,
    peak: f64,
) -> Result<(Vec<Entry>, Vec<Tuning>), StudyError> {
    let specs: Vec<String> = entries.iter().map(|entry| entry.scheme.spec()).collect();
    let (mut all, mut tunings) = (Vec::new(), Vec::new());
    for entry in entries {
        let found = tuned(request, &entry, comparison, peak)?;
        all.push(entry);
        let Some((tuning, scheme)) = found else { continue };
        if let Some(scheme) = scheme.filter(|scheme| !specs.contains(&scheme.spec())) {
            all.push(Entry {
                is_present: false,
                tuned_from: Some(tuning.scheme.clone()),
                side: buildable(request.side(&*scheme))?,
                scheme,
            });
        }
        tunings.push(tuning);
    }
    Ok((all, tunings))
}

/// How large the table of a scheme must be, where its present one is too small.
#[expect(clippy::type_complexity, reason = "a tuning and what it found")]
fn tuned(
    request: &ReviewRequest,
    entry: &Entry,
    comparison: &Comparison,
    peak: f64,
) -> Result<Option<(Tuning, Option<Box<dyn Scheme>>)>, StudyError> {
    let Some(knob) = entry.scheme.knob().filter(|_| entry.side.is_ok() && peak > 1.0) else { return Ok(None) };
    let keys = comparison.keys.accepted;
    let elsewhere = |scheme: &dyn Scheme| measure::elsewhere(request, scheme).peak(keys, 1.0).map(|peak| peak.high);
    let row = comparison.rows.iter().find(|row| row.scheme == entry.scheme.spec());
    let Some(RowOutcome::Measured(measured)) = row.map(|row| &row.outcome) else { return Ok(None) };
    let present = measure::elsewhere(request, &*entry.scheme).peak(keys, measured.balance.peak_to_average)?;
    // No table helps against uneven keys or heavy documents.
    if present.high <= peak || present.keys_are_uneven || measured.weight_load.is_some() {
        return Ok(None);
    }
    // The target is about shares; what chance adds with these keys is taken off it until the whole fits.
    let mut target = peak;
    let mut found = None;
    for _ in 0..TUNING_ROUNDS {
        let tuning = tune(
            &TuneRequest {
                scheme: entry.scheme.box_clone(),
                members: request.members.clone(),
                hash: request.hash.as_ref().map(|hasher| hasher.box_clone()),
                peak: target,
                confidence: TUNING_CONFIDENCE,
                draws: Some(TUNING_DRAWS),
                brief: true,
                seed: request.seed,
                timing: false,
                threads: request.threads,
                max_memory: request.max_memory,
            },
            None,
            &|_| {},
        )?;
        let scheme = tuning.value.map(|value| entry.scheme.with(knob.option, &value.to_string())).transpose();
        let scheme = scheme.map_err(|error| StudyError::Build { spec: entry.scheme.spec(), source: error.into() })?;
        let high = scheme.as_ref().map(|scheme| elsewhere(&**scheme)).transpose()?;
        found = Some((tuning, scheme));
        match high {
            // A little more than is missing, since both ends come from draws.
            Some(high) if high > peak => target -= (high - peak).mul_add(1.25, (peak - 1.0) * 0.03),
            _ => break,
        }
        if target <= 1.0 {
            break;
        }
    }
    Ok(found)
}

/// How the candidates grow with the nodes, where times are measured.
fn growth(request: &ReviewRequest, entries: &[Entry]) -> Result<Option<Scaling>, StudyError> {
    if !request.timing {
        return Ok(None);
    }
    let schemes: Vec<Box<dyn Scheme>> = entries.iter().map(|entry| entry.scheme.box_clone()).collect();
    Ok(Some(Sweep::short(&schemes, request.max_memory).run(&mut |_, _| {})?))
}

/// The heaviest value, where documents can be counted within the memory and one repeats.
fn keys_floor(
    request: &ReviewRequest,
    source: &Source<'_>,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<Option<KeysFloor>, StudyError> {
    let census = match Census::take(&mut *source.documents()?, Grain::Placed, request.max_memory / 4, progress) {
        Ok(census) => census,
        Err(StudyError::Memory { .. }) => return Ok(None),
        Err(other) => return Err(other),
    };
    let values = &census.placed;
    let worst = if values.is_weighted() { heaviest_value(values) } else { most_common_value(values) };
    let distinct = u64::try_from(values.len()).unwrap_or(u64::MAX);
    Ok(worst.map(|(value, heavy)| {
        let largest = request.members.iter().map(|(_, _, weight)| weight).max().unwrap_or(1);
        let fair = f64::from(largest) / request.members.total_weight() as f64;
        KeysFloor {
            distinct,
            value: values.shown(value),
            share: heavy.share,
            by_weight: values.is_weighted(),
            peak: (heavy.share / fair).max(1.0),
        }
    }))
}

/// The first change of the scheme in use and of the one that was found best, whole: from where to where.
fn flows(
    request: &ReviewRequest,
    entries: &[Entry],
    changes: &[measure::NamedChange],
    review: &Review,
    source: &Source<'_>,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<Vec<WhatIf>, StudyError> {
    let decision = &review.decision;
    // A table that was made larger for this review comes after those that people would take as they are.
    let is_tuned = |spec: &&String| {
        review.candidates.iter().any(|candidate| candidate.scheme == **spec && candidate.tuned_from.is_some())
    };
    let first = |of: &'_ [String]| of.iter().find(|spec| !is_tuned(spec)).or(of.first()).cloned();
    let best = decision.recommended.clone().or(first(&decision.remaining)).or(first(&decision.undecided));
    let best = best.as_ref();
    let wanted = |candidate: &&Candidate| candidate.is_present || Some(&candidate.scheme) == best;
    let mut flows = Vec::new();
    for candidate in review.candidates.iter().filter(wanted) {
        let Some(rows) = &candidate.measured else { continue };
        let is_done = |change: &CandidateChange| matches!(change, CandidateChange::Done(_));
        // A refused change has no flows of its own; the first that is done shows how the scheme moves keys.
        let Some(place) = rows.changes.iter().position(is_done) else { continue };
        let entry = entries.iter().find(|entry| entry.scheme.spec() == candidate.scheme);
        let Some(Ok(side)) = entry.map(|entry| &entry.side) else { continue };
        if let Outcome::Done { after, matched, .. } = edit_all(side, &changes[place].edits, request.max_memory)? {
            let words = changes[place].words.clone();
            let rows = measure::what_if_of(request, side, *after, matched, words, source, progress)?;
            if rows.matrix.len() <= MOST_FLOWS {
                flows.push(rows);
            }
        }
    }
    Ok(flows)
}

/// What a split or a shrink of the scheme in use needs, for each change that asks for one.
fn split_plans(
    request: &ReviewRequest,
    entries: &[Entry],
    changes: &[measure::NamedChange],
    source: &Source<'_>,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<Vec<SplitPlan>, StudyError> {
    let present = entries.iter().find(|entry| entry.is_present);
    let Some(Ok(side)) = present.map(|entry| &entry.side) else { return Ok(Vec::new()) };
    if side.placer.sharder.as_resizable().is_none() {
        return Ok(Vec::new());
    }
    let mut plans = Vec::new();
    for change in changes {
        let [Edit::Change(Change::Grow { to } | Change::Shrink { to })] = change.edits[..] else { continue };
        plans.push(split_plan(
            &SplitRequest {
                before: side.clone(),
                to: Some(to),
                reindex: Vec::new(),
                bytes: request.bytes,
                docs: None,
                max_shard_bytes: None,
                shard_heap: None,
                one_shard: None,
                bandwidth: request.bandwidth,
                hard_links: true,
                seed: request.seed,
                threads: request.threads,
                max_memory: request.max_memory,
            },
            Some(&mut *source.documents()?),
            request.weighted,
            progress,
        )?);
    }
    Ok(plans)
}
