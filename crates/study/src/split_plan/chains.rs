//! Ways from one count to another by splits and shrinks.

use shardlab_core::rows::ResizeStep;
use shardlab_core::{ResizeOperation, Sharder};

/// More chains than this help nobody to choose.
pub(super) const MOST_CHAINS: usize = 20;

/// A way that was walked: every step was asked of the index that the step before left.
#[derive(Debug)]
pub(super) struct Chain {
    pub(super) steps: Vec<ResizeStep>,
    /// The index at its end.
    pub(super) end: Box<dyn Sharder>,
}

/// The cheapest chains, and how many there are beyond.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) chains: Vec<Chain>,
    pub(super) left_out: u64,
}

/// What a chain is ranked by, first to last: copies of the whole index that are written, shrinks (each
/// merges shards that stood apart), operations, and copies where files cannot be linked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rank {
    written: u64,
    shrinks: u32,
    operations: u32,
    copies: u64,
}

impl Rank {
    fn plus(self, from: u32, to: u32, hard_links: bool) -> Self {
        let copies = copies_of(from, to);
        Self {
            written: self.written + if hard_links { 0 } else { copies },
            shrinks: self.shrinks + u32::from(to < from),
            operations: self.operations + 1,
            copies: self.copies + copies,
        }
    }

    fn of(from: u32, stops: &[u32], hard_links: bool) -> Self {
        let mut at = from;
        stops.iter().fold(Self::default(), |rank, &to| {
            let next = rank.plus(at, to, hard_links);
            at = to;
            next
        })
    }
}

/// Copies of the whole index that one operation writes where files cannot be linked: each child of a
/// split starts as a full copy of its parent, and a shrink or clone copies every shard once.
pub(super) fn copies_of(from: u32, to: u32) -> u64 {
    u64::from((to / from.max(1)).max(1))
}

/// Ways from the present count to `to`, cheapest first.
///
/// Where one operation leads there, these are its divisions into several of the same direction. Where
/// none does, they are turns: a shrink to a common divisor and a split, or a split to a common multiple
/// and a shrink. Further stops before or behind a turn only add work and are left out, as is a turn
/// where the straight way is legal. `fits` says whether documents allow a count.
pub(super) fn chains(start: &dyn Sharder, to: u32, hard_links: bool, fits: &dyn Fn(u32) -> bool) -> Found {
    let from = start.members().len();
    let Some(rules) = start.as_resizable() else { return Found::default() };
    if !fits(to) {
        return Found::default();
    }
    let (mut ranked, total) = match rules.operation_to(to) {
        Ok(ResizeOperation::Clone) => (vec![vec![to]], 1),
        Ok(_) => straight(start, to, hard_links),
        Err(_) => turns(start, to, fits),
    };
    ranked.sort_by_cached_key(|stops| {
        // Of ways that cost the same, the one that crowds documents least comes first.
        let narrowest = stops.iter().copied().min().unwrap_or(to);
        (Rank::of(from, stops, hard_links), from.min(to).saturating_sub(narrowest), stops.clone())
    });
    let chains: Vec<Chain> = ranked.iter().take(MOST_CHAINS).filter_map(|stops| walk(start, stops)).collect();
    let left_out = total.saturating_sub(u64::try_from(chains.len()).unwrap_or(u64::MAX));
    Found { chains, left_out }
}

/// Goes the way step by step.
fn walk(start: &dyn Sharder, stops: &[u32]) -> Option<Chain> {
    let mut end = start.box_clone();
    let mut steps = Vec::new();
    for &to in stops {
        let rules = end.as_resizable()?;
        steps.push(ResizeStep { operation: rules.operation_to(to).ok()?, to });
        end = rules.resized(to).ok()?;
    }
    Some(Chain { steps, end })
}

/// The best straight ways and the number of all. A stop lies between both counts and divides or is
/// divided by its neighbours; as the routing shards stay the same, a stop on the way to a legal count is
/// legal itself. An index of one shard gets other routing shards with its first split, so there each
/// first stop is asked whether the goal can still be reached.
///
/// For each stop the best partial ways are kept; adding the same step to two ways never turns their
/// order, so the best ways to the goal are among them.
fn straight(start: &dyn Sharder, to: u32, hard_links: bool) -> (Vec<Vec<u32>>, u64) {
    let from = start.members().len();
    let (low, high) = (from.min(to), from.max(to));
    let mut stops: Vec<u32> = divisors(high / low).into_iter().map(|factor| low * factor).collect();
    if to < from {
        stops.reverse();
    }
    let opens = |stop: u32| from > 1 || stop == to || leads_on(start, stop, to);
    let mut best: Vec<Vec<(Rank, Vec<u32>)>> = vec![vec![(Rank::default(), Vec::new())]];
    let mut ways: Vec<u64> = vec![1];
    for (place, &stop) in stops.iter().enumerate().skip(1) {
        let (mut here, mut count) = (Vec::new(), 0_u64);
        for (before, &previous) in stops[..place].iter().enumerate() {
            if stop.max(previous) % stop.min(previous) != 0 || (before == 0 && !opens(stop)) {
                continue;
            }
            count = count.saturating_add(ways[before]);
            for (rank, path) in &best[before] {
                let path = path.iter().copied().chain([stop]).collect();
                here.push((rank.plus(previous, stop, hard_links), path));
            }
        }
        here.sort();
        here.truncate(MOST_CHAINS);
        best.push(here);
        ways.push(count);
    }
    let paths = best.pop().unwrap_or_default().into_iter().map(|(_, path)| path).collect();
    (paths, ways.pop().unwrap_or(0))
}

fn leads_on(start: &dyn Sharder, stop: u32, to: u32) -> bool {
    let stopped = start.as_resizable().and_then(|rules| rules.resized(stop).ok());
    stopped.is_some_and(|stopped| stopped.as_resizable().is_some_and(|rules| rules.operation_to(to).is_ok()))
}

/// The ways that turn round once, and their number.
fn turns(start: &dyn Sharder, to: u32, fits: &dyn Fn(u32) -> bool) -> (Vec<Vec<u32>>, u64) {
    let Some(rules) = start.as_resizable() else { return (Vec::new(), 0) };
    let below = rules.legal_shrinks().into_iter().filter(|stop| to.is_multiple_of(*stop) && fits(*stop));
    // From one shard every split is legal or too large, and a turn would only come back.
    let splits = if start.members().len() > 1 { rules.legal_splits() } else { Vec::new() };
    let above = splits.into_iter().filter(|stop| stop.is_multiple_of(to));
    let found: Vec<Vec<u32>> =
        below.chain(above).filter(|&stop| leads_on(start, stop, to)).map(|stop| vec![stop, to]).collect();
    let total = u64::try_from(found.len()).unwrap_or(u64::MAX);
    (found, total)
}

/// The divisors of a number, ascending.
fn divisors(number: u32) -> Vec<u32> {
    let small: Vec<u32> = (1..=number.isqrt()).filter(|&divisor| number.is_multiple_of(divisor)).collect();
    let large = small.iter().rev().map(|&divisor| number / divisor).filter(|&divisor| divisor > number.isqrt());
    small.iter().copied().chain(large).collect()
}
