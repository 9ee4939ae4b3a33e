//! A memtable that uses the lock-free skip list of the crate `crossbeam-skiplist`. Readers and writers never wait for
//! each other.
//!
//! The list contains one element per version, sorted by key and sequence number. Keys are in ascending order, and the
//! newest version of each key comes first. A lookup is therefore one search for the first element at or after the pair
//! of the key and the snapshot. The memtable of the document cs265 (section 2.2.3) and the second memtable of the
//! document byron (1.2 B) are skip lists. Source of the structure: Pugh, "Skip Lists: A Probabilistic Alternative to
//! Balanced Trees", CACM 1990.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::ops::Bound;
use std::sync::atomic::{self, AtomicUsize};

use catalog::Variant;
use crossbeam_skiplist::SkipMap;
use crossbeam_skiplist::map;
use types::{Direction, Entry, EntryBatch, HashedKey, Lookup, SequenceNumber};

use crate::allocation::allocation_bytes;
use crate::inline_key::{INLINE_BYTES, InlineKey};
use crate::memtable::{Memtable, MemtablePolicy};

pub(crate) const VARIANT: Variant<dyn MemtablePolicy> = Variant::plain(
    "skiplist",
    "a lock-free skip list, in which no thread waits but each step can cost a cache miss",
    || Box::new(Policy),
);

/// The number of bytes that an element of the list takes in addition to its key and value. This memory consists of a
/// reference count and a height (8 bytes), on average two pointers (16 bytes), and on average 8 bytes of padding.
const NODE_BYTES: usize = 8 + 16 + 8;

/// Creates [`SkipList`] memtables.
struct Policy;

impl MemtablePolicy for Policy {
    fn create(&self, _: usize) -> Box<dyn Memtable> {
        Box::new(SkipList { map: SkipMap::new(), heap_bytes: AtomicUsize::new(0) })
    }
}

/// The value of a version in the skip list, or `None` for a tombstone.
type Value = Option<Box<[u8]>>;

/// A memtable that consists of one skip list of the crate `crossbeam-skiplist`, and the number of heap bytes of its
/// values and long keys.
struct SkipList {
    map: SkipMap<VersionedKey<'static>, Value>,
    heap_bytes: AtomicUsize,
}

/// A position in the order of versions: a key and a sequence number. The position belongs to a stored version, or is a
/// search position between two versions.
struct VersionedKey<'a> {
    key: InlineKey<'a>,
    sequence: SequenceNumber,
}

/// A key that the list can compare: a stored key, or a search key (probe) that borrows its bytes. The trait allows a
/// comparison of a stored key with a probe of a shorter lifetime, although the list is invariant in its key type.
trait Versioned {
    fn versioned(&self) -> &VersionedKey<'_>;
}

impl Versioned for VersionedKey<'_> {
    #[inline]
    fn versioned(&self) -> &VersionedKey<'_> {
        self
    }
}

impl<'a> Borrow<dyn Versioned + 'a> for VersionedKey<'static> {
    #[inline]
    fn borrow(&self) -> &(dyn Versioned + 'a) {
        self
    }
}

impl Ord for VersionedKey<'_> {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        self.key.cmp(&other.key).then_with(|| other.sequence.cmp(&self.sequence))
    }
}

impl Ord for dyn Versioned + '_ {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        self.versioned().cmp(other.versioned())
    }
}

/// Implements `PartialOrd`, `PartialEq` and `Eq` for types whose order is defined by `cmp`.
macro_rules! ordered {
    ($type:ty) => {
        impl PartialOrd for $type {
            #[inline]
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                Some(self.cmp(other))
            }
        }

        impl PartialEq for $type {
            #[inline]
            fn eq(&self, other: &Self) -> bool {
                self.cmp(other) == Ordering::Equal
            }
        }

        impl Eq for $type {}
    };
}

ordered!(VersionedKey<'_>);
ordered!(dyn Versioned + '_);

/// An element of the skip list: a version of a key, with its value.
type Node<'m> = map::Entry<'m, VersionedKey<'static>, Value>;

impl<'a> VersionedKey<'a> {
    /// Returns the position before all versions of `key`.
    fn newest(key: InlineKey<'a>) -> Self {
        Self { key, sequence: SequenceNumber::MAX }
    }

    /// Returns the position after all versions of `key`. The position has the sequence number 0, because real
    /// sequence numbers begin at 1.
    fn oldest(key: InlineKey<'a>) -> Self {
        Self { key, sequence: 0 }
    }
}

impl SkipList {
    /// Returns the first element of the list at or after a bound, or `None` if there is no such element.
    fn lower(&self, bound: Bound<&VersionedKey<'_>>) -> Option<Node<'_>> {
        self.map.lower_bound(bound.map(|key| key as &dyn Versioned))
    }

    /// Returns the last element of the list at or before a bound, or `None` if there is no such element.
    fn upper(&self, bound: Bound<&VersionedKey<'_>>) -> Option<Node<'_>> {
        self.map.upper_bound(bound.map(|key| key as &dyn Versioned))
    }

    /// Returns the newest version of `key` whose sequence number is not above `snapshot`. Returns `None` if there is no
    /// such version.
    fn visible(&self, key: InlineKey<'_>, snapshot: SequenceNumber) -> Option<Node<'_>> {
        let sought = VersionedKey { key, sequence: snapshot };
        self.lower(Bound::Included(&sought)).filter(|node| node.key().key == sought.key)
    }

    /// Scans the list in ascending order from the bound `from` on. Calls `sink` with up to `limit` entries that are
    /// visible at `snapshot`.
    fn ascend<S: FnMut(Entry<'_>) + ?Sized>(
        &self,
        from: Bound<&[u8]>,
        snapshot: SequenceNumber,
        limit: usize,
        sink: &mut S,
    ) {
        let mut next = match from.map(InlineKey::probe) {
            Bound::Included(key) => self.lower(Bound::Included(&VersionedKey::newest(key))),
            Bound::Excluded(key) => self.lower(Bound::Excluded(&VersionedKey::oldest(key))),
            Bound::Unbounded => self.map.front(),
        };
        let mut left = limit;
        while left > 0
            && let Some(node) = next
        {
            // The newest version of each key comes first. One seek skips all older versions of the key, for any
            // number of versions.
            let key = &node.key().key;
            next = node.next();
            if next.as_ref().is_some_and(|next| next.key().key == *key) {
                next = self.lower(Bound::Excluded(&VersionedKey::oldest(key.to_probe())));
            }
            if node.key().sequence <= snapshot {
                left -= 1;
                emit(&node, sink);
            } else if let Some(older) = self.visible(key.to_probe(), snapshot) {
                left -= 1;
                emit(&older, sink);
            }
        }
    }

    /// Scans the list in descending order from the bound `from` on. Calls `sink` with up to `limit` entries that are
    /// visible at `snapshot`.
    fn descend<S: FnMut(Entry<'_>) + ?Sized>(
        &self,
        from: Bound<&[u8]>,
        snapshot: SequenceNumber,
        limit: usize,
        sink: &mut S,
    ) {
        let mut next = match from.map(InlineKey::probe) {
            Bound::Included(key) => self.upper(Bound::Included(&VersionedKey::oldest(key))),
            Bound::Excluded(key) => self.upper(Bound::Excluded(&VersionedKey::newest(key))),
            Bound::Unbounded => self.map.back(),
        };
        let mut left = limit;
        while left > 0
            && let Some(node) = next
        {
            // In descending order, the oldest version of each key comes first.
            let key = &node.key().key;
            next = node.prev();
            let is_alone = next.as_ref().is_none_or(|next| next.key().key != *key);
            if !is_alone {
                next = self.upper(Bound::Excluded(&VersionedKey::newest(key.to_probe())));
            }
            if node.key().sequence > snapshot {
                continue;
            }
            if is_alone {
                left -= 1;
                emit(&node, sink);
            } else if let Some(newer) = self.visible(key.to_probe(), snapshot) {
                left -= 1;
                emit(&newer, sink);
            }
        }
    }
}

/// Calls `sink` with the key and the value of an element of the list.
#[inline]
fn emit<S: FnMut(Entry<'_>) + ?Sized>(node: &Node<'_>, sink: &mut S) {
    let mut buffer = [0; INLINE_BYTES];
    sink(Entry { key: node.key().key.bytes(&mut buffer), value: node.value().as_deref() });
}

impl Memtable for SkipList {
    fn insert(&self, key: HashedKey<'_>, sequence: SequenceNumber, value: Option<&[u8]>) {
        let key = VersionedKey { key: InlineKey::owned(key.bytes), sequence };
        let heap_bytes =
            allocation_bytes(key.key.heap_bytes()) + allocation_bytes(value.map_or(0, <[u8]>::len));
        self.heap_bytes.fetch_add(heap_bytes, atomic::Ordering::Relaxed);
        self.map.insert(key, value.map(Box::from));
    }

    fn get(&self, key: HashedKey<'_>, snapshot: SequenceNumber, value: &mut Vec<u8>) -> Lookup {
        let Some(node) = self.visible(InlineKey::probe(key.bytes), snapshot) else { return Lookup::Absent };
        match node.value() {
            None => Lookup::Deleted,
            Some(found) => {
                value.extend_from_slice(found);
                Lookup::Found
            }
        }
    }

    fn sequence_of(&self, key: HashedKey<'_>, snapshot: SequenceNumber) -> Option<SequenceNumber> {
        self.visible(InlineKey::probe(key.bytes), snapshot).map(|node| node.key().sequence)
    }

    fn scan(
        &self,
        from: Bound<&[u8]>,
        direction: Direction,
        snapshot: SequenceNumber,
        limit: usize,
        batch: &mut EntryBatch,
    ) {
        let sink = &mut |entry: Entry<'_>| batch.push(entry);
        match direction {
            Direction::Forward => self.ascend(from, snapshot, limit, sink),
            Direction::Backward => self.descend(from, snapshot, limit, sink),
        }
    }

    fn drain(&self, sink: &mut dyn FnMut(Entry<'_>)) {
        self.ascend(Bound::Unbounded, SequenceNumber::MAX, usize::MAX, sink);
    }

    fn len(&self) -> usize {
        self.map.len()
    }

    fn memory_bytes(&self) -> usize {
        let node = allocation_bytes(size_of::<VersionedKey<'_>>() + size_of::<Value>() + NODE_BYTES);
        size_of::<Self>() + self.map.len() * node + self.heap_bytes.load(atomic::Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_stand_newest_first_behind_their_key() {
        let at = |key: &'static [u8], sequence| VersionedKey { key: InlineKey::probe(key), sequence };
        let mut order =
            [at(b"b", 1), at(b"a", 1), at(b"a", u64::MAX), at(b"a\0", 7), at(b"a", 2), at(b"a", 0)];
        order.sort();
        let order: Vec<(u8, u64)> =
            order.iter().map(|v| (v.key.bytes(&mut [0; INLINE_BYTES]).len() as u8, v.sequence)).collect();
        assert_eq!(order, [(1, u64::MAX), (1, 2), (1, 1), (1, 0), (2, 7), (1, 1)]);
    }
}
