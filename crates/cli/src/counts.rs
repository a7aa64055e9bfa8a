//! Counts that somebody already has: a list of numbers, or `_cat/shards` as text or as JSON.

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
    // A list of numbers in brackets is JSON as well, and nothing else here begins with one.
    if text.trim_start().starts_with(['[', '{']) {
        return json(text, &place);
    }
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
        _ => bail!("a count is a whole number from 0 to 18446744073709551615{}", next_step(word)),
    }
}

/// What to do about a count as people or tools for people write it.
fn next_step(word: &str) -> &'static str {
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let groups: Vec<&str> = word.split([',', '.', '_', '\'']).collect();
    if groups.len() > 1 && digits(groups[0]) && groups[1..].iter().all(|group| digits(group) && group.len() == 3) {
        return "; leave out what groups the digits, as in 1234567";
    }
    let number = word.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    if number.len() < word.len() && digits(whole) && digits(fraction) {
        return "; a number with a unit was rounded, and a verdict needs every document: ask for plain numbers (the \
                column docs of _cat/shards has them; a store size is no count)";
    }
    ""
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
    let mut shards = Shards::default();
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
        shards.add(&columns, &fields, place)?;
    }
    shards.complete(place)
}

/// The primaries of each index.
#[derive(Default)]
struct Shards {
    /// Indices in the order in which they appear.
    order: Vec<String>,
    primaries: BTreeMap<String, Vec<(u32, u64)>>,
}

impl Shards {
    fn add(&mut self, columns: &Columns, fields: &[&str], place: String) -> anyhow::Result<()> {
        if let Some((index, shard, docs)) = columns.primary(fields).context(place)? {
            if !self.primaries.contains_key(index) {
                self.order.push(index.to_owned());
            }
            self.primaries.entry(index.to_owned()).or_default().push((shard, docs));
        }
        Ok(())
    }

    /// One distribution an index, once every shard is there exactly once.
    fn complete(self, place: &str) -> anyhow::Result<Vec<Counts>> {
        let Self { order, mut primaries } = self;
        if order.is_empty() {
            bail!("{place}: no primary shard; is this the text of _cat/shards?");
        }
        let complete = |index: String| {
            let mut shards = primaries.remove(&index).unwrap_or_default();
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
        order.into_iter().map(complete).collect()
    }
}

/// A row of `_cat/shards?format=json`; the server writes numbers as texts, and nothing for shards that
/// are nowhere.
#[derive(serde::Deserialize)]
struct JsonShard {
    #[serde(alias = "i", alias = "idx")]
    index: Option<String>,
    #[serde(alias = "s", alias = "sh")]
    shard: Option<serde_json::Value>,
    #[serde(alias = "p", alias = "pr", alias = "primaryOrReplica")]
    prirep: Option<String>,
    #[serde(alias = "st")]
    state: Option<String>,
    #[serde(alias = "d", alias = "dc")]
    docs: Option<serde_json::Value>,
}

/// Reads `_cat/shards?format=json`, or a plain list of numbers in brackets.
fn json(text: &str, place: &str) -> anyhow::Result<Vec<Counts>> {
    if let Ok(list) = serde_json::from_str::<Vec<u64>>(text) {
        let list: Vec<String> = list.iter().map(u64::to_string).collect();
        return Ok(vec![Counts { index: None, counts: numbers(&list.join(","), place)? }]);
    }
    let rows: Vec<JsonShard> = serde_json::from_str(text).with_context(|| {
        format!("{place}: this JSON is not that of _cat/shards; ask for GET _cat/shards?format=json, or for its text")
    })?;
    // The rows go the way of the text, so that both forms are judged by the same rules.
    let word = |value: Option<&serde_json::Value>| match value {
        Some(serde_json::Value::String(text)) => text.clone(),
        Some(serde_json::Value::Number(number)) => number.to_string(),
        _ => String::new(),
    };
    let mut shards = Shards::default();
    for (row, shard) in (1..).zip(&rows) {
        let place = format!("{place}: row {row}");
        let text = |value: &Option<String>, name: &str| {
            value.clone().filter(|value| !value.is_empty()).with_context(|| {
                format!("{place}: no {name}; ask for GET _cat/shards?format=json&h=index,shard,prirep,state,docs")
            })
        };
        let (index, prirep) = (text(&shard.index, "index")?, text(&shard.prirep, "prirep")?);
        let state = shard.state.clone().unwrap_or_else(|| "STARTED".to_owned());
        let (number, docs) = (word(shard.shard.as_ref()), word(shard.docs.as_ref()));
        let fields = [index.as_str(), &number, &prirep, &state, &docs];
        shards.add(&Columns::DEFAULT, &fields, place)?;
    }
    shards.complete(place)
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
    fn json_of_the_server_is_judged_by_the_rules_of_its_text() {
        let row = |shard: &str, prirep: &str, docs: &str| {
            format!(
                r#"{{"index":"a","shard":"{shard}","prirep":"{prirep}","state":"STARTED","docs":{docs},"store":"1mb"}}"#
            )
        };
        let read = |rows: &[String]| json(&format!("[{}]", rows.join(",")), "t");
        let found = read(&[row("1", "p", "\"12\""), row("0", "p", "10"), row("0", "r", "null")]).unwrap();
        assert_eq!((found[0].index.as_deref(), found[0].counts.as_slice()), (Some("a"), &[10, 12][..]));
        let refused = |rows: &[String]| format!("{:#}", read(rows).unwrap_err());
        assert!(refused(&[row("1", "p", "5")]).contains("primary shard 0 is missing"));
        assert!(refused(&[row("0", "p", "\"1.2k\"")]).contains("row 1: docs: \"1.2k\""));
        assert!(refused(&[row("0", "p", "null")]).contains("row 1: docs: \"\""));
        assert!(refused(&["{\"health\":\"green\"}".to_owned()]).contains("row 1: no index"));
        assert!(json("{\"a\":1}", "t").is_err() && json("[1,", "t").is_err());
        assert_eq!(json("[1, 2,\n3]", "t").unwrap()[0].counts, [1, 2, 3]);
    }

    #[test]
    fn counts_for_people_are_refused_with_what_to_do() {
        let said = |word: &str| format!("{:#}", whole(word).unwrap_err());
        for word in ["1,234", "1.234.567", "12_345"] {
            assert!(said(word).contains("leave out what groups the digits"), "{word}");
        }
        for word in ["1.2k", "3M", "5gb"] {
            assert!(said(word).contains("was rounded"), "{word}");
        }
        assert!(!said("x").contains(';') && !said("1,23").contains(';'));
    }

    #[test]
    fn a_list_has_one_kind_of_separator() {
        assert_eq!(numbers("1, 2,3\n4 5\n6,\n", "t").unwrap(), [1, 2, 3, 4, 5, 6]);
        for text in ["58,856 18,389", "1,,2", "1;2", "-1", "1.5", "", "18446744073709551615,1"] {
            assert!(numbers(text, "t").is_err(), "{text}");
        }
    }
}
