//! The arbiter `static`, which never changes sizes: the memtables and filters keep the sizes of the design, and the
//! cache gets the rest of `memory`.

use catalog::Variant;

use super::memory_arbiter::{DecisionPeriod, MemoryArbiter, MemoryObservation, MemorySizes};

pub(super) const VARIANT: Variant<dyn MemoryArbiter> = Variant::plain(
    "static",
    "memtables and filters keep the sizes of the design, and the cache gets the rest of `memory`",
    || Box::new(StaticSizes),
);

/// The memory arbiter `static`, which has no parameters.
struct StaticSizes;

impl MemoryArbiter for StaticSizes {
    fn period(&self) -> Option<DecisionPeriod> {
        None
    }

    fn decide(&self, _: &MemoryObservation<'_>, now: MemorySizes) -> MemorySizes {
        now
    }
}
