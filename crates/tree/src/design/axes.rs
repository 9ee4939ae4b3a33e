//! The axes of a design, in the order in which they are listed.

use catalog::Axis;

/// The name of the axis that carries a capacity beside its choice.
pub(super) const MEMTABLE: &str = "memtable";

/// The axis whose tables in TOML may hold the choice on [`ALLOCATION`] too.
pub(super) const BLOOM: &str = "bloom";

/// The name of the axis that shares the filters' memory out over the levels.
pub(super) const ALLOCATION: &str = "allocation";

/// The name of the axis that decides which runs are merged.
pub(super) const COMPACTION: &str = "compaction";

/// The group of plain options whose table in TOML may hold the choice on [`FORMAT`] too.
pub(super) const BLOCK: &str = "block";

/// The name of the axis that lays out the entries of a block.
pub(super) const FORMAT: &str = "format";

/// All axes: the six that are crates of their own, then the plainer ones.
pub static AXES: [&dyn Axis; 12] = [
    &memtable::CATALOG,
    &bloom::CATALOG,
    &bloom::ALLOCATIONS,
    &fence::CATALOG,
    &fence::culling::CATALOG,
    &compaction::CATALOG,
    &cache::CATALOG,
    &compression::CATALOG,
    &crate::table::FORMATS,
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
