//! The trait of WAL modes, and the decisions of a mode as plain data.

use std::time::Duration;

/// A mode of the write-ahead log (WAL). The mode decides when a write is acknowledged.
///
/// Contract: every call returns equal decisions. A tree asks only once, when it is opened, so that writes make no call
/// through this trait.
pub trait WalPolicy: Send + Sync {
    /// The decisions of the mode.
    fn mode(&self) -> WalMode;
}

/// The decisions of a WAL mode, resolved once when a tree is opened.
///
/// Invariant: a mode without a log neither syncs commits nor rotations and has no period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WalMode {
    /// Whether there is a WAL. Without one, a crash of the process loses the writes that are not flushed.
    pub has_log: bool,
    /// The commits that are synced before they are acknowledged.
    pub commit_sync: CommitSync,
    /// Whether files are synced when a new WAL begins. If so, the new file and its directory entry are durable before
    /// the first record of the new file. The old file is then completely durable, too.
    pub syncs_at_rotation: bool,
    /// The time between two background syncs, in timed mode; `None` if there are none.
    pub period: Option<Duration>,
}

/// The commits that are synced before they are acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommitSync {
    /// No commit is synced. With a log, an acknowledged write survives a crash of the process, but not power loss.
    Never,
    /// Every commit is synced separately.
    Each,
    /// Every commit is synced. Commits that wait at the same time share one sync (group commit).
    Shared {
        /// The longest time that the leader of a group waits for the commits that shared the sync before.
        most_wait: Duration,
    },
}

impl WalMode {
    /// The decisions of `none`: there is no log.
    pub const NONE: Self =
        Self { has_log: false, commit_sync: CommitSync::Never, syncs_at_rotation: false, period: None };

    /// The decisions of `buffered`: when a write is acknowledged, the operating system has it.
    pub const BUFFERED: Self = Self { has_log: true, ..Self::NONE };

    /// The decisions of `sync`: when a write is acknowledged, the device has it, by a sync for each write.
    pub const SYNC: Self = Self { commit_sync: CommitSync::Each, syncs_at_rotation: true, ..Self::BUFFERED };

    /// The decisions of `group`: when a write is acknowledged, the device has it, by a sync that several commits share.
    pub const GROUP: Self = Self {
        commit_sync: CommitSync::Shared { most_wait: Duration::from_micros(200) },
        syncs_at_rotation: true,
        ..Self::BUFFERED
    };

    /// The decisions of `interval`: as `buffered`, with a sync in the background after each `period`.
    pub const fn interval(period: Duration) -> Self {
        Self { syncs_at_rotation: true, period: Some(period), ..Self::BUFFERED }
    }

    /// Whether an acknowledged write survives power loss.
    pub fn survives_power_loss(self) -> bool {
        self.commit_sync != CommitSync::Never
    }

    /// Whether commits share syncs.
    #[inline]
    pub(crate) fn shares_syncs(self) -> bool {
        matches!(self.commit_sync, CommitSync::Shared { .. })
    }

    /// Checks the invariant.
    ///
    /// # Errors
    /// Names the decision that needs a log or a longer period.
    pub fn check(self) -> Result<(), String> {
        if !self.has_log && self != Self::NONE {
            return Err("a WAL mode without a log cannot sync anything".to_owned());
        }
        match self.period {
            Some(Duration::ZERO) => Err("the period between two syncs of a WAL mode is 0".to_owned()),
            _ => Ok(()),
        }
    }
}
