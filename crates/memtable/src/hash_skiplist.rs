//! A hash table of skip lists. All keys with equal first bytes belong to one short list.
//!
//! The hash of the first `prefix_length` bytes of a key selects a bucket, and each bucket contains a skip list. A
//! search in a short list takes fewer steps than a search in one long list of all keys. Writers of different buckets
//! never write to the same list. However, a scan or a flush must merge the lists of all buckets. This memtable is for
//! point lookups, and for keys whose prefix identifies a group of keys.
//!
//! Source: `HashSkipListRep` of `RocksDB` (`memtable/hash_skiplist_rep.cc`). By default, the implementation in RocksDB
//! has a million buckets, and nodes with at most four links. A scan over all buckets in RocksDB first copies and sorts
//! all entries. This memtable uses the skip lists of [`arena-skiplist`](crate::arena_skiplist), and all its lists share
//! one arena.
//!
//! An entry takes slightly less memory than in `arena-skiplist`, because its tower has fewer links. In addition, each
//! bucket takes 48 bytes for the front tower of its list, and 32 bytes in the hash table.

use std::ops::Bound;
use std::sync::Arc;

use catalog::{Build, Variant};
use serde::{Deserialize, Serialize};
use types::{Direction, Entry, EntryBatch, HashedKey, Lookup, SequenceNumber};
use xxhash_rust::xxh3::xxh3_64;

use crate::arena_skiplist::List;
use crate::memtable::{Memtable, MemtablePolicy};
use crate::merged;
use crate::shared_arena::{MapPool, SharedArena, VersionRecord};
use crate::versions::{Versions, lookup};

pub(crate) const VARIANT: Variant<dyn MemtablePolicy> = Variant::new::<Policy>(
    "hash-skiplist",
    "a hash table of short skip lists, with fast lookups and writes but slow scans over all buckets",
    "# Number of buckets, 1 to 1048576. With more buckets, each skip list is shorter, but a scan merges\n\
     # more lists.\n\
     buckets = 1024\n\
     # Length in bytes of the key prefix that selects the bucket, 1 to 65535. A shorter key selects its\n\
     # bucket with all its bytes.\n\
     prefix_length = 8\n",
);

/// The largest number of buckets of the hash table.
const MAX_BUCKETS: u32 = 1 << 20;

/// The largest number of links in a tower of a skip list.
const MOST_HEIGHT: usize = 4;

/// Creates [`HashSkipList`]s that reuse the memory of earlier memtables.
struct Policy {
    pool: Arc<MapPool>,
    buckets: u32,
    prefix_length: usize,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    buckets: u32,
    prefix_length: u32,
}

impl Default for Params {
    fn default() -> Self {
        Self { buckets: 1024, prefix_length: 8 }
    }
}

impl Build<dyn MemtablePolicy> for Policy {
    type Params = Params;

    fn build(Params { buckets, prefix_length }: Params) -> Result<Box<dyn MemtablePolicy>, String> {
        for (name, value, most) in
            [("buckets", buckets, MAX_BUCKETS), ("prefix_length", prefix_length, u16::MAX.into())]
        {
            if !(1..=most).contains(&value) {
                return Err(format!("{name} is {value}; it must be 1 to {most}"));
            }
        }
        Ok(Box::new(Self { pool: Arc::default(), buckets, prefix_length: prefix_length as usize }))
    }
}

impl MemtablePolicy for Policy {
    fn create(&self, capacity_bytes: usize) -> Box<dyn Memtable> {
        let arena = Arc::new(SharedArena::new(capacity_bytes, &self.pool));
        let lists = (0..self.buckets).map(|_| List::new(Arc::clone(&arena), MOST_HEIGHT)).collect();
        Box::new(HashSkipList { arena, lists, prefix_length: self.prefix_length })
    }
}

/// A memtable that is a hash table of skip lists, one list per bucket.
struct HashSkipList {
    arena: Arc<SharedArena>,
    lists: Vec<List<Arc<SharedArena>>>,
    prefix_length: usize,
}

impl HashSkipList {
    /// Returns the skip list of the bucket to which the prefix of the key belongs.
    fn list(&self, key: &[u8]) -> &List<Arc<SharedArena>> {
        let hash = xxh3_64(&key[..key.len().min(self.prefix_length)]);
        let bucket = (u128::from(hash) * self.lists.len() as u128) >> 64;
        &self.lists[bucket as usize]
    }
}

impl Memtable for HashSkipList {
    fn insert(&self, key: HashedKey<'_>, sequence: SequenceNumber, value: Option<&[u8]>) {
        self.list(key.bytes).insert(key, sequence, value);
    }

    fn get(&self, key: HashedKey<'_>, snapshot: SequenceNumber, value: &mut Vec<u8>) -> Lookup {
        lookup(self.list(key.bytes).visible(key.bytes, snapshot), value)
    }

    fn sequence_of(&self, key: HashedKey<'_>, snapshot: SequenceNumber) -> Option<SequenceNumber> {
        self.list(key.bytes).visible(key.bytes, snapshot).map(|record| record.sequence)
    }

    fn scan(
        &self,
        from: Bound<&[u8]>,
        direction: Direction,
        snapshot: SequenceNumber,
        limit: usize,
        batch: &mut EntryBatch,
    ) {
        let sink = &mut |record: VersionRecord<'_>| batch.push(record.entry());
        merged::scan(self.lists.iter(), from, direction, snapshot, limit, sink);
    }

    fn drain(&self, sink: &mut dyn FnMut(Entry<'_>)) {
        let sink = &mut |record: VersionRecord<'_>| sink(record.entry());
        let (from, forward) = (Bound::Unbounded, Direction::Forward);
        merged::scan(self.lists.iter(), from, forward, SequenceNumber::MAX, usize::MAX, sink);
    }

    fn len(&self) -> usize {
        // The arena also counts the front tower of each list as a version.
        self.arena.versions() - self.lists.len()
    }

    fn memory_bytes(&self) -> usize {
        size_of::<Self>() + size_of_val(&*self.lists) + self.arena.memory_bytes()
    }
}

#[cfg(test)]
mod tests {
    use types::KeyHash;

    use super::*;

    #[test]
    fn keys_of_one_prefix_are_in_one_list() {
        let arena = Arc::new(SharedArena::new(1 << 16, &Arc::default()));
        let lists = (0..64).map(|_| List::new(Arc::clone(&arena), MOST_HEIGHT)).collect();
        let table = HashSkipList { arena, lists, prefix_length: 4 };
        let list = |key: &[u8]| std::ptr::from_ref(table.list(key));
        assert_eq!(list(b"user1"), list(b"user2"));
        let used: std::collections::HashSet<_> = (0..640u32).map(|i| list(&i.to_be_bytes())).collect();
        assert!(used.len() > 60, "{} of 64 lists", used.len());
        table.insert(HashedKey { bytes: b"user1", hash: KeyHash(1) }, 1, Some(b"v"));
        assert_eq!((table.len(), table.list(b"user9").seek(None).is_some()), (1, true));
    }

    #[test]
    fn impossible_parameters_are_refused() {
        for (buckets, prefix_length) in [(0, 8), (MAX_BUCKETS + 1, 8), (1, 0), (1, 65_536)] {
            let error = Policy::build(Params { buckets, prefix_length }).err().unwrap();
            assert!(error.contains("it must be 1 to"), "{error}");
        }
    }
}
