//! Compares the times of this build with the times of another build. The two builds run alternately, round by round. A
//! regression counts only if a second batch of rounds confirms the regression.

use std::path::Path;

use super::rule::GateRule;
use crate::compare::{ComparisonReport, Pairing, Samples};
use crate::runner::Runner;
use types::Outcome;

/// A comparison of this build of lsmbench with another build.
pub struct Against<'a> {
    /// The path of the other build of lsmbench, whose results are the base results.
    pub base: &'a Path,
    /// The experiments to run, each with its command-line options.
    pub commands: Vec<Vec<String>>,
    /// The number of rounds in each batch. A second batch runs only if the first batch does not pass.
    pub blocks: u64,
    /// The columns that are compared. If the list is empty, the main metrics are compared.
    pub metrics: &'a [String],
    /// The rule that decides which regressions and undecided comparisons fail.
    pub rule: GateRule,
    /// The folder for the stores and results of the runs.
    pub work: &'a Path,
    /// The object that runs both builds.
    pub runner: &'a dyn Runner,
}

/// Runs both builds alternately, and returns the report of the comparison. If the first batch of rounds does not pass
/// the gate, lsmbench runs a second batch. A regression then counts only if both batches show it, because one batch in
/// twenty shows a false regression.
///
/// If undecided comparisons also fail the gate, the report judges the rounds of both batches together. A single
/// judgement passes a regression above the tolerance with a probability of at most 2.5 %, which is the error rate at
/// one end of a 95 % confidence interval. A metric is judged at most twice, so the probability is at most 5 %.
///
/// # Errors
/// A build that cannot be started, or that fails to run an experiment.
pub fn against(against: &Against<'_>) -> Outcome<ComparisonReport> {
    let report = |sides: &[Samples; 2]| {
        ComparisonReport::of(&sides[0], &sides[1], Pairing::Paired).map(|report| report.gated(against.rule))
    };
    let mut sides = against.batch(0)?;
    let first = report(&sides)?;
    if first.is_good() {
        return Ok(first);
    }
    against.runner.tell(match first.has_failed() {
        true => "the first batch shows a regression; a second batch of rounds must confirm it",
        false => "the first batch does not pass the gate; a second batch of rounds decides",
    });
    let more = against.batch(1)?;
    let mut second = report(&more)?;
    second.keep_confirmed(&first);
    if !against.rule.is_strict() {
        return Ok(second);
    }
    sides.iter_mut().zip(&more).for_each(|(side, more)| side.extend(more));
    let mut both = report(&sides)?;
    both.keep_confirmed(&second);
    Ok(both)
}

impl Against<'_> {
    /// Runs one batch of rounds with both builds. Returns the samples of the other build, followed by the samples of
    /// this build.
    fn batch(&self, number: u64) -> Outcome<[Samples; 2]> {
        let (mut base, mut new) = (Samples::default(), Samples::default());
        for block in 0..self.blocks {
            for (place, command) in self.commands.iter().enumerate() {
                // The builds swap their order from round to round, so that a drift of the machine affects both builds
                // alike.
                let new_first = block % 2 == 1;
                for is_new in [new_first, !new_first] {
                    let (program, side) = if is_new { (None, "new") } else { (Some(self.base), "base") };
                    let out = self.work.join(format!("batch-{number}-block-{block}-{place}-{side}"));
                    let mut arguments = command.clone();
                    arguments.push("--trials=1".to_owned());
                    let folder = self.runner.run(program, &arguments, &out)?;
                    let samples = if is_new { &mut new } else { &mut base };
                    samples.add(&folder, self.metrics, number * self.blocks + block)?;
                }
            }
            self.runner.tell(&format!("batch {}, round {} of {}", number + 1, block + 1, self.blocks));
        }
        Ok([base, new])
    }
}
