//! The table in words, so that a reader does not have to guess what is surprising in it.

use shardlab_core::rows::{
    Balance, ChangeOutcome, ComparisonRow, KeySet, Measured, Movements, RowOutcome, Timings, Verdict, counted,
};
use shardlab_core::{KeyHasher, Members, Scheme};

use crate::timing::LEAST_KEYS;

/// What a reader must be told about the configurations themselves.
pub(crate) fn notes(rows: &[(&dyn Scheme, Option<&dyn KeyHasher>)], members: &Members) -> Vec<String> {
    let mut notes: Vec<String> = Vec::new();
    for (scheme, hasher) in rows {
        let spec = scheme.spec();
        notes.extend(scheme.notes_for(members).into_iter().map(|note| format!("{spec}: {note}")));
        if let Some(hasher) = hasher.filter(|hasher| hasher.bits() < scheme.key_bits()) {
            notes.push(format!(
                "{spec}: it reads all {} bits of a key as a position, and {} fills {} of them, so that the keys \
                 crowd into a corner; use a 64-bit hash",
                scheme.key_bits(),
                hasher.name(),
                hasher.bits(),
            ));
        }
    }
    let mut unique = Vec::new();
    for note in notes {
        if !unique.contains(&note) {
            unique.push(note);
        }
    }
    unique
}

/// A short reading of the rows.
pub(crate) fn in_words(rows: &[ComparisonRow], keys: &KeySet, timings: Option<&Timings>) -> Vec<String> {
    let measured: Vec<(&str, &Measured)> = rows
        .iter()
        .filter_map(|row| match &row.outcome {
            RowOutcome::Measured(measured) => Some((row.scheme.as_str(), &**measured)),
            RowOutcome::NotApplicable { .. } => None,
        })
        .collect();
    let Some((_, first)) = measured.first() else {
        return vec!["No scheme can serve this membership; the rows say why.".to_owned()];
    };
    let mut words = balance_in_words(&measured, &first.balance);
    words.extend(movement_in_words(&measured));
    if keys.consecutive_duplicates > 0 {
        words.push(format!(
            "{} keys repeat the key before them: balance counts rows, not different keys (--distinct counts each key once).",
            keys.consecutive_duplicates
        ));
    }
    words.extend(latency_in_words(&measured));
    words.extend(timings.into_iter().flat_map(doubts_about_times));
    words
}

fn balance_in_words(measured: &[(&str, &Measured)], first: &Balance) -> Vec<String> {
    let with = |verdict| named(measured, |row| row.balance.verdict == verdict);
    let mut words = vec![format!(
        "Balance: with {} per node, a perfectly fair random placement shows a coefficient of variation of \
         {:.4} (root mean square).",
        counted(format!("{:.0}", first.keys_per_node), "key"),
        first.noise_floor_cv
    )];
    let (few, structural, chance) = (with(Verdict::TooFewKeys), with(Verdict::Structural), with(Verdict::Chance));
    if !few.is_empty() {
        words.push(
            "Some node is expected to hold fewer than 5 keys, so nothing can be said about balance; use more keys."
                .to_owned(),
        );
    }
    if !chance.is_empty() {
        words.push(format!("Within chance: {}.", chance.join(", ")));
    }
    if !structural.is_empty() {
        let beyond = measured.iter().filter(|(_, row)| row.balance.verdict == Verdict::Structural);
        let each = beyond.map(|(name, row)| match row.balance.exact_peak_to_average {
            Some(exact) => format!("{name} (peak {:.3}, its own shares give {exact:.3})", row.balance.peak_to_average),
            None => format!("{name} (peak {:.3})", row.balance.peak_to_average),
        });
        words.push(format!(
            "Beyond chance (structural): {}. What a scheme's own shares do not explain comes from the keys: few values, \
             one large routing value, or a pattern in the ids; `shardlab inspect` with the same key flags looks for it.",
            each.collect::<Vec<_>>().join(", ")
        ));
    }
    words
}

fn movement_in_words(measured: &[(&str, &Measured)]) -> Vec<String> {
    let mut words = Vec::new();
    let moved = |outcome: &ChangeOutcome| match outcome {
        ChangeOutcome::Moved(movement) => Some((movement.moved, movement.disruption, movement.ideal)),
        ChangeOutcome::NotApplicable { .. } => None,
    };
    let added: Vec<_> =
        measured.iter().filter_map(|(name, row)| Some((*name, moved(&row.movement.add_one)?))).collect();
    if let Some((_, (_, _, ideal))) = added.first() {
        let calm: Vec<&str> =
            added.iter().filter(|(_, (_, disrupted, _))| *disrupted == 0.0).map(|(name, _)| *name).collect();
        let rough: Vec<String> = added
            .iter()
            .filter(|(_, (_, disrupted, _))| *disrupted > 0.0)
            .map(|(name, (moved, disrupted, _))| {
                format!("{} with {name} ({} between old nodes)", percent(*moved), percent(*disrupted))
            })
            .collect();
        let mut sentence = format!("Adding a node ideally moves {}.", percent(*ideal));
        if !calm.is_empty() {
            sentence.push_str(&format!(" No key moves between old nodes with {}.", calm.join(", ")));
        }
        if !rough.is_empty() {
            sentence.push_str(&format!(" More moves: {}.", rough.join("; ")));
        }
        words.push(sentence);
    }
    type Pick = fn(&Movements) -> &ChangeOutcome;
    let picks: [(&str, Pick); 2] = [
        ("add one node", |movement| &movement.add_one),
        ("lose a node in the middle", |movement| &movement.remove_middle),
    ];
    for (what, pick) in picks {
        let cannot = named(measured, |row| moved(pick(&row.movement)).is_none());
        if !cannot.is_empty() {
            words.push(format!("Cannot {what}: {}.", cannot.join(", ")));
        }
    }
    let lineage = named(
        measured,
        |row| matches!(&row.movement.double, ChangeOutcome::Moved(movement) if movement.left_parent == Some(0.0)),
    );
    if !lineage.is_empty() {
        words.push(format!(
            "Doubling {}: shard numbers change, but every document stays inside the split of its own shard.",
            lineage.join(", ")
        ));
    }
    words
}

fn latency_in_words(measured: &[(&str, &Measured)]) -> Option<String> {
    let mut timed: Vec<(&str, f64)> = measured.iter().filter_map(|(name, row)| Some((*name, row.lookup_ns?))).collect();
    timed.sort_by(|a, b| a.1.total_cmp(&b.1));
    let ((fastest, least), (slowest, most)) = (timed.first()?, timed.last()?);
    if timed.len() == 1 {
        return Some(format!(
            "Lookups without hashing take {least:.1} ns one after another on this machine; a shared machine can double it."
        ));
    }
    Some(format!(
        "Lookups without hashing take {least:.1} ns ({fastest}) to {most:.1} ns ({slowest}) one after another on this \
         machine; a shared machine can double any of these."
    ))
}

/// Why the times may not be what they seem.
fn doubts_about_times(timings: &Timings) -> Vec<String> {
    let mut words = Vec::new();
    if timings.too_noisy {
        words.push(format!(
            "The machine was too noisy to trust these times: rounds of the typical row differ by {}. Run it again when \
             nothing else runs.",
            percent(timings.noise_fraction)
        ));
    }
    if timings.timed_keys < LEAST_KEYS as u64 {
        words.push(format!(
            "Only {} keys were there to time lookups with; below {LEAST_KEYS} the branch predictor and the caches come \
             to know them, and lookups seem faster than they are.",
            timings.timed_keys
        ));
    }
    // A fifth is beyond what rounds differ by when the machine is quiet.
    let ordered: Vec<&str> = timings
        .latency
        .iter()
        .filter(|row| {
            row.lookup_in_order_ns < 0.8 * row.lookup_ns || row.throughput_in_order_ns < 0.8 * row.throughput_ns
        })
        .map(|row| row.scheme.as_str())
        .collect();
    if !ordered.is_empty() && !timings.too_noisy {
        words.push(format!(
            "These keys in their own order are looked up faster than in random order with {}: their order is kind to \
             the caches.",
            ordered.join(", ")
        ));
    }
    words
}

fn named<'a>(measured: &[(&'a str, &Measured)], keep: impl Fn(&Measured) -> bool) -> Vec<&'a str> {
    measured.iter().filter(|(_, row)| keep(row)).map(|(name, _)| *name).collect()
}

fn percent(fraction: f64) -> String {
    format!("{:.1} %", fraction * 100.0)
}
