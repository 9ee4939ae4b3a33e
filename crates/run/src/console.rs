//! Where a run prints: this crate writes to no stream itself, but for the bar on a terminal.

use types::Outcome;

/// Where a run prints.
#[derive(Clone, Copy, Debug)]
pub struct Console {
    /// Prints a line about the progress, as to standard error.
    pub line: fn(&str),
    /// Prints the answer, as to standard output.
    pub print: fn(&str) -> Outcome<()>,
}
