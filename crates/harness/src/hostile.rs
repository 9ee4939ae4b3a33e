//! The parsers of untrusted input, for fuzz tests. Each function passes text to one parser, runs no experiments, and
//! prints nothing.

use std::path::Path;

use experiment::{Experiment, Overrides, read_design};
use trial::read_messages;

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
