//! Policies with a seeded fault. Each policy breaks one invariant, and the check of this invariant must fail.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::{Action, CompactionPolicy, Job, Run, Shape, TableId, TableShape};

/// The name of the invariant that compares a policy with its published bounds.
pub(crate) const PROMISE: &str = "what is promised of a tree at rest holds";

/// The fault that is seeded into a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Fault: merges the newest run of level 0 into level 1 and leaves the older runs in level 0.
    SkipsOlderRuns,
    /// Fault: merges all runs of a level except the newest run. The output is placed before the newest run.
    PutsOlderRunsFirst,
    /// Fault: moves data to a higher level, where lookups find the data before newer data.
    MovesUp,
    /// Fault: moves a run past a deeper level, although the run overlaps this level.
    MovesPastOverlap,
    /// Fault: moves the SSTables of several runs, although these SSTables overlap.
    MovesWhatMustBeMerged,
    /// Fault: adds SSTables to a sorted run, although an SSTable of the run overlaps the added SSTables.
    JoinsARunItOverlaps,
    /// Fault: names one SSTable twice in the inputs of a job.
    NamesATableTwice,
    /// Fault: returns a job only at every second call.
    IsMoody,
    /// Fault: merges the last run again without end.
    NeverRests,
    /// Fault: never picks a job.
    IsIdle,
    /// Fault: stops before all necessary jobs are done, because it omits every second job.
    StopsHalfway,
    /// Fault: drops the oldest run, but does not declare [`Limit::DropsData`](catalog::Limit::DropsData).
    DropsInSecret,
    /// Fault: declares that it drops data, but drops the second oldest run.
    DropsBeforeOlder,
    /// Fault: declares that it drops data, but drops only a single SSTable of the oldest run.
    DropsHalfARun,
    /// Fault: declares that it drops data, and drops a run although all runs fit into the capacity.
    DropsWhatFits,
    /// Fault: declares that it drops data, and drops all runs.
    DropsTheNewest,
    /// Fault: declares [`Limit::DropsData`](catalog::Limit::DropsData), but drops nothing.
    KeepsTooMuch,
    /// Fault: states that each job merges all runs, but merges only some runs.
    StatesToMergeAll,
}

impl Fault {
    /// Every fault, with the name of the invariant whose check must detect the fault.
    pub(crate) const ALL: [(Self, &'static str); 18] = [
        (Self::SkipsOlderRuns, "compaction jobs are valid and change no lookup result"),
        (Self::PutsOlderRunsFirst, "compaction jobs are valid and change no lookup result"),
        (Self::MovesUp, "compaction jobs are valid and change no lookup result"),
        (Self::MovesPastOverlap, "compaction jobs are valid and change no lookup result"),
        (Self::MovesWhatMustBeMerged, "compaction jobs are valid and change no lookup result"),
        (Self::JoinsARunItOverlaps, "compaction jobs are valid and change no lookup result"),
        (Self::NamesATableTwice, "compaction jobs are valid and change no lookup result"),
        (Self::IsMoody, "the policy picks equal jobs for equal shapes of a tree"),
        (Self::NeverRests, "the policy stops after a finite number of compaction jobs"),
        (Self::IsIdle, PROMISE),
        (Self::StopsHalfway, PROMISE),
        (Self::DropsInSecret, "compaction jobs are valid and change no lookup result"),
        (Self::DropsBeforeOlder, "compaction jobs are valid and change no lookup result"),
        (Self::DropsHalfARun, "compaction jobs are valid and change no lookup result"),
        (Self::DropsWhatFits, PROMISE),
        (Self::DropsTheNewest, "a compaction job that drops data removes only the oldest runs"),
        (Self::KeepsTooMuch, PROMISE),
        (
            Self::StatesToMergeAll,
            "if `merges_all_runs` returns true, each compaction job merges all SSTables",
        ),
    ];
}

impl Fault {
    /// Returns the label of the correct policy into which the fault is seeded.
    pub(crate) fn host(self) -> &'static str {
        match self {
            Self::DropsBeforeOlder
            | Self::DropsHalfARun
            | Self::DropsWhatFits
            | Self::DropsTheNewest
            | Self::KeepsTooMuch => "fifo(capacity=400B)",
            _ => "l0-tiered(size_ratio=2, level0_runs=2)",
        }
    }
}

/// A correct policy with one seeded fault.
pub(crate) struct Canary {
    pub(crate) fault: Fault,
    pub(crate) sound: Box<dyn CompactionPolicy>,
    pub(crate) calls: AtomicU64,
}

impl CompactionPolicy for Canary {
    fn pick(&self, shape: &Shape) -> Option<Job> {
        let sound = self.sound.pick(shape);
        let (upper, lower) = (shape.runs_of(0), shape.runs_of(1));
        let first_two = upper.len() > 1 && !lower.is_empty();
        match self.fault {
            Fault::SkipsOlderRuns if first_two => {
                Some(merge(tables(upper[..1].iter().chain(lower)), 1, Action::Merge))
            }
            Fault::PutsOlderRunsFirst if first_two => {
                let mut job = merge(tables(upper[1..].iter()), 0, Action::Merge);
                job.run = Some(upper[0].id);
                Some(job)
            }
            Fault::MovesUp if first_two => Some(merge(tables(lower.iter()), 0, Action::Merge)),
            Fault::MovesPastOverlap if first_two => Some(merge(tables(upper[1..].iter()), 2, Action::Merge)),
            Fault::MovesWhatMustBeMerged if first_two => Some(merge(tables(upper.iter()), 1, Action::Move)),
            Fault::JoinsARunItOverlaps if first_two => {
                let mut job = merge(tables(upper.iter()), 1, Action::Merge);
                job.run = Some(lower[0].id);
                Some(job)
            }
            Fault::NamesATableTwice => sound.map(|mut job| {
                job.inputs.push(job.inputs[0]);
                job
            }),
            Fault::IsMoody => sound.filter(|_| !self.calls.fetch_add(1, Ordering::Relaxed).is_multiple_of(2)),
            Fault::NeverRests => sound.or_else(|| {
                let (level, run) = shape.levels.runs().last()?;
                Some(merge(tables(std::iter::once(run)), level, Action::Merge))
            }),
            Fault::IsIdle | Fault::KeepsTooMuch => None,
            Fault::DropsInSecret if first_two => {
                let (level, run) = shape.levels.runs().last()?;
                Some(merge(tables(std::iter::once(run)), level, Action::Drop))
            }
            Fault::DropsBeforeOlder => sound.map(|job| {
                let (level, run) = shape.levels.runs().rev().nth(1).expect("the newest run stays");
                Job { inputs: tables(std::iter::once(run)), level, ..job }
            }),
            Fault::DropsHalfARun => sound.map(|mut job| {
                job.inputs.truncate(1);
                job
            }),
            Fault::DropsWhatFits => sound.or_else(|| {
                let (level, run) = shape.levels.runs().skip(1).last()?;
                Some(merge(tables(std::iter::once(run)), level, Action::Drop))
            }),
            Fault::DropsTheNewest => sound.map(|job| {
                let all = shape.levels.runs().map(|(_, run)| run);
                Job { inputs: tables(all), ..job }
            }),
            Fault::StopsHalfway => sound.filter(|job| job.level == 1),
            _ => sound,
        }
    }

    fn merges_all_runs(&self) -> bool {
        self.fault == Fault::StatesToMergeAll
    }
}

fn tables<'a>(runs: impl Iterator<Item = &'a Run<TableShape>>) -> Vec<TableId> {
    runs.flat_map(|run| &run.tables).map(|table| table.id).collect()
}

fn merge(inputs: Vec<TableId>, level: usize, action: Action) -> Job {
    Job { inputs, level, run: None, action }
}
