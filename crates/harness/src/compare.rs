use std::time::Instant;

use shardlab_core::rows::{
    ChangeOutcome, Comparison, ComparisonRow, Latency, Measured, Movement, Movements, RowOutcome, Timings,
};
use shardlab_core::{Change, Disruption, KeyHasher, KeyRules, Members, NO_HASH, NodeId, Scheme, Shares};
use shardlab_keys::{Documents, Progress};

use crate::balance::{Fair, balance, weight_load};
use crate::chance::with_chance_peak;
use crate::error::{CompareError, Impossible};
use crate::movement::After;
use crate::pass::{self, PassResult, PassRow, RowTally};
use crate::timing::{self, Subject, Timed, TimingError};
use crate::{memory, reading};

/// A row that is asked for.
#[derive(Debug)]
pub struct RowRequest {
    /// The configured scheme.
    pub scheme: Box<dyn Scheme>,
    /// Whether somebody named it: then it is an error, and not a note, if it cannot be built.
    pub required: bool,
}

/// What to compare.
#[derive(Debug)]
pub struct Request {
    /// The nodes.
    pub members: Members,
    /// The rows, in the order of the result.
    pub rows: Vec<RowRequest>,
    /// The hash for every row; each scheme's own, or the default, where there is none.
    pub hash: Option<Box<dyn KeyHasher>>,
    /// The seed of synthetic keys, for the record.
    pub seed: u64,
    /// Threads that place documents.
    pub threads: usize,
    /// Whether times are measured.
    pub timing: bool,
    /// Bytes that sharders and counters may take.
    pub max_memory: u64,
}

/// The four changes of every comparison.
fn changes(members: &Members) -> [(&'static str, Change); 4] {
    let n = members.len();
    let name = |position| members.name(NodeId(position)).into_owned();
    [
        ("add_one", Change::Grow { to: n + 1 }),
        ("remove_last", Change::Remove { name: name(n - 1) }),
        ("remove_middle", Change::Remove { name: name(n / 2) }),
        ("double", Change::Grow { to: 2 * n }),
    ]
}

/// A comparison whose sharders are built and which waits for documents.
#[derive(Debug)]
pub struct Plan {
    members: Members,
    seed: u64,
    threads: usize,
    timing: bool,
    hashers: Vec<Box<dyn KeyHasher>>,
    rules: KeyRules,
    rows: Vec<PlannedRow>,
}

#[derive(Debug)]
enum PlannedRow {
    Ready(Box<ReadyRow>),
    NotApplicable { spec: String, hash: String, reason: String },
}

#[derive(Debug)]
struct ReadyRow {
    scheme: Box<dyn Scheme>,
    pass: PassRow,
    /// For each of the four changes: a place in `pass.changes`, or why there is none.
    changes: [Result<usize, String>; 4],
    shares: Option<Shares>,
}

impl Plan {
    /// Decides what every document must fulfil, and builds every sharder before and after every
    /// change.
    ///
    /// # Errors
    /// A row that was named cannot be built, or it all needs more memory than allowed.
    pub fn new(request: Request) -> Result<Self, CompareError> {
        let Request { members, rows, hash, seed, threads, timing, max_memory } = request;
        let mut buildable = Vec::new();
        let mut planned: Vec<Option<PlannedRow>> = Vec::new();
        let mut hashers: Vec<Box<dyn KeyHasher>> = Vec::new();
        let mut rules = KeyRules::default();
        let mut which = Vec::new();
        for RowRequest { scheme, required } in rows {
            let hasher = hasher_for(&*scheme, hash.as_deref());
            match scheme.check().map_err(Into::into).and_then(|()| scheme.check_members(&members)) {
                Ok(()) => {
                    rules = rules.and(scheme.key_rules()).and(hasher.rules());
                    let known = hashers.iter().position(|known| known.name() == hasher.name());
                    which.push(known.unwrap_or_else(|| {
                        hashers.push(hasher);
                        hashers.len() - 1
                    }));
                    buildable.push(scheme);
                    planned.push(None);
                }
                Err(source) if required => return Err(CompareError::Build { spec: scheme.spec(), source }),
                Err(reason) => planned.push(Some(PlannedRow::NotApplicable {
                    spec: scheme.spec(),
                    hash: hasher.name(),
                    reason: reason.to_string(),
                })),
            }
        }
        memory::check(&buildable, &members, threads, max_memory)?;
        let changes = changes(&members);
        let mut ready = buildable.into_iter().zip(which);
        let rows = planned.into_iter().map(|row| match row {
            Some(row) => Ok(row),
            None => {
                // One place was left open for each buildable scheme, in order.
                let (scheme, hasher) = ready.next().ok_or(CompareError::NoKeys)?;
                Ok(PlannedRow::Ready(Box::new(ReadyRow::build(scheme, hasher, &members, &changes)?)))
            }
        });
        let rows = rows.collect::<Result<_, CompareError>>()?;
        Ok(Self { members, seed, threads, timing, hashers, rules, rows })
    }

    /// What every document must fulfil so that every row can place it.
    #[must_use]
    pub const fn rules(&self) -> KeyRules {
        self.rules
    }

    /// Places all documents and measures every row. `command` stands in the timings alone.
    ///
    /// # Errors
    /// The documents cannot be read or placed, there are none, or a result is impossible.
    pub fn run(
        self,
        documents: &mut dyn Documents,
        command: String,
        progress: &(dyn Fn(Progress) + Sync),
    ) -> Result<Comparison, CompareError> {
        let start = Instant::now();
        let mut ready = Vec::new();
        let mut outlines = Vec::new();
        for row in self.rows {
            match row {
                PlannedRow::Ready(row) => {
                    outlines.push(Ok(row.scheme.spec()));
                    ready.push(*row);
                }
                PlannedRow::NotApplicable { spec, hash, reason } => outlines.push(Err((spec, hash, reason))),
            }
        }
        let (pass_rows, details): (Vec<PassRow>, Vec<_>) =
            ready.into_iter().map(|row| (row.pass, (row.scheme, row.changes, row.shares))).unzip();
        let PassResult { rows: tallies, first } =
            pass::run(documents, &self.hashers, &pass_rows, self.threads, progress)?;
        let pass_seconds = start.elapsed().as_secs_f64();
        let keys = documents.key_set();
        if keys.accepted == 0 {
            return Err(CompareError::NoKeys);
        }
        let timed = if self.timing {
            let subjects: Vec<Subject<'_>> = pass_rows
                .iter()
                .zip(&details)
                .map(|(row, (scheme, ..))| Subject {
                    scheme: &**scheme,
                    sharder: &*row.sharder,
                    keys: &first.keys[row.hasher],
                    hashed: (!first.documents.is_empty()).then_some((&*self.hashers[row.hasher], &first.documents)),
                })
                .collect();
            Some(timing::measure(&subjects, &self.members).map_err(|error| match error {
                TimingError::Build(source) => CompareError::Build { spec: "timing".to_owned(), source },
                TimingError::Impossible(row, result) => {
                    CompareError::Impossible { spec: subjects[row].scheme.spec(), result }
                }
            })?)
        } else {
            None
        };
        let fair = Fair::of(&self.members);
        let mut measured = Vec::new();
        for (index, ((row, tally), (scheme, changes, shares))) in
            pass_rows.iter().zip(&tallies).zip(&details).enumerate()
        {
            let times = timed.as_ref().map(|timed| (&timed.rows[index], timed.build_ns[index]));
            let judge = Judge { scheme: &**scheme, row, changes, shares: shares.as_ref(), fair: &fair };
            let spec = scheme.spec();
            let outcome = judge
                .measured(tally, pass_rows.len(), times, self.members.equal_weights())
                .map_err(|result| CompareError::Impossible { spec: spec.clone(), result })?;
            let hash = if documents.are_hashed() { NO_HASH.to_owned() } else { self.hashers[row.hasher].name() };
            measured.push(ComparisonRow { scheme: spec, hash, outcome: RowOutcome::Measured(Box::new(outcome)) });
        }
        let mut measured = measured.into_iter();
        let rows: Vec<ComparisonRow> = outlines
            .into_iter()
            .filter_map(|outline| match outline {
                Ok(_) => measured.next(),
                Err((scheme, hash, reason)) => {
                    Some(ComparisonRow { scheme, hash, outcome: RowOutcome::NotApplicable { not_applicable: reason } })
                }
            })
            .collect();
        let hasher = |row: &PassRow| (!documents.are_hashed()).then(|| &*self.hashers[row.hasher]);
        let schemes: Vec<(&dyn Scheme, Option<&dyn KeyHasher>)> =
            pass_rows.iter().zip(&details).map(|(row, (scheme, ..))| (&**scheme, hasher(row))).collect();
        let timed_keys = first.keys.first().map_or(0, Vec::len);
        let timings = timed.map(|timed| timings(timed, timed_keys, command, self.threads, pass_seconds));
        Ok(Comparison {
            tool: format!("shardlab {}", env!("CARGO_PKG_VERSION")),
            nodes: self.members.len(),
            weighted: !self.members.equal_weights(),
            seed: self.seed,
            notes: reading::notes(&schemes, &self.members),
            reading: reading::in_words(&rows, &keys, timings.as_ref()),
            keys,
            rows,
            timings,
        })
    }
}

/// The hash in front of a scheme: the one asked for, its own, or the default.
#[must_use]
pub fn hasher_for(scheme: &dyn Scheme, asked: Option<&dyn KeyHasher>) -> Box<dyn KeyHasher> {
    let chosen = asked.map(KeyHasher::box_clone).or_else(|| scheme.native_hasher());
    scheme.adapt_hasher(chosen.unwrap_or_else(|| Box::new(shardlab_hash::Xxh3)))
}

impl ReadyRow {
    fn build(
        scheme: Box<dyn Scheme>,
        hasher: usize,
        members: &Members,
        changes: &[(&'static str, Change); 4],
    ) -> Result<Self, CompareError> {
        let sharder = scheme.build(members).map_err(|source| CompareError::Build { spec: scheme.spec(), source })?;
        let mut done = Vec::new();
        let outcomes = changes.each_ref().map(|(name, change)| {
            let mut after = sharder.box_clone();
            after.apply(change).map_err(|reason| reason.to_string())?;
            done.push(After::new(name, &*sharder, after));
            Ok(done.len() - 1)
        });
        let shares = sharder.exact_shares();
        Ok(Self { scheme, pass: PassRow { hasher, sharder, changes: done }, changes: outcomes, shares })
    }
}

/// Everything that turns the tally of a row into a result.
struct Judge<'a> {
    scheme: &'a dyn Scheme,
    row: &'a PassRow,
    changes: &'a [Result<usize, String>; 4],
    shares: Option<&'a Shares>,
    fair: &'a Fair,
}

impl Judge<'_> {
    fn measured(
        &self,
        tally: &RowTally,
        rows: usize,
        times: Option<(&Latency, f64)>,
        equal_weights: bool,
    ) -> Result<Measured, Impossible> {
        self.check_shares(equal_weights)?;
        let heap_bytes = self.row.sharder.heap_bytes() as u64;
        let expected_heap_bytes = self.scheme.expected_heap_bytes(self.row.sharder.members());
        if heap_bytes > expected_heap_bytes {
            return Err(Impossible::Heap { heap: heap_bytes, expected: expected_heap_bytes });
        }
        let [add_one, remove_last, remove_middle, double] = self.changes.each_ref().map(|change| match change {
            Ok(place) => self.movement(*place, tally).map(ChangeOutcome::Moved),
            Err(reason) => Ok(ChangeOutcome::NotApplicable { not_applicable: reason.clone() }),
        });
        Ok(Measured {
            balance: with_chance_peak(balance(&tally.counts, self.fair, self.shares, rows), self.fair),
            weight_load: tally.weights.as_ref().map(|sums| weight_load(sums, self.fair)),
            movement: Movements {
                add_one: add_one?,
                remove_last: remove_last?,
                remove_middle: remove_middle?,
                double: double?,
            },
            heap_bytes,
            expected_heap_bytes,
            build_ns: times.map(|(_, build_ns)| build_ns),
            lookup_ns: times.map(|(latency, _)| latency.lookup_ns),
            throughput_ns: times.map(|(latency, _)| latency.throughput_ns),
        })
    }

    fn movement(&self, place: usize, tally: &RowTally) -> Result<Movement, Impossible> {
        let promised_none = self.scheme.promises().disruption == Disruption::None;
        self.row.changes[place].outcome(&tally.counts, &tally.moves[place], promised_none)
    }

    fn check_shares(&self, equal_weights: bool) -> Result<(), Impossible> {
        let Some(shares) = self.shares else { return Ok(()) };
        let sum: u128 = shares.parts.iter().sum();
        if sum != shares.whole {
            return Err(Impossible::Shares { sum, whole: shares.whole });
        }
        if let Some(gap) = self.scheme.largest_share_gap().filter(|_| equal_weights) {
            let least = shares.parts.iter().copied().min().unwrap_or(0);
            let most = shares.parts.iter().copied().max().unwrap_or(0);
            if most - least > gap {
                return Err(Impossible::Uneven { least, most, gap });
            }
        }
        Ok(())
    }
}

fn timings(timed: Timed, timed_keys: usize, command: String, threads: usize, pass_seconds: f64) -> Timings {
    Timings {
        command,
        machine: machine(),
        threads,
        pass_seconds,
        floor_lookup_ns: timed.floor_lookup_ns,
        floor_throughput_ns: timed.floor_throughput_ns,
        timed_keys: timed_keys as u64,
        noise_fraction: timed.noise_fraction,
        too_noisy: timed.noise_fraction > timing::MOST_NOISE,
        latency: timed.rows,
    }
}

/// Operating system, architecture and processor, as far as the system tells.
fn machine() -> String {
    let system = format!("{} {}", std::env::consts::OS, std::env::consts::ARCH);
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let processor = std::fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| {
        let line = text.lines().find(|line| line.starts_with("model name"))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    });
    format!("{system}, {cpus} CPUs, {}", processor.as_deref().unwrap_or("processor unknown"))
}
