//! The write progress of the column families that share a WAL: the last sequence number and the size of the active
//! memtable of each family.

use types::SequenceNumber;

/// The write progress of the column families that share a WAL. Each list has one element per family, in the order of
/// the numbers of the families.
pub(crate) struct Tally {
    /// For each column family, its last sequence number in the WAL.
    last: Vec<SequenceNumber>,
    /// For each column family, the last sequence number in its immutable memtables and SSTables.
    frozen: Vec<SequenceNumber>,
    /// For each column family, the size of its active memtable in bytes.
    charged: Vec<u64>,
}

impl Tally {
    /// Creates the write progress of column families that have flushed all operations up to the sequence numbers in
    /// `flushed`.
    pub(crate) fn new(flushed: &[SequenceNumber]) -> Self {
        Self { last: flushed.to_vec(), frozen: flushed.to_vec(), charged: vec![0; flushed.len()] }
    }

    /// Records that a commit added operations to a column family. `last` is the sequence number of the last operation,
    /// and `charged_bytes` is the number of bytes by which the active memtable grows.
    pub(crate) fn add(&mut self, family: usize, last: SequenceNumber, charged_bytes: u64) {
        self.last[family] = last;
        self.charged[family] += charged_bytes;
    }

    /// Records that the active memtable of a column family has become immutable.
    pub(crate) fn freeze(&mut self, family: usize) {
        self.frozen[family] = self.last[family];
        self.charged[family] = 0;
    }

    /// Returns the last sequence number of each column family in the WAL.
    pub(crate) fn last(&self) -> &[SequenceNumber] {
        &self.last
    }

    /// Returns the number of the column family with the largest active memtable. Returns `None` if all active memtables
    /// together have less than `budget` bytes.
    pub(crate) fn fullest(&self, budget: u64) -> Option<usize> {
        let is_over = self.charged.iter().sum::<u64>() >= budget;
        // If the active memtables of several families have equal sizes, the result is the first of these families.
        let largest = (0..self.charged.len()).rev().max_by_key(|family| self.charged[*family]);
        largest.filter(|_| is_over)
    }

    /// Returns the number of a column family whose active memtable contains an operation with a sequence number up to
    /// `last[family]`, inclusive. Returns `None` if no active memtable contains such an operation.
    pub(crate) fn lagging(&self, last: &[SequenceNumber]) -> Option<usize> {
        self.frozen.iter().zip(last).position(|(frozen, last)| frozen < last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_memtable_makes_room_and_the_oldest_operations_lag() {
        let mut tally = Tally::new(&[0, 5, 0]);
        tally.add(1, 8, 300);
        tally.add(0, 2, 100);
        tally.add(2, 1, 300);
        assert_eq!((tally.fullest(701), tally.fullest(700)), (None, Some(1)));
        let segment = tally.last().to_vec();
        assert_eq!(segment, [2, 8, 1]);
        tally.freeze(1);
        assert_eq!((tally.fullest(400), tally.lagging(&segment)), (Some(2), Some(0)));
        tally.freeze(0);
        tally.freeze(2);
        tally.add(0, 3, 1);
        assert_eq!((tally.fullest(2), tally.lagging(&segment)), (None, None));
    }
}
