use std::path::PathBuf;

use anyhow::bail;
use serde::Serialize;
use shardlab_core::Members;
use shardlab_core::rows::{Balance, Verdict, six_digits};
use shardlab_harness::{Fair, balance, with_chance_peak};
use shardlab_report::{Format, Table, for_markdown, for_terminal, ratio};
use shardlab_study::peaks_of_names;

use crate::counts::{self, Counts};
use crate::output::{TableFormat, print_json, print_text, terminal_width};

#[derive(Debug, clap::Args)]
#[command(after_help = "`GET _cat/shards` is taken as it is, as text with or without its header (?v) or as JSON \
                        (?format=json); primaries are judged, one verdict an index.\n\nExamples:\n  \
                        shardlab verdict --counts 58856,18389,22755\n  \
                        shardlab verdict --counts 58856,18389,22755 --scheme ring:vnodes=20\n  \
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
    /// The scheme behind the counts, such as ring:vnodes=20: says how much of a skew its table makes by
    /// itself
    #[arg(long, value_name = "SPEC")]
    scheme: Option<String>,
    /// Form of the output
    #[arg(long, value_enum, default_value = "table")]
    format: TableFormat,
}

#[derive(Serialize)]
struct IndexVerdict<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    index: Option<&'a str>,
    #[serde(flatten)]
    balance: &'a Balance,
    #[serde(skip_serializing_if = "Option::is_none")]
    scheme_peak: Option<&'a SchemePeak>,
}

/// What the table of a scheme makes of a perfect hash, over nodes with other names.
#[derive(Serialize)]
struct SchemePeak {
    scheme: String,
    draws: usize,
    mean: f64,
    p95: f64,
    p99: f64,
    largest: f64,
    /// The part of the draws whose peak is at least that of the counts.
    as_high_fraction: f64,
}

/// What the tables of a scheme may take.
const MEMORY: u64 = 2 << 30;

/// Memberships with other names, and the seed of their names.
const DRAWS: u32 = 1000;
const SEED: u64 = 42;

impl SchemePeak {
    fn of(spec: &str, balance: &Balance) -> anyhow::Result<Self> {
        let parsed = shardlab_schemes::parse(spec)?;
        if parsed.membership.is_some() {
            bail!("--scheme {spec:?}: the counts say how many nodes there are; leave the membership out");
        }
        let members = Members::dense(u32::try_from(balance.counts.len())?)?;
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let peaks = peaks_of_names(&*parsed.scheme, &members, DRAWS, SEED, threads, MEMORY)?;
        // The smallest that at least so many of a hundred do not exceed.
        let at = |percent: usize| peaks[(peaks.len() * percent).div_ceil(100).saturating_sub(1)];
        let as_high = peaks.iter().filter(|&&peak| peak >= balance.peak_to_average).count();
        Ok(Self {
            scheme: parsed.scheme.spec(),
            draws: peaks.len(),
            mean: six_digits(peaks.iter().sum::<f64>() / peaks.len() as f64),
            p95: six_digits(at(95)),
            p99: six_digits(at(99)),
            largest: six_digits(at(100)),
            as_high_fraction: six_digits(as_high as f64 / peaks.len() as f64),
        })
    }

    fn in_words(&self, balance: &Balance) -> String {
        let Self { scheme, draws, mean, p95, p99, largest, as_high_fraction } = self;
        let table = if *draws == 1 {
            format!(" The table of {scheme} by itself gives the fullest node {} times the mean", ratio(*mean))
        } else {
            format!(
                " The table of {scheme} by itself gives the fullest node {} times the mean on average over {draws} sets \
                 of node names, {} in 95 % and {} in 99 % of them",
                ratio(*mean),
                ratio(*p95),
                ratio(*p99)
            )
        };
        let measured = ratio(balance.peak_to_average);
        let beyond = balance.chance_peak.as_ref().map_or(1.0, |peak| peak.p99);
        let verdict = if balance.peak_to_average <= *largest {
            if *as_high_fraction >= 0.01 {
                format!(
                    "; {:.1} % are at least as uneven as {measured}, so the table explains it.",
                    100.0 * as_high_fraction
                )
            } else {
                format!(
                    "; only {:.1} % are as uneven as {measured}: look at the hash of its points too.",
                    100.0 * as_high_fraction
                )
            }
        } else if balance.peak_to_average > largest * beyond {
            format!(
                ", and {} at most: {measured} is worse than the table explains. Look at how points, keys and ids are hashed.",
                ratio(*largest)
            )
        } else {
            format!(", and {} at most; with chance on top that explains {measured}.", ratio(*largest))
        };
        table + &verdict
    }
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
    let of_scheme = |(_, balance): &(_, Balance)| args.scheme.as_deref().map(|spec| SchemePeak::of(spec, balance));
    let schemes: Vec<Option<SchemePeak>> =
        judged.iter().map(|one| of_scheme(one).transpose()).collect::<anyhow::Result<_>>()?;
    let Some(format) = args.format.as_table() else {
        let verdicts: Vec<IndexVerdict<'_>> = judged
            .iter()
            .zip(&schemes)
            .map(|((index, balance), scheme)| IndexVerdict {
                index: index.as_deref(),
                balance,
                scheme_peak: scheme.as_ref(),
            })
            .collect();
        let text = match verdicts.as_slice() {
            [only] if only.index.is_none() => serde_json::to_string_pretty(only)?,
            all => serde_json::to_string_pretty(all)?,
        };
        return print_json(&text);
    };
    let mut text = table(&judged, format).render(format, terminal_width());
    if format != Format::Csv {
        let escape = if format == Format::Markdown { for_markdown } else { for_terminal };
        for ((index, balance), scheme) in judged.iter().zip(&schemes) {
            let whose = index.as_deref().map(|index| format!("{}: ", escape(index)));
            let scheme = scheme.as_ref().map(|scheme| scheme.in_words(balance));
            text.push_str(&format!(
                "\n{}{}{}\n",
                whose.unwrap_or_default(),
                in_words(balance),
                escape(&scheme.unwrap_or_default())
            ));
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
