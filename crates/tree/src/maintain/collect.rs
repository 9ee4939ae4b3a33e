//! Garbage collection of blob files: rewrites the SSTables that refer to a file, so that its live values move to new
//! files.

use std::collections::HashSet;
use std::sync::Arc;

use compaction::{Action, Job, RunId};

use crate::error::Result;
use crate::inner::Inner;
use crate::table::Table;
use crate::version::{TableRef, Version};

impl Inner {
    /// Moves live values out of the blob files that the value policy selects for garbage collection. To do so, the
    /// function rewrites consecutive SSTables of one run. Returns `false` if no SSTable refers to a selected file, or
    /// if the tree is being closed.
    ///
    /// The policy selects further files only after all SSTables that refer to the previous files are rewritten.
    /// Otherwise, it could select files that the collection has just written.
    pub(super) fn collect_blobs(&self) -> Result<bool> {
        let _guard = self.compacting.lock();
        let version = Arc::clone(&self.view.load().version);
        if !version.has_blobs() {
            return Ok(false);
        }
        let current = self.collected_blobs.lock().clone();
        if let Some(job) = referring(&version, &current) {
            return self.run_job(&version, &job, &[]);
        }
        let next: HashSet<u64> = self.values.collects(&version.blob_files()?).into_iter().collect();
        let job = referring(&version, &next);
        *self.collected_blobs.lock() = next;
        job.map_or(Ok(false), |job| self.run_job(&version, &job, &[]))
    }
}

/// Returns the next job of a garbage collection, which rewrites SSTables that refer to the blob files `collected`. The
/// job contains the first such SSTables that are consecutive in one run. Returns `None` if no SSTable refers to these
/// blob files.
fn referring(version: &Version, collected: &HashSet<u64>) -> Option<Job> {
    let refers = |table: &Table| {
        table.references().is_some_and(|references| references.any(|file| collected.contains(&file)))
    };
    let job = |level: usize, run: RunId, tables: &[TableRef]| {
        let tables = tables.iter().skip_while(|table| !refers(&table.0)).take_while(|table| refers(&table.0));
        let inputs: Vec<u64> = tables.map(|table| table.0.id()).collect();
        let job = Job { inputs, level, run: Some(run), action: Action::Merge };
        Some(job).filter(|job| !job.inputs.is_empty())
    };
    version.levels.runs().find_map(|(level, run)| job(level, run.id, &run.tables))
}
