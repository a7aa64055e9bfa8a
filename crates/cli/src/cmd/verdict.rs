use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use serde::Serialize;
use shardlab_core::rows::{Balance, Verdict};
use shardlab_harness::{Fair, balance};
use shardlab_report::{Format, Table, for_markdown, for_terminal, ratio};

use crate::output::{TableFormat, print, print_json, terminal_width};

#[derive(Debug, clap::Args)]
#[command(after_help = "The text of `GET _cat/shards` is taken as it is, with or without its header (?v); primaries \
                        are judged, one verdict an index.\n\nExamples:\n  \
                        shardlab verdict --counts 58856,18389,22755\n  \
                        shardlab verdict --counts-file shards.txt --format json\n  \
                        curl -s localhost:9200/_cat/shards?v | shardlab verdict --counts-file -")]
#[command(group(clap::ArgGroup::new("source").required(true).args(["counts", "counts_file"])))]
pub(crate) struct Args {
    /// Keys per node, separated by commas
    #[arg(long, value_name = "LIST", allow_hyphen_values = true)]
    counts: Option<String>,
    /// File with numbers, or the text of _cat/shards; "-" is stdin
    #[arg(long, value_name = "FILE")]
    counts_file: Option<PathBuf>,
    /// Form of the output
    #[arg(long, value_enum, default_value = "table")]
    format: TableFormat,
}

/// Counts of one distribution, with the index that they belong to where there is one.
struct Counts {
    index: Option<String>,
    counts: Vec<u64>,
}

#[derive(Serialize)]
struct IndexVerdict<'a> {
    index: &'a str,
    #[serde(flatten)]
    balance: &'a Balance,
}

pub(crate) fn run(args: Args) -> anyhow::Result<()> {
    let all = match (&args.counts, &args.counts_file) {
        (Some(list), _) => vec![Counts { index: None, counts: numbers(list, "--counts")? }],
        (None, Some(file)) => read(file)?,
        (None, None) => bail!("give --counts LIST or --counts-file FILE"),
    };
    let judged: Vec<(Option<String>, Balance)> = all
        .iter()
        .map(|one| (one.index.clone(), balance(&one.counts, &Fair::Equal(one.counts.len()), None, all.len())))
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
    print(&text)
}

fn table(judged: &[(Option<String>, Balance)], format: Format) -> Table {
    let headings = ["index", "nodes", "keys", "peak/avg", "min/avg", "cv", "chance cv", "chi-square", "p", "verdict"];
    let mut table = Table::new(headings).with_numbers(1..9);
    for (index, balance) in judged {
        table.row([
            index.clone().unwrap_or_default(),
            balance.counts.len().to_string(),
            balance.counts.iter().map(|&count| u128::from(count)).sum::<u128>().to_string(),
            ratio(balance.peak_to_average),
            ratio(balance.min_to_average),
            format!("{:.4}", balance.cv),
            format!("{:.4}", balance.noise_floor_cv),
            format!("{:.2}", balance.chi_square),
            // What a double cannot hold is not 0, but programs want a number.
            if balance.p_value > 0.0 || format == Format::Csv {
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
    let sigma = balance.noise_floor_cv * balance.keys_per_node;
    let mut words = match balance.verdict {
        Verdict::TooFewKeys => format!(
            "too few keys: {:.1} per node are expected, and below 5 nothing can be said about the spread.",
            balance.keys_per_node
        ),
        Verdict::Chance => format!(
            "chance: a fair hash spreads by ±{sigma:.0} keys per node, and chi-square {:.1} on {freedom} degrees of \
             freedom is no surprise.",
            balance.chi_square
        ),
        Verdict::Structural => format!(
            "structural: a fair hash would spread by ±{sigma:.0} keys per node; chi-square {:.0} on {freedom} degrees of \
             freedom is not chance. Look at the ids and the routing values.",
            balance.chi_square
        ),
    };
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

/// Reads whole numbers that are separated by commas, white space or line feeds.
fn numbers(text: &str, place: &str) -> anyhow::Result<Vec<u64>> {
    let mut counts = Vec::new();
    let mut total: u64 = 0;
    for (line, row) in (1..).zip(text.lines()) {
        // A comma may end a line, but between two of them somebody forgot a count.
        let list = row.trim().trim_end_matches(',');
        if list.split(',').any(|part| part.trim().is_empty()) && !list.is_empty() {
            bail!("{place}:{line}: a count is missing beside a comma; an empty shard counts 0");
        }
        for word in list.split(|letter: char| letter == ',' || letter.is_whitespace()).filter(|word| !word.is_empty()) {
            let count = whole(word).with_context(|| format!("{place}:{line}: {word:?}"))?;
            total = total
                .checked_add(count)
                .with_context(|| format!("{place}:{line}: the counts add up to 2^64 or more"))?;
            counts.push(count);
        }
    }
    if counts.is_empty() {
        bail!("{place}: no counts; give whole numbers such as 58856,18389,22755");
    }
    Ok(counts)
}

fn whole(word: &str) -> anyhow::Result<u64> {
    match word.parse() {
        Ok(count) if word.bytes().all(|byte| byte.is_ascii_digit()) => Ok(count),
        _ => bail!("a count is a whole number from 0 to 18446744073709551615"),
    }
}

fn read(path: &Path) -> anyhow::Result<Vec<Counts>> {
    let stdin = path == Path::new("-");
    let place = if stdin { "<stdin>".to_owned() } else { path.display().to_string() };
    let mut bytes = Vec::new();
    let read = if stdin {
        std::io::stdin().lock().read_to_end(&mut bytes)
    } else {
        std::fs::File::open(path).and_then(|mut file| file.read_to_end(&mut bytes))
    };
    read.with_context(|| format!("cannot read {place}"))?;
    let text = std::str::from_utf8(bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&bytes))
        .with_context(|| format!("{place}: not text"))?;
    let first = text.split(|letter: char| letter == ',' || letter.is_whitespace()).find(|word| !word.is_empty());
    // A table of shards begins with the word "index" or an index name; names are never numbers alone
    // beside other columns, so one number decides.
    let is_table =
        first.is_some_and(|word| whole(word).is_err()) && text.lines().any(|line| line.split_whitespace().count() > 2);
    if is_table { cat_shards(text, &place) } else { Ok(vec![Counts { index: None, counts: numbers(text, &place)? }]) }
}

/// Where the columns of `_cat/shards` stand.
struct Columns {
    index: usize,
    shard: usize,
    prirep: usize,
    docs: usize,
}

impl Columns {
    /// Without a header the columns are `index shard prirep state docs …`.
    const DEFAULT: Self = Self { index: 0, shard: 1, prirep: 2, docs: 4 };

    fn of_header(line: &str, place: &str) -> anyhow::Result<Self> {
        let find = |names: &[&str]| {
            line.split_whitespace().position(|word| names.contains(&word)).with_context(|| {
                format!("{place}:1: the header has no column {:?}; ask for h=index,shard,prirep,state,docs", names[0])
            })
        };
        Ok(Self {
            index: find(&["index", "i"])?,
            shard: find(&["shard", "s", "sh"])?,
            prirep: find(&["prirep", "p", "pr"])?,
            docs: find(&["docs", "d", "dc"])?,
        })
    }
}

/// Reads the text of `_cat/shards`: documents of the primaries, by index.
fn cat_shards(text: &str, place: &str) -> anyhow::Result<Vec<Counts>> {
    let mut columns = Columns::DEFAULT;
    let mut indices: Vec<(String, Vec<(u32, u64)>)> = Vec::new();
    for (line, row) in (1..).zip(text.lines()) {
        let fields: Vec<&str> = row.split_whitespace().collect();
        if fields.is_empty() {
            continue;
        }
        if line == 1 && fields.contains(&"prirep") {
            columns = Columns::of_header(row, place)?;
            continue;
        }
        let field = |column: usize, what: &str| {
            fields
                .get(column)
                .copied()
                .with_context(|| format!("{place}:{line}: {what} is missing (an unassigned shard has none)"))
        };
        match field(columns.prirep, "prirep")? {
            "p" => {}
            "r" => continue,
            other => bail!("{place}:{line}: prirep: {other:?} is neither p nor r; is this the text of _cat/shards?"),
        }
        let shard = field(columns.shard, "shard")?;
        let shard: u32 = shard.parse().with_context(|| format!("{place}:{line}: shard: {shard:?} is no number"))?;
        let docs = field(columns.docs, "docs")?;
        let docs = whole(docs).with_context(|| format!("{place}:{line}: docs: {docs:?}"))?;
        let index = field(columns.index, "index")?;
        match indices.iter_mut().find(|(name, _)| name == index) {
            Some((_, shards)) => shards.push((shard, docs)),
            None => indices.push((index.to_owned(), vec![(shard, docs)])),
        }
    }
    if indices.is_empty() {
        bail!("{place}: no primary shard; is this the text of _cat/shards?");
    }
    let complete = |(index, mut shards): (String, Vec<(u32, u64)>)| {
        shards.sort_unstable();
        for (expected, (shard, _)) in (0..).zip(&shards) {
            if *shard != expected {
                let fault = if *shard < expected { "is there twice" } else { "is missing" };
                bail!("{place}: index {index:?}: primary shard {} {fault}", expected.min(*shard));
            }
        }
        let counts: Vec<u64> = shards.into_iter().map(|(_, docs)| docs).collect();
        if counts.iter().try_fold(0_u64, |sum, &count| sum.checked_add(count)).is_none() {
            bail!("{place}: index {index:?}: the counts add up to 2^64 or more");
        }
        Ok(Counts { index: Some(index), counts })
    };
    indices.into_iter().map(complete).collect()
}
