//! `lsmbench torture race` runs concurrent operations in several threads, and checks that they are linearizable: that
//! one order of all operations explains all results.

use std::path::Path;
use std::time::{Duration, Instant};

use torture::Violation;
use torture::race::{Contestant, Race, RaceSummary};
use tree::Design;

use super::designs::{named, shipped};
use super::jobs::row;
use crate::cli::RaceArguments;
use crate::output::{line, print};
use types::{Outcome, Problem};

/// The axes whose variants several threads access at the same time. The test also runs for each variant of these
/// axes.
const AXES: [&str; 3] = ["memtable", "cache", "wal"];

/// The titles of the columns of the table that the race test prints, with one row per design.
const COLUMNS: [&str; 6] = ["rounds", "operations", "commits", "keys read", "opened", "violations"];

/// The sizes of the tested tree, as TOML. The sizes are so small that a few thousand operations cause flushes,
/// compactions and evictions.
const SIZES: &str = "memtable = { capacity = \"8KiB\" }\ntable = { capacity = \"4KiB\" }";

/// Runs the race test on every selected design, and prints a line for each design. Returns whether no violation was
/// found.
pub(crate) fn race(arguments: &RaceArguments) -> Outcome<bool> {
    let contestants = contestants(arguments)?;
    let names = contestants.iter().map(|contestant| contestant.name.len());
    let width = names.max().unwrap_or(0).max("design".len());
    print(&format!("{:<width$}{}\n", "design", row(&COLUMNS)))?;
    let (mut totals, start) = ([0; COLUMNS.len()], Instant::now());
    for contestant in &contestants {
        let (tally, violation) = one(contestant, arguments);
        let counts = counts(&tally, violation.is_some());
        totals.iter_mut().zip(counts).for_each(|(total, count)| *total += count);
        let told = violation.map_or_else(String::new, |violation| {
            let (round, seed) = (tally.rounds, arguments.seed);
            format!(
                "violation (round {round}, seed {seed}; the seed does not reproduce the order of the \
                 threads): {violation}\n"
            )
        });
        print(&format!("{:<width$}{}\n{told}", contestant.name, row(&counts)))?;
    }
    print(&format!("{:<width$}{}\n", "all", row(&totals)))?;
    let seconds = start.elapsed().as_secs_f64();
    line(&format!(
        "{operations} operations in {seconds:.1} s: {rate:.0} per second",
        operations = totals[1],
        rate = totals[1] as f64 / seconds
    ));
    Ok(totals[COLUMNS.len() - 1] == 0)
}

/// Runs the test on one design until the first violation, or until the requested number of operations or seconds.
fn one(contestant: &Contestant, arguments: &RaceArguments) -> (RaceSummary, Option<Violation>) {
    let mut race = Race::in_memory(contestant, arguments.threads as usize, arguments.seed);
    let start = Instant::now();
    let is_over = |tally: &RaceSummary| match arguments.seconds {
        Some(seconds) => start.elapsed() >= Duration::from_secs(seconds),
        None => tally.operations >= arguments.operations,
    };
    while !is_over(&race.tally) {
        if let Err(violation) = race.round() {
            return (race.tally, Some(violation));
        }
    }
    (race.tally, None)
}

fn counts(tally: &RaceSummary, is_violated: bool) -> [u64; COLUMNS.len()] {
    let RaceSummary { rounds, operations, commits, reads, opened } = *tally;
    [rounds, operations, commits, reads, opened, u64::from(is_violated)]
}

/// Returns the stores under test, for the designs that the user names, or else for [all designs](every_design).
fn contestants(arguments: &RaceArguments) -> Outcome<Vec<Contestant>> {
    let designs = match &arguments.design[..] {
        [] => every_design()?,
        names => names.iter().map(|name| named(name)).collect::<Outcome<_>>()?,
    };
    let of_design = |(name, design): (String, Design)| contestant(&name, &design, arguments.wal.as_deref());
    designs.into_iter().map(of_design).collect()
}

/// Returns all designs in `configs/designs`, and the default design with each variant of the [`AXES`].
fn every_design() -> Outcome<Vec<(String, Design)>> {
    let mut designs = shipped()?;
    let (_, plain) = named(Path::new("default"))?;
    for axis in tree::AXES.iter().filter(|axis| AXES.contains(&axis.name())) {
        for variant in axis.variants() {
            let (axis, kind) = (axis.name(), variant.kind);
            designs.push((format!("{axis}={kind}"), changed(&plain, &format!("{axis} = \"{kind}\""))?));
        }
    }
    Ok(designs)
}

/// Returns the store under test for a design with small sizes. If `wal` is not `None`, it replaces the WAL mode of
/// the design.
pub(super) fn contestant(name: &str, design: &Design, wal: Option<&str>) -> Outcome<Contestant> {
    let design = changed(design, SIZES)?;
    let design = match wal {
        Some(mode) => changed(&design, &format!("wal = \"{mode}\""))?,
        None => design,
    };
    Ok(Contestant::tree(name, design)?)
}

fn changed(design: &Design, change: &str) -> Outcome<Design> {
    let change = change.parse().map_err(|error| Problem::doing(format!("read {change}"), error))?;
    design.with(&change).map_err(|error| Problem::new(error.message))
}
