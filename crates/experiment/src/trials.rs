//! The number of trials, their seed, and the recorded data.

use catalog::{ByteSize, Time};
use measure::FEWEST_BLOCKS;
use results::RunMode;
use serde::{Deserialize, Serialize};

/// `[trials]`: the number of trials, their seed, and the recorded data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Trials {
    /// How often every cell runs, at most; trials of different cells are interleaved.
    pub count: u64,
    /// The seed of all operation streams: every cell and every trial does the same operations.
    pub seed: u64,
    /// Whether time is measured.
    pub mode: RunMode,
    /// Every how many operations one is timed.
    pub sampling: u64,
    /// Every how many operations the answer is kept, to be checked after the phase; 0 checks none.
    pub check: u64,
    /// Whether baselines run twice in every round of a timed experiment, to measure the noise.
    pub noise: bool,
    /// Blocks end early when every interval of a verdict reaches no further than this relative difference to
    /// either side: 0.01 for 1 %.
    pub precision: Option<f64>,
    /// The phase up to which the workload is a fixture: built once, and cloned for every trial.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fixture: Option<String>,
    /// The most memory that the process of a trial may use, page cache included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_limit: Option<ByteSize>,
    /// How much free memory is written and given up before every phase, so that new pages are at hand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warm_memory: Option<ByteSize>,
    /// The length of an interval of `timeline.csv`; a second where nothing is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeline: Option<Time>,
}

impl Default for Trials {
    fn default() -> Self {
        Self {
            count: 3,
            seed: 42,
            mode: RunMode::Timed,
            sampling: 1,
            check: 16,
            noise: true,
            precision: None,
            fixture: None,
            memory_limit: None,
            warm_memory: None,
            timeline: None,
        }
    }
}

/// The most trials of a configuration.
const MOST_TRIALS: u64 = 1000;

/// The largest whole number in TOML: the resolved experiment names the seed.
const LARGEST_SEED: u64 = i64::MAX as u64;

/// The length of an interval of the timeline where nothing is said, in nanoseconds.
pub const DEFAULT_INTERVAL_NS: u64 = 1_000_000_000;

/// The shortest interval of the timeline, in nanoseconds: once in each the store is looked at, and every thread hands over
/// its histograms.
const LEAST_INTERVAL_NS: u64 = 10_000_000;

/// The least limit on memory: below it no process of a trial comes to its first operation.
const LEAST_MEMORY: u64 = 16 << 20;

impl Trials {
    /// The keys of the table.
    pub(super) const KEYS: [&str; 11] = [
        "count",
        "seed",
        "mode",
        "sampling",
        "check",
        "noise",
        "precision",
        "fixture",
        "memory_limit",
        "warm_memory",
        "timeline",
    ];

    /// Rejects impossible values: the key at fault and a sentence.
    pub(super) fn check(&self) -> Result<(), (&'static str, String)> {
        let Self { count, seed, sampling, precision, .. } = *self;
        if count == 0 {
            return Err(("count", "0 is too small; every configuration runs at least once".to_owned()));
        }
        if count > MOST_TRIALS {
            return Err(("count", format!("{count} exceeds the maximum of {MOST_TRIALS}")));
        }
        if seed > LARGEST_SEED {
            return Err(("seed", format!("{seed} exceeds the largest whole number in TOML, {LARGEST_SEED}")));
        }
        if precision.is_some_and(|precision| !(precision > 0.0 && precision < 1.0)) {
            let message = "expected the relative half-width of an interval, more than 0 and less than 1";
            return Err(("precision", message.to_owned()));
        }
        if self.memory_limit.is_some_and(|limit| limit.0 < LEAST_MEMORY) {
            let message = "a trial process needs memory to start; the minimum is 16MiB";
            return Err(("memory_limit", message.to_owned()));
        }
        if self.memory_limit.is_some() && self.warm_memory.is_some() {
            let message = "the touched memory would count against trials.memory_limit; remove one of the two";
            return Err(("warm_memory", message.to_owned()));
        }
        if self.warm_memory.is_some() && !cfg!(target_os = "linux") {
            let message = "this option needs Linux; remove it";
            return Err(("warm_memory", message.to_owned()));
        }
        // Rounds of whole seconds are computed from the intervals too.
        if self.interval_ns() < LEAST_INTERVAL_NS || !DEFAULT_INTERVAL_NS.is_multiple_of(self.interval_ns()) {
            let message =
                "expected a second or an even part of it, at least 10 ms, as \"1s\", \"100ms\" or \"20ms\"";
            return Err(("timeline", message.to_owned()));
        }
        if sampling == 0 {
            return Err((
                "sampling",
                "0 is too small; use 1 to time every operation, or 100 to time one in a hundred".to_owned(),
            ));
        }
        Ok(())
    }

    /// The length of an interval of the timeline, in nanoseconds.
    pub fn interval_ns(&self) -> u64 {
        self.timeline.map_or(DEFAULT_INTERVAL_NS, |time| time.0)
    }

    /// Whether baselines run twice in every round. Counters have no noise, and few rounds do not show it.
    pub fn measures_noise(&self) -> bool {
        self.noise && self.mode == RunMode::Timed && self.count >= FEWEST_BLOCKS as u64
    }

    /// Every how many operations the answer is kept: where no time is measured, all are.
    pub fn check_stride(&self) -> u64 {
        match self.mode {
            RunMode::Timed => self.check,
            RunMode::Counted => 1,
        }
    }
}
