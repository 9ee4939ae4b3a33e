//! The adaptive fence (fence pointers) of the published system cs265. The fence keeps two layouts of its SSTable, and
//! the recent searches determine which layout the next searches use.
//!
//! Source: section 2.3.2 of the document ("based on data size and access patterns"), and section 4.4.5 ("maintains both
//! layout strategies"). A large SSTable always uses the layout "eytzinger". A smaller SSTable uses "eytzinger" if many
//! of its recent searches were starts of scans, and "binary" otherwise. The document states neither the share of scans
//! nor the number of searches, so both values are parameters. The layouts of "binary" and "eytzinger" both stay in
//! memory, so the fence takes the memory of both layouts.
//!
//! Each search increments one counter that all threads share. In a counted run, which counts blocks and bytes instead
//! of measuring times, only one thread searches. The selection is therefore the same in every counted run.
//!
//! ```text
//! tag [u8; 4] | bytes of the layout "binary" u64 | layout "binary" | layout "eytzinger"
//! ```

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use catalog::{Build, Count, Variant, origin};
use fence::{CATALOG, Fence, FenceError, FenceInput, FencePolicy, TableReadError, TableView};
use serde::{Deserialize, Serialize};
use types::{Bytes, HashedKey};

/// The variant `by-access`: the adaptive fence pointers of the published system cs265, which select a layout by size
/// and by access pattern.
pub static VARIANT: Variant<dyn FencePolicy> = Variant::new::<ByAccess>(
    "by-access",
    "keeps the layouts \"binary\" and \"eytzinger\", and selects one by size and by the recent share of scans (cs265)",
    "# Minimum number of separators with which an SSTable always uses the layout \"eytzinger\".\n\
     eytzinger_threshold = 5000\n\
     # Share of scans among the searches of an SSTable, 0 to 1. At or above this share, the SSTable uses the\n\
     # layout \"eytzinger\", and below it \"binary\".\n\
     range_share = 0.5\n\
     # Number of searches of an SSTable between two selections, 1 to 1 million.\n\
     window = 1000\n",
)
.from(origin!());

const TAG: [u8; 4] = *b"facc";

/// The number of stored bytes before the first layout of the fence pointers.
const HEAD_BYTES: u64 = 12;

/// The largest number of searches between two selections of a layout. The limit exists because one 64-bit number
/// contains the counts of lookups and scans.
const MAX_WINDOW: u64 = 1_000_000;

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    eytzinger_threshold: Count,
    range_share: f64,
    window: Count,
}

impl Default for Params {
    fn default() -> Self {
        Self { eytzinger_threshold: Count(5000), range_share: 0.5, window: Count(1000) }
    }
}

/// A policy that builds fence pointers in two layouts, "binary" and "eytzinger".
struct ByAccess {
    params: Params,
    /// The policies that build fence pointers in the layouts "binary" and "eytzinger".
    layouts: [Box<dyn FencePolicy>; 2],
}

impl Build<dyn FencePolicy> for ByAccess {
    type Params = Params;

    fn build(params: Params) -> Result<Box<dyn FencePolicy>, String> {
        if !(0.0..=1.0).contains(&params.range_share) {
            return Err(format!("range_share is {}; it must be a share from 0 to 1", params.range_share));
        }
        if !(1..=MAX_WINDOW).contains(&params.window.0) {
            return Err(format!("window is {}; it must be 1 to {MAX_WINDOW} searches", params.window.0));
        }
        let layout = |kind| {
            let variant = CATALOG.variant(kind).map_err(|error| error.to_string())?;
            CATALOG.build(&variant.default_choice()).map_err(|error| error.to_string())
        };
        Ok(Box::new(Self { params, layouts: [layout("binary")?, layout("eytzinger")?] }))
    }
}

impl FencePolicy for ByAccess {
    fn build(&self, input: &FenceInput<'_>) -> Vec<u8> {
        let [small, large] = self.layouts.each_ref().map(|layout| layout.build(input));
        [&TAG[..], &(small.len() as u64).to_le_bytes(), &small, &large].concat()
    }

    fn open(&self, table: &dyn TableView) -> Result<Box<dyn Fence>, FenceError> {
        let corrupt = || {
            FenceError::Corrupt(
                "another variant than \"by-access\" wrote the stored fence, or its bytes are corrupt"
                    .to_owned(),
            )
        };
        let end = table.stored_bytes();
        let head = table.read_stored(0..end.min(HEAD_BYTES))?;
        let length = head.strip_prefix(&TAG).and_then(|bytes| bytes.first_chunk()).ok_or_else(corrupt)?;
        let middle = u64::from_le_bytes(*length).checked_add(HEAD_BYTES).filter(|middle| *middle <= end);
        let middle = middle.ok_or_else(corrupt)?;
        let [small, large] = &self.layouts;
        Ok(Box::new(ByAccessFence {
            layouts: [
                small.open(&Part { table, range: HEAD_BYTES..middle })?,
                large.open(&Part { table, range: middle..end })?,
            ],
            is_large: u64::from(table.block_count()) >= self.params.eytzinger_threshold.0,
            range_share: self.params.range_share,
            window: self.params.window.0,
            searches: AtomicU64::new(0),
            is_scanned: AtomicBool::new(false),
        }))
    }
}

/// A view of an SSTable that contains the fence pointers in only one of their two layouts.
struct Part<'a> {
    table: &'a dyn TableView,
    range: Range<u64>,
}

impl Part<'_> {
    fn within(&self, part: &Range<u64>) -> Result<Range<u64>, TableReadError> {
        let end = self.range.start.checked_add(part.end).filter(|end| *end <= self.range.end);
        let end = end
            .ok_or_else(|| format!("the byte range {part:?} is outside of the stored layout of the fence"))?;
        Ok(self.range.start + part.start..end)
    }
}

impl TableView for Part<'_> {
    fn block_count(&self) -> u32 {
        self.table.block_count()
    }

    fn stored_bytes(&self) -> u64 {
        self.range.end - self.range.start
    }

    fn read_stored(&self, range: Range<u64>) -> Result<Bytes, TableReadError> {
        self.table.read_stored(self.within(&range)?)
    }

    fn page(&self, range: Range<u64>) -> Result<Bytes, TableReadError> {
        self.table.page(self.within(&range)?)
    }

    fn first_key(&self, block: u32) -> Result<Bytes, TableReadError> {
        self.table.first_key(block)
    }
}

/// The fence pointers of one SSTable in the layouts "binary" and "eytzinger". The searches are counted, and the counts
/// determine which layout the next searches use.
struct ByAccessFence {
    /// The fence pointers in the layout "binary", and in the layout "eytzinger".
    layouts: [Box<dyn Fence>; 2],
    is_large: bool,
    range_share: f64,
    window: u64,
    /// The numbers of searches since the last selection of a layout. The lower 32 bits count lookups, and the upper 32
    /// bits count scans.
    searches: AtomicU64,
    /// Whether the last selection of a layout found many scans: at least the fraction `range_share` of the counted
    /// searches.
    is_scanned: AtomicBool,
}

impl ByAccessFence {
    /// Counts searches of the SSTable, and returns the fence pointers in the layout that these searches use.
    fn layout(&self, lookups: u64, scans: u64) -> &dyn Fence {
        let added = scans << u32::BITS | lookups;
        let counted = self.searches.fetch_add(added, Ordering::Relaxed).wrapping_add(added);
        let (lookups, scans) = (u64::from(counted as u32), counted >> u32::BITS);
        if lookups + scans >= self.window {
            self.searches.store(0, Ordering::Relaxed);
            let is_scanned = scans as f64 >= self.range_share * (lookups + scans) as f64;
            self.is_scanned.store(is_scanned, Ordering::Relaxed);
        }
        &*self.layouts[usize::from(self.is_large || self.is_scanned.load(Ordering::Relaxed))]
    }
}

impl Fence for ByAccessFence {
    fn seek(&self, key: &[u8], table: &dyn TableView) -> Result<u32, FenceError> {
        self.layout(0, 1).seek(key, table)
    }

    fn find(&self, key: HashedKey<'_>, table: &dyn TableView) -> Result<u32, FenceError> {
        self.layout(1, 0).find(key, table)
    }

    fn find_batch(
        &self,
        keys: &[HashedKey<'_>],
        blocks: &mut [u32],
        table: &dyn TableView,
    ) -> Result<(), FenceError> {
        self.layout(keys.len() as u64, 0).find_batch(keys, blocks, table)
    }

    fn memory_bytes(&self) -> usize {
        self.layouts.iter().map(|layout| layout.memory_bytes()).sum()
    }
}

#[cfg(test)]
mod tests {
    use types::KeyHash;

    use super::*;
    use crate::testing::Stored;

    /// A layout that returns its number.
    struct Numbered(u32);

    impl Fence for Numbered {
        fn seek(&self, _: &[u8], _: &dyn TableView) -> Result<u32, FenceError> {
            Ok(self.0)
        }

        fn memory_bytes(&self) -> usize {
            24
        }
    }

    fn fence(is_large: bool) -> ByAccessFence {
        ByAccessFence {
            layouts: [Box::new(Numbered(0)), Box::new(Numbered(1))],
            is_large,
            range_share: 0.5,
            window: 10,
            searches: AtomicU64::new(0),
            is_scanned: AtomicBool::new(false),
        }
    }

    #[test]
    fn scans_switch_to_eytzinger_and_gets_switch_back() {
        let (fence, table) = (fence(false), Stored { bytes: Vec::new(), blocks: 2 });
        let key = HashedKey { bytes: b"key", hash: KeyHash(0) };
        let find = || fence.find(key, &table).unwrap();
        let seek = || fence.seek(b"key", &table).unwrap();
        assert_eq!([(); 9].map(|()| find()), [0; 9]);
        assert_eq!((seek(), find()), (0, 0), "one scan in ten searches");
        assert_eq!([(); 4].map(|()| find()), [0; 4]);
        assert_eq!([(); 4].map(|()| seek()), [0; 4]);
        assert_eq!((seek(), find()), (1, 1), "five scans in ten searches");
        let mut blocks = [9; 9];
        fence.find_batch(&[key; 9], &mut blocks, &table).unwrap();
        assert_eq!(blocks, [0; 9], "a batch of nine gets is the end of a window of gets");
        assert_eq!(fence.memory_bytes(), 48, "two layouts of 24 bytes, not 30 bytes as in section 4.4.5");
    }

    #[test]
    fn a_large_table_is_always_searched_in_eytzinger_order() {
        let (fence, table) = (fence(true), Stored { bytes: Vec::new(), blocks: 2 });
        let key = HashedKey { bytes: b"key", hash: KeyHash(0) };
        assert_eq!([(); 25].map(|()| fence.find(key, &table).unwrap()), [1; 25]);
    }

    #[test]
    fn impossible_parameters_are_refused() {
        for (params, named) in [
            (Params { range_share: 1.5, ..Params::default() }, "range_share is 1.5"),
            (Params { range_share: f64::NAN, ..Params::default() }, "range_share is NaN"),
            (Params { window: Count(0), ..Params::default() }, "window is 0"),
            (Params { window: Count(2_000_000), ..Params::default() }, "1 to 1000000"),
        ] {
            let error = <ByAccess as Build<_>>::build(params).err().unwrap();
            assert!(error.contains(named), "{error}");
        }
    }
}
