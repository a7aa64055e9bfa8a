use shardlab_core::rows::{Removal, Removals};

use crate::frame::{dash, escape_of, footer, of_keys};
use crate::table::{Format, Table};
use shardlab_core::rows::{percent, ratio};

/// What each single removal would cost, with the mean and the worst below.
#[must_use]
pub fn removals_text(removals: &Removals, format: Format, width: Option<u16>) -> String {
    let mut table = Table::new(HEADINGS).with_numbers([1, 2, 3, 5, 7]);
    for row in &removals.rows {
        table.row(cells(row));
    }
    if format == Format::Csv {
        return removals_csv(std::slice::from_ref(removals));
    }
    let table = table.render(format, width);
    let escape = escape_of(format);
    let growth = match (removals.worst_growth, &removals.worst_growth_node) {
        (Some(growth), Some(node)) => {
            format!("- A survivor grows by {} at worst (without {}).\n", percent(growth), escape(node))
        }
        _ => String::new(),
    };
    format!(
        "{}\n\n{table}\nReading:\n- The loss of one node moves {} on average and {} at worst ({}).\n- The fullest \
         survivor then holds {} times its fair load on average and {} times at worst (without {}).\n{growth}\n{}",
        escape(&format!("{}; {}; {}", removals.scheme, removals.change, of_keys(&removals.keys))),
        percent(removals.mean_moved_fraction),
        percent(removals.worst_moved_fraction),
        escape(&removals.worst_moved_node),
        ratio(removals.mean_peak_after),
        ratio(removals.worst_peak_after),
        escape(&removals.worst_peak_node),
        footer(&removals.tool, removals.seed, &removals.keys)
    )
}

/// Removals as comma-separated values: one table, whose first column says what is done about each loss.
#[must_use]
pub fn removals_csv(studied: &[Removals]) -> String {
    let mut table = Table::new(["change"].into_iter().chain(HEADINGS));
    for removals in studied {
        for row in &removals.rows {
            table.row(std::iter::once(removals.change.clone()).chain(cells(row)));
        }
    }
    table.render(Format::Csv, None)
}

const HEADINGS: [&str; 8] =
    ["node lost", "moved", "needless", "peak after", "largest heir", "inherits", "grows most", "by"];

fn cells(row: &Removal) -> [String; 8] {
    [
        row.node_name.clone(),
        percent(row.moved_fraction),
        percent(row.excess_fraction),
        ratio(row.peak_after),
        row.heir.clone(),
        percent(row.heir_fraction),
        row.largest_growth_node.clone().unwrap_or_else(dash),
        row.largest_growth.map_or_else(dash, percent),
    ]
}
