//! The lookup of a key in one sorted run, in two steps: the probe of the filter, and the search of the SSTable.

use types::{HashedKey, Lookup};

use crate::error::Result;
use crate::stats::Counters;
use crate::table::Table;
use crate::version::{SortedRun, Version};

/// The result of the first step, which reads no data block.
pub(crate) enum Probe<'v> {
    /// The answer that the run gives for the key.
    Answer(Lookup),
    /// The only SSTable of the run that can have the key.
    Search(&'v Table),
}

/// Probes the filter of the only SSTable of a run that can have the key.
#[inline]
pub(crate) fn probe<'v>(run: &'v SortedRun, key: HashedKey<'_>, counters: &Counters) -> Probe<'v> {
    let Some(table) = run.table_for(key.bytes) else { return Probe::Answer(Lookup::Absent) };
    let table = &*run.tables[table];
    if !table.has_only_range_tombstones_at(key.bytes) {
        let level = counters.level(run.level);
        level.filter_probes.bump();
        if table.passes_filter(key, counters) {
            level.filter_passes.bump();
            return Probe::Search(table);
        }
    }
    Probe::Answer(if table.deletes(key.bytes) { Lookup::Deleted } else { Lookup::Absent })
}

/// Searches an SSTable of `level` whose filter has passed the key. Appends the value of the key to `value`.
#[inline]
pub(crate) fn search(
    table: &Table,
    level: usize,
    key: HashedKey<'_>,
    value: &mut Vec<u8>,
    counters: &Counters,
) -> Result<Lookup> {
    let before = counters.looked();
    let answer = table.find(key, value, counters)?;
    counters.attribute(level, before);
    Ok(match answer {
        Lookup::Absent if table.deletes(key.bytes) => Lookup::Deleted,
        answer => answer,
    })
}

/// Looks up a key in a run. Appends the value of the key to `value`.
#[inline]
pub(crate) fn lookup_run(
    run: &SortedRun,
    key: HashedKey<'_>,
    value: &mut Vec<u8>,
    counters: &Counters,
) -> Result<Lookup> {
    match probe(run, key, counters) {
        Probe::Answer(answer) => Ok(answer),
        Probe::Search(table) => search(table, run.level, key, value, counters),
    }
}

/// Looks up a key in all runs of a version, from the newest run to the oldest run, until a run has an answer. Appends
/// the value of the key to `value`.
#[inline]
pub(crate) fn lookup_runs(
    version: &Version,
    key: HashedKey<'_>,
    value: &mut Vec<u8>,
    counters: &Counters,
) -> Result<Lookup> {
    for run in &version.runs {
        match lookup_run(run, key, value, counters)? {
            Lookup::Absent => {}
            answer => return Ok(answer),
        }
    }
    Ok(Lookup::Absent)
}
