//! `lsmbench site` writes a static site of all results in the repository, and checks contributed results.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};

use experiment::{Experiment, Overrides};
use results::targets::check_folder;
use site::{KnownExperiment, SiteFile, SiteSources, Standard};
use types::{Outcome, Problem};
use verdict::Targets;

use super::report::{files_below, kept_pages};
use crate::build_info::build_info;
use crate::cli::SiteArguments;
use crate::output::{line, print};

/// The label of the engine with which the site compares all other engines: the tree of lsmbench.
const BASELINE: &str = "lsmbench";

/// The name of the file that lists all files of a site, one path per line. A folder with this file is a site, so a
/// new site may replace it.
const LIST: &str = ".lsmbench-site";

/// Writes the site, and prints the path of its home page. With `--check`, only checks contributed results.
pub(crate) fn site(arguments: &SiteArguments) -> Outcome<()> {
    let SiteArguments { out, repository, check } = arguments;
    if !check.is_empty() {
        // Each folder is checked, so the output contains the faults of all folders.
        let mut checks: Vec<_> = check.iter().map(|folder| check_machine(folder, repository)).collect();
        let last_fault = checks.iter().rposition(Result::is_err);
        let faults = checks.iter().take(last_fault.unwrap_or(0)).filter_map(|check| check.as_ref().err());
        faults.for_each(|fault| line(&format!("error: {fault}")));
        return last_fault.map_or(Ok(()), |at| checks.swap_remove(at));
    }
    check_folder(out)?;
    check_replaceable(out)?;
    in_repository(repository, "docs")?;
    let experiments = in_repository(repository, "experiments")?;
    let pages = kept_pages(&[experiments], &repository.join("results/published"))?;
    let systems = pages.into_iter().filter(report::ReportPage::is_html);
    let sources = SiteSources {
        root: repository,
        axes: tree::AXES.to_vec(),
        systems: systems.map(|page| SiteFile { path: page.name, content: page.content }).collect(),
        baseline: BASELINE,
        targets: Targets::default(),
    };
    let files = site::site(&sources)?;
    if out.exists() {
        std::fs::remove_dir_all(out)
            .map_err(|error| Problem::doing(format!("remove {}", out.display()), error))?;
    }
    let list = files.iter().fold(String::new(), |text, file| text + &file.path + "\n");
    write(out, &SiteFile { path: LIST.to_owned(), content: list })?;
    files.iter().try_for_each(|file| write(out, file))?;
    let bytes: usize = files.iter().map(|file| file.content.len()).sum();
    line(&format!("{} files, {:.1} MB", files.len(), bytes as f64 / 1e6));
    print(&format!("{}\n", out.join("index.html").display()))
}

/// Returns the path of the folder `name` in a repository.
///
/// # Errors
/// The folder does not exist, so `repository` is not the root of the repository.
fn in_repository(repository: &Path, name: &str) -> Outcome<PathBuf> {
    let folder = repository.join(name);
    if folder.is_dir() {
        return Ok(folder);
    }
    let message = format!(
        "this is not the root of the repository, because it has no folder {name}; name the root \
         with --repository"
    );
    Err(Problem::at(repository, None, message))
}

/// Returns an error if the output folder contains a file that is not part of an earlier site, because a new site
/// would delete it.
fn check_replaceable(out: &Path) -> Outcome<()> {
    let list = std::fs::read_to_string(out.join(LIST)).unwrap_or_default();
    let own: HashSet<PathBuf> = list.lines().chain([LIST]).map(|path| out.join(path)).collect();
    match other_file(out, &own).map_err(|error| Problem::doing(format!("read {}", out.display()), error))? {
        None => Ok(()),
        Some(other) => {
            let message = format!(
                "the folder has the file {file}, which is not a part of a site; name a new folder with \
                 --out",
                file = other.display()
            );
            Err(Problem::at(out, None, message))
        }
    }
}

/// Returns any file in a folder or its subfolders that is not in the set `own`. Returns `None` if there is no such
/// file, or if the folder does not exist.
fn other_file(folder: &Path, own: &HashSet<PathBuf>) -> io::Result<Option<PathBuf>> {
    if !folder.exists() {
        return Ok(None);
    }
    for entry in folder.read_dir()? {
        let path = entry?.path();
        let other = if path.is_dir() {
            other_file(&path, own)?
        } else {
            Some(path).filter(|path| !own.contains(path))
        };
        if other.is_some() {
            return Ok(other);
        }
    }
    Ok(None)
}

fn write(out: &Path, file: &SiteFile) -> Outcome<()> {
    let path = out.join(&file.path);
    let cannot = |error| Problem::doing(format!("write {}", path.display()), error);
    path.parent().map_or(Ok(()), std::fs::create_dir_all).map_err(cannot)?;
    std::fs::write(&path, &file.content).map_err(cannot)
}

/// Checks the results that a contributor measured on one machine. Prints the notes and all faults except the last
/// one, and returns the last fault as the error.
fn check_machine(folder: &Path, repository: &Path) -> Outcome<()> {
    let experiments = known_experiments(&in_repository(repository, "configs/peers")?)?;
    let build = build_info();
    let standard = Standard {
        experiments: &experiments,
        version: &build.version,
        components: &run::known_components(),
        baseline: BASELINE,
    };
    let found = site::check(folder, &standard)?;
    found.notes.iter().for_each(|note| line(&format!("note: {note}")));
    let Some((last, others)) = found.faults.split_last() else {
        return print(&format!("{}: {} experiments, no faults\n", folder.display(), found.experiments));
    };
    others.iter().for_each(|fault| line(&format!("error: {fault}")));
    Err(Problem::new(last.clone()))
}

/// Returns the name, the phases and the seed of each experiment in a folder and in its subfolders.
fn known_experiments(folder: &Path) -> Outcome<Vec<KnownExperiment>> {
    let known = |path: &std::path::PathBuf| {
        let experiment = Experiment::load(path, &Overrides::default())?;
        Ok(KnownExperiment {
            phases: experiment.task.phases(),
            seed: experiment.trials.seed,
            name: experiment.name,
        })
    };
    files_below(folder)?.iter().map(known).collect()
}
