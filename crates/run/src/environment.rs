//! The description of the machine in the manifest of a run.

use std::path::Path;

use measure::probe;
use results::MachineInfo;

/// Returns information about this machine and about the file system of `folder`.
pub fn machine_info(folder: &Path) -> MachineInfo {
    let (file_system, device) = mount_of(folder).unzip();
    MachineInfo {
        cpu: probe::cpu_model(),
        cores: std::thread::available_parallelism().ok().map(|cores| cores.get() as u64),
        memory_bytes: probe::total_memory_bytes(),
        kernel: probe::kernel(),
        file_system,
        device,
        free_bytes: probe::free_bytes(folder),
        load_average: probe::load_average(),
        load_average_end: None,
        findings: Vec::new(),
    }
}

/// Returns the current time in RFC 3339 format.
pub(super) fn now() -> String {
    humantime::format_rfc3339_seconds(std::time::SystemTime::now()).to_string()
}

/// Returns the type and the device of the file system that contains `folder`, or the nearest existing folder above
/// `folder`.
fn mount_of(folder: &Path) -> Option<(String, String)> {
    let existing = folder.ancestors().find(|ancestor| ancestor.exists())?;
    let folder =
        std::fs::canonicalize(if existing.as_os_str().is_empty() { Path::new(".") } else { existing })
            .ok()?;
    probe::mount_of(&folder)
}
