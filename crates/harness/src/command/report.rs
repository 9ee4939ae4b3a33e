//! `lsmbench report` compares the claims of published documents with the results of experiments.

mod documents;
mod found;
mod note;
mod published;
mod trimmed;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use experiment::{AnswerFile, Experiment, Overrides};
use found::Found;
use note::note;
use plot::Width;
use published::{Published, publish};
use report::{
    Answer, Evidence, Facts, Finding, FindingCounts, Judged, Report, ReportPage, SvgChart, System, assemble,
    judge, outcome, pages,
};
use results::targets::check_folder;
use results::{Folder, Manifest, RunMode, Table, verdicts};
use run::interrupt;
use run::{Ending, RunOptions, run_all};
use toml::Value;
use types::{Outcome, Problem};
use xxhash_rust::xxh3::xxh3_64;

use crate::build_info::build_info;
use crate::charts::charts;
use crate::cli::ReportArguments;
use crate::output::{CONSOLE, line, print};

/// Runs experiments whose results are missing, judges all claims, and writes the pages of the report. With `--check`,
/// runs and writes nothing, and returns whether the pages are up to date.
pub(crate) fn report(arguments: &ReportArguments) -> Outcome<bool> {
    let files = answer_files(&arguments.paths)?;
    let results = results_folder(arguments);
    let out = report_folder(arguments, &results);
    if !arguments.check {
        arguments.keep.iter().chain([&out]).try_for_each(|folder| check_folder(folder))?;
    }
    if let Some(folder) = arguments.keep.as_ref().filter(|folder| is_same(folder, &results)) {
        let folder = folder.display();
        return Err(Problem::new(format!(
            "--keep {folder} is also the folder with the results; name another folder"
        )));
    }
    let kept = Published::read(&results)?;
    let quick = arguments.quick || kept.as_ref().is_some_and(|kept| kept.quick);
    let load = |file: &AnswerFile| match file.runs {
        true => load(file, quick, arguments.trials).map(Some),
        false => Ok(None),
    };
    let experiments = files.iter().map(load).collect::<Outcome<Vec<_>>>()?;
    let mut found = Vec::new();
    for (file, experiment) in files.iter().zip(&experiments) {
        let Some((experiment, overrides)) = experiment else { continue };
        let absent = match arguments.check || kept.is_some() {
            true => None,
            false => missing_run(&file.path, experiment, &results, arguments.allow_debug, overrides)?,
        };
        if interrupt::is_requested() {
            return Ok(true);
        }
        found.push((file, find(file, experiment, &results, kept.as_ref(), absent)));
    }
    if let Some(folder) = &arguments.keep {
        let staying = publish(&found, folder, quick)?;
        let kept = Published::read(folder)?;
        for (file, found) in &mut found {
            let is_new = !staying.contains(&found.experiment.name);
            let absent = found.rows.as_ref().err().filter(|_| is_new).cloned();
            *found = find(file, found.experiment, folder, kept.as_ref(), absent);
        }
    }
    let report = assembled(&files, &found, &arguments.paths)?;
    let pages = with_digest(pages(&report));
    if arguments.check {
        return check(&out, &pages);
    }
    write(&out, &pages)?;
    print(&summary(&report.systems, &out))?;
    Ok(true)
}

/// Generates the pages of the report from existing results. Runs no experiments and writes no files.
pub(super) fn kept_pages(paths: &[PathBuf], results: &Path) -> Outcome<Vec<ReportPage>> {
    let files = answer_files(paths)?;
    let kept = Published::read(results)?;
    let quick = kept.as_ref().is_some_and(|kept| kept.quick);
    let experiments: Vec<(&AnswerFile, Experiment)> = files
        .iter()
        .filter(|file| file.runs)
        .map(|file| Ok((file, load(file, quick, None)?.0)))
        .collect::<Outcome<_>>()?;
    let found: Vec<(&AnswerFile, Found<'_>)> = experiments
        .iter()
        .map(|(file, experiment)| (*file, find(file, experiment, results, kept.as_ref(), None)))
        .collect();
    Ok(pages(&assembled(&files, &found, paths)?))
}

/// Returns whether two paths lead to the same folder, after symbolic links are resolved.
fn is_same(one: &Path, other: &Path) -> bool {
    let whole = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    whole(one) == whole(other)
}

/// Loads an experiment with its overrides. In `counted` mode, `trials` is ignored, because all trials have equal
/// counters.
fn load(file: &AnswerFile, quick: bool, trials: Option<u64>) -> Outcome<(Experiment, Overrides)> {
    let overrides = Overrides { quick, ..Overrides::default() };
    let experiment = Experiment::load(&file.path, &overrides)?;
    if trials.is_none() || experiment.trials.mode == RunMode::Counted {
        return Ok((experiment, overrides));
    }
    let overrides = Overrides { trials, ..overrides };
    Ok((Experiment::load(&file.path, &overrides)?, overrides))
}

/// Returns the results folder: the folder that the user names, or the default folder. The default folder is
/// `results`, or `results/published` with `--check`.
fn results_folder(arguments: &ReportArguments) -> PathBuf {
    let default = if arguments.check { published::FOLDER } else { "results" };
    arguments.results.clone().unwrap_or_else(|| PathBuf::from(default))
}

/// Returns the folder of the pages: the folder that the user names with `--out`, or `report/` in the folder of
/// `--keep` or in the results folder.
fn report_folder(arguments: &ReportArguments, results: &Path) -> PathBuf {
    let shown = arguments.keep.as_deref().unwrap_or(results);
    arguments.out.clone().unwrap_or_else(|| shown.join("report"))
}

/// Judges the claims of all files, and returns the contents of the report. The contents also include the questions for
/// the first page, the contradictions in documents, and the features of systems.
fn assembled(files: &[AnswerFile], found: &[(&AnswerFile, Found<'_>)], paths: &[PathBuf]) -> Outcome<Report> {
    let mut answers = Vec::new();
    for file in files {
        let own = found.iter().find(|(of, _)| of.path == file.path).map(|(_, found)| found);
        answers.extend(answered(file, own)?);
    }
    let systems = assemble(answers);
    let highlights = documents::highlights(paths, &systems)?;
    let (contradictions, features) = (documents::contradictions(files)?, documents::features(paths)?);
    Ok(Report { systems, highlights, contradictions, features })
}

/// Returns the experiment files with claims, in the order of `paths`. For a folder, the function returns all experiment
/// files with claims in the folder and its subfolders.
///
/// # Errors
/// A named file has no claims, or no file has claims.
fn answer_files(paths: &[PathBuf]) -> Outcome<Vec<AnswerFile>> {
    let mut files = Vec::new();
    for path in paths {
        let below = if path.is_dir() { files_below(path)? } else { vec![path.clone()] };
        for file in below {
            match AnswerFile::read(&file)? {
                Some(answers) => files.push(answers),
                None if path.is_dir() => {}
                None => {
                    let message = "the experiment has no claims; add [source] and [[claim]] as \
                                   experiments/README.md describes";
                    return Err(Problem::at(&file, None, message));
                }
            }
        }
    }
    match files.is_empty() {
        true => {
            Err(Problem::new("no experiment has claims; name a folder with claims, such as experiments/"))
        }
        false => Ok(files),
    }
}

/// Returns the paths of the experiment files in a folder and in all its subfolders, sorted by name.
pub(super) fn files_below(folder: &Path) -> Outcome<Vec<PathBuf>> {
    let cannot = |error| Problem::doing(format!("read {}", folder.display()), error);
    let entries = folder.read_dir().map_err(cannot)?.collect::<Result<Vec<_>, _>>().map_err(cannot)?;
    let mut paths: Vec<PathBuf> = entries.into_iter().map(|entry| entry.path()).collect();
    paths.sort();
    let mut files = Vec::new();
    for path in paths {
        match path.is_dir() {
            true => files.extend(files_below(&path)?),
            false if is_experiment(&path) => files.push(path),
            false => {}
        }
    }
    Ok(files)
}

/// Returns whether a file may be an experiment: a TOML file that does not contain contradictions or questions for the
/// report.
fn is_experiment(path: &Path) -> bool {
    let others = [documents::CONTRADICTIONS, documents::HIGHLIGHTS];
    path.extension().is_some_and(|ending| ending == "toml")
        && path.file_name().is_none_or(|name| others.iter().all(|other| name != *other))
}

/// Runs an experiment if its results are missing, incomplete, or from another version of the experiment. Returns the
/// reason if the experiment could not run.
pub(super) fn missing_run(
    path: &Path,
    experiment: &Experiment,
    results: &Path,
    allow_debug: bool,
    overrides: &Overrides,
) -> Outcome<Option<String>> {
    let folder = Folder::new(results.join(&experiment.name));
    let earlier = folder.manifest().exists().then(|| Manifest::read(&folder.manifest())).transpose()?;
    let is_same = |manifest: &Manifest| manifest.config_hash == experiment.config_hash();
    let is_done =
        |manifest: &Manifest| manifest.ended.is_some() && manifest.trials >= experiment.trials.count;
    if earlier.as_ref().is_some_and(|manifest| is_same(manifest) && is_done(manifest)) {
        return Ok(None);
    }
    let options = RunOptions {
        out: results.to_owned(),
        plots: results.join("charts"),
        has_page: false,
        part: None,
        resume: earlier.is_none_or(|manifest| is_same(&manifest)),
        allow_debug,
        has_profile: false,
        verbose: false,
        markdown: None,
        overrides: overrides.clone(),
        console: CONSOLE,
        build: build_info(),
    };
    match run_all(&[path.to_owned()], &options) {
        Ok(Ending::Done | Ending::WrongAnswers | Ending::Regressed | Ending::Interrupted) => Ok(None),
        Err(problem) => {
            line(&format!("{}: not run: {problem}", experiment.name));
            Ok(Some(problem.to_string()))
        }
    }
}

/// Returns an experiment of the report with its results, or with the reason why the results are missing. If the
/// experiment could not run, `absent` contains the reason.
fn find<'a>(
    file: &AnswerFile,
    experiment: &'a Experiment,
    results: &Path,
    kept: Option<&Published>,
    absent: Option<String>,
) -> Found<'a> {
    let folder = Folder::new(results.join(&experiment.name));
    let rows = match absent {
        Some(why) => Err(why),
        None if !folder.manifest().exists() => Err("the experiment has no results".to_owned()),
        None => read_rows(file, &folder, experiment, kept).map_err(|problem| problem.to_string()),
    };
    Found { experiment, folder, rows }
}

fn read_rows(
    file: &AnswerFile,
    folder: &Folder,
    experiment: &Experiment,
    kept: Option<&Published>,
) -> Outcome<(Manifest, Table)> {
    let manifest = Manifest::read(&folder.manifest())?;
    let is_current = match kept {
        Some(kept) => kept.is_of(&experiment.name, &file.path)?,
        None => manifest.config_hash == experiment.config_hash(),
    };
    if !is_current {
        return Err(Problem::new(
            "the results belong to another version of the experiment or of its base design",
        ));
    }
    manifest.check_rows(folder)?;
    Ok((manifest, Table::read(&folder.runs())?))
}

/// Returns the figures of documents that an experiment file reproduces, each with its claims and the findings about
/// these claims.
fn answered(file: &AnswerFile, found: Option<&Found<'_>>) -> Outcome<Vec<Answer>> {
    // Claims refer to the settings of the full experiment, even if the run was a quick run with smaller sizes.
    let full = found.map(|_| Experiment::load(&file.path, &Overrides::default())).transpose()?;
    let facts = Settings { resolved: full.and_then(|full| full.resolved().parse().ok()) };
    let rows = found.map(|found| found.rows.as_ref());
    let runs = match &rows {
        None => Err("the file has only computed claims and no experiment"),
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
            outcome: found.map_or(Ok(None), found_by_run)?,
            // The charts of a file appear once, with its first figure.
            charts: found.filter(|_| place == 0).map_or(Ok(Vec::new()), pictures)?,
            judged: judged.collect(),
        });
    }
    Ok(answers)
}

/// Returns the verdicts of a run as text. Returns `None` if the results of the run are missing.
fn found_by_run(found: &Found<'_>) -> Outcome<Option<String>> {
    match found.rows {
        Ok(_) => Ok(outcome(&verdicts::read(&found.folder.verdicts())?)),
        Err(_) => Ok(None),
    }
}

fn pictures(found: &Found<'_>) -> Outcome<Vec<SvgChart>> {
    let Ok((manifest, table)) = &found.rows else { return Ok(Vec::new()) };
    let drawn = |specs: &[plot::ChartSpec], width| {
        let drawn = charts().charts(&found.folder, table, specs, manifest, width)?;
        let owned = drawn.into_iter().map(|(spec, chart)| (spec.clone(), chart));
        Ok::<Vec<(plot::ChartSpec, plot::Chart)>, Problem>(owned.collect())
    };
    let (specs, full): (Vec<plot::ChartSpec>, Vec<plot::Chart>) =
        drawn(&found.experiment.charts, Width::Full)?.into_iter().unzip();
    // `specs` contains only the charts with data, so no other chart is drawn a second time.
    let phone = drawn(&specs, Width::Phone)?;
    let pictures = full.iter().zip(&phone).map(|(chart, (spec, phone))| SvgChart {
        name: format!("{}-{}", found.experiment.name, spec.file_stem()),
        title: spec.title.clone().unwrap_or_else(|| found.experiment.question.clone()),
        svg: chart.svg(),
        phone: phone.svg(),
    });
    Ok(pictures.collect())
}

/// The settings of a resolved experiment. Claims refer to a setting by its path, such as `design.memtable.capacity`.
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

/// Adds the page `pages.csv`, which lists the size and the hash of each HTML page. Git stores this list instead of the
/// large HTML pages.
fn with_digest(mut pages: Vec<ReportPage>) -> Vec<ReportPage> {
    let mut content = "page,bytes,xxh3\n".to_owned();
    for page in pages.iter().filter(|page| page.is_html()) {
        let hash = xxh3_64(page.content.as_bytes());
        let _ = writeln!(content, "{},{},{hash:016x}", page.name, page.content.len());
    }
    pages.push(ReportPage { name: "pages.csv".to_owned(), content });
    pages
}

/// Writes the pages into a folder, and removes the figures in the folder that no page uses.
fn write(folder: &Path, pages: &[ReportPage]) -> Outcome<()> {
    for path in stray_figures(folder, pages) {
        std::fs::remove_file(&path)
            .map_err(|error| Problem::doing(format!("remove {}", path.display()), error))?;
    }
    for page in pages {
        let path = folder.join(&page.name);
        let cannot = |error| Problem::doing(format!("write {}", path.display()), error);
        path.parent().map_or(Ok(()), std::fs::create_dir_all).map_err(cannot)?;
        std::fs::write(&path, &page.content).map_err(cannot)?;
    }
    Ok(())
}

/// Returns the paths of the figures in a folder that no page of the report uses.
fn stray_figures(folder: &Path, pages: &[ReportPage]) -> Vec<PathBuf> {
    let is_stray = |path: &PathBuf| pages.iter().all(|page| folder.join(&page.name) != *path);
    let entries = folder.join("figures").read_dir().into_iter().flatten().flatten();
    let mut strays: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(is_stray).collect();
    strays.sort();
    strays
}

/// Returns whether the files in a folder equal the pages byte for byte, and prints the names of files that differ. An
/// HTML file may be missing, because the list of hashes covers it.
fn check(folder: &Path, pages: &[ReportPage]) -> Outcome<bool> {
    let differs = |page: &&ReportPage| match std::fs::read(folder.join(&page.name)) {
        Ok(bytes) => bytes != page.content.as_bytes(),
        Err(_) => !page.is_html(),
    };
    let other: Vec<&ReportPage> = pages.iter().filter(differs).collect();
    for page in &other {
        line(&format!(
            "{path} differs from the page that `lsmbench report` generates from the results",
            path = folder.join(&page.name).display()
        ));
    }
    let strays = stray_figures(folder, pages);
    for path in &strays {
        line(&format!("no page of the report uses {path}; remove this file", path = path.display()));
    }
    print(&format!(
        "{right} of {all} files of the report match the results\n",
        right = pages.len() - other.len(),
        all = pages.len()
    ))?;
    let is_right = other.is_empty() && strays.is_empty();
    if !is_right {
        line("update them with: lsmbench report --quick --keep results/published");
    }
    Ok(is_right)
}

/// Returns a table with the number of claims of each system, by finding, such as "reproduced" or "not reproduced".
fn summary(systems: &[System], out: &Path) -> String {
    let row = |name: &str, cells: [String; 5], total: &str| {
        let cells: Vec<String> = cells.iter().map(|cell| format!("{cell:>19}")).collect();
        format!("{name:<10}{total:>8}{}\n", cells.concat())
    };
    let counts = |tally: &FindingCounts| Finding::ALL.map(|finding| tally.count(finding).to_string());
    let mut text = row("", Finding::ALL.map(|finding| finding.name().to_owned()), "claims");
    for system in systems {
        let tally = system.tally();
        text.push_str(&row(&system.document, counts(&tally), &tally.total().to_string()));
    }
    let all = FindingCounts::of(systems.iter().flat_map(System::judged).map(|(_, judged)| judged));
    text.push_str(&row("all", counts(&all), &all.total().to_string()));
    text + &format!("Report: {}\n", out.join("index.html").display())
}
