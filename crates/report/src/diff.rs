//! What changed between two results: mappings apart from what follows from them, and times apart from all.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::escape::{for_markdown, for_terminal};
use crate::table::{Format, Table};

/// What a changed field says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DifferenceKind {
    /// What was asked: keys, nodes, seed, requirements, which schemes. Results of other questions are other results.
    Inputs,
    /// Where keys are placed, or which of them move. A cluster that takes the new version moves data.
    Mapping,
    /// How a scheme was judged, or what is recommended.
    Decision,
    /// Numbers and words that follow from the others, memory among them.
    Numbers,
    /// Machine, command line and times.
    Times,
}

impl DifferenceKind {
    const ALL: [Self; 5] = [Self::Inputs, Self::Mapping, Self::Decision, Self::Numbers, Self::Times];

    const fn heading(self) -> &'static str {
        match self {
            Self::Inputs => "What was asked",
            Self::Mapping => "Where keys are placed",
            Self::Decision => "How schemes were judged",
            Self::Numbers => "Numbers and words that follow",
            Self::Times => "Machine and times",
        }
    }

    const fn word(self) -> &'static str {
        match self {
            Self::Inputs => "inputs",
            Self::Mapping => "mapping",
            Self::Decision => "decision",
            Self::Numbers => "numbers",
            Self::Times => "times",
        }
    }
}

/// A field that is not the same in both.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// What it says.
    pub kind: DifferenceKind,
    /// Where it stands, such as `candidates[SPEC].measured.placement_digest`.
    pub place: String,
    /// What stood there; null where there was nothing.
    pub old: Option<String>,
    /// What stands there now; null where there is nothing.
    pub new: Option<String>,
}

/// All differences of two results, by kind and then in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Differences {
    /// Whether any is about where keys are placed.
    pub mapping_changed: bool,
    /// Whether any is about what was asked.
    pub inputs_changed: bool,
    /// All of them.
    pub differences: Vec<Difference>,
}

/// Two values that are no results of one command.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DiffError {
    /// One of them is no object, and no result.
    #[error("not a result of shardlab as JSON (--format json, or review.json)")]
    NoResult,
    /// They have no fields in common that tell what they are about.
    #[error("the two are results of different commands: one is {old}, the other {new}")]
    OtherCommand {
        /// What tells the old one.
        old: &'static str,
        /// What tells the new one.
        new: &'static str,
    },
    /// Two lists of schemes that have none in common.
    #[error("the two have no scheme in common, so that nothing can be compared")]
    NothingInCommon,
    /// A review of a form that this version does not know.
    #[error("a review of form {version}, and this program reads form {known}")]
    Version {
        /// Its version.
        version: String,
        /// The version known here.
        known: u32,
    },
}

/// Fields by which a result is known, with the command that makes it.
const TELLING: [(&str, &str); 10] = [
    ("candidates", "a review"),
    ("tried", "a tuning"),
    ("chains", "a plan of splits"),
    ("steps", "a path"),
    ("mean_moved_fraction", "a loss of each node"),
    ("change", "a what-if"),
    ("findings", "an inspection"),
    ("rows", "a comparison"),
    ("counts", "a verdict"),
    ("schemes", "a list of schemes"),
];

/// Elements of lists are matched by the first of these that all of them have, whatever their order.
const NAMES: [&[&str]; 8] = [
    &["from_name", "to_name"],
    &["scheme", "change"],
    &["scheme"],
    &["node_name"],
    &["name", "change"],
    &["change"],
    &["words"],
    &["value"],
];

/// Compares two results of the same command.
///
/// # Errors
/// See [`DiffError`].
pub fn diff(old: &Value, new: &Value) -> Result<Differences, DiffError> {
    let (old_kind, new_kind) = (telling(old)?, telling(new)?);
    if old_kind != new_kind {
        return Err(DiffError::OtherCommand { old: old_kind, new: new_kind });
    }
    for result in [old, new] {
        check_version(result)?;
    }
    let specs = |result: &Value| -> Vec<String> {
        let list = result.get("candidates").or_else(|| result.get("rows")).and_then(Value::as_array);
        list.into_iter().flatten().filter_map(|row| row.get("scheme").map(shown)).collect()
    };
    let (before, after) = (specs(old), specs(new));
    if !before.is_empty() && !after.is_empty() && before.iter().all(|spec| !after.contains(spec)) {
        return Err(DiffError::NothingInCommon);
    }
    let mut found = Vec::new();
    compare(&Place::default(), Some(old), Some(new), &mut found);
    found.sort_by_key(|difference: &Difference| difference.kind);
    let any = |kind: DifferenceKind| found.iter().any(|difference| difference.kind == kind);
    Ok(Differences {
        mapping_changed: any(DifferenceKind::Mapping),
        inputs_changed: any(DifferenceKind::Inputs),
        differences: found,
    })
}

fn telling(result: &Value) -> Result<&'static str, DiffError> {
    let fields = result.as_object().ok_or(DiffError::NoResult)?;
    let known = TELLING.into_iter().find(|(field, _)| fields.contains_key(*field));
    known.map(|(_, command)| command).ok_or(DiffError::NoResult)
}

fn check_version(result: &Value) -> Result<(), DiffError> {
    let known = shardlab_core::rows::REVIEW_SCHEMA_VERSION;
    match result.get("schema_version") {
        Some(version) if version.as_u64() != Some(known.into()) => {
            Err(DiffError::Version { version: version.to_string(), known })
        }
        _ => Ok(()),
    }
}

/// Where a value stands.
#[derive(Clone, Debug, Default)]
struct Place {
    shown: String,
    /// The names of the fields on the way, without elements of lists.
    fields: Vec<String>,
}

impl Place {
    fn field(&self, name: &str) -> Self {
        let dot = if self.shown.is_empty() { "" } else { "." };
        let mut fields = self.fields.clone();
        fields.push(name.to_owned());
        Self { shown: format!("{}{dot}{name}", self.shown), fields }
    }

    fn element(&self, name: &str) -> Self {
        Self { shown: format!("{}[{name}]", self.shown), fields: self.fields.clone() }
    }

    fn is_below(&self, names: &[&str]) -> bool {
        self.fields.iter().any(|field| names.contains(&field.as_str()))
    }

    fn kind(&self) -> DifferenceKind {
        let last = self.fields.last().map_or("", String::as_str);
        let is_time = last.ends_with("_ns") || ["tool", "command", "machine", "threads"].contains(&last);
        if self.is_below(&["timings"]) || is_time {
            return DifferenceKind::Times;
        }
        // What other draws would give depends on names and keys that nobody has.
        if self.is_below(&["elsewhere", "peak_elsewhere", "chance_peak", "reading", "notes", "moved_interval"]) {
            return DifferenceKind::Numbers;
        }
        let is_judged = ["legal", "refused_by", "refusal", "operation"].contains(&last);
        if is_judged || self.is_below(&["decision", "standing", "judged"]) {
            return DifferenceKind::Decision;
        }
        if self.is_below(&MAPPING) {
            return DifferenceKind::Mapping;
        }
        let is_asked = self.is_below(&["inputs", "keys", "requirements"]) && !self.is_below(&["measured"]);
        if is_asked || INPUTS.contains(&last) {
            return DifferenceKind::Inputs;
        }
        DifferenceKind::Numbers
    }
}

/// Fields about the place of keys, with what stands below them.
const MAPPING: [&str; 26] = [
    "placement_digest",
    "counts",
    "sums",
    "matrix",
    "per_node",
    "moved",
    "minimum",
    "excess",
    "disruption",
    "left_parent",
    "moved_fraction",
    "minimum_fraction",
    "excess_fraction",
    "disruption_fraction",
    "left_parent_fraction",
    "moved_keys",
    "moved_bytes",
    "rewritten_bytes",
    "cumulative_fraction",
    "straight_fraction",
    "times_moved",
    "moved_once_or_more_fraction",
    "moved_more_than_once_fraction",
    "answers_sum",
    "heir",
    "heirs",
];

/// Fields about the question.
const INPUTS: [&str; 19] = [
    "from",
    "to",
    "start",
    "change",
    "peak",
    "confidence",
    "option",
    "schema",
    "schema_version",
    "title",
    "question",
    "background",
    "definition",
    "nodes",
    "weighted",
    "seed",
    "hash",
    "from_nodes",
    "to_nodes",
];

fn compare(place: &Place, old: Option<&Value>, new: Option<&Value>, found: &mut Vec<Difference>) {
    match (old, new) {
        (Some(old), Some(new)) if old == new => {}
        (Some(Value::Object(old)), Some(Value::Object(new))) => {
            for (name, value) in old {
                compare(&place.field(name), Some(value), new.get(name), found);
            }
            for (name, value) in new.iter().filter(|(name, _)| !old.contains_key(*name)) {
                compare(&place.field(name), None, Some(value), found);
            }
        }
        (Some(Value::Array(old)), Some(Value::Array(new))) => lists(place, old, new, found),
        _ => found.push(Difference {
            // What goes or comes as a whole with the place of keys in it is a change of that.
            kind: match place.kind() {
                DifferenceKind::Numbers if old.into_iter().chain(new).any(holds_mapping) => DifferenceKind::Mapping,
                kind => kind,
            },
            place: place.shown.clone(),
            old: old.map(shown),
            new: new.map(shown),
        }),
    }
}

/// Whether fields about the place of keys stand anywhere below.
fn holds_mapping(value: &Value) -> bool {
    match value {
        Value::Object(fields) => {
            fields.iter().any(|(name, value)| MAPPING.contains(&name.as_str()) || holds_mapping(value))
        }
        Value::Array(list) => list.iter().any(holds_mapping),
        _ => false,
    }
}

fn lists(place: &Place, old: &[Value], new: &[Value], found: &mut Vec<Difference>) {
    let is_plain = |list: &[Value]| list.iter().all(|value| !value.is_object() && !value.is_array());
    if is_plain(old) && is_plain(new) {
        return found.push(plain_lists(place, old, new));
    }
    // Judgements stand in the order of the requirements, and their words are no names.
    let by_place = place.fields.last().is_some_and(|field| field == "judged");
    let known = if by_place { &[][..] } else { &NAMES[..] };
    let Some(fields) = known.iter().find(|fields| names(old, fields).is_some() && names(new, fields).is_some()) else {
        // Elements without names of their own are matched by their places.
        for at in 0..old.len().max(new.len()) {
            compare(&place.element(&at.to_string()), old.get(at), new.get(at), found);
        }
        return;
    };
    let (old_names, new_names) = (names(old, fields).unwrap_or_default(), names(new, fields).unwrap_or_default());
    for (name, value) in &old_names {
        membership(place, name, Some(value), new_names.get(name).copied(), found);
    }
    for (name, value) in new_names.iter().filter(|(name, _)| !old_names.contains_key(*name)) {
        membership(place, name, None, Some(value), found);
    }
}

/// Compares two elements of one name; one that is there once alone is one difference.
fn membership(place: &Place, name: &str, old: Option<&Value>, new: Option<&Value>, found: &mut Vec<Difference>) {
    let place = place.element(name);
    if old.is_some() && new.is_some() {
        return compare(&place, old, new, found);
    }
    let is_scheme = place.fields.last().is_some_and(|field| ["candidates", "rows", "paths"].contains(&field.as_str()));
    let is_scheme = is_scheme && old.or(new).is_some_and(|value| value.get("scheme").is_some());
    let there = |value: Option<&Value>| value.map(|_| "there".to_owned());
    found.push(Difference {
        // Which schemes there are is part of the question.
        kind: if is_scheme { DifferenceKind::Inputs } else { place.kind() },
        place: place.shown,
        old: there(old),
        new: there(new),
    });
}

/// The elements by the names that these fields give them, if all have one and no two share it.
fn names<'a>(list: &'a [Value], fields: &[&str]) -> Option<BTreeMap<String, &'a Value>> {
    let name = |value: &'a Value| {
        let object: &Map<String, Value> = value.as_object()?;
        let parts: Option<Vec<String>> = fields.iter().map(|field| object.get(*field).map(shown)).collect();
        Some((parts?.join(" > "), value))
    };
    let named: BTreeMap<String, &Value> = list.iter().map(name).collect::<Option<_>>()?;
    (named.len() == list.len()).then_some(named)
}

/// Lists of numbers and texts are one difference, since what follows from one key is seldom one number.
fn plain_lists(place: &Place, old: &[Value], new: &[Value]) -> Difference {
    let pairs = old.iter().zip(new).enumerate();
    let differing: Vec<(usize, (&Value, &Value))> = pairs.filter(|(_, (old, new))| old != new).collect();
    let (shown_old, shown_new, at) = match differing.first() {
        Some((at, (old, new))) => (shown(old), shown(new), format!("[{at}]")),
        None => (format!("{} entries", old.len()), format!("{} entries", new.len()), String::new()),
    };
    let more = match differing.len() {
        0 | 1 => String::new(),
        several => format!(" and {} more", several - 1),
    };
    Difference {
        kind: place.kind(),
        place: format!("{}{at}{more}", place.shown),
        old: Some(shown_old),
        new: Some(shown_new),
    }
}

/// A value in a line; a long one is cut.
fn shown(value: &Value) -> String {
    const LONGEST: usize = 80;
    let text = match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    if text.chars().count() <= LONGEST {
        return text;
    }
    let kept: String = text.chars().take(LONGEST - 1).collect();
    format!("{kept}…")
}

/// Differences as text: kind by kind, mapping changes first of what matters. As CSV it is one row a difference.
#[must_use]
pub fn diff_text(differences: &Differences, format: Format, width: Option<u16>) -> String {
    let cell = |value: &Option<String>| value.clone().unwrap_or_else(|| "–".to_owned());
    if format == Format::Csv {
        let mut table = Table::new(["kind", "place", "old", "new"]);
        for one in &differences.differences {
            let side = |value: &Option<String>| value.clone().unwrap_or_default();
            table.row([one.kind.word().to_owned(), one.place.clone(), side(&one.old), side(&one.new)]);
        }
        return table.render(Format::Csv, None);
    }
    let escape = if format == Format::Markdown { for_markdown } else { for_terminal };
    let mut text = escape(&in_words(differences)) + "\n";
    for kind in DifferenceKind::ALL {
        let of = || differences.differences.iter().filter(move |difference| difference.kind == kind);
        if of().next().is_none() {
            continue;
        }
        let mut table = Table::new(["where", "old", "new"]);
        for one in of() {
            table.row([one.place.clone(), cell(&one.old), cell(&one.new)]);
        }
        text.push_str(&format!("\n{}:\n\n{}", kind.heading(), table.render(format, width)));
    }
    text
}

/// What it all comes to, in a sentence.
fn in_words(differences: &Differences) -> String {
    let count = |kind: DifferenceKind| differences.differences.iter().filter(|one| one.kind == kind).count();
    let asked = match (differences.inputs_changed, differences.mapping_changed) {
        (true, true) => " What was asked changed too, so that other places may be the answer to another question.",
        (true, false) => " What was asked changed.",
        (false, _) => "",
    };
    let rest = count(DifferenceKind::Decision) + count(DifferenceKind::Numbers);
    match (differences.mapping_changed, rest, count(DifferenceKind::Times)) {
        (true, ..) => format!("The mapping changed: keys are placed elsewhere, or others move.{asked}"),
        (false, 0, 0) if !differences.inputs_changed => "Nothing changed.".to_owned(),
        (false, 0, 0) => format!("The mapping is the same.{asked}"),
        (false, 0, _) => format!("The mapping is the same; machine, program or times alone differ.{asked}"),
        (false, _, _) => format!("The mapping is the same; numbers or judgements differ.{asked}"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn result() -> Value {
        json!({
            "tool": "shardlab 0.1.0",
            "seed": 42,
            "keys": { "digest": "ab" },
            "rows": [
                { "scheme": "one", "balance": { "counts": [1, 2, 3], "p_value": 0.5 }, "lookup_ns": 3.0 },
                { "scheme": "other", "balance": { "counts": [2, 2, 2], "p_value": 0.7 }, "lookup_ns": 9.0 },
            ],
            "timings": { "machine": "a" },
        })
    }

    fn kinds(old: &Value, new: &Value) -> Vec<(DifferenceKind, String)> {
        let found = diff(old, new).unwrap();
        found.differences.into_iter().map(|one| (one.kind, one.place)).collect()
    }

    #[test]
    fn equal_results_have_no_differences_whatever_the_order_of_their_rows() {
        let mut turned = result();
        turned["rows"].as_array_mut().unwrap().reverse();
        assert_eq!(kinds(&result(), &turned), []);
    }

    #[test]
    fn a_moved_key_is_a_change_of_the_mapping() {
        let mut new = result();
        new["rows"][1]["balance"]["counts"] = json!([3, 1, 2]);
        let place = "rows[other].balance.counts[0] and 1 more".to_owned();
        assert_eq!(kinds(&result(), &new), [(DifferenceKind::Mapping, place)]);
        assert!(diff(&result(), &new).unwrap().mapping_changed);
    }

    #[test]
    fn a_row_that_is_measured_no_more_is_a_change_of_the_mapping() {
        let mut new = result();
        new["rows"][0] = json!({ "scheme": "one", "not_applicable": "no" });
        assert!(diff(&result(), &new).unwrap().mapping_changed);
        let done = json!({ "change": "x", "matrix": [{ "from_name": "a", "to_name": "b", "keys": 1 }] });
        let refused = json!({ "change": "x", "not_applicable": "no", "alternatives": [] });
        assert!(diff(&done, &refused).unwrap().mapping_changed);
    }

    #[test]
    fn times_and_machines_are_no_change_of_the_mapping() {
        let mut new = result();
        new["rows"][0]["lookup_ns"] = json!(4.0);
        new["timings"] = Value::Null;
        new["tool"] = json!("shardlab 0.2.0");
        let found = diff(&result(), &new).unwrap();
        assert!(!found.mapping_changed && !found.inputs_changed);
        assert!(found.differences.iter().all(|one| one.kind == DifferenceKind::Times), "{found:?}");
    }

    #[test]
    fn other_keys_and_other_schemes_are_other_questions() {
        let mut new = result();
        new["keys"]["digest"] = json!("cd");
        new["rows"].as_array_mut().unwrap().pop();
        assert_eq!(
            kinds(&result(), &new),
            [(DifferenceKind::Inputs, "keys.digest".to_owned()), (DifferenceKind::Inputs, "rows[other]".to_owned())]
        );
    }

    #[test]
    fn what_is_no_result_is_refused() {
        assert_eq!(diff(&json!([]), &result()), Err(DiffError::NoResult));
        assert_eq!(diff(&json!({ "a": 1 }), &result()), Err(DiffError::NoResult));
        let other = json!({ "change": "x", "matrix": [] });
        assert_eq!(diff(&result(), &other), Err(DiffError::OtherCommand { old: "a comparison", new: "a what-if" }));
        let mut renamed = result();
        renamed["rows"][0]["scheme"] = json!("x");
        renamed["rows"][1]["scheme"] = json!("y");
        assert_eq!(diff(&result(), &renamed), Err(DiffError::NothingInCommon));
        let newer = json!({ "candidates": [], "schema_version": 99 });
        assert!(matches!(diff(&newer, &newer), Err(DiffError::Version { .. })));
    }
}
