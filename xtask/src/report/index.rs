//! The generated parts of pages: the files and records of `reports`, and the README's one table.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, ensure};
use serde_json::{Value, json};

use super::made::Made;
use super::{COMPARE, Review, shown};
use crate::record::read_json;

/// A dated folder under `reports/record`.
#[derive(Debug)]
pub(super) struct Record {
    /// From the root of the workspace.
    pub(super) path: String,
    /// The date, and how many of that date came before.
    order: (String, u32),
    speed: Option<Value>,
    criterion: Option<Value>,
}

/// All records, the newest first.
pub(super) fn records(root: &Path) -> anyhow::Result<Vec<Record>> {
    let folder = root.join("reports/record");
    let mut records = Vec::new();
    for entry in fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = format!("reports/record/{name}");
        let order = order(&name).with_context(|| format!("{path} is no folder of a record: not a date"))?;
        let read = |file: &str| {
            let file = entry.path().join(file);
            file.exists().then(|| read_json(&file)).transpose()
        };
        let (speed, criterion) = (read("record.json")?, read("criterion.json")?);
        ensure!(speed.is_some() || criterion.is_some(), "{path} has neither record.json nor criterion.json");
        records.push(Record { path, order, speed, criterion });
    }
    records.sort_by(|a, b| b.order.cmp(&a.order));
    Ok(records)
}

/// `2026-01-31` or `2026-01-31-2`: the date and the number.
fn order(name: &str) -> Option<(String, u32)> {
    let (date, rest) = name.split_at_checked(10)?;
    let is_date = date
        .bytes()
        .enumerate()
        .all(|(at, byte)| if [4, 7].contains(&at) { byte == b'-' } else { byte.is_ascii_digit() });
    let number = if rest.is_empty() { Some(1) } else { rest.strip_prefix('-')?.parse().ok() };
    is_date.then_some((date.to_owned(), number?))
}

impl Record {
    pub(super) fn has_scaling(&self) -> bool {
        self.speed.as_ref().is_some_and(|speed| speed["scaling"].is_object())
    }

    /// What the record says of growth, with the machine that it was measured on.
    pub(super) fn scaling(&self) -> Value {
        let Some(speed) = &self.speed else { return Value::Null };
        let mut scaling = speed["scaling"].clone();
        let kernels = speed["simd"].as_str().unwrap_or("unknown");
        scaling["measured_on"] = json!(format!("{}, kernels {kernels}, {}", processor(speed), self.order.0));
        scaling
    }
}

fn processor(stored: &Value) -> &str {
    stored["machine"]["processor"].as_str().unwrap_or("unknown processor")
}

/// The table of records.
pub(super) fn list(records: &[Record]) -> String {
    let mut text = "| record | machine | kernels | compiler | what |\n|---|---|---|---|---|\n".to_owned();
    for record in records {
        let name = record.path.rsplit('/').next().unwrap_or_default();
        let mut parts = Vec::new();
        if let Some(speed) = &record.speed {
            parts.push(format!("[speed](record/{name}/record.md)"));
            if speed["scaling"].is_object() {
                parts.push("growth to many nodes".to_owned());
            }
            if speed["duckdb"].is_object() {
                parts.push("files beside DuckDB".to_owned());
            }
        }
        if let Some(criterion) = &record.criterion {
            let count = criterion["rows"].as_array().map_or(0, Vec::len);
            parts.push(format!("[{count} estimates of criterion](record/{name}/criterion.md)"));
        }
        let stored = record.speed.as_ref().or(record.criterion.as_ref()).unwrap_or(&Value::Null);
        let machine = &stored["machine"];
        let system = machine["system"].as_str().unwrap_or("unknown system");
        let kernels = stored["simd"].as_str().unwrap_or("–");
        let rustc = machine["rustc"].as_str().and_then(|words| words.split(' ').nth(1)).unwrap_or("unknown");
        text.push_str(&format!(
            "| {name} | {}, {} processors, {} | {kernels} | {} | {} |\n",
            cell(processor(stored)),
            machine["cpus"],
            cell(system),
            cell(rustc),
            parts.join(", ")
        ));
    }
    text
}

/// The table of files.
pub(super) fn files(made: &[Made], reviews: &[Review]) -> String {
    let mut text = "| file | what it says | command |\n|---|---|---|\n".to_owned();
    for made in made {
        let is_of_review = |review: &Review| is_below(&made.path, &review.folder).is_some();
        let Some(name) = made.path.strip_prefix("reports/").filter(|_| !reviews.iter().any(is_of_review)) else {
            continue;
        };
        let content = String::from_utf8_lossy(&made.content);
        let (says, command) = match name {
            "default-comparison.md" => ("every scheme on the default keys and nodes".to_owned(), shown(&COMPARE)),
            "default-load.svg" => (title(&content), format!("shardlab compare --timing off --chart {}", made.path)),
            _ => (title(&content), format!("{} from the newest record below", super::COMMAND)),
        };
        let command = command.replacen(super::COMMAND, &format!("`{}`", super::COMMAND), 1);
        let command = if command.starts_with('`') { command } else { format!("`{command}`") };
        text.push_str(&format!("| [`{name}`]({name}) | {} | {command} |\n", cell(&says)));
    }
    reviews.iter().fold(text, |text, one| text + &review(made, one))
}

/// The path of a file in a folder.
fn is_below<'a>(path: &'a str, folder: &str) -> Option<&'a str> {
    path.strip_prefix(folder)?.strip_prefix('/')
}

/// The row of a review: its pages, what it found, and how much stands in its folders.
fn review(made: &[Made], review: &Review) -> String {
    let files = made.iter().filter_map(|made| Some((is_below(&made.path, &review.folder)?, made)));
    let short = review.folder.trim_start_matches("reports/");
    let mut parts: Vec<String> = Vec::new();
    let mut folders: BTreeMap<&str, usize> = BTreeMap::new();
    let mut says = "a review".to_owned();
    for (name, file) in files {
        match name.split_once('/') {
            Some((folder, _)) => *folders.entry(folder).or_default() += 1,
            None => parts.push(format!("[`{name}`]({short}/{name})")),
        }
        if name == "review.json"
            && let Ok(found) = serde_json::from_slice::<Value>(&file.content)
            && let (Some(title), Some(answer)) = (found["title"].as_str(), found["decision"]["headline"].as_str())
        {
            says = format!("{title}. {answer}");
        }
    }
    if parts.is_empty() && folders.is_empty() {
        return String::new();
    }
    let counted = |count: usize| if count == 1 { "1 file".to_owned() } else { format!("{count} files") };
    parts.extend(folders.iter().map(|(name, &count)| format!("{} in [`{name}`]({short}/{name})", counted(count))));
    format!("| `{short}`: {} | {} | `{}` |\n", parts.join(", "), cell(&says), review.command())
}

/// What a picture says in its title, as plain text.
fn title(picture: &str) -> String {
    let title = picture.split_once("<title>").and_then(|(_, rest)| rest.split_once("</title>"));
    let words = title.map_or("a picture", |(title, _)| title);
    words.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
}

/// Text for a cell of a Markdown table.
fn cell(text: &str) -> String {
    let mut safe = String::new();
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '|' | '\\' | '`' | '*' | '_' | '[' | ']' => safe.extend(['\\', letter]),
            _ if letter.is_control() => safe.push(' '),
            _ => safe.push(letter),
        }
    }
    safe
}

/// The columns of the comparison that the README shows.
const SHOWN: [&str; 8] = ["scheme", "peak/avg", "verdict", "add one", "remove last", "remove middle", "double", "heap"];

/// The README's table: some columns of the comparison in Markdown, with its footnotes.
pub(super) fn one_result(comparison: &str) -> anyhow::Result<String> {
    let rows: Vec<Vec<&str>> = comparison
        .lines()
        .filter(|line| line.starts_with('|'))
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
        .collect();
    let header = rows.first().context("the comparison prints no table")?;
    let place = |name: &&str| {
        header
            .iter()
            .position(|column| column == name)
            .with_context(|| format!("the comparison has no column {name:?}"))
    };
    let columns = SHOWN.iter().map(place).collect::<anyhow::Result<Vec<usize>>>()?;
    let mut text = String::new();
    for (number, row) in rows.iter().enumerate() {
        ensure!(
            row.len() == header.len(),
            "row {number} of the comparison has {} cells of {}",
            row.len(),
            header.len()
        );
        // The line below the headings: names to the left, numbers to the right.
        let rule = |column: &usize| if ["scheme", "verdict"].contains(&header[*column]) { "---" } else { "--:" };
        let cells: Vec<&str> = if number == 1 {
            columns.iter().map(rule).collect()
        } else {
            columns.iter().map(|column| row[*column]).collect()
        };
        text.push_str(&format!("| {} |\n", cells.join(" | ")));
    }
    let notes = comparison.lines().filter(|line| line.starts_with('[')).collect::<Vec<_>>().join("\n");
    Ok(if notes.is_empty() { text } else { format!("{text}\n{notes}\n") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_records_are_ordered_by_date_and_number() {
        assert_eq!(order("2026-11-30"), Some(("2026-11-30".to_owned(), 1)));
        assert!(order("2026-11-30-2") > order("2026-11-30") && order("2026-11-30-10") > order("2026-11-30-9"));
        assert!(order("2026-12-01") > order("2026-11-30-99"));
        for name in ["", "notes", "2026-11-3", "2026-11-30x", "2026-11-30-", "2026-11-30-x", "2026/11/30", "é026-11-30"]
        {
            assert_eq!(order(name), None, "{name:?}");
        }
    }

    #[test]
    fn the_readme_shows_some_columns_and_every_footnote() {
        let printed = "10 nodes\n\n\
            | scheme | peak/avg | min/avg | verdict | add one | remove last | remove middle | double | heap |\n\
            |---|---|---|---|---|---|---|---|---|\n\
            | a | 1.1 | 0.9 | chance | 9 % (0 %) | 1 | n/a \\[1\\] | 3 | 0 B |\n\n\
            [1] n/a: why  \n\nmore words\n";
        let text = one_result(printed).unwrap();
        assert_eq!(
            text,
            "| scheme | peak/avg | verdict | add one | remove last | remove middle | double | heap |\n\
             | --- | --: | --- | --: | --: | --: | --: | --: |\n\
             | a | 1.1 | chance | 9 % (0 %) | 1 | n/a \\[1\\] | 3 | 0 B |\n\n\
             [1] n/a: why  \n"
        );
        assert!(one_result("nothing").unwrap_err().to_string().contains("no table"));
        let renamed = one_result(&printed.replace("double", "twice")).unwrap_err().to_string();
        assert!(renamed.contains("no column \"double\""), "{renamed}");
        assert!(one_result(&printed.replace("| 3 |", "|")).unwrap_err().to_string().contains("8 cells of 9"));
    }

    #[test]
    fn titles_of_pictures_are_text_and_cells_hold_no_markup() {
        let picture = "<svg>\n<title>a &lt;b&gt; &amp;amp; | c</title>";
        assert_eq!(title(picture), "a <b> &amp; | c");
        assert_eq!(cell(&title(picture)), "a &lt;b> &amp;amp; \\| c");
    }

    #[test]
    fn the_index_names_each_file_with_its_command_and_a_review_as_one() {
        let review = json!({ "title": "Ten | caches", "decision": { "headline": "All of them." } });
        let made = [
            Made::text("reports/default-comparison.md", String::new()),
            Made::text("reports/figures/x.svg", "<title>it grows</title>".to_owned()),
            Made::text("reports/review/review.json", review.to_string()),
            Made::text("reports/review/deep/a.svg", String::new()),
            Made::text("README.md", String::new()),
        ];
        let text = files(&made, &[Review { definition: None, folder: "reports/review".to_owned() }]);
        assert_eq!(text.lines().count(), 5, "{text}");
        assert!(
            text.contains(
                "| [`figures/x.svg`](figures/x.svg) | it grows | `cargo xtask report` from the newest record below |"
            ),
            "{text}"
        );
        assert!(text.contains("`shardlab compare --timing off --format markdown` |"), "{text}");
        assert!(
            text.contains("| `review`: [`review.json`](review/review.json), 1 file in [`deep`](review/deep) |"),
            "{text}"
        );
        assert!(text.contains("| Ten \\| caches. All of them. | `shardlab review"), "{text}");
    }

    #[test]
    fn records_are_listed_with_machine_and_parts() {
        let machine = json!({"processor": "P|1", "cpus": 4, "system": "linux x86_64", "rustc": "rustc 1.95.0 (x)"});
        let record = |name: &str, speed: Option<Value>, criterion: Option<Value>| Record {
            path: format!("reports/record/{name}"),
            order: order(name).unwrap(),
            speed,
            criterion,
        };
        let speed = json!({"machine": machine, "simd": "avx2", "scaling": {"schemes": []}, "duckdb": null});
        let criterion = json!({"machine": machine, "rows": [1, 2]});
        let records = [record("2026-01-02", None, Some(criterion)), record("2026-01-01", Some(speed), None)];
        let text = list(&records);
        assert!(text.contains("| 2026-01-01 | P\\|1, 4 processors, linux x86\\_64 | avx2 | 1.95.0 | [speed](record/2026-01-01/record.md), growth to many nodes |"), "{text}");
        assert!(text.contains("| – | 1.95.0 | [2 estimates of criterion](record/2026-01-02/criterion.md) |"), "{text}");
        assert!(!records[0].has_scaling() && records[1].has_scaling());
        assert_eq!(records[1].scaling()["measured_on"], "P|1, kernels avx2, 2026-01-01");
    }
}
