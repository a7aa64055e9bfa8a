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

/// The folders in which nothing is that this does not make, but for the reviews that people wrote.
const OWN: [&str; 3] = ["reports/figures", "reports/review", EXAMPLES];

/// Where the worked example of a review is written.
const REVIEW: &str = "reports/review";

/// Where reviews stand that people wrote, each with a folder of its name beside it.
const EXAMPLES: &str = "reports/examples";

/// A review that is made again here.
struct Review {
    /// The file that says what is asked, from the root of the workspace; none for the worked example.
    definition: Option<String>,
    /// The folder that it is written to.
    folder: String,
}

impl Review {
    fn flags(&self) -> Vec<&str> {
        let definition = self.definition.as_deref();
        std::iter::once("review").chain(definition).chain(["--timing", "off"]).collect()
    }

    /// The command that writes it.
    fn command(&self) -> String {
        format!("{} --out {} --force", shown(&self.flags()), self.folder)
    }
}

/// The worked example, and then those that people wrote, by their names.
fn reviews(root: &Path) -> anyhow::Result<Vec<Review>> {
    let mut files = Vec::new();
    made::files_below(&root.join(EXAMPLES), &mut files)?;
    let names = files.iter().filter(|path| path.extension().is_some_and(|ending| ending == "toml"));
    let names = names.filter_map(|path| path.file_stem()?.to_str());
    let examples = names.map(|name| Review {
        definition: Some(format!("{EXAMPLES}/{name}.toml")),
        folder: format!("{EXAMPLES}/{name}"),
    });
    Ok(std::iter::once(Review { definition: None, folder: REVIEW.to_owned() }).chain(examples).collect())
}

/// Makes the reports, or compares them with what is stored.
pub(crate) fn run(root: &Path, args: &Args) -> anyhow::Result<ExitCode> {
    if args.benches {
        println!("{}", criterion::keep_alone(root)?.display());
    }
    let made = make(root)?;
    let mut stray = stray(root, &OWN, &made)?;
    stray.retain(|path| !(path.starts_with(EXAMPLES) && path.ends_with(".toml")));
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
    let reviews = reviews(root)?;
    for (number, review) in reviews.iter().enumerate() {
        made.extend(written(root, &shardlab, review, &folder.path().join(number.to_string()))?);
    }
    let stored = |path: &str| fs::read_to_string(root.join(path)).with_context(|| format!("cannot read {path}"));
    let readme = splice::splice(&stored("README.md")?, "one-result", &index::one_result(&comparison)?);
    made.push(Made::text("README.md", readme.context("README.md")?));
    let index = splice::splice(&stored("reports/README.md")?, "files", &index::files(&made, &reviews))
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
fn written(root: &Path, shardlab: &Path, review: &Review, out: &Path) -> anyhow::Result<Vec<Made>> {
    let place = out.to_str().context("the folder for temporary files has a name that is not text")?;
    output(root, shardlab, &[&review.flags()[..], &["--out", place]].concat(), None)?;
    let mut files = Vec::new();
    made::files_below(out, &mut files)?;
    ensure!(!files.is_empty(), "{} wrote no file", review.command());
    let read = |path: PathBuf| {
        let name = path.strip_prefix(out).unwrap_or(&path).to_string_lossy().into_owned();
        let content = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
        Ok(Made { path: format!("{}/{name}", review.folder), content })
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
