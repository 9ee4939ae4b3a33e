//! The atomics, the cells with one value per thread, and the memory barriers of this crate. The interleaving model of
//! this crate (in `crates/interleave`) replaces this module with its own module, which has the same names.

pub(crate) use std::sync::atomic::{AtomicU64, Ordering, fence};

pub(crate) use thread_local::ThreadLocal as PerThread;

/// Returns the size `real`. The interleaving model of this crate replaces this function by one that returns a smaller
/// size, because the model tries all interleavings of threads.
pub(crate) const fn sized(real: usize, _model: usize) -> usize {
    real
}

/// Registers the process for memory barriers in all its threads. Returns whether the kernel supports such barriers.
#[cfg(target_os = "linux")]
pub(crate) fn register_process_barrier() -> bool {
    use rustix::thread::{MembarrierCommand, membarrier};
    membarrier(MembarrierCommand::RegisterPrivateExpedited).is_ok()
}

/// Executes a memory barrier in all threads of the process. The process must be registered.
#[cfg(target_os = "linux")]
pub(crate) fn process_barrier() {
    use rustix::thread::{MembarrierCommand, membarrier};
    membarrier(MembarrierCommand::PrivateExpedited)
        .expect("a memory barrier for which the process is registered must not fail");
}

/// Returns false, because this kernel does not support memory barriers in all threads of the process.
#[cfg(not(target_os = "linux"))]
pub(crate) fn register_process_barrier() -> bool {
    false
}

/// Executes a memory barrier in the current thread only.
#[cfg(not(target_os = "linux"))]
pub(crate) fn process_barrier() {
    fence(Ordering::SeqCst);
}
