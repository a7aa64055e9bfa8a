use std::path::{Path, PathBuf};

use anyhow::Context;
use shardlab_core::rows::{KeySet, Review, ReviewStudies};
use shardlab_core::{KeyRules, RawChunk};
use shardlab_keys::{Documents, Progress, ReadError};
use shardlab_report::{ReviewFiles, for_terminal, review_files, review_text};
use shardlab_study::{StudyError, review};

use crate::folder::{check_folder, write_folder};
use crate::output::{TableFormat, folder_of, note, print, print_json, print_text, terminal_width};
use crate::progress::Bar;
use crate::resources::ResourceArgs;
use crate::review_file::{Asked, Machine, parse};
use crate::run::{Timing, command_line, quoted};

/// The review that is made where none is given, and the one to begin with.
const DEFAULT: &str = include_str!("../../data/default-review.toml");

#[derive(Debug, clap::Args)]
#[command(
    after_help = "The file says in TOML what is asked: a title and a question, the nodes, the keys, what a scheme \
                        must do ([requirements]), the changes to come ([[change]]) and the schemes to hold against that. \
                        --print-default shows one with everything explained; files that it names are looked for beside \
                        it.\n\nDIR gets review.html (one file for reading and printing), review.md (for a pull request), \
                        review.json, data/*.csv and figures/*.svg, all or none. Standard output gets the decision in \
                        short.\n\nExamples:\n  \
                        shardlab review\n  \
                        shardlab review --print-default > caches.toml\n  \
                        shardlab review caches.toml --out caches-review\n  \
                        shardlab review caches.toml --out caches-review --force --timing off\n  \
                        shardlab review caches.toml --format json > decision.json"
)]
pub(crate) struct Args {
    /// The review; "-" is stdin [default: a worked example]
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// Folder for pages, pictures and data
    #[arg(long, value_name = "DIR", default_value = "review")]
    out: PathBuf,
    /// Replace the folder if an earlier review stands there
    #[arg(long)]
    force: bool,
    /// Print the worked example and write nothing
    #[arg(long, conflicts_with_all = ["file", "force"])]
    print_default: bool,
    #[command(flatten)]
    resources: ResourceArgs,
    /// Whether to measure times; with "off" all files are the same bytes everywhere
    #[arg(long, value_enum, default_value = "on")]
    timing: Timing,
    /// Form of the summary on standard output
    #[arg(long, value_enum, default_value = "table")]
    format: TableFormat,
}

pub(crate) fn run(args: Args) -> anyhow::Result<()> {
    if args.print_default {
        return print(DEFAULT);
    }
    check_folder(&args.out, args.force, is_ours)?;
    let command = command(args.file.as_deref());
    let machine = Machine {
        command: &command,
        threads: args.resources.threads(),
        max_memory: args.resources.max_memory,
        timing: args.timing == Timing::On,
    };
    let asked = read(&args, machine)?;
    let (rows, studies) = study(&asked)?;
    let files = review_files(&rows, &studies)?;
    let shown = args.out.display().to_string();
    write_folder(&args.out, &files.all, args.force, is_ours)?;
    note(&format!("{shown}: review.html, review.md, review.json, {}", files.beside()));
    match args.format.as_table() {
        Some(format) => print_text(&review_text(&rows, format, terminal_width()), format),
        None => print_json(files.json().trim_end()),
    }
}

/// Whether a file of a folder was written by a review: it has such a name, and a review stands beside it.
fn is_ours(folder: &Path, name: &str) -> bool {
    let is_review = || {
        let text = std::fs::read_to_string(folder.join(ReviewFiles::JSON)).ok()?;
        let found: serde_json::Value = serde_json::from_str(&text).ok()?;
        Some(found["schema"] == "shardlab-review")
    };
    ReviewFiles::is_name(name) && is_review().unwrap_or(false)
}

/// The command that makes the same review again in the folder of its file, the same bytes everywhere.
fn command(file: Option<&Path>) -> String {
    if file == Some(Path::new("-")) {
        return "shardlab review - --timing off < FILE".to_owned();
    }
    let file = file.and_then(Path::file_name);
    let words = ["shardlab", "review"].map(Into::into).into_iter();
    let words = words.chain(file.map(|name| name.to_string_lossy().into_owned()));
    quoted(words.chain(["--timing", "off"].map(Into::into)))
}

fn read(args: &Args, machine: Machine<'_>) -> anyhow::Result<Asked> {
    match &args.file {
        None => parse(DEFAULT, "the worked example", Path::new("."), machine),
        Some(file) if file == Path::new("-") => {
            let text = std::io::read_to_string(std::io::stdin()).context("cannot read <stdin>")?;
            parse(&text, "<stdin>", Path::new("."), machine)
        }
        Some(file) => {
            let shown = for_terminal(&file.to_string_lossy());
            let text = std::fs::read_to_string(file).with_context(|| format!("cannot read {shown}"))?;
            parse(&text, &shown, folder_of(file), machine)
        }
    }
}

fn study(asked: &Asked) -> anyhow::Result<(Review, ReviewStudies)> {
    let rules = asked.request.rules();
    // What is wrong with the source of the keys is found here, in words about it.
    drop(documents(asked, rules).with_context(|| asked.keys_at.clone())?);
    let open = || {
        documents(asked, rules).map_err(|error| match error.downcast::<ReadError>() {
            Ok(error) => StudyError::Read(error),
            Err(other) => StudyError::Read(ReadError::Open {
                file: asked.description.clone().unwrap_or_default(),
                source: std::io::Error::other(other.to_string()),
            }),
        })
    };
    let bar = Bar::new();
    let outcome = review(&asked.request, &open, &command_line(), &|progress| bar.show(progress));
    bar.finish();
    Ok(outcome?)
}

/// The documents from their beginning.
fn documents(asked: &Asked, rules: KeyRules) -> anyhow::Result<Box<dyn Documents>> {
    let mut documents = asked.keys.documents_or_sample(rules)?;
    if asked.distinct {
        documents = shardlab_keys::distinct(documents, asked.request.max_memory);
    }
    Ok(match &asked.description {
        // Results name the file as its author did, wherever the command was started.
        Some(description) => Box::new(Described { documents, description: description.clone() }),
        None => documents,
    })
}

/// Documents under a name of their own.
struct Described {
    documents: Box<dyn Documents>,
    description: String,
}

impl Documents for Described {
    fn next_chunk(&mut self, chunk: &mut RawChunk) -> Result<bool, ReadError> {
        self.documents.next_chunk(chunk)
    }

    fn are_hashed(&self) -> bool {
        self.documents.are_hashed()
    }

    fn progress(&self) -> Progress {
        self.documents.progress()
    }

    fn key_set(&self) -> KeySet {
        KeySet { description: self.description.clone(), ..self.documents.key_set() }
    }
}
