//! What the operating system knows of this process and its machine.

use std::path::Path;

use rustix::time::{ClockId, clock_gettime};

/// Processor time of the process so far, user and system, over all threads, in nanoseconds.
pub(crate) fn cpu_ns() -> u64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_nsec.cast_unsigned()
}

/// The largest resident memory of the process so far, in bytes.
pub(crate) fn rss_peak_bytes() -> Option<u64> {
    field_kib("/proc/self/status", "VmHWM:")
}

/// Bytes that the system sent to storage for this process.
pub(crate) fn os_write_bytes() -> Option<u64> {
    field("/proc/self/io", "write_bytes:")
}

/// Memory that can be had without swapping, in bytes.
pub(crate) fn available_memory_bytes() -> Option<u64> {
    field_kib("/proc/meminfo", "MemAvailable:")
}

/// Memory in all, in bytes.
pub(crate) fn total_memory_bytes() -> Option<u64> {
    field_kib("/proc/meminfo", "MemTotal:")
}

/// Bytes free on the file system of `folder`, or of the nearest folder above it that exists.
pub(crate) fn free_bytes(folder: &Path) -> Option<u64> {
    let existing = folder.ancestors().find(|ancestor| ancestor.exists());
    let stat =
        rustix::fs::statvfs(existing.filter(|path| !path.as_os_str().is_empty()).unwrap_or(Path::new(".")))
            .ok()?;
    Some(stat.f_bavail * stat.f_frsize)
}

/// The number behind a name in a file of `/proc`.
fn field(file: &str, name: &str) -> Option<u64> {
    let text = std::fs::read_to_string(file).ok()?;
    let line = text.lines().find(|line| line.starts_with(name))?;
    line[name.len()..].split_whitespace().next()?.parse().ok()
}

fn field_kib(file: &str, name: &str) -> Option<u64> {
    field(file, name).map(|kib| kib * 1024)
}
