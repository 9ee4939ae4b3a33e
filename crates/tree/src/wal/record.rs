//! The bytes of a log: a header that says which log it is, then one framed record per commit.
//!
//! ```text
//! header   magic, u64 log number, u32 checksum
//! record   u32 payload length, u32 checksum, payload
//! payload  varint first sequence number, operations (see `batch`)
//! ```

use types::SequenceNumber;

use crate::checksum::checksum;
use crate::codec::{Reader, put_varint};

/// The bytes of a header.
pub(crate) const HEADER_BYTES: usize = MAGIC.len() + 8 + 4;

/// The bytes before each payload.
const FRAME_BYTES: usize = 4 + 4;

/// What the file is, and the version of its format.
const MAGIC: [u8; 8] = *b"lsmlog\x001";

/// The header of log `number`.
pub(super) fn header(number: u64) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend_from_slice(&number.to_le_bytes());
    let sum = checksum(number, 0, &bytes);
    bytes.extend_from_slice(&sum.to_le_bytes());
    bytes
}

/// Whether `bytes` begin with the header of log `number`.
pub(super) fn has_header(bytes: &[u8], number: u64) -> bool {
    bytes.starts_with(&header(number))
}

/// Appends one record to `out`, whose first byte stands at `base` of log `number`. `write` appends the
/// operations.
#[inline]
pub(crate) fn frame(
    out: &mut Vec<u8>,
    number: u64,
    base: u64,
    first_sequence: SequenceNumber,
    write: impl FnOnce(&mut Vec<u8>),
) {
    let start = out.len();
    out.extend_from_slice(&[0; FRAME_BYTES]);
    put_varint(out, first_sequence);
    write(out);
    let payload = start + FRAME_BYTES;
    let len = (out.len() - payload) as u32;
    let sum = checksum(number, base + start as u64, &out[payload..]);
    out[start..start + 4].copy_from_slice(&len.to_le_bytes());
    out[start + 4..payload].copy_from_slice(&sum.to_le_bytes());
}

/// A record as it was read.
pub(super) struct Record<'a> {
    /// The sequence number of the first operation.
    pub(super) first_sequence: SequenceNumber,
    /// The operations.
    pub(super) operations: &'a [u8],
    /// Where the next record begins.
    pub(super) end: usize,
}

/// The record at offset `at` of log `number`; `None` where none is intact.
pub(super) fn read(bytes: &[u8], number: u64, at: usize) -> Option<Record<'_>> {
    let mut reader = Reader::new(bytes.get(at..)?);
    let len = reader.u32()? as usize;
    let sum = reader.u32()?;
    let payload = reader.take(len)?;
    if checksum(number, at as u64, payload) != sum {
        return None;
    }
    let mut payload_reader = Reader::new(payload);
    let first_sequence = payload_reader.varint()?;
    let operations = &payload[payload_reader.position()..];
    Some(Record { first_sequence, operations, end: at + FRAME_BYTES + len })
}
