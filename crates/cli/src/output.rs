use std::io::{self, Write};
use std::path::Path;

use anyhow::{Context, bail};
use shardlab_report::{Format, fit, for_json, for_terminal};

use crate::undisturbed::Undisturbed;

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

/// Prints text and tables for people, with lines that are too long for the terminal wrapped. A table in
/// another form goes out as it is.
pub(crate) fn print_text(text: &str, format: Format) -> anyhow::Result<()> {
    let width = if format == Format::Terminal { terminal_width() } else { None };
    print(&fit(text, width))
}

/// Prints JSON to stdout, with what could steer a terminal escaped as JSON escapes it.
pub(crate) fn print_json(json: &str) -> anyhow::Result<()> {
    print(&(for_json(json).into_owned() + "\n"))
}

/// Prints a result as JSON to stdout as it is made, so that a large one needs no memory of its own.
pub(crate) fn print_as_json(rows: &impl serde::Serialize) -> anyhow::Result<()> {
    let mut out = Escaped(io::BufWriter::new(io::stdout().lock()));
    let written = serde_json::to_writer_pretty(&mut out, rows).map_err(io::Error::from);
    written.and_then(|()| out.write_all(b"\n")).and_then(|()| out.flush()).context("cannot write to stdout")
}

/// A writer of JSON that escapes what could steer a terminal. Each piece must end where a character ends,
/// as pieces of texts do.
struct Escaped<W>(W);

impl<W: Write> Write for Escaped<W> {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        // Nearly every piece is plain, and there are millions of them.
        if piece.iter().all(|&byte| byte == b'\n' || (b' '..=b'~').contains(&byte)) {
            self.0.write_all(piece)?;
            return Ok(piece.len());
        }
        match std::str::from_utf8(piece) {
            Ok(text) => self.0.write_all(for_json(text).as_bytes())?,
            Err(_) => return Err(io::Error::new(io::ErrorKind::InvalidData, "a piece of JSON that is no text")),
        }
        Ok(piece.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Prints a line to stderr. Whoever closed it does not want to know, so a failure is none.
pub(crate) fn say(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}

/// Prints a note to stderr, harmless whatever it quotes.
pub(crate) fn note(words: &str) {
    say(&format!("note: {}", for_terminal(words)));
}

/// The width of the terminal on stdout, if it is one: what `COLUMNS` says, else what the terminal says.
pub(crate) fn terminal_width() -> Option<u16> {
    let terminal = console::Term::stdout();
    if !terminal.is_term() {
        return None;
    }
    let asked = std::env::var("COLUMNS").ok().and_then(|columns| columns.trim().parse().ok());
    asked.filter(|&columns: &u16| columns > 0).or_else(|| terminal.size_checked().map(|(_, columns)| columns))
}

/// The folder that a file stands in.
pub(crate) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."))
}

/// Refuses a file that cannot be written later for want of a folder, before any work is done.
pub(crate) fn check_place(path: &Path) -> anyhow::Result<()> {
    let folder = folder_of(path);
    match std::fs::metadata(folder) {
        Err(error) => bail!("cannot write {:?}: its folder: {error}", path.display().to_string()),
        Ok(found) if !found.is_dir() => {
            bail!("cannot write {:?}: {:?} is no folder", path.display().to_string(), folder.display().to_string())
        }
        Ok(_) if path.is_dir() => {
            bail!("cannot write {:?}: it is a folder; name a file in it", path.display().to_string())
        }
        Ok(_) => Ok(()),
    }
}

/// Writes a whole file or nothing: into a temporary file beside it, which then takes its name.
pub(crate) fn write_file(path: &Path, contents: &str) -> anyhow::Result<()> {
    // An interruption in these moments would leave the temporary file behind.
    let _undisturbed = Undisturbed::new();
    let shown = path.display().to_string();
    let folder = folder_of(path);
    let written = temporary().tempfile_in(folder).and_then(|mut file| {
        file.write_all(contents.as_bytes())?;
        file.as_file().sync_all()?;
        file.persist(path).map_err(|error| error.error)
    });
    written.with_context(|| format!("cannot write {shown:?}"))?;
    Ok(())
}

/// A temporary file that other people may read as they may any new file: a private mode would stay
/// with the file when it takes its name.
pub(crate) fn temporary() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    builder
}
