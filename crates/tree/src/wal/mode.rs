//! The trait of WAL modes, and the decisions that a WAL mode makes.

use std::time::Duration;

/// A WAL mode, which decides when a write is acknowledged and which crashes it survives.
///
/// Contract: every call returns equal decisions. A tree calls this trait only once, when the tree is opened. Writes
/// therefore make no call through the trait.
pub trait WalPolicy: Send + Sync {
    /// Returns whether a tree with this WAL mode has a WAL, and when the tree syncs it.
    fn mode(&self) -> WalMode;
}

/// The behavior of a WAL mode: whether the tree has a WAL, and when it syncs the WAL. A tree reads these values once,
/// when the tree is opened.
///
/// Invariant: a mode without a WAL syncs neither commits nor rotations, and has no period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WalMode {
    /// Whether the tree has a WAL. Without a WAL, a crash of the process loses the writes that are not flushed.
    pub has_log: bool,
    /// Whether the tree syncs a commit before it acknowledges the commit, and whether commits share syncs.
    pub commit_sync: CommitSync,
    /// Whether the tree syncs the old and the new WAL file when it begins a new WAL file (a rotation). If so, the old
    /// file is completely durable, and the new file and its directory entry are durable, before the new file gets its
    /// first record.
    pub syncs_at_rotation: bool,
    /// The time between two syncs in the background. `None` if the mode has no background syncs.
    pub period: Option<Duration>,
}

/// The syncs of commits: whether a tree syncs a commit before it acknowledges the commit, and whether commits share
/// syncs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommitSync {
    /// No commit is synced. With a WAL, an acknowledged write survives a crash of the process, but not a power loss.
    Never,
    /// Every commit is synced separately.
    Each,
    /// Every commit is synced. Several commits that wait at the same time share one sync (group commit).
    Shared {
        /// The longest time for which a group-commit leader waits for further commits that can share its sync.
        most_wait: Duration,
    },
}

impl WalMode {
    /// The WAL mode "none": the tree has no WAL.
    pub const NONE: Self =
        Self { has_log: false, commit_sync: CommitSync::Never, syncs_at_rotation: false, period: None };

    /// The WAL mode `buffered`: an acknowledged write is in the page cache of the operating system.
    pub const BUFFERED: Self = Self { has_log: true, ..Self::NONE };

    /// The WAL mode `sync`: an acknowledged write is on the device, after a sync for this write only.
    pub const SYNC: Self = Self { commit_sync: CommitSync::Each, syncs_at_rotation: true, ..Self::BUFFERED };

    /// The WAL mode `group`: an acknowledged write is on the device, after a sync that several commits share.
    pub const GROUP: Self = Self {
        commit_sync: CommitSync::Shared { most_wait: Duration::from_micros(200) },
        syncs_at_rotation: true,
        ..Self::BUFFERED
    };

    /// The WAL mode `interval`: like `buffered`, with a background sync after each `period`.
    pub const fn interval(period: Duration) -> Self {
        Self { syncs_at_rotation: true, period: Some(period), ..Self::BUFFERED }
    }

    /// Returns whether an acknowledged write survives a power loss.
    pub fn survives_power_loss(self) -> bool {
        self.commit_sync != CommitSync::Never
    }

    /// Returns whether the tree syncs the records of a WAL file before a new WAL file replaces it.
    pub(crate) fn syncs_records(self) -> bool {
        self.survives_power_loss() || self.period.is_some()
    }

    /// Returns whether several commits share a sync, as in the WAL mode `group`.
    #[inline]
    pub(crate) fn shares_syncs(self) -> bool {
        matches!(self.commit_sync, CommitSync::Shared { .. })
    }

    /// Checks that a mode without a WAL syncs nothing, and that the time between two syncs is above 0.
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
