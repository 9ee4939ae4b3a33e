//! Compaction of a key range at the request of the caller.

use std::ops::Bound;
use std::sync::Arc;

use compaction::{Action, Job};

use crate::error::Result;
use crate::inner::Inner;
use crate::table::Table;
use crate::version::{SortedRun, Version};

impl Inner {
    /// Flushes all memtables. Then compacts the SSTables that overlap the keys between `low` and `high` into one sorted
    /// run of the last level. SSTables that overlap these SSTables are compacted, too (see [`connected_tables`]).
    /// Without a manifest, a compaction merges all sorted runs (see `scanned`), and the key range is ignored.
    pub(crate) fn compact_range(&self, low: Bound<&[u8]>, high: Bound<&[u8]>) -> Result<()> {
        self.flush()?;
        let (low, high) = if self.is_scanned() { (Bound::Unbounded, Bound::Unbounded) } else { (low, high) };
        let guard = self.compacting.lock();
        let version = Arc::clone(&self.view.load().version);
        let Some(job) = job_of_range(&version, low, high) else { return Ok(()) };
        self.run_job(&version, &job, &[]).map_err(|error| self.fail(error))?;
        drop((version, guard));
        self.remove_obsolete();
        Ok(())
    }
}

/// Returns the job that compacts the SSTables of a key range. Returns `None` if the compaction would change nothing.
/// This is the case if the range has no SSTables, or if all its SSTables are in one sorted run and have no tombstones.
fn job_of_range(version: &Version, low: Bound<&[u8]>, high: Bound<&[u8]>) -> Option<Job> {
    let inputs = connected_tables(version, low, high);
    let has_tombstones = |run: &[&Arc<Table>]| {
        run.iter().any(|table| table.properties().tombstones > 0 || table.range_tombstones().is_some())
    };
    let used = || inputs.iter().filter(|tables| !tables.is_empty());
    if used().count() <= 1 && !used().any(|tables| has_tombstones(tables)) {
        return None;
    }
    let level = version.levels.levels.len().saturating_sub(1).max(1);
    // If the oldest run of the last level has SSTables that are not inputs, the output joins this run.
    let taken = inputs.last().map_or(0, Vec::len);
    let oldest = version.levels.runs().last();
    let joined = oldest.filter(|(at, run)| *at == level && run.tables.len() > taken);
    Some(Job {
        inputs: used().flatten().map(|table| table.id()).collect(),
        level,
        run: joined.map(|(_, run)| run.id),
        action: Action::Merge,
    })
}

/// Returns, for each run, the SSTables that overlap the range. Also returns all SSTables that overlap the key range of
/// the returned SSTables.
///
/// No other SSTable overlaps this key range, so a compaction of the returned SSTables can write to any sorted run.
fn connected_tables<'v>(
    version: &'v Version,
    low: Bound<&'v [u8]>,
    high: Bound<&'v [u8]>,
) -> Vec<Vec<&'v Arc<Table>>> {
    let overlapping = |low, high| -> Vec<Vec<&'v Arc<Table>>> {
        let of_run = |run: &'v SortedRun| run.tables[run.overlapping(low, high)].iter().collect();
        version.runs.iter().map(of_run).collect()
    };
    let count = |tables: &[Vec<&Arc<Table>>]| tables.iter().map(Vec::len).sum::<usize>();
    let mut tables = overlapping(low, high);
    loop {
        let all = || tables.iter().flatten();
        let smallest = all().map(|table| &**table.smallest()).min();
        let largest = all().map(|table| &**table.largest()).max();
        let (Some(smallest), Some(largest)) = (smallest, largest) else { return tables };
        let wider = overlapping(Bound::Included(smallest), Bound::Included(largest));
        if count(&wider) == count(&tables) {
            return tables;
        }
        tables = wider;
    }
}
