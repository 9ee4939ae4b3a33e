//! The parts of lsmbench that only some systems support, and the error for a part that this system does not support.

use std::fmt;
use std::io;

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
compile_error!(
    "lsmbench supports Linux and macOS; on Windows, build lsmbench in the Windows Subsystem for Linux (WSL 2)"
);

/// A system: an operating system and a CPU architecture, with the names of [`std::env::consts`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Platform {
    /// The operating system, such as `linux` or `macos`.
    pub os: &'static str,
    /// The CPU architecture, such as `x86_64` or `aarch64`.
    pub arch: &'static str,
}

impl Platform {
    /// The system for which this program was compiled.
    pub const HERE: Self = Self { os: std::env::consts::OS, arch: std::env::consts::ARCH };

    /// Returns the parts of lsmbench that this system does not support, in the order of [`PlatformPart::ALL`].
    pub fn missing_parts(self) -> impl Iterator<Item = NotOnPlatform> {
        PlatformPart::ALL.into_iter().filter_map(move |part| part.on(self).err())
    }
}

impl fmt::Display for Platform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} on {}", self.os, self.arch)
    }
}

/// A part of lsmbench that needs a call of a specific kernel, or an instruction of a specific CPU architecture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlatformPart {
    /// The storage back end `uring`, which needs Linux.
    IoUring,
    /// The eviction of files from the page cache of the kernel.
    PageCacheEviction,
    /// Writing to unused memory before a phase (the option `trials.warm_memory`).
    WarmMemory,
    /// The memory limit of a process (the option `trials.memory_limit`), which needs a cgroup.
    MemoryLimit,
    /// The binding of a trial process to a CPU core.
    CoreBinding,
    /// Ending a paused trial process when the lsmbench process is killed.
    EndWithParent,
    /// Hardware counters: the counts of CPU events.
    HardwareCounters,
    /// The statistics of the time that threads wait for a CPU, and of the time that a hypervisor takes.
    SchedulerTimes,
    /// The statistics of the memory and the open files of a process, for the soak test.
    SoakStatistics,
    /// Huge pages for memtables, filters and fence pointers.
    HugePages,
    /// The lookup code of some filters, which is written for one CPU architecture.
    FilterInstructions,
}

impl PlatformPart {
    /// All parts of lsmbench that only some systems support.
    pub const ALL: [Self; 11] = [
        Self::IoUring,
        Self::PageCacheEviction,
        Self::WarmMemory,
        Self::MemoryLimit,
        Self::CoreBinding,
        Self::EndWithParent,
        Self::HardwareCounters,
        Self::SchedulerTimes,
        Self::SoakStatistics,
        Self::HugePages,
        Self::FilterInstructions,
    ];

    /// Checks that this system supports this part of lsmbench.
    ///
    /// # Errors
    /// This system does not support the part. The error contains the name of the part and a remedy.
    pub fn here(self) -> Result<(), NotOnPlatform> {
        self.on(Platform::HERE)
    }

    /// Returns the error that this system does not support this part of lsmbench.
    pub fn missing(self) -> NotOnPlatform {
        NotOnPlatform { part: self, platform: Platform::HERE }
    }

    /// Checks that the system `platform` supports this part of lsmbench.
    fn on(self, platform: Platform) -> Result<(), NotOnPlatform> {
        let is_there = match self {
            Self::FilterInstructions => platform.arch == "x86_64",
            _ => platform.os == "linux",
        };
        if is_there { Ok(()) } else { Err(NotOnPlatform { part: self, platform }) }
    }

    /// Returns the name of this part of lsmbench in messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::IoUring => "io_uring",
            Self::PageCacheEviction => "evicting files from the page cache",
            Self::WarmMemory => "writing to unused memory before a phase",
            Self::MemoryLimit => "memory limits for processes",
            Self::CoreBinding => "binding a process to a core",
            Self::EndWithParent => "ending paused trial processes when lsmbench ends",
            Self::HardwareCounters => "hardware counters",
            Self::SchedulerTimes => "run queue and steal times",
            Self::SoakStatistics => "the statistics of the soak test",
            Self::HugePages => "huge pages",
            Self::FilterInstructions => "the CPU instructions of some filters",
        }
    }

    /// Returns a remedy for the missing part of lsmbench. If there is no remedy, returns the effect of the missing
    /// part.
    fn remedy(self) -> &'static str {
        match self {
            Self::IoUring => "use storage = \"pread\" or \"direct\"",
            Self::PageCacheEviction => "use cache = \"warm\" or \"as-is\", and no step that drops caches",
            Self::WarmMemory | Self::MemoryLimit => "remove the option that requests this feature",
            Self::CoreBinding => "use trials.plan = \"slices\"",
            Self::EndWithParent => "if lsmbench is killed, end its paused trial processes yourself",
            Self::HardwareCounters | Self::SchedulerTimes => "the columns with these values are empty",
            Self::SoakStatistics => "run the soak test on Linux",
            Self::HugePages => "large structures use memory pages of the default size",
            Self::FilterInstructions => {
                "lsmbench runs portable code instead, which returns the same answers but is slower"
            }
        }
    }
}

/// The error that a system does not support a part of lsmbench, with a remedy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotOnPlatform {
    part: PlatformPart,
    platform: Platform,
}

impl NotOnPlatform {
    /// Returns the part of lsmbench that this system does not support.
    pub fn part(self) -> PlatformPart {
        self.part
    }
}

impl fmt::Display for NotOnPlatform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, remedy) = (self.part.name(), self.part.remedy());
        write!(f, "{name}: not on this system ({}); {remedy}", self.platform)
    }
}

impl std::error::Error for NotOnPlatform {}

impl From<NotOnPlatform> for io::Error {
    fn from(missing: NotOnPlatform) -> Self {
        Self::new(io::ErrorKind::Unsupported, missing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINUX: Platform = Platform { os: "linux", arch: "x86_64" };

    fn parts(platform: Platform) -> Vec<PlatformPart> {
        platform.missing_parts().map(NotOnPlatform::part).collect()
    }

    #[test]
    fn every_part_is_on_linux_and_a_mac_lacks_the_calls_of_the_kernel() {
        assert_eq!(parts(LINUX), []);
        assert_eq!(parts(Platform { arch: "aarch64", ..LINUX }), [PlatformPart::FilterInstructions]);
        assert_eq!(parts(Platform { os: "macos", arch: "aarch64" }), PlatformPart::ALL);
        assert_eq!(parts(Platform { os: "macos", ..LINUX }).len(), PlatformPart::ALL.len() - 1);
    }

    #[test]
    fn the_error_names_the_part_the_system_and_the_remedy() {
        let missing = PlatformPart::IoUring.on(Platform { os: "macos", arch: "aarch64" }).unwrap_err();
        let expected =
            "io_uring: not on this system (macos on aarch64); use storage = \"pread\" or \"direct\"";
        assert_eq!(missing.to_string(), expected);
        let error = io::Error::from(missing);
        assert_eq!((error.kind(), error.to_string()), (io::ErrorKind::Unsupported, expected.to_owned()));
    }

    #[test]
    fn each_part_has_its_own_name() {
        for (at, part) in PlatformPart::ALL.into_iter().enumerate() {
            assert!(PlatformPart::ALL[..at].iter().all(|other| other.name() != part.name()), "{part:?}");
        }
    }
}
