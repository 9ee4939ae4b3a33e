//! Atomics, thread cells and barriers. The model of this crate (`crates/interleave`) has its own versions under the
//! same names.

pub(crate) use std::sync::atomic::{AtomicU64, Ordering, fence};

pub(crate) use thread_local::ThreadLocal as PerThread;

/// Returns the size `real`. A model, which tries all interleavings, uses a smaller size.
pub(crate) const fn sized(real: usize, _model: usize) -> usize {
    real
}

/// Registers for barriers in all threads of the process, and returns whether the kernel has them.
#[cfg(target_os = "linux")]
pub(crate) fn register_process_barrier() -> bool {
    use rustix::thread::{MembarrierCommand, membarrier};
    membarrier(MembarrierCommand::RegisterPrivateExpedited).is_ok()
}

/// Runs a barrier in all threads of the process. The barrier must be registered.
#[cfg(target_os = "linux")]
pub(crate) fn process_barrier() {
    use rustix::thread::{MembarrierCommand, membarrier};
    membarrier(MembarrierCommand::PrivateExpedited).expect("a registered barrier does not fail");
}

/// Returns false, because this kernel has no barriers in all threads of the process.
#[cfg(not(target_os = "linux"))]
pub(crate) fn register_process_barrier() -> bool {
    false
}

/// Runs a barrier in this thread.
#[cfg(not(target_os = "linux"))]
pub(crate) fn process_barrier() {
    fence(Ordering::SeqCst);
}
