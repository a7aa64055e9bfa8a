use shardlab_core::NodeId;
use shardlab_core::rows::LoadChange;

use crate::{Columns, Flows};

/// Keys with the bytes they take and the requests for them, as far as these are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Load {
    pub(crate) keys: u64,
    pub(crate) bytes: Option<u128>,
    pub(crate) requests: Option<u128>,
}

impl Load {
    /// Adds what is known of both.
    pub(crate) fn add(&mut self, other: &Self) {
        let sum = |one: Option<u128>, other: Option<u128>| Some(one? + other?);
        self.keys += other.keys;
        self.bytes = sum(self.bytes, other.bytes);
        self.requests = sum(self.requests, other.requests);
    }
}

/// What flows from one node to another, with bytes and requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cell {
    pub(crate) from: NodeId,
    pub(crate) to: NodeId,
    pub(crate) load: Load,
}

/// All bytes and all requests together, where they are known. They are shared out by the columns of the
/// documents, or evenly where there are none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Bytes.
    pub bytes: Option<u128>,
    /// Requests.
    pub requests: Option<u128>,
}

impl Totals {
    /// No keys, and no bytes and requests either where these are known at all.
    pub(crate) fn nothing(&self, columns: Columns) -> Load {
        let known = |total: Option<u128>, column: bool| (total.is_some() || column).then_some(0);
        Load { keys: 0, bytes: known(self.bytes, columns.weights), requests: known(self.requests, columns.requests) }
    }

    /// The cells of a matrix: columns as they are, or totals shared out so that the parts add up to them
    /// exactly.
    pub(crate) fn cells(&self, flows: &Flows) -> Vec<Cell> {
        let Columns { weights, requests } = flows.columns();
        let mut bytes = Sharing::new(self.bytes, weights, flows, |load| load.weight);
        let mut asked = Sharing::new(self.requests, requests, flows, |load| load.requests);
        let cells = flows.iter().map(|(from, to, sums)| {
            let load = Load {
                keys: sums.keys,
                bytes: bytes.next(sums.keys, sums.weight),
                requests: asked.next(sums.keys, sums.requests),
            };
            Cell { from, to, load }
        });
        cells.collect()
    }

    /// The bytes of so many of all keys with so much of all weight.
    pub(crate) fn bytes_of(&self, part: (u64, u128), all: (u64, u128), columns: Columns) -> Option<u128> {
        let units = |(keys, weight): (u64, u128)| if columns.weights { weight } else { u128::from(keys) };
        match self.bytes {
            Some(total) => Some(share(total, units(part), units(all))),
            None => columns.weights.then_some(part.1),
        }
    }
}

/// Shares a total out over cells as they come.
struct Sharing {
    total: Option<u128>,
    column: bool,
    all: u128,
    seen: u128,
}

impl Sharing {
    fn new(total: Option<u128>, column: bool, flows: &Flows, pick: fn(&crate::flows::Sums) -> u128) -> Self {
        let all = flows.iter().map(|(.., sums)| if column { pick(&sums) } else { u128::from(sums.keys) }).sum();
        Self { total, column, all, seen: 0 }
    }

    fn next(&mut self, keys: u64, of_column: u128) -> Option<u128> {
        let start = self.seen;
        self.seen += if self.column { of_column } else { u128::from(keys) };
        match self.total {
            Some(total) => Some(share(total, self.seen, self.all) - share(total, start, self.all)),
            None => self.column.then_some(of_column),
        }
    }
}

/// floor(total · part / all) without overflow: sizes are below 2^64 in practice and the product is
/// taken apart where it would not fit.
fn share(total: u128, part: u128, all: u128) -> u128 {
    if all == 0 {
        return 0;
    }
    total.checked_mul(part).map_or_else(|| total / all * part + total % all * (part / all), |product| product / all)
}

/// What a place holds before and after, and what passes its door.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Door {
    pub(crate) before: Load,
    pub(crate) after: Load,
    /// What gets its owner here, or had it here.
    pub(crate) arrives: Load,
    pub(crate) departs: Load,
    /// The part of it whose data goes elsewhere.
    pub(crate) moved_in: Load,
    pub(crate) moved_out: Load,
}

impl Door {
    pub(crate) const fn new(nothing: Load) -> Self {
        let zero = nothing;
        Self { before: zero, after: zero, arrives: zero, departs: zero, moved_in: zero, moved_out: zero }
    }

    /// Something goes to another owner, and its data with it if it is carried there.
    pub(crate) fn send(&mut self, load: &Load, is_carried: bool) {
        self.departs.add(load);
        if is_carried {
            self.moved_out.add(load);
        }
    }

    /// Something comes from another owner, and its data with it if it is carried here.
    pub(crate) fn receive(&mut self, load: &Load, is_carried: bool) {
        self.arrives.add(load);
        if is_carried {
            self.moved_in.add(load);
        }
    }

    pub(crate) fn row(&self) -> LoadChange {
        let Self { before, after, arrives, departs, moved_in, moved_out } = self;
        // Old copies are dropped only when everything has arrived. What stays in its lineage arrives
        // without being carried, and is there in the end all the same.
        let bytes_peak = before.bytes.zip(moved_in.bytes).zip(after.bytes);
        LoadChange {
            keys_before: before.keys,
            keys_after: after.keys,
            keys_in: arrives.keys,
            keys_out: departs.keys,
            keys_net: i128::from(after.keys) - i128::from(before.keys),
            keys_peak: (before.keys + moved_in.keys).max(after.keys),
            keys_moved_in: moved_in.keys,
            keys_moved_out: moved_out.keys,
            bytes_before: before.bytes,
            bytes_after: after.bytes,
            bytes_in: arrives.bytes,
            bytes_out: departs.bytes,
            bytes_net: net(before.bytes, after.bytes),
            bytes_peak: bytes_peak.map(|((before, moved), after)| (before + moved).max(after)),
            bytes_moved_in: moved_in.bytes,
            bytes_moved_out: moved_out.bytes,
            requests_before: before.requests,
            requests_after: after.requests,
            requests_in: arrives.requests,
            requests_out: departs.requests,
            requests_net: net(before.requests, after.requests),
        }
    }
}

/// After less before, where both are known.
fn net(before: Option<u128>, after: Option<u128>) -> Option<i128> {
    i128::try_from(after?).ok()?.checked_sub(i128::try_from(before?).ok()?)
}

/// Seconds of a transfer.
pub(crate) fn seconds(bytes: Option<u128>, bandwidth: Option<u64>) -> Option<f64> {
    Some(bytes? as f64 / bandwidth? as f64)
}

/// The most bytes that pass one door in one direction: what the slowest of all carries when all are at
/// work at once.
pub(crate) fn busiest_door<'a>(doors: impl IntoIterator<Item = &'a Door>) -> Option<u128> {
    let most = |door: &Door| Some(door.moved_in.bytes?.max(door.moved_out.bytes?));
    doors.into_iter().map(most).max().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_total_add_up_to_it() {
        let mut flows = Flows::new(3, 3, Columns::default());
        let nodes = |n: u32| NodeId(n);
        flows.add(&[nodes(0), nodes(1), nodes(2)], &[nodes(1), nodes(1), nodes(0)], None, None);
        let totals = Totals { bytes: Some(1000), requests: Some(2) };
        let cells = totals.cells(&flows);
        let bytes: Vec<u128> = cells.iter().filter_map(|cell| cell.load.bytes).collect();
        assert_eq!(bytes, [333, 333, 334]);
        let requests: Vec<u128> = cells.iter().filter_map(|cell| cell.load.requests).collect();
        assert_eq!(requests, [0, 1, 1]);
        assert!(Totals::default().cells(&flows).iter().all(|cell| cell.load.bytes.is_none()));
    }
}
