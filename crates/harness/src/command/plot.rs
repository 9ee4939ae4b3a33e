//! `lsmbench plot` draws charts from results.

use std::path::{Path, PathBuf};

use experiment::{Experiment, Overrides};
use plot::{ChartSpec, FigureStyle};
use results::{Folder, Manifest};
use toml::{Table, Value};
use types::{Outcome, Problem, valid_names};

use crate::charts::styled;
use crate::cli::PlotArguments;
use crate::output::{line, print};

/// The tables and keys of an experiment that affect only its charts, not its results.
const SHOWN: [&str; 3] = ["question", "chart", "style"];

/// The maximum depth of the subfolders in which `lsmbench plot` searches for results folders.
const DEPTH: usize = 3;

/// The name of the folder to which a run moves the results that it replaces.
const EARLIER: &str = "earlier";

/// Redraws the charts of the named results folders, and of all results folders in a named folder. If some results
/// cannot be drawn, the function prints the reason, continues with the other results, and returns an error at the end.
pub(crate) fn plot(arguments: &PlotArguments) -> Outcome<()> {
    let sets: Vec<(Vec<String>, Value)> =
        arguments.set.iter().map(|text| read_set(text)).collect::<Outcome<_>>()?;
    let style = FigureStyle {
        format: arguments.format.clone(),
        width: arguments.width,
        font: arguments.font.clone(),
        title: arguments.title.clone(),
        caption: arguments.caption,
        whiskers: arguments.whiskers,
        ratio: None,
    };
    style.check()?;
    let charts = styled(style);
    let config = arguments.config.as_deref().map(shown_by).transpose()?;
    let change = |manifest: &Manifest, resolved: &mut Table| {
        let shown = config.clone().or_else(|| shown_by_run(manifest, resolved));
        if let Some(shown) = shown {
            SHOWN.iter().for_each(|key| drop(resolved.remove(*key)));
            resolved.extend(shown);
        }
        sets.iter().try_for_each(|(path, value)| set(resolved, path, value.clone()))
    };
    let mut failed = None;
    for results in found(&arguments.results)? {
        match charts.redraw(&results, arguments.out.as_deref(), &change) {
            Ok(drawn) if drawn.is_empty() => line(&format!(
                "{folder}: no charts were drawn; add [[chart]] tables to the experiment",
                folder = results.display()
            )),
            Ok(drawn) => drawn.iter().try_for_each(|chart| print(&format!("{}\n", chart.display())))?,
            Err(problem) if arguments.results.contains(&results) && arguments.results.len() == 1 => {
                return Err(problem);
            }
            Err(problem) => {
                line(&format!("skipped {}: {problem}", results.display()));
                failed = Some(Problem::new(
                    "some results could not be drawn; the lines above contain the reasons",
                ));
            }
        }
    }
    failed.map_or(Ok(()), Err)
}

/// Returns the results folders among the named folders and in their subfolders. Prints a message about each named
/// folder without results. A missing folder, or a single folder without results, is an error.
pub(super) fn found(named: &[PathBuf]) -> Outcome<Vec<PathBuf>> {
    let mut all = Vec::new();
    for folder in named {
        let before = all.len();
        // The folder `EARLIER` has results that later runs replaced. They are drawn only if the user names just this
        // folder.
        let is_earlier = folder.file_name().is_some_and(|name| name == EARLIER);
        if is_earlier && named.len() > 1 {
            line(&format!(
                "skipped {}: this folder has results of earlier runs; to draw these results, name only this folder",
                folder.display()
            ));
            continue;
        }
        search(folder, DEPTH, &mut all);
        if all.len() > before {
            continue;
        }
        let missing =
            format!("{folder} is not a results folder: it has no manifest.json", folder = folder.display());
        if named.len() == 1 && !is_earlier || !folder.exists() {
            return Err(Problem::new(missing));
        }
        line(&format!("skipped {missing}"));
    }
    Ok(all)
}

/// Adds `folder` to `all` if it is a results folder. Otherwise, adds all results folders in its subfolders down to
/// `depth`, sorted by name.
fn search(folder: &Path, depth: usize, all: &mut Vec<PathBuf>) {
    if Folder::new(folder).manifest().exists() {
        all.push(folder.to_owned());
        return;
    }
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let mut inside: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    inside.retain(|path| path.is_dir() && !path.is_symlink());
    inside.sort();
    for path in inside.iter().filter(|_| depth > 0) {
        let before = all.len();
        if path.file_name().is_some_and(|name| name == EARLIER) {
            line(&format!(
                "skipped {}: this folder has results of earlier runs; to draw these results, name only this folder",
                path.display()
            ));
            continue;
        }
        search(path, depth - 1, all);
        if all.len() == before && depth == DEPTH {
            line(&format!("skipped {folder}: it has no manifest.json", folder = path.display()));
        }
    }
}

/// Returns the tables and keys of an experiment file that affect only its charts, such as `[style]`.
fn shown_by(config: &Path) -> Outcome<Table> {
    let resolved: Result<Table, _> = Experiment::load(config, &Overrides::default())?.resolved().parse();
    let resolved = resolved.map_err(|error| Problem::new(error.to_string()))?;
    Ok(resolved.into_iter().filter(|(key, _)| SHOWN.contains(&key.as_str())).collect())
}

/// Reads the experiment file of a run again, and returns its tables and keys that affect only the charts. Returns
/// `None` if the file cannot be read, or if these tables and keys have not changed since the run.
fn shown_by_run(manifest: &Manifest, resolved: &Table) -> Option<Table> {
    let stem = manifest.experiment.strip_prefix("component-").unwrap_or(&manifest.experiment);
    let is_config = |path: &&PathBuf| {
        path.extension().is_some_and(|ending| ending == "toml")
            && path.file_stem().is_some_and(|name| name == stem)
            && path.is_file()
    };
    let named: Vec<PathBuf> = manifest.command.iter().map(PathBuf::from).collect();
    let config = named.iter().find(is_config)?;
    let shown = shown_by(config).ok()?;
    if SHOWN.iter().all(|key| shown.get(*key) == resolved.get(*key)) {
        return None;
    }
    line(&format!(
        "{folder}: the charts use the chart settings that {file} contains now; the run had other chart \
         settings",
        folder = manifest.experiment,
        file = config.display()
    ));
    Some(shown)
}

/// Parses `chart.NAME.KEY=VALUE`, `style.KEY=VALUE` or `question=VALUE`. A value that is no TOML value becomes a
/// text.
fn read_set(text: &str) -> Outcome<(Vec<String>, Value)> {
    let wrong = || {
        Problem::new(format!(
            "--set {text} is not a setting of charts; write chart.NAME.KEY=VALUE or style.KEY=VALUE, such as \
             --set 'chart.fpr.title=\"Filters\"'"
        ))
    };
    let (path, value) = text.split_once('=').ok_or_else(wrong)?;
    let parsed =
        toml::from_str::<Table>(&format!("value = {value}")).ok().and_then(|mut table| table.remove("value"));
    let value = parsed.unwrap_or_else(|| Value::String(value.to_owned()));
    let mut path: Vec<String> = path.trim().split('.').map(str::to_owned).collect();
    // Columns in a filter contain dots, so the rest of such a path is one key.
    if path.len() > 4 && path[0] == "chart" && path[2] == "filter" {
        let column = path.split_off(3).join(".");
        path.push(column.trim_matches('"').to_owned());
    }
    if path.iter().any(String::is_empty) || !SHOWN.contains(&path[0].as_str()) {
        return Err(wrong());
    }
    Ok((path, value))
}

/// Sets a value in the resolved experiment. A path such as `chart.NAME.title` selects a chart: `NAME` is the file name
/// of the chart without the extension.
fn set(resolved: &mut Table, path: &[String], value: Value) -> Outcome<()> {
    let unknown = |names: Vec<String>| {
        Problem::new(format!("--set {}: unknown chart. {}", path.join("."), valid_names(names)))
    };
    let mut table = resolved;
    let mut keys = path;
    if path[0] == "chart" {
        let Some(Value::Array(charts)) = table.get_mut("chart") else { return Err(unknown(Vec::new())) };
        let stem = |chart: &Value| {
            chart.clone().try_into::<ChartSpec>().map(|spec| spec.file_stem()).unwrap_or_default()
        };
        let names: Vec<String> = charts.iter().map(stem).collect();
        let at = names.iter().position(|name| path.get(1) == Some(name));
        match at.and_then(|at| charts.get_mut(at)) {
            Some(Value::Table(chart)) if path.len() > 2 => (table, keys) = (chart, &path[2..]),
            _ => return Err(unknown(names)),
        }
    }
    let Some((last, above)) = keys.split_last() else { return Ok(()) };
    for key in above {
        let inner = table.entry(key.clone()).or_insert_with(|| Value::Table(Table::new()));
        let message = || Problem::new(format!("--set {}: \"{key}\" is not a table", path.join(".")));
        table = inner.as_table_mut().ok_or_else(message)?;
    }
    table.insert(last.clone(), value);
    Ok(())
}
