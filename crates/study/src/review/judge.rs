//! Requirements, and what each candidate makes of them.

use shardlab_core::LookupGrowth;
use shardlab_core::rows::{
    CandidateChange, ChangeCosts, Comparison, Judged, Judgement, Latency, ReviewRequirement, ReviewUnit, counted,
};

use super::measure::{Measured, NamedChange};
use super::words::bound;
use super::{Entry, ReviewRequest};

/// The requirements in the order of the table.
pub(super) struct Asked {
    pub(super) requirements: Vec<ReviewRequirement>,
}

impl Asked {
    pub(super) fn new(request: &ReviewRequest, changes: &[NamedChange]) -> Self {
        let asked = &request.requirements;
        let mut requirements = Vec::new();
        let mut add = |name, change, limit: Option<f64>, unit, heading: String, words: String| {
            requirements.push(ReviewRequirement { name, change, bound: limit, unit, heading, words });
        };
        if asked.weights || !request.members.equal_weights() {
            let words = if request.members.equal_weights() {
                "nodes can have different weights".to_owned()
            } else {
                "nodes have different weights and get their parts of the keys".to_owned()
            };
            add("weights", None, None, ReviewUnit::None, "weights".to_owned(), words);
        }
        if let Some(system) = &asked.compatible_with {
            add(
                "compatible_with",
                None,
                None,
                ReviewUnit::Fraction,
                format!("placed as {}", system.system),
                format!("every document has the node number that {} gives it", system.system),
            );
        }
        if let Some(limit) = asked.peak {
            let shown = bound(limit, ReviewUnit::Ratio);
            let what = if request.weighted { "weight" } else { "keys" };
            add(
                "peak",
                None,
                Some(limit),
                ReviewUnit::Ratio,
                format!("peak ≤ {shown}"),
                format!(
                    "the fullest node has at most {shown} times its fair part of the {what}, before and after each change"
                ),
            );
        }
        for (place, change) in changes.iter().enumerate().filter(|(_, change)| change.is_asked) {
            let words = &change.words;
            match change.moved {
                Some(limit) => {
                    let shown = bound(limit, ReviewUnit::Fraction);
                    let heading = format!("{words}: moved ≤ {shown}");
                    let sentence = format!("it can be done, and at most {shown} of the keys move");
                    add("moved", Some(place), Some(limit), ReviewUnit::Fraction, heading, sentence);
                }
                None => {
                    let sentence = "it can be done".to_owned();
                    add("moved", Some(place), None, ReviewUnit::Fraction, words.clone(), sentence);
                }
            }
        }
        for (name, limit, what) in
            [("needless", asked.needless, "needlessly"), ("disruption", asked.disruption, "between nodes that stay")]
        {
            let Some(limit) = limit else { continue };
            let shown = bound(limit, ReviewUnit::Fraction);
            add(
                name,
                None,
                Some(limit),
                ReviewUnit::Fraction,
                format!("moved {what} ≤ {shown}"),
                format!("no change that can be done moves more than {shown} of the keys {what}"),
            );
        }
        if asked.any_node_leaves {
            let words = "any node can leave, not the last of the list alone".to_owned();
            add("any_node_leaves", None, None, ReviewUnit::None, "any node can leave".to_owned(), words);
        }
        if let Some(limit) = asked.memory {
            let limit = limit as f64;
            let shown = bound(limit, ReviewUnit::Bytes);
            add(
                "memory",
                None,
                Some(limit),
                ReviewUnit::Bytes,
                format!("heap ≤ {shown}"),
                format!("the lookup structure takes at most {shown} of heap, before and after every change"),
            );
        }
        if asked.constant_lookup {
            let words = "a lookup takes as many steps for any number of nodes".to_owned();
            add("constant_lookup", None, None, ReviewUnit::None, "constant lookup".to_owned(), words);
        }
        if let Some(limit) = asked.lookup_ns {
            let shown = bound(limit, ReviewUnit::Nanoseconds);
            add(
                "lookup_ns",
                None,
                Some(limit),
                ReviewUnit::Nanoseconds,
                format!("lookup ≤ {shown}"),
                format!("a lookup that waits for the one before takes at most {shown}, hashing excluded"),
            );
        }
        Self { requirements }
    }

    /// What was found of one candidate, requirement by requirement.
    pub(super) fn judge(&self, entry: &Entry, measured: Option<&Measured>, comparison: &Comparison) -> Vec<Judged> {
        let judge = |requirement: &ReviewRequirement| match (&entry.side, measured) {
            (Err(reason), _) => cannot_serve(requirement, reason),
            (Ok(_), None) => without_number("it was not measured".to_owned()),
            (Ok(_), Some(measured)) => {
                let found = Found { entry, measured, comparison };
                found.judged(requirement)
            }
        };
        self.requirements.iter().map(judge).collect()
    }
}

/// A scheme that takes no weights misses that; nothing else is known of it.
fn cannot_serve(requirement: &ReviewRequirement, reason: &str) -> Judged {
    match requirement.name {
        "weights" => yes_or_no(false, reason.to_owned()),
        _ => {
            Judged { judgement: Judgement::NotMet, ..without_number(format!("it cannot serve these nodes: {reason}")) }
        }
    }
}

fn without_number(words: String) -> Judged {
    Judged { judgement: Judgement::NotMeasured, value: None, low: None, high: None, words }
}

fn yes_or_no(is_met: bool, words: String) -> Judged {
    let judgement = if is_met { Judgement::Met } else { Judgement::NotMet };
    Judged { judgement, value: None, low: None, high: None, words }
}

/// A number beside its bound. Without an interval the number is all there is.
fn number(value: f64, interval: Option<[f64; 2]>, limit: Option<f64>, words: String) -> Judged {
    // The measured number is one of those that there can be.
    let interval = interval.map(|[low, high]| [low.min(value), high.max(value)]);
    let [low, high] = interval.unwrap_or([value, value]);
    let judgement = match limit {
        None => Judgement::Met,
        Some(limit) if high <= limit => Judgement::Met,
        Some(limit) if low > limit => Judgement::NotMet,
        Some(_) => Judgement::Uncertain,
    };
    Judged { judgement, value: Some(value), low: interval.map(|_| low), high: interval.map(|_| high), words }
}

/// What a change makes the data do, in a split or shrink by its lineage.
fn data_moved(costs: &ChangeCosts) -> (f64, Option<[f64; 2]>, String) {
    match costs.left_parent_fraction {
        Some(left) => {
            let words = format!(
                "no data goes elsewhere but for documents that leave the lineage of their shard; {} change their shard \
                 number",
                ReviewUnit::Fraction.shown(costs.moves.moved_fraction)
            );
            (left, None, words)
        }
        None => {
            let words = match (&costs.moved_interval, &costs.elsewhere) {
                (None, _) => "on these names and keys; what others would do was not drawn".to_owned(),
                (Some(_), Some(elsewhere)) => format!("{} of other names and keys", counted(elsewhere.draws, "draw")),
                (Some(_), None) => "another sample of keys like these (Wilson)".to_owned(),
            };
            (costs.moves.moved_fraction, costs.moved_interval, words)
        }
    }
}

struct Found<'a> {
    entry: &'a Entry,
    measured: &'a Measured,
    comparison: &'a Comparison,
}

impl Found<'_> {
    fn judged(&self, requirement: &ReviewRequirement) -> Judged {
        let rows = &self.measured.rows;
        match requirement.name {
            "weights" => {
                let words = if rows.takes_weights { "it takes weights" } else { "all nodes count alike" };
                yes_or_no(rows.takes_weights, words.to_owned())
            }
            "compatible_with" => self.compatible(),
            "peak" => self.peak(requirement.bound),
            "moved" => self.moved(requirement),
            "needless" => self.worst(requirement, |costs| {
                if costs.left_parent_fraction.is_some() {
                    return (0.0, None);
                }
                let interval = costs.elsewhere.as_ref().map(|elsewhere| elsewhere.needless);
                (costs.moves.excess_fraction, interval.or_else(|| self.next_sample(costs, costs.moves.excess_fraction)))
            }),
            "disruption" => self.worst(requirement, |costs| {
                if costs.left_parent_fraction.is_some() {
                    return (0.0, None);
                }
                let interval = costs.elsewhere.as_ref().map(|elsewhere| elsewhere.disruption);
                let value = costs.moves.disruption_fraction;
                (value, interval.or_else(|| self.next_sample(costs, value)))
            }),
            "any_node_leaves" => {
                yes_or_no(rows.any_node_leaves, self.measured.why_nodes_stay.clone().unwrap_or_default())
            }
            "memory" => {
                let words = "exact, the most before and after every change".to_owned();
                number(self.measured.most_heap_bytes as f64, None, requirement.bound, words)
            }
            "constant_lookup" => {
                let about = self.entry.scheme.about();
                yes_or_no(about.lookup_growth == LookupGrowth::Constant, about.lookup_cost.to_owned())
            }
            "lookup_ns" => self.lookup(requirement.bound),
            other => without_number(format!("nothing is known about {other}")),
        }
    }

    /// What another sample of keys would show of a part that is not 0; what is 0 by the scheme's rule stays so.
    fn next_sample(&self, costs: &ChangeCosts, part: f64) -> Option<[f64; 2]> {
        let is_sampled = part > 0.0 && costs.moved_interval.is_some();
        is_sampled.then(|| crate::what_if::next_sample(part, self.comparison.keys.accepted))
    }

    fn compatible(&self) -> Judged {
        let Some((same, all)) = self.measured.compatible else {
            return without_number("nothing to compare with".to_owned());
        };
        let value = same as f64 / all as f64;
        let words = format!("{same} of {} stand there", counted(all, "document"));
        Judged { judgement: yes_or_no(same == all, String::new()).judgement, ..number(value, None, None, words) }
    }

    /// The peak on the present nodes, or where a change takes it above the limit, the highest after one.
    fn peak(&self, limit: Option<f64>) -> Judged {
        let present = self.present_peak(limit);
        let after = self.measured.rows.changes.iter().filter_map(|change| match change {
            CandidateChange::Done(costs) => Some((costs.peak_after, costs)),
            CandidateChange::NotApplicable { .. } => None,
        });
        let worst = after.max_by(|(one, _), (other, _)| one.total_cmp(other));
        match (worst, present.value) {
            (Some((worst, costs)), Some(value)) if limit.is_some_and(|limit| worst > limit && value <= limit) => {
                let words = format!("{value:.3} on the present nodes, and {worst:.3} after \"{}\"", costs.change);
                number(worst, present.low.zip(present.high).map(|(low, high)| [low, high]), limit, words)
            }
            _ => present,
        }
    }

    fn present_peak(&self, limit: Option<f64>) -> Judged {
        let rows = &self.measured.rows;
        if let Some(load) = &rows.weight_load {
            let words = "by weight, on these keys; what other heavy documents would do is not known".to_owned();
            return number(load.peak_to_average, None, limit, words);
        }
        let value = rows.balance.peak_to_average;
        match &rows.peak_elsewhere {
            Some(elsewhere) if elsewhere.keys_are_uneven => {
                let words = format!(
                    "the keys themselves are uneven: with keys that all differ it would lie between {:.3} and {:.3}",
                    elsewhere.low, elsewhere.high
                );
                number(value, None, limit, words)
            }
            Some(elsewhere) => {
                let words = if elsewhere.memberships > 1 {
                    format!("{} of other names and keys", counted(elsewhere.draws, "draw"))
                } else {
                    format!("{} of other keys", counted(elsewhere.draws, "draw"))
                };
                number(value, Some([elsewhere.low, elsewhere.high]), limit, words)
            }
            None => number(value, None, limit, "on these keys".to_owned()),
        }
    }

    fn moved(&self, requirement: &ReviewRequirement) -> Judged {
        let change = requirement.change.and_then(|place| self.measured.rows.changes.get(place));
        match change {
            Some(CandidateChange::Done(costs)) => {
                let (value, interval, words) = data_moved(costs);
                number(value, interval, requirement.bound, words)
            }
            Some(CandidateChange::NotApplicable { not_applicable, .. }) => yes_or_no(false, not_applicable.clone()),
            None => without_number("it was not studied".to_owned()),
        }
    }

    /// The worst of the changes that can be done.
    fn worst(&self, requirement: &ReviewRequirement, of: impl Fn(&ChangeCosts) -> (f64, Option<[f64; 2]>)) -> Judged {
        let done = self.measured.rows.changes.iter().filter_map(|change| match change {
            CandidateChange::Done(costs) => Some((of(costs), costs)),
            CandidateChange::NotApplicable { .. } => None,
        });
        // The worst that was measured, up to the highest of what others would show.
        let done: Vec<_> = done.collect();
        let highest = done.iter().filter_map(|((_, interval), _)| interval.map(|[_, high]| high)).fold(0.0, f64::max);
        let worst = done.into_iter().max_by(|((one, _), _), ((other, _), _)| one.total_cmp(other));
        match worst {
            Some(((value, interval), costs)) => {
                let interval = interval.map(|[low, high]| [low, high.max(highest)]);
                number(value, interval, requirement.bound, costs.change.clone())
            }
            None => without_number("none of the changes can be done".to_owned()),
        }
    }

    fn lookup(&self, limit: Option<f64>) -> Judged {
        let Some(timings) = &self.comparison.timings else {
            return without_number("times were not measured (--timing off)".to_owned());
        };
        let spec = self.entry.scheme.spec();
        let Some(latency) = timings.latency.iter().find(|latency| latency.scheme == spec) else {
            return without_number("it was not timed".to_owned());
        };
        let Latency { lookup_ns, lookup_p99_ns, .. } = latency;
        let words = "median, and the 99th percentile of the timed runs, on this machine".to_owned();
        let judged = number(*lookup_ns, Some([*lookup_ns, *lookup_p99_ns]), limit, words);
        if timings.too_noisy && judged.judgement != Judgement::Uncertain {
            let words = "the machine was too busy with other work for times to be trusted".to_owned();
            return Judged { judgement: Judgement::Uncertain, words, ..judged };
        }
        judged
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_judged_by_all_of_its_interval() {
        let judge =
            |value: f64, interval: Option<[f64; 2]>| number(value, interval, Some(1.0), String::new()).judgement;
        assert_eq!(judge(0.8, Some([0.7, 0.9])), Judgement::Met);
        assert_eq!(judge(0.8, Some([0.7, 1.0])), Judgement::Met, "a bound itself is tolerable");
        assert_eq!(judge(0.8, Some([0.7, 1.1])), Judgement::Uncertain);
        assert_eq!(judge(1.1, Some([0.9, 1.2])), Judgement::Uncertain);
        assert_eq!(judge(1.1, Some([1.01, 1.2])), Judgement::NotMet);
        assert_eq!([judge(1.0, None), judge(1.01, None)], [Judgement::Met, Judgement::NotMet]);
    }

    #[test]
    fn the_measured_number_belongs_to_its_interval() {
        let judged = number(1.2, Some([0.8, 0.9]), Some(1.0), String::new());
        assert_eq!((judged.low, judged.high, judged.judgement), (Some(0.8), Some(1.2), Judgement::Uncertain));
    }
}
