//! The range deletes of a memtable. The bounds of the range deletes split the key space into fragments. Each fragment
//! has a list of the sequence numbers of the range deletes that cover the fragment.
//!
//! Source: RocksDB's `FragmentedRangeTombstoneList`. RocksDB builds the fragments again after each range delete. Here,
//! an insertion only splits the fragments at the bounds of the new range delete.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::RwLock;
use types::SequenceNumber;

use crate::range_tombstones::{KeyRange, RangeTombstones};

/// The range deletes of one memtable.
#[derive(Default)]
pub(crate) struct RangeDeletes {
    /// The number of range deletes in the memtable. If this number is 0, as in most memtables, readers need no other
    /// field.
    count: AtomicU64,
    fragments: RwLock<Fragments>,
}

/// The fragments of the key space, by their first keys. A fragment ends before the next key of the map. The value of a
/// fragment contains the sequence numbers of the range deletes that cover the fragment, in ascending order.
type Fragments = BTreeMap<Box<[u8]>, Vec<SequenceNumber>>;

impl RangeDeletes {
    /// Adds the delete of all keys from `low`, inclusive, to `high`, exclusive, with the sequence number `sequence`.
    /// `low` must be below `high`.
    pub(crate) fn insert(&self, low: &[u8], high: &[u8], sequence: SequenceNumber) {
        let mut fragments = self.fragments.write();
        split(&mut fragments, low);
        split(&mut fragments, high);
        let inside = (Bound::Included(low), Bound::Excluded(high));
        for (_, numbers) in fragments.range_mut::<[u8], _>(inside) {
            // Concurrent writers may insert sequence numbers out of order.
            let at = numbers.partition_point(|number| *number < sequence);
            numbers.insert(at, sequence);
        }
        drop(fragments);
        self.count.fetch_add(1, Ordering::Release);
    }

    /// Returns whether the memtable has no range deletes.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.count.load(Ordering::Acquire) == 0
    }

    /// Returns the sequence number of the newest range delete that covers `key` and is not newer than `snapshot`.
    /// Returns `None` if no range delete covers the key.
    #[inline]
    pub(crate) fn newest(&self, key: &[u8], snapshot: SequenceNumber) -> Option<SequenceNumber> {
        if self.is_empty() { None } else { self.search(key, snapshot) }
    }

    #[inline(never)]
    fn search(&self, key: &[u8], snapshot: SequenceNumber) -> Option<SequenceNumber> {
        let fragments = self.fragments.read();
        let below = (Bound::Unbounded, Bound::Included(key));
        let (_, numbers) = fragments.range::<[u8], _>(below).next_back()?;
        let seen = numbers.partition_point(|number| *number <= snapshot);
        numbers.get(seen.checked_sub(1)?).copied()
    }

    /// Returns all range deletes of the memtable as disjoint ranges.
    pub(crate) fn union(&self) -> RangeTombstones {
        let fragments = self.fragments.read();
        let ends = fragments.keys().skip(1);
        let covered = fragments.iter().zip(ends).filter(|((_, numbers), _)| !numbers.is_empty());
        let ranges =
            covered.map(|((low, _), high)| KeyRange { low: (&**low).into(), high: (&**high).into() });
        RangeTombstones::union(ranges.collect())
    }

    /// Returns the memory of the range deletes, in bytes.
    pub(crate) fn memory_bytes(&self) -> usize {
        if self.is_empty() {
            return 0;
        }
        let fragments = self.fragments.read();
        let bytes = fragments.iter().map(|(key, numbers)| {
            key.len()
                + numbers.capacity() * size_of::<SequenceNumber>()
                + size_of_val(key)
                + size_of_val(numbers)
        });
        bytes.sum()
    }
}

/// Splits the fragment of the key space that contains `key`, so that a fragment begins at `key`. Both parts keep the
/// sequence numbers of the split fragment. Does nothing if a fragment already begins at `key`.
fn split(fragments: &mut Fragments, key: &[u8]) {
    if !fragments.contains_key(key) {
        let below = (Bound::Unbounded, Bound::Excluded(key));
        let numbers = fragments.range::<[u8], _>(below).next_back().map(|(_, numbers)| numbers.clone());
        fragments.insert(key.into(), numbers.unwrap_or_default());
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Tests that the list finds the newest delete that covers a key, for every key and every snapshot, in any
        /// order of the insertions.
        #[test]
        fn fragments_answer_like_a_list_of_all_deletes(
            deletes in prop::collection::vec((0u8..20, 1u8..8), 0..20), rotation in 0usize..20
        ) {
            let mut numbered: Vec<(u8, u8, u64)> =
                deletes.iter().zip(1..).map(|((low, len), number)| (*low, low + len, number)).collect();
            numbered.rotate_left(rotation % deletes.len().max(1));
            let list = RangeDeletes::default();
            for (low, high, number) in &numbered {
                list.insert(&[*low], &[*high], *number);
            }
            prop_assert_eq!(list.is_empty(), deletes.is_empty());
            let union = list.union();
            for key in 0..30 {
                for snapshot in 0..=deletes.len() as u64 + 1 {
                    let covering = numbered.iter().filter(|(low, high, number)| {
                        *low <= key && key < *high && *number <= snapshot
                    });
                    prop_assert_eq!(list.newest(&[key], snapshot), covering.map(|(.., number)| *number).max());
                }
                prop_assert_eq!(union.cover(&[key]), list.newest(&[key], u64::MAX).is_some());
            }
        }
    }
}
