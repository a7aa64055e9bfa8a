//! Draws how cost grows: reads a `Scaling` as JSON and prints the picture of lookups or of cost as SVG.
//!
//! `growth lookup < scaling.json > lookup-growth.svg`; `cargo xtask report` calls it for the newest record.

use std::process::ExitCode;

use shardlab_core::rows::Scaling;
use shardlab_report::{cost_growth_chart, lookup_growth_chart};

fn main() -> ExitCode {
    let drawn = std::env::args().nth(1).ok_or_else(|| "say what to draw: lookup or cost".to_owned()).and_then(|what| {
        let scaling: Scaling = serde_json::from_reader(std::io::stdin().lock())
            .map_err(|error| format!("standard input is no JSON of a scaling: {error}"))?;
        match what.as_str() {
            "lookup" => lookup_growth_chart(&scaling).map_err(|error| error.to_string()),
            "cost" => cost_growth_chart(&scaling).map_err(|error| error.to_string()),
            _ => Err(format!("{what:?} is nothing to draw; lookup and cost are")),
        }
    });
    match drawn {
        Ok(picture) => {
            print!("{picture}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}
