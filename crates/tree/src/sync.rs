//! The atomics and sizes that the concurrent code of this crate uses. The tests in `crates/interleave` compile this
//! code with other definitions: instrumented atomics and smaller sizes.

pub(crate) use std::sync::atomic::{AtomicU64, Ordering};

/// Returns the size of a data structure: `real` in this crate. When `crates/interleave` tests all interleavings of
/// threads, its replacement for this function returns the smaller size `model`.
pub(crate) const fn sized(real: usize, _model: usize) -> usize {
    real
}
