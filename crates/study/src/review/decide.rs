//! What the requirements leave, and what would change that.

use shardlab_core::rows::{
    Candidate, CandidateChange, CandidateRows, ChangeCosts, Judgement, Review, ReviewDecision, ReviewRequirement,
    ReviewUnit, Standing, bytes, counted,
};

use super::words::{bound, list};

/// Tables that are smaller than this stay in the nearest caches, and their size decides nothing.
const SMALL_HEAP: u64 = 64 << 10;

/// So many times smaller or faster is a difference.
const MUCH_SMALLER: f64 = 2.0;
const MUCH_FASTER: f64 = 1.5;

pub(super) fn decide(review: &Review) -> ReviewDecision {
    let with = |standing: Standing| review.candidates.iter().filter(move |candidate| candidate.standing == standing);
    let remaining: Vec<&Candidate> = with(Standing::Remains).collect();
    let undecided: Vec<&Candidate> = with(Standing::Undecided).collect();
    let names = |of: &[&Candidate]| of.iter().map(|candidate| candidate.scheme.clone()).collect::<Vec<_>>();
    let recommended = recommended(review, &remaining);
    let mut decision = ReviewDecision {
        headline: headline(review, &remaining, &undecided, recommended),
        recommended: recommended.map(|candidate| candidate.scheme.clone()),
        remaining: names(&remaining),
        undecided: names(&undecided),
        reasons: reasons(review, recommended, &remaining),
        trade_offs: Vec::new(),
        would_change: would_change(review, &remaining),
    };
    if recommended.is_none() && remaining.len() > 1 {
        decision.trade_offs = trade_offs(review, &remaining);
    }
    decision
}

/// The one scheme that remains, or the one that is better than every other one at something and worse at nothing.
fn recommended<'a>(review: &Review, remaining: &[&'a Candidate]) -> Option<&'a Candidate> {
    // Without requirements every scheme remains, and to be the only one is no merit.
    if review.requirements.is_empty() {
        return None;
    }
    remaining.iter().copied().find(|one| {
        remaining
            .iter()
            .filter(|other| other.scheme != one.scheme)
            .all(|other| !advantages(review, one, other).is_empty() && advantages(review, other, one).is_empty())
    })
}

fn headline(
    review: &Review,
    remaining: &[&Candidate],
    undecided: &[&Candidate],
    recommended: Option<&Candidate>,
) -> String {
    if review.requirements.is_empty() {
        return "Nothing was required, so that nothing can be recommended: the numbers stand beside one another."
            .to_owned();
    }
    let names = |of: &[&Candidate]| list(&of.iter().map(|candidate| candidate.scheme.clone()).collect::<Vec<_>>());
    let of = format!("of {}", counted(review.candidates.len(), "candidate"));
    // With uneven keys a number stands for itself alone.
    let is_sampled = |candidate: &&Candidate| {
        let elsewhere = candidate.measured.as_ref().and_then(|rows| rows.peak_elsewhere.as_ref());
        elsewhere.is_some_and(|peak| !peak.keys_are_uneven)
    };
    let keys = if remaining.iter().all(is_sampled) { "" } else { " on these keys (what others would do is not known)" };
    let also = match undecided {
        [] => String::new(),
        some => format!(" Of {} it cannot be said.", names(some)),
    };
    match (recommended, remaining) {
        (Some(one), [_]) => format!("{}: it alone {of} meets every requirement{keys}.{also}", one.scheme),
        (Some(one), _) => format!(
            "{}: {} {of} meet every requirement{keys}, and it is better than each other one in something that was measured, \
             and worse in nothing.{also}",
            one.scheme,
            remaining.len(),
        ),
        (None, [_, ..]) => format!(
            "{} {of} meet every requirement{keys}: {}. The numbers leave the choice between them open.{also}",
            remaining.len(),
            names(remaining)
        ),
        (None, []) if undecided.is_empty() => match review.candidates.len() {
            1 => "No scheme meets all requirements: the one candidate misses one or more.".to_owned(),
            _ => format!("No scheme meets all requirements: each {of} misses one or more."),
        },
        (None, []) => format!(
            "No scheme meets all requirements for sure: {} may, and what was measured does not tell.",
            names(undecided)
        ),
    }
}

/// Why the schemes that are out are out, and what the best one does.
fn reasons(review: &Review, recommended: Option<&Candidate>, remaining: &[&Candidate]) -> Vec<String> {
    let mut reasons = Vec::new();
    if let Some(best) = recommended {
        let numbers: Vec<String> = review
            .requirements
            .iter()
            .zip(&best.judged)
            .filter_map(|(requirement, judged)| {
                let value = requirement.unit.shown(judged.value?);
                Some(match (judged.low, judged.high) {
                    (Some(low), Some(high)) => format!(
                        "{}: {value} ({} to {})",
                        requirement.heading,
                        requirement.unit.shown(low),
                        requirement.unit.shown(high)
                    ),
                    _ => format!("{}: {value}", requirement.heading),
                })
            })
            .collect();
        if !numbers.is_empty() {
            reasons.push(format!("{} in numbers: {}.", best.scheme, numbers.join("; ")));
        }
        for other in remaining.iter().filter(|other| other.scheme != best.scheme) {
            let better = advantages(review, best, other);
            reasons.push(format!("Against {} it has {}.", other.scheme, list(&better)));
        }
    }
    for (place, requirement) in review.requirements.iter().enumerate() {
        let misses = |of: Judgement| -> Vec<&str> {
            let candidates = review.candidates.iter();
            candidates.filter(|one| one.judged[place].judgement == of).map(|one| one.scheme.as_str()).collect()
        };
        let (not_met, uncertain) = (misses(Judgement::NotMet), misses(Judgement::Uncertain));
        if not_met.is_empty() && uncertain.is_empty() {
            continue;
        }
        let mut parts = Vec::new();
        if !not_met.is_empty() {
            parts.push(format!("is missed by {}", list(&not_met)));
        }
        if !uncertain.is_empty() {
            let whose = if uncertain.len() == 1 { "whose interval holds" } else { "whose intervals hold" };
            parts.push(format!("is uncertain with {}, {whose} the bound", list(&uncertain)));
        }
        reasons.push(format!("\"{}\" {}.", requirement.heading, parts.join(" and ")));
    }
    if let Some(floor) = &review.keys_floor {
        let asked = review.requirements.iter().find(|requirement| requirement.name == "peak");
        if asked.and_then(|asked| asked.bound).is_some_and(|limit| floor.peak > limit) {
            reasons.push(format!(
                "One value, {:?}, has {} of the {}: whatever keeps it on one node has a peak of at least {:.3}.",
                floor.value,
                ReviewUnit::Fraction.shown(floor.share),
                if floor.by_weight { "weight" } else { "documents" },
                floor.peak
            ));
        }
    }
    reasons
}

/// What each remaining scheme is better at.
fn trade_offs(review: &Review, remaining: &[&Candidate]) -> Vec<String> {
    let mut sentences = Vec::new();
    for one in remaining {
        // Schemes against which it has the same advantages stand together.
        let mut groups: Vec<(Vec<String>, Vec<&str>)> = Vec::new();
        for other in remaining.iter().filter(|other| other.scheme != one.scheme) {
            let found = advantages(review, one, other);
            if found.is_empty() {
                continue;
            }
            match groups.iter_mut().find(|(known, _)| *known == found) {
                Some((_, others)) => others.push(&other.scheme),
                None => groups.push((found, vec![&other.scheme])),
            }
        }
        if groups.is_empty() {
            sentences.push(format!("{} is better than the others in nothing that was measured.", one.scheme));
        }
        for (found, others) in groups {
            sentences.push(format!("{} has {}, against {}.", one.scheme, list(&found), list(&others)));
        }
    }
    sentences
}

/// What one scheme is better at than another, beyond what is uncertain.
fn advantages(review: &Review, one: &Candidate, other: &Candidate) -> Vec<String> {
    let (Some(mine), Some(theirs)) = (&one.measured, &other.measured) else { return Vec::new() };
    let mut found = Vec::new();
    let fraction = |value: f64| ReviewUnit::Fraction.shown(value);
    let values = (measured_peak(mine), measured_peak(theirs));
    match (peak(mine).1, peak(theirs).0) {
        (Some(high), Some(low)) if high < low => {
            found.push(format!("a lower peak ({:.3}, not {:.3})", values.0, values.1));
        }
        (Some(_), Some(_)) => {}
        // Nothing is known of other keys, and what these do must not be passed over.
        _ if values.0 < values.1 => {
            found.push(format!("a lower peak on these keys ({:.3}, not {:.3})", values.0, values.1));
        }
        _ => {}
    }
    let (mut less, mut less_needless, mut ways) = (Vec::new(), Vec::new(), Vec::new());
    let changes = mine.changes.iter().zip(&theirs.changes).zip(&review.changes);
    for ((mine, theirs), words) in changes {
        match (mine, theirs) {
            (CandidateChange::Done(mine), CandidateChange::Done(theirs)) => {
                let against = |mine: f64, theirs: f64| format!("{words}: {}, not {}", fraction(mine), fraction(theirs));
                if moved(mine)[1] < moved(theirs)[0] {
                    less.push(against(data_moved(mine), data_moved(theirs)));
                } else if needless(mine)[1] < needless(theirs)[0] {
                    less_needless.push(against(needless_value(mine), needless_value(theirs)));
                }
            }
            (CandidateChange::Done(_), CandidateChange::NotApplicable { .. }) => ways.push(words.clone()),
            _ => {}
        }
    }
    for (what, of) in
        [("less to move", less), ("less to move needlessly", less_needless), ("changes that the other cannot do", ways)]
    {
        if !of.is_empty() {
            found.push(format!("{what} ({})", of.join("; ")));
        }
    }
    if mine.any_node_leaves && !theirs.any_node_leaves {
        found.push("nodes that can leave in any order".to_owned());
    }
    if mine.takes_weights && !theirs.takes_weights {
        found.push("weights".to_owned());
    }
    if rank(mine) < rank(theirs) {
        found.push(format!("lookups that grow less ({}, not {})", mine.lookup_growth, theirs.lookup_growth));
    }
    let (small, large) = (mine.heap_bytes, theirs.heap_bytes);
    if large >= SMALL_HEAP && small as f64 * MUCH_SMALLER <= large as f64 {
        found.push(format!("less heap ({}, not {})", bytes(small), bytes(large)));
    }
    found
}

/// Which of the schemes that are left are faster than which others, where times can be trusted. They are apart from
/// the decision, which has to be the same on every machine.
pub(super) fn faster(review: &Review) -> Vec<String> {
    let Some(timings) = review.timings.as_ref().filter(|timings| !timings.lookups.too_noisy) else { return Vec::new() };
    let left = review.candidates.iter().filter(|candidate| candidate.standing != Standing::Out);
    let timed: Vec<(&str, f64)> = left
        .filter_map(|candidate| {
            let latency = timings.lookups.latency.iter().find(|latency| latency.scheme == candidate.scheme)?;
            Some((candidate.scheme.as_str(), latency.lookup_ns))
        })
        .collect();
    let mut sentences = Vec::new();
    for (one, mine) in &timed {
        let slower = timed.iter().filter(|(_, theirs)| mine * MUCH_FASTER <= *theirs);
        let slower: Vec<String> = slower.map(|(other, theirs)| format!("{other} ({theirs:.1} ns)")).collect();
        if !slower.is_empty() {
            sentences.push(format!("A lookup of {one} takes {mine:.1} ns, much less than with {}.", list(&slower)));
        }
    }
    sentences
}

fn rank(rows: &CandidateRows) -> u8 {
    use shardlab_core::LookupGrowth::{Constant, Linear, Logarithmic};
    let growths = [Constant, Logarithmic, Linear];
    let place = growths.iter().position(|growth| growth.as_str() == rows.lookup_growth);
    u8::try_from(place.unwrap_or(growths.len())).unwrap_or(u8::MAX)
}

fn measured_peak(rows: &CandidateRows) -> f64 {
    rows.weight_load.as_ref().map_or(rows.balance.peak_to_average, |load| load.peak_to_average)
}

/// The ends between which the peak of another draw lies; where the keys decide it there is one number.
fn peak(rows: &CandidateRows) -> (Option<f64>, Option<f64>) {
    match &rows.peak_elsewhere {
        Some(elsewhere) if !elsewhere.keys_are_uneven => (Some(elsewhere.low), Some(elsewhere.high)),
        // What uneven keys or heavy documents do on one membership says nothing about the next one.
        _ => (None, None),
    }
}

fn data_moved(costs: &ChangeCosts) -> f64 {
    costs.left_parent_fraction.unwrap_or(costs.moves.moved_fraction)
}

fn moved(costs: &ChangeCosts) -> [f64; 2] {
    match (costs.left_parent_fraction, costs.moved_interval) {
        (Some(left), _) => [left; 2],
        (None, Some(interval)) => interval,
        // With uneven keys other ones may do anything, and nothing is an advantage.
        (None, None) => [0.0, 1.0],
    }
}

fn needless_value(costs: &ChangeCosts) -> f64 {
    if costs.left_parent_fraction.is_some() { 0.0 } else { costs.moves.excess_fraction }
}

fn needless(costs: &ChangeCosts) -> [f64; 2] {
    let value = needless_value(costs);
    let [low, high] = match &costs.elsewhere {
        Some(elsewhere) if costs.left_parent_fraction.is_none() => elsewhere.needless,
        _ => [value; 2],
    };
    [low.min(value), high.max(value)]
}

fn would_change(review: &Review, remaining: &[&Candidate]) -> Vec<String> {
    let mut sentences = Vec::new();
    let also = if remaining.is_empty() { "" } else { " as well" };
    for (place, requirement) in review.requirements.iter().enumerate() {
        // Schemes that miss this requirement alone.
        let back: Vec<&Candidate> = review
            .candidates
            .iter()
            .filter(|candidate| {
                let is_met = |judged: &shardlab_core::rows::Judged| judged.judgement == Judgement::Met;
                let others =
                    candidate.judged.iter().enumerate().all(|(other, judged)| other == place || is_met(judged));
                others && !is_met(&candidate.judged[place])
            })
            .collect();
        sentences.extend(relaxed(requirement, place, &back, also));
    }
    // How much tighter each bound could be.
    for (place, requirement) in review.requirements.iter().enumerate() {
        let Some(limit) = requirement.bound.filter(|_| !remaining.is_empty()) else { continue };
        let reach = |candidate: &&Candidate| {
            let judged = &candidate.judged[place];
            judged.high.or(judged.value)
        };
        let best = remaining.iter().filter_map(reach).fold(f64::INFINITY, f64::min);
        if best.is_finite() && best > 0.0 && best <= limit {
            sentences.push(format!(
                "\"{}\" could be as tight as {}; below that none of these schemes meets everything for sure.",
                requirement.heading,
                above(best, requirement.unit)
            ));
        }
    }
    sentences
}

/// What would let schemes in again that miss one requirement alone.
fn relaxed(requirement: &ReviewRequirement, place: usize, back: &[&Candidate], also: &str) -> Vec<String> {
    let mut sentences = Vec::new();
    let mut without: Vec<&str> = Vec::new();
    for candidate in back {
        let judged = &candidate.judged[place];
        match (requirement.bound, judged.high.or(judged.value)) {
            (Some(limit), Some(needed)) => sentences.push(format!(
                "With {} in place of {} for \"{}\", {} would remain{also}.",
                above(needed, requirement.unit),
                bound(limit, requirement.unit),
                requirement.heading,
                candidate.scheme
            )),
            _ => without.push(&candidate.scheme),
        }
    }
    if !without.is_empty() {
        sentences.push(format!("Without \"{}\", {} would remain{also}.", requirement.heading, list(&without)));
    }
    sentences
}

/// A number that is not below the given one when it is read as it is shown.
fn above(value: f64, unit: ReviewUnit) -> String {
    let step = match unit {
        ReviewUnit::Ratio => 1000.0,
        ReviewUnit::Fraction => 10_000.0,
        // Bytes are exact, and rounded ones would be too few or too many.
        ReviewUnit::Bytes => return format!("{value:.0} B"),
        ReviewUnit::None => return String::new(),
        ReviewUnit::Nanoseconds => return format!("{:.1} ns", (value * 10.0).ceil() / 10.0),
    };
    unit.shown((value * step).ceil() / step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_that_is_taken_as_it_is_shown_lets_the_number_in() {
        for unit in [ReviewUnit::Ratio, ReviewUnit::Fraction, ReviewUnit::Bytes, ReviewUnit::Nanoseconds] {
            for value in [0.030_651, 0.073_211, 1.036_04, 1.036, 3.21, 131_074.0, 1_041_510.0] {
                let shown = above(value, unit);
                let number: f64 = shown.split(' ').next().and_then(|word| word.parse().ok()).unwrap();
                let read = if unit == ReviewUnit::Fraction { number / 100.0 } else { number };
                if unit != ReviewUnit::Bytes || value.fract() == 0.0 {
                    assert!(read >= value - 1e-12, "{value} is shown as {shown}");
                    assert!(read <= value + 0.1, "{value} is shown as {shown}");
                }
            }
        }
    }
}
