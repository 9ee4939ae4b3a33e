//! The statistics that Linux reports in `/proc`, and the description of the machine.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// Returns the total time in nanoseconds during which existing threads of this process were ready to run but had no
/// CPU.
pub fn run_queue_wait_ns() -> Option<u64> {
    let tasks = procfs::process::Process::myself().ok()?.tasks().ok()?;
    Some(tasks.flatten().filter_map(|task| task.schedstat().ok()).map(|schedule| schedule.run_delay).sum())
}

/// Returns the total time in nanoseconds during which this thread was ready to run but had no CPU.
pub fn thread_run_queue_wait_ns() -> Option<u64> {
    use procfs::FromRead;
    let schedule = procfs::process::Schedstat::from_file("/proc/thread-self/schedstat").ok()?;
    Some(schedule.run_delay)
}

/// Returns the total time that the hypervisor has taken from all CPUs of this machine since the start of the machine,
/// in nanoseconds.
pub fn stolen_ns() -> Option<u64> {
    use procfs::CurrentSI;
    let ticks = procfs::KernelStats::current().ok()?.total.steal?;
    Some(ticks * 1_000_000_000 / procfs::ticks_per_second())
}

/// The peak of the resident memory before the last reset by [`without_peak`], in bytes. A reset makes the kernel forget
/// its peak, so the peak of the process is the larger of this value and the kernel's current peak.
static PEAK_BEFORE: AtomicU64 = AtomicU64::new(0);

/// Returns the peak of the resident memory of the process so far, in bytes.
pub fn rss_peak_bytes() -> Option<u64> {
    Some(field_kib("/proc/self/status", "VmHWM:")?.max(PEAK_BEFORE.load(Ordering::Relaxed)))
}

/// Runs `work` without counting its memory in the peak of the resident memory of the process. If the kernel cannot
/// reset the peak, returns `None` without running `work`.
pub fn without_peak<T>(work: impl FnOnce() -> T) -> Option<T> {
    /// The value that resets the peak of the resident memory; see `proc_pid_clear_refs(5)`.
    const PEAK: &str = "5";
    let forget = || fs::write("/proc/self/clear_refs", PEAK).ok();
    PEAK_BEFORE.fetch_max(rss_peak_bytes()?, Ordering::Relaxed);
    forget()?;
    let done = work();
    forget()?;
    Some(done)
}

/// Returns the number of bytes that the kernel has read from storage for this process.
pub fn os_read_bytes() -> Option<u64> {
    field("/proc/self/io", "read_bytes:")
}

/// Returns the number of bytes that the kernel has written to storage for this process.
pub fn os_write_bytes() -> Option<u64> {
    field("/proc/self/io", "write_bytes:")
}

/// Returns the amount of memory that is available without swapping, in bytes.
pub fn available_memory_bytes() -> Option<u64> {
    field_kib("/proc/meminfo", "MemAvailable:")
}

/// Returns the total memory of the machine, in bytes.
pub fn total_memory_bytes() -> Option<u64> {
    field_kib("/proc/meminfo", "MemTotal:")
}

/// Returns the number of bytes of swap space that are in use.
pub fn used_swap_bytes() -> Option<u64> {
    Some(field_kib("/proc/meminfo", "SwapTotal:")?.saturating_sub(field_kib("/proc/meminfo", "SwapFree:")?))
}

/// Returns the name of the CPU model. Returns `None` if the kernel does not report the name. An `AArch64` CPU reports
/// numbers instead of a name.
pub fn cpu_model() -> Option<String> {
    model_in(&read("/proc/cpuinfo")?)
}

/// Finds the name of the CPU model in `text`, the content of `/proc/cpuinfo`.
fn model_in(text: &str) -> Option<String> {
    let value = |name: &str| {
        let line = text.lines().find(|line| line.starts_with(name))?;
        line.split_once(':').map(|(_, value)| value.trim())
    };
    let of_numbers = || {
        let (implementer, part) = value("CPU implementer").zip(value("CPU part"))?;
        Some(format!("{} implementer {implementer} part {part}", std::env::consts::ARCH))
    };
    value("model name").map(str::to_owned).or_else(of_numbers)
}

/// Returns whether the machine is virtual, according to the CPU. Returns `None` if the CPU cannot report a hypervisor.
pub fn is_virtual() -> Option<bool> {
    let text = read("/proc/cpuinfo")?;
    let flags = text.lines().find(|line| line.starts_with("flags"))?;
    Some(flags.contains(" hypervisor"))
}

/// Returns the version of the kernel, with its name.
pub fn kernel() -> Option<String> {
    read("/proc/sys/kernel/osrelease").map(|release| format!("Linux {release}"))
}

/// Returns the host name of the machine.
pub fn host_name() -> Option<String> {
    read("/proc/sys/kernel/hostname")
}

/// Returns the load averages of the machine over 1, 5 and 15 minutes. Returns `None` if the kernel does not report
/// load averages.
pub fn load_average() -> Option<[f64; 3]> {
    let text = read("/proc/loadavg")?;
    let mut loads = text.split_whitespace().map_while(|load| load.parse().ok());
    Some([loads.next()?, loads.next()?, loads.next()?])
}

/// Returns the type and the device of the file system that contains `folder`. The path `folder` must not contain
/// symbolic links.
pub fn mount_of(folder: &Path) -> Option<(String, String)> {
    let mounts = read("/proc/mounts")?;
    let mounts = mounts.lines().filter_map(|line| {
        let mut parts = line.split_whitespace();
        Some((parts.next()?, parts.next()?, parts.next()?))
    });
    let (device, _, kind) =
        mounts.filter(|(_, point, _)| folder.starts_with(point)).max_by_key(|(_, point, _)| point.len())?;
    Some((kind.to_owned(), device.to_owned()))
}

/// Returns the content of a kernel file without white space at its start and end. Returns `None` if the file cannot be
/// read.
fn read(file: &str) -> Option<String> {
    fs::read_to_string(file).ok().map(|text| text.trim().to_owned())
}

/// Returns the number after the text `name` in a file of `/proc`. `name` is the start of a line, such as `VmRSS:`.
fn field(file: &str, name: &str) -> Option<u64> {
    let text = fs::read_to_string(file).ok()?;
    let line = text.lines().find(|line| line.starts_with(name))?;
    line[name.len()..].split_whitespace().next()?.parse().ok()
}

fn field_kib(file: &str, name: &str) -> Option<u64> {
    field(file, name).map(|kib| kib * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_model_of_the_cpu_is_a_name_or_numbers() {
        let x86 = "processor\t: 0\nmodel name\t: Some CPU @ 2.5GHz\nflags\t\t: fpu hypervisor\n";
        assert_eq!(model_in(x86).as_deref(), Some("Some CPU @ 2.5GHz"));
        let arm = "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n";
        let expected = format!("{} implementer 0x41 part 0xd0c", std::env::consts::ARCH);
        assert_eq!(model_in(arm), Some(expected));
        assert_eq!(model_in("processor\t: 0\n"), None);
    }
}
