//! The statistics that macOS reports, and the description of the machine.

use std::path::Path;

use nix::sys::resource::{UsageWho, getrusage};
use sysinfo::{
    CpuRefreshKind, DiskRefreshKind, DiskUsage, Disks, MemoryRefreshKind, ProcessRefreshKind,
    ProcessesToUpdate, System,
};

/// Returns `None`, because this kernel does not report how long threads were ready to run without a CPU.
pub fn run_queue_wait_ns() -> Option<u64> {
    None
}

/// Returns `None`, because this kernel does not report how long a thread was ready to run without a CPU.
pub fn thread_run_queue_wait_ns() -> Option<u64> {
    None
}

/// Returns `None`, because this kernel does not report the time that the hypervisor took from all CPUs.
pub fn stolen_ns() -> Option<u64> {
    None
}

/// Returns the peak of the resident memory of the process so far, in bytes.
pub fn rss_peak_bytes() -> Option<u64> {
    u64::try_from(getrusage(UsageWho::RUSAGE_SELF).ok()?.max_rss()).ok()
}

/// Returns `None` without running the work, because this kernel cannot reset the peak of the resident memory.
pub fn without_peak<T>(_: impl FnOnce() -> T) -> Option<T> {
    None
}

/// Returns the number of bytes that the kernel has read from storage for this process.
pub fn os_read_bytes() -> Option<u64> {
    disk_usage().map(|usage| usage.total_read_bytes)
}

/// Returns the number of bytes that the kernel has written to storage for this process.
pub fn os_write_bytes() -> Option<u64> {
    disk_usage().map(|usage| usage.total_written_bytes)
}

fn disk_usage() -> Option<DiskUsage> {
    let (own, mut system) = (sysinfo::get_current_pid().ok()?, System::new().ok()?);
    let kind = ProcessRefreshKind::nothing().with_disk_usage();
    system.refresh_processes_specifics(ProcessesToUpdate::Some(&[own]), false, kind);
    system.process(own).map(sysinfo::Process::disk_usage)
}

/// Returns the amount of memory that is available without swapping, in bytes.
pub fn available_memory_bytes() -> Option<u64> {
    memory().map(|system| system.available_memory()).filter(|bytes| *bytes > 0)
}

/// Returns the total memory of the machine, in bytes.
pub fn total_memory_bytes() -> Option<u64> {
    memory().map(|system| system.total_memory()).filter(|bytes| *bytes > 0)
}

/// Returns the number of bytes of swap space that are in use.
pub fn used_swap_bytes() -> Option<u64> {
    memory().map(|system| system.used_swap())
}

fn memory() -> Option<System> {
    let mut system = System::new().ok()?;
    system.refresh_memory_specifics(MemoryRefreshKind::everything());
    Some(system)
}

/// Returns the name of the CPU model. Returns `None` if the kernel does not report the name.
pub fn cpu_model() -> Option<String> {
    let mut system = System::new().ok()?;
    system.refresh_cpu_list(CpuRefreshKind::nothing());
    system.cpus().first().map(|cpu| cpu.brand().to_owned()).filter(|model| !model.is_empty())
}

/// Returns `None`, because on this system, the CPU does not report a hypervisor to programs.
pub fn is_virtual() -> Option<bool> {
    None
}

/// Returns the version of the kernel, with its name.
pub fn kernel() -> Option<String> {
    Some(format!("{} {}", System::name().ok()?, System::kernel_version().ok()?))
}

/// Returns the host name of the machine.
pub fn host_name() -> Option<String> {
    System::host_name().ok()
}

/// Returns the load averages of the machine over 1, 5 and 15 minutes.
pub fn load_average() -> Option<[f64; 3]> {
    System::load_average().ok().map(|load| [load.one, load.five, load.fifteen])
}

/// Returns the type and the device of the file system that contains `folder`. The path `folder` must not contain
/// symbolic links.
pub fn mount_of(folder: &Path) -> Option<(String, String)> {
    let disks = Disks::new_with_refreshed_list_specifics(DiskRefreshKind::nothing()).ok()?;
    let holding = disks.iter().filter(|disk| folder.starts_with(disk.mount_point()));
    let disk = holding.max_by_key(|disk| disk.mount_point().as_os_str().len())?;
    let text = |name: &std::ffi::OsStr| name.to_string_lossy().into_owned();
    Some((text(disk.file_system()), text(disk.name())))
}
