//! Copies results into a folder that can be committed to git. A copy is small and contains no paths of the machine. A
//! copy consists of the rows without empty columns, and of the parts of the manifest that are needed to judge the rows.

use std::path::{Component, Path, PathBuf};

use results::targets::check_file;
use results::{Folder, LeftOut, MachineInfo, Manifest, Table};
use types::{Outcome, Problem};

use crate::extract::{self, Names};

/// Copies the results of a run into a new folder in `below`: the rows of its trials, and the rows of the additional
/// trials that measure the noise. The new folder has the name of the experiment, and replaces an older copy. Returns
/// its path.
///
/// # Errors
/// The results cannot be read, the name of the experiment cannot be the name of a folder, or an I/O error occurs.
pub fn keep(from: &Path, below: &Path) -> Outcome<PathBuf> {
    let source = Folder::new(from);
    let manifest = Manifest::read(&source.manifest())?;
    manifest.check_rows(&source)?;
    let table = Table::read(&source.runs())?;
    let to = Folder::new(below.join(folder_name(from, &manifest.experiment)?));
    [to.runs(), to.noise(), to.manifest()].iter().try_for_each(|path| check_file(path))?;
    std::fs::create_dir_all(to.root())
        .map_err(|error| Problem::doing(format!("create {}", to.root().display()), error))?;
    let names = Names::of(&manifest);
    let spelt = |text: &str| names.spelt(text);
    let runs = extract::copy_rows(table.schema(), &source.runs(), &to.runs(), spelt)?;
    let noise = match source.noise().exists() {
        true => Some(extract::copy_rows(table.schema(), &source.noise(), &to.noise(), spelt)?),
        false => None,
    };
    let kept = Manifest { runs: Some(runs), noise, ..trimmed(&manifest, &names) };
    kept.write(&to.manifest())?;
    Ok(to.root().to_owned())
}

/// Returns the name of an experiment for use as the name of a folder. Returns an error if the name cannot be the name
/// of a folder.
fn folder_name<'a>(from: &Path, experiment: &'a str) -> Outcome<&'a str> {
    let mut parts = Path::new(experiment).components();
    match (parts.next(), parts.next()) {
        (Some(Component::Normal(part)), None) if part == experiment => Ok(experiment),
        _ => Err(Problem::at(
            from,
            None,
            format!("experiment name \"{experiment}\" cannot be the name of a folder"),
        )),
    }
}

/// Returns a copy of the manifest with only the parts that a reader needs to judge the tables.
fn trimmed(manifest: &Manifest, names: &Names) -> Manifest {
    let left_out = manifest
        .left_out
        .iter()
        .map(|left| LeftOut { label: names.spelt(&left.label), reason: names.spelt(&left.reason) });
    let MachineInfo { memory_bytes, kernel, file_system, load_average, load_average_end, .. } =
        &manifest.machine;
    let shared = extract::kept_manifest(manifest, names);
    let machine = MachineInfo {
        memory_bytes: *memory_bytes,
        kernel: kernel.clone(),
        file_system: file_system.clone(),
        load_average: *load_average,
        load_average_end: *load_average_end,
        ..shared.machine
    };
    Manifest {
        resolved: names.spelt(&manifest.resolved),
        command: names.all(&manifest.command),
        left_out: left_out.collect(),
        machine,
        harness: manifest.harness.clone(),
        warnings: names.all(&manifest.warnings),
        ..shared
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_experiment_is_kept_in_a_folder_of_its_own() {
        let of = |name| folder_name(Path::new("results/x"), name);
        assert_eq!(of("writes"), Ok("writes"));
        for name in ["", ".", "..", "../x", "a/b", "/x", "x/"] {
            assert!(of(name).is_err(), "{name}");
        }
    }
}
