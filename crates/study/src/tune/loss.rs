use shardlab_core::rows::Loss;
use shardlab_core::{Change, NodeId, Scheme};
use shardlab_hash::mix64;

use super::TuneRequest;
use super::draws::renamed;
use crate::StudyError;
use crate::workers::in_parallel;

/// Memberships that lose a node. One alone may have a heavy or a light node to lose.
const DRAWS: u32 = 11;

/// Keys that are placed before and after.
const KEYS: u32 = 1 << 16;

/// What losing one node moves; none where there is one node, or none can leave.
pub(super) fn of_one_node(request: &TuneRequest, scheme: &dyn Scheme) -> Result<Option<Loss>, StudyError> {
    let TuneRequest { members, seed, threads, .. } = request;
    if members.len() < 2 {
        return Ok(None);
    }
    let keys: Vec<u64> = (0..u64::from(KEYS)).map(|key| mix64(seed ^ mix64(key))).collect();
    let draws = in_parallel(DRAWS as usize, *threads, |draw| {
        let draw = u32::try_from(draw).unwrap_or(u32::MAX);
        let members = renamed(members, *seed, draw)?;
        let refused = |source| StudyError::Build { spec: scheme.spec(), source };
        let before = scheme.build(&members).map_err(refused)?;
        let lost = NodeId(draw % members.len());
        let mut after = before.box_clone();
        if after.apply(&Change::Remove { name: members.name(lost).into_owned() }).is_err() {
            return Ok::<_, StudyError>(None);
        }
        let matched = members.matched_in(after.members());
        let (mut from, mut to) = (vec![NodeId(0); keys.len()], vec![NodeId(0); keys.len()]);
        before.shard_many(&keys, &mut from);
        after.shard_many(&keys, &mut to);
        let moved = |(from, to): &(&NodeId, &NodeId)| matched[from.index()] != Some(**to);
        let pairs = || from.iter().zip(&to).filter(moved);
        let disrupted = pairs().filter(|(from, _)| **from != lost).count();
        let part = |count: usize| count as f64 / f64::from(KEYS);
        Ok(Some((part(pairs().count()), part(disrupted))))
    })?;
    let draws: Option<Vec<(f64, f64)>> = draws.into_iter().collect();
    let median = |mut samples: Vec<f64>| {
        samples.sort_unstable_by(f64::total_cmp);
        samples[samples.len() / 2]
    };
    Ok(draws.map(|draws| Loss {
        moved: median(draws.iter().map(|(moved, _)| *moved).collect()),
        disruption: median(draws.iter().map(|(_, disrupted)| *disrupted).collect()),
        draws: DRAWS,
        keys: KEYS,
    }))
}
