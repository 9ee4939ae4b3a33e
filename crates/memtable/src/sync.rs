//! Atomics and sizes that the interleaving models (`crates/interleave`) replace.

pub(crate) use std::hint::spin_loop;
pub(crate) use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering, fence};
pub(crate) use std::thread::yield_now;

/// Returns `real`. The interleaving models return the smaller `_model`, because they try all interleavings.
pub(crate) const fn sized(real: usize, _model: usize) -> usize {
    real
}
