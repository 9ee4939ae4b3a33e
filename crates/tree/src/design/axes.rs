//! The axes of a design, in the order in which they are listed.

use catalog::Axis;

/// The name of the axis that carries a capacity beside its choice.
pub(super) const MEMTABLE: &str = "memtable";

/// All axes: the six that are crates of their own, then the plainer ones.
pub static AXES: [&dyn Axis; 10] = [
    &memtable::CATALOG,
    &bloom::CATALOG,
    &fence::CATALOG,
    &fence::culling::CATALOG,
    &compaction::CATALOG,
    &cache::CATALOG,
    &compression::CATALOG,
    &storage::CATALOG,
    &crate::wal::CATALOG,
    &crate::hash::CATALOG,
];

/// The axis of this name.
pub fn axis(name: &str) -> Option<&'static dyn Axis> {
    index(name).map(|index| AXES[index])
}

/// The place of an axis in [`AXES`].
pub(super) fn index(name: &str) -> Option<usize> {
    AXES.iter().position(|axis| axis.name() == name)
}
