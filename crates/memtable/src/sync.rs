//! The atomics and size constants of the lock-free memtables. The interleaving models (`crates/interleave`) replace
//! this module with one that uses the atomics of loom and smaller sizes.

pub(crate) use std::hint::spin_loop;
pub(crate) use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering, fence};
pub(crate) use std::thread::yield_now;

/// Returns the size `real`. In the interleaving models, this function returns the smaller size `_model` instead,
/// because these models try all interleavings of threads.
pub(crate) const fn sized(real: usize, _model: usize) -> usize {
    real
}
