//! The trait of sorted views. A policy returns its decision as plain data.

/// Decides whether scans read through a sorted view of all sorted runs.
///
/// Contract: every call returns an equal decision. A tree calls this trait only once, when the tree is opened, so scans
/// make no call through this trait.
pub trait SortedViewPolicy: Send + Sync {
    /// Returns the largest number of entries in a segment of the sorted view, 1 to
    /// [`MOST_SEGMENT_ENTRIES`]. `None` if scans merge the sorted runs.
    fn segment_entries(&self) -> Option<usize>;
}

/// The largest number of entries in a segment.
pub const MOST_SEGMENT_ENTRIES: usize = 1024;
