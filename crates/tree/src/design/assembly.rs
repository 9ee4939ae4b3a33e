//! A design as a value: one choice on every axis, and the options that are no axes.

use catalog::{ByteSize, Choice, ChoiceError, Limit};
use memtable::MemtablePolicy;

use super::axes::{self, AXES};
use super::options::Options;

/// One choice on every axis, and the plain options beside them: all that a tree is assembled from.
#[derive(Clone, Debug, PartialEq)]
pub struct Design {
    /// One choice per axis, in the order of [`AXES`].
    pub(super) choices: Vec<Choice>,
    /// The bytes of keys and values (plus eight per entry) after which a memtable is frozen.
    pub memtable_capacity: ByteSize,
    /// The writes after which a memtable is frozen, if its capacity is not reached before.
    pub memtable_entries: Option<u64>,
    /// The size of the Bloom filter in front of each memtable, if there is one (`RocksDB`).
    pub memtable_filter: Option<ByteSize>,
    /// Whether each memtable keeps the range of its keys and is asked for none outside of it (cs265, section 2.2.2).
    pub memtable_key_range: bool,
    /// What is no axis of its own.
    pub options: Options,
}

impl Design {
    /// The choice on an axis.
    ///
    /// # Panics
    /// If there is no such axis.
    pub fn choice(&self, axis: &str) -> &Choice {
        &self.choices[axes::index(axis).unwrap_or_else(|| panic!("there is no axis {axis}"))]
    }

    /// All choices with the names of their axes, in the order of [`AXES`].
    pub fn choices(&self) -> impl Iterator<Item = (&'static str, &Choice)> {
        AXES.iter().map(|axis| axis.name()).zip(&self.choices)
    }

    /// What the design cannot do, and which choice is the reason.
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

    /// What makes its memtables, behind the filter and the range that it has.
    ///
    /// # Errors
    /// Names the parameter at fault.
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

    /// The sequence number from which on a memtable is full that takes the writes from number `first` on.
    pub(crate) fn full_from(&self, first: u64) -> u64 {
        self.memtable_entries.map_or(u64::MAX, |entries| first.saturating_add(entries))
    }
}
