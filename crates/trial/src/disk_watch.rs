//! Watches the disk space that a store occupies while a phase runs.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::Thread;
use std::time::Duration;

/// The time between two measurements of the disk space of a store. A measurement reads the size of every file of the
/// store.
const PERIOD: Duration = Duration::from_secs(1);

/// The latest and the largest measured disk space of a store, in bytes. The value 0 means that the disk space is
/// unknown.
#[derive(Default)]
pub(super) struct DiskWatch {
    latest_bytes: AtomicU64,
    peak_bytes: AtomicU64,
}

impl DiskWatch {
    /// Runs `work` while another thread measures the disk space once per second by calling `measure`. Returns the
    /// result of `work` and the largest measured number of bytes. The number is `None` if the disk space is unknown.
    pub(super) fn during<T>(
        &self,
        measure: impl Fn() -> Option<u64> + Sync,
        work: impl FnOnce() -> T,
    ) -> (T, Option<u64>) {
        self.peak_bytes.store(0, Ordering::Relaxed);
        self.note(measure());
        if self.latest().is_none() {
            return (work(), None);
        }
        let over = AtomicBool::new(false);
        let done = std::thread::scope(|scope| {
            let watcher = scope.spawn(|| {
                while !over.load(Ordering::Acquire) {
                    std::thread::park_timeout(PERIOD);
                    self.note(measure());
                }
            });
            // A panic of the work ends the watcher, too.
            let _end = EndOfWork { over: &over, watcher: watcher.thread() };
            work()
        });
        self.note(measure());
        (done, known(self.peak_bytes.load(Ordering::Relaxed)))
    }

    /// Returns the latest measured disk space of the store in bytes. `None` if the disk space is unknown.
    pub(super) fn latest(&self) -> Option<u64> {
        known(self.latest_bytes.load(Ordering::Relaxed))
    }

    fn note(&self, measured: Option<u64>) {
        let bytes = measured.unwrap_or(0);
        self.latest_bytes.store(bytes, Ordering::Relaxed);
        self.peak_bytes.fetch_max(bytes, Ordering::Relaxed);
    }
}

/// Stops the thread that watches the disk space when this value is dropped, also after a panic.
struct EndOfWork<'a> {
    over: &'a AtomicBool,
    watcher: &'a Thread,
}

impl Drop for EndOfWork<'_> {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Release);
        self.watcher.unpark();
    }
}

fn known(bytes: u64) -> Option<u64> {
    (bytes > 0).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peak_is_the_largest_measurement_of_the_work() {
        let (watch, bytes) = (DiskWatch::default(), AtomicU64::new(7));
        let measure = || Some(bytes.load(Ordering::Acquire));
        // The measurement after the end of the work finds 30 bytes.
        assert_eq!(watch.during(measure, || bytes.store(30, Ordering::Release)), ((), Some(30)));
        assert_eq!(watch.latest(), Some(30));
        bytes.store(5, Ordering::Release);
        assert_eq!(watch.during(measure, || 1), (1, Some(5)));
    }

    #[test]
    fn a_store_without_files_has_no_space() {
        let watch = DiskWatch::default();
        assert_eq!(watch.during(|| None, || 1), (1, None));
        assert_eq!(watch.latest(), None);
    }
}
