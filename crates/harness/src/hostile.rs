//! The parsers of untrusted input, one function for each, for fuzzing. The parsers run nothing and print nothing.

use std::path::Path;

use experiment::{Experiment, Overrides, read_design};
use trial::read_messages;

use crate::command::described;

/// The output of `lsmbench describe` on an experiment file.
///
/// # Errors
/// The error that it prints instead.
pub fn experiment(file: &Path) -> Result<String, String> {
    let experiment = Experiment::load(file, &Overrides::default());
    experiment.and_then(|experiment| described(&experiment)).map_err(|problem| problem.to_string())
}

/// The resolved design of a design file, as TOML.
///
/// # Errors
/// The error that a user would read.
pub fn design(file: &Path) -> Result<String, String> {
    read_design(file).map(|design| design.to_toml().to_string()).map_err(|problem| problem.to_string())
}

/// Parses a message to and a message from the process of a trial, and returns each as JSON.
pub fn message(text: &str) -> (Option<String>, Option<String>) {
    read_messages(text)
}
