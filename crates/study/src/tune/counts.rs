//! Numbers of nodes tried on given keys, for schemes whose balance no option sets.

use shardlab_core::rows::{NodeCount, Tuning};
use shardlab_core::{MAX_NODES, Members};

use super::{Keys, TuneRequest};
use crate::StudyError;
use crate::workers::in_parallel;

/// How far beyond the nodes asked for is tried: twice as many, and at least so many.
const AT_LEAST: u32 = 32;

/// Documents times numbers of nodes beyond which the search ends earlier.
const LONGEST: u64 = 1 << 28;

/// Tries numbers of nodes, since balance may come and go with each.
pub(super) fn tune(request: &TuneRequest, keys: &Keys<'_>, tuning: &mut Tuning) -> Result<(), StudyError> {
    let TuneRequest { scheme, members, peak, threads, .. } = request;
    let asked = members.len();
    if !members.equal_weights() {
        return Err(StudyError::NothingToTune { spec: scheme.spec() });
    }
    let wanted = asked.saturating_mul(2).clamp(AT_LEAST, MAX_NODES);
    let values = u64::try_from(keys.values.len()).unwrap_or(u64::MAX);
    let affordable = u32::try_from(LONGEST / values.max(1)).unwrap_or(u32::MAX).max(AT_LEAST);
    // The nodes asked for are always among those that are tried.
    let first = if wanted <= affordable { 1 } else { asked.saturating_sub(affordable / 2).max(1) };
    let last = wanted.min(first.saturating_add(affordable - 1)).max(asked);
    let tries = last - first + 1;
    let counts = in_parallel(tries as usize, *threads, |at| {
        let nodes = first + u32::try_from(at).unwrap_or(0);
        let floor = keys.floor(nodes);
        let (these_keys, not_applicable) = match request.side(scheme.box_clone(), &Members::dense(nodes)?) {
            Err(StudyError::Build { source, .. }) => (None, Some(source.to_string())),
            side => (Some(keys.peak(&side?)?), None),
        };
        Ok::<_, StudyError>(NodeCount { nodes, floor, these_keys, not_applicable })
    })?;
    let meets = |count: &&NodeCount| count.these_keys.is_some_and(|found| found <= *peak);
    let above = counts.iter().find(|count| count.nodes >= asked && meets(count)).map(|count| count.nodes);
    let below = counts.iter().rev().find(|count| count.nodes < asked && meets(count)).map(|count| count.nodes);
    // One node is always even, and no answer.
    let below = below.filter(|&nodes| nodes > 1);
    tuning.value = above.or(below);
    tuning.spec = tuning.value.map(|_| scheme.spec());
    tuning.notes.push(match (above, below) {
        (Some(nodes), _) if nodes == asked => format!("{asked} {} meet the target", scheme.members_word()),
        (Some(nodes), Some(below)) => format!(
            "from {asked} up to {last} the first number of {} that meets the target is {nodes}; the nearest below is \
             {below}",
            scheme.members_word()
        ),
        (Some(nodes), None) => format!(
            "from {asked} up to {last} the first number of {} that meets the target is {nodes}; none below does",
            scheme.members_word()
        ),
        (None, Some(below)) => format!(
            "no number of {} from {asked} to {last} meets the target; the nearest below is {below}",
            scheme.members_word()
        ),
        (None, None) => {
            format!("no number of {} from {} to {last} meets the target", scheme.members_word(), first.max(2))
        }
    });
    let chance = keys.chance(asked);
    if chance > *peak {
        tuning.notes.push(format!(
            "{values} different values on {asked} nodes reach a peak of about {chance:.3} by chance under any hash, so that \
             a number of nodes which meets {peak:.3} does so for these keys alone"
        ));
    }
    tuning.node_counts = counts;
    Ok(())
}
