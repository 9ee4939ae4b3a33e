//! Results of engines, small enough for git, and without a path of the machine: rows without empty columns, and of the
//! manifest what a reader judges them by.

use std::path::{Component, Path, PathBuf};

use results::{Folder, MachineInfo, Manifest, Table};

use crate::extract;
use crate::problem::{Outcome, Problem};
use crate::targets::check_file;

/// What no path of a machine begins with: it is the same on all of them.
const EVERYWHERE: [&str; 3] = ["/proc/", "/sys/", "/dev/"];

/// Keeps what the tables of some results are made of in a folder of the experiment's name below `below`, in place of what
/// is there; returns that folder.
///
/// # Errors
/// Results that cannot be read, a name that is no folder's, a file system that refuses.
pub(crate) fn keep(from: &Path, below: &Path) -> Outcome<PathBuf> {
    let source = Folder::new(from);
    let manifest = Manifest::read(&source.manifest())?;
    manifest.check_rows(&source)?;
    let table = Table::read(&source.runs())?;
    let to = Folder::new(below.join(folder_name(from, &manifest.experiment)?));
    [to.runs(), to.manifest()].iter().try_for_each(|path| check_file(path))?;
    std::fs::create_dir_all(to.root())
        .map_err(|error| Problem::doing(format!("create {}", to.root().display()), error))?;
    let libraries = libraries(&manifest);
    let spelt = |text: &str| without_folders(text, &libraries);
    let runs = extract::copy_rows(table.schema(), &source.runs(), &to.runs(), spelt)?;
    let kept = Manifest { runs: Some(runs), ..trimmed(&manifest, spelt) };
    kept.write(&to.manifest())?;
    Ok(to.root().to_owned())
}

/// The name of an experiment, where it can be that of a folder.
fn folder_name<'a>(from: &Path, experiment: &'a str) -> Outcome<&'a str> {
    let mut parts = Path::new(experiment).components();
    match (parts.next(), parts.next()) {
        (Some(Component::Normal(part)), None) if part == experiment => Ok(experiment),
        _ => Err(Problem::at(from, None, format!("\"{experiment}\" is no name of an experiment"))),
    }
}

/// The libraries of all engines, by their whole paths.
fn libraries(manifest: &Manifest) -> Vec<String> {
    let engines = manifest.cells.iter().filter_map(|cell| cell.engine.as_ref());
    let mut libraries: Vec<String> = engines.filter_map(|engine| engine.library.clone()).collect();
    libraries.sort();
    libraries.dedup();
    libraries
}

/// What of a manifest a reader of the tables judges them by.
fn trimmed(manifest: &Manifest, spelt: impl Fn(&str) -> String) -> Manifest {
    let all = |texts: &[String]| -> Vec<String> { texts.iter().map(|text| spelt(text)).collect() };
    let cells = manifest.cells.iter().cloned().map(|mut cell| {
        cell.streams.clear();
        cell.label = spelt(&cell.label);
        cell.swept = all(&cell.swept);
        cell.engine = cell.engine.map(|mut engine| {
            engine.name = spelt(&engine.name);
            engine.version = engine.version.as_deref().map(&spelt);
            engine.library =
                engine.library.as_deref().and_then(|path| path.rsplit('/').next()).map(str::to_owned);
            engine.doubts = all(&engine.doubts);
            engine.mapping = all(&engine.mapping);
            engine
        });
        cell
    });
    let left_out = manifest.left_out.iter().cloned().map(|mut left| {
        left.label = spelt(&left.label);
        left.reason = spelt(&left.reason);
        left
    });
    let MachineInfo { memory_bytes, kernel, file_system, load_average, load_average_end, .. } =
        &manifest.machine;
    let shared = extract::manifest(manifest);
    let machine = MachineInfo {
        memory_bytes: *memory_bytes,
        kernel: kernel.clone(),
        file_system: file_system.clone(),
        load_average: *load_average,
        load_average_end: *load_average_end,
        ..shared.machine
    };
    let mut build = manifest.build.clone();
    build.flags = build.flags.as_deref().map(&spelt);
    Manifest {
        resolved: spelt(&manifest.resolved),
        command: all(&manifest.command),
        cells: cells.collect(),
        left_out: left_out.collect(),
        build,
        machine,
        harness: manifest.harness.clone(),
        warnings: all(&manifest.warnings),
        ..shared
    }
}

/// A text whose paths are the names of the files alone: of `/opt/lib/librocksdb.so` the last part.
fn without_folders(text: &str, libraries: &[String]) -> String {
    let mut text = text.to_owned();
    for library in libraries.iter().filter(|library| library.contains('/')) {
        text = text.replace(library.as_str(), library.rsplit('/').next().unwrap_or_default());
    }
    let (mut shorter, mut rest) = (String::with_capacity(text.len()), text.as_str());
    while let Some(at) = rest.find('/') {
        let (before, path) = rest.split_at(at);
        let length = path.find(|c: char| !is_of_path(c)).unwrap_or(path.len());
        let (path, after) = path.split_at(length);
        shorter.push_str(before);
        // Behind a word it divides, as in ops/s; two of them begin no path, as in https://.
        let begins = before.chars().next_back().or(shorter.chars().next_back());
        let is_path = path.len() > 1
            && !path.starts_with("//")
            && !begins.is_some_and(|c| is_of_path(c) || c == ':')
            && !EVERYWHERE.iter().any(|folder| path.starts_with(folder));
        shorter.push_str(match is_path {
            true => path.trim_end_matches('/').rsplit('/').next().unwrap_or_default(),
            false => path,
        });
        rest = after;
    }
    shorter + rest
}

/// Whether a character goes on with a path, where nobody quotes it.
fn is_of_path(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | '+' | '~' | '@' | '%')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_a_machine_become_names() {
        let spelt = |text: &str| without_folders(text, &["/my libs/librocksdb.so".to_owned()]);
        for (text, expected) in [
            ("rocksdb(library=\"/opt/lib/librocksdb.so.11\")", "rocksdb(library=\"librocksdb.so.11\")"),
            ("no librocksdb.so in /nowhere/at/all; build it", "no librocksdb.so in all; build it"),
            ("/my libs/librocksdb.so: built with assertions", "librocksdb.so: built with assertions"),
            ("-C link-arg=-L/usr/lib/x", "-C link-arg=-L/usr/lib/x"),
            ("280 k/s and gets/puts, 1 / 2, a/b/c", "280 k/s and gets/puts, 1 / 2, a/b/c"),
            ("see https://example.org/a/b", "see https://example.org/a/b"),
            ("write 1 to /sys/devices/x", "write 1 to /sys/devices/x"),
            ("/", "/"),
            ("/data/results/", "results"),
        ] {
            assert_eq!(spelt(text), expected);
        }
    }

    #[test]
    fn an_experiment_is_kept_in_a_folder_of_its_own() {
        let of = |name| folder_name(Path::new("results/x"), name);
        assert_eq!(of("writes"), Ok("writes"));
        for name in ["", ".", "..", "../x", "a/b", "/x", "x/"] {
            assert!(of(name).is_err(), "{name}");
        }
    }
}
