//! The pictures that `--chart` draws, one a command.

use std::path::Path;
use std::process::Output;

use crate::common::{file, printed, refusal, shardlab};

/// One question for each command that draws, with the beginning of what its picture says.
const QUESTIONS: [(&str, &str); 5] = [
    ("compare --timing off --scheme ring --scheme jump", "ring is less even than chance"),
    ("what-if jump:nodes=4 --grow-to 5 --synthetic random:5000", "grow to 5 nodes: "),
    ("split-plan --shards 5 --created 8.15 --routing-shards 30 --to 30", "5 to 30 shards is legal"),
    ("tune ring --nodes 5 --peak 1.3 --draws 20", "vnodes="),
    ("tune elastic:created=8.15 --nodes 5 --peak 1.3 --synthetic random:500", "14 of 31 numbers of nodes keep"),
];

fn draw(line: &str, chart: &Path) -> Output {
    shardlab().args(line.split_whitespace()).arg("--chart").arg(chart).output().unwrap()
}

fn title(picture: &str) -> &str {
    picture.split_once("<title>").and_then(|(_, rest)| rest.split_once("</title>")).unwrap().0
}

#[test]
fn every_command_draws_its_picture_and_prints_the_same_as_without() {
    let folder = tempfile::tempdir().unwrap();
    let chart = folder.path().join("chart.svg");
    for (line, says) in QUESTIONS {
        let with = printed(&draw(line, &chart));
        assert_eq!(with, printed(&shardlab().args(line.split_whitespace()).output().unwrap()), "{line}");
        let picture = std::fs::read_to_string(&chart).unwrap();
        assert!(title(&picture).starts_with(says), "{line}: {}", title(&picture));
        assert!(picture.ends_with("</svg>\n"), "{line}");
    }
}

#[test]
fn a_picture_is_the_same_bytes_for_any_number_of_threads() {
    let folder = tempfile::tempdir().unwrap();
    let charts = [folder.path().join("one.svg"), folder.path().join("three.svg")];
    for (line, _) in QUESTIONS {
        for (chart, threads) in charts.iter().zip(["1", "3"]) {
            printed(&draw(&format!("{line} --threads {threads}"), chart));
        }
        let [one, three] = charts.each_ref().map(|chart| std::fs::read(chart).unwrap());
        assert!(one == three, "{line}");
    }
}

#[test]
fn a_path_is_drawn_with_its_detour() {
    let plan =
        file("growth.toml", "start = \"ring:nodes=4\"\n[[step]]\nadd = \"<script>\"\n[[step]]\nto = \"start\"\n");
    let chart = plan.path.with_file_name("growth.svg");
    let line = format!("plan {} --synthetic random:5000", plan.path.display());
    printed(&draw(&line, &chart));
    let picture = std::fs::read_to_string(&chart).unwrap();
    assert!(title(&picture).starts_with("All steps together move "), "{}", title(&picture));
    assert!(picture.contains("&lt;script&gt;") && !picture.contains("<script>"));
}

#[test]
fn a_question_that_fails_leaves_the_old_picture() {
    let old = file("chart.svg", "what stood here before");
    for line in [
        "what-if jump:nodes=3 --remove 1 --synthetic sequential:100",
        "what-if jump:nodes=3 --grow-to 2",
        "split-plan --shards 5 --created 9.x --to 30",
        "tune ring --nodes 5 --peak 0.5",
        "plan absent.toml",
    ] {
        refusal(&draw(line, &old.path));
        assert_eq!(std::fs::read_to_string(&old.path).unwrap(), "what stood here before", "{line}");
        assert_eq!(std::fs::read_dir(old.path.parent().unwrap()).unwrap().count(), 1, "{line}");
    }
}
