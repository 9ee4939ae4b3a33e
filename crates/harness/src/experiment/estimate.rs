//! What a run will take: bytes of storage and memory, and about how long.

use std::path::Path;

use types::quantity::format_bytes;
use workload::{Kind, PhasePlan, Plan, Work};

use super::cell::Cell;
use crate::problem::{Outcome, Problem};

/// How much more than the data a tree may take for a while: a merge of everything has its input and its
/// output on storage at once, and the log stands beside them.
const STORAGE_FACTOR: f64 = 2.5;

/// The overhead of an entry in a table, in bytes.
const ENTRY_OVERHEAD_BYTES: f64 = 8.0;

/// The operations per second that an estimate of time assumes.
const ASSUMED_RATES: [(Kind, f64); 8] = [
    (Kind::Get, 500e3),
    (Kind::Put, 400e3),
    (Kind::Insert, 400e3),
    (Kind::Delete, 400e3),
    (Kind::Range, 50e3),
    (Kind::ReadModifyWrite, 250e3),
    (Kind::Batch, 10e3),
    (Kind::MultiGet, 10e3),
];

/// What one trial of one cell takes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Estimate {
    /// Key and value bytes that are written.
    pub(crate) user_bytes: f64,
    /// Bytes of storage at the worst moment.
    pub(crate) storage_bytes: f64,
    /// Bytes of memory: memtables, cache, and the model that answers are checked against.
    pub(crate) memory_bytes: f64,
    /// Seconds; a guess.
    pub(crate) seconds: f64,
}

impl Estimate {
    /// The estimate for a cell whose workload is planned.
    pub(crate) fn of(cell: &Cell, plan: &Plan) -> Self {
        let mut estimate = Self::default();
        let mut keys = 0.0;
        for phase in plan.phases() {
            let (added, written, seconds) = phase_work(phase);
            let entry_bytes = plan.format().max_bytes() as f64 + phase.values().mean_bytes();
            keys += added;
            estimate.user_bytes += written * entry_bytes;
            estimate.storage_bytes += written * (entry_bytes + ENTRY_OVERHEAD_BYTES) * STORAGE_FACTOR;
            estimate.seconds += seconds;
        }
        let cache =
            cell.design.choice("cache").params().get("capacity").and_then(|capacity| capacity.as_str());
        let cache = cache.and_then(|text| types::quantity::parse_bytes(text).ok()).unwrap_or(0) as f64;
        let memtables = cell.design.memtable_capacity.0 as f64 * 3.0;
        estimate.memory_bytes = memtables + cache + keys * 8.0;
        estimate
    }

    /// Refuses what does not fit on the file system of `folder` or in memory.
    pub(crate) fn check(&self, cell: &Cell, folder: &Path) -> Outcome<()> {
        let in_memory = cell.design.choice("storage").kind() == "memory";
        let memory = self.memory_bytes + if in_memory { self.storage_bytes } else { 0.0 };
        if let Some(free) = crate::run::free_bytes(folder).filter(|_| !in_memory)
            && self.storage_bytes > free as f64
        {
            return Err(Problem::new(format!(
                "cell {} ({}) may need {} of storage, but {} has {} free; insert fewer keys, or give --out another disk",
                cell.number,
                cell.label,
                rounded(self.storage_bytes),
                folder.display(),
                rounded(free as f64)
            )));
        }
        match crate::run::available_memory_bytes() {
            Some(available) if memory > available as f64 => Err(Problem::new(format!(
                "cell {} ({}) may need {} of memory, but {} are available; insert fewer keys or lower the capacities",
                cell.number,
                cell.label,
                rounded(memory),
                rounded(available as f64)
            ))),
            _ => Ok(()),
        }
    }
}

/// Keys added, entries written, and seconds taken by a phase.
fn phase_work(phase: &PhasePlan) -> (f64, f64, f64) {
    let operations = phase.operations().unwrap_or(0) as f64;
    let rate =
        |kind: Kind| ASSUMED_RATES.iter().find(|(known, _)| *known == kind).map_or(1e5, |(_, rate)| *rate);
    match &phase.phase().work {
        Work::Load(load) => {
            let keys = operations * f64::from(load.batch.unwrap_or(1));
            (keys, keys, keys / rate(Kind::Insert))
        }
        Work::Mixed(mixed) => {
            let share = |kind: Kind| mixed.mix.share(kind);
            let members = f64::from(mixed.batch);
            let written = Kind::ALL
                .iter()
                .filter(|kind| kind.writes())
                .map(|kind| share(*kind) * if *kind == Kind::Batch { members } else { 1.0 });
            let seconds: f64 = Kind::ALL.iter().map(|kind| share(*kind) / rate(*kind)).sum();
            let limit = mixed.time_limit_ns.map_or(f64::INFINITY, |ns| ns as f64 / 1e9);
            let seconds = if operations > 0.0 { (operations * seconds).min(limit) } else { limit };
            (operations * share(Kind::Insert), operations * written.sum::<f64>(), seconds)
        }
        Work::Text(_) => (0.0, 0.0, 0.0),
    }
}

/// Bytes with two or three digits.
pub(crate) fn rounded(bytes: f64) -> String {
    let unit = [1u64 << 40, 1 << 30, 1 << 20, 1 << 10]
        .into_iter()
        .find(|unit| bytes >= *unit as f64 * 10.0)
        .unwrap_or(1);
    format_bytes((bytes / unit as f64).round() as u64 * unit)
}
