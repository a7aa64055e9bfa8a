//! Findings about files that were read one key a line and look like something else.

use shardlab_core::rows::{Finding, Severity};

use super::super::numbers::Numbers;
use super::super::texts::shown;
use super::super::values::Values;
use super::finding;

/// Below so many lines a common shape may be chance.
const ENOUGH: usize = 3;

/// What parts the columns of tables, and its name.
const SEPARATORS: [(u8, &str); 3] = [(b',', "commas"), (b';', "semicolons"), (b'\t', "tabs")];

/// What whole lines look like that were each taken for a key.
pub(in super::super) fn found(values: &Values, numbers: Option<&Numbers>) -> Option<Finding> {
    if values.are_keys() || values.len() < ENOUGH {
        return None;
    }
    json(values).or_else(|| columns(values)).or_else(|| header(values, numbers))
}

fn all(values: &Values, from: usize, is: impl Fn(&[u8]) -> bool) -> bool {
    (from..values.len()).all(|value| is(values.text(value)))
}

fn json(values: &Values) -> Option<Finding> {
    let is_object =
        |text: &[u8]| text.starts_with(b"{") && text.trim_ascii_end().ends_with(b"}") && text.contains(&b'"');
    all(values, 0, is_object).then(|| {
        finding(
            "looks_like_json",
            Severity::Harmful,
            format!("every line is a JSON object, and was taken as one key, such as {:?}", shown(values.text(0))),
            "read the fields: --keys-format ndjson --id-field NAME",
        )
    })
}

/// How many separators stand outside quotes.
fn separators(text: &[u8], separator: u8) -> usize {
    let mut quoted = false;
    text.iter()
        .filter(|&&byte| {
            quoted ^= byte == b'"';
            byte == separator && !quoted
        })
        .count()
}

fn fields(text: &[u8], separator: u8) -> impl Iterator<Item = &[u8]> {
    text.split(move |&byte| byte == separator).map(<[u8]>::trim_ascii)
}

/// A word that names a column and is no value: it begins with a letter and has no digit in front.
fn is_name(field: &[u8]) -> bool {
    let field = field.strip_prefix(b"\"").and_then(|field| field.strip_suffix(b"\"")).unwrap_or(field);
    let begins = field.first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_' || *byte == b'@');
    begins
        && field.len() <= 64
        && field
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b' ' | b'@' | b'/'))
}

/// A name that people give to ids and routing values.
fn is_id_name(field: &[u8]) -> bool {
    let name = field.to_ascii_lowercase();
    let name = name.strip_prefix(b"\"").and_then(|name| name.strip_suffix(b"\"")).unwrap_or(&name);
    const NAMES: [&[u8]; 12] =
        [b"id", b"_id", b"ids", b"key", b"keys", b"_key", b"uid", b"uuid", b"guid", b"routing", b"_routing", b"docid"];
    NAMES.contains(&name) || name.ends_with(b"_id") || name.ends_with(b" id") || name.ends_with(b"-id")
}

fn columns(values: &Values) -> Option<Finding> {
    let (separator, word) = SEPARATORS.into_iter().find(|&(separator, _)| {
        let count = separators(values.text(0), separator);
        count > 0 && all(values, 1, |text| separators(text, separator) == count)
    })?;
    let first: Vec<&[u8]> = fields(values.text(0), separator).collect();
    // Names stand above values: where some column has a number or a date in every row below its name,
    // or a name that ids have.
    let rows = (1..values.len()).take(1000);
    let no_name_below = |column: usize| {
        rows.clone().all(|value| fields(values.text(value), separator).nth(column).is_some_and(|field| !is_name(field)))
    };
    let is_header = first.iter().all(|field| is_name(field))
        && (first.iter().any(|field| is_id_name(field)) || (0..first.len()).any(no_name_below));
    let convert = if separator == b',' { "" } else { " (after parting the columns by commas)" };
    let count = first.len();
    Some(if is_header {
        let id = first.iter().find(|field| is_id_name(field)).or(first.first()).copied().unwrap_or_default();
        finding(
            "looks_like_columns",
            Severity::Harmful,
            format!(
                "every line has {count} columns parted by {word} and the first names them ({:?}), but whole lines were \
                 taken as keys, the header among them",
                shown(values.text(0))
            ),
            &format!("read the column{convert}: --keys-format csv --id-field {:?}", shown(id)),
        )
    } else {
        finding(
            "looks_like_columns",
            Severity::Watch,
            format!(
                "every line has {count} columns parted by {word}, and whole lines were taken as keys, such as {:?}",
                shown(values.text(0))
            ),
            &format!(
                "if these are rows, give them a header{convert} and read one column: --keys-format csv --id-field NAME; if \
                 ids are made like this, nothing"
            ),
        )
    })
}

/// A first line that is no value like the others.
fn header(values: &Values, numbers: Option<&Numbers>) -> Option<Finding> {
    let first = values.text(0);
    if values.rows(0) > 1 || first.is_empty() {
        return None;
    }
    let others_are_numbers =
        numbers.is_some_and(|numbers| numbers.facts.count + 1 == numbers.facts.of) && values.number(0).is_none();
    let named = is_id_name(first) && all(values, 1, |text| !is_name(text) || text.len() > 12);
    let name = shown(first);
    if !others_are_numbers && !named {
        return None;
    }
    let what = if others_are_numbers {
        format!("all values are numbers but the first ({name:?}), so that none was studied as a number")
    } else {
        format!("the first line ({name:?}) reads like the name of a column and was taken as a key")
    };
    Some(finding(
        "first_line_differs",
        Severity::Watch,
        what,
        &format!("if it is a header, leave it out, or read the file as a table: --keys-format csv --id-field {name:?}"),
    ))
}
