//! Binary-counter compaction. The policy merges two runs of a level into one run of the next level, like a carry in
//! binary addition.
//!
//! Sources: the document of the published system csc443, section 4.3.1, and the logarithmic method of Bentley and Saxe,
//! "Decomposable Searching Problems I" (1980). The policy equals [`tiered`](crate::tiered) with size ratio T = 2. After
//! N flushes, the tree has one run for each 1 bit of the binary number N. Each entry is written once per level, and the
//! tree has ⌊log₂ N⌋ levels below level 0. Write amplification is therefore 1 + Σ ⌊N / 2^i⌋·2^i / N for i ≥ 1. In the
//! document, a compaction drops tombstones only if its output is a new deepest level. In lsmbench, a compaction drops a
//! tombstone if no older data overlaps the key of the tombstone.

use catalog::Variant;

use crate::policy::CompactionPolicy;
use crate::tiered::Tiered;

pub(crate) const VARIANT: Variant<dyn CompactionPolicy> = Variant::plain(
    "binary-counter",
    "two runs of a level become one run of the next level, like the carry in binary addition",
    || Box::new(Tiered { runs_per_level: 2 }),
);
