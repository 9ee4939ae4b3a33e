//! Prefetches the bytes of an open SSTable that will be read soon. If pages of a memory-mapped SSTable are not in
//! memory, announces them to the storage.

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

use prefetch::prefetch_all;
use storage::ReadFile;
use types::avalanche;

use super::directory::Directory;
use super::entry_spacing::EntrySpacing;
use super::properties::Properties;

/// The number of consecutive checks after which the prefetcher assumes that the SSTable is in memory, if each of them
/// has found its part in memory. From then on, the prefetcher checks only a few of the next parts.
///
/// A check costs one or two microseconds in the kernel. If a part is not in memory and was not announced, the kernel
/// reads the part page by page, which takes some milliseconds.
const CHECKED_PARTS: u32 = 4096;

/// The mean number of parts per check, while the prefetcher assumes that the SSTable is in memory.
const PARTS_PER_CHECK: u64 = 32;

/// Prefetches the parts of an open SSTable that will be read soon.
pub(super) struct Prefetcher {
    stride: Option<EntrySpacing>,
    /// The number of consecutive checks that found a part of the SSTable in memory, up to [`CHECKED_PARTS`].
    in_memory: AtomicU32,
}

impl Prefetcher {
    /// Creates the prefetcher of an SSTable that is being opened.
    pub(super) fn new(properties: &Properties, directory: &Directory) -> Self {
        Self { stride: EntrySpacing::of(properties, directory), in_memory: AtomicU32::new(0) }
    }

    /// Prefetches the bytes of a data block that a search or a scan reads first.
    #[inline]
    pub(super) fn prefetch(&self, block: &[u8]) {
        match self.stride {
            Some(stride) => stride.prefetch(block),
            None => prefetch_all(block),
        }
    }

    /// Announces to the storage that a part of the SSTable will be read sequentially, unless the part is in memory. For
    /// a part in memory, the announcement would cost as much kernel time as a scan of the part.
    pub(super) fn expect(&self, file: &dyn ReadFile, offset: u64, len: usize) {
        let is_assumed_in_memory = self.in_memory.load(Relaxed) >= CHECKED_PARTS;
        if is_assumed_in_memory && !is_always_checked(offset) {
            return;
        }
        if !file.is_in_memory((offset + len as u64).saturating_sub(1)) {
            self.in_memory.store(0, Relaxed);
            file.expect(offset, len);
        } else if !is_assumed_in_memory {
            self.in_memory.fetch_add(1, Relaxed);
        }
    }
}

/// Returns whether the prefetcher always checks the part that begins at `offset`, even if it assumes that the SSTable
/// is in memory.
fn is_always_checked(offset: u64) -> bool {
    // The parts of a scan begin at equal distances. Without the hash, a scan might check all of its parts or none of
    // them.
    avalanche(offset).is_multiple_of(PARTS_PER_CHECK)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use storage::StorageError;
    use types::Bytes;

    use super::*;

    /// A file that counts the checks and the announcements of the prefetcher.
    #[derive(Default)]
    struct Asked {
        is_in_memory: AtomicBool,
        questions: AtomicU32,
        expected: AtomicU32,
    }

    impl ReadFile for Asked {
        fn read(&self, _: u64, _: usize) -> Result<Bytes, StorageError> {
            unreachable!("nothing is read")
        }

        fn expect(&self, _: u64, _: usize) {
            self.expected.fetch_add(1, Relaxed);
        }

        fn is_in_memory(&self, _: u64) -> bool {
            self.questions.fetch_add(1, Relaxed);
            self.is_in_memory.load(Relaxed)
        }

        fn len(&self) -> u64 {
            1 << 30
        }
    }

    const PAGE_BYTES: u64 = 4 << 10;

    /// Announces `parts` parts at a distance of `pages` pages. Returns the number of checks and the number of
    /// announcements.
    fn tell(ahead: &Prefetcher, file: &Asked, parts: u32, pages: u64) -> (u32, u32) {
        let before = (file.questions.load(Relaxed), file.expected.load(Relaxed));
        (0..u64::from(parts))
            .for_each(|part| ahead.expect(file, part * pages * PAGE_BYTES, PAGE_BYTES as usize));
        (file.questions.load(Relaxed) - before.0, file.expected.load(Relaxed) - before.1)
    }

    #[test]
    fn what_was_always_in_memory_is_asked_about_rarely_and_all_else_each_time() {
        for pages in [1, 32, 33] {
            let (ahead, file) = (Prefetcher { stride: None, in_memory: AtomicU32::new(0) }, Asked::default());
            assert_eq!(tell(&ahead, &file, 100, pages), (100, 100), "nothing is in memory");
            file.is_in_memory.store(true, Relaxed);
            assert_eq!(tell(&ahead, &file, CHECKED_PARTS, pages), (CHECKED_PARTS, 0));
            let (questions, expected) = tell(&ahead, &file, 3200, pages);
            assert!((50..200).contains(&questions) && expected == 0, "{questions} for {pages} pages");
            file.is_in_memory.store(false, Relaxed);
            let (_, expected) = tell(&ahead, &file, 3200, pages);
            assert!((3000..=3200).contains(&expected), "{expected} for {pages} pages");
        }
    }
}
