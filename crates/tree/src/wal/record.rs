//! The format of a WAL file: a header with the number of the file, followed by one framed record per commit.
//!
//! ```text
//! log      header record*
//! header   magic, u64 log number, u32 checksum
//! record   u32 checksum of the head, u32 checksum of the operations, head, operations (see `batch`)
//! head     u32 length of the operations, varint first sequence number, varint synced
//! ```
//!
//! `synced` is the number of bytes of the WAL that were durable when the record was encoded. Replay uses `synced` to
//! distinguish a crash from corruption, because a crash may lose any part of the unsynced end of a WAL. If the `synced`
//! of a later record is beyond a broken record, the broken record was durable, so the WAL is corrupt. The head of a
//! record has a checksum of its own, so replay can find the head among other bytes.

use types::SequenceNumber;

use crate::checksum::checksum;
use crate::codec::{Reader, put_varint};

/// The length of the header of a WAL file, in bytes.
pub(crate) const HEADER_BYTES: usize = MAGIC.len() + 8 + 4;

/// The length in bytes of the two checksums at the start of each WAL record.
const SUMS_BYTES: usize = 4 + 4;

/// The length in bytes of the first number in the head of a WAL record. This number is the length of the operations.
const LENGTH_BYTES: usize = 4;

/// The first bytes of a WAL file, which identify the kind of file and the version of its format.
const MAGIC: [u8; 8] = *b"lsmlog\x001";

/// Returns the header of the WAL file `number`. All checksums of the file cover `seal`, a number that identifies the
/// file and its store.
pub(super) fn header(number: u64, seal: u64) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend_from_slice(&number.to_le_bytes());
    let sum = checksum(seal, 0, &bytes);
    bytes.extend_from_slice(&sum.to_le_bytes());
    bytes
}

/// Returns whether `bytes` begins with an intact header of the WAL file `number`. The checksum of the header covers
/// `seal`, the number that identifies the file and its store.
pub(super) fn has_header(bytes: &[u8], number: u64, seal: u64) -> bool {
    bytes.starts_with(&header(number, seal))
}

/// Returns whether `bytes` begins with the header of the WAL file `number` of another store. Such a header differs only
/// in its checksum, which covers another number than `seal`.
pub(super) fn has_other_seal(bytes: &[u8], number: u64, seal: u64) -> bool {
    let own = header(number, seal);
    let unsealed = HEADER_BYTES - 4;
    bytes.len() >= HEADER_BYTES && bytes.starts_with(&own[..unsealed]) && !bytes.starts_with(&own)
}

/// Returns the format version of a WAL file that another version of lsmbench wrote. `bytes` is the start of the file.
/// Returns `None` if the version is the current version, or if the bytes are not the header of a WAL.
pub(super) fn other_version(bytes: &[u8]) -> Option<u8> {
    let (version, magic) = bytes.get(..MAGIC.len())?.split_last()?;
    (MAGIC.starts_with(magic) && *version != 0 && *version != MAGIC[MAGIC.len() - 1]).then_some(*version)
}

/// The position of the next record in a WAL file, and the numbers that the encoding of the record needs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LogPlace {
    /// The number that identifies the WAL file and its store. The checksums of the record cover this number.
    pub(crate) seal: u64,
    /// The offset in the WAL file at which the buffer for new records begins.
    pub(crate) base: u64,
    /// The number of bytes at the start of the WAL file that are known to be durable.
    pub(crate) synced: u64,
}

/// Appends one WAL record to the buffer `out`. The buffer begins at the offset `place.base` of the WAL file, and
/// `write` appends the operations of the record.
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

/// A WAL record: the operations of one commit.
pub(super) struct Record<'a> {
    /// The sequence number of the first operation in the WAL record.
    pub(super) first_sequence: SequenceNumber,
    /// The operations of the WAL record, encoded like the operations of a write batch.
    pub(super) operations: &'a [u8],
    /// The offset in the WAL file at which the next record begins.
    pub(super) end: usize,
}

/// Reads the WAL record at the offset `at` of the WAL file `bytes`. Its checksums cover `seal`, the number that
/// identifies the file and its store. Returns `None` if no intact record begins at this offset.
pub(super) fn read(bytes: &[u8], seal: u64, at: usize) -> Option<Record<'_>> {
    let head = Head::read(bytes, seal, at)?;
    let operations = bytes.get(head.end..)?.get(..head.length)?;
    let is_intact = checksum(seal, at as u64, operations) == head.operations_sum;
    let end = head.end + head.length;
    is_intact.then_some(Record { first_sequence: head.first_sequence, operations, end })
}

/// Returns how many bytes of the WAL file were durable when the record at the offset `at` was encoded. Replay uses this
/// number to distinguish a crash from corruption.
///
/// Only the head of the record must be intact. Returns `None` if no record with an intact head begins at this offset.
pub(super) fn synced_before(bytes: &[u8], seal: u64, at: usize) -> Option<u64> {
    Head::read(bytes, seal, at).map(|head| head.synced)
}

/// Recomputes the checksums of a WAL file, so that fuzzing reaches the code after the checksum verification. The
/// checksums cover `seal`, the number that identifies the file and its store. The function stops where it cannot find
/// the next checksum.
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

/// The head of a WAL record, which has a checksum of its own.
struct Head {
    operations_sum: u32,
    length: usize,
    first_sequence: SequenceNumber,
    synced: u64,
    /// The offset in the WAL file at which the head of the record ends.
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
