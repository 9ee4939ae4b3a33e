//! The counters that depend on random draws: on the requested keys, and on the hashes of keys. These counters are exact
//! for a seed, and another seed gives other values. Bytes, flushes and compactions do not depend on random draws.

use crate::{Metric, columns as c};

/// The columns that depend on draws.
static DRAWN: [Metric; 16] = [
    c::FPR,
    c::FILTER_NEGATIVES,
    c::FILTER_FALSE_POSITIVES,
    c::RANGE_FPR,
    c::RANGE_FILTER_NEGATIVES,
    c::BLOCKS_READ,
    c::BLOCKS_READ_INDEX,
    c::BLOCKS_FROM_CACHE,
    c::BLOCKS_PER_GET,
    c::READ_AMP,
    c::CACHE_HIT_RATE,
    c::BLOCK_INDEX_ANSWERS,
    c::BLOCK_INDEX_HIT_RATE,
    c::SHARD_ENTRIES_MAX,
    c::SHARD_CV,
    c::SHARD_CHI_SQUARE,
];

impl Metric {
    /// Whether an exact column depends on random draws, so each seed gives another value.
    pub fn is_drawn(&self) -> bool {
        DRAWN.contains(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drawn_columns_are_exact_for_their_seed_and_bytes_are_not_drawn() {
        assert!(DRAWN.iter().all(|metric| metric.exact));
        for metric in [c::FLUSHES, c::FLUSH_BYTES, c::COMPACTION_BYTES_WRITTEN, c::WRITE_AMP, c::FILTER_BYTES]
        {
            assert!(!metric.is_drawn(), "{}", metric.name);
        }
    }
}
