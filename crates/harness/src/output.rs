//! Writes to the two output streams: results to standard output, and all other messages to standard error.

use std::fmt::Write as _;
use std::io::{ErrorKind, Write};

use run::Console;
use types::{Outcome, Problem};

/// Standard output and standard error, to which a run prints.
pub(crate) const CONSOLE: Console = Console { line, print };

/// Writes an answer to standard output. A closed pipe is not an error.
pub(crate) fn print(text: &str) -> Outcome<()> {
    let mut out = std::io::stdout().lock();
    answered(out.write_all(text.as_bytes()).and_then(|()| out.flush()))
}

/// The outcome of writing an answer. A closed pipe is not an error.
pub(crate) fn answered(written: std::io::Result<()>) -> Outcome<()> {
    match written {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Problem::doing("write to standard output", error))
        }
        _ => Ok(()),
    }
}

/// Writes a line to standard error. An error is ignored, because no stream remains to print it.
pub(crate) fn line(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// Lines of equal numbers of cells, as columns.
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
