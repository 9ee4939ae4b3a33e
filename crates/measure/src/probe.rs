//! The kernel's statistics about this process and its machine.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::time::{ClockId, clock_gettime};

/// CPU time of the process so far, user and system, over all threads, in nanoseconds.
pub fn cpu_ns() -> u64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_nsec.cast_unsigned()
}

/// The monotonic clock of the machine in nanoseconds, which all processes share.
pub fn monotonic_ns() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_nsec.cast_unsigned()
}

/// Time so far in which threads of this process were ready to run but had no CPU, in nanoseconds, summed over live
/// threads.
#[cfg(target_os = "linux")]
pub fn run_queue_wait_ns() -> Option<u64> {
    let tasks = procfs::process::Process::myself().ok()?.tasks().ok()?;
    Some(tasks.flatten().filter_map(|task| task.schedstat().ok()).map(|schedule| schedule.run_delay).sum())
}

/// Time in which threads of this process were ready to run but had no CPU. Always `None`, because this operating system
/// does not report this time.
#[cfg(not(target_os = "linux"))]
pub fn run_queue_wait_ns() -> Option<u64> {
    None
}

/// Time so far in which this thread was ready to run but had no CPU, in nanoseconds.
#[cfg(target_os = "linux")]
pub fn thread_run_queue_wait_ns() -> Option<u64> {
    use procfs::FromRead;
    let schedule = procfs::process::Schedstat::from_file("/proc/thread-self/schedstat").ok()?;
    Some(schedule.run_delay)
}

/// Time in which this thread was ready to run but had no CPU. Always `None`, because this operating system does not
/// report this time.
#[cfg(not(target_os = "linux"))]
pub fn thread_run_queue_wait_ns() -> Option<u64> {
    None
}

/// The time that the hypervisor took from all CPUs of this machine since its start, in nanoseconds.
#[cfg(target_os = "linux")]
pub fn stolen_ns() -> Option<u64> {
    use procfs::CurrentSI;
    let ticks = procfs::KernelStats::current().ok()?.total.steal?;
    Some(ticks * 1_000_000_000 / procfs::ticks_per_second())
}

/// The time that the hypervisor took from all CPUs; this system does not report it.
#[cfg(not(target_os = "linux"))]
pub fn stolen_ns() -> Option<u64> {
    None
}

/// The largest resident memory before the kernel's peak was last reset.
static PEAK_BEFORE: AtomicU64 = AtomicU64::new(0);

/// The largest resident memory of the process so far, in bytes.
pub fn rss_peak_bytes() -> Option<u64> {
    Some(field_kib("/proc/self/status", "VmHWM:")?.max(PEAK_BEFORE.load(Ordering::Relaxed)))
}

/// Does temporary work whose memory is excluded from the largest resident memory. Returns `None`, without doing the
/// work, where the kernel cannot reset the peak.
pub fn without_peak<T>(work: impl FnOnce() -> T) -> Option<T> {
    /// The value that resets the peak, from `proc_pid_clear_refs(5)`.
    const PEAK: &str = "5";
    let forget = || fs::write("/proc/self/clear_refs", PEAK).ok();
    PEAK_BEFORE.fetch_max(rss_peak_bytes()?, Ordering::Relaxed);
    forget()?;
    let done = work();
    forget()?;
    Some(done)
}

/// Bytes that the kernel fetched from storage for this process.
pub fn os_read_bytes() -> Option<u64> {
    field("/proc/self/io", "read_bytes:")
}

/// Bytes that the kernel sent to storage for this process.
pub fn os_write_bytes() -> Option<u64> {
    field("/proc/self/io", "write_bytes:")
}

/// Memory available without swapping, in bytes.
pub fn available_memory_bytes() -> Option<u64> {
    field_kib("/proc/meminfo", "MemAvailable:")
}

/// Total memory of the machine, in bytes.
pub fn total_memory_bytes() -> Option<u64> {
    field_kib("/proc/meminfo", "MemTotal:")
}

/// Bytes of memory that are swapped out.
pub fn used_swap_bytes() -> Option<u64> {
    Some(field_kib("/proc/meminfo", "SwapTotal:")?.saturating_sub(field_kib("/proc/meminfo", "SwapFree:")?))
}

/// Free bytes on the file system of `folder`, or of the nearest existing folder above it.
pub fn free_bytes(folder: &Path) -> Option<u64> {
    let file_system = file_system(folder)?;
    Some(file_system.f_bavail * file_system.f_frsize)
}

/// The free fraction of the file system of `folder`, or of the nearest existing folder above it.
pub fn free_share(folder: &Path) -> Option<f64> {
    let file_system = file_system(folder)?;
    (file_system.f_blocks > 0).then(|| file_system.f_bavail as f64 / file_system.f_blocks as f64)
}

fn file_system(folder: &Path) -> Option<rustix::fs::StatVfs> {
    let existing = folder.ancestors().find(|ancestor| ancestor.exists());
    let existing = existing.filter(|path| !path.as_os_str().is_empty()).unwrap_or(Path::new("."));
    rustix::fs::statvfs(existing).ok()
}

/// The number that follows a name in a file of `/proc`.
fn field(file: &str, name: &str) -> Option<u64> {
    let text = fs::read_to_string(file).ok()?;
    let line = text.lines().find(|line| line.starts_with(name))?;
    line[name.len()..].split_whitespace().next()?.parse().ok()
}

fn field_kib(file: &str, name: &str) -> Option<u64> {
    field(file, name).map(|kib| kib * 1024)
}
