//! A sorted view of all sorted runs: REMIX, the range-query-efficient multi-table index.
//!
//! Source: Zhong et al., "REMIX: Efficient Range Query for LSM-trees" (FAST 2021). The view contains one byte per entry
//! of the tree, in the key order of all entries. The byte contains the number of the sorted run with the entry, and a
//! flag that is set if the entry is an older version of the previous key. A segment is a part of this sequence. For
//! each segment, the view contains the smallest key, and the position in each sorted run of the first entry at or after
//! this key.
//!
//! A seek needs one binary search over the segments and one binary search in a segment, in place of one search per
//! sorted run. After the seek, a scan needs no key comparisons, and reads only the blocks of returned entries.
//!
//! The tree updates the view after each flush and each compaction. The update copies the unchanged parts of the view,
//! and searches only for the keys of new SSTables, as in section 3.4 of the source. Opening a tree reads all its keys,
//! because the tree does not store the view.

use catalog::{Build, Variant};
use serde::{Deserialize, Serialize};

use super::policy::{MOST_SEGMENT_ENTRIES, SortedViewPolicy};

pub(super) const VARIANT: Variant<dyn SortedViewPolicy> = Variant::new::<Remix>(
    "remix",
    "scans follow a sorted view of all sorted runs, without key comparisons after the seek",
    "# Largest number of entries in a segment of the view, 1 to 1024. Larger segments need less memory, but each seek\n\
     # reads more keys.\n\
     segment_entries = 32\n",
);

/// The sorted-view policy `remix` with its parameters.
struct Remix(Params);

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    segment_entries: usize,
}

impl Default for Params {
    fn default() -> Self {
        Self { segment_entries: 32 }
    }
}

impl Build<dyn SortedViewPolicy> for Remix {
    type Params = Params;

    fn build(params: Params) -> Result<Box<dyn SortedViewPolicy>, String> {
        match params.segment_entries {
            1..=MOST_SEGMENT_ENTRIES => Ok(Box::new(Self(params))),
            entries => {
                Err(format!("segment_entries is {entries}; it must be from 1 to {MOST_SEGMENT_ENTRIES}"))
            }
        }
    }
}

impl SortedViewPolicy for Remix {
    fn segment_entries(&self) -> Option<usize> {
        Some(self.0.segment_entries)
    }
}
