//! The suite that every scheme runs in its own tests.
//!
//! A scheme's test file is one line: `shardlab_core::conformance::check(&MyScheme::default())`.
//! Each promise is tested both ways: a scheme that says its owners are positions must refuse a
//! removal in the middle and leave its mapping as it was; a scheme that promises no disruption must
//! show none, and one that promises nothing must be seen to disrupt, or it promises too little.
//!
//! Every function panics with a reason when the scheme breaks a rule.

use crate::{BuildError, Change, Disruption, Members, Node, NodeId, Resizing, Scheme, Sharder, SpecError, Unsupported};

/// Sizes that stand around powers of two, primes and the limits of small tables.
const SIZES: &[u32] = &[1, 2, 3, 4, 5, 7, 8, 10, 16, 31, 33, 64, 100, 257, 512, 1000, 1024, 4096, 10_000];

/// How many keys each size is tried with; fewer for large n, where a lookup may cost n steps.
fn keys_for(n: u32) -> Vec<u64> {
    let count = if n <= 100 {
        20_000
    } else if n <= 1024 {
        4000
    } else {
        400
    };
    let mut keys: Vec<u64> = SplitMix(u64::from(n)).take(count).collect();
    keys.extend([0, 1, u64::MAX, u64::MAX - 1, 1 << 32, u64::from(u32::MAX), 1 << 63]);
    keys
}

/// Runs the whole suite on a scheme.
///
/// # Panics
/// The scheme breaks a rule; the message says which.
pub fn check(scheme: &dyn Scheme) {
    describes_itself(scheme);
    let mut built = 0;
    for &n in SIZES {
        let members = Members::dense(n).expect("a valid size");
        match scheme.check_members(&members) {
            Ok(()) => built += 1,
            Err(early) => {
                let late = scheme.build(&members).err().map(|error| error.to_string());
                assert_eq!(late, Some(early.to_string()), "{}: check_members and build disagree at {n}", scheme.spec());
                continue;
            }
        }
        answers_are_owners(scheme, &members);
        memory_follows_its_closed_form(scheme, &members);
        changes_equal_a_fresh_build(scheme, &members);
        shares_are_exact(scheme, &members);
        periods_repeat(scheme, &members);
        owners_are_distinct(scheme, &members);
    }
    assert!(built >= 5, "{}: only {built} of {} sizes can be built", scheme.spec(), SIZES.len());
    weights_are_as_promised(scheme);
    order_is_as_promised(scheme);
    disruption_is_as_promised(scheme);
    splits_keep_their_rules(scheme);
}

/// Name, spec and documentation hang together, and unknown options are refused.
fn describes_itself(scheme: &dyn Scheme) {
    let spec = scheme.spec();
    let (name, options) = spec.split_once(':').unwrap_or((&spec, ""));
    assert_eq!(name, scheme.name(), "the spec {spec:?} must start with the name");
    assert!(!scheme.promises().citation.is_empty(), "{spec}: no citation");
    let documented: Vec<&str> = scheme.about().options.iter().map(|option| option.name).collect();
    assert!(documented.is_sorted(), "{spec}: the options must be listed in alphabetical order");
    let used: Vec<&str> =
        options.split(',').filter_map(|pair| pair.split('=').next()).filter(|s| !s.is_empty()).collect();
    assert!(used.is_sorted(), "{spec}: the canonical spec must list options in alphabetical order");
    for option in used {
        assert!(documented.contains(&option), "{spec}: option {option:?} is not documented");
    }
    let refused = scheme.with("no-such-option", "1");
    assert!(matches!(refused, Err(SpecError::UnknownOption { .. })), "{spec}: took an unknown option: {refused:?}");
    turns_its_knob(scheme, &documented);
    for option in documented {
        assert!(scheme.with(option, "no such value").is_err(), "{spec}: option {option:?} takes nonsense");
    }
}

/// The option for tuning is one of its options, starts from its present value, and takes what it rounds
/// up to.
fn turns_its_knob(scheme: &dyn Scheme, documented: &[&str]) {
    let Some(knob) = scheme.knob() else { return };
    let (spec, option) = (scheme.spec(), knob.option);
    assert!(documented.contains(&option), "{spec}: the knob {option:?} is no documented option");
    let same = scheme.with(option, &knob.value.to_string()).map(|scheme| scheme.spec());
    assert_eq!(same, Ok(spec.clone()), "{spec}: the knob does not stand at {}", knob.value);
    for at in [knob.least, knob.least + 1, 100, knob.value, 1000, knob.most - 1, knob.most] {
        let rounded = (knob.round_up)(at).unwrap_or_else(|| panic!("{spec}: no {option} from {at} on"));
        assert!((at..=knob.most).contains(&rounded), "{spec}: {at} was rounded up to {rounded}");
        assert_eq!((knob.round_up)(rounded), Some(rounded), "{spec}: {rounded} was rounded up again");
        let turned = scheme.with(option, &rounded.to_string());
        let value = turned.as_ref().ok().and_then(|scheme| scheme.knob()).map(|knob| knob.value);
        assert_eq!(value, Some(rounded), "{spec}: does not take {option}={rounded}: {turned:?}");
    }
}

fn build(scheme: &dyn Scheme, members: &Members) -> Box<dyn Sharder> {
    scheme.build(members).unwrap_or_else(|error| panic!("{} must build for {members:?}: {error}", scheme.spec()))
}

fn place(sharder: &dyn Sharder, keys: &[u64]) -> Vec<NodeId> {
    let mut out = vec![NodeId(u32::MAX); keys.len()];
    sharder.shard_many(keys, &mut out);
    out
}

/// Every key has an owner among the members; batches of any length equal single lookups.
fn answers_are_owners(scheme: &dyn Scheme, members: &Members) {
    let spec = scheme.spec();
    let sharder = build(scheme, members);
    assert_eq!(sharder.members(), members, "{spec}: serves other members than it was built for");
    let keys = keys_for(members.len());
    let batch = place(&*sharder, &keys);
    for (&key, &node) in keys.iter().zip(&batch) {
        assert!(node.0 < members.len(), "{spec}: key {key} went to {node} of {} nodes", members.len());
        assert_eq!(
            sharder.shard(key),
            node,
            "{spec}: shard_many differs from shard for key {key}, n {}",
            members.len()
        );
    }
    for length in 0..=67.min(keys.len()) {
        assert_eq!(place(&*sharder, &keys[..length]), batch[..length], "{spec}: a batch of {length} differs");
    }
    assert_eq!(place(&*sharder.box_clone(), &keys), batch, "{spec}: a clone places keys elsewhere");
    assert_eq!(place(&*build(scheme, members), &keys), batch, "{spec}: a second build places keys elsewhere");
}

fn memory_follows_its_closed_form(scheme: &dyn Scheme, members: &Members) {
    let spec = scheme.spec();
    let heap = u64::try_from(build(scheme, members).heap_bytes()).expect("heap fits u64");
    let expected = scheme.expected_heap_bytes(members);
    assert!(heap <= expected, "{spec}: {heap} bytes at n {}, more than its closed form {expected}", members.len());
    assert!(
        heap >= expected / 2,
        "{spec}: {heap} bytes at n {}, less than half of its closed form {expected}",
        members.len()
    );
}

/// A change in place gives what a fresh build of the members after it gives; a refused change
/// leaves everything as it was.
fn changes_equal_a_fresh_build(scheme: &dyn Scheme, members: &Members) {
    let n = members.len();
    let resizing = scheme.promises().resizing;
    let name = |i: u32| members.name(NodeId(i)).into_owned();
    let mut changes = vec![
        (Change::Grow { to: n + 1 }, resizing != Resizing::Factors),
        (Change::Add(Node::new("another", 1).expect("valid")), resizing != Resizing::Factors),
    ];
    if n > 1 {
        changes.push((Change::Shrink { to: n - 1 }, resizing != Resizing::Factors));
        changes.push((Change::Remove { name: name(n - 1) }, resizing != Resizing::Factors));
    }
    if n > 2 {
        changes.push((Change::Remove { name: name(n / 2) }, resizing == Resizing::Any));
        changes.push((Change::Remove { name: name(0) }, resizing == Resizing::Any));
    }
    for (change, promised) in changes {
        let Ok(after) = members.after(&change) else { panic!("{change:?} must fit {n} members") };
        let mut changed = build(scheme, members);
        let outcome = changed.apply(&change);
        // A scheme that follows a change in general may still have no room for one more node.
        if promised && scheme.check_members(&after).is_ok() {
            if let Err(error) = outcome {
                panic!("{}: promised {change:?} at n {n}, but said: {error}", scheme.spec());
            }
            same_mapping(scheme, &*changed, &*build(scheme, &after), &change);
        } else if resizing == Resizing::Factors && outcome.is_ok() {
            // From one shard to two is a factor; the rules of splits are checked on their own.
            assert!(changed.members().len().is_multiple_of(n) || n.is_multiple_of(changed.members().len()));
        } else {
            let Err(error) = outcome else { panic!("{}: did {change:?} at n {n} without a promise", scheme.spec()) };
            if resizing == Resizing::TailOnly && matches!(change, Change::Remove { .. }) {
                assert!(matches!(error, Unsupported::TailOnly { .. }), "{}: {change:?}: {error:?}", scheme.spec());
            }
            same_mapping(scheme, &*changed, &*build(scheme, members), &change);
        }
    }
    let mut untouched = build(scheme, members);
    for nonsense in [Change::Remove { name: "nobody".into() }, Change::Shrink { to: 0 }] {
        assert!(untouched.apply(&nonsense).is_err(), "{}: did {nonsense:?}", scheme.spec());
    }
    same_mapping(scheme, &*untouched, &*build(scheme, members), &Change::Shrink { to: 0 });
}

fn same_mapping(scheme: &dyn Scheme, changed: &dyn Sharder, fresh: &dyn Sharder, change: &Change) {
    assert_eq!(changed.members(), fresh.members(), "{}: members after {change:?}", scheme.spec());
    let keys = keys_for(fresh.members().len());
    assert_eq!(
        place(changed, &keys),
        place(fresh, &keys),
        "{}: the mapping after {change:?} is not that of a fresh build of {:?}",
        scheme.spec(),
        fresh.members(),
    );
}

/// Exact shares add up, and random keys fall in proportion to them.
fn shares_are_exact(scheme: &dyn Scheme, members: &Members) {
    let sharder = build(scheme, members);
    let Some(shares) = sharder.exact_shares() else { return };
    let spec = scheme.spec();
    assert_eq!(shares.parts.len(), members.len() as usize, "{spec}: one share a node");
    assert_eq!(shares.parts.iter().sum::<u128>(), shares.whole, "{spec}: shares must add up to the whole");
    if let Some(gap) = scheme.largest_share_gap() {
        let (least, most) = (shares.parts.iter().min(), shares.parts.iter().max());
        assert!(
            most.zip(least).is_some_and(|(most, least)| most - least <= gap),
            "{spec}: shares {least:?} to {most:?}"
        );
    }
    if members.len() > 100 {
        return;
    }
    let keys: Vec<u64> = SplitMix(99).take(100_000).collect();
    let mut counts = vec![0.0_f64; shares.parts.len()];
    for node in place(&*sharder, &keys) {
        counts[node.index()] += 1.0;
    }
    for ((count, share), (_, name, _)) in counts.into_iter().zip(shares.fractions()).zip(members.iter()) {
        let mean = share * keys.len() as f64;
        let sigma = (mean * (1.0 - share)).sqrt().max(1.0);
        assert!((count - mean).abs() < 6.0 * sigma, "{spec}: node {name} owns {share} but got {count} of {mean} keys");
    }
}

/// Where a sharder names a period, keys of one remainder have one owner, and the exact shares are
/// the sums over the remainders.
fn periods_repeat(scheme: &dyn Scheme, members: &Members) {
    let sharder = build(scheme, members);
    let Some(period) = sharder.period() else { return };
    let spec = scheme.spec();
    for key in keys_for(members.len()) {
        let residue = if period.signed {
            let low = u32::try_from(key & u64::from(u32::MAX)).expect("the low 32 bits");
            let signed = i64::from(low.cast_signed());
            signed.rem_euclid(i64::try_from(period.modulus).expect("a modulus of signed keys fits")).unsigned_abs()
        } else {
            key % period.modulus
        };
        assert_eq!(sharder.shard(key), sharder.shard(residue), "{spec}: key {key} and its remainder {residue}");
    }
    if let Some(shares) = sharder.exact_shares().filter(|_| period.modulus <= 1 << 16) {
        let mut sums = vec![0_u128; shares.parts.len()];
        for residue in 0..period.modulus {
            sums[sharder.shard(residue).index()] += period.keys_of(residue);
        }
        assert_eq!((sums, period.keys()), (shares.parts, shares.whole), "{spec}: exact shares");
    }
}

fn owners_are_distinct(scheme: &dyn Scheme, members: &Members) {
    let sharder = build(scheme, members);
    let Some(top) = sharder.as_top_k() else { return };
    let n = members.len() as usize;
    for key in SplitMix(7).take(50) {
        for k in [0, 1, 2, 3, n.min(20), n + 3] {
            let owners = top.top_k(key, k);
            assert_eq!(owners.len(), k.min(n), "{}: {k} owners of {n} nodes", scheme.spec());
            let mut distinct = owners.clone();
            distinct.sort_unstable();
            distinct.dedup();
            assert_eq!(distinct.len(), owners.len(), "{}: an owner is named twice", scheme.spec());
            if let Some(&first) = owners.first() {
                assert_eq!(first, sharder.shard(key), "{}: the first owner is not the owner", scheme.spec());
            }
        }
        if n > 100 {
            break;
        }
    }
}

/// The names "a", "b", … with the given weights.
fn weighted(weights: &[u32]) -> Members {
    let nodes = weights.iter().zip('a'..).map(|(&weight, name)| Node::new(name, weight).expect("valid")).collect();
    Members::listed(nodes).expect("valid")
}

fn weights_are_as_promised(scheme: &dyn Scheme) {
    let spec = scheme.spec();
    let members = weighted(&[1, 2, 3, 4]);
    let mut plain = build(scheme, &weighted(&[1, 1, 1, 1]));
    let reweight = Change::Reweight { name: "b".into(), weight: 2 };
    if !scheme.promises().weights {
        let refused = scheme.build(&members);
        assert!(matches!(refused, Err(BuildError::WeightsUnsupported { .. })), "{spec}: took weights: {refused:?}");
        assert!(plain.apply(&reweight).is_err(), "{spec}: took a weight by a change");
        same_mapping(scheme, &*plain, &*build(scheme, &weighted(&[1, 1, 1, 1])), &reweight);
        return;
    }
    let keys: Vec<u64> = SplitMix(5).take(100_000).collect();
    let mut counts = [0.0; 4];
    for node in place(&*build(scheme, &members), &keys) {
        counts[node.index()] += 1.0;
    }
    for (count, weight) in counts.into_iter().zip([1.0, 2.0, 3.0, 4.0]) {
        let fair = weight / 10.0 * keys.len() as f64;
        // A ring with 160 points a weight unit strays by up to a quarter of a small node's share.
        assert!((count / fair - 1.0_f64).abs() < 0.3, "{spec}: weight {weight} of 10 got {count} keys, fair is {fair}");
    }
    plain.apply(&reweight).unwrap_or_else(|error| panic!("{spec}: promised weights, but said: {error}"));
    same_mapping(scheme, &*plain, &*build(scheme, &weighted(&[1, 2, 1, 1])), &reweight);
}

fn order_is_as_promised(scheme: &dyn Scheme) {
    let names = ["delta", "alpha", "echo", "bravo", "charlie"];
    let listed = |order: &[usize]| {
        let nodes = order.iter().map(|&i| Node::new(names[i], 1).expect("valid")).collect();
        Members::listed(nodes).expect("valid")
    };
    let keys = keys_for(5);
    let owners = |order: &[usize]| -> Vec<String> {
        let sharder = build(scheme, &listed(order));
        place(&*sharder, &keys).into_iter().map(|node| sharder.members().name(node).into_owned()).collect()
    };
    let given = owners(&[0, 1, 2, 3, 4]);
    let orders: [&[usize]; 4] = [&[4, 3, 2, 1, 0], &[1, 3, 4, 0, 2], &[2, 0, 1, 4, 3], &[0, 1, 2, 4, 3]];
    let same = orders.iter().all(|order| owners(order) == given);
    assert_eq!(same, scheme.promises().order_free, "{}: whether the order of the list matters", scheme.spec());
}

/// The fraction of keys that move between nodes which are there before and after.
fn disruption(before: &dyn Sharder, after: &dyn Sharder, keys: &[u64]) -> f64 {
    let matched = before.members().matched_in(after.members());
    let back = after.members().matched_in(before.members());
    let (from, to) = (place(before, keys), place(after, keys));
    let moved = from.iter().zip(&to).filter(|(from, to)| {
        let survivor = matched[from.index()];
        survivor.is_some() && survivor != Some(**to) && back[to.index()].is_some()
    });
    moved.count() as f64 / keys.len() as f64
}

fn disruption_is_as_promised(scheme: &dyn Scheme) {
    let promise = scheme.promises().disruption;
    let mut seen: f64 = 0.0;
    for n in [2, 3, 5, 10, 16, 50] {
        let members = Members::dense(n).expect("valid");
        if scheme.check_members(&members).is_err() {
            continue;
        }
        let before = build(scheme, &members);
        let keys = keys_for(n);
        let mut changes =
            vec![Change::Grow { to: n + 1 }, Change::Grow { to: 2 * n }, Change::Shrink { to: n.div_ceil(2) }];
        changes.extend((0..n).map(|i| Change::Remove { name: i.to_string() }));
        for change in changes {
            let mut after = before.box_clone();
            if after.apply(&change).is_err() {
                continue;
            }
            let moved = disruption(&*before, &*after, &keys);
            seen = seen.max(moved);
            if promise == Disruption::None {
                assert!(moved == 0.0, "{}: {moved} of the keys moved between survivors of {change:?}", scheme.spec());
            }
        }
    }
    match promise {
        Disruption::None => {}
        Disruption::Near => {
            assert!(seen > 0.0, "{}: no disruption was seen; the promise can be stronger", scheme.spec());
            assert!(seen < 0.1, "{}: disruption of {seen} is not near none", scheme.spec());
        }
        Disruption::Unbounded => assert!(seen > 0.1, "{}: at most {seen} disrupted; promise more", scheme.spec()),
    }
}

fn splits_keep_their_rules(scheme: &dyn Scheme) {
    let spec = scheme.spec();
    let by_factors = scheme.promises().resizing == Resizing::Factors;
    for n in [1, 2, 3, 5, 6, 12] {
        let before = build(scheme, &Members::dense(n).expect("valid"));
        let Some(rules) = before.as_resizable() else {
            assert!(!by_factors, "{spec}: changes by factors, but has no resize rules");
            return;
        };
        assert!(by_factors, "{spec}: has resize rules, but does not say that it changes by factors");
        let keys = keys_for(n);
        let old = place(&*before, &keys);
        let legal: Vec<u32> = rules.legal_shrinks().into_iter().chain(rules.legal_splits()).collect();
        assert!(legal.is_sorted() && !legal.contains(&n), "{spec}: legal counts of {n}: {legal:?}");
        for to in (1..=2 * n + 3).filter(|&to| to != n) {
            let mut after = before.box_clone();
            let change = if to > n { Change::Grow { to } } else { Change::Shrink { to } };
            let outcome = after.apply(&change);
            assert_eq!(outcome.is_ok(), legal.contains(&to), "{spec}: {n} to {to}: {outcome:?}");
            assert_eq!(rules.operation_to(to).is_ok(), outcome.is_ok(), "{spec}: {n} to {to}");
            if outcome.is_err() {
                same_mapping(scheme, &*after, &*before, &change);
                continue;
            }
            for (&from, node) in old.iter().zip(place(&*after, &keys)) {
                let sources = rules.sources_of(to, node).unwrap_or_else(|refusal| panic!("{spec}: {refusal}"));
                assert!(
                    sources.contains(&from),
                    "{spec}: a document of shard {from} left its parent for {node} of {to}"
                );
            }
        }
    }
}

/// SplitMix64 (Steele, Lea & Flood 2014), so that the suite needs no generator from elsewhere.
struct SplitMix(u64);

impl Iterator for SplitMix {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        Some(z ^ (z >> 31))
    }
}
