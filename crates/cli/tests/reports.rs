//! The committed reports are what their commands print, and the examples of the README run.

use std::path::Path;

use assert_cmd::Command;

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// A stored report without the comment that says what made it.
fn committed(name: &str) -> String {
    let path = root().join("reports").join(name);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let (comment, rest) = text.split_once('\n').unwrap_or_else(|| panic!("{name} has no second line"));
    assert!(comment.starts_with("<!-- Made by cargo xtask report"), "{name} begins with {comment:?}");
    rest.trim_start_matches('\n').to_owned()
}

fn shardlab() -> Command {
    Command::new(env!("CARGO_BIN_EXE_shardlab"))
}

#[test]
fn the_default_comparison_is_what_the_command_prints() {
    let output = shardlab().args(["compare", "--timing", "off", "--format", "markdown"]).unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(printed == committed("default-comparison.md"), "default-comparison.md differs; run: cargo xtask report");
}

#[test]
fn the_default_figure_is_what_the_command_draws() {
    let folder = tempfile::tempdir().unwrap();
    let figure = folder.path().join("load.svg");
    shardlab().args(["compare", "--timing", "off", "--chart"]).arg(&figure).unwrap();
    let drawn = std::fs::read_to_string(figure).unwrap();
    assert!(drawn == committed("default-load.svg"), "default-load.svg differs; run: cargo xtask report");
}

#[test]
fn the_examples_of_the_documents_run() {
    let examples = trycmd::TestCases::new();
    examples.case(root().join("README.md")).case(root().join("METHODOLOGY.md"));
    examples.run();
}
