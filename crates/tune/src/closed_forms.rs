//! Computes the results of a design with closed formulas, without simulating its tree.

use compaction::SimulatedLoad;
use results::{Measurements, columns as c};
use simulation::{Costs, PhaseRow, added_keys};
use theory::{growth, mean_runs};
use tree::Design;
use types::{Outcome, Problem};
use workload::Workload;

/// The largest number of flushes for which the formulas compute the growth of a tree.
const MOST_FLUSHES: u64 = 2_000;

/// Returns the predicted results of a workload, one row per phase. Closed formulas give the written bytes and the
/// number of runs. The blocks that gets and scans read follow from the mean number of runs during the phase.
///
/// # Errors
/// The policy cannot be simulated.
pub fn rows(design: &Design, workload: &Workload, costs: &Costs) -> Outcome<Vec<PhaseRow>> {
    let keys = added_keys(workload);
    let per_flush = (design.memtable_capacity.0 as f64 / costs.entry_bytes).ceil().max(1.0);
    let policy = design.choice("compaction");
    let table = (design.options.table.capacity.0 as f64 / costs.entry_bytes).max(1.0);
    let user_entry = costs.entry_bytes - types::ENTRY_CHARGE_BYTES as f64;
    let (mut rows, mut written) = (Vec::new(), 0.0);
    for phase in &workload.phases {
        let rates = simulation::rates(phase);
        let entries = rates.writes;
        let before = (written / per_flush).floor() as u64;
        written += entries;
        let all = (written / per_flush).floor();
        let flushes = (all as u64).clamp(1, MOST_FLUSHES);
        let distinct_keys = (written > keys * 1.01).then_some(keys.max(1.0) as u64);
        let load = SimulatedLoad {
            writes_per_flush: per_flush as u64,
            entry_bytes: costs.entry_bytes.round() as u64,
            entries_per_table: table as u64,
            distinct_keys,
        };
        let grown = growth(policy, load, flushes).map_err(|error| Problem::new(error.to_string()))?;
        // Reads are spread over the phase, so they search the mean number of runs.
        let begin = before.min(flushes);
        let runs =
            mean_runs(policy, load, begin..=flushes).map_err(|error| Problem::new(error.to_string()))?;
        let file_factor = costs.file_bytes.per_byte * costs.entry_bytes / user_entry.max(1.0);
        let mut row = Measurements::default();
        row.set(&c::OPS, rates.operations.round() as u64);
        row.set(&c::WRITE_AMP, grown.write_amp * file_factor);
        row.set(&c::WRITE_AMP_SETTLED, grown.write_amp * file_factor);
        row.set(&c::LIVE_BYTES, (keys * user_entry).round() as u64);
        row.set(&c::USER_BYTES_WRITTEN, (entries * user_entry).round() as u64);
        let read = (grown.write_amp - 1.0).max(0.0) * file_factor * entries * user_entry;
        row.set(&c::COMPACTION_BYTES_READ_SETTLED, read.round() as u64);
        row.set(&c::RUNS, grown.runs).set(&c::RUNS_SETTLED, grown.runs).set(&c::LEVELS, grown.levels);
        // On average, a get of a present key probes half of the other runs before it finds the key.
        let present = 1.0 + (runs - 1.0).max(0.0) / 2.0 * costs.fpr;
        let blocks_per_get = rates.absent * runs * costs.fpr + (1.0 - rates.absent) * present;
        row.set(&c::BLOCKS_PER_GET, blocks_per_get);
        row.set(&c::SOURCES_PER_RANGE, runs);
        let stored = keys * costs.entry_bytes;
        row.set(&c::FILTER_BYTES, costs.filter_bytes.of(1, stored as u64).round() as u64);
        row.set(&c::FENCE_BYTES, costs.fence_bytes.of(1, stored as u64).round() as u64);
        let space = theory::most_space_amp(policy).filter(|_| distinct_keys.is_some()).unwrap_or(1.0);
        row.set(&c::SPACE_AMP, space * file_factor).set(&c::SPACE_AMP_SETTLED, space * file_factor);
        let operations = rates.operations.max(1.0);
        let blocks = rates.gets * blocks_per_get + rates.scans * runs;
        let device = costs.write_ns.per_byte * grown.write_amp * entries * costs.entry_bytes
            + costs.read_ns.per_byte * (grown.write_amp - 1.0).max(0.0) * entries * costs.entry_bytes
            + blocks * costs.block_read_ns;
        row.set(&c::DEVICE_NS_PER_OP, device / operations);
        rows.push(PhaseRow { phase: phase.name.clone(), row });
    }
    Ok(rows)
}
