//! The laws of the compaction axis, each a function of one policy and one history of a store.

use catalog::Limit;
use lsmbench_compaction::{Action, CompactionPolicy, Job, Run, Shape, TableShape};

use crate::store::{RunPlan, Store};

/// More jobs than this without a flush between them are too many for a store of this size.
const MAX_JOBS: usize = 1000;

/// A policy under test, and what it promises of a tree at rest.
pub(crate) struct Subject {
    pub(crate) label: String,
    pub(crate) policy: Box<dyn CompactionPolicy>,
    pub(crate) promise: Promise,
    /// What it declares that it cannot do.
    pub(crate) limits: &'static [Limit],
}

/// How many runs a policy leaves where it rests, and how large.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Promise {
    /// Anything.
    Nothing,
    /// Fewer than `level0_runs` runs in level 0; one of less than `level1_buffers` in level 1, and of T times as
    /// many in each level below.
    Leveled { size_ratio: f64, level0_runs: usize, level1_buffers: f64 },
    /// Fewer than T runs in every level.
    Tiered { size_ratio: usize },
    /// Fewer than T runs in every level, one of less than T^(i+1) buffers in the largest.
    LazyLeveled { size_ratio: usize },
    /// At most K runs of less than T^(i+1) buffers together in level i, at most Z in the largest.
    Fluid { size_ratio: usize, upper_runs: usize, largest_runs: usize },
    /// At most so many runs in the whole tree.
    Runs { most: usize },
    /// Less than so many buffers in level 0.
    Window { buffers: usize },
    /// At most so many bytes in the whole tree, or a single run.
    Capacity { bytes: u64 },
}

/// A store as it was found, and what is flushed to it.
#[derive(Debug)]
pub(crate) struct History {
    pub(crate) levels: Vec<Vec<RunPlan>>,
    pub(crate) flushes: Vec<RunPlan>,
}

/// A law: what is broken, if anything is.
type Law = fn(&Subject, &History) -> Result<(), String>;

/// All laws, by name.
pub(crate) const LAWS: &[(&str, Law)] = &[
    ("jobs are valid and change no answer", jobs_change_no_answer),
    ("what is dropped is the oldest, and no more than must go", only_the_oldest_goes),
    ("the bottom is where nothing older is", the_bottom_is_where_nothing_older_is),
    ("the same shape gives the same job", the_same_shape_gives_the_same_job),
    ("the policy comes to rest", the_policy_comes_to_rest),
    ("what is promised of a tree at rest holds", the_promise_holds),
];

fn ensure(holds: bool, otherwise: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(otherwise()) }
}

/// Plays a history: shows `each` every job before it is done, and `at_rest` the shapes where the policy
/// rests. A job that cannot be done ends the play.
fn play(
    subject: &Subject,
    history: &History,
    mut each: impl FnMut(&Store, &Job) -> Result<(), String>,
    mut at_rest: impl FnMut(&Shape) -> Result<(), String>,
) -> Result<(), String> {
    let mut store = Store::planned(&history.levels);
    let flushes = std::iter::once(None).chain(history.flushes.iter().map(Some));
    for flush in flushes {
        if let Some(run) = flush {
            store.flush(run);
        }
        let mut jobs = 0;
        while let Some(job) = subject.policy.pick(&store.shape()) {
            each(&store, &job)?;
            if store.apply(&job).is_err() || jobs == MAX_JOBS {
                return Ok(());
            }
            jobs += 1;
        }
        at_rest(&store.shape())?;
    }
    Ok(())
}

fn jobs_change_no_answer(subject: &Subject, history: &History) -> Result<(), String> {
    let check = |store: &Store, job: &Job| {
        job.validate(&store.shape().levels).map_err(|error| format!("{job:?}: {error}"))?;
        let mut after = store.clone();
        after.apply(job)?;
        let kept = |(before, after): (Option<u64>, Option<u64>)| match job.action {
            // Who drops may find nothing, never something older.
            Action::Drop if subject.drops_data() => after.is_none() || after == before,
            _ => after == before,
        };
        ensure(store.answers().into_iter().zip(after.answers()).all(kept), || {
            format!("{job:?} changes an answer")
        })
    };
    play(subject, history, check, |_| Ok(()))
}

/// What a drop takes is as old as can be, whole, and would not fit; the newest run is none of it.
fn only_the_oldest_goes(subject: &Subject, history: &History) -> Result<(), String> {
    let check = |store: &Store, job: &Job| {
        if job.action != Action::Drop {
            return Ok(());
        }
        let Promise::Capacity { bytes } = subject.promise else {
            return Err(format!("{job:?} drops, and nothing says above which capacity"));
        };
        let shape = store.shape();
        let runs: Vec<&Run<TableShape>> = shape.levels.runs().map(|(_, run)| run).collect();
        let goes = |run: &Run<TableShape>| run.tables.iter().all(|table| job.inputs.contains(&table.id));
        let stays = runs.iter().take_while(|run| !goes(run)).count();
        ensure(stays > 0, || format!("{job:?} takes the newest run"))?;
        let tables: usize = runs[stays..].iter().map(|run| run.tables.len()).sum();
        ensure(runs[stays..].iter().all(|run| goes(run)) && tables == job.inputs.len(), || {
            format!("{job:?} leaves what is older")
        })?;
        let with_the_newest_dropped: u64 = runs[..=stays].iter().map(|run| run.bytes()).sum();
        ensure(with_the_newest_dropped > bytes, || format!("{job:?} takes what would fit"))
    };
    play(subject, history, check, |_| Ok(()))
}

fn the_bottom_is_where_nothing_older_is(subject: &Subject, history: &History) -> Result<(), String> {
    let check = |store: &Store, job: &Job| {
        // What is moved keeps its tombstones, wherever it goes.
        if job.action == Action::Move {
            return Ok(());
        }
        let bottom = job.reaches_bottom(&store.shape().levels);
        ensure(bottom != store.has_older_than(job), || {
            format!("{job:?} is told to reach the bottom: {bottom}")
        })
    };
    play(subject, history, check, |_| Ok(()))
}

fn the_same_shape_gives_the_same_job(subject: &Subject, history: &History) -> Result<(), String> {
    let same = |shape: &Shape| {
        let (once, again) = (subject.policy.pick(shape), subject.policy.pick(&shape.clone()));
        ensure(once == again, || format!("{once:?}, then {again:?}"))
    };
    play(subject, history, |store, _| same(&store.shape()), same)
}

fn the_policy_comes_to_rest(subject: &Subject, history: &History) -> Result<(), String> {
    let mut rests = 0;
    play(
        subject,
        history,
        |_, _| Ok(()),
        |_| {
            rests += 1;
            Ok(())
        },
    )?;
    ensure(rests == history.flushes.len() + 1, || format!("it rested {rests} times"))
}

fn the_promise_holds(subject: &Subject, history: &History) -> Result<(), String> {
    play(subject, history, |_, _| Ok(()), |shape| subject.promise.check(shape))
}

impl Subject {
    fn drops_data(&self) -> bool {
        self.limits.contains(&Limit::DropsData)
    }
}

impl Promise {
    /// One run per level, of at most T times as much as the one above, and level 1 of so many buffers.
    pub(crate) fn leveled(size_ratio: f64, level0_runs: usize, level1_buffers: f64) -> Self {
        Self::Leveled { size_ratio, level0_runs, level1_buffers }
    }

    fn check(self, shape: &Shape) -> Result<(), String> {
        let last = shape.last_level();
        for level in 0..=last {
            let (runs, bytes) = (shape.runs_of(level).len(), shape.bytes_of(level));
            let capacity =
                |ratio: f64, exponent: usize| shape.buffer_bytes as f64 * ratio.powf(exponent as f64);
            let below = |ratio: f64, exponent: usize| (bytes as f64) < capacity(ratio, exponent);
            let kept = match self {
                Self::Nothing => true,
                Self::Leveled { level0_runs, .. } if level == 0 => runs < level0_runs,
                Self::Leveled { size_ratio, level1_buffers, .. } => {
                    runs <= 1 && (bytes as f64) < level1_buffers * capacity(size_ratio, level - 1)
                }
                Self::LazyLeveled { size_ratio } if level == last && level > 0 => {
                    runs == 1 && below(size_ratio as f64, level + 1)
                }
                Self::Fluid { size_ratio, upper_runs, largest_runs } => {
                    let most = if level == last.max(1) { largest_runs } else { upper_runs };
                    runs <= most.min(size_ratio - 1) && below(size_ratio as f64, level + 1)
                }
                Self::Runs { most } => shape.levels.runs().count() <= most,
                Self::Capacity { bytes: most } => {
                    let runs: Vec<u64> = shape.levels.runs().map(|(_, run)| run.bytes()).collect();
                    runs.len() == 1 || runs.iter().sum::<u64>() <= most
                }
                Self::Window { buffers } => level > 0 || below(buffers as f64, 1),
                Self::Tiered { size_ratio } | Self::LazyLeveled { size_ratio } => runs < size_ratio,
            };
            ensure(kept, || format!("level {level} of 0 to {last} has {runs} runs and {bytes} bytes"))?;
        }
        Ok(())
    }
}
