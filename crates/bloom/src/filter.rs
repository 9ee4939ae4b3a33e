//! The seam of the filter axis: how a filter is built from key hashes, and what it answers.

use thiserror::Error;
use types::{Bytes, KeyHash};

use crate::batch::in_groups;

/// How filters are built for new tables and opened for stored ones.
pub trait FilterPolicy: Send + Sync {
    /// Builds the filter of one table and returns the bytes to store. They hold all that
    /// [`open`](Self::open) needs, and are the same for the same input on every machine.
    fn build(&self, input: &FilterInput<'_>) -> Vec<u8>;

    /// Opens stored bytes. Every length in them is checked before use.
    ///
    /// # Errors
    /// If the bytes were not written by this policy or are damaged.
    fn open(&self, stored: Bytes) -> Result<Box<dyn Filter>, DamagedFilter>;

    /// The bits per key that its own parameter spends on a large table, which an allocation over levels may
    /// share out otherwise; none where the variant pays no heed to an allocation.
    fn bits_per_key(&self) -> Option<f64> {
        None
    }
}

/// What a table knows when its filter is built.
#[derive(Clone, Copy, Debug)]
pub struct FilterInput<'a> {
    /// The hash of every key, in key order; collisions may make two of them equal.
    pub hashes: &'a [KeyHash],
    /// The bits this table may spend per key where an allocation over levels decides it; the variant's own
    /// parameter otherwise. A variant whose width is fixed ignores it.
    pub bits_per_key: Option<f64>,
}

/// One table's filter.
///
/// Laws:
/// 1. A key whose hash was added is never reported absent.
/// 2. Answers depend on the stored bytes and the hash alone.
/// 3. The share of absent keys reported present is [`expected_fpr`](Self::expected_fpr), within sampling
///    error and a small factor that the variant's documentation justifies.
pub trait Filter: Send + Sync {
    /// Whether the key may be in the table; `false` is certain.
    fn may_contain(&self, hash: KeyHash) -> bool;

    /// Asks for the memory that a probe of this hash reads first, without waiting for it. It changes nothing
    /// but time; where no probe can miss the caches there is nothing to ask for.
    fn prefetch(&self, _hash: KeyHash) {}

    /// Answers many probes; `answers[i]` is what [`may_contain`](Self::may_contain) says of `hashes[i]`.
    /// Probes are asked for in groups before they are made, so that their cache misses overlap.
    ///
    /// # Panics
    /// If the slices differ in length.
    fn may_contain_batch(&self, hashes: &[KeyHash], answers: &mut [bool]) {
        in_groups(hashes, answers, |hash| self.prefetch(hash), |hash| self.may_contain(hash));
    }

    /// The false-positive rate that theory gives for this filter as it was built.
    fn expected_fpr(&self) -> f64;

    /// The bytes of memory it holds; an oracle reports 0, since it stands for a filter that costs nothing.
    fn memory_bytes(&self) -> usize;
}

/// Stored filter bytes that cannot be right.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("damaged filter: {0}")]
pub struct DamagedFilter(pub String);
