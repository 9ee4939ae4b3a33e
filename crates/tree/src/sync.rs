//! The atomics and sizes that the concurrent code of this crate uses. The tests in `crates/interleave` compile this
//! code with other definitions: instrumented atomics and smaller sizes.

pub(crate) use std::sync::atomic::{AtomicU64, Ordering};

/// Returns the size `real`. The replacement in `crates/interleave` returns the smaller size `model` instead.
pub(crate) const fn sized(real: usize, _model: usize) -> usize {
    real
}
