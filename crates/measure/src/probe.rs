//! The kernel's statistics about this process and its machine.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod macos;

use std::path::Path;

use rustix::time::{ClockId, clock_gettime};

#[cfg(target_os = "linux")]
use self::linux as system;
#[cfg(not(target_os = "linux"))]
use self::macos as system;
pub use self::system::{
    available_memory_bytes, cpu_model, host_name, is_virtual, kernel, load_average, mount_of, os_read_bytes,
    os_write_bytes, rss_peak_bytes, run_queue_wait_ns, stolen_ns, thread_run_queue_wait_ns,
    total_memory_bytes, used_swap_bytes, without_peak,
};

/// Returns the total CPU time (user and system) of all threads of the process so far, in nanoseconds.
pub fn cpu_ns() -> u64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_nsec.cast_unsigned()
}

/// Returns the time of the machine's monotonic clock in nanoseconds. All processes of the machine share this clock.
pub fn monotonic_ns() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_nsec.cast_unsigned()
}

/// Returns the number of free bytes on the file system of `folder`. If `folder` does not exist, uses the nearest
/// existing parent folder.
pub fn free_bytes(folder: &Path) -> Option<u64> {
    let file_system = file_system(folder)?;
    Some(file_system.f_bavail * file_system.f_frsize)
}

/// Returns the free fraction of the file system of `folder`. If `folder` does not exist, uses the nearest existing
/// parent folder.
pub fn free_share(folder: &Path) -> Option<f64> {
    let file_system = file_system(folder)?;
    (file_system.f_blocks > 0).then(|| file_system.f_bavail as f64 / file_system.f_blocks as f64)
}

fn file_system(folder: &Path) -> Option<rustix::fs::StatVfs> {
    let existing = folder.ancestors().find(|ancestor| ancestor.exists());
    let existing = existing.filter(|path| !path.as_os_str().is_empty()).unwrap_or(Path::new("."));
    rustix::fs::statvfs(existing).ok()
}
