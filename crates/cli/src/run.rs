//! What belongs to one run of the command and to no result.

/// Whether times are measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Timing {
    On,
    Off,
}

/// The command line as it was given.
pub(crate) fn command_line() -> String {
    let given = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    quoted(std::iter::once("shardlab".to_owned()).chain(given))
}

/// Words as one line, each quoted where a shell would need it.
pub(crate) fn quoted(words: impl IntoIterator<Item = String>) -> String {
    let quoted = words.into_iter().map(|word| {
        let plain = |letter: char| letter.is_alphanumeric() || "-_=:,./+%@".contains(letter);
        if !word.is_empty() && word.chars().all(plain) { word } else { format!("'{}'", word.replace('\'', r"'\''")) }
    });
    quoted.collect::<Vec<_>>().join(" ")
}
