//! The binary counter: two runs of one level become one of the next, as a carry does.
//!
//! Source: the report of csc443, section 4.3.1; the logarithmic method of Bentley and Saxe, "Decomposable
//! Searching Problems I" (1980). It is [`tiered`](crate::tiered) with T = 2: after N flushes there is a run
//! for every bit of N that is 1, and write amplification is 1 + Σ ⌊N / 2^i⌋·2^i / N, i ≥ 1: one write per
//! level and ⌊log₂ N⌋ levels. The report drops tombstones only where a merge makes a new deepest level; here
//! they go, as with every policy, as soon as nothing older overlaps them.

use catalog::Variant;

use crate::policy::CompactionPolicy;
use crate::tiered::Tiered;

pub(crate) const VARIANT: Variant<dyn CompactionPolicy> = Variant::plain(
    "binary-counter",
    "two runs of a level become one of the next: a run per binary digit of the number of flushes",
    || Box::new(Tiered { runs_per_level: 2 }),
);
