use memchr::memchr3;

use super::ReadOptions;
use super::csv::Rows;
use super::json::{DEFAULT_ID, DEFAULT_ROUTING};
use crate::{HeaderFault, shown};

/// The columns of a CSV file that are read: the id first, then those that may hold the routing value,
/// then the weight, then the requests.
pub(super) struct Columns {
    pub(super) wanted: Vec<Column>,
    /// How many columns the header has.
    pub(super) count: usize,
}

/// A column's place, and its name as it is shown.
pub(super) struct Column {
    pub(super) index: usize,
    pub(super) shown: String,
}

impl Columns {
    /// Finds the wanted columns in a header that was split.
    pub(super) fn of(rows: &Rows, header: &[u8], options: &ReadOptions) -> Result<Self, HeaderFault> {
        let find = |name: &str| {
            let mut places = (0..rows.len()).filter(|&index| rows.get(header, index) == name.as_bytes());
            let Some(index) = places.next() else { return Ok(None) };
            let shown = shown::short(name.as_bytes());
            match places.next() {
                None => Ok(Some(Column { index, shown })),
                Some(second) => Err(HeaderFault::Doubled { column: shown, first: index + 1, second: second + 1 }),
            }
        };
        let need = |name: &str, flag: &str| {
            find(name)?.ok_or_else(|| HeaderFault::Missing {
                column: shown::short(name.as_bytes()),
                present: present(rows, header, name, flag),
            })
        };
        // A routing column that is passed over for its spelling would place every document by its id.
        let looks_like = |name: &[u8], wanted: &str| {
            name != wanted.as_bytes() && name.trim_ascii().eq_ignore_ascii_case(wanted.as_bytes())
        };
        if options.routing_field.is_none() {
            for wanted in DEFAULT_ROUTING {
                if let Some(name) =
                    (0..rows.len()).map(|index| rows.get(header, index)).find(|name| looks_like(name, wanted))
                {
                    return Err(HeaderFault::Misspelled { column: shown::short(name), wanted });
                }
            }
        }
        let mut wanted = vec![need(options.id_field.as_deref().unwrap_or(DEFAULT_ID), "--id-field")?];
        match &options.routing_field {
            Some(name) => wanted.push(need(name, "--routing-field")?),
            None => {
                for name in DEFAULT_ROUTING {
                    wanted.extend(find(name)?);
                }
            }
        }
        if let Some(name) = &options.weight_field {
            wanted.push(need(name, "--weight-field")?);
        }
        if let Some(name) = &options.requests_field {
            wanted.push(need(name, "--requests-field")?);
        }
        Ok(Self { wanted, count: rows.len() })
    }
}

/// The columns there are, and what to say to use one.
fn present(rows: &Rows, header: &[u8], wanted: &str, flag: &str) -> String {
    let names = (0..rows.len()).map(|index| rows.get(header, index));
    let mut text = shown::listed(names.clone());
    if rows.len() == 1 && memchr3(b';', b'\t', b'|', header).is_some() {
        text.push_str("; that is one column, since columns are parted by commas");
    } else if let Some(name) = shown::misspelled(names.clone(), wanted.as_bytes()) {
        text.push_str(&format!("; names are taken letter by letter: {flag} \"{}\"", shown::short(name)));
    } else if flag != "--id-field" {
        text.push_str(&format!("; name one with {flag}"));
    } else if let Some(name) = shown::likely_id(names) {
        text.push_str(&format!("; hint: --id-field {}", shown::short(name)));
    }
    text
}
