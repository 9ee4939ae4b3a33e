//! The output of a run. This crate writes to no stream itself, except for the bar on a terminal.

use types::Outcome;

/// The functions that print the output of a run.
#[derive(Clone, Copy, Debug)]
pub struct Console {
    /// Prints a line about the progress, as to standard error.
    pub line: fn(&str),
    /// Prints the results, as to standard output.
    pub print: fn(&str) -> Outcome<()>,
}
