//! Writes to the two output streams. Results go to standard output, and all other messages go to standard error.

use std::fmt::Write as _;
use std::io::{ErrorKind, Write};

use run::Console;
use types::{Outcome, Problem};

/// The console of a run: messages go to standard error, and results to standard output.
pub(crate) const CONSOLE: Console = Console { line, print };

/// Writes a result to standard output. A closed pipe is not an error.
pub(crate) fn print(text: &str) -> Outcome<()> {
    let mut out = std::io::stdout().lock();
    answered(out.write_all(text.as_bytes()).and_then(|()| out.flush()))
}

/// Converts the result of a write to standard output to an outcome. A closed pipe is not an error.
pub(crate) fn answered(written: std::io::Result<()>) -> Outcome<()> {
    match written {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Problem::doing("write to standard output", error))
        }
        _ => Ok(()),
    }
}

/// Writes a line to standard error. The function ignores an error, because no other stream is left for an error
/// message.
pub(crate) fn line(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// Aligns the cells of all lines in columns. All lines must have the same number of cells.
pub(crate) fn aligned(lines: &[Vec<String>]) -> String {
    let columns = lines.first().map_or(0, Vec::len);
    let width = |at: usize| lines.iter().map(|cells| cells[at].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for cells in lines {
        let cells: Vec<String> =
            cells.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        let _ = writeln!(text, "{}", cells.join("  ").trim_end());
    }
    text
}
