//! Encodes and decodes the records of the WAL that all column families share. A record contains one commit, with one
//! part for each family that the commit changes.
//!
//! ```text
//! record  part*
//! part    varint family, varint first sequence number, varint length, operations (see `batch`)
//! ```

use types::SequenceNumber;

use crate::batch::WriteBatch;
use crate::codec::{Reader, put_bytes, put_varint};

/// The operations of one commit in one column family.
pub(crate) struct Part {
    /// The number of the column family in its store.
    pub(crate) family: usize,
    /// The sequence number of the first operation of the commit in this column family.
    pub(super) first: SequenceNumber,
    /// The operations of the commit in this column family.
    pub(super) batch: WriteBatch,
}

impl Part {
    /// Returns the sequence number of the last operation of the commit in this column family.
    pub(super) fn last(&self) -> SequenceNumber {
        self.first + self.batch.len() as u64 - 1
    }
}

/// Appends the operations of a commit in one column family to `record`, a record of the shared WAL. `first` is the
/// sequence number of the first of these operations.
pub(super) fn encode(record: &mut Vec<u8>, family: usize, first: SequenceNumber, batch: &WriteBatch) {
    put_varint(record, family as u64);
    put_varint(record, first);
    put_bytes(record, batch.encoded());
}

/// Decodes a record of the shared WAL: the operations of one commit in each column family. Returns `None` if the record
/// is corrupt.
pub(super) fn decode(record: &[u8]) -> Option<Vec<Part>> {
    let mut reader = Reader::new(record);
    let mut parts = Vec::new();
    while !reader.is_at_end() {
        let (family, first) = (usize::try_from(reader.varint()?).ok()?, reader.varint()?);
        let len = usize::try_from(reader.varint()?).ok()?;
        let batch = WriteBatch::decode(reader.take(len)?).filter(|batch| !batch.is_empty())?;
        parts.push(Part { family, first, batch });
    }
    Some(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_read_back_and_cut_ones_do_not() {
        let mut batch = WriteBatch::new();
        batch.put(b"a", b"1").unwrap();
        batch.delete(b"b").unwrap();
        let mut record = Vec::new();
        encode(&mut record, 3, 300, &batch);
        let parts = decode(&record).unwrap();
        assert_eq!((parts[0].family, parts[0].first, parts[0].last()), (3, 300, 301));
        assert_eq!(parts[0].batch.encoded(), batch.encoded());
        assert_eq!(parts[0].batch.counts(), batch.counts());
        for cut in 1..record.len() {
            assert!(decode(&record[..cut]).is_none(), "cut at {cut}");
        }
    }
}
