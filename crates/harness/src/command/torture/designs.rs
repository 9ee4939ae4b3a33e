//! The designs that `lsmbench torture` tests: the designs that the user names, or all designs in `configs/designs`.

use std::fs;
use std::path::{Path, PathBuf};

use catalog::Limit;
use experiment::read_design;
use tree::Design;
use types::{Outcome, Problem};

/// The folder of the designs, relative to the root of the repository.
const DESIGNS: &str = "configs/designs";

/// Loads a design by the path of its file or by its name in `configs/designs`, and returns its name and the design. The
/// sizes of the design are reduced, so that short tests cause flushes and compactions.
///
/// # Errors
/// The design does not exist or is invalid, or a component deletes data on purpose ([`Limit::DropsData`]).
pub(super) fn named(name: &Path) -> Outcome<(String, Design)> {
    let shown = name.display().to_string();
    let file = match name.is_file() {
        true => Some(name.to_owned()),
        false => folder().map(|folder| folder.join(format!("{shown}.toml"))).filter(|file| file.is_file()),
    };
    let design = match file {
        Some(file) => read_design(&file)?,
        None if shown == "default" => Design::default(),
        None => {
            let message = format!(
                "there is no design {shown}: it is neither a file nor the name of a design in {DESIGNS}"
            );
            return Err(Problem::new(message));
        }
    };
    if let Some((axis, choice, limit)) =
        design.limits().into_iter().find(|(_, _, limit)| *limit == Limit::DropsData)
    {
        return Err(Problem::new(format!(
            "design {shown}: torture needs a design that keeps its data, but {axis} = \"{choice}\" {limit}; choose another variant"
        )));
    }
    Ok((shown, torture::small(&design)))
}

/// Returns all designs in `configs/designs` with their names, sorted by name. The sizes of the designs are reduced.
pub(super) fn shipped() -> Outcome<Vec<(String, Design)>> {
    let Some(folder) = folder() else {
        let message = format!(
            "the current folder and its parent folders have no folder {DESIGNS}; name a design with --design"
        );
        return Err(Problem::new(message));
    };
    let mut names = Vec::new();
    collect(&folder, "", &mut names)?;
    names.sort();
    names.iter().map(|name| named(Path::new(name))).collect()
}

/// Adds the names of the design files in a folder and its subfolders to `names`. `prefix` is the path of the folder
/// relative to `configs/designs`, with a slash at its end.
fn collect(folder: &Path, prefix: &str, names: &mut Vec<String>) -> Outcome<()> {
    let cannot = |error| Problem::doing(format!("list {}", folder.display()), error);
    for entry in fs::read_dir(folder).map_err(cannot)? {
        let path = entry.map_err(cannot)?.path();
        let Some(stem) = path.file_stem().and_then(|stem| stem.to_str()) else { continue };
        if path.is_dir() {
            collect(&path, &format!("{prefix}{stem}/"), names)?;
        } else if path.extension().is_some_and(|ending| ending == "toml") {
            names.push(format!("{prefix}{stem}"));
        }
    }
    Ok(())
}

/// Returns the folder `configs/designs` in the current folder or in the nearest parent folder that has it.
fn folder() -> Option<PathBuf> {
    let current = std::env::current_dir().ok()?;
    current.ancestors().map(|above| above.join(DESIGNS)).find(|folder| folder.is_dir())
}
