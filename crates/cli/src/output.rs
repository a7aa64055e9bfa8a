use std::io::{self, Write};
use std::path::Path;

use anyhow::Context;
use shardlab_report::Format;

/// How a command prints a table for people and programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum TableFormat {
    /// Aligned columns for a terminal.
    Table,
    /// A JSON document.
    Json,
    /// Comma-separated values, one row a scheme.
    Csv,
    /// A table that pastes into a pull request.
    Markdown,
}

impl TableFormat {
    /// The form of a table, or `None` for JSON.
    pub(crate) const fn as_table(self) -> Option<Format> {
        match self {
            Self::Table => Some(Format::Terminal),
            Self::Csv => Some(Format::Csv),
            Self::Markdown => Some(Format::Markdown),
            Self::Json => None,
        }
    }
}

/// Prints data to stdout.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).context("cannot write to stdout")
}

/// The width of the terminal on stdout, if it is one.
pub(crate) fn terminal_width() -> Option<u16> {
    console::Term::stdout().size_checked().map(|(_, columns)| columns)
}

/// Writes a whole file or nothing: into a temporary file beside it, which then takes its name.
pub(crate) fn write_file(path: &Path, contents: &str) -> anyhow::Result<()> {
    let shown = path.display().to_string();
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."));
    let written = tempfile::NamedTempFile::new_in(folder).and_then(|mut file| {
        file.write_all(contents.as_bytes())?;
        file.as_file().sync_all()?;
        file.persist(path).map_err(|error| error.error)
    });
    written.with_context(|| format!("cannot write {shown:?}"))?;
    Ok(())
}
