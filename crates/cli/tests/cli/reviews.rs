//! Reviews: what they decide follows from their numbers, and what they write is whole and harmless.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::Value;

use crate::common::{printed, refusal, shardlab, text};

const SMALL: &str = r#"
title = "A small review"
present = "modulo"
[nodes]
count = 5
[keys]
synthetic = "uuid4:4000"
[requirements]
peak = 1.25
any_node_leaves = true
[[change]]
name = "lose one"
remove = "2"
moved = "30 %"
[[step]]
grow_to = 6
[[step]]
grow_to = 8
"#;

struct Folder(tempfile::TempDir);

impl Folder {
    fn with(definition: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("review.toml"), definition).unwrap();
        Self(folder)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn run(&self, flags: &[&str]) -> Output {
        let mut command = shardlab();
        command.current_dir(self.0.path()).args(["review", "review.toml"]).args(flags);
        command.output().unwrap()
    }

    fn review(&self) -> Value {
        serde_json::from_str(&fs::read_to_string(self.path("out/review.json")).unwrap()).unwrap()
    }
}

fn written(definition: &str, flags: &[&str]) -> Folder {
    let folder = Folder::with(definition);
    printed(&folder.run(&[&["--out", "out", "--timing", "off"], flags].concat()));
    folder
}

/// All files below a folder with their contents.
fn contents(folder: &Path) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.extend(contents(&path));
        } else {
            all.push((path.display().to_string(), fs::read_to_string(&path).unwrap()));
        }
    }
    all.sort();
    all
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

fn assert_valid(review: &Value) {
    let path = root().join("crates/report/schema/review.schema.json");
    let schema: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let faults: Vec<String> =
        validator.iter_errors(review).map(|fault| format!("{}: {fault}", fault.instance_path())).collect();
    assert!(faults.is_empty(), "{faults:#?}");
}

fn strings(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|value| value.as_str().unwrap()).collect()
}

/// What must hold in every review, whatever it is about.
fn assert_follows_from_its_numbers(review: &Value) {
    let decision = &review["decision"];
    let (remaining, undecided) = (strings(&decision["remaining"]), strings(&decision["undecided"]));
    for candidate in review["candidates"].as_array().unwrap() {
        let spec = candidate["scheme"].as_str().unwrap();
        let judged: Vec<&str> =
            candidate["judged"].as_array().unwrap().iter().map(|one| one["judgement"].as_str().unwrap()).collect();
        let standing = if judged.contains(&"not_met") {
            "out"
        } else if judged.iter().all(|one| *one == "met") {
            "remains"
        } else {
            "undecided"
        };
        assert_eq!(candidate["standing"], standing, "{spec}");
        assert_eq!(remaining.contains(&spec), standing == "remains", "{spec}");
        assert_eq!(undecided.contains(&spec), standing == "undecided", "{spec}");
        for (one, requirement) in
            candidate["judged"].as_array().unwrap().iter().zip(review["requirements"].as_array().unwrap())
        {
            let Some(value) = one["value"].as_f64() else { continue };
            let (low, high) = (one["low"].as_f64().unwrap_or(value), one["high"].as_f64().unwrap_or(value));
            assert!(low <= value && value <= high, "{spec}: {one}");
            let Some(bound) = requirement["bound"].as_f64() else { continue };
            let expected = if high <= bound {
                "met"
            } else if low > bound {
                "not_met"
            } else {
                "uncertain"
            };
            assert_eq!(one["judgement"], expected, "{spec}, {}", requirement["heading"]);
        }
    }
    if let Some(best) = decision["recommended"].as_str() {
        assert!(remaining.contains(&best), "{best} is recommended and does not remain");
        assert!(decision["headline"].as_str().unwrap().starts_with(best));
    }
    // A bound that is advised must do, as it is written there.
    for sentence in strings(&decision["would_change"]) {
        let Some((quoted, rest)) = sentence.split_once("\" could be as tight as ") else { continue };
        let requirements = review["requirements"].as_array().unwrap();
        let place = requirements.iter().position(|one| one["heading"] == quoted[1..]).unwrap();
        let advised: f64 = rest.split([' ', ';']).next().unwrap().parse().unwrap();
        let advised = if requirements[place]["unit"] == "fraction" { advised / 100.0 } else { advised };
        let left = review["candidates"].as_array().unwrap().iter().filter(|one| one["standing"] == "remains");
        let reach = |one: &Value| one["judged"][place]["high"].as_f64().or(one["judged"][place]["value"].as_f64());
        let least = left.filter_map(reach).fold(f64::INFINITY, f64::min);
        assert!(advised >= least - 1e-9, "{sentence}: {least} is needed");
    }
    let headline = decision["headline"].as_str().unwrap();
    let none = remaining.is_empty() && undecided.is_empty() && !review["requirements"].as_array().unwrap().is_empty();
    assert_eq!(headline.starts_with("No scheme meets all"), none, "{headline}");
}

/// Every number of a text, as it is written there: digits with their point, and a unit where one follows.
fn numbers(text: &str) -> BTreeSet<String> {
    let words: Vec<&str> = text.split([' ', '(', ')', ';', ',', '"']).collect();
    let mut found = BTreeSet::new();
    for (place, word) in words.iter().enumerate() {
        let word = word.trim_end_matches(['.', ':']);
        if word.contains('.') && word.parse::<f64>().is_ok() {
            let unit = words.get(place + 1).copied().unwrap_or_default().trim_end_matches(['.', ':']);
            let unit = if ["%", "B", "kB", "MB", "GB"].contains(&unit) { unit } else { "" };
            found.insert(format!("{word} {unit}").trim_end().to_owned());
        }
    }
    found
}

/// All numbers of a review in the forms in which a text shows them.
fn shown(value: &Value, all: &mut BTreeSet<String>) {
    match value {
        Value::Number(number) => {
            let number = number.as_f64().unwrap();
            // A bound that lets a scheme in is rounded up, so that it does when it is read as it is shown.
            for ratio in [number, (number * 1e3).ceil() / 1e3] {
                all.insert(format!("{ratio:.3}"));
                all.insert(format!("{ratio:.2}"));
            }
            for part in [number, (number * 1e4).ceil() / 1e4] {
                all.insert(format!("{:.2} %", part * 100.0));
                all.insert(format!("{:.1} %", part * 100.0));
            }
            for (unit, size) in [("kB", 1e3), ("MB", 1e6), ("GB", 1e9)] {
                for decimals in 0..3 {
                    let text = format!("{:.decimals$}", number / size);
                    let text = if decimals > 0 { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
                    all.insert(format!("{text} {unit}"));
                }
            }
        }
        Value::Array(list) => list.iter().for_each(|value| shown(value, all)),
        Value::Object(fields) => {
            fields.iter().filter(|(name, _)| *name != "decision").for_each(|(_, value)| shown(value, all));
        }
        _ => {}
    }
}

/// The text of a decision speaks of nothing that is not among the numbers. Returns how many numbers it has.
fn numbers_of_the_text(review: &Value) -> usize {
    let mut all = BTreeSet::new();
    shown(review, &mut all);
    let decision = &review["decision"];
    let mut checked = 0;
    let sentences = [&decision["reasons"], &decision["trade_offs"], &decision["would_change"]];
    let headline = [decision["headline"].as_str().unwrap()];
    for sentence in sentences.into_iter().flat_map(strings).chain(headline) {
        // Versions are names and no numbers.
        let specs = review["candidates"].as_array().unwrap().iter().map(|one| one["scheme"].as_str().unwrap());
        let mut plain = sentence.to_owned();
        for spec in specs.chain(["Elasticsearch 8.15"]) {
            plain = plain.replace(spec, "");
        }
        for number in numbers(&plain) {
            assert!(all.contains(&number), "{number:?} of {sentence:?} is no number of the review");
            checked += 1;
        }
    }
    checked
}

#[test]
fn a_review_keeps_its_form_and_its_word() {
    let folder = written(SMALL, &[]);
    let review = folder.review();
    assert_valid(&review);
    assert_follows_from_its_numbers(&review);
    assert!(numbers_of_the_text(&review) > 0);
    assert!(review["timings"].is_null());
    let page = fs::read_to_string(folder.path("out/review.html")).unwrap();
    let json = review["decision"]["headline"].as_str().unwrap();
    assert!(page.contains(json), "the page says what the data say");
    assert_eq!(names(&folder.path("out")), ["data", "figures", "review.html", "review.json", "review.md"]);
}

#[test]
fn all_files_of_a_review_are_the_same_for_any_number_of_threads() {
    let one = written(SMALL, &["--threads", "1"]);
    let three = written(SMALL, &["--threads", "3"]);
    let relative = |folder: &Folder| {
        let base = folder.0.path().display().to_string();
        contents(&folder.path("out"))
            .into_iter()
            .map(|(name, text)| (name.replace(&base, ""), text))
            .collect::<Vec<_>>()
    };
    assert_eq!(relative(&one), relative(&three));
}

#[test]
fn times_are_the_only_thing_that_timing_adds_to_a_review() {
    let folder = written(SMALL, &[]);
    let mut timed: Value =
        serde_json::from_str(&printed(&folder.run(&["--out", "timed", "--format", "json"]))).unwrap();
    assert_valid(&timed);
    assert!(timed["timings"].is_object());
    timed["timings"] = Value::Null;
    assert_eq!(timed, folder.review());
    let same = shardlab()
        .current_dir(folder.0.path())
        .args(["diff", "out/review.json", "timed/review.json", "--format", "json"])
        .output()
        .unwrap();
    let same: Value = serde_json::from_str(&printed(&same)).unwrap();
    assert_eq!(same["mapping_changed"], false);
    let kinds = same["differences"].as_array().unwrap().iter();
    assert!(kinds.clone().count() > 0 && kinds.clone().all(|one| one["kind"] == "times"), "{same}");
}

#[test]
fn a_review_of_another_mapping_is_told_by_diff() {
    let folder = written(SMALL, &[]);
    fs::write(
        folder.path("review.toml"),
        SMALL.replace("present = \"modulo\"", "present = \"modulo\"\nhash = \"fnv1a\""),
    )
    .unwrap();
    printed(&folder.run(&["--out", "other", "--timing", "off"]));
    let output = shardlab()
        .current_dir(folder.0.path())
        .args(["diff", "out/review.json", "other/review.json"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stdout));
    assert!(text(&output.stdout).contains("candidates[jump].measured.placement_digest"), "{}", text(&output.stdout));
}

#[test]
fn an_earlier_review_is_replaced_when_asked_and_other_files_never() {
    let folder = written(SMALL, &[]);
    let before = contents(&folder.path("out"));
    let again = ["--out", "out", "--timing", "off"];
    let refused = refusal(&folder.run(&again));
    assert!(refused.contains("--force"), "{refused}");
    assert_eq!(contents(&folder.path("out")), before);
    fs::write(folder.path("review.toml"), SMALL.replace("A small review", "Another review")).unwrap();
    printed(&folder.run(&[&again[..], &["--force"]].concat()));
    assert_eq!(folder.review()["title"], "Another review");
    fs::write(folder.path("out/notes.txt"), "mine").unwrap();
    let refused = refusal(&folder.run(&[&again[..], &["--force"]].concat()));
    assert!(refused.contains("notes.txt"), "{refused}");
    assert_eq!(fs::read_to_string(folder.path("out/notes.txt")).unwrap(), "mine");
    assert_eq!(names(folder.0.path()), ["out", "review.toml"]);
    // A folder that only looks like a review is none.
    fs::create_dir_all(folder.path("other/data")).unwrap();
    fs::write(folder.path("other/data/payroll.csv"), "mine").unwrap();
    let refused = refusal(&folder.run(&["--out", "other", "--force"]));
    assert!(refused.contains("data/payroll.csv"), "{refused}");
    assert_eq!(fs::read_to_string(folder.path("other/data/payroll.csv")).unwrap(), "mine");
    let file = refusal(&folder.run(&["--out", "review.toml", "--force"]));
    assert!(file.contains("it is a file"), "{file}");
    let nowhere = refusal(&folder.run(&["--out", "no/such/place"]));
    assert!(nowhere.contains("no/such"), "{nowhere}");
}

/// Prefixes of formulas, markup, escape sequences and marks that turn text, as TOML writes them.
const HOSTILE: [&str; 8] = [
    "<script>alert(1)</script>",
    "=1+1",
    "+1|x",
    "-2",
    "@SUM(A1)",
    r"\u001B[31mred\u001B]0;t\u0007",
    r"\u202Egpj.exe\u200B",
    r#"\" onload=\"x()\" '`&amp;"#,
];

/// A line of Markdown without its code spans: from a run of backticks to the next one of its length.
fn without_code(line: &str) -> String {
    let (mut kept, mut rest) = (String::new(), line);
    while let Some(at) = rest.find(['`', '\\']) {
        kept.push_str(&rest[..at]);
        if rest[at..].starts_with('\\') {
            // An escaped letter begins nothing.
            let end = at + 1 + rest[at + 1..].chars().next().map_or(0, char::len_utf8);
            kept.push_str(&rest[at..end]);
            rest = &rest[end..];
            continue;
        }
        let run = rest[at..].len() - rest[at..].trim_start_matches('`').len();
        let inside = &rest[at + run..];
        let ends = inside.match_indices('`').map(|(end, _)| end).find(|&end| {
            let behind = &inside[end..];
            !inside[..end].ends_with('`') && behind.len() - behind.trim_start_matches('`').len() == run
        });
        match ends {
            Some(end) => rest = &inside[end + run..],
            None => {
                kept.push_str(&rest[at..at + run]);
                rest = inside;
            }
        }
    }
    kept + rest
}

#[test]
fn hostile_names_ids_and_titles_appear_harmlessly_in_every_file() {
    let list: Vec<String> = HOSTILE.iter().map(|name| format!("\"{name}=2\"")).collect();
    let title = HOSTILE.join(" ");
    let name = "=evil <b>é.csv";
    let mut definition = format!("title = \"{title}\"\nquestion = \"{title}\"\nbackground = \"{title}\"\n");
    definition += &format!(
        "[nodes]\nlist = [{}]\n[keys]\nfile = \"{name}\"\nid_field = \"id\"\nrouting_field = \"r\"\n",
        list.join(", ")
    );
    definition = format!("tune = false\n{definition}");
    definition += "[requirements]\npeak = 1.01\nweights = true\nany_node_leaves = true\n";
    definition += &format!(
        "[[change]]\nname = \"{title}\"\nremove = \"{}\"\n[[step]]\nremove = \"{}\"\n",
        HOSTILE[0], HOSTILE[5]
    );
    let folder = Folder::with(&definition);
    let mut rows = csv::Writer::from_path(folder.path(name)).unwrap();
    rows.write_record(["id", "r"]).unwrap();
    for number in 0..400 {
        let value = HOSTILE[number % 2 * (number % 8)].replace(r"\u001B", "\u{1b}").replace(r"\u202E", "\u{202e}");
        rows.write_record([format!("{value}{number}"), if number % 3 == 0 { value } else { String::new() }]).unwrap();
    }
    rows.flush().unwrap();
    let output = folder.run(&["--out", "out", "--timing", "off"]);
    let mut all = contents(&folder.path("out"));
    for format in ["table", "json", "csv", "markdown"] {
        let output = folder.run(&["--out", format, "--timing", "off", "--format", format]);
        all.push((format!("stdout as {format}"), printed(&output)));
        all.push((format!("stderr with {format}"), text(&output.stderr)));
    }
    all.push(("stderr".to_owned(), text(&output.stderr)));
    for (file, contents) in &mut all {
        // What stands between fences is shown as it is; the definition of the review does.
        if file.ends_with(".md") {
            let mut is_fenced = false;
            let outside = contents.lines().filter(|line| {
                let is_fence = line.starts_with("```");
                is_fenced ^= is_fence;
                !is_fenced && !is_fence
            });
            *contents = outside.map(without_code).collect::<Vec<_>>().join("\n");
        }
    }
    for (file, contents) in &all {
        let harmful =
            |letter: char| letter != '\n' && (letter.is_control() || "\u{202e}\u{200b}\u{feff}".contains(letter));
        assert!(!contents.contains(harmful), "{file} holds what steers");
        if !file.ends_with(".json") && !file.ends_with("json") && !file.ends_with(".csv") && !file.contains("csv") {
            let is_terminal = file.starts_with("std") && !file.ends_with("markdown");
            let at = contents.find("<script>alert").filter(|_| !is_terminal);
            assert_eq!(at.map(|at| &contents[at.saturating_sub(200)..]), None, "{file} holds markup");
            assert!(is_terminal || !contents.contains("<b>é"), "{file} holds the name of the file as markup");
        }
    }
    for (file, contents) in all.iter().filter(|(file, _)| file.ends_with(".csv")) {
        for row in csv::Reader::from_reader(contents.as_bytes()).records() {
            for cell in row.unwrap().iter().filter(|cell| cell.parse::<f64>().is_err()) {
                assert!(!cell.starts_with(['=', '+', '-', '@']), "{file}: {cell:?} is a formula");
            }
        }
    }
    let page = &all.iter().find(|(file, _)| file.ends_with("out/review.html")).unwrap().1;
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"), "the name is shown, and as text");
    for (file, contents) in all.iter().filter(|(file, _)| file.ends_with(".svg") || file.ends_with("out/review.html")) {
        let opened = contents.matches("<script").count();
        assert!(opened <= usize::from(file.ends_with(".html")), "{file} has {opened} scripts");
    }
}

#[test]
fn the_worked_example_can_be_printed_and_reviewed() {
    let definition = printed(&shardlab().args(["review", "--print-default"]).output().unwrap());
    let folder = written(&definition, &[]);
    let review = folder.review();
    assert_valid(&review);
    assert_follows_from_its_numbers(&review);
    assert!(numbers_of_the_text(&review) > 10);
    // The same without a file, but for the command that makes it again.
    let output = shardlab()
        .current_dir(folder.0.path())
        .args(["review", "--out", "default", "--timing", "off", "--format", "json"])
        .output()
        .unwrap();
    let mut without: Value = serde_json::from_str(&printed(&output)).unwrap();
    without["inputs"]["command"] = review["inputs"]["command"].clone();
    assert_eq!(without, review);
}

fn example(name: &str) -> Value {
    let path = root().join("reports/examples").join(name).join("review.json");
    let review: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    assert_valid(&review);
    assert_follows_from_its_numbers(&review);
    let is_decided_by_numbers = review["decision"]["would_change"].to_string().contains("as tight as");
    assert!(numbers_of_the_text(&review) > 0 || !is_decided_by_numbers);
    review
}

fn judgement<'a>(review: &'a Value, scheme: &str, heading: &str) -> &'a Value {
    let place = review["requirements"].as_array().unwrap().iter().position(|one| one["heading"] == heading).unwrap();
    let candidate = review["candidates"].as_array().unwrap().iter().find(|one| one["scheme"] == scheme).unwrap();
    &candidate["judged"][place]
}

#[test]
fn a_cache_tier_that_fails_at_random_needs_nodes_that_leave_in_any_order() {
    let review = example("cache-tier");
    for scheme in ["elastic:created=8.15", "modulo", "jump"] {
        assert_eq!(judgement(&review, scheme, "any node can leave")["judgement"], "not_met", "{scheme}");
    }
    assert!(strings(&review["decision"]["remaining"]).contains(&"rendezvous"));
    assert_eq!(judgement(&review, "ring", "peak ≤ 1.15")["judgement"], "uncertain");
}

#[test]
fn a_database_that_only_grows_may_take_jump() {
    let review = example("growing-database");
    assert_eq!(strings(&review["decision"]["remaining"]), ["jump", "rendezvous"]);
    let path = |scheme: &str| {
        let paths = review["paths"].as_array().unwrap();
        paths.iter().find(|path| path["scheme"] == scheme).unwrap()["cumulative_fraction"].as_f64().unwrap()
    };
    // 1/3, 1/4, 1/5 and 1/6 of all keys are new in each step.
    assert!((path("jump") - (1.0 / 3.0 + 0.25 + 0.2 + 1.0 / 6.0)).abs() < 0.01, "{}", path("jump"));
    assert!(path("modulo") > 2.5 * path("jump"));
}

#[test]
fn an_index_that_outgrew_six_shards_cannot_get_eighteen() {
    let review = example("outgrown-index");
    assert_eq!(
        review["decision"]["headline"].as_str().unwrap().split(':').next(),
        Some("No scheme meets all requirements")
    );
    let refused = judgement(&review, "elastic:created=8.15", "18 shards: moved ≤ 0 %");
    assert!(refused["words"].as_str().unwrap().contains("18 does not divide the 768 routing shards"));
    assert_eq!(judgement(&review, "elastic:created=8.15", "12 shards: moved ≤ 0 %")["judgement"], "met");
    assert_eq!(judgement(&review, "elastic:created=8.15", "placed as Elasticsearch 8.15")["value"].as_f64(), Some(1.0));
    assert_eq!(
        strings(&review["decision"]["would_change"]),
        ["Without \"18 shards: moved ≤ 0 %\", elastic:created=8.15 would remain."]
    );
}

#[test]
fn one_tenant_of_forty_percent_needs_a_partition_that_spreads() {
    let review = example("one-large-tenant");
    let share = review["keys_floor"]["share"].as_f64().unwrap();
    assert!((share - 0.40).abs() < 0.01, "{share}");
    let peak = |scheme: &str| judgement(&review, scheme, "peak ≤ 2.00")["value"].as_f64().unwrap();
    // A tenant on one of ten shards fills it to ten times its share at least.
    assert!(peak("elastic:created=8.15") >= 10.0 * share && peak("jump") >= 10.0 * share);
    // With the routing shards of the default a partition of 8 stays within neighbouring slots.
    assert!(peak("elastic:created=8.15,partition=8") > 3.0);
    assert_eq!(review["decision"]["recommended"], "elastic:created=9.4,partition=8");
}

#[test]
fn a_load_balancer_that_needs_constant_time_gets_maglev() {
    let review = example("load-balancer");
    assert_eq!(review["decision"]["recommended"], "maglev");
    for scheme in ["jump", "rendezvous"] {
        assert_eq!(judgement(&review, scheme, "constant lookup")["judgement"], "not_met", "{scheme}");
    }
}

#[test]
fn nodes_of_unequal_size_need_weights() {
    let review = example("unequal-nodes");
    for scheme in ["elastic:created=9.4", "modulo", "jump"] {
        assert_eq!(judgement(&review, scheme, "weights")["judgement"], "not_met", "{scheme}");
    }
    for scheme in ["rendezvous", "maglev"] {
        assert!(judgement(&review, scheme, "peak ≤ 1.10")["value"].as_f64().unwrap() < 1.05, "{scheme}");
    }
}

#[cfg(unix)]
mod ends {
    //! However a review ends, there is the old folder or the whole new one.

    use std::os::unix::fs::PermissionsExt;
    use std::process::{Command, Stdio};

    use super::*;

    const QUICK: &str = "candidates = [\"jump\"]\n[keys]\nsynthetic = \"random:20000\"\n";

    fn command(folder: &Folder, flags: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_shardlab"));
        command.current_dir(folder.0.path()).args(["review", "review.toml", "--timing", "off", "--out", "out"]);
        command.args(flags).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    /// All files with their contents, by their paths in the folder.
    fn whole(folder: &Folder) -> Vec<(String, String)> {
        let base = folder.path("out").display().to_string();
        contents(&folder.path("out")).into_iter().map(|(name, text)| (name.replace(&base, ""), text)).collect()
    }

    #[test]
    fn a_review_that_is_ended_leaves_the_old_folder_or_the_whole_new_one() {
        let folder = Folder::with(&QUICK.replace("jump", "modulo"));
        assert!(command(&folder, &[]).status().unwrap().success());
        let old = whole(&folder);
        fs::write(folder.path("review.toml"), QUICK).unwrap();
        let start = std::time::Instant::now();
        assert!(command(&folder, &["--force"]).status().unwrap().success());
        let (new, lasted) = (whole(&folder), start.elapsed());
        assert_ne!(old, new);
        for signal in ["INT", "TERM", "KILL"] {
            for tenth in 0..=11_u32 {
                let folder = Folder::with(&QUICK.replace("jump", "modulo"));
                assert!(command(&folder, &[]).status().unwrap().success());
                fs::write(folder.path("review.toml"), QUICK).unwrap();
                let mut child = command(&folder, &["--force"]).spawn().unwrap();
                std::thread::sleep(lasted * tenth / 10);
                // It may be over already.
                let id = child.id().to_string();
                let _ = Command::new("kill").args(["-s", signal, &id]).stderr(Stdio::null()).status().unwrap();
                child.wait().unwrap();
                let found = whole(&folder);
                assert!(found == old || found == new, "{signal} after {tenth} tenths left {} files", found.len());
                if signal != "KILL" {
                    assert_eq!(names(folder.0.path()), ["out", "review.toml"], "{signal} after {tenth} tenths");
                }
            }
        }
    }

    #[test]
    fn a_disk_that_takes_no_more_leaves_what_was_there() {
        let folder = Folder::with(QUICK);
        assert!(command(&folder, &[]).status().unwrap().success());
        let before = whole(&folder);
        // Files of more than one block fail as they do on a full disk.
        let line = format!(
            "trap '' XFSZ; ulimit -f 1; exec '{}' review review.toml --timing off --out out --force",
            env!("CARGO_BIN_EXE_shardlab")
        );
        let output = Command::new("sh").args(["-c", &line]).current_dir(folder.0.path()).output().unwrap();
        let refused = refusal(&output);
        assert!(refused.contains("cannot write \"out\"; what was there is as it was"), "{refused}");
        assert_eq!(whole(&folder), before);
        assert_eq!(names(folder.0.path()), ["out", "review.toml"]);
    }

    #[test]
    fn a_folder_that_may_not_be_written_is_refused_before_any_work() {
        let folder = Folder::with(QUICK);
        fs::create_dir(folder.path("closed")).unwrap();
        fs::set_permissions(folder.path("closed"), fs::Permissions::from_mode(0o555)).unwrap();
        // Whoever may do everything is stopped by no mode.
        if fs::write(folder.path("closed/probe"), "").is_ok() {
            return;
        }
        let refused = refusal(&folder.run(&["--out", "closed/out"]));
        assert!(refused.contains("cannot write \"closed/out\""), "{refused}");
    }
}
