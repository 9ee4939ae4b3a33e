//! Looks up a key in sorted runs. The lookup in one run has two steps: it probes the filter, and then it searches the
//! SSTable. If the tree has an index of the keys of all runs, one probe of this index replaces the probes of filters.

use types::{HashedKey, Lookup};

use crate::error::Result;
use crate::file_index::FilePlace;
use crate::stats::Counters;
use crate::table::Table;
use crate::version::{SortedRun, Version};

/// The result of the filter probe for a key in a sorted run. The probe reads no data block.
pub(crate) enum Probe<'v> {
    /// The lookup in the sorted run needs no search, because the result is known: the key is absent, or a range
    /// tombstone deletes it.
    Answer(Lookup),
    /// The only SSTable of the sorted run that can have the key. The lookup must search this SSTable.
    Search(&'v Table),
}

/// Probes the filter of the only SSTable in `run` whose key range can contain the key.
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

/// Searches an SSTable of `level` whose filter does not rule out the key. If the SSTable contains a value of the key,
/// appends the value to `value`.
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

/// Looks up a key in a sorted run. If the run contains a value of the key, appends the value to `value`.
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

/// Looks up a key in the sorted runs of a version, from the newest run to the oldest run. The lookup ends at the first
/// run that contains a value or a tombstone of the key. Appends the value, if any, to `value`.
#[inline]
pub(crate) fn lookup_runs(
    version: &Version,
    key: HashedKey<'_>,
    value: &mut Vec<u8>,
    counters: &Counters,
) -> Result<Lookup> {
    if !version.searches_plain_runs() {
        return lookup_otherwise(version, key, value, counters);
    }
    for run in &version.runs {
        match lookup_run(run, key, value, counters)? {
            Lookup::Absent => {}
            answer => return Ok(answer),
        }
    }
    Ok(Lookup::Absent)
}

/// Looks up a key in the SSTables of a version, if the tree has an index of all runs or locks of levels.
/// [`lookup_runs`] looks up the key in all other trees.
#[inline(never)]
fn lookup_otherwise(
    version: &Version,
    key: HashedKey<'_>,
    value: &mut Vec<u8>,
    counters: &Counters,
) -> Result<Lookup> {
    if let Some(files) = version.files_of(key.hash) {
        return lookup_files(version, &files, key, value, counters);
    }
    for level in version.runs.chunk_by(|one, other| one.level == other.level) {
        let _shared = version.level_locks().map(|locks| locks.share(level[0].level, counters));
        for run in level {
            match lookup_run(run, key, value, counters)? {
                Lookup::Absent => {}
                answer => return Ok(answer),
            }
        }
    }
    Ok(Lookup::Absent)
}

/// Looks up a key in `files`, the SSTables that the index of all runs returned for the key, from the newest to the
/// oldest SSTable. Counts one filter probe for each searched SSTable, and at least one filter probe.
fn lookup_files(
    version: &Version,
    files: &[FilePlace],
    key: HashedKey<'_>,
    value: &mut Vec<u8>,
    counters: &Counters,
) -> Result<Lookup> {
    let table = |file: &FilePlace| &*version.runs[file.run].tables[file.table];
    // The index compares only a part of each hash. The index can therefore return an SSTable whose key range does not
    // include the key.
    let mut files = files.iter().filter(|file| table(file).covers(key.bytes)).peekable();
    if files.peek().is_none() {
        counters.filter_probes.bump();
        counters.filter_negatives.bump();
    }
    for (number, run) in version.runs.iter().enumerate() {
        if files.peek().is_none() && !version.has_range_tombstones() {
            break;
        }
        if let Some(file) = files.next_if(|file| file.run == number) {
            let _shared = version.level_locks().map(|locks| locks.share(run.level, counters));
            let level = counters.level(run.level);
            counters.filter_probes.bump();
            level.filter_probes.bump();
            level.filter_passes.bump();
            match search(table(file), run.level, key, value, counters)? {
                Lookup::Absent => {}
                answer => return Ok(answer),
            }
        }
        if run.deletes(key.bytes) {
            return Ok(Lookup::Deleted);
        }
    }
    Ok(Lookup::Absent)
}
