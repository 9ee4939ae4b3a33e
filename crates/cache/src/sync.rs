//! Atomics, cells of threads and barriers by the names under which a model of the crate has others
//! (`crates/interleave`).

pub(crate) use std::sync::atomic::{AtomicU64, Ordering, fence};

pub(crate) use thread_local::ThreadLocal as PerThread;

/// The size `real`; a model, which tries all interleavings, has a smaller one.
pub(crate) const fn sized(real: usize, _model: usize) -> usize {
    real
}

/// Asks the system for barriers in all threads of the process; says whether it has them.
#[cfg(target_os = "linux")]
pub(crate) fn register_process_barrier() -> bool {
    use rustix::thread::{MembarrierCommand, membarrier};
    membarrier(MembarrierCommand::RegisterPrivateExpedited).is_ok()
}

/// A barrier in all threads of the process, which was registered.
#[cfg(target_os = "linux")]
pub(crate) fn process_barrier() {
    use rustix::thread::{MembarrierCommand, membarrier};
    membarrier(MembarrierCommand::PrivateExpedited).expect("a registered barrier does not fail");
}

/// Asks the system for barriers in all threads of the process; it has none.
#[cfg(not(target_os = "linux"))]
pub(crate) fn register_process_barrier() -> bool {
    false
}

/// A barrier in this thread.
#[cfg(not(target_os = "linux"))]
pub(crate) fn process_barrier() {
    fence(Ordering::SeqCst);
}
