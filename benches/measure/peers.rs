//! The published crates against ours, in turns, on the same keys.

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, ensure};
use serde::Serialize;
use shardlab_harness::{BATCH, Samples, Schedule, Task, interleaved, nearest_rank};
use shardlab_kernels::{Level, Simd};

use crate::published::{Contest, Stage, Subject};
use crate::support::{KEYS, dense, scheme};
use crate::targets::{HEAP, HEAP_SLACK, SPEED, Way};

/// Lookups: many short turns. A sample is long beside the clock, a turn short beside a noisy moment.
const LOOKUPS: Schedule = Schedule { rounds: 25, turn: Duration::from_millis(3), sample: Duration::from_micros(200) };

/// Where there are targets: a neighbour comes and goes within seconds, which the rounds must outlast.
const JUDGED: Schedule = Schedule { rounds: 100, ..LOOKUPS };

/// Builds take milliseconds each.
const BUILDS: Schedule = Schedule { turn: Duration::ZERO, sample: Duration::ZERO, ..JUDGED };

/// The same instructions at other places in memory differ by about this much: two programs of one speed
/// cannot be told apart more finely, however narrow the spread of the rounds.
const RESOLUTION: f64 = 0.02;

/// The sizes that are compared; targets are about the last.
const NODES: [u32; 3] = [10, 100, 1000];

#[derive(Debug, Serialize)]
pub(crate) struct Peers {
    simd: String,
    seed: &'static str,
    keys: usize,
    ids_of_mixed_lengths: String,
    rounds: usize,
    /// As many where a target is about the result.
    judged_rounds: usize,
    contests: Vec<Result>,
    /// Published crates of schemes that we do not have.
    context: Vec<Time>,
    heap: Vec<HeapResult>,
    /// How far rounds of the typical subject differ: the distance of the quartiles over the median.
    noise_fraction: f64,
    /// How many targets are missed by more than the spread.
    missed: usize,
}

#[derive(Debug, Serialize)]
struct Result {
    question: &'static str,
    nodes: u32,
    spec: &'static str,
    comparability: &'static str,
    published: Vec<Time>,
    fastest: &'static str,
    ours: Vec<Ours>,
}

/// Nanoseconds for one operation: the median of all samples, and the quartiles of the rounds.
#[derive(Debug, Serialize)]
struct Time {
    name: &'static str,
    nodes: u32,
    ns: f64,
    ns_low: f64,
    ns_high: f64,
}

#[derive(Debug, Serialize)]
struct Ours {
    way: Way,
    ns: f64,
    ns_low: f64,
    ns_high: f64,
    /// The time of the fastest published crate over ours, round by round: median and quartiles.
    ratio: f64,
    ratio_low: f64,
    ratio_high: f64,
    target: Option<f64>,
    verdict: Verdict,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Verdict {
    Met,
    /// The median is below the target, the upper quartile is not by more than the resolution.
    WithinSpread,
    Missed,
    /// There is no target, or it is about kernels that were not run.
    NotJudged,
}

#[derive(Debug, Serialize)]
struct HeapResult {
    what: &'static str,
    nodes: u32,
    heap_bytes: u64,
    bytes_a_cell: f64,
    at_most: f64,
    verdict: Verdict,
}

pub(crate) fn run(simd: Simd, names: Option<&Path>) -> anyhow::Result<Peers> {
    let (names, described) = match names {
        Some(path) => {
            let names = read_names(path)?;
            let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let described = format!("the {} lines of {file} in a shuffled order", names.len());
            (Some(names), described)
        }
        None => (None, format!("{KEYS} synthetic ids whose lengths are those of npm's package names")),
    };
    let (mut contests, mut context, mut noise) = (Vec::new(), Vec::new(), Vec::new());
    for nodes in NODES {
        let stage = Stage::new(nodes, names.clone());
        let mut others = stage.context();
        let is_judged = SPEED.iter().any(|target| target.nodes == nodes);
        let schedule = if is_judged { JUDGED } else { LOOKUPS };
        let measured = measure(stage.lookups(), &mut others, schedule, simd, &mut noise);
        contests.extend(measured.0);
        context.extend(measured.1);
    }
    contests.extend(measure(Stage::builds(), &mut [], BUILDS, simd, &mut noise).0);
    let heap: Vec<HeapResult> = HEAP.iter().map(heap_result).collect();
    let missed = contests.iter().flat_map(|contest| &contest.ours).map(|ours| ours.verdict);
    let missed =
        missed.chain(heap.iter().map(|heap| heap.verdict)).filter(|verdict| *verdict == Verdict::Missed).count();
    for target in &SPEED {
        let known = contests.iter().any(|contest| {
            contest.question == target.question
                && contest.nodes == target.nodes
                && contest.ours.iter().any(|ours| ours.way == target.way)
        });
        ensure!(known, "nothing was measured for the target of {:?}", target.question);
    }
    Ok(Peers {
        simd: simd.level().to_string(),
        seed: "keys 6, ids 20 and 21",
        keys: KEYS,
        ids_of_mixed_lengths: described,
        rounds: LOOKUPS.rounds,
        judged_rounds: JUDGED.rounds,
        contests,
        context,
        heap,
        noise_fraction: nearest_rank(&mut noise, 0.5),
        missed,
    })
}

/// The lines of a file, shuffled, since sorted names share their beginnings and their lengths.
fn read_names(path: &Path) -> anyhow::Result<Vec<String>> {
    let text = fs::read_to_string(path).with_context(|| format!("--names: cannot read {} as text", path.display()))?;
    let mut names: Vec<String> = text.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect();
    ensure!(names.len() >= BATCH, "--names: {} has {} names; at least {BATCH} are needed", path.display(), names.len());
    let order = crate::support::random_keys(names.len(), 22);
    let mut pairs: Vec<(u64, String)> = order.into_iter().zip(names.drain(..)).collect();
    pairs.sort_unstable();
    Ok(pairs.into_iter().map(|(_, name)| name).collect())
}

fn measure<'a>(
    mut contests: Vec<Contest<'a>>,
    others: &mut [Subject<'a>],
    schedule: Schedule,
    simd: Simd,
    noise: &mut Vec<f64>,
) -> (Vec<Result>, Vec<Time>) {
    let is_build = schedule.turn == Duration::ZERO;
    let nodes = contests.first().map_or(0, |contest| contest.nodes);
    let mut units = Vec::new();
    let mut tasks = Vec::new();
    let subjects = contests
        .iter_mut()
        .flat_map(|contest| contest.published.iter_mut().chain([&mut contest.single]).chain(contest.many.as_mut()));
    for subject in subjects.chain(others.iter_mut()) {
        units.push(subject.unit as f64);
        let work = &mut subject.work;
        tasks.push(if is_build { Task::once(|| work(1)) } else { Task::new(|count| work(count)) });
    }
    let samples = interleaved(&mut tasks, schedule);
    drop(tasks);
    noise.extend(samples.iter().map(Samples::noise_fraction));
    let mut timed = samples.iter().zip(units);
    let mut results = Vec::new();
    for contest in &contests {
        let published: Vec<_> = timed.by_ref().take(contest.published.len()).collect();
        let times: Vec<Time> = contest
            .published
            .iter()
            .zip(&published)
            .map(|(subject, (samples, unit))| time(subject.name, nodes, samples, *unit))
            .collect();
        let fastest = (0..times.len()).min_by(|&a, &b| times[a].ns.total_cmp(&times[b].ns)).unwrap_or(0);
        let way = if is_build { Way::Build } else { Way::Single };
        let ways = [Some(way), contest.many.as_ref().map(|_| Way::Many)];
        let ours = ways.into_iter().flatten().zip(timed.by_ref());
        let ours =
            ours.map(|(way, (samples, unit))| ours_against((samples, unit), published[fastest], way, contest, simd));
        results.push(Result {
            question: contest.question,
            nodes,
            spec: contest.spec,
            comparability: contest.comparability,
            fastest: times[fastest].name,
            ours: ours.collect(),
            published: times,
        });
    }
    let context = others.iter().zip(timed).map(|(subject, (samples, unit))| time(subject.name, nodes, samples, unit));
    (results, context.collect())
}

fn quartiles(mut values: Vec<f64>) -> [f64; 3] {
    [0.25, 0.5, 0.75].map(|q| nearest_rank(&mut values, q))
}

fn time(name: &'static str, nodes: u32, samples: &Samples, unit: f64) -> Time {
    let [low, _, high] = quartiles(samples.round_medians());
    Time { name, nodes, ns: samples.median() / unit, ns_low: low / unit, ns_high: high / unit }
}

fn ours_against(
    (samples, unit): (&Samples, f64),
    (published, published_unit): (&Samples, f64),
    way: Way,
    contest: &Contest<'_>,
    simd: Simd,
) -> Ours {
    let [ns_low, _, ns_high] = quartiles(samples.round_medians());
    let rounds = published.round_medians().into_iter().zip(samples.round_medians());
    // Round by round, so that a slow moment is in both.
    let [ratio_low, ratio, ratio_high] =
        quartiles(rounds.map(|(published, ours)| (published / published_unit) / (ours / unit)).collect());
    let target = SPEED
        .iter()
        .find(|target| target.question == contest.question && target.nodes == contest.nodes && target.way == way)
        .map(|target| target.at_least);
    let verdict = match target {
        None => Verdict::NotJudged,
        Some(_) if way != Way::Single && simd.level() < Level::Avx512 => Verdict::NotJudged,
        Some(target) if ratio >= target => Verdict::Met,
        Some(target) if ratio_high * (1.0 + RESOLUTION) >= target => Verdict::WithinSpread,
        Some(_) => Verdict::Missed,
    };
    Ours {
        way,
        ns: samples.median() / unit,
        ns_low: ns_low / unit,
        ns_high: ns_high / unit,
        ratio,
        ratio_low,
        ratio_high,
        target,
        verdict,
    }
}

fn heap_result(target: &crate::targets::Heap) -> HeapResult {
    let sharder = scheme(target.spec).build(&dense(target.nodes)).expect("a spec that can be built");
    let heap_bytes = sharder.heap_bytes() as u64;
    let (cells, payload) = (target.table)(u64::from(target.nodes));
    let bytes_a_cell = heap_bytes.saturating_sub(payload + HEAP_SLACK) as f64 / cells as f64;
    let verdict = if bytes_a_cell <= target.at_most { Verdict::Met } else { Verdict::Missed };
    HeapResult { what: target.what, nodes: target.nodes, heap_bytes, bytes_a_cell, at_most: target.at_most, verdict }
}
