//! How cost grows: every scheme from 10 nodes to a million, each table built once.

use std::time::{Duration, Instant};

use serde::Serialize;
use shardlab_core::{Members, Scheme};
use shardlab_harness::{Cycle, Samples, Schedule, Task, batches, interleaved, singles};

use crate::support::{dense, random_keys};

const NODES: [u32; 11] = [10, 32, 100, 316, 1000, 3162, 10_000, 31_623, 100_000, 316_228, 1_000_000];

/// A scheme whose table must grow with its nodes is followed to here: a tenth of the table's advice
/// would be another scheme.
const MOST_NODES_OF_A_GROWING_TABLE: u32 = 100_000;

/// So many keys that the cells which they ask for do not all stay in a cache.
const KEYS: usize = 1 << 22;

const LOOKUPS: Schedule = Schedule { rounds: 7, turn: Duration::from_millis(20), sample: Duration::from_millis(1) };

#[derive(Debug, Serialize)]
pub(crate) struct Scaling {
    max_memory: u64,
    keys: usize,
    seed: u64,
    schemes: Vec<Growth>,
}

#[derive(Debug, Serialize)]
struct Growth {
    scheme: String,
    /// What its documentation says of a lookup.
    lookup_cost: &'static str,
    /// What its documentation says of the heap, in bytes.
    heap_cost: &'static str,
    sizes: Vec<Size>,
    /// Where it stops and why, unless it goes to the end.
    stops: Option<String>,
}

#[derive(Debug, Serialize)]
struct Size {
    nodes: u32,
    /// The spec that was built: a table may have to grow.
    spec: String,
    single_ns: f64,
    many_ns: f64,
    /// Of one build.
    build_ns: f64,
    heap_bytes: u64,
}

pub(crate) fn run(max_memory: u64) -> Scaling {
    let seed = 9;
    let keys = random_keys(KEYS, seed);
    let rows = shardlab_schemes::comparison_rows();
    let schemes = rows.iter().map(|scheme| growth(&**scheme, max_memory, &keys));
    Scaling { max_memory, keys: KEYS, seed, schemes: schemes.collect() }
}

fn growth(scheme: &dyn Scheme, max_memory: u64, keys: &[u64]) -> Growth {
    let (mut sizes, mut stops) = (Vec::new(), None);
    for nodes in NODES {
        let members = dense(nodes);
        match size(scheme, &members, max_memory, keys) {
            Ok(size) => sizes.push(size),
            Err(reason) => {
                stops = Some(format!("before {nodes} nodes: {reason}"));
                break;
            }
        }
        eprintln!("{} with {nodes} nodes", scheme.spec());
    }
    let about = scheme.about();
    Growth { scheme: scheme.spec(), lookup_cost: about.lookup_cost, heap_cost: about.heap_cost, sizes, stops }
}

fn size(scheme: &dyn Scheme, members: &Members, max_memory: u64, keys: &[u64]) -> Result<Size, String> {
    let scheme = advised(scheme, members.len())?;
    scheme.check_members(members).map_err(|error| error.to_string())?;
    let needed = scheme.expected_build_bytes(members);
    if needed > max_memory {
        return Err(format!("building takes {needed} bytes, more than the {max_memory} that are allowed"));
    }
    let start = Instant::now();
    let sharder = scheme.build(members).map_err(|error| error.to_string())?;
    let build_ns = start.elapsed().as_secs_f64() * 1e9;
    crate::support::check(&*sharder, &keys[..64]);
    let [mut single, mut many] = [Cycle::new(keys); 2];
    let samples = interleaved(
        &mut [
            Task::new(|count| singles(&*sharder, &mut single, count)),
            Task::new(|count| batches(&*sharder, &mut many, count)),
        ],
        LOOKUPS,
    );
    let medians: Vec<f64> = samples.iter().map(Samples::median).collect();
    Ok(Size {
        nodes: members.len(),
        spec: scheme.spec(),
        single_ns: medians[0],
        many_ns: medians[1],
        build_ns,
        heap_bytes: sharder.heap_bytes() as u64,
    })
}

/// The scheme with as large a table as it advises for so many nodes.
fn advised(scheme: &dyn Scheme, nodes: u32) -> Result<Box<dyn Scheme>, String> {
    let advice = scheme.knob().and_then(|knob| Some((knob, knob.advised_per_node?)));
    let Some((knob, per_node)) = advice else { return Ok(scheme.box_clone()) };
    if nodes > MOST_NODES_OF_A_GROWING_TABLE {
        return Err(format!("its table would have more than {MOST_NODES_OF_A_GROWING_TABLE} times {per_node} cells"));
    }
    let wanted = nodes.checked_mul(per_node).filter(|wanted| *wanted > knob.value);
    let Some(wanted) = wanted else { return Ok(scheme.box_clone()) };
    let value = (knob.round_up)(wanted).ok_or_else(|| format!("{} takes no {wanted} or more", knob.option))?;
    scheme.with(knob.option, &value.to_string()).map_err(|error| error.to_string())
}
