//! The trait of sorted-view policies, which decide whether a tree maintains a sorted view.

/// Decides whether scans follow a sorted view of all sorted runs.
///
/// Contract: every call returns the same value. A tree calls this trait only once, when the tree is opened, so scans
/// make no call through this trait.
pub trait SortedViewPolicy: Send + Sync {
    /// Returns the largest number of entries in a segment of the sorted view, 1 to [`MOST_SEGMENT_ENTRIES`]. Returns
    /// `None` if the tree has no sorted view and scans merge the sorted runs.
    fn segment_entries(&self) -> Option<usize>;
}

/// The maximum for the number of entries in a segment of a sorted view.
pub const MOST_SEGMENT_ENTRIES: usize = 1024;
