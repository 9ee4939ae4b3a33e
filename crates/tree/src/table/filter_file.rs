//! Reads and writes filter files. With `table.filter = "apart"`, the filter of an SSTable has a file of its own, as in
//! the document csc443 (section 4.3.2).
//!
//! ```text
//! filter | checksum u32
//! ```

use std::io;

use storage::Purpose;
use types::Bytes;

use super::context::TableContext;
use super::names::filter_path;
use crate::checksum::checksum;
use crate::error::{Error, Result};

/// The number that the checksum of a filter file covers in place of an offset. No part of an SSTable begins at this
/// offset, so the checksum of a filter file is never valid for another part.
const PLACE: u64 = u64::MAX;

const CHECKSUM_BYTES: usize = size_of::<u32>();

/// Writes the filter of the SSTable `number` to its own file, and makes its bytes durable.
pub(super) fn write(context: &TableContext, number: u64, filter: &[u8]) -> Result<()> {
    let path = filter_path(&context.table_path(number));
    let mut file = context.storage.create(&path, Purpose::Table)?;
    file.append(filter)?;
    file.append(&checksum(context.seals.of(number), PLACE, filter).to_le_bytes())?;
    Ok(file.sync()?)
}

/// Reads and verifies the filter file of the SSTable `number`. Returns the filter and the size of its file, in bytes.
pub(super) fn read(context: &TableContext, number: u64) -> Result<(Bytes, u64)> {
    let path = filter_path(&context.table_path(number));
    let file = context.storage.open(&path, Purpose::Table).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Error::damaged(&path, 0, "the filter file of the SSTable is missing"),
        _ => error.into(),
    })?;
    let stored = file.read(0, file.len() as usize)?;
    let sum = stored.len().checked_sub(CHECKSUM_BYTES);
    let at =
        sum.ok_or_else(|| Error::damaged(&path, 0, "the filter file is shorter than a checksum (4 bytes)"))?;
    let filter = stored.slice(0..at);
    match checksum(context.seals.of(number), PLACE, &filter).to_le_bytes() == stored[at..] {
        true => Ok((filter, file.len())),
        false => Err(Error::damaged(&path, 0, "the filter in the filter file does not match its checksum")),
    }
}
