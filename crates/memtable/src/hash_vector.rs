//! An append-only list with a hash index for lookups. The memtable sorts the list when it becomes immutable. The hash
//! index makes lookups fast. The memtable `vector` has no such index, and its lookups are slow.
//!
//! All versions are in one arena. The hash of a key selects one of 16 shards. A shard has a lock, a hash table with
//! linear probing, and the list of its entries in insertion order. A slot of the hash table has 32 bits of the hash and
//! a reference to the newest version of the key. Each version has a link to the next older version. A lookup costs one
//! cache miss in the hash table and one cache miss for the version. For each version of the key that is newer than the
//! snapshot, the lookup costs one more cache miss. An insert of a new key costs one cache miss in the hash table.
//!
//! The memtable computes the order of keys only when this order is needed. When the memtable becomes immutable, a
//! parallel radix sort sorts all keys by their heads. The head of a key is the integer of its first eight bytes. A scan
//! of a mutable memtable sorts the entries that were added since the last scan, and merges these entries into the
//! existing order. The record of an entry takes the bytes of the key and value, and 24 bytes of header and link. In
//! addition, an entry takes 16 bytes in the list, and 11 to 21 bytes in the hash table. When the order has been
//! computed, an entry takes 16 more bytes.
//!
//! Sources: FASTER (Chandramouli et al., SIGMOD 2018), which has a hash index over a log, but uses latches instead of
//! shards; `VectorRep` of RocksDB, which also sorts its entries before the flush.

use std::cmp::Ordering;
use std::sync::Arc;

use catalog::{Build, ByteSize, Variant};
use parking_lot::RwLock;
use serde::{Deserialize, Serialize};
use types::{Direction, Entry, EntryBatch, HashedKey, KeyHash, Lookup, SequenceNumber, common_prefix, head};

use crate::memtable::{Memtable, MemtablePolicy};
use crate::radix::{self, Headed};
use crate::shared_arena::{LinkWord, MapPool, Ref, SharedArena, Version, VersionRecord};
use crate::versions::{self, Probe, Versions};

pub(crate) const VARIANT: Variant<dyn MemtablePolicy> = Variant::new::<Policy>(
    "hash-vector",
    "an append-only list with a hash index; fastest lookups, but a scan of the mutable list must sort first",
    "# Alignment of the 16 shards in memory: \"8B\", \"64B\", \"128B\" or \"256B\". Shards that share a cache line\n\
     # slow down the writers of both shards. A CPU may also fetch cache lines in pairs of 128 bytes. byron\n\
     # (section 1.3 A) uses 256 bytes.\n\
     alignment = \"128B\"\n",
);

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    alignment: ByteSize,
}

impl Default for Params {
    fn default() -> Self {
        Self { alignment: ByteSize(128) }
    }
}

/// The number of shards of the hash index. Writers of different shards do not wait for each other.
const SHARDS: usize = 16;

/// The number of hash-table slots of a shard after its first insert.
const FIRST_SLOTS: usize = 16;

/// Creates [`HashVector`]s that reuse the memory of earlier memtables.
struct Policy {
    pool: Arc<MapPool>,
    create: fn(SharedArena) -> Box<dyn Memtable>,
}

impl Build<dyn MemtablePolicy> for Policy {
    type Params = Params;

    fn build(params: Params) -> Result<Box<dyn MemtablePolicy>, String> {
        let create = match params.alignment.0 {
            8 => HashVector::<Shard8>::create,
            64 => HashVector::<Shard64>::create,
            128 => HashVector::<Shard128>::create,
            256 => HashVector::<Shard256>::create,
            _ => {
                let alignment = params.alignment;
                return Err(format!("alignment is {alignment}; it must be 8B, 64B, 128B or 256B"));
            }
        };
        Ok(Box::new(Self { pool: Arc::default(), create }))
    }
}

impl MemtablePolicy for Policy {
    fn create(&self, capacity_bytes: usize) -> Box<dyn Memtable> {
        (self.create)(SharedArena::new(capacity_bytes, &self.pool))
    }
}

/// A memtable that is an append-only list with a hash index in several shards.
struct HashVector<S> {
    arena: SharedArena,
    shards: [S; SHARDS],
    /// The sorted list of the entries for scans. It has the entries that existed at the last scan, or all entries of an
    /// immutable memtable.
    order: RwLock<Arc<Order>>,
}

/// A part of the hash index with its lock. The parameter `alignment` selects one of several types of shards, which have
/// different alignments in memory.
trait Shard: Default + Send + Sync + 'static {
    /// Returns the hash index of this shard, with its lock.
    fn index(&self) -> &RwLock<Index>;
}

/// Defines one shard type for each alignment in bytes.
macro_rules! shards {
    ($($name:ident: $alignment:literal,)+) => {
        $(
            #[doc = concat!("A shard that begins at a multiple of ", $alignment, " bytes.")]
            #[repr(align($alignment))]
            #[derive(Default)]
            struct $name(RwLock<Index>);

            impl Shard for $name {
                #[inline]
                fn index(&self) -> &RwLock<Index> {
                    &self.0
                }
            }
        )+
    };
}

shards! {
    Shard8: 8,
    Shard64: 64,
    Shard128: 128,
    Shard256: 256,
}

/// The hash table of one shard, and the versions of the keys in this shard.
#[derive(Default)]
struct Index {
    /// The slots of the hash table, whose number is a power of two. Each slot has 32 bits of the hash of a key, and the
    /// reference to the newest version of the key.
    slots: Vec<LinkWord>,
    keys: usize,
    /// All versions of the shard in insertion order, with the heads (first eight bytes) of their keys.
    log: Vec<Headed<Option<Ref<Version>>>>,
}

/// Returns the index of the shard to which a key belongs.
fn shard_of(hash: KeyHash) -> usize {
    hash.0 as usize >> (usize::BITS - SHARDS.ilog2())
}

impl Index {
    /// Returns the index of the hash-table slot with the newest version of `key`. If the shard does not contain the
    /// key, returns the index of the free slot for the key.
    #[inline]
    fn slot(&self, arena: &SharedArena, key: HashedKey<'_>) -> usize {
        let tag = key.hash.0 as u32;
        let mask = self.slots.len() - 1;
        let mut at = self.home(tag);
        loop {
            match self.slots[at].target() {
                None => return at,
                Some(version) if self.slots[at].hint() == tag && arena.record(version).key == key.bytes => {
                    return at;
                }
                Some(_) => at = (at + 1) & mask,
            }
        }
    }

    /// Returns the index of the hash-table slot at which the search for `tag` begins. A tag is 32 bits of the hash of a
    /// key. Its upper bits select the slot, so that the order of the entries stays the same when the table grows.
    #[inline]
    fn home(&self, tag: u32) -> usize {
        ((u64::from(tag) * self.slots.len() as u64) >> 32) as usize
    }

    fn insert(
        &mut self,
        arena: &SharedArena,
        key: HashedKey<'_>,
        sequence: SequenceNumber,
        version: Ref<Version>,
    ) {
        self.log.push(Headed::new(key.bytes, Some(version)));
        if (self.keys + 1) * 4 > self.slots.len() * 3 {
            self.grow();
        }
        let slot = self.slot(arena, key);
        let added = LinkWord::new(version, key.hash.0 as u32);
        let newest = self.slots[slot];
        let is_newer = |link: LinkWord| link.target().is_some_and(|at| arena.record(at).sequence > sequence);
        self.keys += usize::from(newest.target().is_none());
        if !is_newer(newest) {
            arena.link(version, 0).store(newest);
            self.slots[slot] = added;
            return;
        }
        // Concurrent writers may insert sequence numbers out of order.
        let mut before = newest.target().expect("a link to the newer version of a key must have a target");
        while is_newer(arena.link(before, 0).load()) {
            before = arena
                .link(before, 0)
                .load()
                .target()
                .expect("a link to the newer version of a key must have a target");
        }
        arena.link(version, 0).store(arena.link(before, 0).load());
        arena.link(before, 0).store(added);
    }

    /// Doubles the number of slots of the hash table.
    #[cold]
    fn grow(&mut self) {
        let slots = (self.slots.len() * 2).max(FIRST_SLOTS);
        let old = std::mem::replace(&mut self.slots, vec![LinkWord::END; slots]);
        for link in old.into_iter().filter(|link| link.target().is_some()) {
            let mut at = self.home(link.hint());
            while self.slots[at].target().is_some() {
                at = (at + 1) & (slots - 1);
            }
            self.slots[at] = link;
        }
    }

    /// Returns the newest version of `key` whose sequence number is not above `snapshot`. Returns `None` if there is no
    /// such version.
    #[inline]
    fn visible<'a>(
        &self,
        arena: &'a SharedArena,
        key: HashedKey<'_>,
        snapshot: SequenceNumber,
    ) -> Option<VersionRecord<'a>> {
        if self.slots.is_empty() {
            return None;
        }
        let mut version = self.slots[self.slot(arena, key)].target()?;
        loop {
            let record = arena.record(version);
            if record.sequence <= snapshot {
                return Some(record);
            }
            version = arena.link(version, 0).load().target()?;
        }
    }

    fn memory_bytes(&self) -> usize {
        self.slots.capacity() * size_of::<LinkWord>()
            + self.log.capacity() * size_of::<Headed<Option<Ref<Version>>>>()
    }
}

/// A sorted list of all versions that the memtable contained when the list was computed. Scans read this list.
#[derive(Default)]
struct Order {
    /// For each shard, the number of entries of its insertion list that this sorted list includes.
    taken: [usize; SHARDS],
    /// The prefix that all keys share. The heads of the keys begin after this prefix.
    prefix: Vec<u8>,
    sorted: Vec<Headed<Option<Ref<Version>>>>,
}

/// Returns the record of the version to which `item` refers. `item` is never `None`: its type is an `Option` only
/// because the radix sort needs a default value.
#[inline]
fn record(arena: &SharedArena, item: Option<Ref<Version>>) -> VersionRecord<'_> {
    arena.record(item.expect("each item in the sorted list of a memtable must have a version"))
}

impl Order {
    /// Returns a sorted list of all versions that are in the shards now. The function sorts the versions that this list
    /// lacks, and merges them with the versions of this list.
    fn extended_to<S: Shard>(&self, table: &HashVector<S>) -> Self {
        let arena = &table.arena;
        let mut taken = self.taken;
        let mut new = Vec::with_capacity(arena.versions().saturating_sub(self.sorted.len()));
        for (shard, taken) in table.shards.iter().zip(&mut taken) {
            let index = shard.index().read();
            new.extend_from_slice(&index.log[*taken..]);
            *taken = index.log.len();
        }
        let mut known = self.sorted.clone();
        let prefix = self.common_prefix(arena, &new);
        let place = |item: &mut Headed<_>| item.head = head(&record(arena, item.item).key[prefix.len()..]);
        if prefix.len() != self.prefix.len() {
            known.iter_mut().for_each(place);
        }
        if !prefix.is_empty() {
            new.iter_mut().for_each(place);
        }
        let tie = |a, b| {
            let (a, b) = (record(arena, a), record(arena, b));
            Probe { key: b.key, sequence: b.sequence }.order_of(&a)
        };
        radix::sort(&mut new, tie);
        if !known.is_empty() {
            // The stable sort detects the two sorted parts and merges them.
            known.append(&mut new);
            known.sort_by(|a, b| a.head.cmp(&b.head).then_with(|| tie(a.item, b.item)));
            new = known;
        }
        Self { taken, prefix, sorted: new }
    }

    /// Returns the prefix that all keys in this list and all `new` keys share. The heads of the `new` keys must be
    /// their first eight bytes. If these heads differ, the function compares only the heads, and the result may be
    /// shorter than the longest shared prefix.
    fn common_prefix(&self, arena: &SharedArena, new: &[Headed<Option<Ref<Version>>>]) -> Vec<u8> {
        let Some(first) = new.first() else { return self.prefix.clone() };
        let first_key = record(arena, first.item).key;
        let differing = new.iter().fold(0, |bits, item| bits | item.head ^ first.head);
        let mut prefix = if self.sorted.is_empty() { first_key } else { &self.prefix };
        prefix = &prefix[..common_prefix(prefix, first_key)];
        let shared = differing.leading_zeros() as usize / 8;
        if shared < 8 {
            // A head is padded with zeros after the end of a short key. Only the bytes before the first zero byte
            // certainly belong to the keys.
            let shared = &prefix[..shared.min(prefix.len())];
            return shared.split(|byte| *byte == 0).next().unwrap_or_default().to_vec();
        }
        for item in new {
            prefix = &prefix[..common_prefix(prefix, record(arena, item.item).key)];
        }
        prefix.to_vec()
    }

    fn memory_bytes(&self) -> usize {
        self.prefix.capacity() + self.sorted.capacity() * size_of::<Headed<Option<Ref<Version>>>>()
    }
}

/// A sorted list of versions, together with the arena that contains the versions.
struct Ordered<'a> {
    arena: &'a SharedArena,
    order: &'a Order,
}

impl Ordered<'_> {
    /// Returns the number of versions in the list that are before `probe`.
    fn rank(&self, probe: Probe<'_>) -> usize {
        let Order { prefix, sorted, .. } = self.order;
        let shared = probe.key.len().min(prefix.len());
        match probe.key[..shared].cmp(prefix) {
            Ordering::Less => return 0,
            Ordering::Greater => return sorted.len(),
            Ordering::Equal => {}
        }
        let head = head(&probe.key[shared..]);
        sorted.partition_point(|entry| match entry.head.cmp(&head) {
            Ordering::Less => true,
            Ordering::Equal => probe.order_of(&record(self.arena, entry.item)) == Ordering::Less,
            Ordering::Greater => false,
        })
    }
}

impl Versions for Ordered<'_> {
    type Cursor = usize;

    fn seek(&self, from: Option<Probe<'_>>) -> Option<usize> {
        let at = from.map_or(0, |from| self.rank(from));
        (at < self.order.sorted.len()).then_some(at)
    }

    fn seek_before(&self, end: Option<Probe<'_>>) -> Option<usize> {
        end.map_or(self.order.sorted.len(), |end| self.rank(end)).checked_sub(1)
    }

    fn next(&self, cursor: &mut Option<usize>) {
        *cursor = cursor.map(|at| at + 1).filter(|next| *next < self.order.sorted.len());
    }

    fn previous(&self, cursor: &mut Option<usize>) {
        *cursor = cursor.and_then(|at| at.checked_sub(1));
    }

    fn record<'a>(&'a self, cursor: &usize) -> VersionRecord<'a> {
        record(self.arena, self.order.sorted[*cursor].item)
    }
}

impl<S: Shard> HashVector<S> {
    fn create(arena: SharedArena) -> Box<dyn Memtable> {
        Box::new(Self { arena, shards: Default::default(), order: RwLock::default() })
    }

    /// Returns a sorted list of all versions whose inserts have returned. Computes a new list if the stored list lacks
    /// versions.
    fn order(&self) -> Arc<Order> {
        let known = Arc::clone(&self.order.read());
        let logs = self.shards.iter().map(|shard| shard.index().read().log.len());
        if logs.eq(known.taken) {
            return known;
        }
        let order = Arc::new(known.extended_to(self));
        *self.order.write() = Arc::clone(&order);
        order
    }
}

impl<S: Shard> Memtable for HashVector<S> {
    fn insert(&self, key: HashedKey<'_>, sequence: SequenceNumber, value: Option<&[u8]>) {
        let version = self.arena.append(key.bytes, sequence, value, 1);
        self.shards[shard_of(key.hash)].index().write().insert(&self.arena, key, sequence, version);
    }

    fn get(&self, key: HashedKey<'_>, snapshot: SequenceNumber, value: &mut Vec<u8>) -> Lookup {
        let index = self.shards[shard_of(key.hash)].index().read();
        versions::lookup(index.visible(&self.arena, key, snapshot), value)
    }

    fn sequence_of(&self, key: HashedKey<'_>, snapshot: SequenceNumber) -> Option<SequenceNumber> {
        let index = self.shards[shard_of(key.hash)].index().read();
        index.visible(&self.arena, key, snapshot).map(|record| record.sequence)
    }

    fn scan(
        &self,
        from: std::ops::Bound<&[u8]>,
        direction: Direction,
        snapshot: SequenceNumber,
        limit: usize,
        batch: &mut EntryBatch,
    ) {
        let ordered = Ordered { arena: &self.arena, order: &self.order() };
        versions::scan(&ordered, from, direction, snapshot, limit, &mut |record: VersionRecord<'_>| {
            batch.push(record.entry());
        });
    }

    fn freeze(&self) {
        self.order();
    }

    fn drain(&self, sink: &mut dyn FnMut(Entry<'_>)) {
        let ordered = Ordered { arena: &self.arena, order: &self.order() };
        versions::drain(&ordered, &mut |record: VersionRecord<'_>| sink(record.entry()));
    }

    fn len(&self) -> usize {
        self.arena.versions()
    }

    fn shard_lens(&self) -> Vec<usize> {
        self.shards.iter().map(|shard| shard.index().read().log.len()).collect()
    }

    fn memory_bytes(&self) -> usize {
        let shards = self.shards.iter().map(|shard| size_of::<S>() + shard.index().read().memory_bytes());
        self.arena.memory_bytes() + shards.sum::<usize>() + self.order.read().memory_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> HashVector<Shard128> {
        HashVector {
            arena: SharedArena::new(1 << 16, &Arc::default()),
            shards: Default::default(),
            order: RwLock::default(),
        }
    }

    #[test]
    fn an_order_grows_like_it_is_made_at_once() {
        let table = table();
        let mut grown = Order::default();
        let keys: [&[u8]; 11] = [
            b"user00007",
            b"user00001",
            b"user0000",
            b"user00001",
            b"user000011",
            b"user000",
            b"user1",
            b"use",
            b"v",
            b"",
            b"user7",
        ];
        for (number, bytes) in keys.into_iter().enumerate() {
            table.insert(HashedKey { bytes, hash: KeyHash(number as u64) }, number as u64 + 1, None);
            grown = grown.extended_to(&table);
            let made = Order::default().extended_to(&table);
            assert!(grown.sorted == made.sorted && grown.prefix == made.prefix, "behind {number}");
            let in_order: Vec<&[u8]> =
                grown.sorted.iter().map(|entry| record(&table.arena, entry.item).key).collect();
            assert!(in_order.is_sorted());
        }
    }

    #[test]
    fn shards_begin_at_multiples_of_the_alignment() {
        fn check<S: Shard>(alignment: usize) {
            let table = HashVector::<S> {
                arena: SharedArena::new(1 << 16, &Arc::default()),
                shards: Default::default(),
                order: RwLock::default(),
            };
            let places = table.shards.each_ref().map(|shard| std::ptr::from_ref(shard).addr());
            assert!(places.iter().all(|place| place.is_multiple_of(alignment)), "{alignment}: {places:?}");
            let apart = places.array_windows().map(|[a, b]| b - a).min();
            assert!(apart >= Some(alignment), "{alignment}: {places:?}");
        }
        check::<Shard8>(8);
        check::<Shard64>(64);
        check::<Shard128>(128);
        check::<Shard256>(256);
        for (alignment, is_valid) in [(8, true), (256, true), (32, false), (0, false), (512, false)] {
            let built = Policy::build(Params { alignment: ByteSize(alignment) });
            assert_eq!(built.is_ok(), is_valid, "{alignment}");
        }
    }

    #[test]
    fn a_lookup_survives_colliding_hashes_and_numbers_out_of_order() {
        let table = table();
        let key = |bytes: &'static [u8]| HashedKey { bytes, hash: KeyHash(0) };
        for (bytes, sequence) in [(b"a", 5), (b"b", 9), (b"a", 3), (b"b", 7), (b"a", 8), (b"a", 4)] {
            table.insert(key(bytes), sequence, Some(&[sequence as u8]));
        }
        let seen = |bytes, snapshot| {
            let mut value = Vec::new();
            table.get(key(bytes), snapshot, &mut value);
            value.first().copied().unwrap_or(0)
        };
        assert_eq!([2, 3, 4, 5, 7, 8].map(|snapshot| seen(b"a", snapshot)), [0, 3, 4, 5, 5, 8]);
        assert_eq!([6, 7, 8, 9].map(|snapshot| seen(b"b", snapshot)), [0, 7, 7, 9]);
        assert_eq!(seen(b"c", 9), 0);
    }
}
