//! Binary-counter compaction: two runs of one level become one run of the next level, like a carry in binary addition.
//!
//! Sources: the report of csc443, section 4.3.1, and the logarithmic method of Bentley and Saxe, "Decomposable
//! Searching Problems I" (1980). The policy is [`tiered`](crate::tiered) with T = 2: after N flushes the tree has one
//! run for every bit of N that is 1. Write amplification is 1 + Σ ⌊N / 2^i⌋·2^i / N, i ≥ 1: one write per level and
//! ⌊log₂ N⌋ levels. The report drops tombstones only if a compaction makes a new deepest level. Here, as with every
//! policy, tombstones are dropped as soon as no older data overlaps them.

use catalog::Variant;

use crate::policy::CompactionPolicy;
use crate::tiered::Tiered;

pub(crate) const VARIANT: Variant<dyn CompactionPolicy> = Variant::plain(
    "binary-counter",
    "two runs of a level become one run of the next level, like the carry in binary addition",
    || Box::new(Tiered { runs_per_level: 2 }),
);
