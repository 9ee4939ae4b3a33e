//! A lock-free skip list in an arena. The tower, the key and the value of a node are contiguous in memory.
//!
//! Writers and readers take no lock. An insert links a version into the list level by level, beginning at the lowest
//! level, with one compare-and-swap per level. Versions are never removed. As in the `InlineSkipList` of RocksDB, the
//! tower of links is before the header in memory, and the key is after the header. In addition, each link stores the
//! first four bytes of the key of its target. A search compares these bytes first. It therefore usually detects without
//! a cache miss that the target of a link is after the searched key. If the list is far larger than the CPU caches,
//! each step to another node causes one cache miss. Let p be the probability that a node of a level also has a link on
//! the next higher level. A search then takes (1 - p) / p steps on the lower of the two levels. On the lowest levels,
//! whose nodes are not in the caches, p is 3/4. On higher levels, p is 1/2, because more levels would cost more time
//! than they save. If the first four bytes do not decide a comparison, the search reads the stored key. If most keys
//! share their first four bytes, searches therefore have twice as many cache misses.
//!
//! An entry takes the bytes of its key and value, 16 bytes for the header, and on average 29 bytes for links. The sum
//! is rounded up to a multiple of 8. Sources: Pugh, "Skip Lists: A Probabilistic Alternative to Balanced Trees", CACM
//! 1990; Herlihy and Shavit, "The Art of Multiprocessor Programming", 14.4, for the lock-free insert; RocksDB,
//! `memtable/inlineskiplist.h`, for the layout.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::sync::Arc;

use catalog::Variant;
use types::{HashedKey, SequenceNumber, head};

use crate::memtable::{Memtable, MemtablePolicy};
use crate::shared_arena::{Link, LinkWord, MAX_HEIGHT, MapPool, Ref, SharedArena, Version, VersionRecord};
use crate::sync::{AtomicUsize, Ordering::Relaxed};
use crate::versions::{Probe, Versions, read_versions};

pub(crate) const VARIANT: Variant<dyn MemtablePolicy> = Variant::plain(
    "arena-skiplist",
    "a lock-free skip list with nodes and keys in an arena; half the cache misses of \"skiplist\"",
    || Box::new(Policy { pool: Arc::default() }),
);

/// Creates [`ArenaSkipList`]s that reuse the memory of earlier lists.
struct Policy {
    pool: Arc<MapPool>,
}

impl MemtablePolicy for Policy {
    fn create(&self, capacity_bytes: usize) -> Box<dyn Memtable> {
        Box::new(ArenaSkipList { list: List::new(SharedArena::new(capacity_bytes, &self.pool), MAX_HEIGHT) })
    }
}

/// A memtable that is one lock-free skip list.
struct ArenaSkipList {
    list: List,
}

/// The skip list. The type `A` is either an arena that only this list uses, or an `Arc` of an arena that several lists
/// share.
pub(crate) struct List<A = SharedArena> {
    arena: A,
    /// The tower of links at the front of the list, at which all searches begin. Its key is never compared.
    front: Ref<Version>,
    /// The number of links of the tallest tower so far. A tower contains the links of one version.
    height: AtomicUsize,
    /// The largest number of links that the tower of a version can have.
    most_height: usize,
}

/// The path of a search in the skip list. For each level, the path stores the last version before the searched
/// position, and the link from this version to the next version.
struct Path {
    before: [Ref<Version>; MAX_HEIGHT],
    links: [LinkWord; MAX_HEIGHT],
}

impl<A: Borrow<SharedArena>> List<A> {
    /// Creates an empty list with towers of up to `most_height` links. The arena counts the front tower of the list
    /// as a version.
    pub(crate) fn new(arena: A, most_height: usize) -> Self {
        let front = arena.borrow().append(&[], SequenceNumber::MAX, None, most_height);
        Self { arena, front, height: AtomicUsize::new(1), most_height }
    }

    fn arena(&self) -> &SharedArena {
        self.arena.borrow()
    }

    /// Adds a version of a key to the list. The version is a tombstone if `value` is `None`.
    pub(crate) fn insert(&self, key: HashedKey<'_>, sequence: SequenceNumber, value: Option<&[u8]>) {
        let height = tower_height(key.hash.0, sequence).min(self.most_height);
        let version = self.arena().append(key.bytes, sequence, value, height);
        let link = LinkWord::new(version, hint(key.bytes));
        self.height.fetch_max(height, Relaxed);
        let place = Probe { key: key.bytes, sequence };
        let mut path = self.path(place);
        for level in 0..height {
            loop {
                self.link(version, level).store(path.links[level]);
                if self.link(path.before[level], level).swing(path.links[level], link) {
                    break;
                }
                path = self.path(place);
            }
        }
    }

    #[inline]
    fn link(&self, version: Ref<Version>, level: usize) -> &Link {
        self.arena().link(version, level)
    }

    /// Returns whether `link` points to a version that is before the searched position `place`. `place_hint` is the
    /// first four bytes of the key of `place`.
    #[inline]
    fn leads_before(&self, link: LinkWord, place: Probe<'_>, place_hint: u32) -> bool {
        let Some(target) = link.target() else { return false };
        match link.hint().cmp(&place_hint) {
            Ordering::Less => true,
            Ordering::Greater => false,
            Ordering::Equal => place.order_of(&self.arena().record(target)) == Ordering::Less,
        }
    }

    /// Searches for the position `place`, and returns the path of the search.
    fn path(&self, place: Probe<'_>) -> Path {
        let mut path = Path { before: [self.front; MAX_HEIGHT], links: [LinkWord::END; MAX_HEIGHT] };
        self.search(Some(place), |level, before, link| {
            path.before[level] = before;
            path.links[level] = link;
        });
        path
    }

    /// Searches for the position `place`, or for the end of the list if `place` is `None`. On each level, the function
    /// calls `passed` with the level, with the last version before the position, and with the link of this version.
    #[inline]
    fn search(&self, place: Option<Probe<'_>>, mut passed: impl FnMut(usize, Ref<Version>, LinkWord)) {
        let place_hint = place.map_or(0, |place| hint(place.key));
        let mut before = self.front;
        let mut too_far = LinkWord::END;
        for level in (0..self.height.load(Relaxed)).rev() {
            let mut link = self.link(before, level).load();
            // A link that leads too far on the next higher level also leads too far on this level.
            while link != LinkWord::END
                && link != too_far
                && place.is_none_or(|place| self.leads_before(link, place, place_hint))
            {
                before = link
                    .target()
                    .expect("every link that does not lead to the end of the skip list must have a target");
                link = self.link(before, level).load();
            }
            too_far = link;
            passed(level, before, link);
        }
    }
}

/// Returns the first four bytes of a key as an integer.
#[inline]
fn hint(key: &[u8]) -> u32 {
    (head(key) >> 32) as u32
}

/// The number of dense levels, which are the lowest levels of the skip list. Each dense level contains three quarters
/// of the versions of the next lower level, and each higher level contains half of them.
const DENSE_LEVELS: usize = 6;

/// Returns the height of the tower of a version, which is its number of links. Heights are geometrically distributed.
/// The result depends only on the version, so that benchmarks are reproducible.
#[inline]
fn tower_height(hash: u64, sequence: SequenceNumber) -> usize {
    let mixed = (hash ^ sequence.wrapping_mul(0x9e37_79b9_7f4a_7c15)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    let coins = mixed ^ mixed >> 32;
    // Each bit is one coin toss. Of two tosses, at least one is heads with the probability 3/4, which is the share of
    // versions that reach the next dense level.
    let pairs_of_tails = !(coins | coins << 1) & 0xaaaa_aaaa_aaaa_aaaa;
    let dense = pairs_of_tails.leading_zeros() as usize / 2;
    if dense < DENSE_LEVELS {
        return dense + 1;
    }
    let sparse = (coins << (2 * DENSE_LEVELS)).leading_zeros() as usize;
    (DENSE_LEVELS + sparse + 1).min(MAX_HEIGHT)
}

impl<A: Borrow<SharedArena>> Versions for List<A> {
    type Cursor = Ref<Version>;

    #[inline]
    fn seek(&self, from: Option<Probe<'_>>) -> Option<Self::Cursor> {
        if from.is_none() {
            return self.link(self.front, 0).load().target();
        }
        let mut found = LinkWord::END;
        self.search(from, |_, _, link| found = link);
        found.target()
    }

    fn seek_before(&self, end: Option<Probe<'_>>) -> Option<Self::Cursor> {
        let mut found = self.front;
        self.search(end, |_, before, _| found = before);
        (found != self.front).then_some(found)
    }

    #[inline]
    fn next(&self, cursor: &mut Option<Self::Cursor>) {
        *cursor = cursor.and_then(|at| self.link(at, 0).load().target());
    }

    fn previous(&self, cursor: &mut Option<Self::Cursor>) {
        let record = cursor.map(|at| self.arena().record(at));
        *cursor = record
            .and_then(|VersionRecord { key, sequence, .. }| self.seek_before(Some(Probe { key, sequence })));
    }

    #[inline]
    fn record<'a>(&'a self, cursor: &Self::Cursor) -> VersionRecord<'a> {
        self.arena().record(*cursor)
    }
}

impl ArenaSkipList {
    fn versions(&self) -> &List {
        &self.list
    }
}

impl Memtable for ArenaSkipList {
    fn insert(&self, key: HashedKey<'_>, sequence: SequenceNumber, value: Option<&[u8]>) {
        self.list.insert(key, sequence, value);
    }

    read_versions!(unguarded);

    fn len(&self) -> usize {
        // The arena counts the front tower as a version.
        self.list.arena.versions() - 1
    }

    fn memory_bytes(&self) -> usize {
        self.list.arena.memory_bytes()
    }
}

#[cfg(test)]
mod tests {
    use types::KeyHash;

    use super::*;

    #[test]
    fn three_quarters_reach_a_dense_level_and_half_a_sparse_one() {
        let mut at_least = [0; MAX_HEIGHT + 1];
        for sequence in 1..=1 << 16 {
            at_least[..=tower_height(0, sequence)].iter_mut().for_each(|towers| *towers += 1);
        }
        let mut expected = f64::from(1u32 << 16);
        for level in 1..14 {
            assert!((f64::from(at_least[level]) - expected).abs() < 5.0 * expected.sqrt(), "{at_least:?}");
            expected *= if level <= DENSE_LEVELS { 0.75 } else { 0.5 };
        }
    }

    #[test]
    fn every_level_is_in_order() {
        let list = List::new(SharedArena::new(1 << 16, &Arc::default()), MAX_HEIGHT);
        for sequence in 1..=2000u64 {
            let mixed = sequence.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 50;
            let bytes = mixed.to_be_bytes();
            list.insert(
                HashedKey { bytes: &bytes[..5 + mixed as usize % 4], hash: KeyHash(mixed) },
                sequence,
                None,
            );
        }
        for level in 0..list.height.load(Relaxed) {
            let mut link = list.link(list.front, level).load();
            let mut before: Option<VersionRecord<'_>> = None;
            while let Some(version) = link.target() {
                let record = list.arena.record(version);
                assert_eq!(link.hint(), hint(record.key));
                let probe = Probe { key: record.key, sequence: record.sequence };
                assert!(before.is_none_or(|before| probe.order_of(&before) == Ordering::Less));
                before = Some(record);
                link = list.link(version, level).load();
            }
        }
    }
}
