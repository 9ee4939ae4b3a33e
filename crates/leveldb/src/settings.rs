//! The options that the calling program sets with LevelDB's functions, and the design keys that they replace.

use std::sync::Arc;

use toml::{Table, Value};
use tree::Design;

use crate::failure::Failure;
use crate::key_order::KeyOrder;
use crate::shared_cache::SharedCache;

/// The smallest and the largest valid value of an option of LevelDB. Other values become the nearest valid value, as in
/// `SanitizeOptions` of LevelDB (`db/db_impl.cc`).
type Limits = (usize, usize);

const WRITE_BUFFER_LIMITS: Limits = (64 << 10, 1 << 30);
const FILE_LIMITS: Limits = (1 << 20, 1 << 30);
const BLOCK_LIMITS: Limits = (1 << 10, 4 << 20);

/// The options of a store that the calling program has set. `None` keeps the value of the design.
#[derive(Default)]
pub(crate) struct Settings {
    /// Whether opening a missing store creates it.
    pub(crate) create_if_missing: bool,
    /// Whether opening an existing store fails.
    pub(crate) error_if_exists: bool,
    /// Whether every read of a block verifies its checksum. Otherwise, only the first read verifies it.
    pub(crate) paranoid_checks: Option<bool>,
    /// The size of a memtable, in bytes.
    pub(crate) write_buffer_size: Option<usize>,
    /// The size of a block, in bytes.
    pub(crate) block_size: Option<usize>,
    /// The number of keys between two restart points.
    pub(crate) block_restart_interval: Option<i32>,
    /// The size of an SSTable, in bytes.
    pub(crate) max_file_size: Option<usize>,
    /// The number of the compression codec, as in the header `leveldb/c.h`.
    pub(crate) compression: Option<i32>,
    /// The filter policy that the calling program has set. `None` keeps the filter of the design.
    pub(crate) filter: Option<FilterChoice>,
    /// The cache that the calling program has set. `None` keeps the cache of the design.
    pub(crate) cache: Option<Arc<SharedCache>>,
    /// The comparator that the calling program has set. `None` selects the order of bytes.
    pub(crate) comparator: Option<Arc<dyn KeyOrder>>,
}

/// The filter policy that the calling program has set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FilterChoice {
    /// No filter.
    None,
    /// A Bloom filter with this number of bits per key.
    Bloom(i32),
    /// Functions of the calling program. The store uses the filter of its design instead, because a tree passes only
    /// hashes to filters.
    Functions,
}

impl Settings {
    /// Returns the design with the keys that the options of the calling program replace.
    pub(crate) fn apply(&self, design: &Design) -> Result<Design, Failure> {
        design.with(&self.overrides(design)?).map_err(|error| Failure::invalid(error.to_string()))
    }

    /// Returns the keys of the design that the options of the calling program replace, with their new values.
    fn overrides(&self, design: &Design) -> Result<Table, Failure> {
        let mut changes = Changes(Table::new());
        let bytes = |value: Option<usize>, (least, most): Limits| {
            value.map(|value| Value::String(format!("{}B", value.clamp(least, most))))
        };
        changes.set("memtable", "capacity", bytes(self.write_buffer_size, WRITE_BUFFER_LIMITS));
        changes.set("table", "capacity", bytes(self.max_file_size, FILE_LIMITS));
        changes.set("block", "size", bytes(self.block_size, BLOCK_LIMITS));
        let interval = self.block_restart_interval.map(|entries| Value::Integer(i64::from(entries)));
        changes.set("block", "restart_interval", interval);
        let verify = self.paranoid_checks.map(|always| if always { "always" } else { "once" });
        changes.set("block", "verify", verify.map(Value::from));
        if let Some(number) = self.compression {
            changes.choose("compression", Value::from(codec(number)?));
        }
        if let Some(cache) = &self.cache {
            let capacity = (cache.capacity > 0).then(|| Value::String(format!("{}B", cache.capacity)));
            changes.choose("cache", variant(design, "cache", ("lru", "capacity"), capacity));
        }
        match self.filter {
            None | Some(FilterChoice::Functions) => {}
            Some(FilterChoice::None) => changes.choose("bloom", Value::from("none")),
            Some(FilterChoice::Bloom(bits)) => {
                let bits = (bits > 0).then(|| Value::Integer(i64::from(bits)));
                changes.choose("bloom", variant(design, "bloom", ("standard", "bits_per_key"), bits));
            }
        }
        Ok(changes.0)
    }
}

/// The keys of the design that the options of the calling program replace, with their new values.
struct Changes(Table);

impl Changes {
    /// Sets a key in a table of the design. `None` keeps the value of the design.
    fn set(&mut self, table: &str, key: &str, value: Option<Value>) {
        let Some(value) = value else { return };
        let table = self.0.entry(table).or_insert_with(|| Value::Table(Table::new()));
        if let Value::Table(table) = table {
            table.insert(key.to_owned(), value);
        }
    }

    /// Sets the variant of a component, such as the filter, to `value`.
    fn choose(&mut self, axis: &str, value: Value) {
        self.0.insert(axis.to_owned(), value);
    }
}

/// Returns the component of the axis `axis`, such as the filter, with its option `parameter` set to `value`. If the
/// component of the design has this option, its variant stays. Otherwise, the variant becomes `kind`. If `value` is
/// `None`, the variant becomes `none`.
fn variant(design: &Design, axis: &str, (kind, parameter): (&str, &str), value: Option<Value>) -> Value {
    let Some(value) = value else { return Value::from("none") };
    let mut table = Table::from_iter([(parameter.to_owned(), value)]);
    if !design.choice(axis).params().contains_key(parameter) {
        table.insert("kind".to_owned(), Value::from(kind));
    }
    Value::Table(table)
}

/// Returns the name of the compression codec with this number in `leveldb/c.h`.
fn codec(number: i32) -> Result<&'static str, Failure> {
    match number {
        0 => Ok("none"),
        1 => Ok("snappy"),
        2 => Ok("zstd"),
        other => Err(Failure::invalid(format!(
            "unknown compression {other}. Valid: 0 (none), 1 (Snappy), 2 (Zstandard)"
        ))),
    }
}
