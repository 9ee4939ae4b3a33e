//! The parsers of input, for fuzz tests and for tests of the documentation. Each function passes text to one parser,
//! runs no experiments, and prints nothing.

use std::path::Path;

use clap::Parser;
use experiment::{Experiment, Overrides, read_design};
use trial::read_messages;

use crate::cli::Cli;
use crate::command::described;

/// Returns the output of `lsmbench describe` for an experiment file.
///
/// # Errors
/// The error that `lsmbench describe` prints for the file.
pub fn experiment(file: &Path) -> Result<String, String> {
    let experiment = Experiment::load(file, &Overrides::default());
    experiment.and_then(|experiment| described(&experiment)).map_err(|problem| problem.to_string())
}

/// Returns the resolved design of a design file as TOML.
///
/// # Errors
/// The error that the program prints for the file.
pub fn design(file: &Path) -> Result<String, String> {
    read_design(file).map(|design| design.to_toml().to_string()).map_err(|problem| problem.to_string())
}

/// Parses a text as a message to a trial process, and also as a message from a trial process. Returns both results as
/// JSON; `None` if the text is not such a message.
pub fn message(text: &str) -> (Option<String>, Option<String>) {
    read_messages(text)
}

/// Parses the arguments of the program, without the name of the program, and executes nothing.
///
/// # Errors
/// The error that the program prints for the arguments. The requested help or version is also an error.
pub fn command_line<'a>(arguments: impl IntoIterator<Item = &'a str>) -> Result<(), clap::Error> {
    Cli::try_parse_from(std::iter::once("lsmbench").chain(arguments)).map(|_| ())
}
