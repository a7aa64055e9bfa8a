//! Reviews: what is judged is what was asked, and nothing is recommended that the numbers speak against.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use shardlab_core::rows::{Candidate, CandidateChange, ChangeCosts, Judged, Judgement, KeySet, Review};
use shardlab_core::{Change, Members, Node, RawChunk, RawKey};
use shardlab_keys::{Documents, Progress, ReadError, SyntheticSpec, Unit, synthetic};
use shardlab_study::{Edit, ReviewChange, ReviewRequest, ReviewRequirements, StudyError, review};

fn request(specs: &[&str], members: Members) -> ReviewRequest {
    ReviewRequest {
        definition: String::new(),
        command: String::new(),
        title: "test".to_owned(),
        question: String::new(),
        background: Vec::new(),
        members,
        present: None,
        candidates: specs.iter().map(|spec| shardlab_schemes::parse(spec).unwrap().scheme).collect(),
        tune: false,
        hash: None,
        requirements: ReviewRequirements::default(),
        changes: Vec::new(),
        path: Vec::new(),
        bytes: None,
        weighted: false,
        bandwidth: None,
        seed: 42,
        threads: 2,
        timing: false,
        max_memory: 1 << 30,
    }
}

fn change(edits: impl Into<Vec<Edit>>, moved: Option<f64>) -> ReviewChange {
    ReviewChange { name: None, edits: edits.into(), moved }
}

fn of_keys(request: &ReviewRequest, keys: &str) -> Review {
    let spec = SyntheticSpec::parse(keys).unwrap();
    let open = || Ok(synthetic(&spec, request.seed, request.rules()));
    review(request, &open, "", &|_| {}).unwrap().0
}

/// Documents 0, 1, 2 … with weights.
struct Weighted {
    weights: Vec<u64>,
    done: bool,
}

impl Documents for Weighted {
    fn next_chunk(&mut self, chunk: &mut RawChunk) -> Result<bool, ReadError> {
        chunk.clear();
        if !std::mem::replace(&mut self.done, true) {
            for (number, weight) in self.weights.iter().enumerate() {
                chunk.push(RawKey::id(format!("document {number}").as_bytes()), Some(*weight));
            }
        }
        Ok(!chunk.is_empty())
    }

    fn progress(&self) -> Progress {
        Progress { done: 0, total: None, unit: Unit::Documents }
    }

    fn key_set(&self) -> KeySet {
        let count = self.weights.len() as u64;
        KeySet {
            description: "weighted".to_owned(),
            digest: "0123456789abcdef".to_owned(),
            read: count,
            accepted: count,
            skipped: Vec::new(),
            consecutive_duplicates: 0,
            distinct: None,
            distinct_heap_bytes: None,
            with_routing: 0,
            notes: Vec::new(),
        }
    }
}

fn of_weights(request: &ReviewRequest, weights: &[u64]) -> Result<Review, StudyError> {
    let open = || Ok(Box::new(Weighted { weights: weights.to_vec(), done: false }) as Box<dyn Documents>);
    review(request, &open, "", &|_| {}).map(|(review, _)| review)
}

fn candidate<'a>(review: &'a Review, scheme: &str) -> &'a Candidate {
    review.candidates.iter().find(|candidate| candidate.scheme == scheme).unwrap()
}

fn judged<'a>(review: &'a Review, scheme: &str, requirement: &str) -> &'a Judged {
    let place = review.requirements.iter().position(|one| one.name == requirement).unwrap();
    &candidate(review, scheme).judged[place]
}

fn costs<'a>(review: &'a Review, scheme: &str, change: usize) -> &'a ChangeCosts {
    match &candidate(review, scheme).measured.as_ref().unwrap().changes[change] {
        CandidateChange::Done(costs) => costs,
        CandidateChange::NotApplicable { not_applicable, .. } => panic!("{not_applicable}"),
    }
}

#[test]
fn weights_of_nothing_are_refused() {
    let request = ReviewRequest { weighted: true, ..request(&["rendezvous"], Members::dense(4).unwrap()) };
    assert!(matches!(of_weights(&request, &[0; 100]), Err(StudyError::NoWeight)));
}

#[test]
fn a_peak_by_weight_stays_one_after_a_change() {
    let mut request = ReviewRequest { weighted: true, ..request(&["rendezvous"], Members::dense(4).unwrap()) };
    request.changes.push(change([Edit::Change(Change::Grow { to: 5 })], None));
    // One document has nearly all weight, so that its node has the load of nearly four, and then of five.
    let mut weights = vec![1; 1000];
    weights[7] = 1_000_000;
    let review = of_weights(&request, &weights).unwrap();
    let peak =
        candidate(&review, "rendezvous").measured.as_ref().unwrap().weight_load.as_ref().unwrap().peak_to_average;
    assert!((peak - 4.0).abs() < 0.01, "{peak}");
    let after = costs(&review, "rendezvous", 0).peak_after;
    assert!((after - 5.0).abs() < 0.01, "{after}");
}

#[test]
fn a_peak_that_only_a_change_makes_misses_the_bound() {
    let mut request = request(&["elastic:created=8.15"], Members::dense(10).unwrap());
    request.changes.push(change([Edit::Change(Change::Grow { to: 20 })], None));
    request.requirements.peak = Some(6.0);
    let review = of_keys(&request, "zipf-tenants:20000,tenants=100,s=1.52");
    let (now, after) = (
        candidate(&review, "elastic:created=8.15").measured.as_ref().unwrap().balance.peak_to_average,
        costs(&review, "elastic:created=8.15", 0).peak_after,
    );
    assert!(now < 6.0 && after > 6.0, "{now} {after}");
    let found = judged(&review, "elastic:created=8.15", "peak");
    assert_eq!((found.judgement, found.value), (Judgement::NotMet, Some(after)));
}

#[test]
fn losing_a_rack_is_drawn_as_losing_its_nodes() {
    let names = ["a1", "a2", "b1", "b2", "c1", "c2"];
    let members = Members::listed(names.iter().map(|name| Node::new(*name, 1).unwrap()).collect()).unwrap();
    let mut request = request(&["ring"], members);
    let remove = |name: &str| Edit::Change(Change::Remove { name: name.to_owned() });
    request.changes.push(change([Edit::LoseRack { prefix: "b".to_owned() }], None));
    request.changes.push(change([remove("b1"), remove("b2")], None));
    let review = of_keys(&request, "uuid4:20000");
    let [rack, nodes] = [0, 1].map(|place| costs(&review, "ring", place));
    assert_eq!(rack.moved_interval, nodes.moved_interval);
    assert!(rack.elsewhere.is_some() && rack.elsewhere == nodes.elsewhere);
}

#[test]
fn with_uneven_keys_no_scheme_is_singled_out_that_has_a_higher_peak_on_them() {
    let mut request = request(&["ring", "rendezvous", "maglev"], Members::dense(5).unwrap());
    request.requirements.any_node_leaves = true;
    let mut singled_out = 0;
    for seed in 0..8 {
        request.seed = seed;
        let review = of_keys(&request, "zipf-tenants:5000,tenants=50");
        let peak = |candidate: &Candidate| candidate.measured.as_ref().unwrap().balance.peak_to_average;
        let least = review.candidates.iter().map(peak).fold(f64::INFINITY, f64::min);
        if let Some(best) = &review.decision.recommended {
            singled_out += 1;
            assert_eq!(peak(candidate(&review, best)), least, "seed {seed}: {best}");
            assert!(review.decision.headline.contains("on these keys"), "{}", review.decision.headline);
        }
    }
    assert!(singled_out < 8, "a scheme of more memory or slower growth always has something against it");
}

#[test]
fn a_scheme_whose_nodes_cannot_leave_says_why() {
    for nodes in [2, 3, 10] {
        let mut request = request(&["jump", "ring"], Members::dense(nodes).unwrap());
        request.requirements.any_node_leaves = true;
        let review = of_keys(&request, "uuid4:2000");
        let jump = judged(&review, "jump", "any_node_leaves");
        assert_eq!(jump.judgement, Judgement::NotMet);
        assert!(jump.words.contains("only the last node"), "{nodes}: {:?}", jump.words);
        assert_eq!(judged(&review, "ring", "any_node_leaves").judgement, Judgement::Met);
    }
}

#[test]
fn a_scheme_that_is_too_large_is_out_and_the_others_are_judged() {
    let mut request = request(&["ring:vnodes=1000000", "jump"], Members::dense(100).unwrap());
    request.max_memory = 100_000_000;
    request.requirements.peak = Some(1.5);
    let review = of_keys(&request, "uuid4:20000");
    assert_eq!(review.decision.recommended.as_deref(), Some("jump"));
    let words = &judged(&review, "ring:vnodes=1000000", "peak").words;
    assert!(words.contains("bytes of memory"), "{words}");
}
