//! `lsmbench report`: the claims of documents beside what their experiments measure.

use std::path::{Path, PathBuf};

use report::{
    Answer, Evidence, Facts, Finding, Judged, Page, Picture, RunNote, System, Tally, assemble, judge, pages,
};
use results::{Folder, Manifest, Table};
use toml::Value;

use crate::charts;
use crate::cli::ReportArguments;
use crate::experiment::{AnswerFile, Experiment, Overrides};
use crate::interrupt;
use crate::output::{line, print};
use crate::problem::{Outcome, Problem};
use crate::run::{Ending, RunOptions, run_all};

/// Runs what is missing, judges all claims, and writes the pages; whether all that was to be shown is right.
pub(crate) fn report(arguments: &ReportArguments) -> Outcome<bool> {
    let files = answer_files(&arguments.paths)?;
    let overrides = Overrides { quick: arguments.quick, ..Overrides::default() };
    let load = |file: &AnswerFile| match file.runs {
        true => Experiment::load(&file.path, &overrides).map(Some),
        false => Ok(None),
    };
    let experiments = files.iter().map(load).collect::<Outcome<Vec<_>>>()?;
    let mut answers = Vec::new();
    for (file, experiment) in files.iter().zip(&experiments) {
        let absent = match experiment {
            Some(experiment) if !arguments.check => run_missing(file, experiment, arguments, &overrides)?,
            _ => None,
        };
        if interrupt::is_requested() {
            return Ok(true);
        }
        let found = experiment.as_ref().map(|experiment| find(experiment, &arguments.results, absent));
        answers.extend(answered(file, found.as_ref())?);
    }
    let systems = assemble(answers);
    let pages = pages(&systems);
    let out = arguments.out.clone().unwrap_or_else(|| arguments.results.join("report"));
    if arguments.check {
        return check(&out, &pages);
    }
    write(&out, &pages)?;
    print(&summary(&systems, &out))?;
    Ok(true)
}

/// The files that answer figures, in the order given; of a folder all below it.
fn answer_files(paths: &[PathBuf]) -> Outcome<Vec<AnswerFile>> {
    let mut files = Vec::new();
    for path in paths {
        let below = if path.is_dir() { files_below(path)? } else { vec![path.clone()] };
        for file in below {
            match AnswerFile::read(&file)? {
                Some(answers) => files.push(answers),
                None if path.is_dir() => {}
                None => {
                    let message =
                        "it answers no claims: [source] and [[claim]] say which, see experiments/README.md";
                    return Err(Problem::at(&file, None, message));
                }
            }
        }
    }
    match files.is_empty() {
        true => {
            Err(Problem::new("there is no experiment with claims here; give a folder such as experiments"))
        }
        false => Ok(files),
    }
}

/// The TOML files of a folder and the folders in it, by name.
fn files_below(folder: &Path) -> Outcome<Vec<PathBuf>> {
    let cannot = |error| Problem::doing(format!("read {}", folder.display()), error);
    let entries = folder.read_dir().map_err(cannot)?.collect::<Result<Vec<_>, _>>().map_err(cannot)?;
    let mut paths: Vec<PathBuf> = entries.into_iter().map(|entry| entry.path()).collect();
    paths.sort();
    let mut files = Vec::new();
    for path in paths {
        match path.is_dir() {
            true => files.extend(files_below(&path)?),
            false if path.extension().is_some_and(|ending| ending == "toml") => files.push(path),
            false => {}
        }
    }
    Ok(files)
}

/// Runs an experiment whose results are not there, or are of something else; why it could not run.
fn run_missing(
    file: &AnswerFile,
    experiment: &Experiment,
    arguments: &ReportArguments,
    overrides: &Overrides,
) -> Outcome<Option<String>> {
    let folder = Folder::new(arguments.results.join(&experiment.name));
    let earlier = folder.manifest().exists().then(|| Manifest::read(&folder.manifest())).transpose()?;
    let is_same = |manifest: &Manifest| manifest.config_hash == experiment.config_hash();
    let is_done =
        |manifest: &Manifest| manifest.ended.is_some() && manifest.trials >= experiment.trials.count;
    if earlier.as_ref().is_some_and(|manifest| is_same(manifest) && is_done(manifest)) {
        return Ok(None);
    }
    let options = RunOptions {
        out: arguments.results.clone(),
        plots: arguments.results.join("charts"),
        resume: earlier.is_none_or(|manifest| is_same(&manifest)),
        allow_debug: arguments.allow_debug,
        overrides: overrides.clone(),
    };
    match run_all(std::slice::from_ref(&file.path), &options) {
        Ok(Ending::Done | Ending::WrongAnswers | Ending::Interrupted) => Ok(None),
        Err(problem) => {
            line(&format!("{}: not run: {problem}", experiment.name));
            Ok(Some(problem.to_string()))
        }
    }
}

/// An experiment with what it left.
struct Found<'a> {
    experiment: &'a Experiment,
    folder: Folder,
    /// The rows, or why there are none.
    rows: Result<(Manifest, Table), String>,
}

fn find<'a>(experiment: &'a Experiment, results: &Path, absent: Option<String>) -> Found<'a> {
    let folder = Folder::new(results.join(&experiment.name));
    let rows = match absent {
        Some(why) => Err(why),
        None if !folder.manifest().exists() => Err("there are no results of it".to_owned()),
        None => read_rows(&folder, experiment).map_err(|problem| problem.to_string()),
    };
    Found { experiment, folder, rows }
}

fn read_rows(folder: &Folder, experiment: &Experiment) -> Outcome<(Manifest, Table)> {
    let manifest = Manifest::read(&folder.manifest())?;
    if manifest.config_hash != experiment.config_hash() {
        return Err(Problem::new("the results are of another version of the experiment"));
    }
    manifest.check_rows(folder)?;
    Ok((manifest, Table::read(&folder.runs())?))
}

/// What a file says of each of its figures.
fn answered(file: &AnswerFile, found: Option<&Found<'_>>) -> Outcome<Vec<Answer>> {
    // A parameter of the document is that of the full experiment, however small it runs.
    let full = found.map(|_| Experiment::load(&file.path, &Overrides::default())).transpose()?;
    let facts = Settings { resolved: full.and_then(|full| full.resolved().parse().ok()) };
    let rows = found.map(|found| found.rows.as_ref());
    let runs = match &rows {
        None => Err("there is no experiment, all is computed"),
        Some(Err(why)) => Err(why.as_str()),
        Some(Ok((_, table))) => Ok(table),
    };
    let cores = rows.and_then(|rows| rows.ok()?.0.machine.cores);
    let evidence = Evidence { runs, cores, facts: &facts };
    let mut answers = Vec::new();
    for (place, source) in file.sheet.sources.iter().enumerate() {
        let rules = file.sheet.rules.iter();
        let own = rules.filter(|rule| file.sheet.source_of(rule) == Some(source));
        let judged = own.flat_map(|rule| {
            let claims = rule.ids.all().iter().enumerate();
            claims.filter_map(|(place, id)| {
                let judgement = judge(rule, place, &file.claims, &evidence);
                Some(Judged { claim: file.claims.get(id)?.clone(), judgement })
            })
        });
        answers.push(Answer {
            source: source.clone(),
            file: file.name(),
            question: found.map(|found| found.experiment.question.clone()),
            run: found.and_then(|found| Some(note(&found.rows.as_ref().ok()?.0))),
            // The charts of a file are shown once, with its first figure.
            charts: found.filter(|_| place == 0).map_or(Ok(Vec::new()), pictures)?,
            judged: judged.collect(),
        });
    }
    Ok(answers)
}

fn note(manifest: &Manifest) -> RunNote {
    RunNote {
        experiment: manifest.experiment.clone(),
        run_id: manifest.run_id.clone(),
        is_quick: manifest.quick,
        trials: manifest.trials,
        mode: manifest.mode.clone(),
        cpu: manifest.machine.cpu.clone(),
        cores: manifest.machine.cores,
    }
}

fn pictures(found: &Found<'_>) -> Outcome<Vec<Picture>> {
    let Ok((manifest, table)) = &found.rows else { return Ok(Vec::new()) };
    let charts = charts::charts(&found.folder, table, &found.experiment.charts, manifest)?;
    let picture = |(spec, chart): (&plot::ChartSpec, plot::Chart)| {
        let title = spec.title.clone().unwrap_or_else(|| found.experiment.question.clone());
        Picture { title, svg: chart.svg() }
    };
    Ok(charts.into_iter().map(picture).collect())
}

/// What a full experiment says at its paths.
struct Settings {
    resolved: Option<toml::Table>,
}

impl Facts for Settings {
    fn setting(&self, path: &str) -> Option<f64> {
        let mut parts = path.split('.');
        let mut value = self.resolved.as_ref()?.get(parts.next()?)?;
        for part in parts {
            value = match value {
                Value::Table(table) => table.get(part)?,
                Value::Array(items) => {
                    items.iter().find(|item| item.get("name").and_then(Value::as_str) == Some(part))?
                }
                _ => return None,
            };
        }
        value.as_float().or_else(|| value.as_integer().map(|number| number as f64))
    }

    fn lost_writes(&self, _design: &str, _wal: &str) -> Option<f64> {
        None
    }
}

fn write(folder: &Path, pages: &[Page]) -> Outcome<()> {
    let cannot = |path: &Path, error| Problem::doing(format!("write {}", path.display()), error);
    std::fs::create_dir_all(folder).map_err(|error| cannot(folder, error))?;
    for page in pages {
        let path = folder.join(&page.name);
        std::fs::write(&path, &page.content).map_err(|error| cannot(&path, error))?;
    }
    Ok(())
}

/// Whether the files in a folder are the pages, byte for byte; those that are not are named.
fn check(folder: &Path, pages: &[Page]) -> Outcome<bool> {
    let differs = |page: &&Page| {
        std::fs::read(folder.join(&page.name)).ok().as_deref() != Some(page.content.as_bytes())
    };
    let other: Vec<&Page> = pages.iter().filter(differs).collect();
    for page in &other {
        line(&format!("{} does not follow from the results", folder.join(&page.name).display()));
    }
    print(&format!("{} of {} files follow from the results\n", pages.len() - other.len(), pages.len()))?;
    Ok(other.is_empty())
}

/// What the claims came to, by system.
fn summary(systems: &[System], out: &Path) -> String {
    let row = |name: &str, cells: [String; 5], total: &str| {
        let cells: Vec<String> = cells.iter().map(|cell| format!("{cell:>19}")).collect();
        format!("{name:<10}{total:>8}{}\n", cells.concat())
    };
    let counts = |tally: &Tally| Finding::ALL.map(|finding| tally.count(finding).to_string());
    let mut text = row("", Finding::ALL.map(|finding| finding.name().to_owned()), "claims");
    for system in systems {
        let tally = system.tally();
        text.push_str(&row(&system.document, counts(&tally), &tally.total().to_string()));
    }
    let all = systems.iter().flat_map(System::judged).map(|(_, judged)| judged.judgement.finding);
    let all = Tally::of(all);
    text.push_str(&row("all", counts(&all), &all.total().to_string()));
    text + &format!("report  {}\n", out.join("index.html").display())
}
