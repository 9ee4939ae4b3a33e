//! Describes the machine and the environment of a run, for its manifest.

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

/// The environment variable that contains the name and the digest of the container image.
const IMAGE: &str = "LSMBENCH_IMAGE";

/// The file in which Podman describes the container that runs this process.
const CONTAINER: &str = "/run/.containerenv";

/// Returns the name of the container image in which this process runs. The name comes from the variable
/// `LSMBENCH_IMAGE` or from Podman. Returns `None` if neither names an image.
pub fn container_image() -> Option<String> {
    let named = std::env::var(IMAGE).ok().filter(|image| !image.trim().is_empty());
    named.or_else(|| image_of(&std::fs::read_to_string(CONTAINER).ok()?))
}

/// Extracts the image from Podman's description of a container, such as `lsmbench, id 1a2b`.
fn image_of(description: &str) -> Option<String> {
    let value = |key: &str| {
        let values = description.lines().filter_map(|line| line.strip_prefix(key)?.strip_prefix('='));
        values.map(|value| value.trim().trim_matches('"')).find(|value| !value.is_empty())
    };
    match (value("image"), value("imageid")) {
        (Some(name), Some(id)) => Some(format!("{name}, id {id}")),
        (name, id) => name.or(id).map(str::to_owned),
    }
}

/// Returns the current time in RFC 3339 format.
pub(super) fn now() -> String {
    humantime::format_rfc3339_seconds(std::time::SystemTime::now()).to_string()
}

/// Returns the type and the device of the file system that contains `folder`. If `folder` does not exist, uses the
/// nearest existing parent folder.
fn mount_of(folder: &Path) -> Option<(String, String)> {
    let existing = folder.ancestors().find(|ancestor| ancestor.exists())?;
    let folder =
        std::fs::canonicalize(if existing.as_os_str().is_empty() { Path::new(".") } else { existing })
            .ok()?;
    probe::mount_of(&folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn podman_names_the_image_of_a_container() {
        let described = "engine=\"podman-5.4.0\"\nimage=\"localhost/lsmbench\"\nimageid=\"1a2b\"\n";
        assert_eq!(image_of(described).as_deref(), Some("localhost/lsmbench, id 1a2b"));
        assert_eq!(image_of("imageid=\"1a2b\"\n").as_deref(), Some("1a2b"));
        // Without privileges, the file of a container is empty.
        assert_eq!(image_of(""), None);
    }
}
