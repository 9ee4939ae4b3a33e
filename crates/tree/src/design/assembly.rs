//! A design: one choice on every axis, and options that belong to no axis.

use catalog::{ByteSize, Choice, ChoiceError, Limit};
use memtable::MemtablePolicy;

use super::axes::{self, AXES};
use super::options::Options;

/// A design: one choice on every axis, and options that belong to no axis. A tree is assembled from its design.
#[derive(Clone, Debug, PartialEq)]
pub struct Design {
    /// One choice per axis, in the order of [`AXES`].
    pub(super) choices: Vec<Choice>,
    /// The bytes of keys and values, plus eight per entry, after which a memtable becomes immutable.
    pub memtable_capacity: ByteSize,
    /// The number of writes after which a memtable becomes immutable, if it is not full earlier; `None` for no limit.
    pub memtable_entries: Option<u64>,
    /// The size of the Bloom filter in front of each memtable (`RocksDB`); `None` for no filter.
    pub memtable_filter: Option<ByteSize>,
    /// Whether each memtable keeps its smallest and largest key, and skips lookups of keys outside (cs265, section
    /// 2.2.2).
    pub memtable_key_range: bool,
    /// The plain options, which belong to no axis.
    pub options: Options,
}

impl Design {
    /// Returns the choice on an axis.
    ///
    /// # Panics
    /// If there is no such axis.
    pub fn choice(&self, axis: &str) -> &Choice {
        &self.choices[axes::index(axis).unwrap_or_else(|| panic!("there is no axis {axis}"))]
    }

    /// Returns all choices with the names of their axes, in the order of [`AXES`].
    pub fn choices(&self) -> impl Iterator<Item = (&'static str, &Choice)> {
        AXES.iter().map(|axis| axis.name()).zip(&self.choices)
    }

    /// Returns the limits of the design, each with the axis and the choice that causes it.
    pub fn limits(&self) -> Vec<(&'static str, &Choice, Limit)> {
        let mut limits = Vec::new();
        for (axis, choice) in AXES.iter().zip(&self.choices) {
            let variants = axis.variants();
            let variant = variants.iter().find(|variant| variant.kind == choice.kind());
            limits.extend(
                variant.into_iter().flat_map(|v| v.limits).map(|limit| (axis.name(), choice, *limit)),
            );
        }
        limits
    }

    /// Returns whether the fence reads pages from storage, which go through the cache.
    pub fn has_paged_fence(&self) -> bool {
        fence::CATALOG.build(self.choice(axes::FENCE)).is_ok_and(|fence| fence.alignment() > 1)
    }

    /// Whether every value is stored in an SSTable, next to its key.
    pub fn keeps_values_inline(&self) -> bool {
        crate::values::CATALOG
            .variants()
            .first()
            .is_some_and(|inline| inline.kind == self.choice("values").kind())
    }

    /// Returns the factory of the memtables, with the filter and the key range of the design.
    ///
    /// # Errors
    /// If a parameter is out of range; the error names it.
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

    /// Returns the sequence number from which a memtable is full, if its first write has number `first`.
    pub(crate) fn full_from(&self, first: u64) -> u64 {
        self.memtable_entries.map_or(u64::MAX, |entries| first.saturating_add(entries))
    }
}
