//! Times against another build: both run in turn, block by block, and a regression counts when a second batch of
//! blocks confirms it.

use std::path::Path;

use crate::compare::{Pairing, Report, Samples};
use crate::runner::Runner;
use types::Outcome;

/// What is run against what.
pub struct Against<'a> {
    /// The other build of this program.
    pub base: &'a Path,
    /// The experiments and the options of each.
    pub commands: Vec<Vec<String>>,
    /// How many blocks a batch has.
    pub blocks: u64,
    /// The columns that are judged; those that decide if there are none.
    pub metrics: &'a [String],
    /// A folder for runs.
    pub work: &'a Path,
    /// Runs the builds.
    pub runner: &'a dyn Runner,
}

/// Runs both builds in turn. Only what a second, fresh batch shows as well is a regression: one batch in twenty
/// shows something that is not there, hardly two in a row show the same.
///
/// # Errors
/// If a build cannot be started, or refuses an experiment.
pub fn against(against: &Against<'_>) -> Outcome<Report> {
    let first = against.batch(0)?;
    if first.is_good() {
        return Ok(first);
    }
    against.runner.tell("something regressed; a second batch is to confirm it");
    let mut second = against.batch(1)?;
    second.keep_confirmed(&first);
    Ok(second)
}

impl Against<'_> {
    fn batch(&self, number: u64) -> Outcome<Report> {
        let (mut base, mut new) = (Samples::default(), Samples::default());
        for block in 0..self.blocks {
            for (place, command) in self.commands.iter().enumerate() {
                // Mirrored blocks: whatever drifts meets both builds alike.
                let new_first = block % 2 == 1;
                for is_new in [new_first, !new_first] {
                    let (program, side) = if is_new { (None, "new") } else { (Some(self.base), "base") };
                    let out = self.work.join(format!("batch-{number}-block-{block}-{place}-{side}"));
                    let mut arguments = command.clone();
                    arguments.push("--trials=1".to_owned());
                    let folder = self.runner.run(program, &arguments, &out)?;
                    let samples = if is_new { &mut new } else { &mut base };
                    samples.add(&folder, self.metrics, block)?;
                }
            }
            self.runner.tell(&format!("batch {}, block {} of {}", number + 1, block + 1, self.blocks));
        }
        Report::of(&base, &new, Pairing::Paired)
    }
}
