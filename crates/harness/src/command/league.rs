//! `lsmbench league`: tables of engines, from results alone.

use crate::cli::LeagueArguments;
use crate::league::League;
use crate::output::print;
use crate::problem::Outcome;

/// Prints a table per folder of results, as Markdown.
pub(crate) fn league(arguments: &LeagueArguments) -> Outcome<()> {
    let leagues = arguments.results.iter().map(|path| League::read(path, &arguments.baseline));
    let tables: Vec<String> = leagues.map(|league| Ok(league?.markdown())).collect::<Outcome<_>>()?;
    print(&tables.join("\n"))
}
