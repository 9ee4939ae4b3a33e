//! The table `[trials]`, with the number of trials, their seeds, and the data that trials record.

use catalog::{ByteSize, Time};
use measure::FEWEST_BLOCKS;
use results::{Interleaving, RunMode};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use types::PlatformPart;

/// The table `[trials]` sets the number of trials of each configuration, and the data that trials record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Trials {
    /// Maximum number of trials of each configuration, 1 to 1000. lsmbench interleaves the trials of different
    /// configurations.
    pub count: u64,
    /// Seed of all operation streams. In one trial, all configurations run the same operations.
    pub seed: u64,
    /// Number of seeds, 1 to 1000. With one seed, all trials run the same operations. With more seeds, consecutive
    /// trials of a configuration use the seeds `seed`, `seed + 1`, and so on, in turn. Trials with equal numbers have
    /// the same seed in all configurations. lsmbench runs at least one trial per seed, unless `--trials` or `--quick`
    /// sets another number of trials.
    #[serde(skip_serializing_if = "is_one")]
    pub seeds: u64,
    /// Whether the run measures time (`"timed"`) or only counters (`"counted"`).
    pub mode: RunMode,
    /// Interval between operations whose latency lsmbench measures. With 1, lsmbench measures every operation. With
    /// 100, lsmbench measures one operation in 100.
    pub sampling: u64,
    /// Interval between operations whose answers lsmbench checks after the phase. With 0, lsmbench checks no answers.
    /// `counted` mode checks all answers.
    pub check: u64,
    /// Whether each round of a timed run measures the baseline twice, to estimate the noise of the machine.
    pub noise: bool,
    /// Order in which the trials of a round run. Only for timed runs of a workload.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<Interleaving>,
    /// Relative half-width of the confidence intervals at which the run stops early. The value 0.01 means 1 %. The
    /// value must be above 0 and below 1. Without `precision`, all trials run.
    pub precision: Option<f64>,
    /// Maximum time for the trials of a run, such as `"2min"`. The run ends earlier if all verdicts are decided, or
    /// if more trials are unlikely to decide another verdict. A configuration whose verdict is decided runs no
    /// further trials. Without `count`, only the time limits the number of trials.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<Time>,
    /// Last phase of the fixture. lsmbench executes the phases up to this phase once, and keeps the resulting store.
    /// Every trial starts from a copy of this store.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fixture: Option<String>,
    /// Memory limit of a trial process, at least `"16MiB"`. The limit includes the page cache of the process. Without
    /// `memory_limit`, there is no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_limit: Option<ByteSize>,
    /// Amount of free memory that lsmbench writes and releases before each phase. The hypervisor of a virtual machine
    /// then provides this memory before the measurement begins. Only on Linux, and not together with `memory_limit`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warm_memory: Option<ByteSize>,
    /// Length of an interval of `timeline.csv`, from `"10ms"` to `"1s"`. The default is `"1s"`. One second must be a
    /// multiple of the length.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeline: Option<Time>,
    /// Largest number of operations whose instructions valgrind counts. Before the trials, lsmbench then runs each
    /// configuration once in `counted` mode under valgrind, up to the phase of the verdict. The column
    /// `user_instructions_per_op` contains the result. Only for a workload.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<u64>,
}

impl Default for Trials {
    fn default() -> Self {
        Self {
            count: 3,
            seed: 42,
            seeds: 1,
            mode: RunMode::Timed,
            sampling: 1,
            check: 16,
            noise: true,
            plan: None,
            precision: None,
            budget: None,
            fixture: None,
            memory_limit: None,
            warm_memory: None,
            timeline: None,
            instructions: None,
        }
    }
}

/// The keys of `[trials]` that affect only timed runs.
pub const TIMED_TRIAL_KEYS: [&str; 4] = ["sampling", "check", "timeline", "warm_memory"];

/// Returns whether a count is 1, which is the default that serialization omits.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_one(count: &u64) -> bool {
    *count == 1
}

/// The largest number of trials of a configuration.
pub(super) const MOST_TRIALS: u64 = 1000;

/// The largest seed. The resolved experiment contains the seed, and TOML has no larger integers.
const LARGEST_SEED: u64 = i64::MAX as u64;

/// The default length of an interval of the timeline, in nanoseconds.
pub const DEFAULT_INTERVAL_NS: u64 = 1_000_000_000;

/// The shortest interval of the timeline, in nanoseconds. In each interval, lsmbench reads the counters of the store
/// and the latency histograms of every thread.
const LEAST_INTERVAL_NS: u64 = 10_000_000;

/// The smallest memory limit, in bytes. With less memory, a trial process would fail before its first operation.
const LEAST_MEMORY: u64 = 16 << 20;

impl Trials {
    /// The keys of the table `[trials]`.
    pub(super) const KEYS: [&str; 15] = [
        "count",
        "seed",
        "seeds",
        "mode",
        "sampling",
        "check",
        "noise",
        "plan",
        "precision",
        "budget",
        "fixture",
        "memory_limit",
        "warm_memory",
        "timeline",
        "instructions",
    ];

    /// Checks the values of the table. The error consists of the wrong key and a sentence.
    pub(super) fn check(&self) -> Result<(), (&'static str, String)> {
        let Self { count, seed, sampling, precision, .. } = *self;
        if count == 0 {
            return Err((
                "count",
                "the count is 0, but every configuration must run at least once".to_owned(),
            ));
        }
        if count > MOST_TRIALS {
            return Err(("count", format!("{count} exceeds the maximum of {MOST_TRIALS}")));
        }
        if seed > LARGEST_SEED {
            return Err(("seed", format!("{seed} exceeds the largest whole number in TOML, {LARGEST_SEED}")));
        }
        if !(1..=MOST_TRIALS).contains(&self.seeds) {
            return Err(("seeds", format!("{} is out of range; use 1 to {MOST_TRIALS}", self.seeds)));
        }
        if self.seeds - 1 > LARGEST_SEED - seed {
            return Err((
                "seeds",
                format!(
                    "the last seed, `seed` + `seeds` - 1, exceeds the largest whole number in TOML, \
                     {LARGEST_SEED}"
                ),
            ));
        }
        if precision.is_some_and(|precision| !(precision > 0.0 && precision < 1.0)) {
            let message = "expected the relative half-width of a confidence interval, above 0 and below 1, \
                           such as 0.01";
            return Err(("precision", message.to_owned()));
        }
        if self.budget.is_some_and(|budget| budget.0 == 0) {
            return Err(("budget", "the budget is 0; give a time such as \"2min\"".to_owned()));
        }
        if self.budget.is_some() && precision.is_some() {
            let message = "both trials.budget and trials.precision end a run; remove one of them";
            return Err(("budget", message.to_owned()));
        }
        if self.budget.is_some() && self.mode == RunMode::Counted {
            let message =
                "counted mode does not repeat measurements, so a budget has no effect; remove the budget";
            return Err(("budget", message.to_owned()));
        }
        if self.memory_limit.is_some_and(|limit| limit.0 < LEAST_MEMORY) {
            let message = "a trial process needs memory to start; the minimum is 16MiB";
            return Err(("memory_limit", message.to_owned()));
        }
        if self.memory_limit.is_some() && self.warm_memory.is_some() {
            let message = "the memory of trials.warm_memory would count against trials.memory_limit; remove \
                           one of the two keys";
            return Err(("warm_memory", message.to_owned()));
        }
        let needs = [
            ("warm_memory", self.warm_memory.is_some(), PlatformPart::WarmMemory),
            ("memory_limit", self.memory_limit.is_some(), PlatformPart::MemoryLimit),
            ("plan", self.plan == Some(Interleaving::Duet), PlatformPart::CoreBinding),
        ];
        for (key, _, part) in needs.into_iter().filter(|(_, is_used, _)| *is_used) {
            part.here().map_err(|missing| (key, missing.to_string()))?;
        }
        // The test for a steady state groups the intervals by seconds, so a second must consist of whole intervals.
        if self.interval_ns() < LEAST_INTERVAL_NS || !DEFAULT_INTERVAL_NS.is_multiple_of(self.interval_ns()) {
            let message = "expected a time of at least 10 ms that divides a second evenly, such as \"1s\", \
                           \"100ms\" or \"20ms\"";
            return Err(("timeline", message.to_owned()));
        }
        if self.instructions == Some(0) {
            return Err((
                "instructions",
                "the number is 0; give the number of operations whose instructions are counted, such as \
                 20_000"
                    .to_owned(),
            ));
        }
        if sampling == 0 {
            return Err((
                "sampling",
                "the interval is 0; use 1 to time every operation, or 100 to time one operation in a hundred"
                    .to_owned(),
            ));
        }
        Ok(())
    }

    /// Returns the order in which the trials of a round run: the value of `plan`, or its default.
    pub fn interleaving(&self) -> Interleaving {
        self.plan.unwrap_or_default()
    }

    /// Returns the seed of a trial: `seed`, plus the number of the trial modulo `seeds`.
    pub fn seed_of(&self, trial: u64) -> u64 {
        self.seed + trial % self.seeds
    }

    /// Returns the length of an interval of the timeline, in nanoseconds.
    pub fn interval_ns(&self) -> u64 {
        self.timeline.map_or(DEFAULT_INTERVAL_NS, |time| time.0)
    }

    /// Returns whether each baseline runs twice in every round, as the key `noise` requests, to measure noise. The
    /// result is `false` in these cases:
    /// * in counted mode, because counters have no noise
    /// * in a duet, because no core is free for a second trial of the baseline
    /// * with too few rounds to estimate the noise
    pub fn measures_noise(&self) -> bool {
        let is_enough = self.mode == RunMode::Timed && self.count >= FEWEST_BLOCKS as u64;
        self.noise && is_enough && self.plan != Some(Interleaving::Duet)
    }

    /// Returns the interval between operations whose answers are checked. In counted mode, the interval is 1, so all
    /// answers are checked.
    pub fn check_stride(&self) -> u64 {
        match self.mode {
            RunMode::Timed => self.check,
            RunMode::Counted => 1,
        }
    }
}
