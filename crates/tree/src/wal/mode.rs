//! The modes of the write-ahead log: when a write is acknowledged.

use catalog::{Build, Catalog, Limit, Time, Variant};
use serde::{Deserialize, Serialize};

/// When a write is acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WalMode {
    /// When it is in the memtable: a crash of the process loses what was not flushed.
    None,
    /// When the operating system has it: it survives a crash of the process, not of the machine.
    Buffered,
    /// When the device has it; every commit is synced by itself.
    Sync,
    /// When the device has it; commits that wait at the same time share one sync, which waits for a moment for those who
    /// shared the one before.
    Group,
    /// When the operating system has it; the device gets it at this period, in nanoseconds.
    Interval(u64),
}

impl WalMode {
    /// Whether a log is on the device, with its name, before the first write goes to it, and whole before the
    /// first write goes to the next.
    pub(crate) fn syncs_at_rotation(self) -> bool {
        matches!(self, Self::Sync | Self::Group | Self::Interval(_))
    }

    /// Whether an acknowledged write survives power loss.
    pub fn survives_power_loss(self) -> bool {
        matches!(self, Self::Sync | Self::Group)
    }
}

/// All modes. The first is the baseline.
pub static CATALOG: Catalog<WalMode> = Catalog::new(
    catalog::origin!(),
    "wal",
    "when a write is acknowledged, and so what it survives",
    &[
        Variant::new::<NoWal>("none", "no log: a crash of the process loses what was not flushed", ""),
        Variant::new::<Buffered>(
            "buffered",
            "logged to the operating system: survives a crash of the process",
            "",
        ),
        Variant::new::<Sync>("sync", "every commit is synced by itself: survives power loss", ""),
        Variant::new::<Group>(
            "group",
            "commits that wait together, or soon will, share one sync: survives power loss",
            "",
        ),
        Variant::new::<Interval>(
            "interval",
            "logged to the operating system and synced at a period: power loss costs at most that",
            "# Time between two syncs.\nperiod = \"100ms\"\n",
        )
        .limited(&[Limit::NotDeterministic]),
    ],
);

/// There is nothing to set.
#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct NoParams {}

/// Declares a mode without parameters.
macro_rules! plain_mode {
    ($name:ident, $mode:expr) => {
        #[doc = concat!("Builds `", stringify!($mode), "`.")]
        struct $name;

        impl Build<WalMode> for $name {
            type Params = NoParams;

            fn build(_: NoParams) -> Result<Box<WalMode>, String> {
                Ok(Box::new($mode))
            }
        }
    };
}

plain_mode!(NoWal, WalMode::None);
plain_mode!(Buffered, WalMode::Buffered);
plain_mode!(Sync, WalMode::Sync);
plain_mode!(Group, WalMode::Group);

/// Builds `WalMode::Interval`.
struct Interval;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct IntervalParams {
    period: Time,
}

impl Default for IntervalParams {
    fn default() -> Self {
        Self { period: Time(100_000_000) }
    }
}

impl Build<WalMode> for Interval {
    type Params = IntervalParams;

    fn build(params: IntervalParams) -> Result<Box<WalMode>, String> {
        if params.period.0 == 0 {
            return Err("period is 0; say wal = \"sync\" to sync every commit".to_owned());
        }
        Ok(Box::new(WalMode::Interval(params.period.0)))
    }
}
