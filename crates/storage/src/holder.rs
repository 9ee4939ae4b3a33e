//! Finds the process that holds the lock of a file, so that an error message can name this process.

use std::fmt;
use std::fs::File;
#[cfg(target_os = "linux")]
use std::fs::{self, Metadata};
use std::io;
#[cfg(target_os = "linux")]
use std::os::unix::fs::MetadataExt;

#[cfg(target_os = "linux")]
use rustix::fs::{major, minor};

/// The error of a lock that another process, or another handle of this process, already holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    /// The ID of the process that holds the lock. `None` if the kernel does not report the process.
    pub holder: Option<u32>,
}

impl Held {
    /// Finds out which process holds the lock of `file`.
    pub fn by(file: &File) -> Self {
        Self { holder: holder(file) }
    }

    /// Extracts the lock holder from an error of [`Storage::lock`](crate::Storage::lock) with the kind
    /// [`io::ErrorKind::WouldBlock`].
    pub fn of(error: &io::Error) -> Self {
        let known = error.get_ref().and_then(|inner| inner.downcast_ref::<Self>());
        known.copied().unwrap_or(Self { holder: None })
    }

    /// Returns a description of the lock holder, such as `process 1234`, or `another process` if the kernel does not
    /// report it.
    pub fn user(self) -> String {
        self.holder.map_or_else(|| "another process".to_owned(), |holder| format!("process {holder}"))
    }
}

impl fmt::Display for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{process} holds the lock; end this process first", process = self.user())
    }
}

impl std::error::Error for Held {}

impl From<Held> for io::Error {
    fn from(held: Held) -> Self {
        Self::new(io::ErrorKind::WouldBlock, held)
    }
}

/// Returns the ID of the process that holds the lock of `file`. Linux lists the process in `/proc/locks`; see
/// `proc_locks(5)`.
#[cfg(target_os = "linux")]
fn holder(file: &File) -> Option<u32> {
    let (locked, locks) = (file.metadata().ok()?, fs::read_to_string("/proc/locks").ok()?);
    locks.lines().find_map(|line| holder_of(line, &locked))
}

/// Returns `None`, because this kernel does not report which process holds a lock.
#[cfg(not(target_os = "linux"))]
fn holder(_: &File) -> Option<u32> {
    None
}

/// Returns the process ID in a line of `/proc/locks`, such as `1: FLOCK  ADVISORY  WRITE 2849 fe:00:5399081 0 EOF`.
/// Returns `None` if the line is about another file.
#[cfg(target_os = "linux")]
fn holder_of(line: &str, locked: &Metadata) -> Option<u32> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [_, "FLOCK", _, _, process, place, ..] = words[..] else { return None };
    let process = process.parse().ok().filter(|process| *process > 0)?;
    let (device, inode) = place.rsplit_once(':')?;
    if inode.parse() != Ok(locked.ino()) {
        return None;
    }
    let is_device = device == format!("{:02x}:{:02x}", major(locked.dev()), minor(locked.dev()));
    // On an overlay file system, the list contains another device than stat(2) reports for the file.
    (is_device || has_open(process, locked)).then_some(process)
}

/// Returns whether the process has opened the file.
#[cfg(target_os = "linux")]
fn has_open(process: u32, file: &Metadata) -> bool {
    let open = fs::read_dir(format!("/proc/{process}/fd")).into_iter().flatten().flatten();
    let is_it = |open: Metadata| (open.dev(), open.ino()) == (file.dev(), file.ino());
    open.filter_map(|entry| fs::metadata(entry.path()).ok()).any(is_it)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_holder_of_a_lock_is_named() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let reopened = File::open(file.path()).unwrap();
        assert_eq!(Held::by(&reopened).holder, None);
        file.as_file().lock().unwrap();
        // Without the list of locks, no holder is reported.
        let listed = std::fs::read_to_string("/proc/locks").is_ok().then(std::process::id);
        assert_eq!(Held::by(&reopened).holder, listed);
        let error: io::Error = Held { holder: Some(7) }.into();
        assert_eq!(error.to_string(), "process 7 holds the lock; end this process first");
        assert_eq!(Held::of(&error), Held { holder: Some(7) });
        assert_eq!(Held::of(&io::ErrorKind::WouldBlock.into()).user(), "another process");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn lines_about_something_else_name_nobody() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let locked = file.as_file().metadata().unwrap();
        let (device, inode) =
            (format!("{:02x}:{:02x}", major(locked.dev()), minor(locked.dev())), locked.ino());
        let line = |kind: &str, process: &str, place: String| {
            holder_of(&format!("1: {kind}  ADVISORY  WRITE {process} {place} 0 EOF"), &locked)
        };
        assert_eq!(line("FLOCK", "7", format!("{device}:{inode}")), Some(7));
        assert_eq!(line("POSIX", "7", format!("{device}:{inode}")), None);
        assert_eq!(line("-> FLOCK", "7", format!("{device}:{inode}")), None);
        assert_eq!(line("FLOCK", "-1", format!("{device}:{inode}")), None);
        assert_eq!(line("FLOCK", "7", format!("{device}:{}", inode + 1)), None);
        assert_eq!(line("FLOCK", "7", "?".to_owned()), None);
    }
}
