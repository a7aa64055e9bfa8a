//! What other names of the nodes and other keys would have given.
//!
//! One membership and one set of keys are one draw. A decision has to hold for the next one too, so that every
//! number that depends on them stands beside an interval in which 95 % of other draws lie.

use std::collections::BTreeMap;

use shardlab_core::rows::{MovesElsewhere, PeakElsewhere};
use shardlab_core::{Change, Members, Node, NodeId, Scheme, Sharder};
use shardlab_hash::mix64;

use super::multinomial::Draws;
use crate::tune::draws::renamed;
use crate::workers::in_parallel;
use crate::{Edit, StudyError};

/// Draws of keys where the shares do not depend on names, and so cost nothing.
const DRAWS_OF_KEYS: u32 = 999;

/// Memberships of other names, each with keys of its own.
const MEMBERSHIPS: u32 = 199;

/// The same where a table has very many cells. The smallest and the largest of 39 draws have the next one
/// between them with a probability of 38 / 40.
const FEW_MEMBERSHIPS: u32 = 39;

/// Bytes of a table from which on few memberships are drawn.
const LARGE_TABLE: u64 = 4 << 20;

/// Keys that are placed before and after a change, with few and with many nodes.
const KEYS: u32 = 1 << 16;
const KEYS_OF_MANY_NODES: u32 = 1 << 14;
const MANY_NODES: u32 = 200;

/// How much further than all draws a measured peak must lie, as a part of their distance from 1, before the keys
/// are held to be the reason.
const BEYOND: f64 = 1.25;

/// What is drawn with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Elsewhere<'a> {
    pub(super) scheme: &'a dyn Scheme,
    pub(super) members: &'a Members,
    pub(super) seed: u64,
    pub(super) threads: usize,
}

impl Elsewhere<'_> {
    fn build(&self, members: &Members) -> Result<Box<dyn Sharder>, StudyError> {
        let refused = |source| StudyError::Build { spec: self.scheme.spec(), source };
        self.scheme.build(members).map_err(refused)
    }

    fn random_keys(&self, draw: u32, count: u32) -> Vec<u64> {
        let base = mix64(self.seed ^ mix64(u64::from(draw)));
        (0..u64::from(count)).map(|key| mix64(base ^ mix64(key))).collect()
    }

    /// Whether other names lead to other places. A scheme that numbers its nodes does not know them.
    fn names_matter(&self) -> Result<bool, StudyError> {
        let keys = self.random_keys(0, 4096);
        let placed = |draw| {
            let mut out = vec![NodeId(0); keys.len()];
            self.build(&renamed(self.members, self.seed, draw)?)?.shard_many(&keys, &mut out);
            Ok::<_, StudyError>(out)
        };
        Ok(placed(0)? != placed(1)?)
    }

    /// The peak of so many independent keys. Where a scheme cannot compute its shares they are held to be fair.
    pub(super) fn peak(&self, keys: u64, measured: f64) -> Result<PeakElsewhere, StudyError> {
        let total = self.members.total_weight() as f64;
        let fair: Vec<f64> = self.members.iter().map(|(_, _, weight)| f64::from(weight) / total).collect();
        let shares = |members: &Members| -> Result<Vec<f64>, StudyError> {
            Ok(self.build(members)?.exact_shares().map_or_else(|| fair.clone(), |shares| shares.fractions().collect()))
        };
        let peak_of = |draw: u32, shares: &[f64]| {
            let loads = Draws::new(self.seed, draw.into()).loads(keys, shares);
            loads.iter().zip(&fair).map(|(&load, fair)| load as f64 / (keys as f64 * fair)).fold(0.0, f64::max)
        };
        let first = shares(&renamed(self.members, self.seed, 0)?)?;
        let depends = self.scheme.largest_share_gap().is_none() || !self.members.equal_weights();
        let depends = depends && first != shares(&renamed(self.members, self.seed, 1)?)?;
        let memberships = match depends {
            false => 1,
            true if self.scheme.expected_build_bytes(self.members) > LARGE_TABLE => FEW_MEMBERSHIPS,
            true => MEMBERSHIPS,
        };
        let draws = if depends { memberships } else { DRAWS_OF_KEYS };
        let mut peaks = in_parallel(draws as usize, self.threads, |draw| {
            let draw = u32::try_from(draw).unwrap_or(u32::MAX);
            if !depends {
                return Ok::<_, StudyError>(peak_of(draw, &first));
            }
            Ok(peak_of(draw, &shares(&renamed(self.members, self.seed, draw)?)?))
        })?;
        peaks.sort_unstable_by(f64::total_cmp);
        let [low, high] = middle_95(&peaks);
        let most = peaks[peaks.len() - 1];
        let keys_are_uneven = measured > 1.0 + (most - 1.0) * BEYOND;
        Ok(PeakElsewhere { memberships, draws, median: peaks[peaks.len() / 2], low, high, keys_are_uneven })
    }

    /// What a change moves; none where names do not matter, or the scheme cannot do it.
    pub(super) fn moves(&self, edits: &[Edit], keys_given: u64) -> Result<Option<MovesElsewhere>, StudyError> {
        let Some(changes) = self.changes(edits) else { return Ok(None) };
        if !self.names_matter()? {
            return Ok(None);
        }
        let most = if self.members.len() > MANY_NODES { KEYS_OF_MANY_NODES } else { KEYS };
        let keys = u32::try_from(keys_given).unwrap_or(u32::MAX).clamp(1, most);
        let changes: Vec<&Change> = changes.iter().collect();
        let draws = in_parallel(FEW_MEMBERSHIPS as usize, self.threads, |draw| {
            let draw = u32::try_from(draw).unwrap_or(u32::MAX);
            let members = renamed(self.members, self.seed, draw)?;
            self.moved(draw, keys, &members, &changes)
        })?;
        let Some(draws) = draws.into_iter().collect::<Option<Vec<[f64; 3]>>>() else { return Ok(None) };
        let range = |of: usize| {
            let values: Vec<f64> = draws.iter().map(|draw| draw[of]).collect();
            range(&values, keys.into(), keys_given)
        };
        Ok(Some(MovesElsewhere {
            draws: FEW_MEMBERSHIPS,
            keys,
            moved: range(0),
            needless: range(1),
            disruption: range(2),
        }))
    }

    /// The edits as changes that can be done to nodes of other names; none where an edit is about names themselves.
    fn changes(&self, edits: &[Edit]) -> Option<Vec<Change>> {
        let mut changes = Vec::new();
        for edit in edits {
            match edit {
                Edit::Change(change) => changes.push(change.clone()),
                Edit::LoseRack { prefix } => {
                    let lost = self.members.iter().filter(|(_, name, _)| name.starts_with(prefix.as_str()));
                    changes.extend(lost.map(|(_, name, _)| Change::Remove { name: name.into_owned() }));
                }
                _ => return None,
            }
        }
        (!changes.is_empty()).then_some(changes)
    }

    /// The parts of the keys that move, move needlessly, and move between survivors.
    fn moved(
        &self,
        draw: u32,
        keys: u32,
        members: &Members,
        changes: &[&Change],
    ) -> Result<Option<[f64; 3]>, StudyError> {
        let before = self.build(members)?;
        let mut after = before.box_clone();
        let names = self.members.iter().zip(members.iter());
        let names: BTreeMap<String, String> =
            names.map(|((_, name, _), (_, other, _))| (name.into_owned(), other.into_owned())).collect();
        for change in changes {
            if after.apply(&translated(change, &names)).is_err() {
                return Ok(None);
            }
        }
        let keys_drawn = self.random_keys(draw, keys);
        let (mut from, mut to) = (vec![NodeId(0); keys_drawn.len()], vec![NodeId(0); keys_drawn.len()]);
        before.shard_many(&keys_drawn, &mut from);
        after.shard_many(&keys_drawn, &mut to);
        let matched = members.matched_in(after.members());
        let mut was_there = vec![false; after.members().len() as usize];
        matched.iter().flatten().for_each(|node| was_there[node.index()] = true);
        let mut held = vec![0_u64; matched.len()];
        let mut holds = vec![0_u64; was_there.len()];
        let (mut moved, mut disrupted) = (0_u64, 0_u64);
        for (from, to) in from.iter().zip(&to) {
            held[from.index()] += 1;
            holds[to.index()] += 1;
            let stays = matched[from.index()];
            if stays != Some(*to) {
                moved += 1;
                disrupted += u64::from(stays.is_some() && was_there[to.index()]);
            }
        }
        let kept = |node: &Option<NodeId>| node.map_or(0, |node| holds[node.index()]);
        let minimum: u64 = held.iter().zip(&matched).map(|(&count, node)| count.saturating_sub(kept(node))).sum();
        let part = |count: u64| count as f64 / f64::from(keys);
        Ok(Some([part(moved), part(moved - minimum), part(disrupted)]))
    }
}

/// The change of the node that stands in the place of the one it names.
fn translated(change: &Change, names: &BTreeMap<String, String>) -> Change {
    let other = |name: &String| names.get(name).unwrap_or(name).clone();
    match change {
        Change::Remove { name } => Change::Remove { name: other(name) },
        Change::Reweight { name, weight } => Change::Reweight { name: other(name), weight: *weight },
        Change::Add(node) => {
            Node::new(other(&node.name().to_owned()), node.weight()).map_or(change.clone(), Change::Add)
        }
        _ => change.clone(),
    }
}

/// The smallest and the largest of draws of `drawn` keys each, as they would be with `given` keys: the part of their
/// variance that comes from the number of keys shrinks with it, down to what as many independent keys leave.
fn range(draws: &[f64], drawn: u64, given: u64) -> [f64; 2] {
    let count = draws.len() as f64;
    let mean = draws.iter().sum::<f64>() / count;
    let variance = draws.iter().map(|draw| (draw - mean).powi(2)).sum::<f64>() / (count - 1.0).max(1.0);
    let of_keys = |keys: u64| mean * (1.0 - mean) / keys as f64;
    let scale = if given > drawn && variance > 0.0 {
        ((variance - of_keys(drawn) + of_keys(given)).max(of_keys(given)) / variance).sqrt().min(1.0)
    } else {
        1.0
    };
    let scaled = draws.iter().map(|draw| mean + (draw - mean) * scale);
    [scaled.clone().fold(f64::INFINITY, f64::min), scaled.fold(0.0, f64::max)]
}

/// Between which of the sorted draws the next one lies with 95 % probability.
fn middle_95(sorted: &[f64]) -> [f64; 2] {
    // Of d draws, those in the places k and d + 1 - k have the next one between them in d + 1 - 2 k of d + 1 cases.
    let outside = (sorted.len() + 1) / 40;
    let place = outside.max(1);
    [sorted[place - 1], sorted[sorted.len() - place]]
}

#[cfg(test)]
mod tests {
    use shardlab_core::Disruption;

    use super::*;

    /// Schemes that know their nodes by name, whatever their order.
    fn named() -> Vec<Box<dyn Scheme>> {
        shardlab_schemes::all().into_iter().filter(|scheme| scheme.promises().order_free).collect()
    }

    /// A scheme that numbers its nodes.
    fn numbered() -> Box<dyn Scheme> {
        shardlab_schemes::all().into_iter().find(|scheme| !scheme.promises().order_free).unwrap()
    }

    fn of<'a>(scheme: &'a dyn Scheme, members: &'a Members) -> Elsewhere<'a> {
        Elsewhere { scheme, members, seed: 1, threads: 2 }
    }

    #[test]
    fn the_next_draw_lies_between_the_ends_in_95_of_100_cases() {
        let sorted: Vec<f64> = (1..=39).map(f64::from).collect();
        assert_eq!(middle_95(&sorted), [1.0, 39.0]);
        let sorted: Vec<f64> = (1..=199).map(f64::from).collect();
        assert_eq!(middle_95(&sorted), [5.0, 195.0]);
        let sorted: Vec<f64> = (1..=999).map(f64::from).collect();
        assert_eq!(middle_95(&sorted), [25.0, 975.0]);
    }

    #[test]
    fn a_peak_depends_on_names_where_shares_do_and_on_keys_alone_elsewhere() {
        let members = Members::dense(10).unwrap();
        let (uneven, numbered) = (named(), numbered());
        let uneven = uneven.iter().find(|scheme| scheme.knob().is_some() && scheme.largest_share_gap().is_none());
        let peak = |scheme: &dyn Scheme| of(scheme, &members).peak(50_000, 1.0).unwrap();
        let (uneven, even) = (peak(&**uneven.unwrap()), peak(&*numbered));
        assert_eq!((uneven.memberships, even.memberships), (MEMBERSHIPS, 1));
        assert!(uneven.low > even.high, "{uneven:?} {even:?}");
        assert!(uneven.high < 1.4 && even.high < 1.06, "{uneven:?} {even:?}");
    }

    #[test]
    fn a_measured_peak_far_beyond_all_draws_is_laid_on_the_keys() {
        let (members, scheme) = (Members::dense(10).unwrap(), numbered());
        assert!(!of(&*scheme, &members).peak(50_000, 1.03).unwrap().keys_are_uneven);
        assert!(of(&*scheme, &members).peak(50_000, 1.5).unwrap().keys_are_uneven);
    }

    #[test]
    fn fewer_keys_widen_what_moves_elsewhere_and_more_narrow_it() {
        let members = Members::dense(10).unwrap();
        let remove = [Edit::Change(Change::Remove { name: "3".to_owned() })];
        let schemes = named();
        // The fairest scheme varies by keys alone.
        let fair = schemes.iter().find(|scheme| scheme.knob().is_none()).unwrap();
        let width = |keys: u64| {
            let [low, high] = of(&**fair, &members).moves(&remove, keys).unwrap().unwrap().moved;
            high - low
        };
        for keys in [100, 5000, 1_000_000] {
            // 39 draws of a binomial spread over about 4.3 of its deviations.
            let expected = 4.3 * (0.1_f64 * 0.9 / keys as f64).sqrt();
            let found = width(keys);
            // Beyond the keys that are drawn the variance is a difference of two estimates, and rather too wide.
            let most = if keys > u64::from(KEYS) { 3.0 } else { 1.6 };
            assert!((0.6..most).contains(&(found / expected)), "{keys} keys: {found}, expected {expected}");
        }
    }

    #[test]
    fn moves_elsewhere_surround_the_ideal_part() {
        let members = Members::dense(10).unwrap();
        let remove = Edit::Change(Change::Remove { name: "3".to_owned() });
        for scheme in named() {
            let moves = of(&*scheme, &members).moves(std::slice::from_ref(&remove), 50_000).unwrap().unwrap();
            assert!(moves.moved[0] < 0.1 && moves.moved[1] > 0.1, "{scheme:?}: {moves:?}");
            let is_promised = scheme.promises().disruption == Disruption::None;
            assert_eq!(moves.disruption[1] == 0.0, is_promised, "{scheme:?}: {moves:?}");
        }
        let double = Edit::Change(Change::Grow { to: 20 });
        assert_eq!(of(&*numbered(), &members).moves(&[double], 50_000).unwrap(), None, "names do not matter to it");
    }
}
