//! The numbers of a review as tables for programs.

use shardlab_core::rows::{CandidateChange, ChangeCosts, Review, ReviewStudies, StepOutcome, six_digits};

use crate::table::{Format, Table};

fn plain(value: f64) -> String {
    six_digits(value).to_string()
}

fn optional(value: Option<f64>) -> String {
    value.map(plain).unwrap_or_default()
}

fn whole(value: Option<u128>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

/// All tables by the stems of their names.
pub(super) fn tables(review: &Review, studies: &ReviewStudies) -> Vec<(String, String)> {
    let mut tables = vec![
        ("decision".to_owned(), decision(review)),
        ("balance".to_owned(), balance(review)),
        ("load".to_owned(), load(review)),
        ("changes".to_owned(), changes(review)),
    ];
    if !studies.paths.is_empty() {
        tables.push(("path".to_owned(), path(studies)));
    }
    if !studies.tunings.is_empty() {
        tables.push(("tuning".to_owned(), tuning(studies)));
    }
    if studies.flows.iter().any(|flows| !flows.matrix.is_empty()) {
        tables.push(("flows".to_owned(), flows(studies)));
    }
    if !studies.split_plans.is_empty() {
        tables.push(("splits".to_owned(), splits(studies)));
    }
    if let Some(timings) = review.timings.as_ref() {
        let mut table =
            Table::new(["scheme", "lookup_ns", "lookup_p99_ns", "throughput_ns", "throughput_p99_ns", "build_ns"])
                .with_numbers(1..6);
        for latency in &timings.lookups.latency {
            let build = timings.build_ns.iter().find(|build| build.scheme == latency.scheme);
            let times =
                [latency.lookup_ns, latency.lookup_p99_ns, latency.throughput_ns, latency.throughput_p99_ns].map(plain);
            let build = optional(build.map(|build| build.build_ns));
            table.row([latency.scheme.clone()].into_iter().chain(times).chain([build]));
        }
        tables.push(("times".to_owned(), table.render(Format::Csv, None)));
    }
    if let Some(growth) = &studies.growth {
        let mut table = Table::new(["scheme", "nodes", "built_as", "single_ns", "batch_ns", "build_ns", "heap_bytes"])
            .with_numbers([1, 3, 4, 5, 6]);
        for scheme in &growth.schemes {
            for size in &scheme.sizes {
                table.row([
                    scheme.scheme.clone(),
                    size.nodes.to_string(),
                    size.spec.clone(),
                    plain(size.single_ns),
                    plain(size.many_ns),
                    plain(size.build_ns),
                    size.heap_bytes.to_string(),
                ]);
            }
        }
        tables.push(("growth".to_owned(), table.render(Format::Csv, None)));
    }
    tables
}

/// One row for each scheme and requirement.
pub(super) fn decision(review: &Review) -> String {
    let mut table = Table::new([
        "scheme",
        "in_use",
        "tuned_from",
        "standing",
        "requirement",
        "change",
        "bound",
        "judgement",
        "value",
        "low",
        "high",
        "words",
    ])
    .with_numbers([6, 8, 9, 10]);
    for candidate in &review.candidates {
        for (requirement, judged) in review.requirements.iter().zip(&candidate.judged) {
            let change = requirement.change.and_then(|place| review.changes.get(place)).cloned();
            let judgement = serde_json::to_value(judged.judgement).ok();
            table.row([
                candidate.scheme.clone(),
                candidate.is_present.to_string(),
                candidate.tuned_from.clone().unwrap_or_default(),
                super::summary::standing(candidate).to_owned(),
                requirement.name.to_owned(),
                change.unwrap_or_default(),
                optional(requirement.bound),
                judgement.as_ref().and_then(serde_json::Value::as_str).unwrap_or_default().to_owned(),
                optional(judged.value),
                optional(judged.low),
                optional(judged.high),
                judged.words.clone(),
            ]);
        }
    }
    table.render(Format::Csv, None)
}

fn balance(review: &Review) -> String {
    let mut table = Table::new([
        "scheme",
        "hash",
        "peak_to_average",
        "peak_low",
        "peak_high",
        "min_to_average",
        "cv",
        "noise_floor_cv",
        "expected_cv",
        "chi_square",
        "p_value",
        "verdict",
        "exact_peak_to_average",
        "weight_peak_to_average",
        "heap_bytes",
        "placement_digest",
    ])
    .with_numbers((2..11).chain([12, 13, 14]));
    for candidate in &review.candidates {
        let Some(rows) = &candidate.measured else { continue };
        let balance = &rows.balance;
        let elsewhere = rows.peak_elsewhere.as_ref();
        table.row([
            candidate.scheme.clone(),
            candidate.hash.clone(),
            plain(balance.peak_to_average),
            optional(elsewhere.map(|peak| peak.low)),
            optional(elsewhere.map(|peak| peak.high)),
            plain(balance.min_to_average),
            plain(balance.cv),
            plain(balance.noise_floor_cv),
            plain(balance.expected_cv),
            plain(balance.chi_square),
            plain(balance.p_value),
            balance.verdict.as_str().to_owned(),
            optional(balance.exact_peak_to_average),
            optional(rows.weight_load.as_ref().map(|load| load.peak_to_average)),
            rows.heap_bytes.to_string(),
            rows.placement_digest.clone(),
        ]);
    }
    table.render(Format::Csv, None)
}

/// Keys on each node, by its number in the membership.
fn load(review: &Review) -> String {
    let mut table = Table::new(["scheme", "node", "keys", "weight"]).with_numbers([1, 2, 3]);
    for candidate in &review.candidates {
        let Some(rows) = &candidate.measured else { continue };
        for (node, keys) in rows.balance.counts.iter().enumerate() {
            let weight = rows.weight_load.as_ref().and_then(|load| load.sums.get(node)).cloned();
            table.row([candidate.scheme.clone(), node.to_string(), keys.to_string(), weight.unwrap_or_default()]);
        }
    }
    table.render(Format::Csv, None)
}

fn changes(review: &Review) -> String {
    let mut table = Table::new([
        "scheme",
        "change",
        "done_as",
        "not_applicable",
        "to",
        "to_nodes",
        "moved",
        "moved_low",
        "moved_high",
        "minimum",
        "needless",
        "disruption",
        "ideal",
        "left_parent",
        "moved_keys",
        "moved_bytes",
        "rewritten_bytes",
        "seconds_serial",
        "seconds_parallel",
        "peak_after",
    ])
    .with_numbers(5..20);
    let mut add = |scheme: &str, change: &str, reason: &str, costs: Option<&ChangeCosts>| {
        let of = |pick: fn(&ChangeCosts) -> f64| optional(costs.map(pick));
        let interval = costs.and_then(|costs| costs.moved_interval);
        table.row([
            scheme.to_owned(),
            change.to_owned(),
            costs.map(|costs| costs.change.clone()).unwrap_or_default(),
            reason.to_owned(),
            costs.map(|costs| costs.to.clone()).unwrap_or_default(),
            costs.map(|costs| costs.to_nodes.to_string()).unwrap_or_default(),
            of(|costs| costs.moves.moved_fraction),
            optional(interval.map(|[low, _]| low)),
            optional(interval.map(|[_, high]| high)),
            of(|costs| costs.moves.minimum_fraction),
            of(|costs| costs.moves.excess_fraction),
            of(|costs| costs.moves.disruption_fraction),
            of(|costs| costs.moves.ideal_fraction),
            optional(costs.and_then(|costs| costs.left_parent_fraction)),
            costs.map(|costs| costs.moved_keys.to_string()).unwrap_or_default(),
            whole(costs.and_then(|costs| costs.moved_bytes)),
            whole(costs.and_then(|costs| costs.rewritten_bytes)),
            optional(costs.and_then(|costs| costs.seconds_serial)),
            optional(costs.and_then(|costs| costs.seconds_parallel)),
            of(|costs| costs.peak_after),
        ]);
    };
    for candidate in &review.candidates {
        let Some(rows) = &candidate.measured else { continue };
        for (words, change) in review.changes.iter().zip(&rows.changes) {
            match change {
                CandidateChange::Done(costs) => add(&candidate.scheme, words, "", Some(costs)),
                CandidateChange::NotApplicable { not_applicable, instead } => {
                    add(&candidate.scheme, words, not_applicable, None);
                    instead.iter().for_each(|costs| add(&candidate.scheme, words, "", Some(costs)));
                }
            }
        }
        if let Some(switch) = &rows.switch {
            add(&candidate.scheme, &switch.change, "", Some(switch));
        }
    }
    table.render(Format::Csv, None)
}

fn path(studies: &ReviewStudies) -> String {
    let mut table = Table::new([
        "scheme",
        "step",
        "change",
        "not_applicable",
        "nodes",
        "moved",
        "minimum",
        "cumulative",
        "straight",
        "peak_after",
    ])
    .with_numbers([1, 4, 5, 6, 7, 8, 9]);
    for path in &studies.paths {
        for (number, step) in (1..).zip(&path.steps) {
            let (reason, done) = match &step.outcome {
                StepOutcome::Done(done) => (String::new(), Some(done)),
                StepOutcome::NotApplicable { not_applicable } => (not_applicable.clone(), None),
            };
            table.row([
                path.start.clone(),
                number.to_string(),
                step.change.clone(),
                reason,
                done.map(|done| done.nodes.to_string()).unwrap_or_default(),
                optional(done.map(|done| done.moves.moved_fraction)),
                optional(done.map(|done| done.moves.minimum_fraction)),
                optional(done.map(|done| done.cumulative_fraction)),
                plain(path.straight_fraction),
                optional(done.map(|done| done.after.peak_to_average)),
            ]);
        }
    }
    table.render(Format::Csv, None)
}

fn tuning(studies: &ReviewStudies) -> String {
    let mut table = Table::new([
        "scheme",
        "option",
        "value",
        "mean_peak",
        "quantile_peak",
        "these_names_peak",
        "heap_bytes",
        "draws",
    ])
    .with_numbers(2..8);
    for tuning in &studies.tunings {
        for tried in &tuning.tried {
            table.row([
                tuning.scheme.clone(),
                tuning.option.clone(),
                tried.value.to_string(),
                plain(tried.mean),
                plain(tried.quantile),
                plain(tried.these_names),
                tried.heap_bytes.to_string(),
                tried.draws.to_string(),
            ]);
        }
    }
    table.render(Format::Csv, None)
}

fn flows(studies: &ReviewStudies) -> String {
    let mut table =
        Table::new(["scheme", "change", "from_node", "to_node", "keys", "bytes", "data_moves"]).with_numbers([4, 5]);
    for rows in &studies.flows {
        for flow in &rows.matrix {
            table.row([
                rows.from.clone(),
                rows.change.clone(),
                flow.from_name.clone(),
                flow.to_name.clone(),
                flow.keys.to_string(),
                whole(flow.bytes),
                flow.data_moves.to_string(),
            ]);
        }
    }
    table.render(Format::Csv, None)
}

fn splits(studies: &ReviewStudies) -> String {
    let mut table = Table::new([
        "from",
        "to",
        "legal",
        "way",
        "ends_at",
        "operations",
        "documents_rewritten_fraction",
        "copies_without_hard_links",
        "number_changed_fraction",
        "left_parent_fraction",
    ])
    .with_numbers([0, 1, 4, 5, 6, 7, 8, 9]);
    for plan in &studies.split_plans {
        for way in &plan.alternatives {
            table.row([
                plan.from.to_string(),
                plan.to.map(|to| to.to_string()).unwrap_or_default(),
                plan.legal.map(|legal| legal.to_string()).unwrap_or_default(),
                way.words.clone(),
                way.to.to_string(),
                way.costs.operations.to_string(),
                plain(way.costs.documents_rewritten_fraction),
                way.costs.copies_without_hard_links.to_string(),
                optional(way.number_changed_fraction),
                optional(way.left_parent_fraction),
            ]);
        }
    }
    table.render(Format::Csv, None)
}
