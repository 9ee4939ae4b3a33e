//! Translation of Redis commands to operations on keys.

use std::collections::BTreeMap;

use super::lines::{Records, quoted};
use super::record::{TraceOperation, TraceRecord};

/// Separator between the key of a Redis hash and the name of a field. The two names with the separator form the key of
/// one entry.
const FIELD: u8 = b':';

/// Maximum number of command names in a note about skipped commands.
const NAMED: usize = 8;

/// The error of a Redis command with too few arguments.
struct Missing;

/// The operations that a Redis command stands for. `None` if the command does not access keys with values.
type Operations = Result<Option<Vec<TraceRecord>>, Missing>;

/// Translates Redis commands to operations on keys. The translator remembers the database that the last command SELECT
/// has selected.
#[derive(Default)]
pub(super) struct Commands {
    /// The number of the Redis database that is selected now.
    pub(super) database: u32,
    left_out: BTreeMap<String, u64>,
}

impl Commands {
    /// Appends the operations of a command to the records. `time_ns` is the time of the command, if known.
    ///
    /// Each field of a Redis hash becomes one entry. The key of this entry consists of the key of the hash, a colon and
    /// the name of the field.
    pub(super) fn translate(
        &mut self,
        command: &[Vec<u8>],
        time_ns: Option<u64>,
        records: &mut Records,
    ) -> Result<(), String> {
        let Some((name, arguments)) = command.split_first() else { return Ok(()) };
        let name = name.to_ascii_uppercase();
        let found = operations(&name, arguments).map_err(|Missing| {
            format!(
                "the command {} has {} arguments; this command needs more arguments, or an even number of \
                 arguments",
                quoted(&name),
                arguments.len()
            )
        })?;
        if let Some(operations) = found {
            for mut record in operations {
                record.time_ns = time_ns;
                records.push(record.in_family(self.database));
            }
        } else if name == b"SELECT" {
            let database = arguments.first().and_then(|database| std::str::from_utf8(database).ok());
            self.database = database
                .and_then(|text| text.parse().ok())
                .ok_or("the command SELECT has no database number")?;
        } else {
            *self.left_out.entry(quoted(&name)).or_default() += 1;
        }
        Ok(())
    }

    /// Returns notes about skipped commands, and about the assumptions that the translator has made.
    pub(super) fn notes(&self) -> Vec<String> {
        let count: u64 = self.left_out.values().sum();
        if count == 0 {
            return Vec::new();
        }
        let mut names: Vec<&str> = self.left_out.keys().take(NAMED).map(String::as_str).collect();
        if self.left_out.len() > NAMED {
            names.push("…");
        }
        vec![format!(
            "{count} commands are left out, because they are not operations on a key: {}",
            names.join(", ")
        )]
    }
}

/// Returns the operations that the Redis command `name` stands for.
fn operations(name: &[u8], arguments: &[Vec<u8>]) -> Operations {
    let on = |operation, key: &[u8]| TraceRecord::new(operation, key);
    let first = || arguments.first().ok_or(Missing);
    let one = |operation| -> Operations { Ok(Some(vec![on(operation, first()?)])) };
    let each =
        |operation| -> Operations { Ok(Some(arguments.iter().map(|key| on(operation, key)).collect())) };
    let write = |operation, value: Option<&Vec<u8>>| -> Operations {
        Ok(Some(vec![on(operation, first()?).with_value(value.ok_or(Missing)?.clone())]))
    };
    match name {
        b"GET" | b"GETEX" | b"EXISTS" | b"STRLEN" | b"GETRANGE" | b"SUBSTR" => one(TraceOperation::Get),
        b"MGET" => each(TraceOperation::Get),
        b"SET" | b"SETNX" | b"GETSET" => write(TraceOperation::Put, arguments.get(1)),
        b"SETEX" | b"PSETEX" => write(TraceOperation::Put, arguments.get(2)),
        b"MSET" | b"MSETNX" => pairs(&[], arguments),
        b"DEL" | b"UNLINK" => each(TraceOperation::Delete),
        b"GETDEL" => {
            let key = first()?;
            Ok(Some(vec![on(TraceOperation::Get, key), on(TraceOperation::Delete, key)]))
        }
        b"INCR" | b"DECR" | b"INCRBY" | b"DECRBY" | b"INCRBYFLOAT" => one(TraceOperation::ReadModifyWrite),
        b"APPEND" | b"SETRANGE" => write(TraceOperation::ReadModifyWrite, arguments.last()),
        _ if name.starts_with(b"H") => of_hash(name, arguments),
        _ => Ok(None),
    }
}

/// Returns the operations that a Redis command on the fields of a hash stands for.
fn of_hash(name: &[u8], arguments: &[Vec<u8>]) -> Operations {
    let operation = match name {
        b"HSET" | b"HMSET" | b"HSETNX" => TraceOperation::Put,
        b"HGET" | b"HEXISTS" | b"HSTRLEN" | b"HMGET" => TraceOperation::Get,
        b"HDEL" => TraceOperation::Delete,
        b"HINCRBY" | b"HINCRBYFLOAT" => TraceOperation::ReadModifyWrite,
        b"HGETALL" | b"HKEYS" | b"HVALS" | b"HLEN" => TraceOperation::Scan,
        _ => return Ok(None),
    };
    let (key, fields) = arguments.split_first().ok_or(Missing)?;
    let prefix = [key, &[FIELD][..]].concat();
    let name = |field: &Vec<u8>| TraceRecord::new(operation, [prefix.as_slice(), field].concat());
    Ok(Some(match operation {
        TraceOperation::Put => return pairs(&prefix, fields),
        TraceOperation::Scan => {
            vec![TraceRecord::new(operation, prefix.as_slice()).until([key, &[FIELD + 1][..]].concat())]
        }
        TraceOperation::ReadModifyWrite => vec![name(fields.first().ok_or(Missing)?)],
        _ => fields.iter().map(name).collect(),
    }))
}

/// Returns one put for each pair of a name and a value in `arguments`. The key of a put begins with `prefix`.
fn pairs(prefix: &[u8], arguments: &[Vec<u8>]) -> Operations {
    let (pairs, []) = arguments.as_chunks::<2>() else { return Err(Missing) };
    let put = |[name, value]: &[Vec<u8>; 2]| {
        TraceRecord::new(TraceOperation::Put, [prefix, name].concat()).with_value(value.clone())
    };
    if pairs.is_empty() { Err(Missing) } else { Ok(Some(pairs.iter().map(put).collect())) }
}
