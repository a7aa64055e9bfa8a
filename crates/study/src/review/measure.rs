//! What is measured of each candidate beside the comparison.

use shardlab_core::rows::{
    CandidateChange, CandidateRows, ChangeCosts, Comparison, MovesElsewhere, PathRows, PeakElsewhere, ReviewPath,
    RowOutcome, StepOutcome, WhatIf,
};
use shardlab_core::{Change, Members, NodeId, RawBatch, Scheme};
use shardlab_harness::drive;
use shardlab_hash::{mix64, name_hash};
use shardlab_keys::Progress;
use xxhash_rust::xxh3::xxh3_64;

use super::elsewhere::Elsewhere;
use super::held::Source;
use super::{Entry, ReviewRequest};
use crate::what_if::next_sample;
use crate::{Columns, Edit, Outcome, Path, Request, Side, Step, StudyError, Totals, edit_all, follow, what_if};

/// A change with the words for it.
#[derive(Clone, Debug)]
pub(super) struct NamedChange {
    pub(super) words: String,
    pub(super) edits: Vec<Edit>,
    /// The largest part of all keys that it may move.
    pub(super) moved: Option<f64>,
    /// Whether its author listed it; one that was not is studied and must not be possible.
    pub(super) is_asked: bool,
}

/// The changes of a review. Where any node must be able to leave and none is lost in the middle of the list,
/// such a loss is studied too.
pub(super) fn changes(request: &ReviewRequest) -> Result<Vec<NamedChange>, StudyError> {
    let members = &request.members;
    let mut changes: Vec<NamedChange> = Vec::new();
    for change in &request.changes {
        let words = change.name.clone().unwrap_or_else(|| {
            let words = change.edits.iter().map(crate::scenario::edit_in_words);
            words.collect::<Vec<_>>().join(", ")
        });
        changes.push(NamedChange {
            words,
            edits: change.edits.clone(),
            moved: change.moved.or(request.requirements.moved),
            is_asked: true,
        });
    }
    if let Some(middle) = in_the_middle(members).filter(|_| request.requirements.any_node_leaves) {
        let last = NodeId(members.len() - 1);
        let loses_another = |edit: &Edit| match edit {
            Edit::Change(Change::Remove { name }) => members.find(name).is_some_and(|node| node != last),
            _ => false,
        };
        if !changes.iter().any(|change| change.edits.len() == 1 && loses_another(&change.edits[0])) {
            let name = members.name(middle).into_owned();
            changes.push(NamedChange {
                words: format!("lose {name:?}"),
                edits: vec![Edit::Change(Change::Remove { name })],
                moved: None,
                is_asked: false,
            });
        }
    }
    Ok(changes)
}

/// A node that is not the last of the list, as near to its middle as can be; none where there is no other.
fn in_the_middle(members: &Members) -> Option<NodeId> {
    let n = members.len();
    (n > 1).then(|| NodeId((n / 2).min(n - 2)))
}

/// What is known of a candidate that serves the nodes.
#[derive(Debug)]
pub(super) struct Measured {
    pub(super) rows: CandidateRows,
    /// Why a node that is not the last cannot leave, where that is so.
    pub(super) why_nodes_stay: Option<String>,
    /// The most bytes of heap, before and after any change that can be done.
    pub(super) most_heap_bytes: u64,
    /// Documents that stand where the system to be compatible with has them, of all.
    pub(super) compatible: Option<(u64, u64)>,
}

impl Measured {
    /// One for each entry, in order; none for those that cannot serve the nodes.
    pub(super) fn all(
        request: &ReviewRequest,
        entries: &[Entry],
        changes: &[NamedChange],
        comparison: &Comparison,
        source: &Source<'_>,
        progress: &(dyn Fn(Progress) + Sync),
    ) -> Result<Vec<Option<Self>>, StudyError> {
        let marks = placements(request, entries, source, progress)?;
        let present = entries.iter().find(|entry| entry.is_present).and_then(|entry| entry.side.as_ref().ok());
        let mut all = Vec::new();
        for ((entry, row), mark) in entries.iter().zip(&comparison.rows).zip(marks) {
            let (Ok(side), RowOutcome::Measured(measured), Some(mark)) = (&entry.side, &row.outcome, mark) else {
                all.push(None);
                continue;
            };
            let peak =
                measured.weight_load.as_ref().map_or(measured.balance.peak_to_average, |load| load.peak_to_average);
            let drawn = elsewhere(request, &*entry.scheme);
            // Where documents have weights, single heavy ones decide, and nothing is known of those of others.
            let peak_elsewhere: Option<PeakElsewhere> = match measured.weight_load {
                None => Some(drawn.peak(comparison.keys.accepted, peak)?),
                Some(_) => None,
            };
            if measured.weight_load.as_ref().is_some_and(|load| load.sums.iter().all(|sum| sum == "0")) {
                return Err(StudyError::NoWeight);
            }
            let known = Known {
                is_even: peak_elsewhere.as_ref().is_some_and(|peak| !peak.keys_are_uneven),
                is_about_names: false,
                weighted: request.weighted,
            };
            let mut most_heap_bytes = measured.heap_bytes;
            let mut costs = Vec::new();
            for change in changes {
                let (cost, heap) = change_of(request, side, change, known, source, progress)?;
                most_heap_bytes = most_heap_bytes.max(heap);
                costs.push(cost);
            }
            let switch = match present {
                Some(present) if !entry.is_present => {
                    let words = format!("go from {} to {}", present.scheme.spec(), entry.scheme.spec());
                    let rows = what_if_of(request, present, side.clone(), None, words, source, progress)?;
                    Some(costs_of(&rows, None, known))
                }
                _ => None,
            };
            let why_nodes_stay = in_the_middle(&request.members).and_then(|node| {
                let name = request.members.name(node).into_owned();
                let left = side.placer.sharder.box_clone().apply(&Change::Remove { name });
                left.err().map(|reason| reason.to_string())
            });
            all.push(Some(Self {
                rows: CandidateRows {
                    placement_digest: format!("{:016x}", mark.digest),
                    balance: measured.balance.clone(),
                    weight_load: measured.weight_load.clone(),
                    peak_elsewhere,
                    heap_bytes: measured.heap_bytes,
                    lookup_growth: entry.scheme.about().lookup_growth.as_str(),
                    takes_weights: entry.scheme.promises().weights,
                    any_node_leaves: why_nodes_stay.is_none(),
                    changes: costs,
                    switch,
                },
                why_nodes_stay,
                most_heap_bytes,
                compatible: request.requirements.compatible_with.as_ref().map(|_| (mark.same, mark.all)),
            }));
        }
        Ok(all)
    }
}

pub(super) fn elsewhere<'a>(request: &'a ReviewRequest, scheme: &'a dyn Scheme) -> Elsewhere<'a> {
    Elsewhere { scheme, members: &request.members, seed: request.seed, threads: request.threads }
}

/// Places all documents by two sides.
pub(super) fn what_if_of(
    request: &ReviewRequest,
    before: &Side,
    after: Side,
    matched: Option<Vec<Option<NodeId>>>,
    change: String,
    source: &Source<'_>,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<WhatIf, StudyError> {
    let asked = Request {
        before: before.clone(),
        after,
        change,
        matched,
        machines: None,
        copies: 1,
        totals: Totals { bytes: request.bytes.map(u128::from), requests: None },
        requests_per_second: false,
        columns: Columns { weights: request.weighted, requests: false },
        bandwidth: request.bandwidth,
        seed: request.seed,
        threads: request.threads,
        max_memory: request.max_memory,
    };
    what_if(&asked, &mut *source.documents()?, progress)
}

/// What a change costs with one candidate, and the heap after it.
fn change_of(
    request: &ReviewRequest,
    side: &Side,
    change: &NamedChange,
    known: Known,
    source: &Source<'_>,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<(CandidateChange, u64), StudyError> {
    match edit_all(side, &change.edits, request.max_memory)? {
        Outcome::Done { after, matched, .. } => {
            let heap = u64::try_from(after.placer.sharder.heap_bytes()).unwrap_or(u64::MAX);
            let drawn = elsewhere(request, &*side.scheme);
            let rows_of_keys = source.documents_read();
            // Where names matter, one that is about names alone says nothing of others.
            let is_about_names = side.scheme.promises().order_free
                && change.edits.iter().any(|edit| !matches!(edit, Edit::Change(_) | Edit::LoseRack { .. }));
            let elsewhere = if known.is_even { drawn.moves(&change.edits, rows_of_keys)? } else { None };
            let rows = what_if_of(request, side, *after, matched, change.words.clone(), source, progress)?;
            Ok((CandidateChange::Done(Box::new(costs_of(&rows, elsewhere, Known { is_about_names, ..known }))), heap))
        }
        Outcome::Refused { reason, alternatives, .. } => {
            let mut instead = Vec::new();
            for alternative in alternatives {
                let words = alternative.words;
                let rows = what_if_of(request, side, alternative.after, None, words, source, progress)?;
                instead.push(costs_of(&rows, None, known));
            }
            Ok((CandidateChange::NotApplicable { not_applicable: reason, instead }, 0))
        }
    }
}

/// What is known about the keys and a change, beside the numbers of its study.
#[derive(Clone, Copy)]
struct Known {
    /// Whether no value of the keys has so much that it decides by itself.
    is_even: bool,
    /// Whether the change is one of names, so that other names say nothing.
    is_about_names: bool,
    /// Whether documents have weights.
    weighted: bool,
}

/// The numbers of a study that a review shows. With uneven keys a few values decide what moves, and what others would
/// do is not known.
fn costs_of(rows: &WhatIf, elsewhere: Option<MovesElsewhere>, known: Known) -> ChangeCosts {
    let interval = match &elsewhere {
        _ if !known.is_even || rows.left_parent_fraction.is_some() => None,
        // The measured number is one of those that there can be.
        Some(elsewhere) => {
            let [low, high] = elsewhere.moved;
            Some([low.min(rows.moves.moved_fraction), high.max(rows.moves.moved_fraction)])
        }
        None if known.is_about_names => None,
        None => Some(next_sample(rows.moves.moved_fraction, rows.keys.accepted)),
    };
    ChangeCosts {
        change: rows.change.clone(),
        to: rows.to.clone(),
        to_nodes: rows.to_nodes,
        moves: rows.moves,
        left_parent_fraction: rows.left_parent_fraction,
        elsewhere,
        moved_interval: interval,
        moved_keys: rows.moved_keys,
        moved_bytes: rows.moved_bytes,
        rewritten_bytes: rows.rewritten_bytes,
        seconds_serial: rows.seconds_serial,
        seconds_parallel: rows.seconds_parallel,
        peak_after: peak_after(rows, known.weighted),
    }
}

/// The peak after a change, by weight where documents have some, as the peak before it is.
fn peak_after(rows: &WhatIf, weighted: bool) -> f64 {
    let by_weight = rows.busiest.iter().find(|busiest| weighted && busiest.measure == "bytes");
    by_weight.map_or(rows.after.peak_to_average, |busiest| busiest.after.over_fair)
}

/// What one pass over the documents says of a candidate's mapping. Sums do not depend on the order.
#[derive(Clone, Copy, Debug, Default)]
struct Mark {
    digest: u64,
    same: u64,
    all: u64,
}

impl Mark {
    fn merge(&mut self, other: Self) {
        self.digest = self.digest.wrapping_add(other.digest);
        self.same += other.same;
        self.all += other.all;
    }
}

/// The digest of every candidate's mapping, and how many documents it places as the system to be compatible with.
fn placements(
    request: &ReviewRequest,
    entries: &[Entry],
    source: &Source<'_>,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<Vec<Option<Mark>>, StudyError> {
    let reference = match &request.requirements.compatible_with {
        // A system with a hash of its own keeps it, whatever is put in front of the others.
        Some(compatible) => {
            let asked = request.hash.as_deref().filter(|_| compatible.scheme.native_hasher().is_none());
            Some(Side::new(compatible.scheme.box_clone(), &request.members, asked, request.max_memory)?)
        }
        None => None,
    };
    let names = name_hashes(&request.members);
    let start = || (vec![Mark::default(); entries.len()], Vec::new(), Vec::new(), Vec::new());
    let step = |state: &mut (Vec<Mark>, Vec<u64>, Vec<NodeId>, Vec<NodeId>), _: u64, batch: &RawBatch<'_>| {
        let (marks, documents, expected, placed) = state;
        document_hashes(batch, documents);
        if let Some(reference) = &reference {
            reference.place(batch, expected)?;
        }
        for (entry, mark) in entries.iter().zip(marks) {
            let Ok(side) = &entry.side else { continue };
            side.place(batch, placed)?;
            for (document, node) in documents.iter().zip(placed.iter()) {
                mark.digest = mark.digest.wrapping_add(mix64(document ^ names[node.index()]));
            }
            let same = placed.iter().zip(expected.iter()).filter(|(placed, expected)| placed == expected);
            mark.same += u64::try_from(same.count()).unwrap_or(u64::MAX);
            mark.all += u64::try_from(placed.len()).unwrap_or(u64::MAX);
        }
        Ok::<_, StudyError>(())
    };
    let mut sums = vec![Mark::default(); entries.len()];
    for (marks, ..) in drive(&mut *source.documents()?, request.threads, progress, start, step)? {
        sums.iter_mut().zip(marks).for_each(|(sum, mark)| sum.merge(mark));
    }
    Ok(sums.into_iter().zip(entries).map(|(mark, entry)| entry.side.is_ok().then_some(mark)).collect())
}

fn name_hashes(members: &Members) -> Vec<u64> {
    members.iter().map(|(_, name, _)| mix64(name_hash(&name))).collect()
}

/// A number for each document, from id and routing value.
fn document_hashes(batch: &RawBatch<'_>, out: &mut Vec<u64>) {
    out.clear();
    match batch.hashed() {
        Some(keys) => out.extend_from_slice(keys),
        None => out.extend(batch.iter().map(|key| xxh3_64(key.id) ^ mix64(xxh3_64(key.routing)))),
    }
}

/// The path with each candidate, in short and whole.
pub(super) fn paths(
    request: &ReviewRequest,
    entries: &[Entry],
    source: &Source<'_>,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<(Vec<ReviewPath>, Vec<PathRows>), StudyError> {
    if request.path.is_empty() {
        return Ok((Vec::new(), Vec::new()));
    }
    let (mut short, mut whole) = (Vec::new(), Vec::new());
    for entry in entries {
        let Ok(start) = &entry.side else { continue };
        let mut steps: Vec<Step> = Vec::new();
        for edits in &request.path {
            let before = match steps.last() {
                None => start,
                Some(Step { after: Ok(side), .. }) => side,
                Some(Step { after: Err(_), .. }) => break,
            };
            steps.push(match edit_all(before, edits, request.max_memory)? {
                Outcome::Done { after, words, .. } => Step { words, after: Ok(*after) },
                Outcome::Refused { words, reason, .. } => Step { words, after: Err(reason) },
            });
        }
        let path = Path {
            start: start.clone(),
            steps,
            machines: None,
            bytes: request.bytes.map(u128::from),
            weighted: request.weighted,
            bandwidth: request.bandwidth,
            seed: request.seed,
            threads: request.threads,
            max_memory: request.max_memory,
        };
        let rows = follow(&path, &mut *source.documents()?, progress)?;
        short.push(in_short(&rows));
        whole.push(rows);
    }
    Ok((short, whole))
}

fn in_short(rows: &PathRows) -> ReviewPath {
    let refused = rows.steps.iter().find_map(|step| match &step.outcome {
        StepOutcome::NotApplicable { not_applicable } => Some(format!("{}: {not_applicable}", step.change)),
        StepOutcome::Done(_) => None,
    });
    let peaks = rows.steps.iter().filter_map(|step| match &step.outcome {
        StepOutcome::Done(done) => Some(done.after.peak_to_average),
        StepOutcome::NotApplicable { .. } => None,
    });
    ReviewPath {
        scheme: rows.start.clone(),
        steps: rows.steps.iter().map(|step| step.change.clone()).collect(),
        not_applicable: refused,
        cumulative_fraction: rows.cumulative_fraction,
        straight_fraction: rows.straight_fraction,
        moved_more_than_once_fraction: rows.moved_more_than_once_fraction,
        cumulative_bytes: rows.cumulative_bytes,
        worst_peak: peaks.fold(0.0, f64::max),
    }
}
