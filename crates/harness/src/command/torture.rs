//! `lsmbench torture`: crashes, I/O errors, damage and kills for every design and log mode, and killed runs.

mod kill;
mod race;
mod soak;
mod sweep;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Instant;

use catalog::Limit;
use experiment::read_design;
use toml::{Table, Value};
use torture::{Finding, Findings, Subject, crash, damage, errors};
use tree::{Checksum, Design};

use crate::cli::{ReplayArguments, SubjectArguments, TortureCommand};
use crate::output::{line, print};
use types::{Outcome, Problem};

pub(crate) use kill::{WRITER_COMMAND, write_until_killed};

/// Where the shipped designs lie, from the root of the repository.
const DESIGNS: &str = "configs/designs";

/// A design under one log mode.
struct Job {
    design: String,
    wal: String,
    tree: Design,
    subject: Subject,
}

/// What a job came to, as it is printed.
struct Report {
    counts: Vec<u64>,
    findings: Findings<String>,
}

/// Explores, prints a line for each design and log mode, and every violation with the command that leads
/// there again; whether there was none.
pub(crate) fn torture(what: &TortureCommand) -> Outcome<bool> {
    match what {
        TortureCommand::Crash { subjects, again, states } => {
            let columns = ["lives", "cuts", "states", "recovered", "in recovery", "violations"];
            let budget = crash::CrashBudget { seed: subjects.seed, states: *states };
            let explore = |subject: &Subject| crash::explore(subject, budget);
            run("crash", (subjects, again), &columns, 3, of_crashes, explore, crash::replay)
        }
        TortureCommand::Errors { subjects, again, faults } => {
            let columns = ["lives", "faults", "failed calls", "reported", "reopened", "violations"];
            let budget = errors::FaultBudget { seed: subjects.seed, faults: *faults };
            let explore = |subject: &Subject| errors::explore(subject, budget);
            run("errors", (subjects, again), &columns, 1, of_errors, explore, errors::replay)
        }
        TortureCommand::Damage { subjects, again, images } => {
            let columns = ["stores", "images", "told", "unneeded", "superseded", "as a crash", "violations"];
            let budget = damage::CorruptionBudget { seed: subjects.seed, images: *images };
            let explore = |subject: &Subject| damage::explore(subject, budget);
            run("damage", (subjects, again), &columns, 1, of_damage, explore, damage::replay)
        }
        TortureCommand::Race(arguments) => race::race(arguments),
        TortureCommand::Soak(arguments) => soak::soak(arguments),
        TortureCommand::Kill(arguments) => kill::kill(arguments),
        TortureCommand::Sweep(arguments) => sweep::sweep(arguments),
    }
}

fn of_crashes(tally: crash::CrashSummary) -> Report {
    let crash::CrashSummary { lives, cuts, states, recovered, second, findings } = tally;
    let counts = vec![lives, cuts, states, recovered, second, findings.violations];
    Report { counts, findings: findings.spelt() }
}

fn of_errors(tally: errors::FaultSummary) -> Report {
    let errors::FaultSummary { lives, faults, failed_calls, reported, reopened, findings } = tally;
    let counts = vec![lives, faults, failed_calls, reported, reopened, findings.violations];
    Report { counts, findings: findings.spelt() }
}

fn of_damage(tally: damage::CorruptionSummary) -> Report {
    let damage::CorruptionSummary { stores, images, told, harmless, findings } = tally;
    let counts = [&[stores, images, told], &harmless[..], &[findings.violations]].concat();
    Report { counts, findings: findings.spelt() }
}

/// Does `explore` for every design and log mode, or `replay` for one place of one; `columns` name the counts that
/// `report` makes of either, of which number `rated` is the one whose rate is told.
fn run<P: FromStr<Err = String> + Copy + Sync, T>(
    command: &str,
    (subjects, again): (&SubjectArguments, &ReplayArguments),
    columns: &[&str],
    rated: usize,
    report: fn(T) -> Report,
    explore: impl Fn(&Subject) -> T + Sync,
    replay: impl Fn(&Subject, P) -> Result<T, String> + Sync,
) -> Outcome<bool> {
    let place = again.replay.as_deref().map(str::parse::<P>).transpose().map_err(Problem::new)?;
    let mut jobs = jobs(subjects)?;
    if command == "damage" {
        leave_out_unchecked(subjects, &mut jobs)?;
    }
    if place.is_some() && jobs.len() != 1 {
        return Err(Problem::new("--replay wants one --design and one --wal"));
    }
    let threads = subjects.threads as usize;
    run_jobs((command, "--replay"), &jobs, threads, columns, rated, |job| {
        Ok(report(match place {
            Some(place) => replay(&job.subject, place)?,
            None => explore(&job.subject),
        }))
    })
}

/// Does `explore` for jobs; `again` is the argument that leads to a place again.
fn run_jobs(
    (command, again): (&str, &str),
    jobs: &[Job],
    threads: usize,
    columns: &[&str],
    rated: usize,
    explore: impl Fn(&Job) -> Result<Report, String> + Sync,
) -> Outcome<bool> {
    let width = jobs.iter().map(|job| job.design.len()).max().unwrap_or(0).max("design".len());
    // A place that is not there is refused, and a refusal is no answer: nothing is printed before the first.
    let mut head = format!("{:<width$}  {:<8}{}\n", "design", "wal", row(columns));
    let (mut totals, mut outcome, start) = (vec![0; columns.len()], Ok(()), Instant::now());
    torture::in_order(jobs, threads, explore, |job, report| {
        if outcome.is_ok() {
            outcome = report.map_err(Problem::new).and_then(|report| {
                totals.iter_mut().zip(&report.counts).for_each(|(total, count)| *total += count);
                print(&(std::mem::take(&mut head) + &text((command, again), job, width, &report)))
            });
        }
    });
    outcome?;
    print(&format!("{:<width$}  {:<8}{}\n", "all", "", row(&totals)))?;
    let (count, seconds) = (totals[rated], start.elapsed().as_secs_f64());
    line(&format!("{count} {} in {seconds:.1} s: {:.0} per second", columns[rated], count as f64 / seconds));
    Ok(totals.last() == Some(&0))
}

/// Numbers or their names, in columns.
fn row(cells: &[impl std::fmt::Display]) -> String {
    cells.iter().fold(String::new(), |mut text, cell| {
        let _ = write!(text, "  {cell:>12}");
        text
    })
}

/// The line of a job, and its violations.
fn text((command, again): (&str, &str), job: &Job, width: usize, report: &Report) -> String {
    let Job { design, wal, .. } = job;
    let mut text = format!("{design:<width$}  {wal:<8}{}\n", row(&report.counts));
    for Finding { place, moment, violation } in &report.findings.kept {
        let _ = writeln!(text, "violation ({moment}): {violation}");
        let _ = writeln!(text, "  lsmbench torture {command} --design {design} --wal {wal} {again} {place}");
    }
    text
}

/// Takes designs whose blocks have no checksum out of what is damaged, and says so: nothing can tell damage there, as
/// the documents that such designs follow have it. One that is asked for is refused.
fn leave_out_unchecked(arguments: &SubjectArguments, jobs: &mut Vec<Job>) -> Outcome<()> {
    let is_unchecked = |job: &Job| job.tree.options.block.checksum == Checksum::None;
    let mut names: Vec<&str> = jobs.iter().filter(|job| is_unchecked(job)).map(|job| &*job.design).collect();
    names.dedup();
    let why = "block.checksum = none: nothing can tell that their blocks are damaged";
    if !names.is_empty() && !arguments.design.is_empty() {
        return Err(Problem::new(format!("design {}: {why}; choose another checksum", names.join(", "))));
    }
    if !names.is_empty() {
        line(&format!("left out: {}: {why}", names.join(", ")));
    }
    jobs.retain(|job| !is_unchecked(job));
    Ok(())
}

/// Every design under every log mode that is asked for.
fn jobs(arguments: &SubjectArguments) -> Outcome<Vec<Job>> {
    let designs = match arguments.design.is_empty() {
        true => shipped()?,
        false => arguments.design.iter().map(|name| named(name)).collect::<Outcome<_>>()?,
    };
    let modes: Vec<String> = match arguments.wal.is_empty() {
        true => tree::wal::CATALOG.variants().iter().map(|variant| variant.kind.to_owned()).collect(),
        false => arguments.wal.clone(),
    };
    let mut jobs = Vec::new();
    for (name, design) in designs {
        for wal in &modes {
            let mode = Table::from_iter([("wal".to_owned(), Value::String(wal.clone()))]);
            let design = design.with(&mode).map_err(|error| Problem::new(error.message))?;
            let subject = Subject::tree(&name, design.clone())?;
            jobs.push(Job { design: name.clone(), wal: wal.clone(), tree: design, subject });
        }
    }
    Ok(jobs)
}

/// A design by the path of its file, or by its name among the shipped ones; small. One that drops data is refused.
fn named(name: &Path) -> Outcome<(String, Design)> {
    let shown = name.display().to_string();
    let file = match name.is_file() {
        true => Some(name.to_owned()),
        false => folder().map(|folder| folder.join(format!("{shown}.toml"))).filter(|file| file.is_file()),
    };
    let design = match file {
        Some(file) => read_design(&file)?,
        None if shown == "default" => Design::default(),
        None => {
            let message = format!("there is no design file {shown}, and none of this name in {DESIGNS}");
            return Err(Problem::new(message));
        }
    };
    if let Some((axis, choice, limit)) =
        design.limits().into_iter().find(|(_, _, limit)| *limit == Limit::DropsData)
    {
        return Err(Problem::new(format!(
            "design {shown}: torture counts what is lost, but {axis} = {choice} {limit}; choose another one"
        )));
    }
    Ok((shown, torture::small(&design)))
}

/// All shipped designs by their names, small.
fn shipped() -> Outcome<Vec<(String, Design)>> {
    let Some(folder) = folder() else {
        let message = format!("there is no {DESIGNS} here or above; name a design with --design");
        return Err(Problem::new(message));
    };
    let mut names = Vec::new();
    collect(&folder, "", &mut names)?;
    names.sort();
    names.iter().map(|name| named(Path::new(name))).collect()
}

/// The names of the design files below a folder.
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

/// The folder of the shipped designs, at the current folder or above it.
fn folder() -> Option<PathBuf> {
    let current = std::env::current_dir().ok()?;
    current.ancestors().map(|above| above.join(DESIGNS)).find(|folder| folder.is_dir())
}
