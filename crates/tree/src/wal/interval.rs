//! A WAL with background syncs at a fixed interval. A power loss loses at most the writes since the last sync.

use std::time::Duration;

use catalog::{Build, Limit, Time, Variant};
use serde::{Deserialize, Serialize};

use super::mode::{WalMode, WalPolicy};

pub(super) const VARIANT: Variant<dyn WalPolicy> = Variant::new::<Interval>(
    "interval",
    "a sync at a fixed interval; a power loss costs at most the writes of one interval",
    "# Time between two syncs. A longer time gives fewer syncs, but a power loss costs more writes.\n\
     period = \"100ms\"\n",
)
.limited(&[Limit::NotDeterministic]);

/// The WAL mode `interval`, with the time between two syncs in nanoseconds.
struct Interval(u64);

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    period: Time,
}

impl Default for Params {
    fn default() -> Self {
        Self { period: Time(100_000_000) }
    }
}

impl Build<dyn WalPolicy> for Interval {
    type Params = Params;

    fn build(params: Params) -> Result<Box<dyn WalPolicy>, String> {
        if params.period.0 == 0 {
            return Err(
                "period is 0; it must be above 0, or use wal = \"sync\" to sync every commit".to_owned()
            );
        }
        Ok(Box::new(Self(params.period.0)))
    }
}

impl WalPolicy for Interval {
    fn mode(&self) -> WalMode {
        WalMode::interval(Duration::from_nanos(self.0))
    }
}
