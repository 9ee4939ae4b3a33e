//! `lsmbench engines` prints tables that compare engines. The tables are computed from results folders.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use results::Folder;
use results::targets::{check_file, check_folder};
use types::{Outcome, Problem};
use verdict::{EngineTables, MarkdownPage, Targets, keep};

use crate::cli::EnginesArguments;
use crate::output::{line, print};

/// Prints the engine-comparison tables of each results folder, or writes these tables into a Markdown page. Returns
/// false if `--check` finds an outdated page.
pub(crate) fn engines(arguments: &EnginesArguments) -> Outcome<bool> {
    if let (Some(page), false) = (&arguments.into, arguments.check) {
        [page, &aside(page)].into_iter().try_for_each(|path| check_file(path))?;
    }
    arguments.keep.iter().try_for_each(|folder| check_folder(folder))?;
    let mut folders = folders(&arguments.results)?;
    check_folders(&folders)?;
    let all = read(&folders, &arguments.baseline)?;
    if arguments.keep.is_some() || arguments.into.is_some() {
        check_names(&folders, &all)?;
    }
    let page = arguments.into.as_deref().map(MarkdownPage::read).transpose()?;
    if let Some(page) = &page {
        all.iter().try_for_each(|tables| page.content(tables.name()).map(drop))?;
    }
    let all = match &arguments.keep {
        Some(below) => {
            folders = folders.iter().map(|from| keep(from, below)).collect::<Outcome<_>>()?;
            folders.iter().for_each(|folder| line(&format!("Copied: {}", folder.display())));
            read(&folders, &arguments.baseline)?
        }
        None => all,
    };
    let targets = Targets {
        writes: arguments.target_writes,
        reads: arguments.target_reads,
        btrees: arguments.target_btrees,
    };
    let tables: Vec<(String, String)> =
        all.iter().map(|tables| (tables.name().to_owned(), tables.markdown(&targets))).collect();
    match (&page, &arguments.into) {
        (Some(page), Some(path)) if arguments.check => check(page, path, &tables),
        (Some(page), Some(path)) => write(page, path, &tables).map(|()| true),
        _ => {
            let texts: Vec<&str> = tables.iter().map(|(_, text)| text.as_str()).collect();
            print(&texts.join("\n")).map(|()| true)
        }
    }
}

fn read(folders: &[PathBuf], baseline: &str) -> Outcome<Vec<EngineTables>> {
    folders.iter().map(|path| EngineTables::read(path, baseline)).collect()
}

/// Returns an error if two results folders belong to the same experiment, because a Markdown page has only one place
/// for the tables of each experiment.
fn check_names(folders: &[PathBuf], all: &[EngineTables]) -> Outcome<()> {
    for (at, (folder, tables)) in folders.iter().zip(all).enumerate() {
        if let Some(first) = all[..at].iter().position(|first| first.name() == tables.name()) {
            let first = folders[first].display();
            let message = format!(
                "{first} also contains results of the experiment {name}; name only one of the two folders",
                name = tables.name()
            );
            return Err(Problem::at(folder, None, message));
        }
    }
    Ok(())
}

/// Returns the results folders. A named folder without results of its own stands for all its direct subfolders with
/// results, sorted by name.
///
/// # Errors
/// A named folder and its subfolders have no results, or the folder cannot be read.
fn folders(results: &[PathBuf]) -> Outcome<Vec<PathBuf>> {
    let mut folders = Vec::new();
    for path in results {
        let is_experiment = |path: &Path| Folder::new(path).manifest().exists();
        if is_experiment(path) || !path.is_dir() {
            folders.push(path.clone());
            continue;
        }
        let cannot = |error| Problem::doing(format!("read {}", path.display()), error);
        let entries = path.read_dir().map_err(cannot)?.collect::<Result<Vec<_>, _>>().map_err(cannot)?;
        let mut inside: Vec<PathBuf> =
            entries.into_iter().map(|entry| entry.path()).filter(|path| is_experiment(path)).collect();
        if inside.is_empty() {
            return Err(Problem::at(
                path,
                None,
                "no results: neither this folder nor its subfolders contain a manifest.json",
            ));
        }
        inside.sort();
        folders.append(&mut inside);
    }
    Ok(folders)
}

/// Replaces all engine-comparison tables of the Markdown page atomically.
fn write(page: &MarkdownPage, path: &Path, tables: &[(String, String)]) -> Outcome<()> {
    let cannot = |error| Problem::doing(format!("write {}", path.display()), error);
    let aside = aside(path);
    std::fs::write(&aside, page.with(tables)).and_then(|()| std::fs::rename(&aside, path)).map_err(cannot)?;
    print(&format!("Updated: {}\n", path.display()))
}

/// Prints which engine-comparison tables of the Markdown page are outdated, and returns whether all are up to date.
fn check(page: &MarkdownPage, path: &Path, tables: &[(String, String)]) -> Outcome<bool> {
    let mut wrong = 0;
    for name in page.names() {
        let table = tables.iter().find(|(of, _)| of == name);
        let why = match table {
            Some((_, table)) if page.content(name)? == table => continue,
            Some(_) => "do not match the results of the run",
            None => "have no results",
        };
        wrong += 1;
        line(&format!("{page}: the tables of {name} {why}", page = path.display()));
    }
    let all = page.names().count();
    print(&format!(
        "{right} of {all} tables in {page} match the results\n",
        right = all - wrong,
        page = path.display()
    ))?;
    if wrong > 0 {
        line("update them with: lsmbench engines RESULTS --into PAGE");
    }
    Ok(wrong == 0)
}

/// Returns the path of the temporary file that replaces the Markdown page.
fn aside(page: &Path) -> PathBuf {
    page.with_extension("md.new")
}

/// Returns an error if a folder is named twice, even by two different paths.
fn check_folders(results: &[PathBuf]) -> Outcome<()> {
    let mut known: BTreeMap<PathBuf, &Path> = BTreeMap::new();
    for path in results {
        // The function that reads the folders reports a missing folder.
        let Ok(whole) = path.canonicalize() else { continue };
        if let Some(first) = known.insert(whole, path) {
            let message = match first == path {
                true => "the command names this folder twice; name each folder of results once".to_owned(),
                false => format!(
                    "this is the same folder as {other}; name the folder once",
                    other = first.display()
                ),
            };
            return Err(Problem::at(path, None, message));
        }
    }
    Ok(())
}
