//! The latency distributions of configurations: percentiles of the merged histograms of all trials.

use results::{Group, LatencyLog};
use serde::Serialize;

use crate::opened::Opened;

/// The fractions whose percentiles a page contains, such as 0.99 for p99.
pub(crate) const QUANTILES: [f64; 27] = [
    0.0, 0.01, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.925, 0.95, 0.97,
    0.98, 0.99, 0.995, 0.998, 0.999, 0.9995, 0.9999, 1.0,
];

/// The maximum number of histogram files that a page reads.
const MOST_FILES: usize = 400;

/// The latencies of one configuration, one phase and one kind of operation.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Latencies {
    /// The index of the configuration in the data of the page.
    pub(crate) cell: usize,
    /// The index of the phase in the data of the page.
    pub(crate) phase: usize,
    /// The tag of the histogram, such as `get` for service times, or `get:response` for response times.
    pub(crate) tag: String,
    /// The number of operations in the histogram.
    pub(crate) count: u64,
    /// The latency of each percentile, in nanoseconds.
    pub(crate) ns: Vec<u64>,
}

/// Reads and merges the histograms of all trials of a run. If there are too many files, reads only the first trials,
/// and if necessary only the first configurations. Skips missing or corrupt logs.
pub(crate) fn latencies(opened: &Opened, phases: &[String], rounds: &[u64]) -> Vec<Latencies> {
    if !opened.folder.histograms().is_dir() {
        return Vec::new();
    }
    let manifest = &opened.manifest;
    let of_a_round = (manifest.cells.len() * phases.len()).max(1);
    let rounds = &rounds[..rounds.len().min((MOST_FILES / of_a_round).max(1))];
    let cells = manifest.cells.iter().enumerate().take(MOST_FILES / phases.len().max(1));
    let mut found = Vec::new();
    for (place, cell) in cells.filter(|(_, cell)| !opened.wrong.contains(&cell.cell)) {
        for (phase, name) in phases.iter().enumerate() {
            let mut merged: Option<LatencyLog> = None;
            for trial in rounds {
                let path = opened.folder.histogram(Group { cell: cell.cell, trial: *trial }, name);
                let Ok(log) = LatencyLog::read(&path) else { continue };
                merged = Some(merged.map_or_else(|| log.clone(), |before| joined(before, &log)));
            }
            let histograms = merged.into_iter().flat_map(|log| log.histograms);
            let filled = histograms.filter(|(_, histogram)| !histogram.is_empty());
            found.extend(filled.map(|(tag, histogram)| Latencies {
                cell: place,
                phase,
                tag,
                count: histogram.len(),
                ns: QUANTILES.iter().map(|share| histogram.value_at_quantile(*share)).collect(),
            }));
        }
    }
    found
}

/// Adds the histograms of `other` to `log`. Skips a histogram whose bounds differ from the bounds in `log`, because
/// another version has written it.
fn joined(mut log: LatencyLog, other: &LatencyLog) -> LatencyLog {
    for (tag, histogram) in &mut log.histograms {
        if let Some(more) = other.get(tag) {
            let _ = histogram.add(more);
        }
    }
    log
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_ascend_from_the_least_to_the_largest() {
        assert!(QUANTILES.is_sorted());
        let ends = [QUANTILES[0], QUANTILES[QUANTILES.len() - 1]];
        assert_eq!(ends.map(f64::to_bits), [0.0, 1.0].map(f64::to_bits));
    }
}
