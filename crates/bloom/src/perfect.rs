//! The ideal bound: the exact set of the key hashes, whose memory counts as 0.
//!
//! No other filter can save more lookups. The reported memory is 0, because the bound represents a filter without cost.
//! The set takes eight bytes per key in the SSTable, and these bytes do count as storage.

use std::collections::HashSet;
use std::hash::BuildHasherDefault;

use catalog::Variant;
use types::{AlreadyHashed, Bytes, KeyHash};

use crate::corrupt::CorruptFilter;
use crate::filter::{Filter, FilterInput, FilterPolicy};
use crate::stored::Head;

pub(crate) const VARIANT: Variant<dyn FilterPolicy> = Variant::<dyn FilterPolicy>::plain(
    "perfect",
    "a filter without false positives, whose memory counts as 0; shows the best result that a filter can \
     reach",
    || Box::new(Perfect),
)
.oracle();

const TAG: [u8; 4] = *b"perf";

/// Builds exact sets of key hashes, without false positives.
struct Perfect;

impl FilterPolicy for Perfect {
    fn build(&self, input: &FilterInput<'_>) -> Vec<u8> {
        Head::new(TAG, 0, input.hashes).encode(input.hashes.iter().map(|hash| hash.0))
    }

    fn open(&self, stored: Bytes) -> Result<Box<dyn Filter>, CorruptFilter> {
        let (_, hashes) = Head::decode(&stored, TAG)?;
        Ok(Box::new(PerfectFilter { hashes: hashes.collect() }))
    }
}

/// The exact set of the key hashes of an SSTable, in memory.
struct PerfectFilter {
    hashes: HashSet<u64, BuildHasherDefault<AlreadyHashed>>,
}

impl Filter for PerfectFilter {
    fn may_contain(&self, hash: KeyHash) -> bool {
        self.hashes.contains(&hash.0)
    }

    /// Returns the false-positive rate: the probability that an absent key has the same hash as a stored key.
    fn expected_fpr(&self) -> f64 {
        self.hashes.len() as f64 / 2f64.powi(64)
    }

    fn memory_bytes(&self) -> usize {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_knows_exactly_its_hashes() {
        let hashes: Vec<KeyHash> = (0..1000).map(|i| KeyHash(i * 3)).collect();
        let stored = Perfect.build(&FilterInput { hashes: &hashes, bits_per_key: Some(1.0), keys: None });
        let filter = Perfect.open(Bytes::copy_from(&stored)).unwrap();
        assert!((0..3000).all(|i| filter.may_contain(KeyHash(i)) == i.is_multiple_of(3)));
        assert!(filter.expected_fpr() < 1e-16);
    }
}
