//! Computes the page, record and cache sizes of a bf-tree store from the settings of a design.

use crate::entry_limits::EntryLimits;
use crate::options::EngineOptions;

/// The unit of page sizes in bytes. Every page size is a multiple of this unit, and at most `LARGEST_PAGE`.
const PAGE_UNIT: u64 = 4096;
const LARGEST_PAGE: u64 = 32 << 10;

/// The number of bytes that headers and padding take in half a page. The other bytes limit the size of a record.
const PAGE_OVERHEAD: usize = 128;

/// The maximum number of records in a page of bf-tree.
const MOST_RECORDS: usize = 4096;

/// The sizes that configure a bf-tree store, in bytes.
#[cfg_attr(not(feature = "more-peers"), allow(dead_code))]
#[derive(Clone, Copy)]
pub(super) struct Sizes {
    pub(super) page: usize,
    pub(super) key: usize,
    /// The size of the largest record, where a record is a key together with its value. `least_record` is the size of
    /// the smallest record.
    pub(super) record: usize,
    pub(super) least_record: usize,
    pub(super) cache: usize,
}

impl Sizes {
    /// Derives the sizes from the block size and the cache capacity of `settings`, for keys of at most `key` bytes.
    pub(super) fn of(settings: &EngineOptions, key: usize) -> Self {
        let page = (settings.block_bytes / PAGE_UNIT * PAGE_UNIT).clamp(PAGE_UNIT, LARGEST_PAGE) as usize;
        // bf-tree needs a cache whose size is a power of two and that has space for many pages.
        let cache = settings.cache_bytes.max(16 * LARGEST_PAGE);
        Self {
            page,
            key,
            record: page / 2 - key - PAGE_OVERHEAD,
            least_record: (page / MOST_RECORDS).max(2),
            cache: 1 << cache.ilog2(),
        }
    }

    /// Returns the sizes of keys and values whose records fit into a page.
    pub(super) fn limits(&self) -> EntryLimits {
        EntryLimits { key_bytes: 1..=self.key, value_bytes: self.least_record - 1..=self.record - self.key }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_fits_into_half_a_page() {
        let of = |block_bytes, cache_bytes| {
            let settings = EngineOptions { cache_bytes, block_bytes, ..EngineOptions::default() };
            let sizes = Sizes::of(&settings, 64);
            (sizes.page, *sizes.limits().value_bytes.end(), sizes.cache)
        };
        assert_eq!(of(4096, 64 << 20), (4096, 1792, 64 << 20));
        assert_eq!(of(1, 0), (4096, 1792, 512 << 10));
        assert_eq!(of(10_000, 100 << 20), (8192, 3840, 64 << 20));
        assert_eq!(of(1 << 20, 1 << 20), (32_768, 16_128, 1 << 20));
    }
}
