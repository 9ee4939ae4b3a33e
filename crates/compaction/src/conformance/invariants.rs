//! The invariants of compaction policies. Each invariant is a function that replays one history of a store with a
//! policy, and returns an error if the policy breaks the invariant.

use catalog::Limit;
use catalog::laws::ensure;
use types::SplitMix64;

use super::store::{KEYS, RunPlan, Store};
use crate::{Action, CompactionPolicy, Job, Run, Shape, TableShape};

/// The maximum number of jobs that a policy may pick between two flushes of a history. A policy that picks more jobs
/// for such a small store is assumed to never stop.
const MAX_JOBS: usize = 1000;

/// The compaction policy under test, with the limits of its variant.
pub(crate) struct Subject {
    pub(crate) policy: Box<dyn CompactionPolicy>,
    /// The limits that the catalog declares for the policy, such as [`Limit::DropsData`].
    pub(crate) limits: &'static [Limit],
}

/// A history of a store for the checks: the initial levels of the store, and the runs that are flushed to it.
#[derive(Debug)]
pub(crate) struct History {
    pub(crate) levels: Vec<Vec<RunPlan>>,
    pub(crate) flushes: Vec<RunPlan>,
}

impl History {
    /// Returns a random history: a store of up to three levels with up to eleven runs each, and up to 39 flushes.
    pub(crate) fn random(random: &mut SplitMix64) -> Self {
        let run = |random: &mut SplitMix64| -> RunPlan {
            let entries = 1 + random.below(13);
            (0..entries).map(|_| (random.below(u64::from(KEYS)) as u16, random.chance(0.25))).collect()
        };
        let runs = |most: u64, random: &mut SplitMix64| {
            (0..random.below(most)).map(|_| run(random)).collect::<Vec<_>>()
        };
        let levels = random.below(4);
        Self { levels: (0..levels).map(|_| runs(12, random)).collect(), flushes: runs(40, random) }
    }
}

/// A function that checks one invariant of a policy with one history. The error describes the violation.
type Check = fn(&Subject, &History) -> Result<(), String>;

/// All invariants of the compaction axis, each with its name.
pub(crate) const INVARIANTS: &[(&str, Check)] = &[
    ("compaction jobs are valid and change no lookup result", jobs_change_no_answer),
    ("a compaction job that drops data removes only the oldest runs", only_the_oldest_goes),
    (
        "`Job::reaches_bottom` returns true if and only if no older data overlaps the output",
        the_bottom_is_where_nothing_older_is,
    ),
    ("if `merges_all_runs` returns true, each compaction job merges all SSTables", all_tables_are_merged),
    ("the policy picks equal jobs for equal shapes of a tree", the_same_shape_gives_the_same_job),
    ("the policy stops after a finite number of compaction jobs", the_policy_comes_to_rest),
];

/// Replays a history of flushes, and applies the jobs that the policy picks. Calls `each` with the store before each
/// job, and `at_rest` with the shape of the store whenever the policy picks no further job. The replay ends without an
/// error if a job cannot be applied, or if the policy does not stop.
///
/// # Errors
/// The first error that `each` or `at_rest` returns.
pub(crate) fn play(
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
            let cuts = subject.policy.cuts(&store.shape(), &job);
            if store.apply(&job, &cuts).is_err() || jobs == MAX_JOBS {
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
        after.apply(job, &subject.policy.cuts(&store.shape(), job))?;
        let kept = |(before, after): (Option<u64>, Option<u64>)| match job.action {
            // A policy that drops data may make a key absent, but a lookup must never return an older value.
            Action::Drop if subject.drops_data() => after.is_none() || after == before,
            _ => after == before,
        };
        ensure(store.answers().into_iter().zip(after.answers()).all(kept), || {
            format!("the job {job:?} changes the result of a lookup")
        })
    };
    play(subject, history, check, |_| Ok(()))
}

/// Checks each job that drops data. The job may drop only the oldest runs of the tree, each with all its SSTables, and
/// the newest run must remain.
fn only_the_oldest_goes(subject: &Subject, history: &History) -> Result<(), String> {
    let check = |store: &Store, job: &Job| {
        if job.action != Action::Drop {
            return Ok(());
        }
        let shape = store.shape();
        let runs: Vec<&Run<TableShape>> = shape.levels.runs().map(|(_, run)| run).collect();
        let goes = |run: &Run<TableShape>| run.tables.iter().all(|table| job.inputs.contains(&table.id));
        let stays = runs.iter().take_while(|run| !goes(run)).count();
        ensure(stays > 0, || format!("the job {job:?} drops the newest run, which must remain"))?;
        let tables: usize = runs[stays..].iter().map(|run| run.tables.len()).sum();
        ensure(runs[stays..].iter().all(|run| goes(run)) && tables == job.inputs.len(), || {
            format!("the job {job:?} drops other SSTables than those of the oldest runs")
        })
    };
    play(subject, history, check, |_| Ok(()))
}

fn the_bottom_is_where_nothing_older_is(subject: &Subject, history: &History) -> Result<(), String> {
    let check = |store: &Store, job: &Job| {
        let levels = store.shape().levels;
        // A move drops no tombstones, and an invalid job has no output position, so neither is checked.
        if job.action == Action::Move || job.validate(&levels).is_err() {
            return Ok(());
        }
        let bottom = job.reaches_bottom(&levels);
        ensure(bottom != store.has_older_than(job), || {
            let older = if bottom { "an" } else { "no" };
            format!(
                "for the job {job:?}, `reaches_bottom` returned {bottom}, but {older} older SSTable overlaps \
                 the output"
            )
        })
    };
    play(subject, history, check, |_| Ok(()))
}

/// Checks that each job of a policy with [`CompactionPolicy::merges_all_runs`] merges all SSTables.
fn all_tables_are_merged(subject: &Subject, history: &History) -> Result<(), String> {
    if !subject.policy.merges_all_runs() {
        return Ok(());
    }
    ensure(subject.policy.seek_price() == 0, || {
        "`merges_all_runs` returns true, but `seek_price` returns more than 0, so scans can trigger compactions \
         of some runs"
            .to_owned()
    })?;
    let check = |store: &Store, job: &Job| {
        let levels = store.shape().levels;
        let are_all = levels.tables().all(|(_, table)| job.inputs.contains(&table.id));
        ensure(are_all && job.action == Action::Merge && job.run.is_none(), || {
            format!("`merges_all_runs` returns true, but the job {job:?} does not merge all SSTables")
        })
    };
    play(subject, history, check, |_| Ok(()))
}

fn the_same_shape_gives_the_same_job(subject: &Subject, history: &History) -> Result<(), String> {
    let same = |shape: &Shape| {
        let (once, again) = (subject.policy.pick(shape), subject.policy.pick(&shape.clone()));
        ensure(once == again, || {
            format!(
                "the policy picked the jobs {once:?} and {again:?} for one shape of a tree; they must be equal"
            )
        })
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
    ensure(rests == history.flushes.len() + 1, || {
        format!(
            "the policy must run out of jobs at the start and after each flush, but it did so only {rests} times"
        )
    })
}

impl Subject {
    fn drops_data(&self) -> bool {
        self.limits.contains(&Limit::DropsData)
    }
}
