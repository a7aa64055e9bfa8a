//! A split plan in words.

use shardlab_core::rows::{How, ResizeStep, SplitPlan};
use shardlab_core::{RefusalKind, Resizable, ResizeOperation};

/// A chain of counts, such as `5 > 10 > 30`.
pub(super) fn steps(from: u32, steps: &[ResizeStep]) -> String {
    let counts = std::iter::once(from).chain(steps.iter().map(|step| step.to));
    counts.map(|count| count.to_string()).collect::<Vec<_>>().join(" > ")
}

pub(super) fn fill(plan: &mut SplitPlan, rules: &dyn Resizable) {
    plan.reading = reading(plan, rules);
    plan.preconditions = preconditions(plan, rules);
    let mut notes = notes(plan, rules.most_documents());
    notes.append(&mut plan.notes);
    plan.notes = notes;
}

const fn verb(operation: ResizeOperation) -> &'static str {
    match operation {
        ResizeOperation::Split => "split",
        ResizeOperation::Shrink => "shrink",
        ResizeOperation::Clone => "clone",
    }
}

fn reading(plan: &SplitPlan, rules: &dyn Resizable) -> Vec<String> {
    let mut words = Vec::new();
    let from = plan.from;
    if let (Some(to), Some(operation)) = (plan.to, plan.operation) {
        words.push(format!("{from} to {to} is legal: one {}.", verb(operation)));
    }
    if let (Some(to), Some(refusal)) = (plan.to, &plan.refusal) {
        words.push(format!("{from} to {to} is refused: {refusal}."));
        if plan.refused_by == Some(RefusalKind::TooManyDocuments)
            && let Some(docs) = plan.docs
        {
            words.push(format!("{docs} documents in {to} shards are {} a shard on average.", docs.div_ceil(to.into())));
        }
        if plan.refused_by == Some(RefusalKind::NotDividingRoutingShards)
            && let Some(routing_shards) = plan.routing_shards
        {
            words.push(format!(
                "The {routing_shards} routing shards were fixed when the index was made; changing the setting later, on \
                 a closed index too, changes nothing."
            ));
        }
    }
    if let Some(to) = plan.to.filter(|_| plan.legal == Some(false)) {
        words.push(match (plan.chains.len(), plan.chains.first()) {
            (0, _) | (_, None) => "No chain of splits and shrinks leads there.".to_owned(),
            (_, Some(chain)) if from > 1 && to > 1 && chain.iter().any(|step| step.to == 1) => format!(
                "By splits and shrinks alone the cheapest way is {}, which puts {} into one shard on one node for a while{}; \
                 compare it with the nearest legal counts and the reindex below.",
                steps(from, chain),
                match (plan.bytes, plan.docs) {
                    (_, Some(docs)) => format!("all {docs} documents"),
                    _ => "the whole index".to_owned(),
                },
                match (rules.most_documents(), plan.docs) {
                    (Some(most), None) =>
                        format!(" (a shard holds at most {most} documents, which is not checked as long as --docs is unknown)"),
                    _ => String::new(),
                }
            ),
            (_, Some(chain)) => format!(
                "By splits and shrinks alone it takes a turn, the cheapest being {}; compare it with the reindex below.",
                steps(from, chain)
            ),
        });
    }
    if let Some(fit) = &plan.fit {
        let needed = fit.needed;
        words.push(match (fit.shards, fit.operation) {
            (Some(shards), Some(operation)) if shards != from => format!(
                "By size alone it takes {needed} shards to stay at or below the limit; the least legal count is {shards} \
                 ({}).",
                verb(operation)
            ),
            (Some(shards), _) => format!(
                "By size alone it takes {needed} shards to stay at or below the limit; no legal count below the present \
                 {shards} is enough."
            ),
            _ => format!("By size alone it takes {needed} shards to stay at or below the limit; no legal count is that large."),
        });
        if let (true, Some(server)) = (fit.server_differs, fit.server_shards) {
            words.push(format!(
                "The server's own search for a shrink by size answers {server} here: it leaves out some counts, and stays \
                 at the present one where it finds none. Give it the number of shards in place of the size."
            ));
        }
    }
    if let Some(spread) = &plan.spread {
        let loud = if spread.almost_no_effect { "WARNING: almost no effect: " } else { "" };
        let equal = spread.with_routing_shards_equal_to_shards.map_or_else(String::new, |equal| {
            format!("; with as many routing shards as shards it would be {equal:.2}")
        });
        words.push(format!(
            "{loud}partition {} puts the documents of one routing value on {:.4} of {from} shards on average{equal}.",
            spread.partition, spread.shards_per_routing_value
        ));
    }
    words
}

fn preconditions(plan: &SplitPlan, rules: &dyn Resizable) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    let mut asked: Vec<ResizeOperation> = Vec::new();
    for step in plan.alternatives.iter().flat_map(|way| &way.steps) {
        if !asked.contains(&step.operation) {
            asked.push(step.operation);
            for sentence in rules.preconditions(step.operation) {
                if !all.contains(&sentence) {
                    all.push(sentence);
                }
            }
        }
    }
    all
}

fn notes(plan: &SplitPlan, most_documents: Option<u64>) -> Vec<String> {
    let mut notes = Vec::new();
    let from = plan.from;
    if !plan.rule_verified {
        let mut note =
            "The rule for this split is UNVERIFIED: no server of this generation was asked whether it still \
                        compares a split with the routing shards. It is judged by the older rule."
                .to_owned();
        if plan.refused_by == Some(RefusalKind::NotDividingRoutingShards)
            && let Some(to) = plan.to
        {
            note.push_str(&format!(" Without that comparison {to} would be legal, being a multiple of {from}."));
        }
        notes.push(note);
    }
    if from == 1 && plan.to.is_none_or(|to| to > 1) {
        notes.push(
            "An index of one shard may be split to any count, and gets a new number of routing shards: the default \
             for the new count, unless the request gives another. That number decides about later splits."
                .to_owned(),
        );
    }
    if plan.legal_splits_cut {
        notes.push(format!(
            "The list of legal splits ends at {}; larger ones are legal too.",
            plan.legal_splits.len() + 1
        ));
    }
    if plan.chains.iter().any(|chain| chain.len() > 1 && chain.iter().rev().skip(1).any(|step| step.to == 1)) {
        notes.push(
            "A chain through 1 puts the whole index into one shard on one node for a while, and the new index gets \
             another number of routing shards."
                .to_owned(),
        );
    }
    if plan.chains_left_out > 0 {
        notes.push(format!(
            "{} more chains reach {}; all of them cost at least as much as those shown.",
            plan.chains_left_out,
            plan.to.unwrap_or(from)
        ));
    }
    if let Some(documents) = &plan.documents
        && let (Some(docs), Some(most)) = (plan.docs, documents.after.counts.iter().max())
        && documents.keys.accepted > 0
    {
        let fullest = u128::from(docs) * u128::from(*most) / u128::from(documents.keys.accepted);
        let held =
            format!("after \"{}\" the fullest shard would hold about {fullest} of {docs} documents", documents.change);
        // The mean decides about a refusal, being certain; a sample of keys can only warn.
        notes.push(match most_documents {
            Some(limit) if fullest > u128::from(limit) => {
                format!("WARNING: {held}, more than the {limit} that a shard can hold.")
            }
            _ => format!("By these keys, {held}."),
        });
    }
    if plan.alternatives.iter().any(|way| way.how == How::Reindex) {
        notes.push(
            "A reindex writes every document anew, wherever it lands. The new index routes by the function of the \
             version that makes it."
                .to_owned(),
        );
    }
    notes
}
