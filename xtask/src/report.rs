//! Makes what `reports` holds, and the table of the README, from commands and records; or checks that
//! both are what they would be if they were made now.

pub(crate) mod criterion;
mod index;
mod made;
mod splice;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, ensure};

use crate::process;
use made::{Made, difference, stray, write_file};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Write nothing; name each file that is not what its command makes, with exit code 1 if there is one
    #[arg(long)]
    check: bool,
    /// Also keep criterion's last estimates in a new dated folder under reports/record
    #[arg(long, conflicts_with = "check")]
    benches: bool,
}

/// What makes everything here.
const COMMAND: &str = "cargo xtask report";

/// The comparison that the README and the first two files are about.
const COMPARE: [&str; 5] = ["compare", "--timing", "off", "--format", "markdown"];

/// The folders in which nothing is that this does not make.
const OWN: [&str; 2] = ["reports/figures", "reports/review"];

/// Where the review of the default keys is written, and how.
const REVIEW: &str = "reports/review";
const REVIEW_FLAGS: [&str; 3] = ["review", "--timing", "off"];

/// Makes the reports, or compares them with what is stored.
pub(crate) fn run(root: &Path, args: &Args) -> anyhow::Result<ExitCode> {
    if args.benches {
        println!("{}", criterion::keep_alone(root)?.display());
    }
    let made = make(root)?;
    let stray = stray(root, &OWN, &made)?;
    let mut faults: Vec<String> = stray.iter().map(|path| format!("{path}: no command makes it")).collect();
    for file in &made {
        let Some(difference) = difference(root, file)? else { continue };
        if args.check {
            faults.push(difference);
        } else {
            write_file(&root.join(&file.path), &file.content)?;
            println!("{}", file.path);
        }
    }
    if args.check {
        if faults.is_empty() {
            println!("report: {} files are what their commands make", made.len());
            return Ok(ExitCode::SUCCESS);
        }
        faults.iter().for_each(|fault| eprintln!("{fault}"));
        eprintln!("{} of {} files differ; make them again with: {COMMAND}", faults.len(), made.len());
        return Ok(ExitCode::FAILURE);
    }
    for path in stray {
        fs::remove_file(root.join(&path)).with_context(|| format!("cannot remove {path}"))?;
        println!("{path} removed, since no command makes it");
    }
    Ok(ExitCode::SUCCESS)
}

/// Everything as it would be if it were made now.
fn make(root: &Path) -> anyhow::Result<Vec<Made>> {
    let shardlab = program(root, "shardlab")?;
    let folder = tempfile::tempdir().context("cannot make a folder for what commands write")?;
    let (comparison, load) = comparison(root, &shardlab, folder.path())?;
    let mut made = vec![
        Made::marked(
            "reports/default-comparison.md",
            &format!("Made by {COMMAND} with {}", shown(&COMPARE)),
            &comparison,
        ),
        Made::marked("reports/default-load.svg", &format!("Made by {COMMAND}"), &load),
    ];
    let records = index::records(root)?;
    if let Some(record) = records.iter().find(|record| record.has_scaling()) {
        made.extend(figures(root, record)?);
    }
    made.extend(review(root, &shardlab, folder.path())?);
    let stored = |path: &str| fs::read_to_string(root.join(path)).with_context(|| format!("cannot read {path}"));
    let readme = splice::splice(&stored("README.md")?, "one-result", &index::one_result(&comparison)?);
    made.push(Made::text("README.md", readme.context("README.md")?));
    let index = splice::splice(&stored("reports/README.md")?, "files", &index::files(&made))
        .and_then(|text| splice::splice(&text, "records", &index::list(&records)));
    made.push(Made::text("reports/README.md", index.context("reports/README.md")?));
    Ok(made)
}

/// A program that makes something, built as `cargo test` has built it: what it prints is the same with every
/// optimisation, and continuous integration has it already, where any other build would cost minutes.
fn program(root: &Path, name: &str) -> anyhow::Result<PathBuf> {
    process::build(root, &["build", "--bin", "shardlab", "--example", "growth"], name)
}

/// The command line of a program of ours.
fn shown(arguments: &[&str]) -> String {
    format!("shardlab {}", arguments.join(" "))
}

/// What the default comparison prints, and the picture that it draws.
fn comparison(root: &Path, shardlab: &Path, folder: &Path) -> anyhow::Result<(String, String)> {
    let picture = folder.join("load.svg");
    let chart = picture.to_str().context("the folder for temporary files has a name that is not text")?;
    let printed = output(root, shardlab, &[&COMPARE[..], &["--chart", chart]].concat(), None)?;
    let drawn = fs::read_to_string(&picture).with_context(|| format!("{} drew no picture", shown(&COMPARE)))?;
    Ok((printed, drawn))
}

/// How cost grows, from a record.
fn figures(root: &Path, record: &index::Record) -> anyhow::Result<Vec<Made>> {
    let program = program(root, "growth")?;
    let scaling = record.scaling().to_string();
    let made_from = format!("Made by {COMMAND} from {}/record.json", record.path);
    let draw = |(what, file): (&str, &str)| {
        let drawn = output(root, &program, &[what], Some(&scaling)).with_context(|| record.path.clone())?;
        Ok(Made::marked(file, &made_from, &drawn))
    };
    [("lookup", "reports/figures/lookup-growth.svg"), ("cost", "reports/figures/cost-growth.svg")]
        .map(draw)
        .into_iter()
        .collect()
}

/// The files that a review writes.
fn review(root: &Path, shardlab: &Path, folder: &Path) -> anyhow::Result<Vec<Made>> {
    let out = folder.join("review");
    let place = out.to_str().context("the folder for temporary files has a name that is not text")?;
    output(root, shardlab, &[&REVIEW_FLAGS[..], &["--out", place]].concat(), None)?;
    let mut files = Vec::new();
    made::files_below(&out, &mut files)?;
    ensure!(!files.is_empty(), "{} wrote no file", shown(&REVIEW_FLAGS));
    let read = |path: PathBuf| {
        let name = path.strip_prefix(&out).unwrap_or(&path).to_string_lossy().into_owned();
        let content = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
        Ok(Made { path: format!("{REVIEW}/{name}"), content })
    };
    files.into_iter().map(read).collect()
}

/// What a program prints, given some text to read.
fn output(root: &Path, program: &Path, arguments: &[&str], input: Option<&str>) -> anyhow::Result<String> {
    let name = program.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut command = Command::new(program);
    command.args(arguments).current_dir(root);
    let output = match input {
        // A file, so that neither side waits for the other.
        Some(text) => {
            let mut file = tempfile::tempfile().context("cannot make a temporary file")?;
            std::io::Write::write_all(&mut file, text.as_bytes())?;
            std::io::Seek::rewind(&mut file)?;
            command.stdin(file).output()
        }
        None => command.stdin(std::process::Stdio::null()).output(),
    };
    let output = output.with_context(|| format!("cannot run {}", program.display()))?;
    let line = format!("{name} {}", arguments.join(" "));
    ensure!(output.status.success(), "{line} failed:\n{}", String::from_utf8_lossy(&output.stderr).trim_end());
    String::from_utf8(output.stdout).with_context(|| format!("{line} printed something that is not text"))
}
