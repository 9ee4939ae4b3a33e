//! How often cells run, from which seed, and how the outcome is judged.

use serde::{Deserialize, Serialize};
use tree::Mode;

/// Whether time is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum RunMode {
    /// Real threads and real time.
    #[default]
    Timed,
    /// One thread, no time: every counter is the same on every machine and every run.
    Counted,
}

impl RunMode {
    /// The name in TOML and results.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Timed => "timed",
            Self::Counted => "counted",
        }
    }

    /// How a tree runs in this mode.
    pub(crate) fn of_tree(self) -> Mode {
        match self {
            Self::Timed => Mode::Timed,
            Self::Counted => Mode::Counted,
        }
    }
}

/// `[trials]`: how often every cell runs and what is recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Trials {
    /// How often every cell runs; trials of different cells are interleaved.
    pub(crate) count: u64,
    /// The seed of all operation streams: every cell and every trial does the same operations.
    pub(crate) seed: u64,
    /// Whether time is measured.
    pub(crate) mode: RunMode,
    /// Every how many operations one is timed.
    pub(crate) sampling: u64,
    /// Every how many operations the answer is kept, to be checked after the phase; 0 checks none.
    pub(crate) check: u64,
}

impl Default for Trials {
    fn default() -> Self {
        Self { count: 3, seed: 42, mode: RunMode::Timed, sampling: 1, check: 16 }
    }
}

impl Trials {
    /// Refuses what cannot be: the key at fault and a sentence.
    pub(crate) fn check(&self) -> Result<(), (&'static str, &'static str)> {
        if self.count == 0 {
            return Err(("count", "count is 0; every cell runs at least once"));
        }
        if self.count > 1000 {
            return Err(("count", "count is above 1000; that many trials were hardly meant"));
        }
        if self.sampling == 0 {
            return Err(("sampling", "sampling is 0; 1 times every operation, 100 one in a hundred"));
        }
        Ok(())
    }
}

/// `[verdict]`: which number decides, and against what.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct VerdictSpec {
    /// The column; by default that of the first chart if one side of it is better, else the throughput.
    pub(crate) metric: Option<String>,
    /// The phase; the last one by default.
    pub(crate) phase: Option<String>,
    /// The kind of operation; all by default.
    pub(crate) operation: Option<String>,
    /// The label of the cell that the others are compared with; the first one by default.
    pub(crate) baseline: Option<String>,
}
