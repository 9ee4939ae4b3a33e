//! Prints completion scripts and the manual page. Both are generated from the definition of the command line.

use clap::CommandFactory;
use clap_complete::Shell;

use crate::cli::Cli;
use crate::output::print;
use types::{Outcome, Problem};

/// Prints the completion script of a shell.
pub(crate) fn completions(shell: Shell) -> Outcome<()> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "lsmbench", &mut script);
    print(&String::from_utf8_lossy(&script))
}

/// Prints the manual page.
pub(crate) fn man() -> Outcome<()> {
    let mut page = Vec::new();
    let rendered = clap_mangen::Man::new(Cli::command()).render(&mut page);
    rendered.map_err(|error| Problem::doing("render the manual page", error))?;
    print(&String::from_utf8_lossy(&page))
}
