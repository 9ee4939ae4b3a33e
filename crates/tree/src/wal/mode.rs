//! The trait of WAL modes, and the decisions that a WAL mode makes.

use std::time::Duration;

/// A mode of the write-ahead log (WAL). The mode decides when a write is acknowledged.
///
/// Contract: every call returns equal decisions. A tree calls this trait only once, when the tree is opened. Writes
/// therefore make no call through the trait.
pub trait WalPolicy: Send + Sync {
    /// Returns the decisions of the mode.
    fn mode(&self) -> WalMode;
}

/// The decisions of a WAL mode. A tree reads the decisions once, when the tree is opened.
///
/// Invariant: a mode without a WAL syncs neither commits nor rotations, and has no period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WalMode {
    /// Whether the tree has a WAL. Without a WAL, a crash of the process loses the writes that are not flushed.
    pub has_log: bool,
    /// The commits that are synced before the tree acknowledges them.
    pub commit_sync: CommitSync,
    /// Whether the tree syncs the old and the new WAL file at a rotation. If so, the new file and its directory entry
    /// are durable before the first record of the new file. The old file is then also completely durable.
    pub syncs_at_rotation: bool,
    /// The time between two background syncs in timed mode. `None` if the mode has no background syncs.
    pub period: Option<Duration>,
}

/// The commits that are synced before the tree acknowledges them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommitSync {
    /// No commit is synced. With a WAL, an acknowledged write survives a crash of the process, but not a power loss.
    Never,
    /// Every commit is synced separately.
    Each,
    /// Every commit is synced. Several commits that wait at the same time share one sync (group commit).
    Shared {
        /// The longest time for which the leader of a group waits for the commits that shared the previous sync.
        most_wait: Duration,
    },
}

impl WalMode {
    /// The decisions of mode "none": the tree has no WAL.
    pub const NONE: Self =
        Self { has_log: false, commit_sync: CommitSync::Never, syncs_at_rotation: false, period: None };

    /// The decisions of mode `buffered`: an acknowledged write is in the page cache of the operating system.
    pub const BUFFERED: Self = Self { has_log: true, ..Self::NONE };

    /// The decisions of mode `sync`: an acknowledged write is on the device, after a sync for this write only.
    pub const SYNC: Self = Self { commit_sync: CommitSync::Each, syncs_at_rotation: true, ..Self::BUFFERED };

    /// The decisions of mode `group`: an acknowledged write is on the device, after a sync that several commits
    /// share.
    pub const GROUP: Self = Self {
        commit_sync: CommitSync::Shared { most_wait: Duration::from_micros(200) },
        syncs_at_rotation: true,
        ..Self::BUFFERED
    };

    /// The decisions of mode `interval`: like `buffered`, with a background sync after each `period`.
    pub const fn interval(period: Duration) -> Self {
        Self { syncs_at_rotation: true, period: Some(period), ..Self::BUFFERED }
    }

    /// Returns whether an acknowledged write survives a power loss.
    pub fn survives_power_loss(self) -> bool {
        self.commit_sync != CommitSync::Never
    }

    /// Returns whether the tree syncs records of a WAL before a rotation replaces this WAL.
    pub(crate) fn syncs_records(self) -> bool {
        self.survives_power_loss() || self.period.is_some()
    }

    /// Returns whether several commits share a sync.
    #[inline]
    pub(crate) fn shares_syncs(self) -> bool {
        matches!(self.commit_sync, CommitSync::Shared { .. })
    }

    /// Checks the invariant of the decisions.
    ///
    /// # Errors
    /// If a mode without a WAL syncs or has a period, or if the period is 0.
    pub fn check(self) -> Result<(), String> {
        if !self.has_log && self != Self::NONE {
            return Err(
                "a WAL mode with has_log = false must not sync commits or rotations, and must have no period"
                    .to_owned(),
            );
        }
        match self.period {
            Some(Duration::ZERO) => {
                Err("the period between two syncs of a WAL mode is 0; it must be above 0".to_owned())
            }
            _ => Ok(()),
        }
    }
}
