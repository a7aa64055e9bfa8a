//! Pictures: known ones as snapshots, and whatever names there are, well-formed documents.
#![allow(clippy::unwrap_used, reason = "a test ends where something is missing")]

use proptest::prelude::*;
use roxmltree::Document;
use shardlab_core::ResizeOperation;
use shardlab_core::rows::{
    Balance, ChancePeak, ChangeOutcome, Comparison, ComparisonRow, Costs, Fate, Flow, GrowthPoint, How, KeySet,
    LoadChange, Measured, MoveFractions, Movement, Movements, NodeCount, NodeFlow, PathRows, PathStep,
    ResizeAlternative, ResizeStep, RowOutcome, Scaling, SchemeGrowth, SplitPlan, StepOutcome, StepRows, Tried, Tuning,
    Verdict, WhatIf,
};
use shardlab_report::{
    cost_growth_chart, flow_chart, load_chart, lookup_growth_chart, movement_chart, path_chart, split_tree_chart,
    tuning_chart,
};

/// What somebody who wants to harm a reader calls a node.
const EVIL: &str =
    "<script>alert(\"1\")</script>&amp;'\u{1b}[31m\u{202e}\0\u{ffff}\u{fffe}]]>--><!--\r\n\u{85}\u{2028}";

fn keys(description: &str) -> KeySet {
    KeySet {
        description: description.to_owned(),
        digest: "2eb81e9d9dac7a42".to_owned(),
        read: 1000,
        accepted: 1000,
        skipped: Vec::new(),
        consecutive_duplicates: 0,
        distinct: None,
        distinct_heap_bytes: None,
        with_routing: 0,
        notes: Vec::new(),
    }
}

fn balance(min: f64, peak: f64, verdict: Verdict) -> Balance {
    Balance {
        counts: vec![250; 4],
        peak_to_average: peak,
        min_to_average: min,
        cv: 0.02,
        chi_square: 3.0,
        p_value: 0.4,
        noise_floor_cv: 0.02,
        expected_cv: 0.02,
        keys_per_node: 250.0,
        exact_peak_to_average: None,
        empty_probability: None,
        chance_peak: Some(ChancePeak { mean: 1.05, p99: 1.1, even_probability: 0.0 }),
        verdict,
    }
}

fn moved(moved: f64, minimum: f64, disruption: f64, left_parent: Option<f64>) -> ChangeOutcome {
    ChangeOutcome::Moved(Movement { moved, minimum, excess: moved - minimum, disruption, ideal: minimum, left_parent })
}

fn refused(reason: &str) -> ChangeOutcome {
    ChangeOutcome::NotApplicable { not_applicable: reason.to_owned() }
}

fn row(
    scheme: &str,
    balance: Balance,
    [add_one, remove_last, remove_middle, double]: [ChangeOutcome; 4],
) -> ComparisonRow {
    let measured = Measured {
        balance,
        weight_load: None,
        movement: Movements { add_one, remove_last, remove_middle, double },
        heap_bytes: 0,
        expected_heap_bytes: 0,
        build_ns: None,
        lookup_ns: None,
        throughput_ns: None,
    };
    ComparisonRow {
        scheme: scheme.to_owned(),
        hash: "xxh3".to_owned(),
        outcome: RowOutcome::Measured(Box::new(measured)),
    }
}

fn comparison(name: &str) -> Comparison {
    let few = || moved(0.2, 0.2, 0.0, None);
    Comparison {
        tool: "shardlab 0.1.0".to_owned(),
        nodes: 4,
        weighted: false,
        seed: 42,
        keys: keys(name),
        rows: vec![
            row(
                "even",
                balance(0.95, 1.06, Verdict::Chance),
                [few(), few(), refused("only the last can leave"), few()],
            ),
            row(
                name,
                balance(0.7, 1.31, Verdict::Structural),
                [moved(0.8, 0.2, 0.6, None), few(), moved(0.75, 0.25, 0.5, None), moved(0.95, 0.5, 0.45, Some(0.0))],
            ),
            ComparisonRow {
                scheme: "absent".to_owned(),
                hash: "xxh3".to_owned(),
                outcome: RowOutcome::NotApplicable { not_applicable: format!("no weights: {name}") },
            },
        ],
        notes: Vec::new(),
        reading: Vec::new(),
        timings: None,
    }
}

fn fractions(moved: f64, minimum: f64, disruption: f64) -> MoveFractions {
    MoveFractions {
        moved_fraction: moved,
        minimum_fraction: minimum,
        excess_fraction: moved - minimum,
        disruption_fraction: disruption,
        ideal_fraction: minimum,
    }
}

fn load(before: u64, after: u64, inwards: u64, outwards: u64) -> LoadChange {
    LoadChange {
        keys_before: before,
        keys_after: after,
        keys_in: inwards,
        keys_out: outwards,
        keys_net: i128::from(after) - i128::from(before),
        keys_peak: before.max(after),
        keys_moved_in: inwards,
        keys_moved_out: outwards,
        bytes_before: None,
        bytes_after: None,
        bytes_in: None,
        bytes_out: None,
        bytes_net: None,
        bytes_peak: None,
        bytes_moved_in: None,
        bytes_moved_out: None,
        requests_before: None,
        requests_after: None,
        requests_in: None,
        requests_out: None,
        requests_net: None,
    }
}

/// Nodes of these names, of which the last leaves and each other one gets some of its keys.
fn what_if(names: &[String]) -> WhatIf {
    let (last, others) = names.split_last().unwrap();
    let number = |place: usize| u32::try_from(place).unwrap();
    let mut per_node: Vec<NodeFlow> = Vec::new();
    let mut matrix = Vec::new();
    for (place, name) in others.iter().enumerate() {
        let keys = 3 + u64::from(number(place)) % 5;
        per_node.push(NodeFlow {
            node: number(place),
            node_name: name.clone(),
            fate: Fate::Stays,
            load: load(100, 100 + keys, keys, 0),
        });
        matrix.push(Flow {
            from: number(others.len()),
            to: number(place),
            from_name: last.clone(),
            to_name: name.clone(),
            keys,
            bytes: None,
            requests: None,
            data_moves: true,
        });
    }
    let gone: u64 = matrix.iter().map(|flow| flow.keys).sum();
    per_node.push(NodeFlow {
        node: number(others.len()),
        node_name: last.clone(),
        fate: Fate::Leaves,
        load: load(gone, 0, 0, gone),
    });
    WhatIf {
        tool: "shardlab 0.1.0".to_owned(),
        from: "ring".to_owned(),
        to: "ring".to_owned(),
        change: format!("remove {last:?}"),
        from_nodes: number(names.len()),
        to_nodes: number(others.len()),
        from_hash: "xxh3".to_owned(),
        to_hash: "xxh3".to_owned(),
        seed: 42,
        keys: keys("random:1000"),
        moves: fractions(0.1, 0.1, 0.0),
        left_parent_fraction: None,
        exact_moved_fraction: None,
        moved_interval: [0.09, 0.11],
        moved_keys: gone,
        moved_bytes: None,
        rewritten_bytes: None,
        moved_requests: None,
        requests_per_second: None,
        seconds_serial: None,
        seconds_parallel: None,
        seconds_rewritten: None,
        monotone: true,
        before: balance(0.9, 1.1, Verdict::Chance),
        after: balance(0.9, 1.1, Verdict::Chance),
        busiest: Vec::new(),
        per_node,
        matrix,
        machines: None,
        replicas: None,
        heirs: None,
        notes: Vec::new(),
        reading: Vec::new(),
    }
}

fn path(name: &str) -> PathRows {
    let done = |change: &str, moves: MoveFractions, cumulative_fraction: f64| PathStep {
        change: change.to_owned(),
        outcome: StepOutcome::Done(Box::new(StepRows {
            to: "ring".to_owned(),
            nodes: 5,
            moves,
            cumulative_fraction,
            moved_bytes: None,
            seconds_serial: None,
            after: balance(0.9, 1.1, Verdict::Chance),
            machines: None,
        })),
    };
    PathRows {
        tool: "shardlab 0.1.0".to_owned(),
        start: "ring".to_owned(),
        start_nodes: 4,
        seed: 42,
        keys: keys("random:1000"),
        steps: vec![
            done(&format!("add {name:?}"), fractions(0.2, 0.2, 0.0), 0.2),
            done("go to modulo", fractions(0.8, 0.3, 0.5), 1.0),
            PathStep {
                change: "remove \"1\"".to_owned(),
                outcome: StepOutcome::NotApplicable { not_applicable: format!("only {name} can leave") },
            },
        ],
        stops_at: Some(3),
        cumulative_fraction: 1.0,
        straight_fraction: 0.75,
        detour_fraction: 0.25,
        moved_once_or_more_fraction: 0.8,
        moved_more_than_once_fraction: 0.2,
        times_moved: vec![200, 600, 200],
        cumulative_bytes: None,
        cumulative_between_machines_fraction: None,
        straight_bytes: None,
        returns_to_the_first_nodes: false,
        restores_the_first_mapping: None,
    }
}

fn tuning(option: &str) -> Tuning {
    let tried = |value: u32, excess: f64| Tried {
        value,
        draws: 100,
        mean: 1.0 + excess * 0.7,
        quantile: 1.0 + excess,
        these_names: 1.0 + excess * 0.8,
        promised: None,
        these_keys: None,
        heap_bytes: 1,
    };
    Tuning {
        tool: "shardlab 0.1.0".to_owned(),
        scheme: "ring".to_owned(),
        nodes: 10,
        weighted: false,
        option: option.to_owned(),
        peak: 1.1,
        confidence: 0.95,
        draws: 100,
        seed: 42,
        keys: None,
        value: Some(400),
        spec: Some("ring:vnodes=400".to_owned()),
        impossible: None,
        answers: Vec::new(),
        tried: vec![tried(1, 2.0), tried(20, 0.5), tried(100, 0.2), tried(400, 0.1), tried(1000, 0.06)],
        node_counts: Vec::new(),
        notes: Vec::new(),
    }
}

fn split_plan(words: &str) -> SplitPlan {
    let step = |operation, to| ResizeStep { operation, to };
    let way = |how, steps: Vec<ResizeStep>, to, rewritten, fullest| ResizeAlternative {
        how,
        words: words.to_owned(),
        to,
        costs: Costs {
            documents_rewritten_fraction: rewritten,
            documents_rewritten: None,
            operations: u32::try_from(steps.len()).unwrap(),
            copies_without_hard_links: 1,
            open_shards: 18,
            most_documents_per_shard: None,
            fullest_shard_fraction: fullest,
            transient_heap_bytes: None,
        },
        steps,
        number_changed_fraction: None,
        left_parent_fraction: Some(0.0),
        bytes: None,
    };
    let (split, shrink) = (ResizeOperation::Split, ResizeOperation::Shrink);
    SplitPlan {
        tool: "shardlab 0.1.0".to_owned(),
        scheme: "elastic:created=8.15".to_owned(),
        from: 12,
        to: Some(18),
        routing_shards: Some(768),
        legal: Some(false),
        rule_verified: true,
        refused_by: None,
        refusal: None,
        operation: None,
        nearest_below: Some(6),
        nearest_above: Some(24),
        legal_splits: vec![24, 48],
        legal_splits_cut: false,
        legal_shrinks: vec![1, 2, 3, 4, 6],
        chains: Vec::new(),
        chains_left_out: 2,
        alternatives: vec![
            way(How::Nearest, vec![step(split, 24)], 24, 0.0, 0.04),
            way(How::Chain, vec![step(shrink, 6), step(split, 18)], 18, 0.0, 1.0 / 6.0),
            way(How::Chain, vec![step(shrink, 6), step(shrink, 1), step(split, 18)], 18, 0.0, 1.0),
            way(How::Reindex, Vec::new(), 18, 1.0, 1.0 / 18.0),
        ],
        children: Vec::new(),
        fit: None,
        sizes: Vec::new(),
        one_shard: None,
        spread: None,
        documents: None,
        bytes: None,
        docs: None,
        hard_links: true,
        seed: 42,
        preconditions: Vec::new(),
        notes: Vec::new(),
        reading: Vec::new(),
    }
}

/// Three schemes from 10 nodes on: one that costs nothing, one that grows, one that stops early.
fn scaling(name: &str) -> Scaling {
    let growth = |scheme: &str, nodes: &[u32], many_ns: fn(f64) -> f64, bytes_a_node: u64, stops: Option<String>| {
        let point = |&nodes: &u32| {
            let ns = many_ns(f64::from(nodes));
            let heap_bytes = u64::from(nodes) * bytes_a_node;
            let build_ns = 800.0 + 40.0 * heap_bytes as f64;
            GrowthPoint { nodes, spec: scheme.to_owned(), single_ns: 2.0 * ns, many_ns: ns, build_ns, heap_bytes }
        };
        SchemeGrowth {
            scheme: scheme.to_owned(),
            lookup_cost: "n steps".to_owned(),
            heap_cost: "12 n".to_owned(),
            sizes: nodes.iter().map(point).collect(),
            stops,
        }
    };
    let stops = Some(format!("before 10000 nodes: there are no more shards for {name}"));
    let all = [10, 100, 1000, 10_000];
    let mut grows = growth("table", &all, |nodes| 4.0 + nodes / 5.0, 12, None);
    grows.sizes[3].spec = format!("table:size=9973,of={name}");
    Scaling {
        max_memory: 1_000_000_000,
        keys: 1 << 20,
        seed: 9,
        measured_on: Some(format!("machine {name}, 2026-01-01")),
        schemes: vec![
            growth("formula", &all, |_| 0.6, 0, None),
            grows,
            growth(name, &all[..3], |nodes| 0.5 + nodes / 1e4, 0, stops),
        ],
    }
}

fn names(count: usize) -> Vec<String> {
    (0..count).map(|node| format!("node-{node}")).collect()
}

/// Every picture with a text in each place that takes one from outside.
fn all(text: &str) -> Vec<String> {
    let nodes = [text.to_owned(), "b".to_owned(), format!("{text}2")];
    vec![
        load_chart(&comparison(text)).unwrap(),
        movement_chart(&comparison(text)).unwrap(),
        flow_chart(&what_if(&nodes)).unwrap(),
        path_chart(&path(text)).unwrap(),
        tuning_chart(&tuning(text)).unwrap(),
        split_tree_chart(&split_plan(text)).unwrap(),
        lookup_growth_chart(&scaling(text)).unwrap(),
        cost_growth_chart(&scaling(text)).unwrap(),
    ]
}

/// Reads a picture as strictly as XML asks, and checks what every picture must have.
fn check(picture: &str) {
    let document = Document::parse(picture).unwrap_or_else(|error| panic!("{error}\n{picture}"));
    let root = document.root_element();
    assert_eq!((root.tag_name().name(), root.attribute("role")), ("svg", Some("img")));
    let first: Vec<&str> =
        root.children().filter(|child| child.is_element()).map(|child| child.tag_name().name()).take(3).collect();
    assert_eq!(first, ["title", "desc", "style"]);
    let size = |name: &str| root.attribute(name).unwrap().parse::<f64>().unwrap();
    let (width, height) = (size("width"), size("height"));
    let style = root.children().find(|child| child.tag_name().name() == "style");
    let sheet = style.and_then(|style| style.text()).unwrap();
    for node in document.descendants().filter(|node| node.is_element()) {
        let name = node.tag_name().name();
        assert!(
            ["svg", "title", "desc", "style", "rect", "line", "polyline", "polygon", "circle", "text"].contains(&name),
            "no element but those that draw: {name}"
        );
        for colour in ["fill", "stroke"].into_iter().filter_map(|attribute| node.attribute(attribute)) {
            assert!(colour == "none" || sheet.contains(&format!("[fill=\"{colour}\"]")), "no dark twin of {colour}");
        }
        if name == "text" {
            let size: f64 = node.attribute("font-size").unwrap().parse().unwrap();
            assert!(size >= 11.0, "text of {size} pixels");
            let (y, (left, right)) = (node.attribute("y").unwrap().parse::<f64>().unwrap(), extent(node));
            let inside = left >= 0.0 && right <= width && (0.0..=height).contains(&y);
            assert!(inside, "cut off: {:?}", node.text());
        }
    }
    let harmful = |letter: char| letter != '\n' && (letter.is_control() || ('\u{202A}'..='\u{202E}').contains(&letter));
    assert!(!picture.contains(harmful), "{picture:?}");
}

fn title(picture: &str) -> String {
    let document = Document::parse(picture).unwrap();
    let title = document.descendants().find(|node| node.tag_name().name() == "title").unwrap();
    title.text().unwrap().to_owned()
}

/// Where a text ends at the left and at the right, in a font that is rather narrow.
fn extent(node: roxmltree::Node<'_, '_>) -> (f64, f64) {
    let number = |name: &str| node.attribute(name).unwrap().parse::<f64>().unwrap();
    let narrow = |letter: char| " ,.:;'!|ijlftrI()[]-/\"".contains(letter);
    let letters = node.text().unwrap_or_default().trim().chars();
    let length = letters.map(|letter| if narrow(letter) { 0.25 } else { 0.48 }).sum::<f64>() * number("font-size");
    let at = number("x");
    match (node.attribute("transform"), node.attribute("text-anchor")) {
        (Some(_), _) => (at, at),
        (None, Some("start")) => (at, at + length),
        (None, Some("end")) => (at - length, at),
        (None, _) => (at - length / 2.0, at + length / 2.0),
    }
}

/// The text of a picture that is seen.
fn seen(picture: &str) -> String {
    let document = Document::parse(picture).unwrap();
    let texts = document.descendants().filter(|node| node.tag_name().name() == "text");
    texts.filter_map(|node| node.text()).map(str::trim).collect::<Vec<_>>().join("\n")
}

#[test]
fn load_is_drawn_with_its_band_of_chance() {
    let picture = load_chart(&comparison("skewed")).unwrap();
    check(&picture);
    insta::assert_snapshot!(picture);
}

#[test]
fn movement_is_drawn_by_scheme_and_change() {
    let picture = movement_chart(&comparison("skewed")).unwrap();
    check(&picture);
    insta::assert_snapshot!(picture);
}

#[test]
fn flows_are_drawn_as_a_field_of_cells() {
    let picture = flow_chart(&what_if(&names(5))).unwrap();
    check(&picture);
    insta::assert_snapshot!(picture);
}

#[test]
fn a_path_is_drawn_beside_going_straight() {
    let picture = path_chart(&path("x")).unwrap();
    check(&picture);
    insta::assert_snapshot!(picture);
}

#[test]
fn tuning_is_drawn_with_target_and_choice() {
    let picture = tuning_chart(&tuning("vnodes")).unwrap();
    check(&picture);
    insta::assert_snapshot!(picture);
}

#[test]
fn splits_are_drawn_as_a_tree() {
    let picture = split_tree_chart(&split_plan("12 > 6 > 18")).unwrap();
    check(&picture);
    insta::assert_snapshot!(picture);
}

#[test]
fn the_growth_of_lookups_is_drawn_with_what_stops_early() {
    let picture = lookup_growth_chart(&scaling("shards")).unwrap();
    check(&picture);
    insta::assert_snapshot!(picture);
}

#[test]
fn the_growth_of_cost_is_drawn_with_a_place_for_nothing() {
    let picture = cost_growth_chart(&scaling("shards")).unwrap();
    check(&picture);
    insta::assert_snapshot!(picture);
}

/// Whether the rectangles around any two texts of one picture touch.
fn overlapping(picture: &str) -> Option<(String, String)> {
    let document = Document::parse(picture).unwrap();
    let boxes =
        document.descendants().filter(|node| node.tag_name().name() == "text" && node.attribute("transform").is_none());
    let boxes: Vec<_> = boxes
        .map(|node| {
            let (left, right) = extent(node);
            let (y, size) = (node.attribute("y").unwrap(), node.attribute("font-size").unwrap());
            let (y, size): (f64, f64) = (y.parse().unwrap(), size.parse().unwrap());
            (left, right, y, size, node.text().unwrap_or_default().trim().to_owned())
        })
        .collect();
    boxes.iter().enumerate().find_map(|(at, one)| {
        let other = boxes[at + 1..]
            .iter()
            .find(|other| one.0 < other.1 && other.0 < one.1 && (one.2 - other.2).abs() < one.3.min(other.3) * 0.8)?;
        Some((one.4.clone(), other.4.clone()))
    })
}

#[test]
fn growth_that_was_not_measured_or_is_one_point_is_drawn_too() {
    let mut rows = scaling("shards");
    for growth in &mut rows.schemes {
        growth.sizes.truncate(1);
    }
    for chart in [lookup_growth_chart, cost_growth_chart] {
        check(&chart(&rows).unwrap());
    }
    assert_eq!(
        title(&lookup_growth_chart(&rows).unwrap()),
        "At 10 nodes a lookup takes from 0.50 ns (shards) to 6.00 ns (table)"
    );
    rows.schemes.truncate(1);
    assert_eq!(title(&lookup_growth_chart(&rows).unwrap()), "At 10 nodes a lookup takes 0.60 ns (formula)");
    assert_eq!(
        title(&cost_growth_chart(&rows).unwrap()),
        "At 10 nodes the table takes 0 B in every scheme, and building takes up to 800 ns (formula)"
    );
    rows.schemes[0].sizes.clear();
    for chart in [lookup_growth_chart, cost_growth_chart] {
        let picture = chart(&rows).unwrap();
        check(&picture);
        assert_eq!(title(&picture), "Nothing was measured");
    }
}

#[test]
fn a_record_without_a_machine_is_read_and_drawn() {
    let mut rows = scaling("shards");
    rows.measured_on = None;
    let stored = serde_json::to_value(&rows).unwrap();
    assert!(stored.get("measured_on").is_none());
    assert_eq!(serde_json::from_value::<Scaling>(stored).unwrap(), rows);
    check(&lookup_growth_chart(&rows).unwrap());
}

#[test]
fn titles_state_what_the_numbers_say() {
    assert_eq!(
        title(&load_chart(&comparison("skewed")).unwrap()),
        "skewed is less even than chance: its fullest node has 1.310 times the mean"
    );
    let mut even = comparison("skewed");
    even.rows.truncate(1);
    assert_eq!(
        title(&load_chart(&even).unwrap()),
        "The fullest node has 1.060 times the mean at most (even), no more than chance"
    );
    assert_eq!(
        title(&movement_chart(&even).unwrap()),
        "No scheme moves data needlessly in any change that it can follow"
    );
    assert_eq!(
        title(&movement_chart(&comparison("skewed")).unwrap()),
        "skewed moves the most for nothing: 80.00 % of the keys on \"add one\", where 20.00 % have to move"
    );
    let mut none = tuning("vnodes");
    none.value = None;
    assert_eq!(
        title(&tuning_chart(&none).unwrap()),
        "No vnodes that was tried keeps the peak of 10 nodes at or below 1.100 for 95 % of names"
    );
    let mut still = what_if(&names(3));
    still.moved_keys = 0;
    still.matrix.clear();
    assert_eq!(title(&flow_chart(&still).unwrap()), "remove \"node-2\": no key moves");
    assert_eq!(
        title(&lookup_growth_chart(&scaling("shards")).unwrap()),
        "At 10000 nodes a lookup takes from 0.60 ns (formula) to 2.00 µs (table); 1 of 3 schemes stops before"
    );
    assert_eq!(
        title(&cost_growth_chart(&scaling("shards")).unwrap()),
        "At 10000 nodes the table takes from 0 B (formula) to 120 kB (table), and building takes up to 4.80 ms (table); 1 of 3 schemes stops before"
    );
    assert_eq!(
        title(&flow_chart(&what_if(&names(3))).unwrap()),
        "remove \"node-2\": 10.00 % of the keys move, all off the node that leaves"
    );
}

#[test]
fn numbers_of_nodes_are_drawn_where_there_is_no_option() {
    let mut rows = tuning("nodes");
    rows.tried.clear();
    let count = |nodes, these_keys| NodeCount { nodes, floor: 1.0, these_keys, not_applicable: None };
    rows.node_counts = vec![count(1, Some(1.0)), count(2, Some(1.05)), count(3, None), count(4, Some(1.4))];
    rows.value = Some(2);
    let picture = tuning_chart(&rows).unwrap();
    check(&picture);
    assert_eq!(
        title(&picture),
        "1 of 3 numbers of nodes keep the peak of these keys at or below 1.100; 10 does not, the nearest is 2"
    );
    rows.node_counts.clear();
    check(&tuning_chart(&rows).unwrap());
}

#[test]
fn a_thousand_nodes_are_drawn_in_at_most_a_hundred_bins_each_way() {
    let picture = flow_chart(&what_if(&names(1001))).unwrap();
    check(&picture);
    assert!(seen(&picture).contains("Each cell is the mean of 11 × 11 pairs of nodes"), "{}", seen(&picture));
    // The one node that leaves is marked, though the others of its group stay: once beside the field, once in the key.
    let marks = picture.lines().filter(|line| line.starts_with("<rect") && line.contains("#D55E00")).count();
    assert_eq!(marks, 2);
    assert!(seen(&picture).contains("a node that leaves is among them"), "{}", seen(&picture));
    assert!(picture.lines().count() < 2000, "{} lines", picture.lines().count());
}

#[test]
fn cells_of_one_pair_say_its_keys() {
    let shown = seen(&flow_chart(&what_if(&names(5))).unwrap());
    for line in ["node-0", "node-4", "3", "6", "from node", "to node", "leaves", "stays where it is"] {
        assert!(shown.lines().any(|shown| shown == line), "{line}: {shown}");
    }
}

#[test]
fn a_node_that_keeps_nothing_is_told_from_one_that_does() {
    let mut rows = what_if(&names(3));
    let keeps_nothing = |rows: &WhatIf| seen(&flow_chart(rows).unwrap()).contains("same node, keeps nothing");
    assert!(!keeps_nothing(&rows));
    rows.per_node[1].load.keys_out = rows.per_node[1].load.keys_before;
    assert!(keeps_nothing(&rows));
}

#[test]
fn what_stays_in_its_parent_shard_is_green_and_not_called_moved() {
    let mut rows = what_if(&names(3));
    rows.left_parent_fraction = Some(0.0);
    for flow in &mut rows.matrix {
        flow.data_moves = false;
    }
    let within = flow_chart(&rows).unwrap();
    check(&within);
    assert_eq!(
        title(&within),
        "remove \"node-2\": 10.00 % of the keys get another shard number, none leaves its parent shard"
    );
    let moving = flow_chart(&what_if(&names(3))).unwrap();
    let cells = |picture: &str, colour: &str| {
        picture.lines().filter(|line| line.starts_with("<rect") && line.contains(colour)).count()
    };
    // The darkest blue and the darkest green: two cells of few keys, and the top of the scale.
    assert!(cells(&moving, "#003E6C") > 0 && cells(&moving, "#00402C") == 0);
    assert!(cells(&within, "#003E6C") == 0 && cells(&within, "#00402C") > 0);
}

#[test]
fn a_long_path_is_drawn_with_several_steps_a_bar() {
    let mut rows = path("x");
    let step = rows.steps[0].clone();
    rows.steps = vec![step; 150];
    rows.stops_at = None;
    let picture = path_chart(&rows).unwrap();
    check(&picture);
    let shown = seen(&picture);
    assert!(shown.contains("Each bar is 3 steps.") && shown.contains("steps 148 to 150"), "{shown}");
}

#[test]
fn texts_that_want_harm_are_shown_and_do_none() {
    for picture in all(EVIL) {
        check(&picture);
        assert!(!picture.contains("<script"), "{picture}");
    }
    assert!(seen(&load_chart(&comparison(EVIL)).unwrap()).contains("<script>"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_names_give_well_formed_pictures(text in "(?s).{0,60}", odd in "[\u{0}-\u{1f}\u{7f}-\u{9f}<>&\"'\u{5d0}\u{202e}\u{fffe}\u{ffff}吉]{0,30}") {
        for picture in all(&format!("{text}{odd}")) {
            check(&picture);
        }
    }

    #[test]
    fn names_of_lines_never_touch_whatever_they_are_near(
        lines in prop::collection::vec((1..5_usize, prop::collection::vec(0.3..1e6_f64, 4), 0..2_u64), 1..12)
    ) {
        let mut rows = scaling("shards");
        let like = rows.schemes[0].clone();
        rows.schemes = lines
            .iter()
            .enumerate()
            .map(|(at, (sizes, times, bytes))| {
                let mut growth = like.clone();
                growth.scheme = format!("scheme-{at}");
                for (size, ns) in growth.sizes.iter_mut().zip(times) {
                    (size.many_ns, size.build_ns) = (*ns, 1e3 * ns);
                    size.heap_bytes = bytes * u64::from(size.nodes);
                }
                growth.sizes.truncate(*sizes);
                growth
            })
            .collect();
        for picture in [lookup_growth_chart(&rows).unwrap(), cost_growth_chart(&rows).unwrap()] {
            check(&picture);
            prop_assert_eq!(overlapping(&picture), None);
        }
    }

    #[test]
    fn any_stored_numbers_are_drawn_inside_the_picture(
        nodes in any::<[u32; 3]>(), times in any::<[f64; 3]>(), heap in any::<u64>()
    ) {
        let mut rows = scaling("a");
        for growth in &mut rows.schemes {
            for ((size, nodes), ns) in growth.sizes.iter_mut().zip(nodes).zip(times) {
                (size.nodes, size.single_ns, size.many_ns, size.build_ns) = (nodes, ns, ns, ns);
                size.heap_bytes = heap;
            }
        }
        check(&lookup_growth_chart(&rows).unwrap());
        check(&cost_growth_chart(&rows).unwrap());
    }

    #[test]
    fn any_finite_loads_are_drawn_inside_the_picture(low in 0.0..1.0_f64, high in 1.0..1e6_f64, peak in 1.0000001..1000.0_f64) {
        let mut rows = comparison("a");
        rows.rows.push(row("b", balance(low, high, Verdict::Structural), std::array::from_fn(|_| refused("no"))));
        check(&load_chart(&rows).unwrap());
        let mut rows = tuning("vnodes");
        rows.peak = peak;
        rows.tried[0].mean = high;
        rows.tried[4].quantile = 1.0;
        check(&tuning_chart(&rows).unwrap());
    }
}
