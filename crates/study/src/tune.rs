//! The smallest value of an option that keeps the fullest node below a target.

mod counts;
pub(crate) mod draws;
mod loss;
mod search;

use shardlab_core::rows::{Answer, Tuning};
use shardlab_core::{KeyHasher, KeyRules, Members, Scheme};
use shardlab_keys::{Documents, Progress};

use crate::inspect::load::{Heavy, heaviest_value, most_common_value};
use crate::inspect::values::{Census, Grain, Values};
use crate::{Side, StudyError};
use search::{Search, Stop};

/// Points of all draws together that one value may cost where the number of draws is left open.
const DRAWN_POINTS: u64 = 10_000_000;

/// The draws of small tables and of large ones. Memberships of many nodes get fewer, down to the fewest
/// that have a quantile of 95 %, since their peaks differ less from one another.
const MOST_DRAWS: u32 = 1000;
const FEW_DRAWS: u32 = 100;
const FEWEST_DRAWS: u32 = 20;
const FEW_PER_NODE: u64 = 1000;

/// What to tune, and for whom.
#[derive(Debug)]
pub struct TuneRequest {
    /// The scheme; its other options stay as they are.
    pub scheme: Box<dyn Scheme>,
    /// The nodes.
    pub members: Members,
    /// The hash for the keys; the scheme's own, or the default, where there is none.
    pub hash: Option<Box<dyn KeyHasher>>,
    /// The largest peak-to-average that is wanted, above 1.
    pub peak: f64,
    /// The part of all node names for which it must hold, from 0 to 1.
    pub confidence: f64,
    /// Memberships of differently named nodes, at least 1; where nothing is said, as many as keep large
    /// tables affordable.
    pub draws: Option<u32>,
    /// The seed of the names, and of synthetic keys.
    pub seed: u64,
    /// Whether the quantile alone is asked for, and not the mean, these names and these keys as well.
    pub brief: bool,
    /// Whether builds are timed.
    pub timing: bool,
    /// Threads.
    pub threads: usize,
    /// Bytes that tables and counting may take.
    pub max_memory: u64,
}

impl TuneRequest {
    fn hasher(&self) -> Box<dyn KeyHasher> {
        shardlab_harness::hasher_for(&*self.scheme, self.hash.as_deref())
    }

    /// What every document must fulfil.
    #[must_use]
    pub fn rules(&self) -> KeyRules {
        self.scheme.key_rules().and(self.hasher().rules())
    }

    /// How many memberships are drawn for tables with so many points or slots in all.
    fn draws_for(&self, points: u64) -> u32 {
        let affordable = |points: u64| u32::try_from(DRAWN_POINTS / points.max(1)).unwrap_or(u32::MAX);
        let fewest = affordable(u64::from(self.members.len()) * FEW_PER_NODE).clamp(FEWEST_DRAWS, FEW_DRAWS);
        self.draws.unwrap_or_else(|| affordable(points).clamp(fewest, MOST_DRAWS))
    }

    /// The scheme with its option set to a value.
    fn with(&self, option: &str, value: u32) -> Result<Box<dyn Scheme>, StudyError> {
        let refused = |error| StudyError::Build { spec: self.scheme.spec(), source: error };
        self.scheme.with(option, &value.to_string()).map_err(|error| refused(error.into()))
    }

    fn side(&self, scheme: Box<dyn Scheme>, members: &Members) -> Result<Side, StudyError> {
        Side::new(scheme, members, self.hash.as_deref(), self.max_memory)
    }
}

/// Finds the smallest value that meets the target, and its price.
///
/// # Errors
/// The scheme has no such option and there are no keys to try numbers of nodes on, the documents cannot
/// be read or placed, or memory is not enough for the very first value.
pub fn tune(
    request: &TuneRequest,
    documents: Option<&mut dyn Documents>,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<Tuning, StudyError> {
    let TuneRequest { scheme, members, peak, confidence, seed, max_memory, .. } = request;
    // Where documents of one routing value are spread, each document has a place of its own.
    let grain = if request.rules().routing_required { Grain::Documents } else { Grain::Placed };
    let mut key_set = None;
    let mut census = None;
    if let Some(documents) = documents {
        census = Some(Census::take(documents, grain, *max_memory, progress)?);
        key_set = Some(documents.key_set());
    }
    let keys = census.as_ref().map(|census| Keys::new(&census.placed));
    let mut tuning = Tuning {
        tool: format!("shardlab {}", env!("CARGO_PKG_VERSION")),
        scheme: scheme.spec(),
        nodes: members.len(),
        weighted: !members.equal_weights(),
        option: "nodes".to_owned(),
        peak: *peak,
        confidence: *confidence,
        draws: 0,
        seed: *seed,
        keys: key_set,
        value: None,
        spec: None,
        impossible: keys.as_ref().and_then(|keys| keys.impossible(members, *peak)),
        answers: Vec::new(),
        tried: Vec::new(),
        node_counts: Vec::new(),
        notes: Vec::new(),
    };
    match (scheme.knob(), &keys) {
        (Some(knob), keys) => option(request, knob, keys.as_ref(), &mut tuning)?,
        (None, Some(keys)) => counts::tune(request, keys, &mut tuning)?,
        (None, None) => return Err(StudyError::NothingToTune { spec: scheme.spec() }),
    }
    Ok(tuning)
}

/// The peak-to-average of a scheme's own shares for nodes with other names, ascending: what its table makes
/// of a perfect hash. A scheme whose shares do not depend on names has one.
///
/// # Errors
/// The scheme cannot serve the members, or its shares are not computable.
pub fn peaks_of_names(
    scheme: &dyn Scheme,
    members: &Members,
    draws: u32,
    seed: u64,
    threads: usize,
    max_memory: u64,
) -> Result<Vec<f64>, StudyError> {
    let side = Side::new(scheme.box_clone(), members, None, max_memory)?;
    if side.placer.sharder.exact_shares().is_none() {
        return Err(StudyError::NoShares { spec: scheme.spec() });
    }
    let draws = if scheme.largest_share_gap().is_some() && members.equal_weights() { 1 } else { draws };
    let mut samples = crate::workers::in_parallel(draws as usize, threads, |draw| {
        let members = draws::renamed(members, seed, u32::try_from(draw).unwrap_or(u32::MAX))?;
        let refused = |source| StudyError::Build { spec: scheme.spec(), source };
        let shares = scheme.build(&members).map_err(refused)?.exact_shares();
        Ok::<_, StudyError>(shares.map_or(1.0, |shares| draws::peak(&shares, &members)))
    })?;
    samples.sort_unstable_by(f64::total_cmp);
    Ok(samples)
}

/// Keys with what they force on every scheme.
pub(crate) struct Keys<'a> {
    pub(crate) values: &'a Values,
    /// The most common value, or the heaviest where documents have weights, with its part.
    worst: Option<(String, Heavy)>,
}

impl<'a> Keys<'a> {
    fn new(values: &'a Values) -> Self {
        let worst = if values.is_weighted() { heaviest_value(values) } else { most_common_value(values) };
        Self { values, worst: worst.map(|(value, heavy)| (values.shown(value), heavy)) }
    }

    /// The lowest peak-to-average on so many equal nodes.
    pub(crate) fn floor(&self, nodes: u32) -> f64 {
        self.worst.as_ref().map_or(1.0, |(_, heavy)| heavy.floor(nodes))
    }

    /// Why no value of any option helps, where one value alone is too much for the largest node.
    fn impossible(&self, members: &Members, peak: f64) -> Option<String> {
        let (value, heavy) = self.worst.as_ref()?;
        let largest = members.iter().map(|(_, _, weight)| weight).max().unwrap_or(1);
        let fair = f64::from(largest) / members.total_weight() as f64;
        let floor = heavy.share / fair;
        (floor > peak).then(|| {
            let what = if self.values.is_weighted() { "weight" } else { "documents" };
            format!(
                "{value:?} alone has {:.2} % of the {what}, so that the fullest of {} nodes has at least {floor:.3} times \
                 its fair part, whatever the scheme; {}",
                heavy.share * 100.0,
                members.len(),
                match (peak / heavy.share).floor() {
                    most if most < 2.0 => "no number of nodes above 1 meets the target".to_owned(),
                    most => format!("up to {most} equal nodes the target can be met"),
                }
            )
        })
    }

    /// Peak-to-average of the documents on a side: by weight where there are weights.
    pub(crate) fn peak(&self, side: &Side) -> Result<f64, StudyError> {
        let loads = crate::inspect::places::loads(self.values, side)?;
        let of = |loads: &[u128], total: u128| {
            let total_weight = side.members().total_weight() as f64;
            let fair = side.members().iter().map(|(_, _, weight)| f64::from(weight) / total_weight);
            let ratios = loads.iter().zip(fair).map(|(&load, fair)| load as f64 / (total as f64 * fair));
            ratios.fold(0.0, f64::max)
        };
        Ok(match self.values.total_weight() {
            Some(total) if total > 0 => of(&loads.weights, total),
            _ => {
                let rows: Vec<u128> = loads.rows.into_iter().map(u128::from).collect();
                of(&rows, self.values.total_rows().into())
            }
        })
    }

    /// The peak-to-average that chance alone gives about a fair hash of documents that all differ.
    fn chance(&self, nodes: u32) -> f64 {
        let (n, documents) = (f64::from(nodes), self.values.len() as f64);
        1.0 + (2.0 * libm::log(n)).sqrt() * ((n - 1.0) / documents).sqrt()
    }
}

fn option(
    request: &TuneRequest,
    knob: shardlab_core::Knob,
    keys: Option<&Keys<'_>>,
    tuning: &mut Tuning,
) -> Result<(), StudyError> {
    knob.option.clone_into(&mut tuning.option);
    let members = &request.members;
    let mut search = Search::new(request, knob, keys);
    search.evaluate_if_possible(knob.value)?;
    let mut questions = if request.brief { vec!["quantile"] } else { vec!["mean", "quantile", "these_names"] };
    // Nothing is searched for that cannot be found.
    if keys.is_some() && tuning.impossible.is_none() && !request.brief {
        questions.push("these_keys");
    }
    for question in questions {
        let found = search.smallest(question)?;
        let answer = match found {
            Ok(value) => priced(request, knob.option, question, value)?,
            Err(stop) => unanswered(question, &stop, &knob),
        };
        if question == "quantile" && tuning.impossible.is_none() {
            (tuning.value, tuning.spec) = (answer.value, answer.spec.clone());
        }
        tuning.answers.push(answer);
    }
    let advised = knob.advised_per_node.and_then(|each| (knob.round_up)(each.checked_mul(members.len())?));
    if let Some(value) = advised.filter(|&value| value <= knob.most) {
        if search.evaluate_if_possible(value)? {
            tuning.answers.push(priced(request, knob.option, "advised", value)?);
        }
        let each = knob.advised_per_node.unwrap_or(1);
        tuning.notes.push(format!(
            "{}={value} is {each} for each node, which is advised beyond balance: the fewer there are, the more keys \
             move between survivors when a node is lost",
            knob.option
        ));
    }
    tuning.tried = search.into_tried();
    tuning.draws = tuning.tried.iter().map(|tried| tried.draws).max().unwrap_or(0);
    if tuning.tried.iter().any(|tried| tried.promised.is_some()) {
        tuning.notes.push(format!(
            "answers hold for every larger {} as well; some smaller ones happen to divide evenly and meet the target too",
            knob.option
        ));
    } else {
        tuning.notes.push(format!(
            "means and quantiles are those of up to {} memberships with other names; with other draws the smallest value \
             may differ by some percent; an answer for these names holds for that value alone, and a larger one may miss \
             the target",
            tuning.draws
        ));
    }
    if let Some(keys) = keys {
        let chance = keys.chance(members.len());
        if chance > request.peak && tuning.impossible.is_none() {
            tuning.notes.push(format!(
                "{} different values on {} nodes reach a peak of about {chance:.3} by chance under any hash, so that only \
                 more of them can meet {:.3} for sure",
                keys.values.len(),
                members.len(),
                request.peak
            ));
        }
    }
    Ok(())
}

fn unanswered(question: &'static str, stop: &Stop, knob: &shardlab_core::Knob) -> Answer {
    let not_reached = match stop {
        Stop::Largest { tried } => format!("not met up to {}={tried}, the largest there is", knob.option),
        Stop::Memory { value, needed, limit } => format!(
            "not met below {}={value}, where building needs about {needed} bytes; the limit is {limit} (raise \
             --max-memory)",
            knob.option
        ),
    };
    Answer {
        question,
        value: None,
        not_reached: Some(not_reached),
        spec: None,
        heap_bytes: None,
        build_ns: None,
        loss: None,
    }
}

fn priced(request: &TuneRequest, option: &str, question: &'static str, value: u32) -> Result<Answer, StudyError> {
    let scheme = request.with(option, value)?;
    let refused = |source| StudyError::Build { spec: scheme.spec(), source };
    let build_ns = match request.timing {
        true => Some(shardlab_harness::build_time(&*scheme, &request.members).map_err(refused)?),
        false => None,
    };
    Ok(Answer {
        question,
        value: Some(value),
        not_reached: None,
        spec: Some(scheme.spec()),
        heap_bytes: Some(scheme.expected_heap_bytes(&request.members)),
        build_ns,
        loss: loss::of_one_node(request, &*scheme)?,
    })
}
