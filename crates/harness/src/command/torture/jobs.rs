//! The jobs of `lsmbench torture`, one for each design and WAL mode, and the table that shows their results.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Instant;

use toml::{Table, Value};
use torture::{Findings, LocatedViolation, StoreKind};
use tree::{Checksum, Design, ManifestPlace};
use types::{Outcome, Problem};

use super::designs::{named, shipped};
use crate::cli::SubjectArguments;
use crate::output::{line, print};

/// A job of a torture test: the test of one design in one WAL mode.
pub(super) struct Job {
    pub(super) design: String,
    pub(super) wal: String,
    pub(super) tree: Design,
    pub(super) subject: StoreKind,
}

/// The counts and the violations that a job found, for the printed table.
pub(super) struct Report {
    pub(super) counts: Vec<u64>,
    pub(super) findings: Findings<String>,
}

/// Returns a job for every selected design and WAL mode. Without a selection, all designs and all WAL modes are
/// selected. A WAL mode that a design with column families does not support is skipped, unless the user selected it.
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
                // A design with column families does not support all WAL modes.
                Err(_) if design.has_family_trees() && arguments.wal.is_empty() => continue,
                subject => subject?,
            };
            jobs.push(Job { design: name.clone(), wal: wal.clone(), tree: design, subject });
        }
    }
    Ok(jobs)
}

/// Returns the reason why lsmbench cannot detect all corruption of a store with this design, and the remedy. Returns
/// `None` if lsmbench detects all corruption.
fn reason_unchecked(design: &Design) -> Option<(&'static str, &'static str)> {
    let own = match &design.options {
        options if options.block.checksum == Checksum::None => Some((
            "with block.checksum = \"none\", lsmbench cannot detect corruption of blocks",
            "choose another checksum",
        )),
        options if options.table.manifest == ManifestPlace::None => Some((
            "with table.manifest = \"none\", lsmbench cannot detect missing files",
            "set table.manifest = \"file\"",
        )),
        _ => None,
    };
    let family = |name| design.family(name).ok().and_then(|family| reason_unchecked(&family));
    own.or_else(|| design.families().find_map(family))
}

/// Removes the jobs of designs whose corruption lsmbench cannot always detect, and prints the names of these designs.
///
/// # Errors
/// The user named such a design.
pub(super) fn leave_out_unchecked(arguments: &SubjectArguments, jobs: &mut Vec<Job>) -> Outcome<()> {
    let mut reasons = BTreeMap::<_, Vec<&str>>::new();
    for job in jobs.iter() {
        let Some(reason) = reason_unchecked(&job.tree) else { continue };
        let names = reasons.entry(reason).or_default();
        if !names.contains(&&*job.design) {
            names.push(&job.design);
        }
    }
    for ((why, remedy), names) in reasons {
        let names = names.join(", ");
        if !arguments.design.is_empty() {
            return Err(Problem::new(format!("design {names}: {why}; {remedy}")));
        }
        line(&format!("skipped: {names}: {why}"));
    }
    jobs.retain(|job| reason_unchecked(&job.tree).is_none());
    Ok(())
}

/// A job that is printed as a row of the results table.
pub(super) trait TableRow: Sync {
    /// Returns the labels at the start of the row. The first two, such as the design and the WAL mode, are the
    /// arguments of the options that select this job.
    fn labels(&self) -> Vec<&str>;
}

impl TableRow for Job {
    fn labels(&self) -> Vec<&str> {
        vec![&self.design, &self.wal]
    }
}

/// Runs `explore` for all jobs in `threads` threads, and prints a table with one row per job, and each violation.
/// Returns whether no job found a violation.
///
/// * `command` is the name of the test, and `again` is the option that replays a case.
/// * `heads` are the titles of the labels of a job. The first two titles are also options of the command.
/// * `columns` are the titles of the counts. The last count is the number of violations.
/// * `rated` is the index of the count whose rate per second is printed.
pub(super) fn run_jobs<J: TableRow>(
    (command, again): (&str, &str),
    heads: &[&str],
    jobs: &[J],
    threads: usize,
    columns: &[&str],
    rated: usize,
    explore: impl Fn(&J) -> Result<Report, String> + Sync,
) -> Outcome<bool> {
    let width = |place: usize| {
        let labels = jobs.iter().map(|job| job.labels()[place].len());
        labels.chain([heads[place].len()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..heads.len()).map(width).collect();
    let columns_of_labels = |labels: &[&str]| padded(labels, &widths);
    // The head is printed together with the first result. If this result is an error, such as an unknown place of
    // `--replay`, no table is printed.
    let mut head = columns_of_labels(heads) + &row(columns) + "\n";
    let (mut totals, mut outcome, start) = (vec![0; columns.len()], Ok(()), Instant::now());
    torture::in_order(jobs, threads, explore, |job, report| {
        if outcome.is_ok() {
            outcome = report.map_err(Problem::new).and_then(|report| {
                totals.iter_mut().zip(&report.counts).for_each(|(total, count)| *total += count);
                let line = columns_of_labels(&job.labels()) + &row(&report.counts) + "\n";
                let violations = violations((command, again), heads, &job.labels(), &report);
                print(&(std::mem::take(&mut head) + &line + &violations))
            });
        }
    });
    outcome?;
    print(&format!("{}{}\n", columns_of_labels(&["all"]), row(&totals)))?;
    let (count, seconds) = (totals[rated], start.elapsed().as_secs_f64());
    let column = columns[rated];
    let noun = if count == 1 { column.strip_suffix('s').unwrap_or(column) } else { column };
    let rate = count as f64 / seconds;
    line(&format!("{count} {noun} in {seconds:.1} s: {rate:.0} per second"));
    Ok(totals.last() == Some(&0))
}

/// Formats the labels of a row in left-aligned columns of the widths `widths`. Missing labels leave their columns
/// empty.
fn padded(labels: &[&str], widths: &[usize]) -> String {
    let cell = |place: usize| labels.get(place).copied().unwrap_or_default();
    let cells = widths.iter().enumerate().map(|(place, width)| format!("{:<width$}", cell(place)));
    cells.collect::<Vec<_>>().join("  ")
}

/// Formats counts, or the titles of counts, in right-aligned columns.
pub(super) fn row(cells: &[impl std::fmt::Display]) -> String {
    cells.iter().fold(String::new(), |mut text, cell| {
        let _ = write!(text, "  {cell:>12}");
        text
    })
}

/// Returns the lines about the violations of a job. Each violation is followed by the command that replays it.
fn violations((command, again): (&str, &str), heads: &[&str], labels: &[&str], report: &Report) -> String {
    let mut text = String::new();
    for LocatedViolation { place, moment, violation } in &report.findings.kept {
        let (first, second) = (quoted(labels[0]), quoted(labels[1]));
        let _ = writeln!(text, "violation ({moment}): {violation}");
        let _ = writeln!(
            text,
            "  lsmbench torture {command} --{} {first} --{} {second} {again} {place}",
            heads[0], heads[1]
        );
    }
    text
}

/// Quotes an argument for a shell, if the argument contains parentheses.
fn quoted(argument: &str) -> String {
    if argument.contains('(') { format!("'{argument}'") } else { argument.to_owned() }
}
