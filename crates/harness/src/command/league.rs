//! `lsmbench league`: tables of engines, from results alone.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use results::Folder;
use results::targets::{check_file, check_folder};
use types::{Outcome, Problem};
use verdict::{League, Page, Targets, keep};

use crate::cli::LeagueArguments;
use crate::output::{line, print};

/// Prints the tables of each folder of results, or writes them into a page; whether the page says what they say.
pub(crate) fn league(arguments: &LeagueArguments) -> Outcome<bool> {
    if let (Some(page), false) = (&arguments.into, arguments.check) {
        [page, &aside(page)].into_iter().try_for_each(|path| check_file(path))?;
    }
    arguments.keep.iter().try_for_each(|folder| check_folder(folder))?;
    let mut folders = folders(&arguments.results)?;
    refuse_twice(&folders)?;
    let leagues = read(&folders, &arguments.baseline)?;
    if arguments.keep.is_some() || arguments.into.is_some() {
        refuse_two_of_a_name(&folders, &leagues)?;
    }
    let page = arguments.into.as_deref().map(Page::read).transpose()?;
    if let Some(page) = &page {
        leagues.iter().try_for_each(|league| page.content(league.name()).map(drop))?;
    }
    let leagues = match &arguments.keep {
        Some(below) => {
            folders = folders.iter().map(|from| keep(from, below)).collect::<Outcome<_>>()?;
            folders.iter().for_each(|folder| line(&format!("kept     {}", folder.display())));
            read(&folders, &arguments.baseline)?
        }
        None => leagues,
    };
    let targets = Targets {
        writes: arguments.target_writes,
        reads: arguments.target_reads,
        btrees: arguments.target_btrees,
    };
    let tables: Vec<(String, String)> =
        leagues.iter().map(|league| (league.name().to_owned(), league.markdown(&targets))).collect();
    match (&page, &arguments.into) {
        (Some(page), Some(path)) if arguments.check => check(page, path, &tables),
        (Some(page), Some(path)) => write(page, path, &tables),
        _ => {
            let texts: Vec<&str> = tables.iter().map(|(_, text)| text.as_str()).collect();
            print(&texts.join("\n"))?;
            Ok(true)
        }
    }
}

fn read(folders: &[PathBuf], baseline: &str) -> Outcome<Vec<League>> {
    folders.iter().map(|path| League::read(path, baseline)).collect()
}

/// Refuses results of one experiment in two folders, where only one of them has a place.
fn refuse_two_of_a_name(folders: &[PathBuf], leagues: &[League]) -> Outcome<()> {
    for (at, (folder, league)) in folders.iter().zip(leagues).enumerate() {
        if let Some(first) = leagues[..at].iter().position(|first| first.name() == league.name()) {
            let first = folders[first].display();
            let message = format!("{first} has results of {} too; name one of them", league.name());
            return Err(Problem::at(folder, None, message));
        }
    }
    Ok(())
}

/// The folders of experiments: those that are named, and all in one that holds several.
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
                "there are no results in it: no manifest.json, here or one folder below",
            ));
        }
        inside.sort();
        folders.append(&mut inside);
    }
    Ok(folders)
}

/// Writes the tables into the page, all at once.
fn write(page: &Page, path: &Path, tables: &[(String, String)]) -> Outcome<bool> {
    let cannot = |error| Problem::doing(format!("write {}", path.display()), error);
    let aside = aside(path);
    std::fs::write(&aside, page.with(tables)).and_then(|()| std::fs::rename(&aside, path)).map_err(cannot)?;
    print(&format!("league   {}\n", path.display()))?;
    Ok(true)
}

/// Whether every place of the page says what the results say; those that do not are named.
fn check(page: &Page, path: &Path, tables: &[(String, String)]) -> Outcome<bool> {
    let mut wrong = 0;
    for name in page.names() {
        let table = tables.iter().find(|(of, _)| of == name);
        let why = match table {
            Some((_, table)) if page.content(name)? == table => continue,
            Some(_) => "do not follow from the results",
            None => "have no results",
        };
        wrong += 1;
        line(&format!("{}: the tables of {name} {why}", path.display()));
    }
    let all = page.names().count();
    print(&format!("{} of {all} places of {} follow from the results\n", all - wrong, path.display()))?;
    if wrong > 0 {
        line("`lsmbench league RESULTS… --into PAGE` writes them anew");
    }
    Ok(wrong == 0)
}

/// Where the page is written before it takes the place of the old one.
fn aside(page: &Path) -> PathBuf {
    page.with_extension("md.new")
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
