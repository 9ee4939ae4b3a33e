//! Limits the memory of trials, including their page cache. Each limited trial runs in its own memory cgroup (version 1
//! or 2).

use std::path::{Path, PathBuf};
use std::{fs, io};

use types::quantity::format_bytes;
use types::{Outcome, Problem};

/// A memory cgroup for the process of one trial. Dropping this value removes the cgroup.
#[derive(Debug)]
pub(super) struct MemoryLimit {
    folder: PathBuf,
}

/// The place in which lsmbench creates memory cgroups: the folder, and the file name of the memory limit in each
/// cgroup.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Place {
    folder: PathBuf,
    limit: &'static str,
}

impl MemoryLimit {
    /// Creates a memory cgroup with a limit of `bytes` bytes, without any process in it.
    pub(super) fn new(bytes: u64) -> Outcome<Self> {
        let place = Place::of_this_process().map_err(|why| refusal(bytes, &why))?;
        let folder = place.folder.join(format!("lsmbench-{}", std::process::id()));
        let doing = |action: &str| {
            let action = format!("{action} {}", folder.display());
            move |error: io::Error| refusal(bytes, &format!("cannot {action}: {error}"))
        };
        match fs::create_dir(&folder) {
            // The cgroup belongs to an earlier trial, whose process may just be ending.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => made.map_err(doing("make"))?,
        }
        let limit = Self { folder: folder.clone() };
        fs::write(folder.join(place.limit), bytes.to_string()).map_err(doing("limit"))?;
        Ok(limit)
    }

    /// Moves the process with the ID `process` into the memory cgroup. The cgroup counts the memory that the process
    /// allocates from then on.
    pub(super) fn hold(&self, process: u32) -> Outcome<()> {
        let file = self.folder.join("cgroup.procs");
        fs::write(&file, process.to_string())
            .map_err(|error| Problem::doing(format!("put a trial into {}", file.display()), error))
    }
}

impl Drop for MemoryLimit {
    fn drop(&mut self) {
        // The cgroup is empty once its process has ended. A remaining cgroup does no harm.
        let _ = fs::remove_dir(&self.folder);
    }
}

/// Checks that a trial can have a memory limit of `bytes` bytes. A run does this before its first trial.
pub(super) fn check(bytes: u64) -> Outcome<()> {
    MemoryLimit::new(bytes).map(drop)
}

fn refusal(bytes: u64, why: &str) -> Problem {
    Problem::new(format!(
        "trials.memory_limit = \"{}\" needs a memory cgroup: {why}; run as root, or in a scope of systemd: \
         systemd-run --user --scope -p Delegate=yes lsmbench run …",
        format_bytes(bytes)
    ))
}

impl Place {
    fn of_this_process() -> Result<Self, String> {
        let read =
            |file: &str| fs::read_to_string(file).map_err(|error| format!("cannot read {file}: {error}"));
        let (groups, mounts) = (read("/proc/self/cgroup")?, read("/proc/self/mountinfo")?);
        Self::find(&groups, &mounts)
            .ok_or_else(|| "this process does not belong to a memory cgroup".to_owned())
    }

    /// Finds the folder in which this process may create cgroups. `groups` and `mounts` are the contents of
    /// `/proc/self/cgroup` and `/proc/self/mountinfo`.
    ///
    /// With cgroup version 1, the folder is the cgroup of this process. With version 2, it is the parent of this
    /// cgroup, because a cgroup that contains processes cannot have children with limits.
    fn find(groups: &str, mounts: &str) -> Option<Self> {
        let of_version_1 = || {
            let own = groups.lines().find_map(|line| {
                let (_, rest) = line.split_once(':')?;
                let (controllers, path) = rest.split_once(':')?;
                controllers.split(',').any(|name| name == "memory").then_some(path)
            })?;
            let folder =
                mounted(mounts, "cgroup", |options| options.split(',').any(|name| name == "memory"), own)?;
            Some(Self { folder, limit: "memory.limit_in_bytes" })
        };
        let of_version_2 = || {
            let own = groups.lines().find_map(|line| line.strip_prefix("0::"))?;
            let above = Path::new(own).parent().unwrap_or(Path::new("/"));
            let folder = mounted(mounts, "cgroup2", |_| true, above.to_str()?)?;
            Some(Self { folder, limit: "memory.max" })
        };
        of_version_1().or_else(of_version_2)
    }
}

/// Returns the folder of the cgroup `group`: its path below the mount point of the cgroup file system.
fn mounted(mounts: &str, kind: &str, has: impl Fn(&str) -> bool, group: &str) -> Option<PathBuf> {
    mounts.lines().find_map(|line| {
        let (before, behind) = line.split_once(" - ")?;
        let mut behind = behind.split(' ');
        let (is_kind, options) = (behind.next()? == kind, behind.nth(1)?);
        let mut fields = before.split(' ').skip(3);
        let (root, point) = (fields.next()?, fields.next()?);
        let inside = Path::new(group).strip_prefix(root).ok()?;
        (is_kind && has(options)).then(|| Path::new(point).join(inside))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS_1: &str = "\
        25 22 0:22 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu\n\
        28 22 0:25 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n\
        33 22 0:30 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n";

    #[test]
    fn version_1_has_groups_in_the_process_own_one() {
        let groups = "9:name=systemd:/\n4:memory:/a/b\n1:cpu:/\n0::/\n";
        let place = Place::find(groups, MOUNTS_1).unwrap();
        let expected = Path::new("/sys/fs/cgroup/memory/a/b");
        assert_eq!((place.folder.as_path(), place.limit), (expected, "memory.limit_in_bytes"));
        // A container sees its own cgroup as the root of the mount.
        let mounts = "28 22 0:25 /docker/x /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n";
        let place = Place::find("4:memory:/docker/x/y\n", mounts).unwrap();
        assert_eq!(place.folder, Path::new("/sys/fs/cgroup/memory/y"));
    }

    #[test]
    fn version_2_has_them_beside_it() {
        let mounts = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";
        let place = Place::find("0::/user.slice/app.slice/run-1.scope\n", mounts).unwrap();
        let expected = Path::new("/sys/fs/cgroup/user.slice/app.slice");
        assert_eq!((place.folder.as_path(), place.limit), (expected, "memory.max"));
        assert_eq!(Place::find("0::/\n", mounts).unwrap().folder, Path::new("/sys/fs/cgroup"));
    }

    #[test]
    fn a_process_that_is_in_none_has_none() {
        assert_eq!(Place::find("", MOUNTS_1), None);
        assert_eq!(Place::find("4:memory:/a\n", ""), None);
        assert!(
            refusal(64 << 20, "why")
                .to_string()
                .contains("trials.memory_limit = \"64MiB\" needs a memory cgroup: why; run as root")
        );
    }
}
