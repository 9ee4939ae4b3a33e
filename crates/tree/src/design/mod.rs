//! A design: one choice on every axis, and the plain options beside them.

mod axes;
mod error;
mod options;
mod overlay;

use catalog::{ByteSize, Choice, Limit};
use toml::{Table, Value};

pub use axes::{AXES, axis};
pub use error::DesignError;
pub use options::{
    BlockIndex, BlockOptions, Checksum, Mapped, Options, StallOptions, TableOptions, ThreadOptions, Verify,
};
pub use overlay::SECOND_NAMES;

/// One choice on every axis, and the plain options beside them: all that a tree is assembled from.
#[derive(Clone, Debug, PartialEq)]
pub struct Design {
    /// One choice per axis, in the order of [`AXES`].
    choices: Vec<Choice>,
    /// The bytes of keys and values (plus eight per entry) after which a memtable is frozen.
    pub memtable_capacity: ByteSize,
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

    /// The design as TOML, every choice and option spelt out.
    pub fn to_toml(&self) -> Table {
        let mut table = Table::new();
        for (axis, choice) in self.choices() {
            let mut value = choice.to_toml();
            if let (axes::MEMTABLE, Value::Table(memtable)) = (axis, &mut value) {
                memtable
                    .insert(overlay::CAPACITY.to_owned(), Value::String(self.memtable_capacity.to_string()));
            }
            table.insert(axis.to_owned(), value);
        }
        table.extend(self.options.to_toml());
        table
    }
}
