//! Encodes and decodes the records of the shared WAL. A record has one part for each family of a commit.
//!
//! ```text
//! record  part*
//! part    varint family, varint first sequence number, varint length, operations (see `batch`)
//! ```

use types::SequenceNumber;

use crate::batch::WriteBatch;
use crate::codec::{Reader, put_bytes, put_varint};

/// The operations of one commit in one family of the store.
pub(crate) struct Part {
    /// The number of the family.
    pub(crate) family: usize,
    /// The sequence number of the first operation in the family.
    pub(super) first: SequenceNumber,
    /// The operations of the family.
    pub(super) batch: WriteBatch,
}

impl Part {
    /// Returns the sequence number of the last operation in the family.
    pub(super) fn last(&self) -> SequenceNumber {
        self.first + self.batch.len() as u64 - 1
    }
}

/// Appends the part of one family to `record`. `batch` contains the operations of the commit in this family, and
/// `first` is the sequence number of the first operation.
pub(super) fn encode(record: &mut Vec<u8>, family: usize, first: SequenceNumber, batch: &WriteBatch) {
    put_varint(record, family as u64);
    put_varint(record, first);
    put_bytes(record, batch.encoded());
}

/// Decodes the parts of a record. Returns `None` if the record is corrupt.
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
