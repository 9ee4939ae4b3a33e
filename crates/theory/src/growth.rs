//! The growth of an empty tree under repeated flushes. The values come from the closed form of the policy, or from the
//! compaction simulator if the policy has no closed form. The simulator runs the compaction policy with the code of a
//! real tree.

use catalog::{Choice, ChoiceError};
use compaction::{CATALOG, SimulatedLoad, SimulationError, Simulator, simulate};
use thiserror::Error;

use crate::forms::{
    has_form_of_part, levels_and_runs, levels_and_runs_of, picks_tables, write_amp, write_amp_of,
};

/// The number of runs and levels of a tree after a number of flushes and all due compactions, and its write
/// amplification.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Growth {
    /// The number of bytes that flushes and compactions write per flushed byte.
    pub write_amp: f64,
    /// The number of levels that contain runs.
    pub levels: u64,
    /// The number of sorted runs in the tree.
    pub runs: u64,
}

/// The reason why the growth of a tree cannot be computed.
#[derive(Debug, Error)]
pub enum GrowthError {
    /// The policy is invalid, or the choice is not a compaction policy.
    #[error(transparent)]
    Policy(#[from] ChoiceError),
    /// The simulation failed.
    #[error(transparent)]
    Simulation(#[from] SimulationError),
}

/// Returns whether the closed forms of a policy are valid for a load after `flushes` flushes. They are valid only if
/// the load writes no key twice. For a policy that compacts single SSTables, each run must also consist of one SSTable.
pub fn has_form(policy: &Choice, load: SimulatedLoad, flushes: u64) -> bool {
    let is_whole = load.entries_per_table >= load.writes_per_flush.saturating_mul(flushes);
    load.distinct_keys.is_none() && (is_whole || !picks_tables(policy))
}

/// Returns the state of a tree with the compaction policy `policy` after `flushes` flushes, at least 1. The written
/// keys are all distinct, or drawn at random from a given number of keys (`load`).
///
/// # Errors
/// The choice is not a compaction policy, or the load is empty.
pub fn growth(policy: &Choice, load: SimulatedLoad, flushes: u64) -> Result<Growth, GrowthError> {
    if has_form(policy, load, flushes)
        && let (Some(write_amp), Some((levels, runs))) =
            (write_amp(policy, flushes), levels_and_runs(policy, flushes))
    {
        return Ok(Growth { write_amp, levels, runs });
    }
    let policy = CATALOG.build(policy)?;
    let report = simulate(&*policy, load, flushes)?;
    let levels = report.levels.iter().filter(|level| level.runs > 0).count() as u64;
    let written = (report.flush_bytes + report.compaction_bytes_written) as f64;
    Ok(Growth { write_amp: written / report.flush_bytes as f64, levels, runs: report.runs() as u64 })
}

/// Returns the state of a tree with values in blob files, after `flushes` flushes of distinct keys. The SSTables of a
/// flush have a size of `flush_buffers` full memtables, which is below 1. Returns `None` if the policy has no closed
/// form for such flushes, or compacts single SSTables.
pub fn separated_growth(policy: &Choice, flushes: u64, flush_buffers: f64) -> Option<Growth> {
    let is_known = has_form_of_part(policy) && flush_buffers > 0.0;
    let (levels, runs) = levels_and_runs_of(policy, flushes, flush_buffers).filter(|_| is_known)?;
    Some(Growth { write_amp: write_amp_of(policy, flushes, flush_buffers)?, levels, runs })
}

/// Returns the mean number of sorted runs of a tree over a range of flushes. The runs are counted after each flush in
/// this range and all its due compactions.
///
/// # Errors
/// The choice is not a compaction policy, or the load is empty.
pub fn mean_runs(
    policy: &Choice,
    load: SimulatedLoad,
    flushes: std::ops::RangeInclusive<u64>,
) -> Result<f64, GrowthError> {
    let (first, last) = (*flushes.start(), *flushes.end());
    let count = (last.saturating_sub(first) + 1) as f64;
    if has_form(policy, load, last) {
        let runs = |flush: u64| levels_and_runs(policy, flush).map(|(_, runs)| runs);
        if let Some(sum) = (first..=last).map(runs).sum::<Option<u64>>() {
            return Ok(sum as f64 / count);
        }
    }
    let built = CATALOG.build(policy)?;
    let mut simulator = Simulator::new(&*built, load)?;
    let mut sum = 0;
    for flush in 0..=last {
        if flush >= first {
            sum += simulator.shape().levels.runs().count();
        }
        simulator.flush()?;
    }
    Ok(sum as f64 / count)
}
