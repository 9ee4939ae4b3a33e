//! Waits for the end of background work in an engine that has no function for such a wait.

use std::time::Duration;

/// The interval between two checks whether an engine is idle.
const PERIOD: Duration = Duration::from_millis(2);

/// The number of consecutive idle checks after which an engine counts as idle, for an engine that reports running work.
/// Each check must find no running work and no change. One check is not enough, because work that is due does not
/// always begin at once.
#[cfg_attr(not(feature = "peers"), cfg(test))]
pub(crate) const SEEN: u32 = 10;

/// The number of consecutive idle checks after which an engine counts as idle, for an engine that does not report
/// running work. Each check must find no change.
pub(crate) const UNSEEN: u32 = 100;

/// Returns the time for which [`until_idle`] waits after the last background work.
pub(crate) fn margin(looks: u32) -> Duration {
    PERIOD * looks
}

/// Waits until an engine is idle: until `looks` consecutive checks find no running work and no change. Each check calls
/// `look`, which returns whether work is running, and the current state of the store.
pub(crate) fn until_idle<S: PartialEq>(looks: u32, mut look: impl FnMut() -> (bool, S)) {
    let (_, mut last) = look();
    let mut idle = 0;
    while idle < looks {
        std::thread::sleep(PERIOD);
        let (is_busy, state) = look();
        idle = if is_busy || state != last { 0 } else { idle + 1 };
        last = state;
    }
}

/// Returns the path and the size in bytes of each file in `directory`, sorted by path. The background work of an engine
/// changes these files, so an engine whose files stay the same is idle.
#[cfg_attr(not(any(feature = "more-peers", feature = "wiredtiger")), cfg(test))]
pub(crate) fn files(directory: &std::path::Path) -> Vec<(std::path::PathBuf, u64)> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().filter_map(Result::ok);
    let mut files: Vec<_> =
        entries.map(|entry| (entry.path(), entry.metadata().map_or(0, |metadata| metadata.len()))).collect();
    files.sort();
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_sorted_and_have_sizes() {
        let folder = tempfile::tempdir().unwrap();
        let (first, second) = (folder.path().join("a"), folder.path().join("b"));
        assert_eq!(files(folder.path()), []);
        std::fs::write(&second, "12").unwrap();
        std::fs::write(&first, "123").unwrap();
        assert_eq!(files(folder.path()), [(first, 3), (second, 2)]);
        assert_eq!(files(&folder.path().join("absent")), []);
    }

    #[test]
    fn it_waits_for_the_last_change() {
        let mut looks = 0;
        until_idle(SEEN, || {
            looks += 1;
            (looks < 5, u32::min(looks, 8))
        });
        assert!(looks >= 8 + SEEN, "{looks}");
    }
}
