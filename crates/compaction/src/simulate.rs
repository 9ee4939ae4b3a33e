//! The simulator. It runs a policy without files, on a simulated tree that is empty at first and then receives one
//! flush after another.

mod contents;
mod exact;
mod spread;

use std::collections::HashSet;
use std::sync::Arc;

use thiserror::Error;

pub use self::contents::{Contents, MergeTerms};
pub use self::exact::{ExactEntry, ExactKeys};
pub use self::spread::{FlushedWrites, KeyClass, Spread};
use crate::job::{Action, InvalidJob, Job};
use crate::operations::{OperationWindow, Operations};
use crate::policy::CompactionPolicy;
use crate::shape::{InvalidEdit, Levels, OutputRun, RunId, Shape, TableId, TableShape};

/// The maximum number of jobs between two flushes. If a policy picks more jobs, the simulation fails, because the
/// policy would probably never stop.
const MAX_JOBS_PER_FLUSH: u64 = 10_000;

/// The writes of a simulation with equal flushes. All numbers are at least 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SimulatedLoad {
    /// The number of writes in one flush.
    pub writes_per_flush: u64,
    /// The number of key and value bytes of each write.
    pub entry_bytes: u64,
    /// The maximum number of entries in an SSTable. Longer runs are divided into several SSTables. With `u64::MAX`,
    /// each run is one SSTable.
    pub entries_per_table: u64,
    /// The number of keys that are written with equal probability. With `None`, no key is written twice.
    pub distinct_keys: Option<u64>,
}

/// The write counters and the levels of a simulated tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SimulatedWrites {
    /// The number of flushes in the simulation so far.
    pub flushes: u64,
    /// The number of bytes that the user wrote.
    pub user_bytes_written: u64,
    /// The bytes that flushes wrote. If a key is written several times in one flush, only the newest write counts.
    pub flush_bytes: u64,
    /// The SSTables and entries that flushes wrote.
    pub flushed: Written,
    /// The bytes that compactions read.
    pub compaction_bytes_read: u64,
    /// The bytes that compactions wrote.
    pub compaction_bytes_written: u64,
    /// The SSTables and entries that compactions read.
    pub compaction_read: Written,
    /// The SSTables and entries that compactions wrote.
    pub compaction_written: Written,
    /// The number of jobs that merged SSTables.
    pub merges: u64,
    /// The number of jobs that moved SSTables without a read.
    pub moves: u64,
    /// The number of jobs that dropped SSTables.
    pub drops: u64,
    /// The total bytes of the dropped SSTables.
    pub dropped_bytes: u64,
    /// The input size of the largest merge, in bytes.
    pub largest_merge_bytes: u64,
    /// The largest number of runs that the tree had at one time, including the times directly after a flush.
    pub worst_runs: usize,
    /// The current sizes of the levels of the simulated tree.
    pub levels: Vec<LevelReport>,
}

/// A number of SSTables, and the number of their entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// The number of SSTables.
    pub tables: u64,
    /// The number of entries, including tombstones.
    pub entries: u64,
    /// The number of tombstones.
    pub tombstones: u64,
}

/// The size of one level of a simulated tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LevelReport {
    /// The number of sorted runs of the level.
    pub runs: usize,
    /// The number of SSTables of the level.
    pub tables: usize,
    /// The total bytes of the SSTables of the level.
    pub bytes: u64,
    /// The number of entries in the level, including tombstones.
    pub entries: u64,
    /// The number of tombstones in the level.
    pub tombstones: u64,
}

/// The reason why a simulation cannot continue.
#[derive(Debug, Error)]
pub enum SimulationError {
    /// A number of the [`SimulatedLoad`] is 0. All its numbers must be at least 1.
    #[error("the simulated load has {0} = 0; the number must be at least 1")]
    ZeroLoad(&'static str),
    /// The policy picked an invalid job.
    #[error("the policy picked an invalid job: {0}")]
    InvalidJob(#[from] InvalidJob),
    /// The policy has failed and can pick no more jobs.
    #[error("the compaction policy failed: {0}")]
    Policy(String),
    /// The output of a job cannot be added to the output run, for example because it overlaps another SSTable of this
    /// run.
    #[error("the tree cannot accept the output of a job: {0}")]
    InvalidEdit(#[from] InvalidEdit),
    /// The policy picked more than 10,000 jobs after one flush. Contains the number of this flush,
    /// from 1.
    #[error("the policy does not stop: it picked more than {MAX_JOBS_PER_FLUSH} jobs after flush {0}")]
    NeverRests(u64),
}

impl SimulatedWrites {
    /// Returns the write amplification: the bytes that flushes and compactions wrote, divided by the bytes that the
    /// user wrote.
    pub fn write_amp(&self) -> f64 {
        (self.flush_bytes + self.compaction_bytes_written) as f64 / self.user_bytes_written as f64
    }

    /// Returns the number of sorted runs in all levels of the simulated tree.
    pub fn runs(&self) -> usize {
        self.levels.iter().map(|level| level.runs).sum()
    }
}

/// A simulated tree with its policy and the contents of its SSTables.
pub struct Simulator<'a, C = Spread> {
    policy: &'a dyn CompactionPolicy,
    contents: C,
    /// The writes in each flush of the simulation.
    writes: FlushedWrites,
    shape: Shape,
    /// The number of lookups and scans in the simulation so far.
    reads: Operations,
    window: OperationWindow,
    next_table: TableId,
    next_run: RunId,
    report: SimulatedWrites,
}

/// Simulates `flushes` flushes into an empty tree. After each flush, the simulator runs all jobs that the policy picks.
///
/// # Errors
/// A number of the load is 0, or the policy violates an invariant of compaction policies.
pub fn simulate(
    policy: &dyn CompactionPolicy,
    load: SimulatedLoad,
    flushes: u64,
) -> Result<SimulatedWrites, SimulationError> {
    let mut simulator = Simulator::new(policy, load)?;
    for _ in 0..flushes {
        simulator.flush()?;
    }
    Ok(simulator.report())
}

impl<'a> Simulator<'a> {
    /// Creates an empty simulated tree, whose flushes write the data that `load` describes.
    ///
    /// # Errors
    /// A number of the load is 0.
    pub fn new(policy: &'a dyn CompactionPolicy, load: SimulatedLoad) -> Result<Self, SimulationError> {
        let SimulatedLoad { writes_per_flush, entry_bytes, entries_per_table, distinct_keys } = load;
        let numbers = [
            ("writes_per_flush", writes_per_flush),
            ("entry_bytes", entry_bytes),
            ("entries_per_table", entries_per_table),
            ("distinct_keys", distinct_keys.unwrap_or(1)),
        ];
        if let Some((name, _)) = numbers.iter().find(|(_, number)| *number == 0) {
            return Err(SimulationError::ZeroLoad(name));
        }
        let keys = distinct_keys.map_or(f64::INFINITY, |keys| keys as f64);
        let class = KeyClass { keys, share: 1.0 };
        let contents = Spread::new(vec![class], entry_bytes, entry_bytes, entries_per_table);
        let writes = writes_per_flush as f64;
        let (adds, draws) = if distinct_keys.is_some() { (0.0, writes) } else { (writes, 0.0) };
        let mut simulator = Self::of(policy, writes_per_flush.saturating_mul(entry_bytes), contents);
        simulator.writes = FlushedWrites { adds, draws, deletes: 0.0, within: (0.0, 1.0) };
        Ok(simulator)
    }

    /// Simulates one flush to the simulated tree, and runs all jobs that the policy then picks.
    ///
    /// # Errors
    /// The policy violates an invariant of compaction policies.
    pub fn flush(&mut self) -> Result<(), SimulationError> {
        let (writes, bytes) = (self.writes, self.shape.buffer_bytes);
        self.flush_with(bytes, |contents, first_table| contents.flush(writes, first_table))
    }
}

impl<'a, C: Contents> Simulator<'a, C> {
    /// Creates an empty simulated tree that stores its entries in `contents`. `buffer_bytes` is the capacity of its
    /// memtable.
    pub fn of(policy: &'a dyn CompactionPolicy, buffer_bytes: u64, contents: C) -> Self {
        let shape = Shape { buffer_bytes, levels: Levels::default(), operations: Operations::default() };
        let writes = FlushedWrites { adds: 0.0, draws: 0.0, deletes: 0.0, within: (0.0, 1.0) };
        Self {
            policy,
            contents,
            writes,
            shape,
            reads: Operations::default(),
            window: OperationWindow::new(policy.observed_flushes()),
            next_table: 1,
            next_run: 1,
            report: SimulatedWrites::default(),
        }
    }

    /// Flushes SSTables, and runs all jobs that the policy then picks. `make` receives the contents of the tree and
    /// the number of the first SSTable, and returns the flushed SSTables. `user_bytes` is the number of bytes that
    /// the user wrote for this flush.
    ///
    /// # Errors
    /// The policy violates an invariant of compaction policies.
    pub fn flush_with(
        &mut self,
        user_bytes: u64,
        make: impl FnOnce(&mut C, TableId) -> Vec<TableShape>,
    ) -> Result<(), SimulationError> {
        let tables = make(&mut self.contents, self.next_table);
        self.next_table += tables.len() as u64;
        let place = OutputRun { level: 0, run: self.new_run() };
        self.report.flushes += 1;
        self.report.user_bytes_written += user_bytes;
        self.report.flush_bytes += bytes_of(&tables);
        self.report.flushed.add(&tables);
        self.shape.levels.apply(&[], place, &tables)?;
        self.note_runs();
        self.window.note_flush(self.operations());
        self.rest()
    }

    /// Sets the numbers of lookups and scans since the tree was created. The policy reads the new numbers when it picks
    /// its next job. The function ignores the number of flushes in `reads`.
    pub fn note_reads(&mut self, reads: Operations) {
        self.reads = reads;
    }

    /// Runs the jobs that the policy picks because of the lookups and scans so far.
    ///
    /// # Errors
    /// The policy violates an invariant of compaction policies.
    pub fn pick_after_reads(&mut self) -> Result<(), SimulationError> {
        if self.window.is_observed() { self.rest() } else { Ok(()) }
    }

    /// Returns the flushes, lookups and scans since the simulated tree was created.
    fn operations(&self) -> Operations {
        Operations { flushes: self.report.flushes, ..self.reads }
    }

    /// Runs the compaction jobs that the policy picks, until it picks no further job.
    fn rest(&mut self) -> Result<(), SimulationError> {
        self.shape.operations = self.window.operations(&self.operations());
        for _ in 0..MAX_JOBS_PER_FLUSH {
            let Some(job) = self.policy.pick(&self.shape) else {
                return self.policy.failure().map_or(Ok(()), |failure| Err(SimulationError::Policy(failure)));
            };
            let cuts = self.policy.cuts(&self.shape, &job);
            self.compact(&job, &cuts)?;
        }
        Err(SimulationError::NeverRests(self.report.flushes))
    }

    /// Compacts all data into one run of the last level, like the step `compact` of a workload.
    ///
    /// # Errors
    /// The policy violates an invariant of compaction policies.
    pub fn compact_all(&mut self) -> Result<(), SimulationError> {
        let tombstones: u64 = self.shape.levels.tables().map(|(_, table)| table.tombstones).sum();
        if self.shape.levels.runs().count() <= 1 && tombstones == 0 {
            return Ok(());
        }
        let inputs = self.shape.levels.tables().map(|(_, table)| table.id).collect();
        let level = self.shape.last_level().max(1);
        self.compact(&Job { inputs, level, run: None, action: Action::Merge }, &[])
    }

    /// Returns the entries of all SSTables of the simulated tree.
    pub fn contents(&self) -> &C {
        &self.contents
    }

    /// Returns the write counters and the current sizes of the levels.
    pub fn report(&self) -> SimulatedWrites {
        let level = |level: &crate::Level<TableShape>| LevelReport {
            runs: level.runs.len(),
            tables: level.runs.iter().map(|run| run.tables.len()).sum(),
            bytes: level.bytes(),
            entries: level.runs.iter().map(|run| run.sum(|table| table.entries)).sum(),
            tombstones: level.runs.iter().map(|run| run.sum(|table| table.tombstones)).sum(),
        };
        SimulatedWrites {
            levels: self.shape.levels.levels.iter().map(level).collect(),
            ..self.report.clone()
        }
    }

    /// Returns the shape of the simulated tree, which is the input of policies.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    fn compact(&mut self, job: &Job, cuts: &[Arc<[u8]>]) -> Result<(), SimulationError> {
        job.validate(&self.shape.levels)?;
        let wanted: HashSet<TableId> = job.inputs.iter().copied().collect();
        let of_run = |run: &crate::Run<TableShape>| -> Vec<TableShape> {
            run.tables.iter().filter(|table| wanted.contains(&table.id)).cloned().collect()
        };
        let runs: Vec<Vec<TableShape>> =
            self.shape.levels.runs().map(|(_, run)| of_run(run)).filter(|run| !run.is_empty()).collect();
        let inputs = || runs.iter().flatten();
        let outputs = match job.action {
            Action::Move => {
                self.report.moves += 1;
                inputs().cloned().collect()
            }
            Action::Drop => {
                self.report.drops += 1;
                self.report.dropped_bytes += bytes_of(inputs());
                self.contents.forget(&job.inputs);
                Vec::new()
            }
            Action::Merge => {
                let drops_tombstones = job.reaches_bottom(&self.shape.levels);
                let terms = MergeTerms { first_table: self.next_table, cuts, drops_tombstones };
                let outputs = self.contents.merge(&runs, &terms);
                self.contents.forget(&job.inputs);
                self.next_table += outputs.len() as u64;
                self.report.merges += 1;
                self.report.compaction_bytes_read += bytes_of(inputs());
                self.report.largest_merge_bytes = self.report.largest_merge_bytes.max(bytes_of(inputs()));
                self.report.compaction_read.add(inputs());
                self.report.compaction_bytes_written += bytes_of(&outputs);
                self.report.compaction_written.add(&outputs);
                outputs
            }
        };
        let place = job.place(self.new_run());
        self.shape.levels.apply(&job.inputs, place, &outputs)?;
        self.note_runs();
        Ok(())
    }

    fn new_run(&mut self) -> RunId {
        self.next_run += 1;
        self.next_run - 1
    }

    fn note_runs(&mut self) {
        let runs = self.shape.levels.levels.iter().map(|level| level.runs.len()).sum();
        self.report.worst_runs = self.report.worst_runs.max(runs);
    }
}

impl Written {
    fn add<'t>(&mut self, tables: impl IntoIterator<Item = &'t TableShape>) {
        for table in tables {
            self.tables += 1;
            self.entries += table.entries;
            self.tombstones += table.tombstones;
        }
    }
}

fn bytes_of<'t>(tables: impl IntoIterator<Item = &'t TableShape>) -> u64 {
    tables.into_iter().map(|table| table.bytes).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CATALOG;

    const NEW_KEYS: SimulatedLoad = SimulatedLoad {
        writes_per_flush: 1000,
        entry_bytes: 100,
        entries_per_table: u64::MAX,
        distinct_keys: None,
    };

    fn policy(label: &str) -> Box<dyn CompactionPolicy> {
        CATALOG.build(&CATALOG.choose(&toml::Value::from(label)).unwrap()).unwrap()
    }

    #[test]
    fn the_books_balance() {
        for kind in CATALOG.kinds() {
            let report = simulate(&*policy(kind), NEW_KEYS, 137).unwrap();
            assert_eq!(report.flushes, 137);
            assert_eq!(report.user_bytes_written, 137 * 100_000);
            assert_eq!(report.flush_bytes, report.user_bytes_written);
            // If no key is written twice, compactions drop no data, so a compaction writes all bytes that it read.
            assert_eq!(report.levels.iter().map(|level| level.bytes).sum::<u64>(), report.flush_bytes);
            assert_eq!(report.compaction_bytes_read, report.compaction_bytes_written);
            assert!(report.worst_runs >= report.runs());
        }
    }

    #[test]
    fn what_is_dropped_is_on_the_books() {
        let report = simulate(&*policy("fifo(capacity=1MB)"), NEW_KEYS, 25).unwrap();
        assert_eq!((report.drops, report.dropped_bytes), (15, 1_500_000));
        assert_eq!((report.runs(), report.worst_runs, report.merges), (10, 11, 0));
        assert_eq!(report.levels[0].bytes, 1_000_000);
        assert_eq!(report.write_amp().to_bits(), 1f64.to_bits());
    }

    #[test]
    fn only_policies_that_pick_tables_go_by_their_size() {
        let mut by_table = Vec::new();
        for kind in CATALOG.kinds() {
            let coarse = simulate(&*policy(kind), NEW_KEYS, 150).unwrap();
            let fine =
                simulate(&*policy(kind), SimulatedLoad { entries_per_table: 300, ..NEW_KEYS }, 150).unwrap();
            if fine.write_amp().to_bits() != coarse.write_amp().to_bits() {
                by_table.push(kind);
            }
            let tables: usize = fine.levels.iter().map(|level| level.tables).sum();
            assert!(tables >= 500, "{kind}");
        }
        assert_eq!(by_table, ["leveled-partial", "one-leveling", "golden", "partitioned"]);
    }

    #[test]
    fn overwritten_keys_go_and_the_rest_stays() {
        let load = SimulatedLoad { distinct_keys: Some(3000), ..NEW_KEYS };
        let report = simulate(&*policy("leveled"), load, 200).unwrap();
        // All keys are in one run of the last level, and upper runs have newer versions of some keys.
        let last = report.levels.last().unwrap();
        assert!((299_000..=300_000).contains(&last.bytes), "{last:?}");
        assert!(report.flush_bytes < report.user_bytes_written);
        assert!(report.write_amp() < simulate(&*policy("leveled"), NEW_KEYS, 200).unwrap().write_amp());
    }

    #[test]
    fn a_load_of_nothing_is_refused() {
        let error = simulate(&*policy("none"), SimulatedLoad { entry_bytes: 0, ..NEW_KEYS }, 1).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the simulated load has entry_bytes = 0; the number must be at least 1"
        );
    }

    /// A policy that rewrites the last run without end.
    struct Restless;

    impl CompactionPolicy for Restless {
        fn pick(&self, shape: &Shape) -> Option<Job> {
            let (level, run) = shape.levels.runs().last()?;
            let inputs = run.tables.iter().map(|table| table.id).collect();
            Some(Job { inputs, level, run: None, action: Action::Merge })
        }
    }

    #[test]
    fn a_policy_that_never_rests_is_an_error() {
        let error = simulate(&Restless, NEW_KEYS, 1).unwrap_err();
        assert!(matches!(error, SimulationError::NeverRests(1)), "{error}");
    }
}
