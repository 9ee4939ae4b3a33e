//! A whole run of an experiment by some build of this program, as users start it.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use results::Folder;

use crate::problem::{Outcome, Problem};

/// Runs one experiment into an empty folder and returns the folder of its results.
///
/// # Errors
/// If the program cannot be started or refuses, with what it said.
pub(super) fn run(program: &Path, arguments: &[String], out: &Path) -> Outcome<Folder> {
    let ran = Command::new(program)
        .arg("run")
        .args(arguments)
        .arg("--out")
        .arg(out)
        .arg("--plots")
        .arg(out.join("charts"))
        .stdin(Stdio::null())
        .output()
        .map_err(|error| Problem::doing(format!("start {}", program.display()), error))?;
    // A wrong answer is a result, and stands in the rows.
    if !matches!(ran.status.code(), Some(0 | 1)) {
        let said = String::from_utf8_lossy(&ran.stderr);
        let last = said.lines().last().unwrap_or("nothing was said").trim_start_matches("error: ");
        return Err(Problem::new(format!("lsmbench run {}: {last}", arguments.join(" "))));
    }
    let found = out.read_dir().map_err(|error| Problem::doing(format!("read {}", out.display()), error))?;
    let mut folders = found.filter_map(|entry| Some(Folder::new(entry.ok()?.path())));
    folders
        .find(|folder| folder.manifest().is_file())
        .ok_or_else(|| Problem::new(format!("{} wrote no results to {}", program.display(), out.display())))
}

/// This program.
pub(super) fn this_program() -> Outcome<PathBuf> {
    std::env::current_exe().map_err(|error| Problem::doing("find this program", error))
}
