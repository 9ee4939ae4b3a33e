//! Commands of Redis as operations on keys.

use std::collections::BTreeMap;

use super::lines::{Records, quoted};
use super::record::{TraceOperation, TraceRecord};

/// The separator between the key of a hash and a field of it.
const FIELD: u8 = b':';

/// The translation of commands, with the database that is selected.
#[derive(Default)]
pub(super) struct Commands {
    /// The number of the database.
    pub(super) database: u32,
    left_out: BTreeMap<String, u64>,
}

impl Commands {
    /// Appends the operations of a command with its arguments at a time.
    ///
    /// A field of a hash is an entry of its own, under the key of the hash, a colon and the name of the field.
    pub(super) fn translate(
        &mut self,
        command: &[Vec<u8>],
        time_ns: Option<u64>,
        records: &mut Records,
    ) -> Result<(), String> {
        let Some((name, arguments)) = command.split_first() else { return Ok(()) };
        let name = name.to_ascii_uppercase();
        let found = operations(&name, arguments).ok_or_else(|| {
            format!("{} has {} arguments, too few or an odd number", quoted(&name), arguments.len())
        })?;
        if let Some(operations) = found {
            for mut record in operations {
                record.time_ns = time_ns;
                records.push(record.in_family(self.database));
            }
        } else if name == b"SELECT" {
            let database = arguments.first().and_then(|database| std::str::from_utf8(database).ok());
            self.database = database.and_then(|text| text.parse().ok()).ok_or("SELECT has no number")?;
        } else {
            *self.left_out.entry(quoted(&name)).or_default() += 1;
        }
        Ok(())
    }

    /// Returns what was left out or assumed.
    pub(super) fn notes(&self) -> Vec<String> {
        let count: u64 = self.left_out.values().sum();
        if count == 0 {
            return Vec::new();
        }
        const NAMED: usize = 8;
        let mut names: Vec<&str> = self.left_out.keys().take(NAMED).map(String::as_str).collect();
        if self.left_out.len() > NAMED {
            names.push("…");
        }
        vec![format!("{count} commands that are no operation on a key are left out: {}", names.join(", "))]
    }
}

/// Returns the operations of a command: the outer `None` if arguments are missing, the inner one if the command is
/// none on keys with values.
fn operations(name: &[u8], arguments: &[Vec<u8>]) -> Option<Option<Vec<TraceRecord>>> {
    let on = |operation, key: &[u8]| TraceRecord::new(operation, key);
    let one = |operation| Some(Some(vec![on(operation, arguments.first()?)]));
    let each = |operation| Some(Some(arguments.iter().map(|key| on(operation, key)).collect()));
    let put = |value: usize| {
        let record = on(TraceOperation::Put, arguments.first()?);
        Some(Some(vec![record.with_value(arguments.get(value)?.clone())]))
    };
    let fields = || arguments.get(1..).zip(arguments.first());
    match name {
        b"GET" | b"GETEX" | b"EXISTS" | b"STRLEN" | b"GETRANGE" | b"SUBSTR" => one(TraceOperation::Get),
        b"MGET" => each(TraceOperation::Get),
        b"SET" | b"SETNX" | b"GETSET" => put(1),
        b"SETEX" | b"PSETEX" => put(2),
        b"MSET" | b"MSETNX" => pairs(&[], arguments),
        b"DEL" | b"UNLINK" => each(TraceOperation::Delete),
        b"GETDEL" => {
            let key = arguments.first()?;
            Some(Some(vec![on(TraceOperation::Get, key), on(TraceOperation::Delete, key)]))
        }
        b"INCR" | b"DECR" | b"INCRBY" | b"DECRBY" | b"INCRBYFLOAT" => one(TraceOperation::ReadModifyWrite),
        b"APPEND" | b"SETRANGE" => {
            let record = on(TraceOperation::ReadModifyWrite, arguments.first()?);
            Some(Some(vec![record.with_value(arguments.last()?.clone())]))
        }
        b"HSET" | b"HMSET" | b"HSETNX" => {
            let (fields, key) = fields()?;
            pairs(&[key, &[FIELD][..]].concat(), fields)
        }
        b"HGET" | b"HEXISTS" | b"HSTRLEN" | b"HMGET" | b"HDEL" | b"HINCRBY" | b"HINCRBYFLOAT" => {
            let (mut fields, key) = fields()?;
            let operation = match name {
                b"HDEL" => TraceOperation::Delete,
                b"HINCRBY" | b"HINCRBYFLOAT" => {
                    fields = fields.get(..1)?;
                    TraceOperation::ReadModifyWrite
                }
                _ => TraceOperation::Get,
            };
            let name = |field: &Vec<u8>| [key, &[FIELD][..], field].concat();
            Some(Some(fields.iter().map(|field| on(operation, &name(field))).collect()))
        }
        b"HGETALL" | b"HKEYS" | b"HVALS" | b"HLEN" => {
            let key = arguments.first()?;
            let (low, high) = ([key, &[FIELD][..]].concat(), [key, &[FIELD + 1][..]].concat());
            Some(Some(vec![on(TraceOperation::Scan, &low).until(high)]))
        }
        _ => Some(None),
    }
}

/// Returns a put for every pair of a name and a value.
fn pairs(prefix: &[u8], arguments: &[Vec<u8>]) -> Option<Option<Vec<TraceRecord>>> {
    let (pairs, []) = arguments.as_chunks::<2>() else { return None };
    let put = |[name, value]: &[Vec<u8>; 2]| {
        TraceRecord::new(TraceOperation::Put, [prefix, name].concat()).with_value(value.clone())
    };
    (!pairs.is_empty()).then(|| Some(pairs.iter().map(put).collect()))
}
