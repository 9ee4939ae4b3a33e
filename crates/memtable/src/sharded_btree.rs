//! Several B-trees (shards), each with its own lock. Writers of different shards do not wait for each other.
//!
//! By default, the hash of a key selects its shard. This router is a consistent-hash ring with virtual nodes, as in the
//! document cs265 (sections 2.2.1 and 2.2.2). The router `modulo` also uses the hash, but has no ring, so a comparison
//! of both routers shows the cost of the ring. Routing by hash does not keep the order of keys, so every scan merges
//! all shards. With the router `range`, each shard has a key range, and a scan reads one shard after another. The
//! borders of these ranges come from the memtable that became immutable last: they divide the keys of this memtable
//! into parts of equal size. For the first memtable, the borders divide the range of all possible 8-byte key prefixes
//! into equal parts.

use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::ops::Bound;
use std::sync::Arc;

use catalog::{Build, Variant};
use parking_lot::{RwLock, RwLockReadGuard};
use serde::{Deserialize, Serialize};
use types::{Direction, Entry, EntryBatch, HashedKey, Lookup, SequenceNumber};
use xxhash_rust::xxh3::xxh3_128;

use crate::arena::ChunkPool;
use crate::inline_key::INLINE_BYTES;
use crate::memtable::{Memtable, MemtablePolicy};
use crate::ring::Ring;
use crate::version_map::{Slot, VersionMap};

pub(crate) const VARIANT: Variant<dyn MemtablePolicy> = Variant::new::<Policy>(
    "sharded-btree",
    "several ordered maps, each under its own lock, so that many threads can write at once",
    "# Number of maps, 1 to 256. With more maps, writers wait less often for the same lock.\n\
     shards = 16\n\
     # Rule that assigns keys to maps. \"ring\" and \"modulo\" use the hash of the key: \"ring\" with a\n\
     # consistent-hash ring, \"modulo\" with the remainder of a division. \"range\" uses the order of the\n\
     # keys, so scans are fast, but writers of adjacent keys share a lock.\n\
     router = \"ring\"\n\
     # Number of points that each map has on the consistent-hash ring, 1 to 1024. With more points, the\n\
     # maps receive more equal numbers of keys.\n\
     virtual_nodes = 128\n\
     # Relative number of points on the consistent-hash ring, one number per map. An empty list gives all\n\
     # maps the same number of points.\n\
     weights = []\n",
);

/// The largest number of shards (maps) of a memtable. A limit is necessary because a scan takes the locks of all
/// shards.
const MAX_SHARDS: u32 = 256;

/// The largest number of points that a shard can have on the consistent-hash ring.
const MAX_VIRTUAL_NODES: u32 = 1024;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    shards: u32,
    router: RouterKind,
    virtual_nodes: u32,
    weights: Vec<u32>,
}

impl Default for Params {
    fn default() -> Self {
        Self { shards: 16, router: RouterKind::Ring, virtual_nodes: 128, weights: Vec::new() }
    }
}

impl Params {
    /// Returns the number of points that each shard has on the consistent-hash ring. Returns an error if `weights` is
    /// not empty and does not have one number per shard, or if a number of points is out of range.
    fn points(&self) -> Result<Vec<u32>, String> {
        let (shards, nodes) = (self.shards as usize, self.virtual_nodes);
        if self.weights.is_empty() {
            return Ok(vec![nodes; shards]);
        }
        if self.weights.len() != shards {
            return Err(format!(
                "weights has {} numbers, but shards is {shards}; give one weight per shard",
                self.weights.len()
            ));
        }
        let points = |weight: &u32| {
            let points = nodes.checked_mul(*weight).filter(|points| (1..=MAX_VIRTUAL_NODES).contains(points));
            points.ok_or_else(|| {
                format!("a weight is {weight}; virtual_nodes times a weight must be 1 to {MAX_VIRTUAL_NODES}")
            })
        };
        self.weights.iter().map(points).collect()
    }
}

/// The rule that assigns keys to shards, as the user writes it.
#[derive(Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum RouterKind {
    Ring,
    Modulo,
    Range,
}

/// Creates [`ShardedBTree`]s, which reuse the memory of earlier memtables. The router of the next memtable can depend
/// on the keys of earlier memtables.
struct Policy {
    shards: u32,
    pool: Arc<ChunkPool>,
    router: SharedRouter,
}

/// The router that the next memtable of a tree will use. All memtables of the tree share this value.
type SharedRouter = Arc<RwLock<Arc<Router>>>;

impl Build<dyn MemtablePolicy> for Policy {
    type Params = Params;

    fn build(params: Params) -> Result<Box<dyn MemtablePolicy>, String> {
        if !(1..=MAX_SHARDS).contains(&params.shards) {
            return Err(format!("shards is {}; it must be 1 to {MAX_SHARDS}", params.shards));
        }
        if !(1..=MAX_VIRTUAL_NODES).contains(&params.virtual_nodes) {
            return Err(format!(
                "virtual_nodes is {}; it must be 1 to {MAX_VIRTUAL_NODES}",
                params.virtual_nodes
            ));
        }
        if !params.weights.is_empty() && params.router != RouterKind::Ring {
            return Err(
                "weights needs router = \"ring\"; set router to \"ring\", or remove weights".to_owned()
            );
        }
        let router = match params.router {
            RouterKind::Ring => Router::Ring(Ring::new(&params.points()?)),
            RouterKind::Modulo => Router::Modulo(u64::from(params.shards)),
            RouterKind::Range => Router::Range(equal_parts(params.shards)),
        };
        let router = Arc::new(RwLock::new(Arc::new(router)));
        Ok(Box::new(Self { shards: params.shards, pool: Arc::default(), router }))
    }
}

impl MemtablePolicy for Policy {
    fn create(&self, capacity_bytes: usize) -> Box<dyn Memtable> {
        let share = capacity_bytes / self.shards as usize;
        let shards =
            (0..self.shards).map(|_| Shard(RwLock::new(VersionMap::new(share, &self.pool)))).collect();
        let (router, next_router) = (Arc::clone(&self.router.read()), Arc::clone(&self.router));
        Box::new(ShardedBTree { shards, router, next_router })
    }
}

/// A router, which computes the shard to which a key belongs.
enum Router {
    /// The XXH3-128 hash of a key selects a point on a consistent-hash ring, and the shard of this point.
    Ring(Ring),
    /// The shard is the XXH3-128 hash of the key modulo the number of shards.
    Modulo(u64),
    /// Each shard has a key range. The list has the smallest keys of all shards except the first shard, in order.
    Range(Vec<Vec<u8>>),
}

/// Returns the borders between shards that divide the range of all possible 8-byte key prefixes into equal parts.
fn equal_parts(shards: u32) -> Vec<Vec<u8>> {
    let border = |shard: u32| ((u128::from(shard) << 64) / u128::from(shards)) as u64;
    (1..shards).map(|shard| border(shard).to_be_bytes().to_vec()).collect()
}

impl Router {
    #[inline]
    fn shard(&self, key: &[u8]) -> usize {
        match self {
            Self::Ring(ring) => ring.shard(xxh3_128(key)),
            Self::Modulo(shards) => (xxh3_128(key) as u64 % shards) as usize,
            Self::Range(borders) => borders.partition_point(|border| border.as_slice() <= key),
        }
    }

    /// Returns whether all keys of each shard are below all keys of the next shard.
    fn keeps_order(&self) -> bool {
        matches!(self, Self::Range(_))
    }
}

/// One shard of the memtable: an ordered map and its lock. Different shards are in different cache lines.
#[repr(align(128))]
struct Shard(RwLock<VersionMap>);

/// A memtable that consists of several ordered maps (shards), each with its own lock.
struct ShardedBTree {
    shards: Vec<Shard>,
    router: Arc<Router>,
    /// The router that the next memtable of the tree will use. Its borders are computed from the keys of this memtable.
    next_router: SharedRouter,
}

impl ShardedBTree {
    fn shard_of(&self, key: HashedKey<'_>) -> &RwLock<VersionMap> {
        &self.shards[self.router.shard(key.bytes)].0
    }

    /// Locks all shards of the memtable for reading. No deadlock is possible, because a writer holds at most one lock
    /// at a time.
    fn read_all(&self) -> Vec<RwLockReadGuard<'_, VersionMap>> {
        self.shards.iter().map(|shard| shard.0.read()).collect()
    }
}

impl ShardedBTree {
    /// Scans all shards in `direction`, from the bound `from` on. Calls `sink` with up to `limit` entries that are
    /// visible at `snapshot`.
    fn hand_out<S: FnMut(Entry<'_>) + ?Sized>(
        &self,
        from: Bound<&[u8]>,
        direction: Direction,
        snapshot: SequenceNumber,
        limit: usize,
        sink: &mut S,
    ) {
        let shards = self.read_all();
        let up = || shards.iter().map(|map| (&**map, map.ascending(from)));
        let down = || shards.iter().rev().map(|map| (&**map, map.descending(from)));
        match (self.router.keeps_order(), direction) {
            (true, Direction::Forward) => chain(up(), snapshot, limit, sink),
            (true, Direction::Backward) => chain(down(), snapshot, limit, sink),
            (false, Direction::Forward) => merge(up(), direction, snapshot, limit, sink),
            (false, Direction::Backward) => merge(down(), direction, snapshot, limit, sink),
        }
    }

    /// Returns the keys that divide all keys of the memtable into equal parts, one part per shard. If there are fewer
    /// keys than shards, each key is in a part of its own.
    fn quantiles(&self) -> Vec<Vec<u8>> {
        let shards = self.read_all();
        let keys = shards.iter().map(|map| map.keys()).sum::<usize>();
        let in_order = shards.iter().flat_map(|map| map.ascending(Bound::Unbounded));
        let step = keys.div_ceil(shards.len()).max(1);
        let borders = in_order.step_by(step).skip(1);
        borders.map(|(key, _)| key.bytes(&mut [0; INLINE_BYTES]).to_vec()).collect()
    }
}

impl Memtable for ShardedBTree {
    fn insert(&self, key: HashedKey<'_>, sequence: SequenceNumber, value: Option<&[u8]>) {
        self.shard_of(key).write().insert(key.bytes, sequence, value);
    }

    fn get(&self, key: HashedKey<'_>, snapshot: SequenceNumber, value: &mut Vec<u8>) -> Lookup {
        self.shard_of(key).read().get(key.bytes, snapshot, value)
    }

    fn sequence_of(&self, key: HashedKey<'_>, snapshot: SequenceNumber) -> Option<SequenceNumber> {
        self.shard_of(key).read().sequence_of(key.bytes, snapshot)
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
        self.hand_out(from, direction, snapshot, limit, sink);
    }

    fn freeze(&self) {
        if self.router.keeps_order() {
            *self.next_router.write() = Arc::new(Router::Range(self.quantiles()));
        }
    }

    fn drain(&self, sink: &mut dyn FnMut(Entry<'_>)) {
        self.hand_out(Bound::Unbounded, Direction::Forward, SequenceNumber::MAX, usize::MAX, sink);
    }

    fn len(&self) -> usize {
        self.shards.iter().map(|shard| shard.0.read().len()).sum()
    }

    fn shard_lens(&self) -> Vec<usize> {
        self.shards.iter().map(|shard| shard.0.read().len()).collect()
    }

    fn memory_bytes(&self) -> usize {
        let shards = self.shards.iter().map(|shard| size_of::<Shard>() + shard.0.read().memory_bytes());
        size_of::<Self>() + shards.sum::<usize>()
    }
}

/// The position of a merging scan in one shard.
struct Cursor<'m, I> {
    map: &'m VersionMap,
    slot: Slot<'m>,
    rest: I,
    direction: Direction,
}

impl<I> Ord for Cursor<'_, I> {
    /// Compares the cursors of a merging scan for a max-heap: the cursor whose key comes next in the scan is the
    /// greatest cursor.
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        match self.direction {
            Direction::Forward => other.slot.0.cmp(self.slot.0),
            Direction::Backward => self.slot.0.cmp(other.slot.0),
        }
    }
}

impl<I> PartialOrd for Cursor<'_, I> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<I> PartialEq for Cursor<'_, I> {
    fn eq(&self, other: &Self) -> bool {
        self.slot.0 == other.slot.0
    }
}

impl<I> Eq for Cursor<'_, I> {}

/// Merges the scans of all shards. Calls `sink` with up to `limit` entries that are visible at `snapshot`, in the order
/// of `direction`. A key is in only one shard, so two cursors never have equal keys.
fn merge<'m, I: Iterator<Item = Slot<'m>>, S: FnMut(Entry<'_>) + ?Sized>(
    shards: impl Iterator<Item = (&'m VersionMap, I)>,
    direction: Direction,
    snapshot: SequenceNumber,
    limit: usize,
    sink: &mut S,
) {
    let mut cursors: BinaryHeap<Cursor<'m, I>> = shards
        .filter_map(|(map, mut rest)| rest.next().map(|slot| Cursor { map, slot, rest, direction }))
        .collect();
    let mut left = limit;
    while left > 0
        && let Some(mut first) = cursors.peek_mut()
    {
        left -= usize::from(first.map.emit(first.slot, snapshot, sink));
        match first.rest.next() {
            Some(slot) => first.slot = slot,
            None => drop(PeekMut::pop(first)),
        }
    }
}

/// Scans one shard after another. Calls `sink` with up to `limit` entries that are visible at `snapshot`.
fn chain<'m, I: Iterator<Item = Slot<'m>>, S: FnMut(Entry<'_>) + ?Sized>(
    shards: impl Iterator<Item = (&'m VersionMap, I)>,
    snapshot: SequenceNumber,
    limit: usize,
    sink: &mut S,
) {
    let mut left = limit;
    for (map, mut slots) in shards {
        while left > 0
            && let Some(slot) = slots.next()
        {
            left -= usize::from(map.emit(slot, snapshot, sink));
        }
    }
}

#[cfg(test)]
mod tests {
    use types::KeyHash;

    use super::*;

    #[test]
    fn all_routers_use_every_shard() {
        let routers =
            [Router::Ring(Ring::new(&[128; 16])), Router::Modulo(16), Router::Range(equal_parts(16))];
        for router in routers {
            let mut used = [0; 16];
            let keys = (0..1600u32).map(|i| i.wrapping_mul(0x9e37_79b9).to_be_bytes());
            keys.for_each(|key| used[router.shard(&key)] += 1);
            assert!(used.iter().all(|keys| (40..200).contains(keys)), "{used:?}");
        }
    }

    #[test]
    fn a_key_stays_in_its_shard() {
        let policy = Policy::build(Params { shards: 5, ..Params::default() }).unwrap();
        let table = policy.create(1 << 20);
        for sequence in 1..=100 {
            table.insert(HashedKey { bytes: b"key", hash: KeyHash(sequence) }, sequence, None);
        }
        let mut batch = EntryBatch::default();
        table.scan(Bound::Unbounded, Direction::Forward, 100, 10, &mut batch);
        assert_eq!((table.len(), batch.len()), (100, 1));
    }

    #[test]
    fn ranges_follow_the_keys_of_the_memtable_before() {
        let key = |i: u32| format!("user{i:06}").into_bytes();
        let next_router = SharedRouter::new(RwLock::new(Arc::new(Router::Range(equal_parts(16)))));
        for round in 0..2 {
            let pool = Arc::default();
            let shards = (0..16).map(|_| Shard(RwLock::new(VersionMap::new(1 << 16, &pool)))).collect();
            let router = Arc::clone(&next_router.read());
            let table = ShardedBTree { shards, router, next_router: Arc::clone(&next_router) };
            for i in 0..1600 {
                table.insert(HashedKey { bytes: &key(i), hash: KeyHash(0) }, u64::from(i) + 1, None);
            }
            let fullest = table.shards.iter().map(|shard| shard.0.read().len()).max();
            assert_eq!(fullest, Some([1600, 100][round]));
            table.freeze();
        }
    }

    #[test]
    fn a_shard_of_twice_the_weight_gets_twice_the_keys() {
        let weights = vec![1, 2, 1, 4];
        let params = Params { shards: 4, virtual_nodes: 256, weights, ..Params::default() };
        let table = Policy::build(params).unwrap().create(1 << 20);
        for sequence in 1..=8000u64 {
            table.insert(HashedKey { bytes: &sequence.to_le_bytes(), hash: KeyHash(0) }, sequence, None);
        }
        let lens = table.shard_lens();
        assert_eq!(lens.iter().sum::<usize>(), table.len());
        // The share of a shard with 256 points has a standard deviation of 6 %. The test allows three times this
        // deviation.
        for (len, expected) in lens.iter().zip([1000.0, 2000.0, 1000.0, 4000.0]) {
            assert!((*len as f64 / expected - 1.0).abs() < 0.2, "{lens:?}");
        }
    }

    #[test]
    fn impossible_weights_are_refused() {
        for (router, weights, named) in [
            (RouterKind::Ring, vec![1], "1 numbers, but shards is 16"),
            (RouterKind::Ring, vec![0; 16], "a weight is 0"),
            (RouterKind::Ring, vec![9; 16], "a weight is 9"),
            (RouterKind::Ring, vec![u32::MAX; 16], "must be 1 to 1024"),
            (RouterKind::Modulo, vec![1; 16], "weights needs router"),
        ] {
            let params = Params { router, weights, ..Params::default() };
            let error = Policy::build(params).err().unwrap();
            assert!(error.contains(named), "{error}");
        }
    }

    #[test]
    fn impossible_rings_are_refused() {
        for (shards, virtual_nodes, named) in [(0, 1, "shards"), (257, 1, "shards"), (1, 0, "virtual_nodes")]
        {
            let params = Params { shards, virtual_nodes, ..Params::default() };
            assert!(Policy::build(params).err().unwrap().contains(named));
        }
    }
}
