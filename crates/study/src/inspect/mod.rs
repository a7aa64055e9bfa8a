//! What makes keys bad on their own: patterns in numbers, few or common values, heavy documents.

mod clock;
mod findings;
pub(crate) mod load;
mod numbers;
mod order;
pub(crate) mod places;
mod texts;
pub(crate) mod values;

use shardlab_core::rows::{Cardinality, Inspection};
use shardlab_core::{KeyHasher, KeyRules, Members, Scheme};
use shardlab_keys::{Documents, Progress};

use crate::StudyError;
use places::Row;
use values::{Census, Grain};

/// What to inspect keys for.
#[derive(Debug)]
pub struct InspectRequest {
    /// The schemes that place the keys.
    pub schemes: Vec<Box<dyn Scheme>>,
    /// The hash for all of them; each scheme's own, or the default, where there is none.
    pub hash: Option<Box<dyn KeyHasher>>,
    /// The numbers of nodes of interest, ascending and without repetition.
    pub nodes: Vec<u32>,
    /// Whether each line of a file was taken as a key, so that a table may have been mistaken for keys.
    pub whole_lines: bool,
    /// The seed of synthetic keys, for the record.
    pub seed: u64,
    /// Threads that place values.
    pub threads: usize,
    /// Bytes that counting and tables may take.
    pub max_memory: u64,
}

impl InspectRequest {
    /// What every document must fulfil so that all schemes can place it.
    #[must_use]
    pub fn rules(&self) -> KeyRules {
        let hashers = self.schemes.iter().map(|scheme| {
            let chosen = self.hash.as_ref().map(|hasher| hasher.box_clone()).or_else(|| scheme.native_hasher());
            let own = chosen.map_or_else(KeyRules::default, |chosen| scheme.adapt_hasher(chosen).rules());
            scheme.key_rules().and(own)
        });
        hashers.fold(KeyRules::default(), KeyRules::and)
    }

    /// The rows of placements: each scheme with the hash asked for or its own; where the values are
    /// numbers, also schemes that read remainders over the raw number, and beside them over the default
    /// hash, to see what a hash does.
    fn rows(&self, all_numbers: bool) -> Vec<Row> {
        let mut rows: Vec<Row> = Vec::new();
        let mut add = |scheme: &dyn Scheme, hasher: Box<dyn KeyHasher>| {
            let (spec, hash) = (scheme.spec(), hasher.name());
            if !rows.iter().any(|known| known.scheme.spec() == spec && known.hasher.name() == hash) {
                rows.push(Row { scheme: scheme.box_clone(), hasher, remainders: reads_remainders(scheme) });
            }
        };
        for scheme in &self.schemes {
            let chosen = self.hash.as_ref().map(|hasher| hasher.box_clone()).or_else(|| scheme.native_hasher());
            add(&**scheme, chosen.unwrap_or_else(|| Box::new(shardlab_hash::Xxh3)));
            // A system that brings its own hash never sees raw numbers.
            if all_numbers && scheme.native_hasher().is_none() && reads_remainders(&**scheme) {
                add(&**scheme, Box::new(shardlab_hash::Identity));
                add(&**scheme, Box::new(shardlab_hash::Xxh3));
            }
        }
        rows
    }
}

/// Whether a scheme's answers repeat with a period, so that patterns in numbers come through.
fn reads_remainders(scheme: &dyn Scheme) -> bool {
    let built = Members::dense(2).map(|members| scheme.build(&members));
    matches!(built, Ok(Ok(sharder)) if sharder.period().is_some())
}

/// Reads all documents and says what about them makes load uneven, and what only looks odd.
///
/// # Errors
/// The documents cannot be read or placed, there are none, or counting their values needs more memory
/// than allowed.
pub fn inspect(
    request: &InspectRequest,
    documents: &mut dyn Documents,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<Inspection, StudyError> {
    let InspectRequest { nodes, seed, threads, max_memory, .. } = request;
    let census = Census::take(documents, Grain::Placed, *max_memory, progress)?;
    let values = &census.placed;
    let numbers = numbers::facts(values);
    let all_numbers = numbers.as_ref().is_some_and(numbers::Numbers::is_all);
    let texts = texts::facts(values);
    let prefix = texts.as_ref().map_or(0, |(_, prefix)| *prefix);
    let rows = request.rows(all_numbers && !values.are_keys());
    let placements = places::place(values, &rows, nodes, *threads, *max_memory)?;
    let separations = places::separations(values, &rows, nodes, *threads, *max_memory)?;
    let total = values.total_rows();
    let distinct = census.distinct_documents();
    let mut inspection = Inspection {
        tool: format!("shardlab {}", env!("CARGO_PKG_VERSION")),
        seed: *seed,
        keys: documents.key_set(),
        findings: Vec::new(),
        cardinality: Cardinality {
            rows: total,
            distinct_documents: distinct,
            duplicates: total - distinct,
            placed_by: census.placed_by(),
            distinct_values: u64::try_from(values.len()).unwrap_or(u64::MAX),
            heap_bytes: census.heap_bytes(),
        },
        order: order::facts(values, all_numbers, prefix),
        numbers: numbers.as_ref().map(|numbers| numbers.facts.clone()),
        texts: texts.map(|(facts, _)| facts),
        top_values: load::top_values(values),
        weights: load::weights(&census),
        floors: load::floors(values, nodes),
        placements,
        separations,
    };
    inspection.findings = findings::findings(&inspection, values, request.whole_lines, numbers.as_ref(), &rows);
    Ok(inspection)
}
