//! Keys in the table of an axis that are no parameters of its variants. They belong to the axis and are independent of
//! the choice on it.

use catalog::{ByteSize, read_value};
use toml::{Table, Value};

use super::assembly::Design;
use super::axes::MEMTABLE;
use super::error::DesignError;

/// A key of the memtable axis.
pub(super) struct OwnKey {
    /// Its name in TOML.
    name: &'static str,
    /// Sets the value in a design. The error is a description of the expected value.
    read: fn(&mut Design, &Value) -> Result<(), String>,
    /// Returns the value of a design. `None` if it is the value of a missing key.
    write: fn(&Design) -> Option<Value>,
}

/// The key of the memtable's capacity, which is checked against the whole design.
pub(super) const CAPACITY: &str = "capacity";

/// The key of the memtable filter's size, which is checked against the capacity.
pub(super) const FILTER: &str = "filter";

/// All keys. All code that reads, writes, sweeps or compares them uses this list.
static OWN_KEYS: [OwnKey; 4] = [
    OwnKey {
        name: CAPACITY,
        read: |design, value| {
            design.memtable_capacity = read_value(value, Value::try_into::<ByteSize>)?;
            Ok(())
        },
        write: |design| Some(Value::String(design.memtable_capacity.to_string())),
    },
    OwnKey {
        name: "entries",
        read: |design, value| {
            let entries = value.as_integer().and_then(|entries| u64::try_from(entries).ok());
            let wrong = || format!("must be a number of entries, or 0 for no limit, not {value}");
            design.memtable_entries = Some(entries.ok_or_else(wrong)?).filter(|entries| *entries > 0);
            Ok(())
        },
        write: |design| design.memtable_entries.map(|entries| Value::Integer(entries.cast_signed())),
    },
    OwnKey {
        name: FILTER,
        read: |design, value| {
            let filter = read_value(value, Value::try_into::<ByteSize>)?;
            design.memtable_filter = Some(filter).filter(|filter| filter.0 > 0);
            Ok(())
        },
        write: |design| design.memtable_filter.map(|filter| Value::String(filter.to_string())),
    },
    OwnKey {
        name: "key_range",
        read: |design, value| {
            let wrong = || format!("must be true or false, not {value}");
            design.memtable_key_range = value.as_bool().ok_or_else(wrong)?;
            Ok(())
        },
        write: |design| design.memtable_key_range.then_some(Value::Boolean(true)),
    },
];

/// Returns the keys in the table of an axis that belong to the axis itself. Only `memtable` has such keys.
pub fn own_keys(axis: &str) -> impl Iterator<Item = &'static str> + Clone + use<> {
    let own = if axis == MEMTABLE { &OWN_KEYS[..] } else { &[] };
    own.iter().map(|key| key.name)
}

/// Moves the keys of the memtable axis from its table into the design.
pub(super) fn take(design: &mut Design, table: &mut Table) -> Result<(), DesignError> {
    for key in &OWN_KEYS {
        let Some(value) = table.remove(key.name) else { continue };
        (key.read)(design, &value).map_err(|message| {
            let message = format!("{MEMTABLE}.{}: {message}", key.name);
            DesignError::at(MEMTABLE, Some(key.name.to_owned()), message)
        })?;
    }
    Ok(())
}

/// Inserts the keys of the memtable axis and their values into its table.
pub(super) fn put(design: &Design, table: &mut Table) {
    table.extend(OWN_KEYS.iter().filter_map(|key| Some((key.name.to_owned(), (key.write)(design)?))));
}
