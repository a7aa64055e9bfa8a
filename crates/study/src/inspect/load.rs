//! Common and heavy values, and what they force on every scheme.

use shardlab_core::rows::{Floor, TopValue, WeightFacts};

use super::values::{Census, Values};

/// How many of the most common values are shown.
const SHOWN: usize = 10;

/// A value's part of everything.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Heavy {
    pub(crate) share: f64,
    /// Total over part, rounded down: with more nodes than that it is above the mean alone.
    pub(crate) useless_beyond: u64,
}

impl Heavy {
    fn new(part: u128, total: u128) -> Option<Self> {
        let useless_beyond = total.checked_div(part)?;
        Some(Self {
            share: part as f64 / total as f64,
            useless_beyond: u64::try_from(useless_beyond).unwrap_or(u64::MAX),
        })
    }

    /// The lowest peak-to-average on so many nodes.
    pub(crate) fn floor(self, nodes: u32) -> f64 {
        (self.share * f64::from(nodes)).max(1.0)
    }

    /// The peak-to-average where the rest lies evenly and the value's node has its part of it.
    pub(crate) fn expected(self, nodes: u32) -> f64 {
        self.share * f64::from(nodes) + 1.0 - self.share
    }
}

/// The values with the most documents, the first to arrive first among equals.
pub(super) fn most_common(values: &Values) -> Vec<usize> {
    let mut best: Vec<usize> = Vec::with_capacity(SHOWN + 1);
    for value in 0..values.len() {
        let rows = values.rows(value);
        if best.len() == SHOWN && best.last().is_some_and(|&last| values.rows(last) >= rows) {
            continue;
        }
        let place = best.partition_point(|&other| values.rows(other) >= rows);
        best.insert(place, value);
        best.truncate(SHOWN);
    }
    best
}

/// The most common value; none where no value repeats.
pub(crate) fn most_common_value(values: &Values) -> Option<(usize, Heavy)> {
    let value = most_common(values).into_iter().next().filter(|&value| values.rows(value) > 1)?;
    Some((value, Heavy::new(values.rows(value).into(), values.total_rows().into())?))
}

/// The value with the most weight; none without weights.
pub(crate) fn heaviest_value(values: &Values) -> Option<(usize, Heavy)> {
    let total = values.total_weight()?;
    let weight = |value: usize| values.weight(value).unwrap_or(0);
    let value = (0..values.len()).rev().max_by_key(|&value| weight(value))?;
    Some((value, Heavy::new(weight(value), total)?))
}

pub(super) fn top_values(values: &Values) -> Vec<TopValue> {
    let (rows, weight) = (values.total_rows() as f64, values.total_weight());
    let part = |value: usize, total: u128| values.weight(value).unwrap_or(0) as f64 / total as f64;
    let shown = |value: usize| TopValue {
        value: values.shown(value),
        rows: values.rows(value),
        share: values.rows(value) as f64 / rows,
        weight_share: weight.filter(|&total| total > 0).map(|total| part(value, total)),
    };
    most_common(values).into_iter().map(shown).collect()
}

/// The weights of the documents; none where there are none, or all are 0.
pub(super) fn weights(census: &Census) -> Option<WeightFacts> {
    let values = &census.placed;
    let total = values.total_weight()?;
    let (value, heavy) = heaviest_value(values)?;
    let document = Heavy::new(census.heaviest.weight.into(), total)?;
    Some(WeightFacts {
        sum: total.to_string(),
        heaviest_value: values.shown(value),
        heaviest_value_share: heavy.share,
        heaviest_document: census.heaviest.document.clone(),
        heaviest_document_share: document.share,
    })
}

pub(super) fn floors(values: &Values, nodes: &[u32]) -> Vec<Floor> {
    let common = most_common_value(values).map(|(_, heavy)| heavy);
    let heavy = heaviest_value(values).map(|(_, heavy)| heavy);
    let floor = |&nodes: &u32| Floor {
        nodes,
        rows_floor: common.map_or(1.0, |common| common.floor(nodes)),
        rows_expected: common.map_or(1.0, |common| common.expected(nodes)),
        weight_floor: heavy.map(|heavy| heavy.floor(nodes)),
        useless_beyond: [common, heavy].into_iter().flatten().map(|heavy| heavy.useless_beyond).min(),
    };
    nodes.iter().map(floor).collect()
}
