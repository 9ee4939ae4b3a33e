//! A skip list per thread. When the memtable becomes immutable, it merges the lists into one sorted array.
//!
//! A thread writes only into the list of its partition. If there are at least as many partitions as writing threads,
//! each list has at most one writer, and no compare-and-swap fails. However, a read must use the lists of all threads:
//! a lookup searches every list that has entries, and a scan merges all lists. When the memtable becomes immutable, a
//! radix sort sorts the references to all versions. The flush and later readers then use this sorted array.
//!
//! Source: Krueger et al., "Fast Updates on Read-Optimized Databases Using Multi-Core CPUs" (VLDB 2011), section 4,
//! where each writer has its own delta, which is merged later. The skip lists are those of
//! [`arena-skiplist`](crate::arena_skiplist). All lists share one arena, in which up to 16 threads fill blocks of their
//! own.
//!
//! An entry takes the memory of an entry in `arena-skiplist`. In an immutable memtable, an entry takes 16 more bytes.

use std::cmp::Ordering;
use std::ops::Bound;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};

use catalog::{Build, Variant};
use serde::{Deserialize, Serialize};
use types::{Direction, Entry, EntryBatch, HashedKey, Lookup, SequenceNumber, head};

use crate::arena_skiplist::List;
use crate::memtable::{Memtable, MemtablePolicy};
use crate::merged;
use crate::radix::{self, Headed};
use crate::shared_arena::{MAX_HEIGHT, MapPool, Ref, SharedArena, Version, VersionRecord};
use crate::versions::{self, Probe, Versions, lookup};

pub(crate) const VARIANT: Variant<dyn MemtablePolicy> = Variant::new::<Policy>(
    "per-thread",
    "one skip list per writing thread; writers never wait for each other, but a lookup searches all lists",
    "# Number of skip lists, 1 to 256. If there are more threads than lists, several threads write into\n\
     # the same list.\n\
     partitions = 16\n",
);

/// The largest number of skip lists. A limit is necessary because a lookup searches each list.
const MAX_PARTITIONS: u32 = 256;

/// The number that the next thread gets when it writes to a memtable for the first time.
static NEXT_THREAD: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// The number of the calling thread. Threads are numbered in the order of their first writes to a memtable.
    static THREAD: usize = NEXT_THREAD.fetch_add(1, Relaxed);
}

/// Creates [`PerThread`]s that reuse the memory of earlier memtables.
struct Policy {
    pool: Arc<MapPool>,
    partitions: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    partitions: u32,
}

impl Default for Params {
    fn default() -> Self {
        Self { partitions: 16 }
    }
}

impl Build<dyn MemtablePolicy> for Policy {
    type Params = Params;

    fn build(Params { partitions }: Params) -> Result<Box<dyn MemtablePolicy>, String> {
        if !(1..=MAX_PARTITIONS).contains(&partitions) {
            return Err(format!("partitions is {partitions}; it must be 1 to {MAX_PARTITIONS}"));
        }
        Ok(Box::new(Self { pool: Arc::default(), partitions }))
    }
}

impl MemtablePolicy for Policy {
    fn create(&self, capacity_bytes: usize) -> Box<dyn Memtable> {
        Box::new(PerThread::new(capacity_bytes, &self.pool, self.partitions))
    }
}

/// A memtable with one skip list per partition. A thread writes only into the list of its partition.
struct PerThread {
    arena: Arc<SharedArena>,
    lists: Vec<List<Arc<SharedArena>>>,
    /// All versions of an immutable memtable in sorted order. Not set while the memtable is mutable.
    order: OnceLock<Vec<Headed<Option<Ref<Version>>>>>,
}

impl PerThread {
    fn new(capacity_bytes: usize, pool: &Arc<MapPool>, partitions: u32) -> Self {
        let arena = Arc::new(SharedArena::new(capacity_bytes, pool));
        let lists = (0..partitions).map(|_| List::new(Arc::clone(&arena), MAX_HEIGHT)).collect();
        Self { arena, lists, order: OnceLock::new() }
    }

    /// Returns the sorted versions of an immutable memtable. Returns `None` if the memtable is mutable.
    fn frozen(&self) -> Option<Frozen<'_>> {
        self.order.get().map(|order| Frozen { arena: &self.arena, order })
    }

    /// Searches the lists of all partitions for the newest version of `key` whose sequence number is not above
    /// `snapshot`. Returns the result of `look` for this version, or for `None` if there is no such version.
    fn visible<R>(
        &self,
        key: &[u8],
        snapshot: SequenceNumber,
        look: impl FnOnce(Option<VersionRecord<'_>>) -> R,
    ) -> R {
        if let Some(frozen) = self.frozen() {
            return look(frozen.visible(key, snapshot));
        }
        let found = self.lists.iter().filter_map(|list| list.visible(key, snapshot));
        look(found.max_by_key(|record| record.sequence))
    }

    /// Scans all partitions in `direction`, from the bound `from` on. Calls `sink` with up to `limit` versions that are
    /// visible at `snapshot`.
    fn hand_out(
        &self,
        from: Bound<&[u8]>,
        direction: Direction,
        snapshot: SequenceNumber,
        limit: usize,
        sink: &mut dyn FnMut(VersionRecord<'_>),
    ) {
        match self.frozen() {
            Some(frozen) => versions::scan(&frozen, from, direction, snapshot, limit, sink),
            None => merged::scan(self.lists.iter(), from, direction, snapshot, limit, sink),
        }
    }
}

impl Memtable for PerThread {
    fn insert(&self, key: HashedKey<'_>, sequence: SequenceNumber, value: Option<&[u8]>) {
        self.lists[THREAD.with(|thread| *thread) % self.lists.len()].insert(key, sequence, value);
    }

    fn get(&self, key: HashedKey<'_>, snapshot: SequenceNumber, value: &mut Vec<u8>) -> Lookup {
        self.visible(key.bytes, snapshot, |version| lookup(version, value))
    }

    fn sequence_of(&self, key: HashedKey<'_>, snapshot: SequenceNumber) -> Option<SequenceNumber> {
        self.visible(key.bytes, snapshot, |version| version.map(|record| record.sequence))
    }

    fn scan(
        &self,
        from: Bound<&[u8]>,
        direction: Direction,
        snapshot: SequenceNumber,
        limit: usize,
        batch: &mut EntryBatch,
    ) {
        self.hand_out(from, direction, snapshot, limit, &mut |record| batch.push(record.entry()));
    }

    fn freeze(&self) {
        let mut all = Vec::with_capacity(self.len());
        for list in &self.lists {
            let mut at = list.seek(None);
            while let Some(version) = at {
                all.push(Headed::new(self.arena.record(version).key, Some(version)));
                list.next(&mut at);
            }
        }
        radix::sort(&mut all, |one, other| {
            let (one, other) = (record(&self.arena, one), record(&self.arena, other));
            Probe { key: other.key, sequence: other.sequence }.order_of(&one)
        });
        // The memtable becomes immutable only once, so the order is not set yet.
        let _ = self.order.set(all);
    }

    fn drain(&self, sink: &mut dyn FnMut(Entry<'_>)) {
        let sink = &mut |record: VersionRecord<'_>| sink(record.entry());
        self.hand_out(Bound::Unbounded, Direction::Forward, SequenceNumber::MAX, usize::MAX, sink);
    }

    fn len(&self) -> usize {
        // The arena also counts the front tower of each list as a version.
        self.arena.versions() - self.lists.len()
    }

    fn memory_bytes(&self) -> usize {
        let order = self.order.get().map_or(0, |order| size_of_val(&**order));
        size_of::<Self>() + size_of_val(&*self.lists) + self.arena.memory_bytes() + order
    }
}

/// Returns the record of the version to which `item` refers. `item` is never `None`: its type is an `Option` only
/// because the radix sort needs a default value.
fn record(arena: &SharedArena, item: Option<Ref<Version>>) -> VersionRecord<'_> {
    arena.record(item.expect("each item in the sorted list of a memtable must have a version"))
}

/// The versions of an immutable memtable in sorted order.
struct Frozen<'a> {
    arena: &'a SharedArena,
    order: &'a [Headed<Option<Ref<Version>>>],
}

impl Frozen<'_> {
    /// Returns the number of versions of the memtable that are before `probe`.
    fn rank(&self, probe: Probe<'_>) -> usize {
        let head = head(probe.key);
        self.order.partition_point(|entry| match entry.head.cmp(&head) {
            Ordering::Less => true,
            Ordering::Equal => probe.order_of(&record(self.arena, entry.item)).is_lt(),
            Ordering::Greater => false,
        })
    }
}

impl Versions for Frozen<'_> {
    type Cursor = usize;

    fn seek(&self, from: Option<Probe<'_>>) -> Option<usize> {
        let at = from.map_or(0, |from| self.rank(from));
        (at < self.order.len()).then_some(at)
    }

    fn seek_before(&self, end: Option<Probe<'_>>) -> Option<usize> {
        end.map_or(self.order.len(), |end| self.rank(end)).checked_sub(1)
    }

    fn next(&self, cursor: &mut Option<usize>) {
        *cursor = cursor.map(|at| at + 1).filter(|next| *next < self.order.len());
    }

    fn previous(&self, cursor: &mut Option<usize>) {
        *cursor = cursor.and_then(|at| at.checked_sub(1));
    }

    fn record<'a>(&'a self, cursor: &usize) -> VersionRecord<'a> {
        record(self.arena, self.order[*cursor].item)
    }
}

#[cfg(test)]
mod tests {
    use types::KeyHash;

    use super::*;

    /// Tests two threads that write versions of equal keys. Readers see the newest version of both lists, before and
    /// after the memtable becomes immutable.
    #[test]
    fn the_newest_version_is_found_in_whichever_list_it_is() {
        let table = PerThread::new(1 << 16, &Arc::default(), 8);
        let key = |i: u64| i.to_be_bytes();
        for writer in 0..4u64 {
            let table = &table;
            std::thread::scope(|scope| {
                scope.spawn(move || {
                    for i in 0..100 {
                        let value = writer.to_be_bytes();
                        let hashed = HashedKey { bytes: &key(i), hash: KeyHash(i) };
                        table.insert(hashed, 1 + writer + 4 * i, Some(&value));
                    }
                });
            });
        }
        let used = table.lists.iter().filter(|list| list.seek(None).is_some()).count();
        assert!(used > 1, "all threads wrote into one list");
        for frozen in [false, true] {
            if frozen {
                table.freeze();
            }
            for i in 0..100 {
                for (snapshot, writer) in [(4 + 4 * i, 3u64), (2 + 4 * i, 1)] {
                    let mut value = Vec::new();
                    let hashed = HashedKey { bytes: &key(i), hash: KeyHash(i) };
                    assert_eq!(table.get(hashed, snapshot, &mut value), Lookup::Found);
                    assert_eq!(value, writer.to_be_bytes(), "key {i}, frozen {frozen}");
                }
            }
            let mut batch = EntryBatch::default();
            table.scan(Bound::Unbounded, Direction::Backward, SequenceNumber::MAX, 1000, &mut batch);
            assert_eq!((batch.len(), table.len()), (100, 400));
            assert!(batch.iter().all(|entry| entry.value == Some(&3u64.to_be_bytes()[..])));
        }
    }

    #[test]
    fn impossible_partitions_are_refused() {
        for partitions in [0, MAX_PARTITIONS + 1] {
            assert!(Policy::build(Params { partitions }).err().unwrap().contains("partitions is"));
        }
    }
}
