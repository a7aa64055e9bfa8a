use std::io;
use std::process::ExitCode;

use shardlab_report::for_terminal;

use crate::gate::{Changed, NotMet};
use crate::output::say;

/// A requirement is not met, or a mapping changed.
const NOT_MET: u8 = 1;

/// Bad input or usage.
const BAD_INPUT: u8 = 2;

/// The exit code for an outcome; an error is printed to stderr, with its causes where they add
/// something.
pub(crate) fn exit_code(outcome: anyhow::Result<()>) -> ExitCode {
    let Err(error) = outcome else { return ExitCode::SUCCESS };
    // Whoever reads our output has seen enough: `shardlab route … | head` is no failure.
    if error.chain().any(is_broken_pipe) {
        return ExitCode::SUCCESS;
    }
    if let Some(NotMet(unmet)) = error.downcast_ref() {
        for one in unmet {
            say(&for_terminal(&one.to_string()));
        }
        return ExitCode::from(NOT_MET);
    }
    if let Some(changed) = error.downcast_ref::<Changed>() {
        say(&changed.to_string());
        return ExitCode::from(NOT_MET);
    }
    let mut message = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if message.is_empty() {
            message = cause;
        } else if !message.contains(&cause) {
            message = format!("{message}: {cause}");
        }
    }
    // An error is one line; line feeds and all else that could steer a terminal came from outside.
    say(&format!("error: {}", for_terminal(&message)));
    ExitCode::from(BAD_INPUT)
}

fn is_broken_pipe(cause: &(dyn std::error::Error + 'static)) -> bool {
    // The error of the CSV writer hides the one of the system from the chain of causes.
    let of_csv = || match cause.downcast_ref::<csv::Error>()?.kind() {
        csv::ErrorKind::Io(error) => Some(error),
        _ => None,
    };
    cause.downcast_ref::<io::Error>().or_else(of_csv).is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
