//! Counts that somebody already has: a list of numbers, or the text of `_cat/shards`.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

use anyhow::{Context, bail};
use shardlab_report::for_terminal;

/// Counts of one distribution, with the index that they belong to where there is one.
#[derive(Debug)]
pub(crate) struct Counts {
    pub(crate) index: Option<String>,
    pub(crate) counts: Vec<u64>,
}

/// Reads counts from a file; `-` is stdin.
pub(crate) fn read(path: &Path) -> anyhow::Result<Vec<Counts>> {
    let stdin = path == Path::new("-");
    let place = if stdin { "<stdin>".to_owned() } else { for_terminal(&path.to_string_lossy()) };
    let mut bytes = Vec::new();
    let read = if stdin {
        std::io::stdin().lock().read_to_end(&mut bytes)
    } else {
        std::fs::File::open(path).and_then(|mut file| file.read_to_end(&mut bytes))
    };
    read.with_context(|| format!("cannot read {place}"))?;
    let text = std::str::from_utf8(bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&bytes))
        .with_context(|| format!("{place}: not text"))?;
    // A list of counts holds nothing but numbers, and a table of shards always has a p or an r.
    let is_word = |word: &str| !word.is_empty() && whole(word).is_err();
    let is_table = text.lines().any(|line| line.split_whitespace().count() > 2)
        && text.split(|letter: char| letter == ',' || letter.is_whitespace()).any(is_word);
    if is_table { cat_shards(text, &place) } else { Ok(vec![Counts { index: None, counts: numbers(text, &place)? }]) }
}

/// Reads whole numbers that are separated by commas, or by white space and line feeds.
pub(crate) fn numbers(text: &str, place: &str) -> anyhow::Result<Vec<u64>> {
    let mut counts = Vec::new();
    let mut total: u64 = 0;
    for (line, row) in (1..).zip(text.lines()) {
        // A comma may end a line, but between two of them somebody forgot a count.
        let list = row.trim().trim_end_matches(',');
        let words: Vec<&str> = if list.contains(',') {
            list.split(',').map(str::trim).collect()
        } else {
            list.split_whitespace().collect()
        };
        for word in words {
            if word.is_empty() {
                bail!("{place}:{line}: a count is missing beside a comma; an empty shard counts 0");
            }
            if word.contains(char::is_whitespace) {
                bail!(
                    "{place}:{line}: {word:?}: commas and spaces both part numbers here; use one of them, and no commas within a number"
                );
            }
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

/// What a shard can be doing, in the words of `_cat/shards`.
const STATES: [&str; 4] = ["STARTED", "RELOCATING", "INITIALIZING", "UNASSIGNED"];

/// The columns of `_cat/shards` that are read, with the server's short names for them.
const INDEX: &[&str] = &["index", "i", "idx"];
const SHARD: &[&str] = &["shard", "s", "sh"];
const PRIREP: &[&str] = &["prirep", "p", "pr", "primaryOrReplica"];
const STATE: &[&str] = &["state", "st"];
const DOCS: &[&str] = &["docs", "d", "dc"];

/// Where the columns stand.
struct Columns {
    index: usize,
    shard: usize,
    prirep: usize,
    state: Option<usize>,
    docs: usize,
    /// How many cells a row must have: known where a column that can be blank stands before the
    /// documents, since a blank cell leaves no trace in a row.
    cells: Option<usize>,
}

impl Columns {
    /// Without a header the columns are the server's default: `index shard prirep state docs …`.
    const DEFAULT: Self = Self { index: 0, shard: 1, prirep: 2, state: Some(3), docs: 4, cells: None };

    /// A row of column names: it holds no number, and a data row always has that of its shard.
    fn is_header(fields: &[&str]) -> bool {
        fields.iter().all(|word| whole(word).is_err()) && fields.iter().any(|word| PRIREP.contains(word))
    }

    fn of_header(fields: &[&str], place: &str) -> anyhow::Result<Self> {
        let find = |names: &[&str]| fields.iter().position(|word| names.contains(word));
        let need = |names: &[&str]| {
            find(names).with_context(|| {
                format!("{place}: the header has no column {:?}; ask for h=index,shard,prirep,state,docs", names[0])
            })
        };
        let docs = need(DOCS)?;
        let never_blank = |word: &&str| [INDEX, SHARD, PRIREP, STATE].iter().any(|names| names.contains(word));
        let cells = (!fields[..docs].iter().all(never_blank)).then_some(fields.len());
        Ok(Self { index: need(INDEX)?, shard: need(SHARD)?, prirep: need(PRIREP)?, state: find(STATE), docs, cells })
    }

    /// The documents of a primary, or nothing for a replica.
    fn primary<'a>(&self, fields: &[&'a str]) -> anyhow::Result<Option<(&'a str, u32, u64)>> {
        let field =
            |column: usize, what: &str| fields.get(column).copied().with_context(|| format!("{what} is missing"));
        match field(self.prirep, "prirep")? {
            "p" => {}
            "r" => return Ok(None),
            other => bail!("prirep: {other:?} is neither p nor r; is this the text of _cat/shards?"),
        }
        if let Some(state) = self.state {
            let state = field(state, "state")?;
            if !STATES.contains(&state) {
                bail!(
                    "state: {state:?} is none of {}; with other columns than the default keep the header (?v)",
                    STATES.join(", ")
                );
            }
            if state == "UNASSIGNED" {
                bail!("the primary is unassigned, so its documents are unknown; judge the index when it is complete");
            }
        }
        if let Some(cells) = self.cells.filter(|&cells| cells != fields.len()) {
            bail!(
                "{} cells under a header of {cells}, so some cell is blank and the columns cannot be told apart; ask for \
                 h=index,shard,prirep,state,docs",
                fields.len()
            );
        }
        let shard = field(self.shard, "shard")?;
        let shard = shard.parse().with_context(|| format!("shard: {shard:?} is no number"))?;
        let docs = field(self.docs, "docs")?;
        let docs = whole(docs).with_context(|| format!("docs: {docs:?}"))?;
        Ok(Some((field(self.index, "index")?, shard, docs)))
    }
}

/// Reads the text of `_cat/shards`: documents of the primaries, one distribution an index, in the
/// order in which the indices appear. Several outputs may follow one another.
fn cat_shards(text: &str, place: &str) -> anyhow::Result<Vec<Counts>> {
    let mut columns = Columns::DEFAULT;
    let mut order: Vec<&str> = Vec::new();
    let mut indices: BTreeMap<&str, Vec<(u32, u64)>> = BTreeMap::new();
    for (line, row) in (1..).zip(text.lines()) {
        let fields: Vec<&str> = row.split_whitespace().collect();
        if fields.is_empty() {
            continue;
        }
        let place = format!("{place}:{line}");
        if Columns::is_header(&fields) {
            columns = Columns::of_header(&fields, &place)?;
            continue;
        }
        if let Some((index, shard, docs)) = columns.primary(&fields).context(place)? {
            indices
                .entry(index)
                .or_insert_with(|| {
                    order.push(index);
                    Vec::new()
                })
                .push((shard, docs));
        }
    }
    if indices.is_empty() {
        bail!("{place}: no primary shard; is this the text of _cat/shards?");
    }
    let complete = |index: &str| {
        let mut shards = indices.remove(index).unwrap_or_default();
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
        Ok(Counts { index: Some(index.to_owned()), counts })
    };
    order.into_iter().map(complete).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(text: &str) -> Vec<Vec<u64>> {
        cat_shards(text, "t").unwrap().into_iter().map(|index| index.counts).collect()
    }

    fn refusal(text: &str) -> String {
        format!("{:#}", cat_shards(text, "t").unwrap_err())
    }

    #[test]
    fn primaries_are_taken_with_and_without_header_whatever_the_index_is_called() {
        let rows = "2023 0 p STARTED 10 1kb 10.0.0.1 n1\n2023 0 r UNASSIGNED\n2023 1 p STARTED 12 1kb 10.0.0.2 n2\n";
        assert_eq!(counts(rows), [[10, 12]]);
        assert_eq!(counts(&format!("\nindex shard prirep state docs store ip node\n{rows}")), [[10, 12]]);
        assert_eq!(counts("i s p d\na 1 p 7\na 0 p 9\na 0 r 9\n"), [[9, 7]]);
        let twice = "index shard prirep state docs\na 0 p STARTED 1\nindex shard prirep state docs\nb 0 p STARTED 2\n";
        assert_eq!(counts(twice), [[1], [2]]);
        assert_eq!(counts("a 0 p RELOCATING 5 1kb 10.0.0.1 n1 -> 10.0.0.2 x n2\n"), [[5]]);
    }

    #[test]
    fn columns_that_cannot_be_told_apart_are_refused() {
        assert!(refusal("idx 0 p 1000 7\nidx 1 p 1010 90\n").contains("keep the header (?v)"));
        let blank = "index shard prirep state unassigned.reason docs segments.count\na 0 p STARTED 1000 3\n";
        assert!(refusal(blank).contains("some cell is blank"));
        assert!(refusal("a 0 p UNASSIGNED\n").contains("unassigned"));
        assert!(refusal("a 0 p STARTED 5\na 2 p STARTED 5\n").contains("primary shard 1 is missing"));
        assert!(refusal("a 0 p STARTED 5\na 0 p STARTED 5\n").contains("primary shard 0 is there twice"));
        assert!(refusal("a 0 r STARTED 5\n").contains("no primary shard"));
        assert!(refusal("index shard prirep store\na 0 p 5\n").contains("no column \"docs\""));
    }

    #[test]
    fn a_list_has_one_kind_of_separator() {
        assert_eq!(numbers("1, 2,3\n4 5\n6,\n", "t").unwrap(), [1, 2, 3, 4, 5, 6]);
        for text in ["58,856 18,389", "1,,2", "1;2", "-1", "1.5", "", "18446744073709551615,1"] {
            assert!(numbers(text, "t").is_err(), "{text}");
        }
    }
}
