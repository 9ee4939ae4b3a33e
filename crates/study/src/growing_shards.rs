//! The sharded memtable of the published system cs265. The memtable adds shards while it fills. A consistent-hash ring
//! with virtual nodes finds the shard of a key, and a new shard takes over the keys of its part of the ring.
//!
//! Source: section 2.2.1 of the document, which prints the ring as an ordered map and promises that only K/n of K
//! keys move if n shards become n + 1. cs265 does not say when a memtable adds a shard. This memtable adds a shard
//! when the shards have more than `entries_per_shard` entries on average. All other operations wait while keys move.
//!
//! The variant measures the cost of this flexibility: every operation takes an additional lock, and searches an
//! ordered map for its shard. A new memtable begins with `shards` shards again.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::atomic::{AtomicUsize, Ordering};

use catalog::{Build, Count, Variant, origin};
use memtable::{Memtable, MemtablePolicy};
use parking_lot::{RwLock, RwLockReadGuard};
use serde::{Deserialize, Serialize};
use types::{Direction, Entry, EntryBatch, HashedKey, Lookup, SequenceNumber};
use xxhash_rust::xxh3::xxh3_128;

/// The variant `growing-shards`: the sharded memtable of the published system cs265, which adds shards while it fills.
pub static VARIANT: Variant<dyn MemtablePolicy> = Variant::new::<Params>(
    "growing-shards",
    "ordered maps with locks on a consistent-hash ring; a growing memtable adds maps and moves keys to \
     them (cs265)",
    "# Number of maps of a new memtable, 1 to 256.\n\
     shards = 4\n\
     # Largest number of maps, from `shards` to 256.\n\
     most_shards = 16\n\
     # Mean number of entries per map above which the memtable adds a map, at least 1.\n\
     entries_per_shard = 1000\n\
     # Number of points that each map has on the ring, 1 to 1024. With more points, the maps receive more\n\
     # equal numbers of keys.\n\
     virtual_nodes = 128\n",
)
.from(origin!());

/// The largest number of shards of a memtable. The number is limited because a scan takes the locks of all shards.
const MAX_SHARDS: u32 = 256;

/// The largest number of points that a shard can have on the consistent-hash ring.
const MAX_VIRTUAL_NODES: u32 = 1024;

/// The average memory that a B-tree needs per entry, divided by the size of the key and the value of the entry.
const NODE_FILL: f64 = 1.6;

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    shards: u32,
    most_shards: u32,
    entries_per_shard: Count,
    virtual_nodes: u32,
}

impl Default for Params {
    fn default() -> Self {
        Self { shards: 4, most_shards: 16, entries_per_shard: Count(1000), virtual_nodes: 128 }
    }
}

impl Build<dyn MemtablePolicy> for Params {
    type Params = Self;

    fn build(params: Self) -> Result<Box<dyn MemtablePolicy>, String> {
        if !(1..=MAX_SHARDS).contains(&params.shards) {
            return Err(format!("shards is {}; it must be 1 to {MAX_SHARDS}", params.shards));
        }
        if !(params.shards..=MAX_SHARDS).contains(&params.most_shards) {
            let (shards, most) = (params.shards, params.most_shards);
            return Err(format!(
                "most_shards is {most}; it must be from {shards} (the value of shards) to {MAX_SHARDS}"
            ));
        }
        if params.entries_per_shard.0 == 0 {
            return Err("entries_per_shard is 0; it must be at least 1".to_owned());
        }
        if !(1..=MAX_VIRTUAL_NODES).contains(&params.virtual_nodes) {
            let nodes = params.virtual_nodes;
            return Err(format!("virtual_nodes is {nodes}; it must be 1 to {MAX_VIRTUAL_NODES}"));
        }
        Ok(Box::new(params))
    }
}

impl MemtablePolicy for Params {
    fn create(&self, _capacity_bytes: usize) -> Box<dyn Memtable> {
        Box::new(GrowingShards::new(*self))
    }
}

/// The consistent-hash ring that assigns keys to shards: an ordered map from points to shards, as cs265 prints it.
#[derive(Default)]
struct Ring(BTreeMap<u128, usize>);

impl Ring {
    /// Adds `virtual_nodes` points of a shard to the consistent-hash ring.
    fn add(&mut self, shard: usize, virtual_nodes: u32) {
        for node in 0..virtual_nodes {
            let name = [&b"ring"[..], &(shard as u64).to_le_bytes(), &node.to_le_bytes()].concat();
            self.0.insert(xxh3_128(&name), shard);
        }
    }

    /// Returns the shard to which a key belongs: the shard that owns the first point of the ring at or after the hash
    /// of the key. After the last point, the ring continues at its first point.
    fn shard(&self, key: &[u8]) -> usize {
        let behind = self.0.range(xxh3_128(key)..).next().or_else(|| self.0.iter().next());
        behind.map_or(0, |(_, shard)| *shard)
    }
}

/// A version of a key: its sequence number, and its value or a tombstone.
type Version = (SequenceNumber, Option<Box<[u8]>>);

/// The keys of one shard with their versions in the order of sequence numbers.
#[derive(Default)]
struct Shard(BTreeMap<Vec<u8>, Vec<Version>>);

impl Shard {
    fn insert(&mut self, key: &[u8], sequence: SequenceNumber, value: Option<&[u8]>) {
        let versions = match self.0.get_mut(key) {
            Some(versions) => versions,
            None => self.0.entry(key.to_vec()).or_default(),
        };
        let at = versions.partition_point(|(older, _)| *older < sequence);
        versions.insert(at, (sequence, value.map(Box::from)));
    }

    /// Iterates over the keys of the shard from `from` on, in the order of `direction`.
    fn keys<'s>(
        &'s self,
        from: Bound<&'s [u8]>,
        direction: Direction,
    ) -> Box<dyn Iterator<Item = (&'s Vec<u8>, &'s Vec<Version>)> + 's> {
        match direction {
            Direction::Forward => Box::new(self.0.range::<[u8], _>((from, Bound::Unbounded))),
            Direction::Backward => Box::new(self.0.range::<[u8], _>((Bound::Unbounded, from)).rev()),
        }
    }

    /// Returns the number of versions of all keys in the shard.
    fn len(&self) -> usize {
        self.0.values().map(Vec::len).sum()
    }

    fn memory_bytes(&self) -> usize {
        let nodes = self.0.len() * (size_of::<Vec<u8>>() + size_of::<Vec<Version>>());
        let heap = self.0.iter().map(|(key, versions)| {
            let values: usize =
                versions.iter().filter_map(|(_, value)| value.as_ref()).map(|value| value.len()).sum();
            key.capacity() + versions.capacity() * size_of::<Version>() + values
        });
        (nodes as f64 * NODE_FILL) as usize + heap.sum::<usize>()
    }
}

/// Returns the newest version of a key that is visible at `snapshot`, from all its versions.
fn visible(versions: &[Version], snapshot: SequenceNumber) -> Option<&Version> {
    let newer = versions.partition_point(|(sequence, _)| *sequence <= snapshot);
    versions.get(newer.checked_sub(1)?)
}

/// The shards of a memtable, and the ring that finds the shard of a key. Adding a shard changes both.
#[derive(Default)]
struct Shards {
    ring: Ring,
    maps: Vec<RwLock<Shard>>,
    /// The number of keys that have moved to added shards.
    moved_keys: usize,
}

impl Shards {
    fn of(&self, key: &[u8]) -> &RwLock<Shard> {
        &self.maps[self.ring.shard(key)]
    }

    /// Adds a shard with `virtual_nodes` points on the ring, and moves the keys that now belong to it.
    fn grow(&mut self, virtual_nodes: u32) {
        let new = self.maps.len();
        self.ring.add(new, virtual_nodes);
        let mut moved = BTreeMap::new();
        for shard in &mut self.maps {
            moved.extend(shard.get_mut().0.extract_if(.., |key, _| self.ring.shard(key) == new));
        }
        self.moved_keys += moved.len();
        self.maps.push(RwLock::new(Shard(moved)));
    }

    fn read_all(&self) -> Vec<RwLockReadGuard<'_, Shard>> {
        self.maps.iter().map(RwLock::read).collect()
    }
}

/// A memtable that adds shards while it fills.
struct GrowingShards {
    params: Params,
    shards: RwLock<Shards>,
    /// The number of versions of all keys in the memtable.
    len: AtomicUsize,
    /// The number of entries above which the memtable adds a shard. `usize::MAX` if it may not add a shard.
    grows_above: AtomicUsize,
}

impl GrowingShards {
    fn new(params: Params) -> Self {
        let mut shards = Shards::default();
        for _ in 0..params.shards {
            shards.grow(params.virtual_nodes);
        }
        let table = Self {
            params,
            shards: RwLock::new(shards),
            len: AtomicUsize::new(0),
            grows_above: AtomicUsize::new(usize::MAX),
        };
        table.set_limit(params.shards as usize);
        table
    }

    /// Sets the number of entries above which the memtable adds a shard. `shards` is the current number of shards.
    fn set_limit(&self, shards: usize) {
        let limit = match shards < self.params.most_shards as usize {
            true => (self.params.entries_per_shard.0 as usize).saturating_mul(shards),
            false => usize::MAX,
        };
        self.grows_above.store(limit, Ordering::Relaxed);
    }

    /// Adds a shard to the memtable, unless another thread has added a shard in the meantime.
    fn grow(&self) {
        let mut shards = self.shards.write();
        if self.len.load(Ordering::Relaxed) > self.grows_above.load(Ordering::Relaxed) {
            shards.grow(self.params.virtual_nodes);
            self.set_limit(shards.maps.len());
        }
    }
}

impl Memtable for GrowingShards {
    fn insert(&self, key: HashedKey<'_>, sequence: SequenceNumber, value: Option<&[u8]>) {
        self.shards.read().of(key.bytes).write().insert(key.bytes, sequence, value);
        let len = self.len.fetch_add(1, Ordering::Relaxed) + 1;
        if len > self.grows_above.load(Ordering::Relaxed) {
            self.grow();
        }
    }

    fn get(&self, key: HashedKey<'_>, snapshot: SequenceNumber, value: &mut Vec<u8>) -> Lookup {
        let shards = self.shards.read();
        let shard = shards.of(key.bytes).read();
        match shard.0.get(key.bytes).and_then(|versions| visible(versions, snapshot)) {
            None => Lookup::Absent,
            Some((_, None)) => Lookup::Deleted,
            Some((_, Some(found))) => {
                value.extend_from_slice(found);
                Lookup::Found
            }
        }
    }

    fn sequence_of(&self, key: HashedKey<'_>, snapshot: SequenceNumber) -> Option<SequenceNumber> {
        let shards = self.shards.read();
        let shard = shards.of(key.bytes).read();
        visible(shard.0.get(key.bytes)?, snapshot).map(|(sequence, _)| *sequence)
    }

    fn scan(
        &self,
        from: Bound<&[u8]>,
        direction: Direction,
        snapshot: SequenceNumber,
        limit: usize,
        batch: &mut EntryBatch,
    ) {
        let shards = self.shards.read();
        let maps = shards.read_all();
        let mut sources: Vec<_> = maps.iter().map(|map| map.keys(from, direction).peekable()).collect();
        let mut left = limit;
        while left > 0 {
            // A key is in only one shard, so no two sources have equal keys.
            let heads = sources.iter_mut().filter_map(|source| Some((source.peek()?.0, source)));
            let next = match direction {
                Direction::Forward => heads.min_by_key(|(key, _)| *key),
                Direction::Backward => heads.max_by_key(|(key, _)| *key),
            };
            let Some((key, versions)) = next.and_then(|(_, source)| source.next()) else { return };
            if let Some((_, value)) = visible(versions, snapshot) {
                batch.push(Entry { key, value: value.as_deref() });
                left -= 1;
            }
        }
    }

    fn len(&self) -> usize {
        self.len.load(Ordering::Relaxed)
    }

    fn shard_lens(&self) -> Vec<usize> {
        self.shards.read().read_all().iter().map(|shard| shard.len()).collect()
    }

    fn moved_keys(&self) -> Option<usize> {
        Some(self.shards.read().moved_keys)
    }

    fn memory_bytes(&self) -> usize {
        let shards = self.shards.read();
        let maps: usize =
            shards.read_all().iter().map(|shard| size_of::<RwLock<Shard>>() + shard.memory_bytes()).sum();
        let points = shards.ring.0.len() * (size_of::<u128>() + size_of::<usize>());
        size_of::<Self>() + maps + (points as f64 * NODE_FILL) as usize
    }
}

#[cfg(test)]
mod tests {
    use types::KeyHash;

    use super::*;

    fn insert(table: &dyn Memtable, number: u64) {
        let key = number.to_be_bytes();
        table.insert(HashedKey { bytes: &key, hash: KeyHash(0) }, number + 1, Some(&key));
    }

    /// Tests the claim of section 2.2.1: of K keys in n shards, K/(n + 1) keys move to a new shard, and no other key
    /// moves.
    #[test]
    fn a_new_shard_takes_its_share_and_nothing_else_moves() {
        const KEYS: usize = 20_000;
        let params = Params { shards: 16, ..Params::default() };
        let table = GrowingShards::new(params);
        (0..KEYS as u64).for_each(|number| insert(&table, number));
        let places = |shards: &Shards| -> Vec<usize> {
            (0..KEYS as u64).map(|number| shards.ring.shard(&number.to_be_bytes())).collect()
        };
        let mut shards = table.shards.write();
        let before = places(&shards);
        shards.grow(params.virtual_nodes);
        let (after, moved) = (places(&shards), shards.moved_keys);
        assert!(before.iter().zip(&after).all(|(old, new)| old == new || *new == 16));
        assert_eq!(moved, after.iter().filter(|shard| **shard == 16).count());
        // The expected share is 1/17, with three standard deviations of 128 points, 9 % each.
        assert!((KEYS / 17 * 7 / 10..KEYS / 17 * 13 / 10).contains(&moved), "{moved}");
        for (shard, map) in shards.read_all().iter().enumerate() {
            assert!(map.0.keys().all(|key| shards.ring.shard(key) == shard), "shard {shard}");
        }
    }

    #[test]
    fn shards_are_added_until_they_are_most() {
        let params = Params { shards: 2, most_shards: 5, entries_per_shard: Count(100), ..Params::default() };
        let table = GrowingShards::new(params);
        for (until, shards) in [(200, 2), (201, 3), (300, 3), (301, 4), (401, 5), (2000, 5)] {
            (table.len() as u64..until).for_each(|number| insert(&table, number));
            let lens = table.shard_lens();
            assert_eq!((lens.len(), lens.iter().sum::<usize>()), (shards, until as usize));
        }
    }

    #[test]
    fn versions_move_with_their_key() {
        let table =
            GrowingShards::new(Params { shards: 1, entries_per_shard: Count(3), ..Params::default() });
        let key = HashedKey { bytes: b"key", hash: KeyHash(0) };
        table.insert(key, 1, Some(b"old"));
        table.insert(key, 3, None);
        (0..40u64).for_each(|number| insert(&table, number + 10));
        assert_eq!(table.shard_lens().len(), 14);
        let mut value = Vec::new();
        assert!(matches!(table.get(key, 2, &mut value), Lookup::Found) && value == b"old");
        assert!(matches!(table.get(key, 100, &mut value), Lookup::Deleted));
        assert_eq!((table.sequence_of(key, 2), table.sequence_of(key, 100)), (Some(1), Some(3)));
    }

    #[test]
    fn impossible_shards_are_refused() {
        for (params, named) in [
            (Params { shards: 0, ..Params::default() }, "shards is 0"),
            (
                Params { most_shards: 3, ..Params::default() },
                "most_shards is 3; it must be from 4 (the value of shards)",
            ),
            (Params { most_shards: 257, ..Params::default() }, "most_shards is 257"),
            (Params { entries_per_shard: Count(0), ..Params::default() }, "entries_per_shard is 0"),
            (Params { virtual_nodes: 0, ..Params::default() }, "virtual_nodes is 0"),
        ] {
            let error = <Params as Build<_>>::build(params).err().unwrap();
            assert!(error.contains(named), "{error}");
        }
    }
}
