//! What this program reads from outside, one function for each, so that fuzzing can feed it anything. Nothing here is
//! run, and nothing is printed.

use std::path::Path;

use experiment::{Experiment, Overrides, read_design};
use trial::read_messages;

use crate::command::described;

/// What `lsmbench describe` prints of an experiment file.
///
/// # Errors
/// What it prints instead.
pub fn experiment(file: &Path) -> Result<String, String> {
    let experiment = Experiment::load(file, &Overrides::default());
    experiment.and_then(|experiment| described(&experiment)).map_err(|problem| problem.to_string())
}

/// The design of a design file, as TOML with everything spelt out.
///
/// # Errors
/// What a user would read.
pub fn design(file: &Path) -> Result<String, String> {
    read_design(file).map(|design| design.to_toml().to_string()).map_err(|problem| problem.to_string())
}

/// What the process of a trial reads from its parent, and a parent from the process of a trial: each as it is read,
/// in JSON again.
pub fn message(text: &str) -> (Option<String>, Option<String>) {
    read_messages(text)
}
