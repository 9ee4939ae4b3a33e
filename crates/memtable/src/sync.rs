//! Atomics and sizes. The interleaving models (`crates/interleave`) replace this module with their own.

pub(crate) use std::hint::spin_loop;
pub(crate) use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering, fence};
pub(crate) use std::thread::yield_now;

/// Returns `real`. In the interleaving models, this function returns the smaller `_model`, because these models try
/// all interleavings of threads.
pub(crate) const fn sized(real: usize, _model: usize) -> usize {
    real
}
