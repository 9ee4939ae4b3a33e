//! The kernel's statistics about this process and its machine.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::time::{ClockId, clock_gettime};

/// Returns the CPU time of the process so far, user and system, over all threads, in nanoseconds.
pub fn cpu_ns() -> u64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_nsec.cast_unsigned()
}

/// Returns the time of the monotonic clock of the machine in nanoseconds. All processes of the machine share this
/// clock.
pub fn monotonic_ns() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_nsec.cast_unsigned()
}

/// Returns the time for which threads of this process were ready to run but had no CPU so far, in nanoseconds, summed
/// over live threads.
#[cfg(target_os = "linux")]
pub fn run_queue_wait_ns() -> Option<u64> {
    let tasks = procfs::process::Process::myself().ok()?.tasks().ok()?;
    Some(tasks.flatten().filter_map(|task| task.schedstat().ok()).map(|schedule| schedule.run_delay).sum())
}

/// The time for which threads of this process were ready to run but had no CPU. This function always returns `None`,
/// because this operating system does not report run-queue waits.
#[cfg(not(target_os = "linux"))]
pub fn run_queue_wait_ns() -> Option<u64> {
    None
}

/// Returns the time for which this thread was ready to run but had no CPU so far, in nanoseconds.
#[cfg(target_os = "linux")]
pub fn thread_run_queue_wait_ns() -> Option<u64> {
    use procfs::FromRead;
    let schedule = procfs::process::Schedstat::from_file("/proc/thread-self/schedstat").ok()?;
    Some(schedule.run_delay)
}

/// The time for which this thread was ready to run but had no CPU. This function always returns `None`, because this
/// operating system does not report run-queue waits.
#[cfg(not(target_os = "linux"))]
pub fn thread_run_queue_wait_ns() -> Option<u64> {
    None
}

/// Returns the time that the hypervisor took from all CPUs of this machine since its start, in nanoseconds.
#[cfg(target_os = "linux")]
pub fn stolen_ns() -> Option<u64> {
    use procfs::CurrentSI;
    let ticks = procfs::KernelStats::current().ok()?.total.steal?;
    Some(ticks * 1_000_000_000 / procfs::ticks_per_second())
}

/// The time that the hypervisor took from all CPUs. This function always returns `None`, because this operating
/// system does not report stolen time.
#[cfg(not(target_os = "linux"))]
pub fn stolen_ns() -> Option<u64> {
    None
}

/// The largest resident memory before the last reset of the kernel's peak, in bytes.
static PEAK_BEFORE: AtomicU64 = AtomicU64::new(0);

/// Returns the largest resident memory of the process so far, in bytes.
pub fn rss_peak_bytes() -> Option<u64> {
    Some(field_kib("/proc/self/status", "VmHWM:")?.max(PEAK_BEFORE.load(Ordering::Relaxed)))
}

/// Runs temporary work and excludes its memory from the largest resident memory. If the kernel cannot reset the peak,
/// returns `None` and does not run the work.
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

/// Returns the bytes that the kernel fetched from storage for this process.
pub fn os_read_bytes() -> Option<u64> {
    field("/proc/self/io", "read_bytes:")
}

/// Returns the bytes that the kernel sent to storage for this process.
pub fn os_write_bytes() -> Option<u64> {
    field("/proc/self/io", "write_bytes:")
}

/// Returns the memory that is available without swapping, in bytes.
pub fn available_memory_bytes() -> Option<u64> {
    field_kib("/proc/meminfo", "MemAvailable:")
}

/// Returns the total memory of the machine, in bytes.
pub fn total_memory_bytes() -> Option<u64> {
    field_kib("/proc/meminfo", "MemTotal:")
}

/// Returns the bytes of memory that are swapped out.
pub fn used_swap_bytes() -> Option<u64> {
    Some(field_kib("/proc/meminfo", "SwapTotal:")?.saturating_sub(field_kib("/proc/meminfo", "SwapFree:")?))
}

/// Returns the free bytes on the file system of `folder`, or of the nearest existing folder above `folder`.
pub fn free_bytes(folder: &Path) -> Option<u64> {
    let file_system = file_system(folder)?;
    Some(file_system.f_bavail * file_system.f_frsize)
}

/// Returns the free fraction of the file system of `folder`, or of the nearest existing folder above `folder`.
pub fn free_share(folder: &Path) -> Option<f64> {
    let file_system = file_system(folder)?;
    (file_system.f_blocks > 0).then(|| file_system.f_bavail as f64 / file_system.f_blocks as f64)
}

fn file_system(folder: &Path) -> Option<rustix::fs::StatVfs> {
    let existing = folder.ancestors().find(|ancestor| ancestor.exists());
    let existing = existing.filter(|path| !path.as_os_str().is_empty()).unwrap_or(Path::new("."));
    rustix::fs::statvfs(existing).ok()
}

/// Returns the number that follows a name in a file of `/proc`.
fn field(file: &str, name: &str) -> Option<u64> {
    let text = fs::read_to_string(file).ok()?;
    let line = text.lines().find(|line| line.starts_with(name))?;
    line[name.len()..].split_whitespace().next()?.parse().ok()
}

fn field_kib(file: &str, name: &str) -> Option<u64> {
    field(file, name).map(|kib| kib * 1024)
}
