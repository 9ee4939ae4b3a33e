//! Compaction jobs. A job names its input SSTables, its action, and the level and run of its output.

use std::collections::{HashMap, HashSet};

use thiserror::Error;

use crate::shape::{Levels, OutputRun, Placed, Run, RunId, TableId, overlap};

/// The deepest level to which a job may write. Even with the smallest size ratio of 1.1, this level has a capacity of
/// 10^10 memtables.
pub const MAX_LEVEL: usize = 255;

/// A compaction job that a policy requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// The input SSTables, which the job removes from their runs. A merge reads the inputs and deletes their files. A
    /// move keeps the files.
    pub inputs: Vec<TableId>,
    /// The level that receives the output of the job.
    pub level: usize,
    /// The run of the output level that the output SSTables join. With `None`, they become a new run, which takes the
    /// position of the newest input run in the output level. Without such an input, the new run becomes the newest run
    /// of this level.
    pub run: Option<RunId>,
    /// Whether the SSTables are merged into new SSTables, moved unchanged, or dropped.
    pub action: Action,
}

/// The effect of a job on its input SSTables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Merges the inputs into new SSTables. The output has the newest version of each key. A tombstone is dropped if
    /// no older data overlaps the output.
    Merge,
    /// Moves the inputs to another level without a read. No two inputs overlap.
    Move,
    /// Drops the inputs without a read and without output. The inputs must be all SSTables of the oldest runs of the
    /// tree, so that no older data becomes visible. Dropping runs is the only action that changes lookup results.
    /// Only policies that declare [`catalog::Limit::DropsData`] may use this action.
    Drop,
}

/// The reason why a compaction job is invalid.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum InvalidJob {
    /// The job names no input SSTables.
    #[error("the compaction job has no input SSTables")]
    NoInputs,
    /// The job names an input SSTable twice, or names an SSTable that does not exist.
    #[error("the compaction job names SSTable {0} twice, or the tree has no SSTable {0}")]
    BadInput(TableId),
    /// The run that the job names for its output is not in the output level.
    #[error("the compaction job adds its output to run {0}, which is not in level {1}")]
    NoSuchRun(RunId, usize),
    /// The output level of the job is deeper than [`MAX_LEVEL`].
    #[error("the compaction job writes to level {0}, which is too deep; the deepest level is {MAX_LEVEL}")]
    TooDeep(usize),
    /// An SSTable that the job moves overlaps another SSTable of the job, so the job needs a merge.
    #[error(
        "the compaction job moves SSTables {0} and {1}, but they overlap and cannot be moved without a merge"
    )]
    MoveOfOverlapping(TableId, TableId),
    /// A dropped SSTable is not in one of the oldest runs, or its run is not dropped completely. Older data would
    /// remain in the tree and become visible.
    #[error(
        "the compaction job cannot drop SSTable {0}, because an older run or another SSTable of its run would remain"
    )]
    DropsBeforeOlder(TableId),
    /// The job would move newer data past older data of an equal key, or older data past newer data. Lookups would
    /// then return an old version.
    #[error(
        "SSTable {input} of the compaction job overlaps SSTable {passed}, whose age is between this SSTable and \
         the output; include SSTable {passed} in the job"
    )]
    OutOfOrder {
        /// The input SSTable that would move past another SSTable.
        input: TableId,
        /// The SSTable of the tree that the input SSTable would move past.
        passed: TableId,
    },
    /// The output of the job would overlap a remaining SSTable of the output run.
    #[error(
        "the output of the compaction job overlaps SSTable {0}, which remains in the output run; include \
         SSTable {0} in the job"
    )]
    OverlapsOutputRun(TableId),
}

impl Job {
    /// Checks that this job changes no lookup result in `levels`. A job that drops SSTables may remove the result of
    /// a lookup, but no lookup may return an older version.
    ///
    /// # Errors
    /// The first rule that the job violates, as an [`InvalidJob`].
    pub fn validate<T: Placed>(&self, levels: &Levels<T>) -> Result<(), InvalidJob> {
        let inputs = self.input_set()?;
        if self.level > MAX_LEVEL {
            return Err(InvalidJob::TooDeep(self.level));
        }
        let runs: Vec<(usize, &Run<T>)> = levels.runs().collect();
        let output_rank = self.output_rank(levels, &runs, &inputs)?;
        let mut ranks = HashMap::new();
        for (rank, (_, run)) in runs.iter().enumerate() {
            ranks.extend(
                run.tables
                    .iter()
                    .filter(|table| inputs.contains(&table.id()))
                    .map(|table| (table.id(), rank)),
            );
        }
        if let Some(missing) = self.inputs.iter().find(|id| !ranks.contains_key(id)) {
            return Err(InvalidJob::BadInput(*missing));
        }
        if self.action == Action::Drop {
            return drops_the_oldest(&inputs, &runs);
        }
        if self.action == Action::Move {
            do_not_overlap(&inputs, &runs)?;
        }
        for (rank, (_, run)) in runs.iter().enumerate() {
            for input in run.tables.iter().filter(|table| inputs.contains(&table.id())) {
                passes_nothing(input, rank, output_rank, &runs, &inputs)?;
            }
        }
        self.fits_output_run(&runs, &inputs)
    }

    /// Returns whether the job drops tombstones. A job drops tombstones if no SSTable outside of the job has older data
    /// in the key range of the inputs. Returns false if the job has no inputs or names an unknown output run.
    pub fn reaches_bottom<T: Placed>(&self, levels: &Levels<T>) -> bool {
        let inputs: HashSet<TableId> = self.inputs.iter().copied().collect();
        let runs: Vec<(usize, &Run<T>)> = levels.runs().collect();
        let (Some((smallest, largest)), Ok(output_rank)) =
            (hull(&runs, &inputs), self.output_rank(levels, &runs, &inputs))
        else {
            return false;
        };
        let older = runs.iter().enumerate().filter(|(rank, _)| *rank as f64 > output_rank);
        let mut stays =
            older.flat_map(|(_, (_, run))| &run.tables).filter(|table| !inputs.contains(&table.id()));
        !stays.any(|table| table.smallest() <= largest && table.largest() >= smallest)
    }

    /// Returns the level and the run that receive the output of the job. If [`run`](Self::run) is `None`, the output
    /// becomes a new run with the number `new_run`.
    pub fn place(&self, new_run: RunId) -> OutputRun {
        OutputRun { level: self.level, run: self.run.unwrap_or(new_run) }
    }

    fn input_set(&self) -> Result<HashSet<TableId>, InvalidJob> {
        if self.inputs.is_empty() {
            return Err(InvalidJob::NoInputs);
        }
        let mut inputs = HashSet::new();
        match self.inputs.iter().find(|id| !inputs.insert(**id)) {
            Some(twice) => Err(InvalidJob::BadInput(*twice)),
            None => Ok(inputs),
        }
    }

    /// Returns the position of a job's output in the list of all runs, where 0 is the newest run. If the output becomes
    /// a new run, the result is the position of the next older run minus 0.5. This position is directly before the
    /// older run, and after all newer runs.
    fn output_rank<T: Placed>(
        &self,
        levels: &Levels<T>,
        runs: &[(usize, &Run<T>)],
        inputs: &HashSet<TableId>,
    ) -> Result<f64, InvalidJob> {
        let Some(id) = self.run else {
            let above = runs.iter().filter(|(level, _)| *level < self.level).count();
            return Ok((above + levels.new_run_index(inputs, self.level)) as f64 - 0.5);
        };
        runs.iter()
            .position(|(level, run)| run.id == id && *level == self.level)
            .map(|rank| rank as f64)
            .ok_or(InvalidJob::NoSuchRun(id, self.level))
    }

    /// Checks that the output of a job overlaps no remaining SSTable of the output run. For a move, each moved SSTable
    /// is checked. For a merge, the whole range from the smallest to the largest input key is checked.
    fn fits_output_run<T: Placed>(
        &self,
        runs: &[(usize, &Run<T>)],
        inputs: &HashSet<TableId>,
    ) -> Result<(), InvalidJob> {
        let Some(id) = self.run else { return Ok(()) };
        let tables =
            || runs.iter().flat_map(|(_, run)| &run.tables).filter(|table| inputs.contains(&table.id()));
        let coming: Vec<(&[u8], &[u8])> = match self.action {
            Action::Move => tables().map(|table| (table.smallest(), table.largest())).collect(),
            Action::Merge | Action::Drop => hull(runs, inputs).into_iter().collect(),
        };
        let output_run = runs.iter().filter(|(_, run)| run.id == id).flat_map(|(_, run)| &run.tables);
        let mut stays = output_run.filter(|table| !inputs.contains(&table.id()));
        let meets = |table: &&T| {
            coming
                .iter()
                .any(|(smallest, largest)| table.smallest() <= *largest && table.largest() >= *smallest)
        };
        match stays.find(meets) {
            Some(table) => Err(InvalidJob::OverlapsOutputRun(table.id())),
            None => Ok(()),
        }
    }
}

/// Checks that each SSTable that a job drops is in one of the oldest runs, and that these runs are dropped completely.
fn drops_the_oldest<T: Placed>(
    inputs: &HashSet<TableId>,
    runs: &[(usize, &Run<T>)],
) -> Result<(), InvalidJob> {
    let goes = |run: &Run<T>| run.tables.iter().all(|table| inputs.contains(&table.id()));
    let oldest = runs.iter().rev().take_while(|(_, run)| goes(run)).count();
    let stays = runs[..runs.len() - oldest].iter().flat_map(|(_, run)| &run.tables);
    match stays.map(Placed::id).find(|id| inputs.contains(id)) {
        Some(id) => Err(InvalidJob::DropsBeforeOlder(id)),
        None => Ok(()),
    }
}

/// Checks that the key ranges of the SSTables that a job moves do not overlap.
fn do_not_overlap<T: Placed>(inputs: &HashSet<TableId>, runs: &[(usize, &Run<T>)]) -> Result<(), InvalidJob> {
    let tables = runs.iter().flat_map(|(_, run)| &run.tables).filter(|table| inputs.contains(&table.id()));
    match overlap(tables) {
        Some((one, other)) => Err(InvalidJob::MoveOfOverlapping(one.id(), other.id())),
        None => Ok(()),
    }
}

/// Checks an input SSTable of a job. If a run is between the input and the output in age, the input must overlap no
/// SSTable of this run that is outside of the job. Otherwise, lookups could return old versions.
fn passes_nothing<T: Placed>(
    input: &T,
    rank: usize,
    output_rank: f64,
    runs: &[(usize, &Run<T>)],
    inputs: &HashSet<TableId>,
) -> Result<(), InvalidJob> {
    let between = |other: usize| {
        let (low, high) = (output_rank.min(rank as f64), output_rank.max(rank as f64));
        low < other as f64 && (other as f64) < high
    };
    let passed =
        runs.iter().enumerate().filter(|(other, _)| between(*other)).flat_map(|(_, (_, run))| &run.tables);
    let mut overlapping = passed
        .filter(|table| !inputs.contains(&table.id()))
        .filter(|table| table.smallest() <= input.largest() && table.largest() >= input.smallest());
    match overlapping.next() {
        Some(table) => Err(InvalidJob::OutOfOrder { input: input.id(), passed: table.id() }),
        None => Ok(()),
    }
}

/// Returns the smallest and the largest key of all inputs of a job. Returns `None` if there are no inputs.
fn hull<'a, T: Placed>(
    runs: &[(usize, &'a Run<T>)],
    inputs: &HashSet<TableId>,
) -> Option<(&'a [u8], &'a [u8])> {
    let tables = || runs.iter().flat_map(|(_, run)| &run.tables).filter(|table| inputs.contains(&table.id()));
    Some((tables().map(Placed::smallest).min()?, tables().map(Placed::largest).max()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::TableShape;

    fn table(id: TableId, smallest: &str, largest: &str) -> TableShape {
        let (smallest, largest) = (smallest.as_bytes().into(), largest.as_bytes().into());
        TableShape { id, bytes: 100, entries: 10, tombstones: 0, smallest, largest }
    }

    /// Returns levels for the tests. Level 0 has run 3 with SSTable 3 (keys a–m), and run 2 with SSTable 2 (k–z).
    /// Level 1 has run 1 with SSTables 10 (a–f) and 11 (g–p). Level 2 has run 4 with SSTable 4 (a–c).
    fn levels() -> Levels<TableShape> {
        let runs = [
            (2, 4, vec![table(4, "a", "c")]),
            (1, 1, vec![table(10, "a", "f"), table(11, "g", "p")]),
            (0, 2, vec![table(2, "k", "z")]),
            (0, 3, vec![table(3, "a", "m")]),
        ];
        runs.into_iter().fold(Levels::default(), |levels, (level, run, tables)| {
            levels.edit(&[], OutputRun { level, run }, &tables).unwrap()
        })
    }

    fn merge(inputs: &[TableId], level: usize, run: Option<RunId>) -> Job {
        Job { inputs: inputs.to_vec(), level, run, action: Action::Merge }
    }

    #[test]
    fn jobs_that_name_the_wrong_things_are_refused() {
        let validate = |job: Job| job.validate(&levels());
        assert_eq!(validate(merge(&[], 1, None)), Err(InvalidJob::NoInputs));
        assert_eq!(validate(merge(&[3, 3], 1, None)), Err(InvalidJob::BadInput(3)));
        assert_eq!(validate(merge(&[3, 99], 1, None)), Err(InvalidJob::BadInput(99)));
        assert_eq!(validate(merge(&[3], 1, Some(3))), Err(InvalidJob::NoSuchRun(3, 1)));
        assert_eq!(
            validate(merge(&[3], MAX_LEVEL, None)),
            Err(InvalidJob::OutOfOrder { input: 3, passed: 2 })
        );
        assert_eq!(validate(merge(&[3], usize::MAX, None)), Err(InvalidJob::TooDeep(usize::MAX)));
        let both = Job { action: Action::Move, ..merge(&[2, 3], 1, None) };
        assert_eq!(validate(both), Err(InvalidJob::MoveOfOverlapping(3, 2)));
        let apart = Job { action: Action::Move, ..merge(&[4, 2], 3, None) };
        assert_eq!(validate(apart), Err(InvalidJob::OutOfOrder { input: 2, passed: 11 }));
        let apart = Job { action: Action::Move, ..merge(&[4, 11], 3, None) };
        assert_eq!(validate(apart), Ok(()));
    }

    #[test]
    fn nothing_passes_what_it_overlaps() {
        let validate = |job: Job| job.validate(&levels());
        // The jobs would move newer data below older data of equal keys, or older data above newer data.
        assert_eq!(
            validate(merge(&[3, 10, 11], 1, None)),
            Err(InvalidJob::OutOfOrder { input: 3, passed: 2 })
        );
        assert_eq!(validate(merge(&[10], 0, None)), Err(InvalidJob::OutOfOrder { input: 10, passed: 3 }));
        assert_eq!(validate(merge(&[2], 2, None)), Err(InvalidJob::OutOfOrder { input: 2, passed: 11 }));
        // An SSTable may pass an SSTable that it does not overlap.
        assert_eq!(validate(merge(&[11], 3, None)), Ok(()));
        assert_eq!(validate(merge(&[4, 10], 1, Some(1))), Ok(()));
    }

    #[test]
    fn the_output_fits_into_its_run() {
        let validate = |job: Job| job.validate(&levels());
        assert_eq!(validate(merge(&[2, 11], 1, Some(1))), Ok(()));
        assert_eq!(validate(merge(&[2], 1, Some(1))), Err(InvalidJob::OverlapsOutputRun(11)));
        // A merge is checked with the key range from the smallest to the largest input key, including the gaps
        // between inputs.
        let levels = levels().edit(&[], OutputRun { level: 1, run: 1 }, &[table(12, "q", "r")]).unwrap();
        assert_eq!(merge(&[2, 11], 1, Some(1)).validate(&levels), Err(InvalidJob::OverlapsOutputRun(12)));
        // A move is checked for each SSTable separately.
        let levels =
            levels.edit(&[3, 10, 11], OutputRun { level: 0, run: 9 }, &[table(20, "a", "b")]).unwrap();
        let levels = levels.edit(&[2], OutputRun { level: 0, run: 9 }, &[table(21, "s", "t")]).unwrap();
        let moved = |inputs: &[TableId]| Job { action: Action::Move, ..merge(inputs, 1, Some(1)) };
        assert_eq!(moved(&[20, 21]).validate(&levels), Ok(()));
        let levels = levels.edit(&[21], OutputRun { level: 0, run: 9 }, &[table(22, "r", "t")]).unwrap();
        assert_eq!(moved(&[20, 22]).validate(&levels), Err(InvalidJob::OverlapsOutputRun(12)));
    }

    #[test]
    fn only_the_oldest_runs_are_dropped_and_each_whole() {
        let drop =
            |inputs: &[TableId]| Job { action: Action::Drop, ..merge(inputs, 2, None) }.validate(&levels());
        assert_eq!(drop(&[4]), Ok(()));
        assert_eq!(drop(&[4, 10, 11]), Ok(()));
        assert_eq!(drop(&[2, 3, 4, 10, 11]), Ok(()));
        assert_eq!(drop(&[4, 11]), Err(InvalidJob::DropsBeforeOlder(11)));
        assert_eq!(drop(&[2]), Err(InvalidJob::DropsBeforeOlder(2)));
        assert_eq!(drop(&[2, 4]), Err(InvalidJob::DropsBeforeOlder(2)));
        assert_eq!(drop(&[4, 99]), Err(InvalidJob::BadInput(99)));
    }

    #[test]
    fn the_bottom_is_where_nothing_older_overlaps() {
        let levels = levels();
        assert!(!merge(&[2, 3], 0, None).reaches_bottom(&levels));
        assert!(!merge(&[2, 3, 10, 11], 1, None).reaches_bottom(&levels));
        assert!(merge(&[2, 3, 10, 11, 4], 2, None).reaches_bottom(&levels));
        // SSTable 4 has only keys from a to c.
        assert!(merge(&[2, 11], 1, Some(1)).reaches_bottom(&levels));
        assert!(!merge(&[2], 0, None).reaches_bottom(&levels));
    }
}
