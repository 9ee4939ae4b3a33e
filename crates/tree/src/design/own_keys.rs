//! Keys in the TOML table of an axis that do not belong to any variant. If the variant of an axis changes, these keys
//! keep their values.

use catalog::{ByteSize, KeyEntry, read_value};
use toml::{Table, Value};

use super::assembly::Design;
use super::axes::MEMTABLE;
use super::error::DesignError;

/// A key of the memtable axis that is not a parameter of a variant.
pub(super) struct OwnKey {
    /// The name of the key in TOML, and its description for the reference pages.
    entry: KeyEntry,
    /// Sets the value of the key in a design. The error describes the expected value.
    read: fn(&mut Design, &Value) -> Result<(), String>,
    /// Returns the value of the key in a design, or `None` if this value is the default.
    write: fn(&Design) -> Option<Value>,
}

/// The key that sets the memtable capacity. The design checks the capacity against other options.
pub(super) const CAPACITY: &str = "capacity";

/// The key that sets the size of the memtable filter. This size must not exceed the memtable capacity.
pub(super) const FILTER: &str = "filter";

/// The keys of the memtable axis that are not parameters of a variant, such as `capacity`. No other axis has such keys.
/// All code that reads, writes, sweeps or compares these keys uses this list.
static OWN_KEYS: [OwnKey; 4] = [
    OwnKey {
        entry: KeyEntry::new(
            CAPACITY,
            "size from `\"1KiB\"`",
            "Size at which a memtable becomes immutable, as the bytes of keys and values plus 8 bytes per \
             entry. With larger memtables, flushes are less frequent.",
        )
        .or("\"16MiB\""),
        read: |design, value| {
            design.memtable_capacity = read_value(value, Value::try_into::<ByteSize>)?;
            Ok(())
        },
        write: |design| Some(Value::String(design.memtable_capacity.to_string())),
    },
    OwnKey {
        entry: KeyEntry::new(
            "entries",
            "count; 0 is no limit",
            "Number of writes after which a memtable becomes immutable, even if it has not reached its capacity.",
        )
        .or("0"),
        read: |design, value| {
            let entries = value.as_integer().and_then(|entries| u64::try_from(entries).ok());
            let wrong = || format!("must be a number of entries, or 0 for no limit, not {value}");
            design.memtable_entries = Some(entries.ok_or_else(wrong)?).filter(|entries| *entries > 0);
            Ok(())
        },
        write: |design| design.memtable_entries.map(|entries| Value::Integer(entries.cast_signed())),
    },
    OwnKey {
        entry: KeyEntry::new(
            FILTER,
            "size up to `memtable.capacity`; 0 is no filter",
            "Size of the Bloom filter of each memtable. With a filter, most gets skip memtables without their key.",
        )
        .or("\"0B\""),
        read: |design, value| {
            let filter = read_value(value, Value::try_into::<ByteSize>)?;
            design.memtable_filter = Some(filter).filter(|filter| filter.0 > 0);
            Ok(())
        },
        write: |design| design.memtable_filter.map(|filter| Value::String(filter.to_string())),
    },
    OwnKey {
        entry: KeyEntry::new(
            "key_range",
            "`true` or `false`",
            "Whether each memtable keeps its smallest and its largest key. Gets of keys outside this range \
             then skip the memtable.",
        )
        .or("false"),
        read: |design, value| {
            let wrong = || format!("must be true or false, not {value}");
            design.memtable_key_range = value.as_bool().ok_or_else(wrong)?;
            Ok(())
        },
        write: |design| design.memtable_key_range.then_some(Value::Boolean(true)),
    },
];

/// Returns the keys in the TOML table of an axis that do not belong to any variant. Only the axis `memtable` has such
/// keys.
pub fn own_keys(axis: &str) -> impl Iterator<Item = &'static str> + Clone + use<> {
    let own = if axis == MEMTABLE { &OWN_KEYS[..] } else { &[] };
    own.iter().map(|key| key.entry.key)
}

/// Returns the documentation of the keys of the memtable axis itself, for the reference pages.
pub fn own_key_entries() -> impl Iterator<Item = KeyEntry> {
    OWN_KEYS.iter().map(|key| key.entry)
}

/// Moves the keys that belong to the memtable axis itself from its TOML table into the design.
pub(super) fn take(design: &mut Design, table: &mut Table) -> Result<(), DesignError> {
    for key in &OWN_KEYS {
        let Some(value) = table.remove(key.entry.key) else { continue };
        (key.read)(design, &value).map_err(|message| {
            let message = format!("{MEMTABLE}.{}: {message}", key.entry.key);
            DesignError::at(MEMTABLE, Some(key.entry.key.to_owned()), message)
        })?;
    }
    Ok(())
}

/// Adds the keys that belong to the memtable axis itself, with their values, to the TOML table of the axis.
pub(super) fn put(design: &Design, table: &mut Table) {
    table.extend(OWN_KEYS.iter().filter_map(|key| Some((key.entry.key.to_owned(), (key.write)(design)?))));
}
