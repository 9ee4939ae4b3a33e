//! The output of a run. This crate itself writes only the progress bar to a stream.

use types::Outcome;

/// The functions that print the output of a run.
#[derive(Clone, Copy, Debug)]
pub struct Console {
    /// Prints a progress line, for example to standard error.
    pub line: fn(&str),
    /// Prints the results, for example to standard output.
    pub print: fn(&str) -> Outcome<()>,
}
