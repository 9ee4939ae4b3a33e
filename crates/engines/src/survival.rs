//! Defines which writes survive when a process is killed.

use std::fmt;

use crate::options::Log;

/// Which writes survive if `kill -9` ends the process of a store.
///
/// The surviving writes are always a prefix of all writes, in the order of their acknowledgements. So if a write
/// survives, all older writes survive, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Survival {
    /// Every acknowledged write survives.
    Acknowledged,
    /// Every write before the last completed flush survives. Later writes may be lost.
    Flushed,
}

impl Survival {
    /// Returns which writes survive `kill -9` for an engine that passes each WAL record to the kernel, and that can run
    /// without a WAL. `log` is the WAL mode.
    pub(crate) fn of_log(log: Log) -> Self {
        match log {
            Log::None => Self::Flushed,
            Log::Buffered | Log::Sync | Log::Interval { .. } => Self::Acknowledged,
        }
    }

    /// Returns which writes survive `kill -9` for an engine that keeps all writes in the process until it syncs them.
    /// `log` is the WAL mode.
    pub(crate) fn of_sync(log: Log) -> Self {
        match log {
            Log::Sync => Self::Acknowledged,
            Log::None | Log::Buffered | Log::Interval { .. } => Self::Flushed,
        }
    }
}

impl fmt::Display for Survival {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Acknowledged => "acknowledged",
            Self::Flushed => "flushed",
        })
    }
}
