//! The jobs of `lsmbench torture`, one for each design and WAL mode, and the table of their results.

use std::fmt::Write as _;
use std::time::Instant;

use toml::{Table, Value};
use torture::{Findings, LocatedViolation, StoreKind};
use tree::{Checksum, Design};
use types::{Outcome, Problem};

use super::designs::{named, shipped};
use crate::cli::SubjectArguments;
use crate::output::{line, print};

/// A job of a test: one design in one WAL mode.
pub(super) struct Job {
    pub(super) design: String,
    pub(super) wal: String,
    pub(super) tree: Design,
    pub(super) subject: StoreKind,
}

/// The printed result of a job.
pub(super) struct Report {
    pub(super) counts: Vec<u64>,
    pub(super) findings: Findings<String>,
}

/// Returns a job for every selected design and WAL mode.
pub(super) fn jobs(arguments: &SubjectArguments) -> Outcome<Vec<Job>> {
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
            let subject = match StoreKind::tree(&name, design.clone()) {
                // Column families do not have all WAL modes.
                Err(_) if design.has_family_trees() && arguments.wal.is_empty() => continue,
                subject => subject?,
            };
            jobs.push(Job { design: name.clone(), wal: wal.clone(), tree: design, subject });
        }
    }
    Ok(jobs)
}

/// Removes the jobs of designs without block checksums, because lsmbench cannot detect corruption of such blocks.
/// Prints the names of the omitted designs. Returns an error if the user named such a design.
pub(super) fn leave_out_unchecked(arguments: &SubjectArguments, jobs: &mut Vec<Job>) -> Outcome<()> {
    let is_unchecked = |job: &Job| job.tree.options.block.checksum == Checksum::None;
    let mut names: Vec<&str> = jobs.iter().filter(|job| is_unchecked(job)).map(|job| &*job.design).collect();
    names.dedup();
    let why = "with block.checksum = \"none\", lsmbench cannot detect corruption of blocks";
    if !names.is_empty() && !arguments.design.is_empty() {
        return Err(Problem::new(format!("design {}: {why}; choose another checksum", names.join(", "))));
    }
    if !names.is_empty() {
        line(&format!("skipped: {}: {why}", names.join(", ")));
    }
    jobs.retain(|job| !is_unchecked(job));
    Ok(())
}

/// Runs `explore` for all jobs, and prints the results. `again` is the command-line argument that replays a case.
pub(super) fn run_jobs(
    (command, again): (&str, &str),
    jobs: &[Job],
    threads: usize,
    columns: &[&str],
    rated: usize,
    explore: impl Fn(&Job) -> Result<Report, String> + Sync,
) -> Outcome<bool> {
    let width = jobs.iter().map(|job| job.design.len()).max().unwrap_or(0).max("design".len());
    // An unknown place is an error, so nothing is printed before the first result.
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

/// Formats counts, or the names of counts, in columns.
pub(super) fn row(cells: &[impl std::fmt::Display]) -> String {
    cells.iter().fold(String::new(), |mut text, cell| {
        let _ = write!(text, "  {cell:>12}");
        text
    })
}

/// Returns the printed line of a job, followed by its violations.
fn text((command, again): (&str, &str), job: &Job, width: usize, report: &Report) -> String {
    let Job { design, wal, .. } = job;
    let mut text = format!("{design:<width$}  {wal:<8}{}\n", row(&report.counts));
    for LocatedViolation { place, moment, violation } in &report.findings.kept {
        let _ = writeln!(text, "violation ({moment}): {violation}");
        let _ = writeln!(text, "  lsmbench torture {command} --design {design} --wal {wal} {again} {place}");
    }
    text
}
