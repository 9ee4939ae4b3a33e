//! `lsmbench torture` tests how designs and WAL modes survive crashes, I/O errors, corruption, races and kills. It
//! also tests that killed runs of an experiment can be resumed.

mod designs;
mod jobs;
mod kill;
mod race;
mod soak;
mod sweep;

use std::str::FromStr;

use jobs::{Report, jobs, leave_out_unchecked, run_jobs};
use torture::{StoreKind, crash, damage, errors};
use types::{Outcome, Problem};

use crate::cli::{ReplayArguments, SubjectArguments, TortureCommand};

pub(crate) use kill::write_until_killed;

/// Runs a test, and prints a table with a row for each tested design. Prints each violation, if possible with the
/// command that replays it. Returns `true` if no invariant was violated.
pub(crate) fn torture(test: &TortureCommand) -> Outcome<bool> {
    match test {
        TortureCommand::Crash { subjects, again, states } => {
            let columns = ["histories", "cuts", "states", "recovered", "in recovery", "violations"];
            let budget = crash::CrashBudget { seed: subjects.seed, states: *states };
            let explore = |subject: &StoreKind| crash::explore(subject, budget);
            run("crash", (subjects, again), &columns, 3, of_crashes, explore, crash::replay)
        }
        TortureCommand::Errors { subjects, again, faults } => {
            let columns = ["histories", "faults", "failed calls", "reported", "reopened", "violations"];
            let budget = errors::FaultBudget { seed: subjects.seed, faults: *faults };
            let explore = |subject: &StoreKind| errors::explore(subject, budget);
            run("errors", (subjects, again), &columns, 1, of_errors, explore, errors::replay)
        }
        TortureCommand::Damage { subjects, again, images } => {
            let columns =
                ["stores", "images", "reported", "unneeded", "superseded", "as a crash", "violations"];
            let budget = damage::CorruptionBudget { seed: subjects.seed, images: *images };
            let explore = |subject: &StoreKind| damage::explore(subject, budget);
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

/// Runs one torture test on every selected design and WAL mode, and prints the table of results.
///
/// * `explore` searches one design and WAL mode for violations. With `--replay`, only `replay` runs, for the case that
///   the user names.
/// * `report` converts a result to the counts in `columns`.
/// * `rated` is the index of the count whose rate per second is printed.
fn run<P: FromStr<Err = String> + Copy + Sync, T>(
    command: &str,
    (subjects, again): (&SubjectArguments, &ReplayArguments),
    columns: &[&str],
    rated: usize,
    report: fn(T) -> Report,
    explore: impl Fn(&StoreKind) -> T + Sync,
    replay: impl Fn(&StoreKind, P) -> Result<T, String> + Sync,
) -> Outcome<bool> {
    let place = again.replay.as_deref().map(str::parse::<P>).transpose().map_err(Problem::new)?;
    let mut jobs = jobs(subjects)?;
    if command == "damage" {
        leave_out_unchecked(subjects, &mut jobs)?;
    }
    if place.is_some() && jobs.len() != 1 {
        return Err(Problem::new(
            "--replay replays one case; name exactly one design with --design, and one WAL mode with --wal",
        ));
    }
    let threads = subjects.threads as usize;
    run_jobs((command, "--replay"), &["design", "wal"], &jobs, threads, columns, rated, |job| {
        Ok(report(match place {
            Some(place) => replay(&job.subject, place)?,
            None => explore(&job.subject),
        }))
    })
}
