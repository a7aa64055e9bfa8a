use std::path::PathBuf;

use anyhow::bail;
use serde::Serialize;
use shardlab_core::rows::{Balance, Verdict};
use shardlab_harness::{Fair, balance, with_chance_peak};
use shardlab_report::{Format, Table, for_markdown, for_terminal, ratio};

use crate::counts::{self, Counts};
use crate::output::{TableFormat, print_json, print_text, terminal_width};

#[derive(Debug, clap::Args)]
#[command(after_help = "`GET _cat/shards` is taken as it is, as text with or without its header (?v) or as JSON \
                        (?format=json); primaries are judged, one verdict an index.\n\nExamples:\n  \
                        shardlab verdict --counts 58856,18389,22755\n  \
                        shardlab verdict --counts-file shards.txt --format json\n  \
                        curl -s localhost:9200/_cat/shards?v | shardlab verdict --counts-file -")]
#[command(group(clap::ArgGroup::new("source").required(true).args(["counts", "counts_file"])))]
pub(crate) struct Args {
    /// Keys per node, separated by commas
    #[arg(long, value_name = "LIST", allow_hyphen_values = true)]
    counts: Option<String>,
    /// File with numbers, or _cat/shards as text or JSON; "-" is stdin
    #[arg(long, value_name = "FILE")]
    counts_file: Option<PathBuf>,
    /// Form of the output
    #[arg(long, value_enum, default_value = "table")]
    format: TableFormat,
}

#[derive(Serialize)]
struct IndexVerdict<'a> {
    index: &'a str,
    #[serde(flatten)]
    balance: &'a Balance,
}

pub(crate) fn run(args: Args) -> anyhow::Result<()> {
    let all = match (&args.counts, &args.counts_file) {
        (Some(list), _) => vec![Counts { index: None, counts: counts::numbers(list, "--counts")? }],
        (None, Some(file)) => counts::read(file)?,
        (None, None) => bail!("give --counts LIST or --counts-file FILE"),
    };
    let judged: Vec<(Option<String>, Balance)> = all
        .iter()
        .map(|one| {
            let fair = Fair::Equal(one.counts.len());
            (one.index.clone(), with_chance_peak(balance(&one.counts, &fair, None, tested(&all)), &fair))
        })
        .collect();
    let Some(format) = args.format.as_table() else {
        let text = match judged.as_slice() {
            [(None, only)] => serde_json::to_string_pretty(only)?,
            all => {
                let verdicts: Vec<IndexVerdict<'_>> = all
                    .iter()
                    .map(|(index, balance)| IndexVerdict { index: index.as_deref().unwrap_or_default(), balance })
                    .collect();
                serde_json::to_string_pretty(&verdicts)?
            }
        };
        return print_json(&text);
    };
    let mut text = table(&judged, format).render(format, terminal_width());
    if format != Format::Csv {
        let escape = if format == Format::Markdown { for_markdown } else { for_terminal };
        for (index, balance) in &judged {
            let whose = index.as_deref().map(|index| format!("{}: ", escape(index)));
            text.push_str(&format!("\n{}{}\n", whose.unwrap_or_default(), in_words(balance)));
        }
    }
    print_text(&text, format)
}

/// How many distributions are really tested: one shard cannot be uneven, and too few keys are no test.
fn tested(all: &[Counts]) -> usize {
    let is_test = |one: &&Counts| one.counts.len() > 1 && one.counts.iter().sum::<u64>() >= 5 * one.counts.len() as u64;
    all.iter().filter(is_test).count()
}

fn table(judged: &[(Option<String>, Balance)], format: Format) -> Table {
    let headings = [
        "index",
        "nodes",
        "keys",
        "peak/avg",
        "chance peak",
        "min/avg",
        "cv",
        "chance cv",
        "chi-square",
        "p",
        "verdict",
    ];
    let mut table = Table::new(headings).with_numbers(1..10);
    for (index, balance) in judged {
        table.row([
            index.clone().unwrap_or_default(),
            balance.counts.len().to_string(),
            balance.counts.iter().map(|&count| u128::from(count)).sum::<u128>().to_string(),
            ratio(balance.peak_to_average),
            balance.chance_peak.as_ref().map_or_else(String::new, |peak| ratio(peak.mean)),
            ratio(balance.min_to_average),
            format!("{:.4}", balance.cv),
            format!("{:.4}", balance.noise_floor_cv),
            format!("{:.2}", balance.chi_square),
            // One node cannot be uneven, so nothing was tested. What a double cannot hold is not 0, but
            // programs want a number.
            if balance.counts.len() == 1 && format != Format::Csv {
                "–".to_owned()
            } else if balance.p_value > 0.0 || format == Format::Csv {
                format!("{:.2e}", balance.p_value)
            } else {
                "< 1e-300".to_owned()
            },
            balance.verdict.as_str().to_owned(),
        ]);
    }
    // Programs want the same columns every time.
    if format == Format::Csv { table } else { table.without_empty_columns() }
}

fn in_words(balance: &Balance) -> String {
    let freedom = balance.counts.len() - 1;
    if freedom == 0 {
        return "one shard holds everything; there is nothing to judge.".to_owned();
    }
    let sigma = balance.noise_floor_cv * balance.keys_per_node;
    let degrees = if freedom == 1 { "degree" } else { "degrees" };
    let mut words = match balance.verdict {
        Verdict::TooFewKeys => format!(
            "too few keys: {:.1} per node are expected, and below 5 nothing can be said about the spread.",
            balance.keys_per_node
        ),
        Verdict::Chance => format!(
            "chance: a fair hash spreads by ±{sigma:.0} keys per node, and chi-square {:.1} on {freedom} {degrees} of \
             freedom is no surprise.",
            balance.chi_square
        ),
        Verdict::Structural => format!(
            "structural: a fair hash would spread by ±{sigma:.0} keys per node; chi-square {:.0} on {freedom} {degrees} of \
             freedom is not chance. Look at the ids and the routing values.",
            balance.chi_square
        ),
    };
    if let Some(peak) = &balance.chance_peak {
        words.push_str(&format!(
            " By chance alone the fullest node holds {} times the mean on average, and more than {} times in one case of \
             a hundred.",
            ratio(peak.mean),
            ratio(peak.p99)
        ));
        if balance.verdict != Verdict::Structural && peak.even_probability >= 0.0001 {
            words.push_str(&format!(" Exactly the same everywhere has probability {:.4}.", peak.even_probability));
        }
    }
    let empty = balance.counts.iter().filter(|&&count| count == 0).count();
    if empty > 0
        && let Some(probability) = balance.empty_probability
    {
        words.push_str(&format!(
            " {empty} of {} nodes are empty; chance alone leaves at least one empty with probability {probability:.4}.",
            balance.counts.len()
        ));
    }
    words
}
