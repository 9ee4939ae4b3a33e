//! The bytes of a log: a header that says which log it is, then one framed record per commit.
//!
//! ```text
//! log      header record*
//! header   magic, u64 log number, u32 checksum
//! record   u32 checksum of the head, u32 checksum of the operations, head, operations (see `batch`)
//! head     u32 length of the operations, varint first sequence number, varint synced
//! ```
//!
//! `synced` is the length of the log that was known to be durable when the record was framed. It tells a log
//! that a crash cut off, of whose unsynced end any part may be missing, from one that was damaged: a head
//! whose `synced` lies behind a broken record was written when that record was safe. It has a checksum of its
//! own so that it can be looked for among bytes that are no records.

use types::SequenceNumber;

use crate::checksum::checksum;
use crate::codec::{Reader, put_varint};

/// The bytes of a header.
pub(crate) const HEADER_BYTES: usize = MAGIC.len() + 8 + 4;

/// The bytes of the two checksums before each head.
const SUMS_BYTES: usize = 4 + 4;

/// The bytes of the length that each head begins with.
const LENGTH_BYTES: usize = 4;

/// What the file is, and the version of its format.
const MAGIC: [u8; 8] = *b"lsmlog\x001";

/// The header of log `number`, whose checksums begin with `seal`.
pub(super) fn header(number: u64, seal: u64) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend_from_slice(&number.to_le_bytes());
    let sum = checksum(seal, 0, &bytes);
    bytes.extend_from_slice(&sum.to_le_bytes());
    bytes
}

/// Whether `bytes` begin with the header of log `number` under `seal`.
pub(super) fn has_header(bytes: &[u8], number: u64, seal: u64) -> bool {
    bytes.starts_with(&header(number, seal))
}

/// The version of the format, where the bytes are those of a log of another one. A crash leaves no such.
pub(super) fn other_version(bytes: &[u8]) -> Option<u8> {
    let (version, magic) = bytes.get(..MAGIC.len())?.split_last()?;
    (MAGIC.starts_with(magic) && *version != 0 && *version != MAGIC[MAGIC.len() - 1]).then_some(*version)
}

/// Where in a log a record is framed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LogPlace {
    /// The seal of the log.
    pub(crate) seal: u64,
    /// Where in the log the buffer begins to which the record is appended.
    pub(crate) base: u64,
    /// The length of the log that is known to be durable.
    pub(crate) synced: u64,
}

/// Appends one record to `out`, which stands at `place`. `write` appends the operations.
#[inline]
pub(crate) fn frame(
    out: &mut Vec<u8>,
    place: LogPlace,
    first_sequence: SequenceNumber,
    write: impl FnOnce(&mut Vec<u8>),
) {
    let LogPlace { seal, base, synced } = place;
    let start = out.len();
    let head = start + SUMS_BYTES;
    out.extend_from_slice(&[0; SUMS_BYTES + LENGTH_BYTES]);
    put_varint(out, first_sequence);
    put_varint(out, synced);
    let operations = out.len();
    write(out);
    let length = (out.len() - operations) as u32;
    out[head..head + LENGTH_BYTES].copy_from_slice(&length.to_le_bytes());
    let at = base + start as u64;
    let sums =
        [&out[head..operations], &out[operations..]].map(|part| checksum(seal, at, part).to_le_bytes());
    out[start..head].copy_from_slice(sums.as_flattened());
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

/// The record at offset `at` of the log under `seal`; `None` where none is intact.
pub(super) fn read(bytes: &[u8], seal: u64, at: usize) -> Option<Record<'_>> {
    let head = Head::read(bytes, seal, at)?;
    let operations = bytes.get(head.end..)?.get(..head.length)?;
    let is_intact = checksum(seal, at as u64, operations) == head.operations_sum;
    let end = head.end + head.length;
    is_intact.then_some(Record { first_sequence: head.first_sequence, operations, end })
}

/// The length of the log that was durable when the record at offset `at` of the log under `seal` was framed;
/// `None` where no record has an intact head, whatever its operations.
pub(super) fn synced_before(bytes: &[u8], seal: u64, at: usize) -> Option<u64> {
    Head::read(bytes, seal, at).map(|head| head.synced)
}

/// Puts right every checksum of the log under `seal` whose place can be told, so that fuzzing reaches what stands behind
/// them; lengths and all else stay.
pub(super) fn reseal(bytes: &mut [u8], seal: u64) {
    let sum = HEADER_BYTES - 4;
    if bytes.len() < HEADER_BYTES {
        return;
    }
    let header = checksum(seal, 0, &bytes[..sum]).to_le_bytes();
    bytes[sum..HEADER_BYTES].copy_from_slice(&header);
    let mut at = HEADER_BYTES;
    while let Some(end) = reseal_record(bytes, seal, at) {
        at = end;
    }
}

fn reseal_record(bytes: &mut [u8], seal: u64, at: usize) -> Option<usize> {
    let head_at = at + SUMS_BYTES;
    let mut reader = Reader::new(bytes.get(head_at..)?);
    let length = reader.u32()? as usize;
    reader.varint()?;
    reader.varint()?;
    let operations_at = head_at + reader.position();
    let end = operations_at + length;
    let parts = [bytes.get(head_at..operations_at)?, bytes.get(operations_at..end)?];
    let sums = parts.map(|part| checksum(seal, at as u64, part).to_le_bytes());
    bytes[at..head_at].copy_from_slice(sums.as_flattened());
    Some(end)
}

/// What a record says of itself.
struct Head {
    operations_sum: u32,
    length: usize,
    first_sequence: SequenceNumber,
    synced: u64,
    /// Where it ends, in the log.
    end: usize,
}

impl Head {
    fn read(bytes: &[u8], seal: u64, at: usize) -> Option<Self> {
        let mut reader = Reader::new(bytes.get(at..)?);
        let (sum, operations_sum) = (reader.u32()?, reader.u32()?);
        let length = reader.u32()? as usize;
        let (first_sequence, synced) = (reader.varint()?, reader.varint()?);
        let end = at + reader.position();
        let is_intact = checksum(seal, at as u64, &bytes[at + SUMS_BYTES..end]) == sum;
        is_intact.then_some(Self { operations_sum, length, first_sequence, synced, end })
    }
}
