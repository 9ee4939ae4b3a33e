//! A design: one variant with its parameters for each axis, and the options that belong to no axis.

use catalog::{ByteSize, Choice, ChoiceError, Limit};
use memtable::MemtablePolicy;

use super::axes::{self, AXES};
use super::families::{FamilyDesigns, FamilyLayout};
use super::options::Options;

/// The smallest valid capacity of a memtable, in bytes.
pub(super) const LEAST_MEMTABLE_BYTES: u64 = 1024;

/// The definition of a tree: one variant with its parameters for each axis, and the options that belong to no axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Design {
    /// The chosen variants with their parameters, in the order of [`AXES`].
    pub(super) choices: Vec<Choice>,
    /// The size at which a memtable becomes immutable: the bytes of its keys and values, plus 8 bytes per entry.
    pub memtable_capacity: ByteSize,
    /// The number of writes at which a memtable becomes immutable, even if the memtable is smaller than its capacity.
    /// `None` means no limit.
    pub memtable_entries: Option<u64>,
    /// The size of the Bloom filter of each memtable, as in `RocksDB`. `None` means no filter.
    pub memtable_filter: Option<ByteSize>,
    /// Whether each memtable keeps its smallest and its largest key, so that gets of keys outside this range skip the
    /// memtable (the document cs265, section 2.2.2).
    pub memtable_key_range: bool,
    /// The options of the design that belong to no axis, such as the block size.
    pub options: Options,
    /// The column families. Empty if the store is one tree without families.
    pub(super) families: FamilyDesigns,
}

impl Design {
    /// Returns the chosen variant of the axis `axis`, with its parameters.
    ///
    /// # Panics
    /// If the axis does not exist.
    pub fn choice(&self, axis: &str) -> &Choice {
        &self.choices[axes::index(axis).unwrap_or_else(|| panic!("a design must have the axis \"{axis}\""))]
    }

    /// Returns the chosen variants with the names of their axes, in the order of [`AXES`].
    pub fn choices(&self) -> impl Iterator<Item = (&'static str, &Choice)> {
        AXES.iter().map(|axis| axis.name()).zip(&self.choices)
    }

    /// Returns the limitations of the chosen variants, such as data loss at the end of the process. Each limitation
    /// comes with the axis and the variant.
    pub fn limits(&self) -> Vec<(&'static str, &Choice, Limit)> {
        let mut limits = Vec::new();
        for (axis, choice) in AXES.iter().zip(&self.choices) {
            limits.extend(axis.limits(choice).iter().map(|limit| (axis.name(), choice, *limit)));
        }
        limits
    }

    /// Returns whether the fence is divided into pages, which the tree reads from storage through the cache.
    pub fn has_paged_fence(&self) -> bool {
        fence::CATALOG.build(self.choice(axes::FENCE)).is_ok_and(|fence| fence.alignment() > 1)
    }

    /// Returns the bits per key of the filters, from the parameters of the filter. Returns `None` if the design has no
    /// filters, or if the filter variant has no such parameter.
    pub fn filter_bits_per_key(&self) -> Option<f64> {
        bloom::CATALOG.build(self.choice(axes::BLOOM)).ok()?.bits_per_key()
    }

    /// Returns whether every value is stored in an SSTable, next to its key.
    pub fn keeps_values_inline(&self) -> bool {
        crate::values::CATALOG
            .variants()
            .first()
            .is_some_and(|inline| inline.kind == self.choice("values").kind())
    }

    /// Returns whether an arbiter changes the sizes of memtables, filters and cache while a tree is open.
    pub fn moves_memory(&self) -> bool {
        crate::arbiter::CATALOG
            .build(self.choice(axes::ARBITER))
            .is_ok_and(|arbiter| arbiter.period().is_some())
    }

    /// Returns the axis and the variant that maintain an index over all sorted runs: a sorted view, or a culling method
    /// with an index of keys. Returns `None` if reads use only the filters and fences of single SSTables.
    pub fn index_of_all_runs(&self) -> Option<(&'static str, &Choice)> {
        let sorted_view = self.choice(axes::SORTED_VIEW);
        let segments = crate::sorted_view::CATALOG.build(sorted_view).ok()?.segment_entries();
        let culling = self.choice(axes::CULLING);
        let has_keys = fence::culling::CATALOG.build(culling).ok()?.key_index(&[]).is_some();
        match segments {
            Some(_) => Some((axes::SORTED_VIEW, sorted_view)),
            None => has_keys.then_some((axes::CULLING, culling)),
        }
    }

    /// Returns the smallest valid capacity of a memtable, in bytes.
    pub(crate) fn least_memtable_bytes(&self) -> u64 {
        self.memtable_filter.map_or(LEAST_MEMTABLE_BYTES, |filter| filter.0.max(LEAST_MEMTABLE_BYTES))
    }

    /// Returns the factory of the memtables, with the memtable filter and the key range of the design.
    ///
    /// # Errors
    /// If a parameter is out of range. The error names the parameter.
    pub fn memtables(&self) -> Result<Box<dyn MemtablePolicy>, ChoiceError> {
        let mut memtables = memtable::CATALOG.build(self.choice(axes::MEMTABLE))?;
        if let Some(filter) = self.memtable_filter {
            memtables = memtable::with_filter(memtables, filter.0 as usize);
        }
        if self.memtable_key_range {
            memtables = memtable::with_key_range(memtables);
        }
        Ok(memtables)
    }

    /// Returns the names of the column families, in ascending order. Returns no names if the store has no families.
    pub fn families(&self) -> impl Iterator<Item = &str> {
        self.families.names()
    }

    /// Returns whether the store has column families and each family is a separate tree.
    pub fn has_family_trees(&self) -> bool {
        !self.families.is_empty() && self.families.layout == FamilyLayout::Trees
    }

    /// Returns where the data of the column families is stored.
    pub fn family_layout(&self) -> FamilyLayout {
        self.families.layout
    }

    /// Returns the sequence number of the write with which a memtable reaches its maximum number of entries and is
    /// full. `first` is the sequence number of the first write in the memtable. Returns `u64::MAX` if the number of
    /// entries has no limit.
    pub(crate) fn full_from(&self, first: u64) -> u64 {
        self.memtable_entries.map_or(u64::MAX, |entries| first.saturating_add(entries))
    }
}
