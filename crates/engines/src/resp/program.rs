//! Finds the program that starts a server with the Redis protocol.

use std::path::PathBuf;

use super::params::THIS_PROGRAM;
use crate::engine::Missing;

/// Returns the path of a program. `program` is a path, a name to search for in the folders of `PATH`, or the
/// placeholder for the running program.
///
/// # Errors
/// No such file exists. The error names the searched folders.
pub(super) fn find(program: &str) -> Result<PathBuf, Missing> {
    if program == THIS_PROGRAM {
        return std::env::current_exe().map_err(|error| missing(program, &error.to_string()));
    }
    let searched = std::env::var("PATH").unwrap_or_default();
    let places: Vec<PathBuf> = match program.contains('/') {
        true => vec![PathBuf::from(program)],
        false => std::env::split_paths(&searched).map(|folder| folder.join(program)).collect(),
    };
    places.into_iter().find(|place| place.is_file()).ok_or_else(|| missing(program, &searched))
}

fn missing(program: &str, searched: &str) -> Missing {
    Missing::NoLibrary {
        names: program.to_owned(),
        searched: searched.to_owned(),
        advice:
            "install redis-server (Debian's package redis-server), or name a server in engine.command or engine.address"
                .to_owned(),
    }
}
