use serde_json::json;
use shardlab_core::{Disruption, Resizing, Scheme};
use shardlab_report::{Format, Table};

use crate::output::{TableFormat, print, print_json, print_text, terminal_width};

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  shardlab schemes\n  shardlab schemes --format json")]
pub(crate) struct Args {
    /// Form of the output
    #[arg(long, value_enum, default_value = "table")]
    format: TableFormat,
}

pub(crate) fn run(args: Args) -> anyhow::Result<()> {
    let schemes = shardlab_schemes::all();
    match args.format.as_table() {
        None => print_json(&serde_json::to_string_pretty(&as_json(&schemes))?),
        Some(Format::Csv) => print(&promises(&schemes, true).render(Format::Csv, None)),
        Some(format) => {
            let width = terminal_width();
            let (promises, options) = (promises(&schemes, false), options(&schemes));
            let mut text = promises.render(format, width) + "\n" + &options.render(format, width) + "\n";
            for scheme in &schemes {
                let about = scheme.about();
                text.push_str(&format!(
                    "{}: {}.\n  Good for {}.\n  Bad at {}.\n  Source: {}.\n",
                    scheme.name(),
                    about.summary,
                    about.good_for,
                    about.bad_at,
                    scheme.promises().citation
                ));
            }
            print_text(&text, format)
        }
    }
}

const fn resizing(scheme: Resizing) -> &'static str {
    match scheme {
        Resizing::Any => "any node",
        Resizing::TailOnly => "the last node",
        Resizing::Factors => "whole factors",
    }
}

const fn disruption(promise: Disruption) -> &'static str {
    match promise {
        Disruption::None => "none",
        Disruption::Near => "near none",
        Disruption::Unbounded => "unbounded",
    }
}

fn promises(schemes: &[Box<dyn Scheme>], sources: bool) -> Table {
    let mut headings = vec!["scheme", "changes by", "disruption", "weights", "order of list", "lookup", "heap bytes"];
    if sources {
        headings.extend(["summary", "good for", "bad at", "source"]);
    }
    let mut table = Table::new(headings);
    for scheme in schemes {
        let (promises, about) = (scheme.promises(), scheme.about());
        let mut cells = vec![
            scheme.name().to_owned(),
            resizing(promises.resizing).to_owned(),
            disruption(promises.disruption).to_owned(),
            if promises.weights { "yes" } else { "no" }.to_owned(),
            if promises.order_free { "never matters" } else { "is the numbering" }.to_owned(),
            about.lookup_cost.to_owned(),
            about.heap_cost.to_owned(),
        ];
        if sources {
            cells.extend([about.summary, about.good_for, about.bad_at, promises.citation].map(str::to_owned));
        }
        table.row(cells);
    }
    table
}

fn options(schemes: &[Box<dyn Scheme>]) -> Table {
    let mut table = Table::new(["option", "default", "meaning"]);
    for scheme in schemes {
        for option in scheme.about().options {
            table.row([
                format!("{}:{}=", scheme.name(), option.name),
                option.default.to_owned(),
                option.meaning.to_owned(),
            ]);
        }
    }
    table
}

fn as_json(schemes: &[Box<dyn Scheme>]) -> serde_json::Value {
    let rows = schemes.iter().map(|scheme| {
        let (promises, about) = (scheme.promises(), scheme.about());
        let options = about
            .options
            .iter()
            .map(|option| json!({ "name": option.name, "default": option.default, "meaning": option.meaning }));
        json!({
            "scheme": scheme.name(),
            "default_spec": scheme.spec(),
            "summary": about.summary,
            "good_for": about.good_for,
            "bad_at": about.bad_at,
            "resizing": resizing(promises.resizing),
            "disruption": disruption(promises.disruption),
            "weights": promises.weights,
            "order_free": promises.order_free,
            "lookup_cost": about.lookup_cost,
            "lookup_growth": about.lookup_growth.as_str(),
            "heap_cost": about.heap_cost,
            "options": options.collect::<Vec<_>>(),
            "citation": promises.citation,
        })
    });
    json!({ "schemes": rows.collect::<Vec<_>>() })
}
