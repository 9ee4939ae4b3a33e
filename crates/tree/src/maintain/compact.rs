//! Executes the compaction jobs that the compaction policy picks.

use std::collections::HashSet;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Builder;

use bloom::LevelLoad;
use compaction::{Action, Job, Shape};
use types::{Direction, Entry};

use super::combine::combine_inputs;
use super::input_deletes::InputDeletes;
use super::input_marks::{InputMarks, inline_value};
use super::install::Change;
use super::run_writer::{NewTables, RunWriter};
use super::separation::SeparationPlan;
use super::subcompaction::{Input, separators};
use crate::design::MergeKernel;
use crate::error::{Error, Result};
use crate::inner::{Inner, Mode};
use crate::merge::{HeapMerge, Kernel, Merge, Source};
use crate::merge_operands::{is_operand, unmarked};
use crate::single_deletes::{Remainder, resolve};
use crate::table::{RankedRun, RunCursor, SequenceRange};
use crate::version::{SortedRun, TableRef, Version};

/// The key range of a subcompaction, from the first bound (inclusive) to the second bound (exclusive). `None` means no
/// bound.
type KeyRange<'a> = (Option<&'a [u8]>, Option<&'a [u8]>);

/// The number of entries that a compaction processes before it checks whether the tree is being closed.
const ENTRIES_BETWEEN_STOP_CHECKS: u64 = 4096;

/// The number of entries that a compaction processes before it checks whether it must pause, in a design with the
/// schedule `silk`.
const ENTRIES_BETWEEN_PAUSES: u64 = 64;

impl Inner {
    /// Runs the most urgent compaction that is due: a job of the compaction policy, a read-triggered compaction, or a
    /// garbage collection of blob files, in this order. Returns `false` if no work is due, or if the work stopped early
    /// because the tree is being closed.
    pub(crate) fn compact_next(&self) -> Result<bool> {
        Ok(self.compact_by_policy()? || self.merge_for_ranges()? || self.collect_blobs()?)
    }

    /// Runs the next job of the compaction policy. Returns `false` if no job is due, or if the job stopped early
    /// because the tree is being closed.
    pub(super) fn compact_by_policy(&self) -> Result<bool> {
        let _guard = self.compacting.lock();
        let version = Arc::clone(&self.view.load().version);
        let operations = self.observed_operations();
        let shape = Shape { operations, ..version.shape(self.memtable_bytes()) };
        let Some(job) = self.policy.pick(&shape) else {
            return self.policy.failure().map_or(Ok(false), |failure| Err(Error::Policy(failure)));
        };
        let cuts = self.policy.cuts(&shape, &job);
        self.run_job(&version, &job, &cuts)
    }

    /// Runs a compaction job. The output begins a new SSTable at each key in `cuts`. Returns `false` if the job stopped
    /// early because the tree is being closed.
    pub(super) fn run_job(&self, version: &Version, job: &Job, cuts: &[Arc<[u8]>]) -> Result<bool> {
        job.validate(&version.levels).map_err(|error| {
            Error::Failed(format!("the compaction policy picked an invalid job: {error}"))
        })?;
        let (counters, start) = (self.counters.local(), self.clock_ns());
        let inputs: HashSet<u64> = job.inputs.iter().copied().collect();
        let added = match job.action {
            Action::Drop => {
                counters.drops.bump();
                Vec::new()
            }
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
                let Some(tables) = self.merge(version, job, &inputs, cuts)? else { return Ok(false) };
                let bytes = tables.iter().map(|table| table.0.file_bytes()).sum();
                counters.compaction_bytes_written.add(bytes);
                counters.level(job.level).bytes_written.add(bytes);
                tables
            }
        };
        self.install(&Change {
            removed: &job.inputs,
            place: job.place(self.new_run()),
            added: &added,
            flushed: None,
        })?;
        if job.action == Action::Merge {
            counters.compactions.bump();
            counters.compaction_ns.add(self.clock_ns().saturating_sub(start));
        }
        Ok(true)
    }

    /// Returns the time of the tree's clock in nanoseconds. Returns 0 in counted mode, so that no counter depends on
    /// time.
    pub(crate) fn clock_ns(&self) -> u64 {
        match self.mode {
            Mode::Timed => (self.clock)(),
            Mode::Counted => 0,
        }
    }

    /// Merges the input SSTables of a job into new SSTables. Returns `None` if the merge stopped early because the tree
    /// is being closed.
    fn merge(
        &self,
        version: &Version,
        job: &Job,
        inputs: &HashSet<u64>,
        cuts: &[Arc<[u8]>],
    ) -> Result<Option<Vec<TableRef>>> {
        let given = |run: &SortedRun| -> Input {
            run.tables.iter().filter(|table| inputs.contains(&table.id())).cloned().collect()
        };
        let inputs_of_runs: Vec<Input> =
            version.runs.iter().map(given).filter(|input| !input.is_empty()).collect();
        let drops_tombstones = job.reaches_bottom(&version.levels);
        let marks = self.marks_of(&inputs_of_runs, job.level)?;
        let levels = version.levels.tables().filter(|(_, table)| inputs.contains(&table.0.id()));
        let sequences = inputs.iter().filter_map(|input| self.context.names.sequences(*input));
        let sequences = sequences.reduce(SequenceRange::joined);
        let merge = PartMerge {
            inner: self,
            marks,
            deletes: InputDeletes::new(&inputs_of_runs, drops_tombstones),
            plan: self.plan_of_compaction(version, &inputs_of_runs, job.level)?,
            inputs: inputs_of_runs,
            top: levels.map(|(place, _)| place.level).fold(job.level, usize::min),
            level: job.level,
            loads: version.loads_with(inputs, job.level, job.run.is_none(), 0),
            drops_tombstones,
            cuts,
            sequences,
            given_up: AtomicBool::new(false),
        };
        let borders = merge
            .counted(|| separators(&merge.inputs, self.part_count(&merge.inputs), self.counters.local()))?;
        let lows = std::iter::once(None).chain(borders.iter().map(|border| Some(&**border)));
        let highs = borders.iter().map(|border| Some(&**border)).chain(std::iter::once(None));
        let parts: Vec<KeyRange<'_>> = lows.zip(highs).collect();
        let merged = match self.mode {
            Mode::Timed => merge.side_by_side(&parts)?,
            Mode::Counted => parts.iter().map(|part| merge.run(*part)).collect::<Result<_>>()?,
        };
        merged.map(|parts: Vec<NewTables>| NewTables::join(parts).keep(self)).transpose()
    }

    /// Returns the maximum number of subcompactions of a compaction of `inputs`: the smaller of
    /// `threads.max_subcompactions` and the estimated number of output SSTables. As in `RocksDB`, output SSTables count
    /// as 20 % empty. Without a manifest, the output is one SSTable, so the result is 1.
    fn part_count(&self, inputs: &[Input]) -> usize {
        if self.is_scanned() {
            return 1;
        }
        let bytes: u64 = inputs.iter().flatten().map(|table| table.charged_bytes()).sum();
        let options = &self.context.options;
        let tables = (bytes + bytes / 4).div_ceil(options.table.capacity.0);
        options.threads.max_subcompactions.min(tables as usize)
    }
}

/// A compaction that is divided into parts with disjoint key ranges (subcompactions), which threads can merge in
/// parallel.
struct PartMerge<'a> {
    inner: &'a Inner,
    /// The input SSTables of the compaction in each sorted run, from the newest run to the oldest run.
    inputs: Vec<Input>,
    deletes: InputDeletes,
    /// The marks of input entries, which show single deletes and values that have replaced a single delete. `None` if
    /// the inputs have no marks.
    marks: Option<InputMarks>,
    plan: SeparationPlan,
    /// The smallest level number among the inputs and the output of the compaction.
    top: usize,
    /// The level to which the compaction writes.
    level: usize,
    loads: Vec<LevelLoad>,
    drops_tombstones: bool,
    /// The keys at which the compaction policy ends an output SSTable, in ascending order.
    cuts: &'a [Arc<[u8]>],
    /// The range of the sequence numbers of the input SSTables, which becomes part of the output's file name. `None` if
    /// the store has a manifest.
    sequences: Option<SequenceRange>,
    /// Whether one part of the compaction has failed or stopped early. All other parts check this flag and then stop,
    /// too.
    given_up: AtomicBool,
}

impl PartMerge<'_> {
    /// Merges all parts of the compaction in parallel. The first part runs on the calling thread, and each other part
    /// runs on its own thread. Returns `None` if the tree is being closed.
    fn side_by_side(&self, parts: &[KeyRange<'_>]) -> Result<Option<Vec<NewTables>>> {
        let Some((first, others)) = parts.split_first() else { return Ok(Some(Vec::new())) };
        std::thread::scope(|scope| {
            let mut threads = Vec::new();
            for part in others {
                let thread = Builder::new().name("lsm-subcompact".to_owned());
                threads.push(thread.spawn_scoped(scope, || self.run(*part)).map_err(|error| {
                    self.given_up.store(true, Ordering::Relaxed);
                    Error::Failed(format!("cannot start a thread for a subcompaction: {error}"))
                })?);
            }
            let first = self.run(*first);
            let others =
                threads.into_iter().map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic)));
            // If a part fails, the other parts stop early. The error of the failed part has priority over their
            // results.
            let merged = std::iter::once(first).chain(others).collect::<Vec<_>>();
            let merged = merged.into_iter().collect::<Result<Vec<Option<NewTables>>>>()?;
            Ok(merged.into_iter().collect())
        })
    }

    /// Merges one part of the compaction into new SSTables. Returns `None` if the part stopped early, because the tree
    /// is being closed or because another part has failed or stopped early.
    fn run(&self, part: KeyRange<'_>) -> Result<Option<NewTables>> {
        let watch = GiveUp(&self.given_up);
        let merged = self.counted(|| self.merge(part));
        if let Ok(Some(_)) = merged {
            std::mem::forget(watch);
        }
        merged
    }

    /// Runs `work` on the calling thread. In the counters, the bytes that `work` reads count as compaction reads of the
    /// output level.
    fn counted<T>(&self, work: impl FnOnce() -> T) -> T {
        let counters = self.inner.counters.local();
        // If a compaction of level 0 ran on this thread during a pause, it has already counted its own reads.
        let uncounted = || counters.compaction_bytes_read.get().wrapping_sub(counters.level_bytes_read());
        let before = uncounted();
        let done = work();
        counters.level(self.level).bytes_read.add(uncounted().wrapping_sub(before));
        done
    }

    fn merge(&self, (low, high): KeyRange<'_>) -> Result<Option<NewTables>> {
        let inner = self.inner;
        let mut sources = Vec::new();
        for (rank, input) in self.inputs.iter().enumerate() {
            let cursor = RunCursor::stream(input, low, high, &inner.counters)?;
            sources.extend(cursor.map(|cursor| RankedRun { cursor, rank }));
        }
        let part = (low, high);
        match inner.design.options.merge.kernel {
            MergeKernel::LoserTree => self.write(Merge::new(sources, Direction::Forward), part),
            MergeKernel::Heap => self.write(HeapMerge::new(sources, Direction::Forward), part),
        }
    }

    /// Writes the entries of a merge whose keys are below `high`, and the range tombstones from `low` to `high`.
    /// Returns `None` if the compaction stopped early.
    fn write<'t>(
        &self,
        mut merge: impl Kernel<RankedRun<'t>>,
        (low, high): KeyRange<'_>,
    ) -> Result<Option<NewTables>> {
        let (inner, operator) = (self.inner, self.inner.merge_operator());
        let deletes = self.deletes.kept.between(low, high);
        let mut writer = RunWriter::new(inner, self.level, &self.loads, deletes, &self.plan, self.sequences);
        let mut cuts = self.cuts.iter().peekable();
        let (mut entries, mut pauses) = (0u64, Pauses::new(self));
        while let Some((run, entry, rank)) = merge.current().map(|run| (run, run.cursor.entry(), run.rank)) {
            if high.is_some_and(|high| entry.key >= high) {
                break;
            }
            while let Some(cut) = cuts.next_if(|cut| entry.key >= &***cut) {
                writer.cut(cut)?;
            }
            if let Some(is_marked) = self.mark(&merge, run, &entry) {
                let source = if self.plan.reads_marks() { run.cursor.references() } else { None };
                match operator {
                    Some(operator) if inline_value(&entry, source).is_some_and(is_operand) => {
                        let older = self.older_versions(&merge)?;
                        let older = older.iter().map(|(value, rank)| (value.as_deref(), *rank));
                        let newest = (entry.key, inline_value(&entry, source), rank);
                        let value =
                            combine_inputs(operator, newest, older, &self.deletes, self.drops_tombstones)
                                .ok_or_else(|| unmarked(&inner.directory))?;
                        writer.add(Entry { key: entry.key, value: Some(&value) }, is_marked)?;
                    }
                    _ if writer.add_stored(entry, source, is_marked)? => {}
                    _ => return Err(run.cursor.damaged_value()),
                }
            }
            merge.advance(&inner.counters)?;
            entries += 1;
            if entries & pauses.mask == 0 && pauses.stops(self)? {
                return Ok(None);
            }
        }
        // Range tombstones may extend beyond the last entry.
        if !self.deletes.kept.is_empty() {
            cuts.try_for_each(|cut| writer.cut(cut))?;
        }
        if self.sequences.is_some() && writer.is_empty() {
            // Without a manifest, only the name of an SSTable records the last sequence number (see `scanned`), so the
            // output must have an SSTable. It gets a tombstone of the smallest input key as its only entry. This
            // tombstone changes no answer, because the key is absent.
            let absent = self.inputs.iter().flatten().map(|table| table.smallest()).min();
            absent.map_or(Ok(()), |key| writer.add(Entry { key, value: None }, false))?;
        }
        writer.finish().map(Some)
    }

    /// Decides how the output of a compaction stores the current entry of a merge. Returns `None` if the output omits
    /// the entry, and otherwise whether the output marks it. A mark shows that the entry is a single delete, or has
    /// replaced one.
    #[inline]
    fn mark<'t>(
        &self,
        merge: &impl Kernel<RankedRun<'t>>,
        run: &RankedRun<'t>,
        entry: &Entry<'_>,
    ) -> Option<bool> {
        let is_tombstone = entry.value.is_none();
        if self.deletes.hide(entry, run.rank) {
            return None;
        }
        match &self.marks {
            None => (!is_tombstone || !self.drops_tombstones).then_some(false),
            Some(marks) => {
                let remainder = self.remainder(marks, merge, run);
                let remainder = if self.drops_tombstones { Remainder::Nothing } else { remainder };
                remainder.mark(is_tombstone)
            }
        }
    }

    /// Removes each single delete of the current key together with its put, and counts these pairs. Returns the
    /// tombstone of the key that remains afterwards, if any.
    #[inline(never)]
    fn remainder<'t>(
        &self,
        marks: &InputMarks,
        merge: &impl Kernel<RankedRun<'t>>,
        run: &RankedRun<'t>,
    ) -> Remainder {
        let (key, has_operator) = (run.cursor.key(), self.inner.merge_operator().is_some());
        let kind = |run: &RankedRun<'t>| marks.kind(&run.cursor, has_operator);
        let mut above = run.rank;
        // A range tombstone of an input hides the versions in older inputs.
        let visible = merge.superseded().take_while(|older| {
            let is_hidden = self.deletes.delete_below(key, above..older.rank);
            above = older.rank;
            !is_hidden
        });
        let (remainder, pairs) = resolve(kind(run), visible.map(kind));
        self.inner.counters.local().single_delete_pairs.add(pairs);
        remainder
    }

    /// Returns the versions of the current key in older inputs, from the newest version to the first version that is
    /// not a merge operand. Each version is a value, or `None` for a tombstone, with the rank of its input run (0 is
    /// the newest run).
    fn older_versions<'t>(
        &self,
        merge: &impl Kernel<RankedRun<'t>>,
    ) -> Result<Vec<(Option<Vec<u8>>, usize)>> {
        let mut versions = Vec::new();
        for run in merge.superseded() {
            let mut value = Vec::new();
            let found =
                run.cursor.resolved(&mut value, &self.inner.counters)?.map(|(_, value)| value.to_vec());
            let is_last = !found.as_deref().is_some_and(is_operand);
            versions.push((found, run.rank));
            if is_last {
                break;
            }
        }
        Ok(versions)
    }
}

/// Decides when a part of a compaction pauses, or stops early because the tree is being closed.
struct Pauses {
    /// The number of entries between two checks for a pause, minus 1. The number of entries is a power of two, so a
    /// check is due when the lower bits of the entry count are 0.
    mask: u64,
    /// The total number of bytes that compactions on this thread had read at the end of the last pause.
    bytes_read: u64,
}

impl Pauses {
    fn new(merge: &PartMerge<'_>) -> Self {
        let entries = match merge.inner.scheduler {
            Some(_) => ENTRIES_BETWEEN_PAUSES,
            None => ENTRIES_BETWEEN_STOP_CHECKS,
        };
        Self { mask: entries - 1, bytes_read: merge.inner.counters.local().compaction_bytes_read.get() }
    }

    /// Pauses a part of a compaction if the schedule of the design requires it. Then returns whether the part must stop
    /// early, because the tree is being closed or another part has failed or stopped early.
    fn stops(&mut self, merge: &PartMerge<'_>) -> Result<bool> {
        let inner = merge.inner;
        if let Some(scheduler) = &inner.scheduler {
            let read = &inner.counters.local().compaction_bytes_read;
            // A compaction writes about as many bytes as it reads.
            inner.pause_compaction(scheduler, merge.top, 2 * (read.get() - self.bytes_read))?;
            self.bytes_read = read.get();
        }
        Ok(inner.signals.is_stopping() || merge.given_up.load(Ordering::Relaxed))
    }
}

/// A guard for one part of a compaction. If the part ends by an error or a panic, the guard makes all other parts
/// stop early.
struct GiveUp<'a>(&'a AtomicBool);

impl Drop for GiveUp<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
