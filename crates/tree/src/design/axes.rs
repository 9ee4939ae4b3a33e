//! The list of all axes of a design, in the order in which the program lists them.

use catalog::Axis;

/// The name of the memtable axis. In TOML, its table also contains the keys of the memtable itself, such as
/// `capacity`.
pub(super) const MEMTABLE: &str = "memtable";

/// The name of the axis of fence pointers, which map a key to its data block.
pub(super) const FENCE: &str = "fence";

/// The name of the filter axis. Its table in TOML may also contain the axis [`ALLOCATION`].
pub(super) const BLOOM: &str = "bloom";

/// The name of the axis that allocates the memory of filters to levels.
pub(super) const ALLOCATION: &str = "allocation";

/// The name of the axis that decides which sorted runs are compacted.
pub(super) const COMPACTION: &str = "compaction";

/// The name of the group of block options. Its table in TOML may also contain the axis [`FORMAT`].
pub(super) const BLOCK: &str = "block";

/// The name of the axis of block formats.
pub(super) const FORMAT: &str = "format";

/// The name of the block cache axis.
pub(super) const CACHE: &str = "cache";

/// The name of the axis that splits the memory between memtables, filters and cache.
pub(super) const ARBITER: &str = "arbiter";

/// The name of the axis that selects the SSTables that can contain a key, in one sorted run or in all sorted runs.
pub(super) const CULLING: &str = "culling";

/// The name of the axis of sorted views, which give scans the key order of all sorted runs.
pub(super) const SORTED_VIEW: &str = "sorted_view";

/// All axes of a design: first the six axes that have their own crates, then the other axes.
pub static AXES: [&dyn Axis; 15] = [
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
    &crate::values::CATALOG,
    &crate::arbiter::CATALOG,
    &crate::sorted_view::CATALOG,
];

/// Returns the axis with the given name, or `None` if no axis has this name.
pub fn axis(name: &str) -> Option<&'static dyn Axis> {
    index(name).map(|index| AXES[index])
}

/// Returns the position of an axis in [`AXES`], or `None` if no axis has this name.
pub(super) fn index(name: &str) -> Option<usize> {
    AXES.iter().position(|axis| axis.name() == name)
}
