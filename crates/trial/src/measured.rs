//! Defines the measurements of a phase, from which its rows are computed.

use engines::EngineStats;
use results::{Measurements, columns as c, counters as n};
use workload::{Probed, Rate};

use super::drive::Driven;
use super::timeline::Sample;
use super::usage::Usage;
use super::warm_up::Warmed;

/// The measurements of a phase, from which its rows in the CSV files are computed.
pub(super) struct Measured {
    pub(super) driven: Driven,
    /// The statistics of the store at points in time, in time order. A phase has about one sample per interval of the
    /// timeline.
    pub(super) samples: Vec<Sample>,
    /// The outcome of the warm-up. `None` for a phase without a warm-up.
    pub(super) warmed: Option<Warmed>,
    /// The statistics of the store before the phase, after its warm-up.
    pub(super) before: EngineStats,
    /// The statistics of the store immediately after the last operation of the phase, before flushes and compactions
    /// have finished.
    pub(super) burst: EngineStats,
    /// The state of the store after all flushes and compactions have finished. `None` if the phase did not wait for
    /// them.
    pub(super) settled: Option<Settled>,
    /// The time that closing the store took before it was reopened, in nanoseconds. `None` if the store was not
    /// reopened.
    pub(super) close_ns: Option<u64>,
    /// The size of the store's files after all flushes and compactions have finished, in bytes. `None` if time is not
    /// measured.
    pub(super) disk_bytes: Option<u64>,
    /// The largest measured size of the store's files during the phase, in bytes. `None` if the size was not measured.
    pub(super) disk_peak_bytes: Option<u64>,
    /// The fraction of the store's file pages that were in the page cache at the start of the phase. `None` if
    /// unknown.
    pub(super) page_cache_share: Option<f64>,
    /// Whether the store has files on a file system. Only then, the kernel counts its reads and writes.
    pub(super) is_stored: bool,
    /// Whether the memory allocations of the engine are counted, because the engine runs in this program.
    pub(super) allocates_in_program: bool,
    /// The resources that the process had used before the phase, and immediately after the last operation of the phase.
    pub(super) usage: [Usage; 2],
    /// The requested rate at which operations start.
    pub(super) rate: Rate,
}

/// The state of the store after the flushes and compactions of a phase have finished.
pub(super) struct Settled {
    pub(super) stats: EngineStats,
    /// The time from the last operation until all flushes and compactions had finished, in nanoseconds.
    pub(super) ns: u64,
    /// The resources that the process had used when the wait for flushes and compactions ended.
    pub(super) usage: Usage,
}

impl Measured {
    /// Returns the measured values that a rate search compares with its limits.
    pub(super) fn probed(&self) -> Probed {
        let mut response = measure::Histogram::new();
        self.driven.operations.iter().for_each(|(_, totals)| response.merge(&totals.response));
        let stats = self.samples.iter().map(|sample| &sample.stats).chain([&self.burst]);
        // If a rate search has a limit on level-0 runs, the engine of the configuration reports its levels.
        let level0 = stats.filter_map(|stats| stats.levels.first()?.reading(&c::RUNS));
        Probed {
            p99_ns: response.quantile(0.99).unwrap_or(0),
            stalls_ns: self.burst.whole.counted(&n::STALL_NS, &self.before.whole).unwrap_or(0),
            level0_runs: level0.max().unwrap_or(0),
        }
    }
}

/// Returns a row with the columns that identify it: the phase, the operation, and whether operations start at a fixed
/// rate (open loop).
pub(super) fn identity(phase: &str, operation: &str, is_open: bool) -> Measurements {
    let mut row = Measurements::default();
    row.set(&c::PHASE, phase).set(&c::OPERATION, operation);
    row.set(&c::LOOP, if is_open { "open" } else { "closed" });
    row
}
