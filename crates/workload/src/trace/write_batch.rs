//! Parser of RocksDB write batches. A batch contains a sequence number, the number of writes, and the writes. Each
//! write begins with a tag.

use std::collections::VecDeque;

use super::payload::Payload;
use super::record::{TraceOperation, TraceRecord};

/// Tag of a delete in the default column family. Each write of a RocksDB write batch begins with a tag byte, which is
/// the kind of the write. A tag whose name begins with `FAMILY` is followed by the number of a column family.
const DELETION: u8 = 0x0;
const VALUE: u8 = 0x1;
const MERGE: u8 = 0x2;
const LOG_DATA: u8 = 0x3;
const FAMILY_DELETION: u8 = 0x4;
const FAMILY_VALUE: u8 = 0x5;
const FAMILY_MERGE: u8 = 0x6;
const SINGLE_DELETION: u8 = 0x7;
const FAMILY_SINGLE_DELETION: u8 = 0x8;
const BEGIN_PREPARE: u8 = 0x9;
const END_PREPARE: u8 = 0xa;
const COMMIT: u8 = 0xb;
const ROLLBACK: u8 = 0xc;
const NOOP: u8 = 0xd;
const FAMILY_RANGE_DELETION: u8 = 0xe;
const RANGE_DELETION: u8 = 0xf;
const BEGIN_PERSISTED_PREPARE: u8 = 0x12;
const BEGIN_UNPREPARE: u8 = 0x13;
const ENTITY: u8 = 0x16;
const FAMILY_ENTITY: u8 = 0x17;

/// Parses a RocksDB write batch, and appends its writes to `records`.
pub(super) fn parse(batch: &[u8], records: &mut VecDeque<TraceRecord>) -> Result<(), String> {
    let mut batch = Payload::new(batch);
    batch.u64("the sequence number of a write batch")?;
    batch.u32("the number of writes of a write batch")?;
    while !batch.is_empty() {
        let tag = batch.byte("the tag of a write")?;
        records.extend(write(tag, &mut batch)?);
    }
    Ok(())
}

/// Parses the part of a write that follows the tag byte `tag`. Returns `None` for an entry of the write batch that does
/// not change the data.
fn write(tag: u8, batch: &mut Payload<'_>) -> Result<Option<TraceRecord>, String> {
    let family = match tag {
        FAMILY_DELETION
        | FAMILY_VALUE
        | FAMILY_MERGE
        | FAMILY_SINGLE_DELETION
        | FAMILY_RANGE_DELETION
        | FAMILY_ENTITY => batch.varint("the column family of a write")?,
        _ => 0,
    };
    let operation = match tag {
        VALUE | FAMILY_VALUE | ENTITY | FAMILY_ENTITY => TraceOperation::Put,
        MERGE | FAMILY_MERGE => TraceOperation::Merge,
        DELETION | FAMILY_DELETION => TraceOperation::Delete,
        SINGLE_DELETION | FAMILY_SINGLE_DELETION => TraceOperation::SingleDelete,
        RANGE_DELETION | FAMILY_RANGE_DELETION => TraceOperation::DeleteRange,
        LOG_DATA | END_PREPARE | COMMIT | ROLLBACK => {
            batch.prefixed("the data of a marker in a write batch")?;
            return Ok(None);
        }
        BEGIN_PREPARE | BEGIN_PERSISTED_PREPARE | BEGIN_UNPREPARE | NOOP => return Ok(None),
        tag => return Err(format!("a write batch contains a write of the unknown type {tag:#x}")),
    };
    let key = batch.prefixed("the key of a write")?;
    let record = TraceRecord::new(operation, key).in_family(family);
    Ok(Some(match operation {
        TraceOperation::DeleteRange => record.until(batch.prefixed("the end key of a range delete")?),
        TraceOperation::Delete | TraceOperation::SingleDelete => record,
        _ => record.with_value(batch.prefixed("the value of a write")?.to_vec()),
    }))
}
