//! No sorted view. Each scan merges the sorted runs of the tree.

use catalog::Variant;

use super::policy::SortedViewPolicy;

pub(super) const VARIANT: Variant<dyn SortedViewPolicy> =
    Variant::plain("none", "each scan merges the sorted runs, with key comparisons for each entry", || {
        Box::new(Merged)
    });

/// The sorted-view policy `none`, which has no parameters.
struct Merged;

impl SortedViewPolicy for Merged {
    fn segment_entries(&self) -> Option<usize> {
        None
    }
}
