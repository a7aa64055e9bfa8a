//! Published crates against ours, as a table or as JSON.

use std::fmt::Write;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Context;
use serde_json::Value;

use crate::{machine, process};

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    Text,
    Json,
}

/// Measures and prints; exit code 1 when a target is missed by more than its spread.
pub(crate) fn run(root: &Path, format: Format, names: Option<&Path>) -> anyhow::Result<ExitCode> {
    let names = names
        .map(|path| path.canonicalize().with_context(|| format!("--names: cannot find {}", path.display())))
        .transpose()?;
    let description = machine::describe(root);
    let mut peers = measured(&process::measure(root)?, names.as_deref(), &[])?;
    peers["machine"] = description;
    match format {
        Format::Json => println!("{}", serde_json::to_string_pretty(&peers)?),
        Format::Text => print!("{}", text(&peers)),
    }
    Ok(if peers["missed"] == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The answer of the program that measures.
pub(crate) fn measured(program: &Path, names: Option<&Path>, environment: &[(&str, &str)]) -> anyhow::Result<Value> {
    let mut arguments = vec!["peers".to_owned()];
    arguments.extend(names.map(|path| format!("--names={}", path.display())));
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    process::json(program, &arguments, environment)
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or(f64::NAN)
}

fn words(value: &Value) -> &str {
    value.as_str().unwrap_or("?")
}

/// A Markdown table, which is legible on a terminal too.
pub(crate) fn text(peers: &Value) -> String {
    let mut text = String::new();
    let mut line = |words: String| {
        text.push_str(&words);
        text.push('\n');
    };
    line(format!(
        "Kernels: {}. Ids of mixed lengths: {}.",
        words(&peers["simd"]),
        words(&peers["ids_of_mixed_lengths"])
    ));
    line(format!(
        "Medians of {} interleaved rounds, {} where there is a target, in ns, quartiles of the rounds in brackets; rounds of the typical subject differ by {:.1} %.",
        peers["rounds"],
        peers["judged_rounds"],
        number(&peers["noise_fraction"]) * 100.0
    ));
    line(String::new());
    line(
        "| question | nodes | fastest published crate | ns | ours | ns | ratio (quartiles) | target | verdict |"
            .to_owned(),
    );
    line("|---|--:|---|--:|---|--:|--:|--:|---|".to_owned());
    for contest in list(&peers["contests"]) {
        let fastest = list(&contest["published"]).find(|crate_| crate_["name"] == contest["fastest"]);
        for ours in list(&contest["ours"]) {
            let way = match words(&ours["way"]) {
                "single" => "one key at a time",
                "many" => "`shard_many`",
                _ => "build",
            };
            line(format!(
                "| {} | {} | {} | {} | {way} | {} | {:.2} ({:.2} to {:.2}) | {} | {} |",
                words(&contest["question"]),
                contest["nodes"],
                words(&contest["fastest"]),
                fastest.map(|fastest| ns(number(&fastest["ns"]))).unwrap_or_default(),
                ns(number(&ours["ns"])),
                number(&ours["ratio"]),
                number(&ours["ratio_low"]),
                number(&ours["ratio_high"]),
                ours["target"].as_f64().map_or_else(|| "–".to_owned(), |target| format!("≥ {target}")),
                verdict(ours),
            ));
        }
    }
    line(String::new());
    line("| heap | nodes | bytes | bytes a cell | target | verdict |".to_owned());
    line("|---|--:|--:|--:|--:|---|".to_owned());
    for heap in list(&peers["heap"]) {
        line(format!(
            "| {} | {} | {} | {:.3} | ≤ {} | {} |",
            words(&heap["what"]),
            heap["nodes"],
            heap["heap_bytes"],
            number(&heap["bytes_a_cell"]),
            heap["at_most"],
            verdict(heap)
        ));
    }
    line(String::new());
    line("All published crates, and crates of schemes that are not here:".to_owned());
    line(String::new());
    line("| question | nodes | crate | ns (quartiles) |".to_owned());
    line("|---|--:|---|--:|".to_owned());
    let crates = list(&peers["contests"])
        .flat_map(|contest| list(&contest["published"]).map(move |time| (words(&contest["question"]), time)))
        .chain(list(&peers["context"]).map(|time| ("another scheme", time)));
    for (question, time) in crates {
        line(format!(
            "| {question} | {} | {} | {} ({} to {}) |",
            time["nodes"],
            words(&time["name"]),
            ns(number(&time["ns"])),
            ns(number(&time["ns_low"])),
            ns(number(&time["ns_high"]))
        ));
    }
    line(String::new());
    line("What is unequal:".to_owned());
    line(String::new());
    let mut said: Vec<&str> = Vec::new();
    for contest in list(&peers["contests"]) {
        let question = words(&contest["question"]);
        if !said.contains(&question) {
            said.push(question);
            line(format!("* {question}: {}.", words(&contest["comparability"])));
        }
    }
    line(String::new());
    line(match peers["missed"].as_u64() {
        Some(0) => "No target is missed by more than its spread.".to_owned(),
        missed => format!("{} targets are missed by more than their spread.", missed.unwrap_or_default()),
    });
    text
}

fn verdict(result: &Value) -> &'static str {
    match words(&result["verdict"]) {
        "met" => "met",
        "within_spread" => "below, within the spread",
        "missed" => "MISSED",
        _ => "not judged",
    }
}

/// A time with three digits, in nanoseconds up to a thousand of them and beyond in whole ones.
pub(crate) fn ns(value: f64) -> String {
    let mut text = String::new();
    let decimals = if value < 10.0 { 2 } else { usize::from(value < 1000.0) };
    // Writing to a string cannot fail.
    let _ = write!(text, "{value:.decimals$}");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missed_target_is_seen_in_the_table() {
        let peers = serde_json::json!({
            "simd": "portable", "rounds": 9, "judged_rounds": 30, "noise_fraction": 0.012, "missed": 1,
            "ids_of_mixed_lengths": "synthetic",
            "contests": [{
                "question": "jump", "nodes": 1000, "fastest": "jumpch 2.0.0", "comparability": "the same function",
                "published": [{"name": "jumpch 2.0.0", "nodes": 1000, "ns": 44.04, "ns_low": 43.0, "ns_high": 45.0}],
                "ours": [
                    {"way": "single", "ns": 43.0, "ratio": 1.02, "ratio_low": 1.0, "ratio_high": 1.1, "target": 1.0, "verdict": "met"},
                    {"way": "many", "ns": 22.0, "ratio": 2.0, "ratio_low": 1.9, "ratio_high": 2.1, "target": 5.0, "verdict": "missed"},
                ],
            }],
            "context": [],
            "heap": [{"what": "slots", "nodes": 10, "heap_bytes": 200, "bytes_a_cell": 2.0, "at_most": 2.0, "verdict": "met"}],
        });
        let text = text(&peers);
        assert!(
            text.contains(
                "| jump | 1000 | jumpch 2.0.0 | 44.0 | `shard_many` | 22.0 | 2.00 (1.90 to 2.10) | ≥ 5 | MISSED |"
            ),
            "{text}"
        );
        assert!(text.contains("≥ 1.0 | met |") || text.contains("≥ 1 | met |"), "{text}");
        assert!(text.ends_with("1 targets are missed by more than their spread.\n"), "{text}");
    }
}
