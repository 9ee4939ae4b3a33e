//! Design files: a `[design]` table with a name, over the one that it extends.

use std::path::{Path, PathBuf};

use catalog::suggestion;
use toml::{Table, Value};
use tree::{Design, DesignError};
use types::{Outcome, Problem};

use super::file::SourceFile;
use super::overrides::split_set;
use super::paths;
use super::reference::{DESIGN_FILE, names};

/// Reads the design of a design file.
pub fn read_design(path: &Path) -> Outcome<Design> {
    read_extended(&SourceFile::read(path)?, &[])
}

/// The design of a file that is extended by the files in `above`, given by their identities.
pub(super) fn read_extended(file: &SourceFile, above: &[PathBuf]) -> Outcome<Design> {
    let keys = names(&DESIGN_FILE);
    if let Some(key) = file.table.keys().find(|key| !keys.contains(&key.as_str())) {
        let hint = suggestion(key, keys.into_iter());
        let message = format!("a design file has no \"{key}\"; {hint}it has about, extends and [design]");
        return Err(file.problem(&[key], message));
    }
    let base = match file.table.get("extends") {
        None => Design::default(),
        Some(name) => {
            let base = extended_file(file, name)?;
            let chain = [above, &[file.identity()]].concat();
            if chain.contains(&base.identity()) {
                let message =
                    format!("the designs extend each other in a circle: {} again", base.path.display());
                return Err(file.problem(&["extends"], message));
            }
            read_extended(&base, &chain)?
        }
    };
    match file.table.get("design") {
        Some(Value::Table(design)) => base.with(design).map_err(|error| design_problem(file, &error)),
        Some(_) => Err(file.problem(&["design"], "design is a table: [design]")),
        None => Err(file.problem(&[], "a design file has a [design] table")),
    }
}

/// The tables of the design files that an experiment or design file extends, the nearest first, without what they say
/// about themselves.
pub fn extended_tables(path: &Path) -> Outcome<Vec<Table>> {
    let mut tables = Vec::new();
    let mut seen = Vec::new();
    let mut file = SourceFile::read(path)?;
    while let Some(name) = file.table.get("extends") {
        seen.push(file.identity());
        file = extended_file(&file, name)?;
        if seen.contains(&file.identity()) {
            break; // A circle, which whoever reads the design refuses.
        }
        let mut table = file.table.clone();
        table.remove("about");
        tables.push(table);
    }
    Ok(tables)
}

/// The file that `extends` names.
pub(super) fn extended_file(file: &SourceFile, name: &Value) -> Outcome<SourceFile> {
    let Value::String(name) = name else {
        let message = "extends names a design file: extends = \"designs/default.toml\"";
        return Err(file.problem(&["extends"], message));
    };
    referred(file, "extends", name)
}

/// Another file that a file names under `key`: beside it, or in a folder `configs` above it.
pub(super) fn referred(file: &SourceFile, key: &str, name: &str) -> Outcome<SourceFile> {
    let Some(path) = find(file.folder(), name) else {
        let message = format!("there is no file {name}, neither beside this file nor in configs/");
        return Err(file.problem(&[key], message));
    };
    SourceFile::read(&path)
}

/// A file by the name that another one gives it: beside that file, or in a folder `configs` at or above it,
/// or below the current folder.
fn find(folder: &Path, name: &str) -> Option<PathBuf> {
    let beside = folder.join(name);
    let above = folder.ancestors().map(|ancestor| match ancestor.ends_with("configs") {
        true => ancestor.join(name),
        false => ancestor.join("configs").join(name),
    });
    std::iter::once(beside).chain(above).chain([Path::new("configs").join(name)]).find(|path| path.is_file())
}

/// A problem with a key of the `[design]` table.
pub(super) fn design_problem(file: &SourceFile, error: &DesignError) -> Problem {
    let key = std::iter::once("design").chain(error.path.iter().map(String::as_str));
    file.problem(&key.collect::<Vec<_>>(), error.message.clone())
}

/// A design with one value changed, given as `bloom.bits_per_key=12`.
pub fn set_design(design: &Design, text: &str) -> Outcome<Design> {
    let (path, value) = split_set(text, "wal=sync")?;
    let path = path.strip_prefix("design.").unwrap_or(&path);
    let changed = design.with(&paths::nested(&paths::split(path), value));
    changed.map_err(|error| Problem::new(format!("--set {text}: {}", error.message)))
}
