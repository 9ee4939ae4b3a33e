//! Compaction: doing the jobs that the policy wants.

use std::collections::HashSet;
use std::ops::Bound;
use std::sync::Arc;

use compaction::{Action, Job};
use types::Direction;

use super::install::Change;
use super::run_writer::RunWriter;
use crate::error::{Error, Result};
use crate::inner::Inner;
use crate::merge::{Merge, Source};
use crate::table::{ReadMode, RunCursor};
use crate::version::{TableRef, Version};

/// Every how many entries a merge looks whether the tree is being closed.
const ENTRIES_BETWEEN_STOP_CHECKS: u64 = 4096;

impl Inner {
    /// Does the next job of the policy; `false` where it has none.
    pub(crate) fn compact_next(&self) -> Result<bool> {
        let _guard = self.compacting.lock();
        let version = Arc::clone(&self.view.load().version);
        let shape = version.shape(self.design.memtable_capacity.0);
        let Some(job) = self.policy.pick(&shape) else { return Ok(false) };
        self.run_job(&version, &job)
    }

    /// Merges everything into one run of the last level.
    pub(crate) fn compact_all(&self) -> Result<()> {
        self.flush()?;
        let _guard = self.compacting.lock();
        let version = Arc::clone(&self.view.load().version);
        let tombstones: u64 = version.tables().map(|table| table.properties().tombstones).sum();
        if version.runs.len() <= 1 && tombstones == 0 {
            return Ok(());
        }
        let inputs = version.tables().map(|table| table.id()).collect();
        let level = version.levels.levels.len().saturating_sub(1).max(1);
        let job = Job { inputs, level, run: None, action: Action::Merge };
        self.run_job(&version, &job).map_err(|error| self.fail(error))?;
        Ok(())
    }

    /// Does a job; `false` where the tree is being closed and the job was given up.
    fn run_job(&self, version: &Version, job: &Job) -> Result<bool> {
        job.validate(&version.levels).map_err(|error| {
            Error::Failed(format!("the compaction policy asks for an invalid job: {error}"))
        })?;
        let counters = self.counters.local();
        let inputs: HashSet<u64> = job.inputs.iter().copied().collect();
        let added = match job.action {
            Action::Move => {
                counters.moves.bump();
                version
                    .levels
                    .tables()
                    .map(|(_, table)| table)
                    .filter(|table| inputs.contains(&table.0.id()))
                    .cloned()
                    .collect()
            }
            Action::Merge => {
                let Some(tables) = self.merge(version, job, &inputs)? else { return Ok(false) };
                counters.compactions.bump();
                counters.compaction_bytes_written.add(tables.iter().map(|table| table.0.file_bytes()).sum());
                tables
            }
        };
        self.install(&Change {
            removed: &job.inputs,
            place: job.place(self.new_run()),
            added: &added,
            flushed: None,
        })?;
        Ok(true)
    }

    /// Merges the inputs into new tables; `None` where the tree is being closed.
    fn merge(&self, version: &Version, job: &Job, inputs: &HashSet<u64>) -> Result<Option<Vec<TableRef>>> {
        let mut sources = Vec::new();
        for run in &version.runs {
            let tables: Arc<[_]> =
                run.tables.iter().filter(|table| inputs.contains(&table.id())).cloned().collect();
            let first = (!tables.is_empty()).then_some(0);
            let cursor = RunCursor::open(
                tables,
                first,
                Bound::Unbounded,
                Direction::Forward,
                ReadMode::Streaming,
                &self.counters,
            )?;
            sources.extend(cursor.map(Source::Run));
        }
        let drops_tombstones = job.reaches_bottom(&version.levels);
        let mut merge = Merge::new(sources, Direction::Forward);
        let loads = version.loads_with(inputs, job.level, job.run.is_none(), 0);
        let mut writer = RunWriter::new(self, job.level, &loads);
        let mut entries = 0u64;
        while let Some(entry) = merge.entry() {
            if entry.value.is_some() || !drops_tombstones {
                writer.add(entry)?;
            }
            merge.advance(&self.counters)?;
            entries += 1;
            if entries.is_multiple_of(ENTRIES_BETWEEN_STOP_CHECKS) && self.signals.is_stopping() {
                return Ok(None);
            }
        }
        writer.finish().map(Some)
    }
}
