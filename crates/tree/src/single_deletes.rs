//! Single deletes: tombstones that leave the tree together with the one put that they delete.
//!
//! The caller promises that each key has at most one put since its previous single delete, and no delete and no merge.
//! If a flush or a compaction reads both the tombstone and its put, the tree no longer needs them, so both are dropped.
//! An ordinary tombstone must reach the last sorted run, because older versions of its key may exist there.
//!
//! A sorted run has at most one version of each key. Suppose that a run has a single delete, that the put is still in
//! an older run, and that a newer value replaces the single delete. The SSTable then marks the entry of the newer value
//! (see `table::single_marks`). When a later single delete removes the marked value, the older single delete becomes
//! the tombstone of the key again. Without the mark, the put in the older run would reappear.
//!
//! Source: `RocksDB`, `SingleDelete` and `CompactionIterator::NextFromInput`.

use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use types::{KeyHash, SequenceNumber};

/// The kind of a version of a key: a value, a merge operand, a tombstone or a single delete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum VersionKind {
    /// A value. The value is marked if it replaced a single delete whose put may still exist in an older run.
    Value { is_marked: bool },
    /// An operand of a merge.
    Operand,
    /// An ordinary tombstone.
    Delete,
    /// The tombstone of a single delete.
    SingleDelete,
}

/// The tombstone, if any, that remains of the versions of a key after its single deletes and their puts have been
/// removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Remainder {
    /// No tombstone remains for the key.
    Nothing,
    /// The tombstone of a single delete, whose put is in an older run.
    SingleDelete,
    /// An ordinary tombstone remains.
    Delete,
}

impl Remainder {
    /// Decides how a flush or a compaction stores the newest version of a key. `self` is the tombstone, if any, that
    /// [`resolve`] returned for the key. `is_tombstone` is set if the newest version is a tombstone. Returns `None` if
    /// the output omits the key, and otherwise whether the output marks the entry. A mark shows that the entry is a
    /// single delete, or has replaced one.
    pub(crate) fn mark(self, is_tombstone: bool) -> Option<bool> {
        match (self, is_tombstone) {
            (Self::Nothing, true) => None,
            (Self::Nothing, false) | (Self::Delete, true) => Some(false),
            (Self::SingleDelete, _) | (Self::Delete, false) => Some(true),
        }
    }
}

/// Removes each single delete together with its put from the versions of a key. Returns the remaining tombstone and the
/// number of removed pairs. `newest` is the newest version, and `older` contains the older versions, from the newest to
/// the oldest.
///
/// If `newest` is a tombstone, the remainder replaces all versions. If `newest` is a value or an operand, the SSTable
/// stores only this version. The SSTable marks the version if a tombstone remains, because an older run may still
/// contain the put that the tombstone deletes.
///
/// If the key has more than one put before a single delete, or other deletes or merges, the following rules apply. A
/// single delete becomes an ordinary tombstone if the next older version is a delete or an operand, or if the next two
/// older versions are values. Two single deletes in sequence count as one.
pub(crate) fn resolve(newest: VersionKind, mut older: impl Iterator<Item = VersionKind>) -> (Remainder, u64) {
    let mut above = newest;
    loop {
        match above {
            VersionKind::SingleDelete | VersionKind::Value { is_marked: true } => return annihilate(older),
            VersionKind::Delete if newest == VersionKind::Delete => return (Remainder::Delete, 0),
            VersionKind::Delete => return (Remainder::Nothing, 0),
            VersionKind::Value { is_marked: false } | VersionKind::Operand => match older.next() {
                Some(next) => above = next,
                None => return (Remainder::Nothing, 0),
            },
        }
    }
}

/// Removes a single delete and the `older` versions that it deletes. Returns the tombstone that remains, and the number
/// of removed pairs of a single delete and its put.
fn annihilate(mut older: impl Iterator<Item = VersionKind>) -> (Remainder, u64) {
    let mut pairs = 0;
    loop {
        match older.next() {
            None => return (Remainder::SingleDelete, pairs),
            Some(VersionKind::SingleDelete) => {}
            Some(VersionKind::Delete | VersionKind::Operand) => return (Remainder::Delete, pairs),
            // The mark of the value stands for the next older single delete.
            Some(VersionKind::Value { is_marked: true }) => pairs += 1,
            Some(VersionKind::Value { is_marked: false }) => match older.next() {
                None => return (Remainder::Nothing, pairs + 1),
                Some(VersionKind::SingleDelete) => pairs += 1,
                Some(VersionKind::Delete) => return (Remainder::Delete, pairs + 1),
                Some(VersionKind::Value { .. } | VersionKind::Operand) => return (Remainder::Delete, pairs),
            },
        }
    }
}

/// The single deletes in a memtable. The memtable itself contains them as tombstones.
#[derive(Default)]
pub(crate) struct SingleDeletes {
    /// The number of single deletes in the memtable. If this number is 0, as in most memtables, a flush needs no other
    /// field.
    count: AtomicU64,
    list: Mutex<Vec<(KeyHash, SequenceNumber)>>,
}

impl SingleDeletes {
    /// Records that the tombstone of a key with this sequence number is a single delete.
    pub(crate) fn insert(&self, key: KeyHash, sequence: SequenceNumber) {
        self.list.lock().push((key, sequence));
        self.count.fetch_add(1, Ordering::Release);
    }

    /// Returns the single deletes of the memtable in the order of their keys' hashes.
    pub(crate) fn sorted(&self) -> SortedSingleDeletes {
        if self.count.load(Ordering::Acquire) == 0 {
            return SortedSingleDeletes::default();
        }
        let mut list = self.list.lock().clone();
        list.sort_unstable();
        SortedSingleDeletes(list)
    }

    /// Returns the memory of the list of single deletes, in bytes.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.count.load(Ordering::Acquire) as usize * size_of::<(KeyHash, SequenceNumber)>()
    }
}

/// The single deletes of a memtable in the order of their keys' hashes.
#[derive(Default)]
pub(crate) struct SortedSingleDeletes(Vec<(KeyHash, SequenceNumber)>);

impl SortedSingleDeletes {
    /// Returns whether the memtable has no single deletes.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether the memtable has a single delete of a key with the hash `key`. The key can be a different key
    /// with an equal hash.
    pub(crate) fn may_have(&self, key: KeyHash) -> bool {
        let at = self.0.partition_point(|(hash, _)| *hash < key);
        self.0.get(at).is_some_and(|(hash, _)| *hash == key)
    }

    /// Returns whether the memtable has a single delete of a key with the hash `key` and the sequence number
    /// `sequence`.
    pub(crate) fn has(&self, key: KeyHash, sequence: SequenceNumber) -> bool {
        self.0.binary_search(&(key, sequence)).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::VersionKind::{Delete, Operand, SingleDelete, Value};
    use super::*;

    const PUT: VersionKind = Value { is_marked: false };
    const MARKED: VersionKind = Value { is_marked: true };

    #[test]
    fn a_single_delete_leaves_with_its_put() {
        for (versions, remainder, pairs) in [
            (&[SingleDelete][..], Remainder::SingleDelete, 0),
            (&[SingleDelete, PUT], Remainder::Nothing, 1),
            (&[SingleDelete, PUT, SingleDelete], Remainder::SingleDelete, 1),
            (&[SingleDelete, PUT, SingleDelete, PUT], Remainder::Nothing, 2),
            (&[SingleDelete, MARKED], Remainder::SingleDelete, 1),
            (&[SingleDelete, MARKED, PUT], Remainder::Nothing, 2),
            (&[SingleDelete, PUT, Delete, PUT], Remainder::Delete, 1),
            (&[PUT, SingleDelete], Remainder::SingleDelete, 0),
            (&[PUT, SingleDelete, PUT], Remainder::Nothing, 1),
            (&[MARKED], Remainder::SingleDelete, 0),
            (&[MARKED, PUT], Remainder::Nothing, 1),
            (&[PUT], Remainder::Nothing, 0),
            (&[PUT, Delete, PUT], Remainder::Nothing, 0),
            (&[Delete, PUT], Remainder::Delete, 0),
        ] {
            let resolved = resolve(versions[0], versions[1..].iter().copied());
            assert_eq!(resolved, (remainder, pairs), "{versions:?}");
        }
    }

    #[test]
    fn a_broken_promise_leaves_an_ordinary_tombstone_where_it_is_seen() {
        for (versions, remainder) in [
            (&[SingleDelete, PUT, PUT][..], Remainder::Delete),
            (&[SingleDelete, Operand, PUT], Remainder::Delete),
            (&[SingleDelete, PUT, Operand], Remainder::Delete),
            (&[SingleDelete, Delete, PUT], Remainder::Delete),
            (&[SingleDelete, SingleDelete, PUT], Remainder::Nothing),
            (&[PUT, PUT, SingleDelete], Remainder::SingleDelete),
            (&[PUT, MARKED], Remainder::SingleDelete),
            (&[Operand, SingleDelete], Remainder::SingleDelete),
        ] {
            assert_eq!(resolve(versions[0], versions[1..].iter().copied()).0, remainder, "{versions:?}");
        }
    }

    #[test]
    fn a_memtable_finds_its_single_deletes_by_key_and_sequence_number() {
        let list = SingleDeletes::default();
        assert!(!list.sorted().may_have(KeyHash(7)) && list.memory_bytes() == 0);
        for (key, sequence) in [(7, 30), (5, 20), (7, 10)] {
            list.insert(KeyHash(key), sequence);
        }
        let sorted = list.sorted();
        assert_eq!(
            [4, 5, 6, 7, 8].map(|key| sorted.may_have(KeyHash(key))),
            [false, true, false, true, false]
        );
        assert!(sorted.has(KeyHash(7), 10) && sorted.has(KeyHash(7), 30) && !sorted.has(KeyHash(7), 20));
    }
}
