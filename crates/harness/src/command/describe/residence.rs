//! Estimates the state of lsmbench's own tree after the load: the number of flushes, the number of sorted runs, and
//! the amount of data in the memtable.

use std::fmt::Write as _;

use compaction::{CATALOG, SimulatedLoad, simulate};
use experiment::{Cell, Experiment, engine};
use plot::format_value;
use results::Unit;
use tree::Design;
use types::{ENTRY_CHARGE_BYTES, Outcome};
use workload::{Work, WorkloadPlan};

/// The maximum number of flushes that are simulated to find the number of sorted runs.
const MOST_SIMULATED: u64 = 20_000;

/// A warning is printed if at least this fraction of the loaded data stays in the memtable, because reads then search
/// mainly the memtable and not SSTables.
const LARGE_SHARE: f64 = 0.5;

/// The state of a tree after its load. The load consists of the phases at the start of the workload that only add keys.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Residence {
    flushes: u64,
    /// Number of sorted runs of the tree after all compactions have finished. `None` if the simulator does not support
    /// the design.
    runs: Option<u64>,
    /// Size of the keys and values in the memtable, in bytes.
    memtable_bytes: f64,
    /// Size of all keys and values that the load writes, in bytes.
    loaded_bytes: f64,
}

/// Returns TOML comment lines about the state of the tree after the load. Configurations with an equal state share one
/// line. A warning follows if half of the data or more stays in the memtable. The text is empty for component
/// experiments, for other engines, and for workloads without an initial load.
pub(super) fn residence(experiment: &Experiment) -> Outcome<String> {
    let mut states: Vec<(Residence, Vec<&str>)> = Vec::new();
    for cell in experiment.cells.iter().filter(|cell| engine(&cell.engine).reads_whole_design()) {
        let Some(found) = experiment.plan(cell)?.and_then(|plan| Residence::of(cell, &plan)) else {
            continue;
        };
        match states.iter_mut().find(|(known, _)| *known == found) {
            Some((_, labels)) => labels.push(&cell.label),
            None => states.push((found, vec![&cell.label])),
        }
    }
    let mut text = String::new();
    let is_one = states.len() == 1;
    for (state, labels) in &states {
        let of = if is_one { String::new() } else { format!(" of {}", labels.join(", ")) };
        let _ = writeln!(text, "#   after the load{of}: {state}", state = state.shown());
        if state.memtable_share() >= LARGE_SHARE {
            let share = format_value(state.memtable_share(), Unit::Share);
            let _ = writeln!(
                text,
                "#   warning: {share} of the loaded data{of} stays in the memtable, so later phases measure \
                 the memtable instead of SSTables; insert more keys, or set a smaller \
                design.memtable.capacity"
            );
        }
    }
    Ok(text)
}

impl Residence {
    fn of(cell: &Cell, plan: &WorkloadPlan) -> Option<Self> {
        let key_bytes = plan.format().max_bytes() as f64;
        let loads = plan.phases().iter().take_while(|phase| matches!(phase.phase().work, Work::Load(_)));
        let (mut entries, mut loaded_bytes) = (0, 0.0);
        for phase in loads {
            let Work::Load(load) = &phase.phase().work else { continue };
            let added = phase.operations()? * u64::from(load.batch.unwrap_or(1));
            entries += added;
            loaded_bytes += added as f64 * (key_bytes + phase.values().mean_bytes());
        }
        if entries == 0 {
            return None;
        }
        let per_flush = entries_per_flush(&cell.design, loaded_bytes / entries as f64);
        let flushes = entries / per_flush;
        let memtable_bytes = loaded_bytes * (entries - flushes * per_flush) as f64 / entries as f64;
        let runs = runs(&cell.design, (loaded_bytes / entries as f64) as u64, per_flush, flushes);
        Some(Self { flushes, runs, memtable_bytes, loaded_bytes })
    }

    fn memtable_share(&self) -> f64 {
        self.memtable_bytes / self.loaded_bytes
    }

    /// Formats the state of the tree after its load, such as `about 5 flushes, 2 sorted runs, 1.20 MiB of 10.0 MiB in
    /// the memtable`.
    fn shown(&self) -> String {
        let counted = |count: u64, noun: &str| match count {
            1 => format!("1 {noun}"),
            count => format!("{count} {noun}s"),
        };
        let runs = self.runs.map_or_else(String::new, |runs| format!(", {}", counted(runs, "sorted run")));
        let bytes = |bytes: f64| format_value(bytes, Unit::Bytes);
        format!(
            "about {flushes}{runs}, {part} of {whole} in the memtable",
            flushes = counted(self.flushes, "flush").replace("flushs", "flushes"),
            part = bytes(self.memtable_bytes),
            whole = bytes(self.loaded_bytes)
        )
    }
}

/// Returns how many entries of `entry_bytes` bytes each fill one memtable of the design.
fn entries_per_flush(design: &Design, entry_bytes: f64) -> u64 {
    let by_bytes =
        (design.memtable_capacity.0 as f64 / (entry_bytes + ENTRY_CHARGE_BYTES as f64)).ceil() as u64;
    by_bytes.min(design.memtable_entries.unwrap_or(u64::MAX)).max(1)
}

/// Simulates the flushes and compactions of a load, and returns the number of sorted runs after `flushes` flushes.
/// Returns `None` if the simulator does not support the design, or if there are more than [`MOST_SIMULATED`] flushes.
fn runs(design: &Design, entry_bytes: u64, writes_per_flush: u64, flushes: u64) -> Option<u64> {
    if flushes == 0 {
        return Some(0);
    }
    let is_simulated = flushes <= MOST_SIMULATED && design.keeps_values_inline() && !design.moves_memory();
    let policy = CATALOG.build(design.choice("compaction")).ok().filter(|_| is_simulated)?;
    let entry_bytes = entry_bytes.max(1);
    let entries_per_table = (design.options.table.capacity.0 / entry_bytes).max(1);
    let load = SimulatedLoad { writes_per_flush, entry_bytes, entries_per_table, distinct_keys: None };
    simulate(&*policy, load, flushes).ok().map(|report| report.runs() as u64)
}
