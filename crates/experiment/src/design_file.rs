//! Design files. A design file contains a `[design]` table, and may extend another design file.

use std::path::{Path, PathBuf};

use results::ConfigPath;
use toml::{Table, Value};
use tree::{Design, DesignError};
use types::{Outcome, Problem};

use super::families::Families;
use super::file::SourceFile;
use super::overrides::split_set;
use super::reference::{DESIGN_FILE, names};
use super::{paths, wording};

/// Reads a design file, with the design files that it extends.
pub fn read_design(path: &Path) -> Outcome<Design> {
    read_extended(&SourceFile::read(path)?, &[])
}

/// Reads the design of a design file and of the files that it extends. `above` lists the files that extend this file,
/// directly or indirectly, so that the function can detect a cycle.
pub(super) fn read_extended(file: &SourceFile, above: &[PathBuf]) -> Outcome<Design> {
    let keys = names(&DESIGN_FILE);
    if let Some(key) = file.table.keys().find(|key| !keys.contains(&key.as_str())) {
        return Err(file.problem(&[key], wording::unknown("key of a design file", key, keys)));
    }
    let base = match file.table.get("extends") {
        None => Design::default(),
        Some(name) => {
            let base = extended_file(file, name)?;
            let chain = [above, &[file.identity()]].concat();
            if chain.contains(&base.identity()) {
                let message = format!(
                    "design files extend each other in a cycle that includes {path}; remove `extends` from one of \
                     the files",
                    path = base.path.display()
                );
                return Err(file.problem(&["extends"], message));
            }
            read_extended(&base, &chain)?
        }
    };
    match file.table.get("design") {
        Some(Value::Table(design)) => base.with(design).map_err(|error| design_problem(file, &error)),
        Some(_) => Err(file.problem(&["design"], "expected a table: [design]")),
        None => Err(file.problem(&[], "the [design] table of the design file is missing")),
    }
}

/// Returns the `[design]` tables of all design files that the file `path` extends, directly and indirectly. The first
/// table belongs to the directly extended file.
pub fn extended_tables(path: &Path) -> Outcome<Vec<Table>> {
    let mut tables = Vec::new();
    let mut seen = Vec::new();
    let mut file = SourceFile::read(path)?;
    while let Some(name) = file.table.get("extends") {
        seen.push(file.identity());
        file = extended_file(&file, name)?;
        if seen.contains(&file.identity()) {
            break; // A cycle, which the reader of the design rejects.
        }
        let mut table = file.table.clone();
        table.remove("about");
        tables.push(table);
    }
    Ok(tables)
}

/// Reads the design file that the key `extends` of `file` names. `name` is the value of this key.
pub(super) fn extended_file(file: &SourceFile, name: &Value) -> Outcome<SourceFile> {
    let Value::String(name) = name else {
        let message = "expected the name of a design file, such as extends = \"designs/default.toml\"";
        return Err(file.problem(&["extends"], message));
    };
    referred(file, "extends", name)
}

/// Reads the file with the name `name`, which the key `key` of the file `file` contains. The function searches next to
/// `file`, and in the folders `configs` of its parent folders and of the current folder.
pub(super) fn referred(file: &SourceFile, key: &str, name: &str) -> Outcome<SourceFile> {
    let Some(path) = find(file.folder(), name) else {
        let message = format!("there is no file {name} next to this file or in configs/");
        return Err(file.problem(&[key], message));
    };
    SourceFile::read(&path)
}

/// Finds the file with the name `name`: in `folder`, or in a folder `configs` of `folder`, its parent folders or the
/// current folder. Returns `None` if no such file exists.
fn find(folder: &Path, name: &str) -> Option<PathBuf> {
    let beside = folder.join(name);
    let above = folder.ancestors().map(|ancestor| match ancestor.ends_with("configs") {
        true => ancestor.join(name),
        false => ancestor.join("configs").join(name),
    });
    std::iter::once(beside).chain(above).chain([Path::new("configs").join(name)]).find(|path| path.is_file())
}

/// Creates an error about a key of the `[design]` table, with the file and the line of the key.
pub(super) fn design_problem(file: &SourceFile, error: &DesignError) -> Problem {
    let key = std::iter::once("design").chain(error.path.iter().map(String::as_str));
    file.problem(&key.collect::<Vec<_>>(), error.message.clone())
}

/// Returns a copy of `design` with changed values. Each text sets one value, as `bloom.bits_per_key=12` does. The order
/// of the texts has no effect. `families` lists the column families of the store.
///
/// # Errors
/// A text is not of this form, sets an impossible value, or names a column family that neither the design nor the store
/// has. If no family exists, the texts may define families.
pub fn set_design(design: &Design, families: &[String], texts: &[String]) -> Outcome<Design> {
    let mut sets = Vec::new();
    for text in texts {
        let (path, value) = split_set(text, "wal=sync")?;
        let parsed = ConfigPath::new(&path);
        let inner = if parsed.axis().is_some() { parsed.below() } else { parsed.parts() };
        sets.push((inner.join("."), value, text));
    }
    let split: Vec<_> = sets.iter().map(|(path, value, text)| (paths::split(path), value, text)).collect();
    let of_store =
        families.iter().map(String::as_str).filter(|name| design.families().all(|own| own != *name));
    let existing = design.families().chain(of_store);
    let families = Families::of(existing, split.iter().map(|(path, value, _)| (&**path, *value)));
    for (path, value, text) in &split {
        families.check(path, value).map_err(|message| Problem::new(format!("--set {text}: {message}")))?;
    }
    let values = sets.iter().map(|(path, value, _)| (paths::split(path), value.clone()));
    design.with_all(&paths::by_length(values)).map_err(|error| {
        let key = error.path.join(".");
        let message = wording::without_key(&key, &error.message);
        let is_setter =
            |path: &str| key.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
        let setter = sets.iter().rev().find(|(path, ..)| is_setter(path)).or(sets.last());
        let text = setter.map_or("", |(_, _, text)| text);
        Problem::new(format!("--set {text}: {message}"))
    })
}
