//! A lock-free arena that several threads fill at the same time. Records and nodes never move. All of them are freed
//! together with the arena. A reference to a record or node has 32 bits.
//!
//! The arena is one address range of 8-byte units, which is divided into chunks. The first chunk has about the capacity
//! of the memtable, and each further chunk doubles the total size. Chunks are memory-mapped, so unused parts of a chunk
//! take no physical memory. The arena requests huge pages for its chunks. Without huge pages, a search in an ordered
//! structure of 64 MiB spends most of its time on address translation. Each thread belongs to one shard of the arena. A
//! shard takes a block from the address range, and its threads allocate memory from this block through the cursor of
//! the shard. Only the threads of a shard write the cache line of its cursor.
//!
//! Reads are safe for three reasons. First, only the arena creates references, because [`Ref`] has no other
//! constructor. Second, the arena writes the target of a reference before it returns the reference. Third, the arena
//! frees no record or node before the arena itself is dropped. Threads pass references to each other through an
//! [`AtomicRef`] or a link word, with release and acquire ordering.

#![allow(unsafe_code)]

mod reference;

use std::marker::PhantomData;
use std::num::NonZeroU32;
use std::ops::Range;
use std::ptr;
use std::slice;
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering};

use memmap2::{MmapMut, MmapOptions};
use parking_lot::Mutex;
use prefetch::prefetch_at;
use types::SequenceNumber;

pub(crate) use self::reference::{AtomicRef, Link, LinkWord, MAX_HEIGHT, Ref, Version, VersionRecord};
use crate::shard::Shard;

/// The size of a unit in bytes. The arena allocates memory in units, so every record begins at a multiple of this size.
const UNIT_BYTES: usize = 8;

/// The number of 8-byte units in a cache line. Nodes are aligned to cache lines.
const LINE_UNITS: u32 = 8;

/// The number of 8-byte units in a block of the arena. A shard (a group of threads) takes a whole block at once.
const BLOCK_UNITS: u32 = (16 << 10) / UNIT_BYTES as u32;

/// The size, in 8-byte units, of the largest record that is allocated in the block of a shard. Larger records are
/// allocated directly from the address range.
const LARGEST_IN_BLOCK_UNITS: usize = BLOCK_UNITS as usize / 4;

/// The smallest and the largest size of the first chunk of an arena: 64 KiB and 256 MiB. Each number is the base-2
/// logarithm of a number of 8-byte units.
const FIRST_CHUNK_BITS: std::ops::RangeInclusive<u32> = 13..=25;

/// The maximum number of chunks of an arena. Even if the first chunk has the smallest size, this number of chunks
/// contains 2^32 units.
const MAX_CHUNKS: usize = 20;

/// The end of the address range of an arena in 8-byte units: 32 GiB minus a reserve. A failed allocation moves a cursor
/// beyond the end of its block, and the reserve prevents an overflow of this cursor.
const LINE_END: u64 = (1 << 32) - (1 << 20);

/// The number of shards of an arena. The threads of a shard allocate memory through one cursor.
const SHARDS: usize = 16;

/// The value length that marks a tombstone. No value has this length.
const TOMBSTONE: u32 = u32::MAX;

/// The number of 8-byte units in the header of a version. The header is before the key, and contains the sequence
/// number, the lengths of key and value, and the height of the tower.
const HEADER_UNITS: usize = 2;

/// The number of header bytes of a version, in addition to its key and value.
pub(crate) const HEADER_BYTES: usize = HEADER_UNITS * UNIT_BYTES;

/// The largest number of unused first chunks that a pool keeps for the next arenas. If flushes are slow, a tree has one
/// or two immutable memtables, and frees them within a short time.
const MOST_IDLE: usize = 2;

/// A pool of unused mapped memory for the next arenas of a tree. Reused memory is faster than new memory, because it
/// causes no page faults in which the kernel fills pages with zeros.
#[derive(Debug, Default)]
pub(crate) struct MapPool {
    idle: Mutex<Vec<MmapMut>>,
}

impl MapPool {
    /// Returns `len` bytes of mapped memory from the pool, or new mapped memory that consists of zeros.
    fn take(&self, len: usize) -> MmapMut {
        let mut idle = self.idle.lock();
        let found = idle.iter().position(|map| map.len() == len).map(|at| idle.swap_remove(at));
        drop(idle);
        found.unwrap_or_else(|| {
            let map = MmapOptions::new().len(len).no_reserve_swap().map_anon();
            let map = map.unwrap_or_else(|error| panic!("cannot map {len} bytes for a memtable: {error}"));
            // If the kernel rejects the advice, the memory has ordinary pages.
            #[cfg(target_os = "linux")]
            let _ = map.advise(memmap2::Advice::HugePage);
            map
        })
    }
}

/// A lock-free arena, in which threads store records and nodes that never move. The documentation of this module
/// describes its layout.
pub(crate) struct SharedArena {
    /// The base address of each chunk. The address of a unit is the base address of its chunk plus the offset of the
    /// unit from the start of the arena. The base address therefore usually lies before the chunk.
    bases: [AtomicPtr<u64>; MAX_CHUNKS],
    first_chunk_bits: u32,
    /// The number of 8-byte units that blocks and large records have taken from the arena.
    taken: AtomicU64,
    shards: [Shard; SHARDS],
    line: Mutex<Line>,
    pool: Arc<MapPool>,
}

/// The use of an arena's address range: the first 8-byte unit that is still free, and the chunks that are mapped so
/// far.
struct Line {
    /// The number of the first 8-byte unit that belongs to no block and to no large record.
    next: u64,
    chunks: Vec<MmapMut>,
}

impl SharedArena {
    /// Creates an empty arena for about `capacity_bytes` bytes of keys and values.
    pub(crate) fn new(capacity_bytes: usize, pool: &Arc<MapPool>) -> Self {
        // Headers, nodes and block ends need memory in addition to keys and values.
        let units = (capacity_bytes / UNIT_BYTES).saturating_mul(2).max(1);
        let bits = (units.ilog2() + 1).clamp(*FIRST_CHUNK_BITS.start(), *FIRST_CHUNK_BITS.end());
        Self {
            bases: [const { AtomicPtr::new(ptr::null_mut()) }; MAX_CHUNKS],
            first_chunk_bits: bits,
            taken: AtomicU64::new(0),
            shards: Default::default(),
            // Unit 0 is never allocated, because the number 0 stands for "no reference".
            line: Mutex::new(Line { next: u64::from(BLOCK_UNITS), chunks: Vec::new() }),
            pool: Arc::clone(pool),
        }
    }

    /// Appends a version with a tower of `height` links. Each link of the tower initially marks the end of the list.
    ///
    /// # Panics
    /// `height` is above [`MAX_HEIGHT`], or the arena is full (32 GiB).
    #[inline]
    pub(crate) fn append(
        &self,
        key: &[u8],
        sequence: SequenceNumber,
        value: Option<&[u8]>,
        height: usize,
    ) -> Ref<Version> {
        assert!(height <= MAX_HEIGHT, "a tower of {height}");
        let shard = self.shard();
        shard.count(1);
        let from = self.allocate(shard, record_units(key, value, height), 1);
        // SAFETY: the units were just allocated, and only this call uses them.
        unsafe { self.write_record(from, key, sequence, value, height) }
    }

    /// Returns an appender, which appends many versions at a lower cost per version than [`append`](Self::append).
    pub(crate) fn appender(&self) -> Appender<'_> {
        Appender { arena: self, shard: self.shard(), own: 0..0, block_end: 0, appended: 0 }
    }

    /// Writes a version to the 8-byte units that begin at `from`.
    ///
    /// # Safety
    /// The caller must have allocated [`record_units`] units at `from`. Until this function has returned the
    /// reference, no other thread may read or write these units.
    #[inline]
    unsafe fn write_record(
        &self,
        from: u32,
        key: &[u8],
        sequence: SequenceNumber,
        value: Option<&[u8]>,
        height: usize,
    ) -> Ref<Version> {
        let unit = from + height as u32;
        let bytes = value.unwrap_or_default();
        let value_len = value.map_or(TOMBSTONE, |value| value.len() as u32);
        let lengths = u64::from(value_len) << 32 | (height as u64) << 24 | key.len() as u64;
        let at = self.pointer(unit);
        // SAFETY: by the contract, all written bytes are within the allocated units. Words are written at multiples
        // of a unit.
        unsafe {
            at.sub(height).write_bytes(0, height);
            at.write(sequence);
            at.add(1).write(lengths);
            let at = at.add(HEADER_UNITS).cast::<u8>();
            ptr::copy_nonoverlapping(key.as_ptr(), at, key.len());
            ptr::copy_nonoverlapping(bytes.as_ptr(), at.add(key.len()), bytes.len());
        }
        Ref(NonZeroU32::new(unit).expect("an arena must never allocate its unit 0"), PhantomData)
    }

    /// Returns the record to which the reference `version` refers.
    #[inline]
    pub(crate) fn record(&self, version: Ref<Version>) -> VersionRecord<'_> {
        let at = self.pointer(version.0.get()).cast_const();
        // SAFETY: `append` wrote the header, the key and the value before it returned the reference, and never writes
        // them again. Other threads got the reference by a release and an acquire.
        unsafe {
            let sequence = at.read();
            let lengths = at.add(1).read();
            let (key_len, value_len) = ((lengths & 0xff_ffff) as usize, (lengths >> 32) as u32);
            let at = at.add(HEADER_UNITS).cast::<u8>();
            let key = slice::from_raw_parts(at, key_len);
            let value =
                (value_len != TOMBSTONE).then(|| slice::from_raw_parts(at.add(key_len), value_len as usize));
            VersionRecord { version, key, sequence, value }
        }
    }

    /// Returns the link at level `level` in the tower of a version.
    ///
    /// # Panics
    /// The tower has no link at `level`.
    #[inline]
    pub(crate) fn link(&self, version: Ref<Version>, level: usize) -> &Link {
        let at = self.pointer(version.0.get()).cast_const();
        // SAFETY: the header is valid for the reasons in `record`. Before the header are `height` words that are used
        // only as links, which are atomic `u64`s. The assertion ensures that the level is below `height`.
        unsafe {
            let height = (at.add(1).read() >> 24 & 0xff) as usize;
            assert!(level < height, "link level {level} must be below the height {height} of the tower");
            &*at.cast::<Link>().sub(level + 1)
        }
    }

    /// Stores a node in the arena. The destructor of the node never runs, because the arena only frees the memory of
    /// its nodes.
    #[inline]
    pub(crate) fn place<T: Send + Sync>(&self, node: T) -> Ref<T> {
        const { assert!(align_of::<T>() <= LINE_UNITS as usize * UNIT_BYTES && !std::mem::needs_drop::<T>()) };
        let unit = self.allocate(self.shard(), size_of::<T>().div_ceil(UNIT_BYTES), LINE_UNITS);
        // SAFETY: the units were just allocated and are large enough. The units are aligned to a cache line, because
        // chunks begin at pages.
        unsafe { self.pointer(unit).cast::<T>().write(node) };
        Ref(NonZeroU32::new(unit).expect("an arena must never allocate its unit 0"), PhantomData)
    }

    /// Returns the node to which the reference `at` refers.
    #[inline]
    pub(crate) fn node<T: Send + Sync>(&self, at: Ref<T>) -> &T {
        // SAFETY: `place::<T>` of this arena wrote the node before it returned the `Ref<T>`. Other threads got the
        // reference by a release and an acquire. The node is never moved, freed or mutably borrowed while the arena
        // lives.
        unsafe { &*self.pointer(at.0.get()).cast::<T>() }
    }

    /// Prefetches the first `bytes` bytes of the record or node at `at` into the CPU caches.
    #[inline]
    pub(crate) fn prefetch<T>(&self, at: Ref<T>, bytes: usize) {
        // The offset in the cache line follows from the unit number, because chunks begin at cache lines.
        let before = (at.0.get() % LINE_UNITS) as usize;
        let from = self.pointer(at.0.get()).wrapping_sub(before);
        for line in (0..before + bytes.div_ceil(UNIT_BYTES)).step_by(LINE_UNITS as usize) {
            prefetch_at(from.wrapping_add(line).cast::<u8>());
        }
    }

    /// Returns the number of versions that were appended to the arena.
    pub(crate) fn versions(&self) -> usize {
        self.shards.iter().map(Shard::versions).sum()
    }

    /// Returns the number of bytes that blocks and large records have taken from the arena.
    pub(crate) fn memory_bytes(&self) -> usize {
        size_of::<Self>() + self.taken.load(Ordering::Relaxed) as usize * UNIT_BYTES
    }

    /// Returns the shard of the arena to which the calling thread belongs.
    #[inline]
    fn shard(&self) -> &Shard {
        static THREADS: AtomicUsize = AtomicUsize::new(0);
        thread_local! {
            static THREAD: usize = THREADS.fetch_add(1, Ordering::Relaxed);
        }
        &self.shards[THREAD.with(|thread| *thread) % SHARDS]
    }

    /// Returns the address of an 8-byte unit of the arena. The unit must be allocated, so its chunk is mapped.
    #[inline]
    fn pointer(&self, unit: u32) -> *mut u64 {
        let chunk = u32::BITS - (unit >> self.first_chunk_bits).leading_zeros();
        // The base address was stored before any unit of the chunk was returned. A thread that has the unit also sees
        // all earlier writes, so `Relaxed` suffices.
        let base = self.bases[chunk as usize].load(Ordering::Relaxed);
        base.wrapping_add(unit as usize)
    }

    /// Allocates `units` units of 8 bytes that begin at a multiple of `align` units. Returns the number of the first
    /// unit.
    #[inline]
    fn allocate(&self, shard: &Shard, units: usize, align: u32) -> u32 {
        if units > LARGEST_IN_BLOCK_UNITS {
            return self.take(units as u64);
        }
        let padded = units as u32 + align - 1;
        loop {
            if let Some(from) = shard.bump(padded) {
                return from.next_multiple_of(align);
            }
            self.refill(shard, padded);
        }
    }

    /// Assigns a new block with at least `units` free units to the shard. Does nothing if another thread has already
    /// assigned such a block.
    #[cold]
    fn refill(&self, shard: &Shard, units: u32) {
        let _guard = shard.lock();
        if shard.left().len() < units as usize {
            let from = self.take(u64::from(BLOCK_UNITS));
            shard.begin(from..from + BLOCK_UNITS);
        }
    }

    /// Takes contiguous blocks with at least `units` units in total from the address range. All these blocks are in one
    /// chunk. Returns the number of the first unit.
    #[cold]
    fn take(&self, units: u64) -> u32 {
        let mut line = self.line.lock();
        let units = units.next_multiple_of(u64::from(BLOCK_UNITS));
        let first = 1u64 << self.first_chunk_bits;
        let mut from = line.next;
        let mut end = first;
        while from + units > end {
            from = from.max(end);
            end *= 2;
        }
        assert!(from + units <= LINE_END, "a memtable can hold at most 32 GiB; reduce memtable.capacity");
        line.next = from + units;
        self.taken.fetch_add(units, Ordering::Relaxed);
        let chunk = (end / first).ilog2() as usize;
        if self.bases[chunk].load(Ordering::Relaxed).is_null() {
            let begin = if chunk == 0 { 0 } else { end / 2 };
            let mut map = self.pool.take((end - begin) as usize * UNIT_BYTES);
            #[expect(clippy::cast_ptr_alignment, reason = "a memory map begins at a page boundary")]
            let base = map.as_mut_ptr().cast::<u64>().wrapping_sub(begin as usize);
            self.bases[chunk].store(base, Ordering::Release);
            line.chunks.push(map);
        }
        from as u32
    }
}

/// Returns the number of 8-byte units that a version with a tower of `height` links takes in the arena.
#[inline]
fn record_units(key: &[u8], value: Option<&[u8]>, height: usize) -> usize {
    height + HEADER_UNITS + (key.len() + value.map_or(0, <[u8]>::len)).div_ceil(UNIT_BYTES)
}

/// Appends many versions to the arena. An appender reserves memory in advance for several versions. When it is dropped,
/// the appender gives unused memory back to its shard.
pub(crate) struct Appender<'a> {
    arena: &'a SharedArena,
    shard: &'a Shard,
    /// The reserved 8-byte units that are still unused.
    own: Range<u32>,
    /// The end of the block that contains the reserved units.
    block_end: u32,
    /// The number of versions that this appender has appended. When the appender is dropped, the number is added to the
    /// counter of the shard.
    appended: usize,
}

impl Appender<'_> {
    /// Appends a version without a tower. See [`SharedArena::append`].
    #[inline]
    pub(crate) fn append(
        &mut self,
        key: &[u8],
        sequence: SequenceNumber,
        value: Option<&[u8]>,
    ) -> Ref<Version> {
        self.appended += 1;
        let units = record_units(key, value, 0);
        let from = if units <= self.own.len() {
            let from = self.own.start;
            self.own.start += units as u32;
            from
        } else {
            self.allocate(units)
        };
        // SAFETY: the units were allocated, and are no longer among the reserved units.
        unsafe { self.arena.write_record(from, key, sequence, value, 0) }
    }

    /// Allocates `units` units of 8 bytes and returns the number of the first unit. Unless `units` is large, the
    /// function also reserves units for later versions.
    #[cold]
    fn allocate(&mut self, units: usize) -> u32 {
        self.give_back();
        if units > LARGEST_IN_BLOCK_UNITS {
            return self.arena.take(units as u64);
        }
        loop {
            let most = LARGEST_IN_BLOCK_UNITS as u32;
            if let Some((taken, block_end)) = self.shard.bump_some(units as u32, most) {
                self.own = taken.start + units as u32..taken.end;
                self.block_end = block_end;
                return taken.start;
            }
            self.arena.refill(self.shard, units as u32);
        }
    }

    /// Gives the reserved units that are still unused back to the shard. If another thread has allocated units after
    /// them, the reserved units remain unused.
    pub(crate) fn give_back(&mut self) {
        if !self.own.is_empty() {
            self.shard.give_back(std::mem::take(&mut self.own), self.block_end);
        }
    }
}

impl Drop for Appender<'_> {
    fn drop(&mut self) {
        self.shard.count(self.appended);
        self.give_back();
    }
}

impl Drop for SharedArena {
    fn drop(&mut self) {
        // The first chunk goes to the pool, because the next memtable of the tree needs a first chunk of equal size.
        let first =
            self.line.get_mut().chunks.drain(..).find(|map| map.len() == UNIT_BYTES << self.first_chunk_bits);
        let mut idle = self.pool.idle.lock();
        idle.extend(first);
        let unwanted = (idle.len() > MOST_IDLE).then(|| idle.remove(0));
        // The memory is unmapped after the lock is released, because unmapping takes a long time.
        drop(idle);
        drop(unwanted);
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    /// A version with a copy of its content, for comparison with its record in the arena.
    type Twin = (Ref<Version>, Vec<u8>, SequenceNumber, Option<Vec<u8>>, usize);

    /// Appends versions of many sizes, one by one or with an appender. The content of a version is a function of its
    /// number.
    fn append(arena: &SharedArena, numbers: impl Iterator<Item = u64>) -> Vec<Twin> {
        let sizes = [0, 1, 7, 8, 9, 100, 4080, 4096, 20_000, 200_000];
        let mut appender = None;
        let twin = |number: u64| {
            let key = vec![number as u8; number as usize * 7 % 300];
            let len = sizes[number as usize % sizes.len()];
            let value = (!number.is_multiple_of(13)).then(|| vec![!number as u8; len]);
            let value = value.as_deref();
            let (at, height) = if number % 100 < 60 {
                appender = None;
                let height = number as usize % (MAX_HEIGHT + 1);
                (arena.append(&key, number, value, height), height)
            } else {
                (appender.get_or_insert_with(|| arena.appender()).append(&key, number, value), 0)
            };
            (at, key, number, value.map(<[u8]>::to_vec), height)
        };
        numbers.map(twin).collect()
    }

    fn check(arena: &SharedArena, twins: &[Twin]) {
        for (at, key, sequence, value, height) in twins {
            let record = arena.record(*at);
            assert_eq!((record.key, record.sequence, record.value), (&key[..], *sequence, value.as_deref()));
            assert!((0..*height).all(|level| arena.link(*at, level).load() == LinkWord::END));
        }
    }

    #[test]
    fn what_many_threads_append_stays_as_it_was() {
        // There are more threads than shards, so some threads share a shard.
        const THREADS: u64 = SHARDS as u64 + 4;
        let pool = Arc::default();
        // The second arena reuses the memory of the first arena and overwrites its content.
        for _ in 0..2 {
            let arena = SharedArena::new(1 << 16, &pool);
            let twins: Vec<Twin> = thread::scope(|scope| {
                let threads: Vec<_> = (0..THREADS)
                    .map(|thread| {
                        scope.spawn({
                            let arena = &arena;
                            move || append(arena, (thread..800).step_by(THREADS as usize))
                        })
                    })
                    .collect();
                threads.into_iter().flat_map(|thread| thread.join().expect("no append panics")).collect()
            });
            check(&arena, &twins);
            assert_eq!(arena.versions(), 800);
            let payload = twins.iter().map(|twin| twin.1.len() + twin.3.as_ref().map_or(0, Vec::len));
            let payload = payload.sum::<usize>();
            assert!((payload..payload * 3 / 2).contains(&arena.memory_bytes()), "{}", arena.memory_bytes());
        }
    }

    #[test]
    fn what_an_appender_has_left_goes_to_the_next() {
        let arena = SharedArena::new(0, &Arc::default());
        let appended = |key: &[u8]| arena.appender().append(key, 1, None);
        let mut versions = vec![appended(b"a"), appended(b"b")];
        let mut both = arena.appender();
        versions.extend([both.append(b"c", 1, None), both.append(b"d", 1, None)]);
        drop(both);
        versions.push(arena.append(b"e", 1, None, 0));
        let units: Vec<u32> = versions.windows(2).map(|pair| pair[1].0.get() - pair[0].0.get()).collect();
        assert_eq!(units, [HEADER_UNITS as u32 + 1; 4]);
        assert_eq!(arena.versions(), 5);
    }

    #[test]
    fn links_lead_where_they_were_sent() {
        let arena = SharedArena::new(0, &Arc::default());
        let (a, b) = (arena.append(b"a", 1, None, 3), arena.append(b"b", 2, Some(b"value"), 1));
        let link = LinkWord::new(b, 0xdead_beef);
        assert!(arena.link(a, 2).swing(LinkWord::END, link));
        assert!(!arena.link(a, 2).swing(LinkWord::END, link), "it leads elsewhere now");
        let word = arena.link(a, 2).load();
        assert!(word.target() == Some(b) && word.hint() == 0xdead_beef);
        assert!(arena.link(a, 1).load() == LinkWord::END && arena.record(b).value == Some(b"value"));
    }

    #[test]
    #[should_panic(expected = "link level 1 must be below the height 1 of the tower")]
    fn a_tower_has_no_link_above_its_height() {
        let arena = SharedArena::new(0, &Arc::default());
        arena.link(arena.append(b"a", 1, None, 1), 1);
    }

    #[test]
    fn nodes_stand_on_cache_lines() {
        #[repr(align(64))]
        struct Node([u64; 40]);
        let arena = SharedArena::new(0, &Arc::default());
        for number in 0..1000 {
            arena.append(b"between", number, None, 0);
            let node = arena.node(arena.place(Node([number; 40])));
            assert!(ptr::from_ref(node).is_aligned() && node.0 == [number; 40]);
        }
    }

    #[test]
    fn the_pool_keeps_as_many_chunks_as_it_says() {
        let pool = Arc::<MapPool>::default();
        let arenas: Vec<_> = (0..MOST_IDLE + 2).map(|_| SharedArena::new(1 << 20, &pool)).collect();
        for arena in &arenas {
            arena.append(b"key", 1, None, 0);
        }
        drop(arenas);
        assert_eq!(pool.idle.lock().len(), MOST_IDLE);
    }

    #[test]
    fn the_first_chunk_goes_to_the_next_arena() {
        let pool = Arc::<MapPool>::default();
        let base = |arena: &SharedArena| arena.bases[0].load(Ordering::Relaxed);
        let first = SharedArena::new(1 << 20, &pool);
        first.append(b"key", 1, Some(&[7; 5000]), 0);
        let own = base(&first);
        drop(first);
        let second = SharedArena::new(1 << 20, &pool);
        second.append(b"key", 1, None, 0);
        assert_eq!(base(&second), own);
    }
}
