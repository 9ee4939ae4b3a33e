//! Defines the functions that print the output of this crate, except the progress bar.

use types::Outcome;

/// The functions that print the output of a run.
#[derive(Clone, Copy, Debug)]
pub struct Console {
    /// Prints a progress line, for example to standard error.
    pub line: fn(&str),
    /// Prints the results, for example to standard output.
    pub print: fn(&str) -> Outcome<()>,
}
