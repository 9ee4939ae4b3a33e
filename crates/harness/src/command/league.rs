//! `lsmbench league`: tables of engines, from results alone.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::cli::LeagueArguments;
use crate::league::League;
use crate::output::print;
use crate::problem::{Outcome, Problem};

/// Prints a table per folder of results, as Markdown.
pub(crate) fn league(arguments: &LeagueArguments) -> Outcome<()> {
    refuse_twice(&arguments.results)?;
    let leagues = arguments.results.iter().map(|path| League::read(path, &arguments.baseline));
    let tables: Vec<String> = leagues.map(|league| Ok(league?.markdown())).collect::<Outcome<_>>()?;
    print(&tables.join("\n"))
}

/// Refuses a folder that is named twice, by whichever names: it would be counted twice.
fn refuse_twice(results: &[PathBuf]) -> Outcome<()> {
    let mut known: BTreeMap<PathBuf, &Path> = BTreeMap::new();
    for path in results {
        // What is not there is told by whoever reads it.
        let Ok(whole) = path.canonicalize() else { continue };
        if let Some(first) = known.insert(whole, path) {
            let message = match first == path {
                true => "it stands there twice; name each folder of results once".to_owned(),
                false => format!("it is the same folder as {}; name it once", first.display()),
            };
            return Err(Problem::at(path, None, message));
        }
    }
    Ok(())
}
