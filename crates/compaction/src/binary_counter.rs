//! Binary-counter compaction. Two runs of one level become one run of the next level, like a carry in binary
//! addition.
//!
//! Sources: the report of csc443, section 4.3.1, and the logarithmic method of Bentley and Saxe, "Decomposable
//! Searching Problems I" (1980). The policy equals [`tiered`](crate::tiered) with size ratio T = 2. After N flushes,
//! the tree has one run for every bit of N that is 1. Write amplification is 1 + Σ ⌊N / 2^i⌋·2^i / N for i ≥ 1. The
//! reason is that an entry is written once per level, and the tree has ⌊log₂ N⌋ levels. The policy of the report
//! drops tombstones only if a compaction makes a new deepest level. Here, as with every policy, a compaction drops
//! each tombstone that no older data overlaps.

use catalog::Variant;

use crate::policy::CompactionPolicy;
use crate::tiered::Tiered;

pub(crate) const VARIANT: Variant<dyn CompactionPolicy> = Variant::plain(
    "binary-counter",
    "two runs of a level become one run of the next level, like the carry in binary addition",
    || Box::new(Tiered { runs_per_level: 2 }),
);
