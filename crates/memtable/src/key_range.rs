//! A memtable wrapper that tracks the key range of any memtable. If a looked-up key is outside of this range, the
//! lookup ends at once.
//!
//! Source: the document cs265, section 2.2.2, where each memtable stores its smallest and its largest key. In lsmbench,
//! a memtable stores only the heads of both keys. The head of a key is the integer of its first eight bytes. An insert
//! can therefore extend the range without a lock. If the head of a key is outside of the range of heads, the key is
//! outside of the key range.
//!
//! The range costs 16 bytes of memory, and two loads and two comparisons per call. The range helps if lookups and
//! writes use different parts of the key space. With random keys, the range is useless, because after a few inserts it
//! includes nearly the whole key space.

use std::ops::Bound;
use std::sync::atomic::{AtomicU64, Ordering};

use types::{Direction, Entries, EntryBatch, HashedKey, Lookup, SequenceNumber, head};

use crate::memtable::{Memtable, MemtablePolicy, NewEntry};
use crate::pass_on::pass_on;

/// Returns a policy that creates the memtables of `policy` and tracks the key range of each memtable.
pub fn with_key_range(policy: Box<dyn MemtablePolicy>) -> Box<dyn MemtablePolicy> {
    Box::new(Policy(policy))
}

/// Creates memtables that track their key range.
struct Policy(Box<dyn MemtablePolicy>);

impl MemtablePolicy for Policy {
    fn create(&self, capacity_bytes: usize) -> Box<dyn Memtable> {
        Box::new(Ranged {
            smallest: AtomicU64::new(u64::MAX),
            largest: AtomicU64::new(0),
            memtable: self.0.create(capacity_bytes),
        })
    }
}

/// A memtable with the range of its keys, stored as two heads. The head of a key is the integer of its first eight
/// bytes. The smallest head is above the largest head while the memtable is empty.
///
/// An insert first extends the range, and then inserts the entry. The range never shrinks. A reader that must find an
/// entry therefore sees a range that includes the key of the entry.
struct Ranged {
    /// The first eight bytes of the smallest key, as an integer.
    smallest: AtomicU64,
    /// The first eight bytes of the largest key, as an integer.
    largest: AtomicU64,
    memtable: Box<dyn Memtable>,
}

impl Ranged {
    /// Extends the key range of the memtable so that it includes a key.
    #[inline]
    fn widen(&self, key: &[u8]) {
        let head = head(key);
        // Nearly all keys are within the range. The insert of such a key does not write the shared cache line, so
        // readers need not load the line again.
        if head < self.smallest.load(Ordering::Relaxed) {
            self.smallest.fetch_min(head, Ordering::Relaxed);
        }
        if head > self.largest.load(Ordering::Relaxed) {
            self.largest.fetch_max(head, Ordering::Relaxed);
        }
    }

    /// Returns whether the memtable has no key for a scan that starts at `from` and goes in `direction`. Returns false
    /// for an unbounded scan.
    #[inline]
    fn is_past(&self, from: Bound<&[u8]>, direction: Direction) -> bool {
        let (Bound::Included(key) | Bound::Excluded(key)) = from else { return false };
        match direction {
            Direction::Forward => head(key) > self.largest.load(Ordering::Relaxed),
            Direction::Backward => head(key) < self.smallest.load(Ordering::Relaxed),
        }
    }
}

impl Memtable for Ranged {
    fn insert(&self, key: HashedKey<'_>, sequence: SequenceNumber, value: Option<&[u8]>) {
        self.widen(key.bytes);
        self.memtable.insert(key, sequence, value);
    }

    fn insert_all(&self, first: SequenceNumber, entries: &mut dyn Iterator<Item = NewEntry<'_>>) {
        self.memtable.insert_all(first, &mut entries.inspect(|(key, _)| self.widen(key.bytes)));
    }

    fn get(&self, key: HashedKey<'_>, snapshot: SequenceNumber, value: &mut Vec<u8>) -> Lookup {
        let from = Bound::Included(key.bytes);
        match self.is_past(from, Direction::Forward) || self.is_past(from, Direction::Backward) {
            true => Lookup::Absent,
            false => self.memtable.get(key, snapshot, value),
        }
    }

    fn sequence_of(&self, key: HashedKey<'_>, snapshot: SequenceNumber) -> Option<SequenceNumber> {
        let from = Bound::Included(key.bytes);
        match self.is_past(from, Direction::Forward) || self.is_past(from, Direction::Backward) {
            true => None,
            false => self.memtable.sequence_of(key, snapshot),
        }
    }

    fn scan(
        &self,
        from: Bound<&[u8]>,
        direction: Direction,
        snapshot: SequenceNumber,
        limit: usize,
        batch: &mut EntryBatch,
    ) {
        if !self.is_past(from, direction) {
            self.memtable.scan(from, direction, snapshot, limit, batch);
        }
    }

    fn entries(
        &self,
        from: Bound<&[u8]>,
        direction: Direction,
        snapshot: SequenceNumber,
        limit: usize,
    ) -> Entries<'_> {
        match self.is_past(from, direction) {
            true => EntryBatch::default().into(),
            false => self.memtable.entries(from, direction, snapshot, limit),
        }
    }

    pass_on!();

    fn memory_bytes(&self) -> usize {
        self.memtable.memory_bytes()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicUsize;

    use types::KeyHash;

    use super::*;
    use crate::CATALOG;

    /// A memtable that counts its lookups and scans.
    struct Counted(Arc<AtomicUsize>, Box<dyn Memtable>);

    impl Memtable for Counted {
        fn insert(&self, key: HashedKey<'_>, sequence: SequenceNumber, value: Option<&[u8]>) {
            self.1.insert(key, sequence, value);
        }
        fn get(&self, key: HashedKey<'_>, snapshot: SequenceNumber, value: &mut Vec<u8>) -> Lookup {
            self.0.fetch_add(1, Ordering::Relaxed);
            self.1.get(key, snapshot, value)
        }
        fn sequence_of(&self, key: HashedKey<'_>, snapshot: SequenceNumber) -> Option<SequenceNumber> {
            self.1.sequence_of(key, snapshot)
        }
        fn scan(
            &self,
            from: Bound<&[u8]>,
            direction: Direction,
            snapshot: SequenceNumber,
            limit: usize,
            batch: &mut EntryBatch,
        ) {
            self.0.fetch_add(1, Ordering::Relaxed);
            self.1.scan(from, direction, snapshot, limit, batch);
        }
        fn len(&self) -> usize {
            self.1.len()
        }
        fn memory_bytes(&self) -> usize {
            self.1.memory_bytes()
        }
    }

    struct Counting(Arc<AtomicUsize>);

    impl MemtablePolicy for Counting {
        fn create(&self, capacity_bytes: usize) -> Box<dyn Memtable> {
            let policy = CATALOG.build(&CATALOG.baseline()).unwrap();
            Box::new(Counted(Arc::clone(&self.0), policy.create(capacity_bytes)))
        }
    }

    fn hashed(key: &[u8]) -> HashedKey<'_> {
        HashedKey { bytes: key, hash: KeyHash(0) }
    }

    #[test]
    fn only_keys_inside_the_range_are_searched_for() {
        let searches = Arc::new(AtomicUsize::new(0));
        let memtable = with_key_range(Box::new(Counting(Arc::clone(&searches)))).create(1 << 20);
        let look = |expected: usize, key: &[u8]| {
            let before = searches.load(Ordering::Relaxed);
            let found = memtable.get(hashed(key), SequenceNumber::MAX, &mut Vec::new());
            assert_eq!(searches.load(Ordering::Relaxed) - before, expected, "{key:?}");
            found
        };
        for key in [&b""[..], b"key", &[0xff; 20]] {
            assert_eq!(look(0, key), Lookup::Absent, "nothing is in an empty one");
        }
        for (sequence, number) in (1..).zip([500u32, 700, 300]) {
            memtable.insert(hashed(format!("key{number:05}").as_bytes()), sequence, Some(b"value"));
        }
        for number in 0..1000u32 {
            let found =
                look(usize::from((300..=700).contains(&number)), format!("key{number:05}").as_bytes());
            assert_eq!(found == Lookup::Found, [300, 500, 700].contains(&number), "{number}");
        }
        // A key whose head equals the head of a stored key is within the range.
        assert_eq!(look(1, b"key00300 and more"), Lookup::Absent);
    }

    #[test]
    fn scans_from_behind_the_range_find_nothing_without_a_search() {
        let searches = Arc::new(AtomicUsize::new(0));
        let memtable = with_key_range(Box::new(Counting(Arc::clone(&searches)))).create(1 << 20);
        memtable.insert(hashed(b"m"), 1, None);
        for (from, direction, expected) in [
            (Bound::Included(&b"n"[..]), Direction::Forward, 0),
            (Bound::Excluded(&b"l"[..]), Direction::Backward, 0),
            (Bound::Included(&b"l"[..]), Direction::Forward, 1),
            (Bound::Excluded(&b"n"[..]), Direction::Backward, 1),
            (Bound::Unbounded, Direction::Forward, 1),
        ] {
            let before = searches.load(Ordering::Relaxed);
            let mut batch = EntryBatch::default();
            memtable.scan(from, direction, SequenceNumber::MAX, 10, &mut batch);
            assert_eq!((batch.len(), searches.load(Ordering::Relaxed) - before), (expected, expected));
            assert_eq!(memtable.entries(from, direction, SequenceNumber::MAX, 10).len(), expected);
        }
    }
}
