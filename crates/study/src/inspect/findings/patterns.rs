//! Findings about what the values look like, and which schemes that hurts.

use shardlab_core::rows::{Finding, Inspection, PlacedValues, Severity, Trend, Verdict, percent};

use super::super::numbers::{Numbers, gcd};
use super::super::places::Row;
use super::{ENOUGH, finding, placed, used};

pub(super) fn found(inspection: &Inspection, numbers: Option<&Numbers>, rows: &[Row]) -> Vec<Finding> {
    let mut found: Vec<Finding> = (0..rows.len()).filter_map(|row| spread(inspection, numbers, rows, row)).collect();
    if let Some(numbers) = numbers {
        let unplaced = rows.iter().all(|row| !(row.is_raw() && row.remainders));
        found.extend(unplaced.then(|| cause(numbers)).flatten().map(|(kind, cause)| {
            finding(kind, Severity::Watch, cause, "take no remainder of the raw numbers; a hash over them is immune")
        }));
        found.extend(
            [doubles(inspection, numbers), times(inspection), zeros(inspection), part(inspection)]
                .into_iter()
                .flatten(),
        );
    }
    found.extend(
        [uuids(inspection), auto_ids(inspection), affixes(inspection), order(inspection)].into_iter().flatten(),
    );
    found
}

/// What in the numbers comes through a remainder.
fn cause(numbers: &Numbers) -> Option<(&'static str, String)> {
    let facts = &numbers.facts;
    if facts.count < ENOUGH {
        return None;
    }
    let count = format!("all {} numbers", facts.count);
    let (low, value) = numbers.low_bits;
    let divisor = numbers.divisor_of_differences;
    let odd = divisor.checked_shr(divisor.trailing_zeros()).unwrap_or(0);
    let multiples = odd > 1 && gcd(numbers.min, divisor) == divisor;
    let mut words = Vec::new();
    if multiples {
        words.push(format!("{count} are multiples of {divisor}"));
    }
    // What multiples of a small even number have in common goes without saying.
    if low > 0 && !(multiples && low < 8) {
        let zeros = numbers.low_zeros.min(low);
        let bits = if low == 1 { "the lowest bit is".to_owned() } else { format!("the low {low} bits are") };
        words.push(match zeros {
            0 => format!("{bits} constant in {count} (value {value})"),
            _ if zeros == low => format!("{bits} constant in {count} (all 0)"),
            _ => format!("{bits} constant in {count} (value {value}; the low {zeros} bits constant at 0)"),
        });
    }
    if odd > 1 && !multiples {
        words.push(format!("the differences of {count} are multiples of {divisor}"));
    }
    let kind = if low > 0 && !(multiples && low < 8) { "constant_bits" } else { "common_divisor" };
    if words.is_empty() {
        let nearly = facts.low_nearly_constant_bits;
        let run = facts.constant_bits.iter().find(|run| run.from <= 2);
        let words = match run {
            _ if nearly > 1 => format!("the low {nearly} bits are the same in nearly {count}"),
            Some(run) => format!("bits {} to {} are constant in {count} (value {})", run.from, run.to, run.value),
            None => return None,
        };
        return Some(("constant_bits", words));
    }
    Some((kind, words.join(", and ")))
}

/// A row whose values do not lie as chance would lay them, or will not at other numbers of nodes.
fn spread(inspection: &Inspection, numbers: Option<&Numbers>, rows: &[Row], at: usize) -> Option<Finding> {
    let row = &rows[at];
    let cells = placed(inspection, rows, at);
    let by_divisor = |nodes: u32| {
        let common = numbers.filter(|numbers| numbers.facts.count >= ENOUGH && row.is_raw() && row.remainders);
        common.is_some_and(|numbers| gcd(numbers.divisor_of_differences, nodes.into()) > 1)
    };
    let bad = |cell: &&(u32, &PlacedValues)| cell.1.verdict == Verdict::Structural || by_divisor(cell.0);
    let bad: Vec<(u32, &PlacedValues)> = cells.iter().filter(bad).copied().collect();
    let name = row.scheme.spec();
    if row.is_raw() && row.remainders {
        return raw(inspection, numbers, rows, at, &bad);
    }
    let worst = bad.iter().max_by(|a, b| a.1.peak_to_average.total_cmp(&b.1.peak_to_average))?;
    let sentence = |why: &str| {
        format!(
            "{name} over {}: the values use {} nodes and the fullest has {:.2} times the mean at n={}, which is not \
             chance{why}",
            row.hasher.name(),
            used(&bad),
            worst.1.peak_to_average,
            worst.0
        )
    };
    if row.scheme.key_bits() > 0 && row.is_raw() {
        let why = format!(": it reads numbers as positions up to 2^{}", row.scheme.key_bits());
        return Some(finding("raw_positions", Severity::Watch, sentence(&why), "hash the numbers before this scheme"));
    }
    if row.scheme.key_bits() > row.hasher.bits() {
        let why = format!(": a hash of {} bits fills a corner of its positions", row.hasher.bits());
        return Some(finding(
            "short_hash",
            Severity::Watch,
            sentence(&why),
            "take a hash of 64 bits before this scheme",
        ));
    }
    Some(finding(
        "hash_pattern",
        Severity::Harmful,
        sentence(""),
        "a pattern in the values comes through: take another hash",
    ))
}

/// Raw numbers by their remainder.
fn raw(
    inspection: &Inspection,
    numbers: Option<&Numbers>,
    rows: &[Row],
    at: usize,
    bad: &[(u32, &PlacedValues)],
) -> Option<Finding> {
    let name = rows[at].scheme.spec();
    let cause = numbers.and_then(cause);
    let severity = match (&cause, bad.is_empty()) {
        (_, false) => Severity::Harmful,
        // Only what all numbers share is sure to hurt at other numbers of nodes.
        (Some((_, _)), true) if numbers.is_some_and(|numbers| numbers.divisor_of_differences != 1) => Severity::Watch,
        _ => return None,
    };
    let (kind, mut sentence) = cause.unwrap_or_else(|| ("raw_numbers", "the numbers have a pattern".to_owned()));
    if bad.is_empty() {
        sentence.push_str(&format!(
            ": {name} over the raw numbers leaves nodes idle where their number has a factor in common with that, though \
             not at the numbers of nodes asked for"
        ));
    } else {
        sentence.push_str(&format!(": {name} over the raw numbers uses {} nodes", used(bad)));
    }
    if let Some(mixed) = (0..rows.len()).find(|&other| rows[other].scheme.spec() == name && !rows[other].is_raw()) {
        let cells = placed(inspection, rows, mixed);
        let mixed_bad: Vec<_> = cells.iter().filter(|cell| bad.iter().any(|bad| bad.0 == cell.0)).copied().collect();
        if let Some((nodes, placed)) = mixed_bad.last() {
            sentence.push_str(&format!(
                "; over {} it uses {}, and at n={nodes} the fullest node has {} keys of a mean of {:.1}",
                rows[mixed].hasher.name(),
                used(&mixed_bad),
                placed.peak_keys,
                inspection.cardinality.rows as f64 / f64::from(*nodes)
            ));
        }
    }
    let advice = "hash the numbers before the remainder is taken (a hash over them is immune), or choose a number of \
                  nodes without a factor in common";
    Some(finding(kind, severity, sentence, advice))
}

/// Numbers that only a double can have left: every one is rounded as a double rounds.
fn doubles(inspection: &Inspection, numbers: &Numbers) -> Option<Finding> {
    let facts = &numbers.facts;
    let lost = numbers.lost_bits();
    if facts.beyond_double < 2 || facts.held_by_a_double < facts.beyond_double || lost == 0 {
        return None;
    }
    let multiples = format!(
        "all {} different numbers above 2^53 are multiples of what a double can hold there (2^{lost} = {} at the \
         largest)",
        facts.beyond_double,
        1_u64.checked_shl(lost).unwrap_or(0)
    );
    // More zeros than a double makes, or constant bits above them, have another reason.
    if numbers.low_zeros > lost + 3 || (facts.count >= ENOUGH && numbers.low_bits.0 > numbers.low_zeros) {
        return None;
    }
    let repeats = inspection.cardinality.rows - inspection.cardinality.distinct_values;
    let advice = "the digits are lost: read ids as text or as 64-bit integers at the source, and fetch them anew";
    if repeats > 0 {
        return Some(finding(
            "passed_through_a_double",
            Severity::Harmful,
            format!(
                "{multiples}, and {repeats} of {} rows repeat one: they passed through a double",
                inspection.cardinality.rows
            ),
            advice,
        ));
    }
    let exactly = numbers.low_zeros == lost && facts.count >= ENOUGH;
    exactly.then(|| {
        finding(
            "passed_through_a_double",
            Severity::Watch,
            format!("{multiples}, as if they had passed through a double, though none repeats"),
            "compare some with the source, and read ids as text or as 64-bit integers",
        )
    })
}

fn times(inspection: &Inspection) -> Option<Finding> {
    let guess = inspection.numbers.as_ref()?.looks_like.first()?;
    let what = if guess.kind == "snowflake" { "snowflake ids" } else { guess.kind };
    Some(finding(
        "time",
        Severity::Harmless,
        format!("the numbers look like {what}, from {} to {}", guess.from, guess.to),
        "nothing where a hash places them",
    ))
}

fn zeros(inspection: &Inspection) -> Option<Finding> {
    let (numbers, texts) = (inspection.numbers.as_ref()?, inspection.texts.as_ref()?);
    if numbers.leading_zeros == 0 {
        return None;
    }
    let sentence = format!("{} of {} values begin with a zero", numbers.leading_zeros, numbers.of);
    Some(if texts.shortest_bytes == texts.longest_bytes {
        finding(
            "leading_zeros",
            Severity::Harmless,
            sentence + ", padded to the same length",
            "nothing; keep them texts",
        )
    } else {
        let sentence = sentence + ", and lengths differ: 007 and 7 are two ids and one number";
        finding("leading_zeros", Severity::Watch, sentence, "write each id in one way, and keep ids texts")
    })
}

fn part(inspection: &Inspection) -> Option<Finding> {
    let numbers = inspection.numbers.as_ref()?;
    (numbers.count < numbers.of).then(|| {
        let share = numbers.count as f64 / numbers.of as f64;
        finding(
            "partly_numbers",
            Severity::Harmless,
            format!(
                "{} of {} different values ({}) are decimal numbers below 2^64",
                numbers.count,
                numbers.of,
                percent(share)
            ),
            "nothing where a hash of texts places them; the hash identity refuses the others",
        )
    })
}

fn uuids(inspection: &Inspection) -> Option<Finding> {
    let uuids = &inspection.texts.as_ref()?.uuids;
    if uuids.is_empty() {
        return None;
    }
    let each = |timed: bool| {
        let named = uuids.iter().filter(|uuid| matches!(uuid.version, 1 | 6 | 7) == timed);
        named.map(|uuid| format!("{} UUIDs of version {}", uuid.count, uuid.version)).collect::<Vec<_>>()
    };
    let (timed, others) = (each(true), each(false));
    let mut sentence = [timed.clone(), others].concat().join(", ");
    if !timed.is_empty() {
        sentence.push_str(&format!(" ({} begin with or hold a time)", timed.join(", ")));
    }
    let advice = if timed.is_empty() {
        "nothing"
    } else {
        "nothing where a hash places them; ranges of ids would send all new ones to the last node"
    };
    Some(finding("uuid", Severity::Harmless, sentence, advice))
}

fn auto_ids(inspection: &Inspection) -> Option<Finding> {
    let auto_ids = inspection.texts.as_ref()?.auto_ids;
    (auto_ids > 0 && auto_ids == inspection.cardinality.distinct_values).then(|| {
        finding(
            "auto_ids",
            Severity::Harmless,
            format!(
                "all {auto_ids} values look like automatic ids of Elasticsearch, which begin alike as time goes by"
            ),
            "nothing: the hash spreads ids that differ in few letters",
        )
    })
}

fn affixes(inspection: &Inspection) -> Option<Finding> {
    let texts = inspection.texts.as_ref()?;
    let is_number = inspection.numbers.as_ref().is_some_and(|numbers| numbers.count == numbers.of);
    let (prefix, suffix) = (&texts.common_prefix, &texts.common_suffix);
    if is_number || inspection.cardinality.distinct_values < 2 || (prefix.is_empty() && suffix.is_empty()) {
        return None;
    }
    let sentence = match (prefix.is_empty(), suffix.is_empty()) {
        (false, true) => format!("all values begin with {prefix:?}"),
        (true, false) => format!("all values end with {suffix:?}"),
        _ => format!("all values begin with {prefix:?} and end with {suffix:?}"),
    };
    Some(finding("common_affix", Severity::Harmless, sentence, "nothing where a hash places them"))
}

fn order(inspection: &Inspection) -> Option<Finding> {
    let order = &inspection.order;
    let trend = match order.trend {
        Trend::Neither => return None,
        Trend::Increasing => "increasing",
        Trend::Decreasing => "decreasing",
    };
    (inspection.cardinality.distinct_values >= ENOUGH).then(|| {
        finding(
            "order",
            Severity::Harmless,
            format!(
                "values arrive in {trend} order (correlation {:.3} with their place; {} rise, {} fall)",
                order.correlation.unwrap_or(0.0),
                order.ascents,
                order.descents
            ),
            "nothing where a hash places them; ranges of ids would send all new ones to one node",
        )
    })
}
