//! A hash table of blocks. Reads are lock-free, and one writer at a time changes the table.
//!
//! The hash table has open addressing and linear probing. The table is at most three quarters full, and has 8 bytes
//! per position. A position contains a pointer to the entry of a block. An entry has 64 bytes, and its address is a
//! multiple of 64, so the pointer has six spare bits. Four of these bits are bits of the hash (the tag), so that
//! readers seldom read the wrong entry. Two bits count the uses of the block, up to three. A hit reads two cache
//! lines: the position and the entry. When the count is three, a hit writes no memory. [`Epochs`] frees removed
//! entries and old tables when no reader can reach them.
#![allow(unsafe_code)]

use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, Ordering};

use parking_lot::{Mutex, MutexGuard};
use types::Bytes;

use crate::cache::BlockId;
use crate::epochs::{Epochs, Garbage, Reading};
use crate::policy::Slot;
use crate::s3_fifo::{MAX_USES, Uses};

/// A cached block with its name. An entry takes one cache line.
#[repr(align(64))]
struct Entry {
    id: BlockId,
    block: Bytes,
}

/// The content of a position of the hash table: null, the address of an entry together with its tag and use count, or
/// [`GONE`].
type Word = *mut Entry;

/// The bits of a [`Word`] that count the uses of the entry. The address of an entry has zeros in these bits.
const USES: usize = 0b11;
/// The bits of a [`Word`] that contain the tag of the entry, which is a part of its hash. The address of an entry has
/// zeros in these bits.
const TAG: usize = 0b11_1100;

/// A tombstone, which marks the position of a removed entry in the hash table. A search continues after a tombstone.
/// The tag of a tombstone is 0, and the tag of an entry is never 0.
const GONE: usize = align_of::<Entry>();

/// The smallest number of positions of a hash table of blocks.
const MIN_PLACES: usize = 64;

const _: () = assert!(USES | TAG == align_of::<Entry>() - 1 && MAX_USES as usize == USES);

/// Returns the tag of a hash (1 to 15). With the tag, a search seldom reads a wrong entry. The tag uses bits of the
/// hash that select neither the shard nor the position.
fn tag(hash: u64) -> usize {
    ((hash >> 60) as usize).max(1) << 2
}

/// Returns the address of the entry to which a [`Word`] points, without the tag and the use count.
fn entry_of(word: Word) -> Word {
    word.map_addr(|address| address & !(USES | TAG))
}

/// The positions of a hash table of blocks. The number of positions is a power of two.
struct Table {
    places: Box<[AtomicPtr<Entry>]>,
}

impl Table {
    fn new(places: usize) -> Self {
        Self { places: (0..places).map(|_| AtomicPtr::new(ptr::null_mut())).collect() }
    }

    fn mask(&self) -> usize {
        self.places.len() - 1
    }

    /// Returns the positions that a search for a hash reads, in the order of the search.
    fn path(&self, hash: u64) -> impl Iterator<Item = usize> {
        let (mask, first) = (self.mask(), hash as usize);
        (0..self.places.len()).map(move |step| first.wrapping_add(step) & mask)
    }
}

/// A hash table of blocks that readers use without locks. It also contains data that only the writer uses: metadata,
/// and a state of the type `T`.
pub(crate) struct Index<T> {
    table: AtomicPtr<Table>,
    epochs: Arc<Epochs>,
    writer: Mutex<Books<T>>,
}

/// Metadata of the hash table that only the writer uses. It maps the slot number of each block to the block's position
/// in the table, and each position back to the slot number.
struct Books<T> {
    hashes: Vec<u64>,
    places: Vec<usize>,
    slots: Vec<Slot>,
    vacant: Vec<Slot>,
    /// The number of positions of the hash table that contain an entry or a tombstone.
    used: usize,
    /// The number of positions of the hash table that contain an entry.
    live: usize,
    garbage: Garbage<Outworn>,
    state: T,
}

impl<T> Index<T> {
    /// Creates an empty hash table. Several tables may share one `epochs` value, but no thread may read in two of these
    /// tables at the same time.
    pub(crate) fn new(epochs: Arc<Epochs>, state: T) -> Self {
        let books = Books {
            hashes: Vec::new(),
            places: Vec::new(),
            slots: vec![0; MIN_PLACES],
            vacant: Vec::new(),
            used: 0,
            live: 0,
            garbage: Garbage::default(),
            state,
        };
        let table = AtomicPtr::new(Box::into_raw(Box::new(Table::new(MIN_PLACES))));
        Self { table, epochs, writer: Mutex::new(books) }
    }

    /// Calls `look` with the block named `id`, whose hash is `hash`, and counts a use of the block. This function
    /// takes no lock. Returns `None` if the block is not in the table.
    #[inline]
    pub(crate) fn read<R>(&self, hash: u64, id: &BlockId, look: impl FnOnce(&Bytes) -> R) -> Option<R> {
        let _reading: Reading<'_> = self.epochs.read();
        // SAFETY: the table was made by `Box::into_raw` and is never null. A writer that takes the table out of
        // `self.table` passes it to the same epochs, which drop it only after `_reading`.
        let table = unsafe { &*self.table.load(Ordering::Acquire) };
        for place in table.path(hash) {
            let place = &table.places[place];
            let word = place.load(Ordering::Acquire);
            if word.addr() & TAG != tag(hash) {
                if word.is_null() {
                    break;
                }
                continue;
            }
            // SAFETY: only words of entries have a tag. The entry was made by `Box::into_raw` and is not changed
            // while it is shared. A writer that takes the word out of its position passes the entry to the same
            // epochs, which drop it only after `_reading`.
            let entry = unsafe { &*entry_of(word) };
            if entry.id == *id {
                if word.addr() & USES < USES {
                    count_use(place, word);
                }
                return Some(look(&entry.block));
            }
        }
        None
    }

    /// Waits until no other thread writes to the hash table, and returns exclusive write access.
    pub(crate) fn write(&self) -> Writer<'_, T> {
        Writer { index: self, books: self.writer.lock() }
    }
}

/// Counts a use of a cached block. If another thread changes the block's word at the same time, the use is not counted,
/// because a lost count costs less than a second attempt.
fn count_use(place: &AtomicPtr<Entry>, word: Word) {
    let used = word.map_addr(|address| address + 1);
    let _ = place.compare_exchange(word, used, Ordering::Relaxed, Ordering::Relaxed);
}

impl<T> Drop for Index<T> {
    fn drop(&mut self) {
        let table = *self.table.get_mut();
        // SAFETY: the index is not shared any more, so only this function accesses its table and its entries. The table
        // and its entries contain no retired tables or entries.
        let table = unsafe { Box::from_raw(table) };
        for mut place in table.places {
            let word = *place.get_mut();
            if word.addr() & TAG != 0 {
                // SAFETY: as for the table above; only words of entries have a tag.
                drop(unsafe { Box::from_raw(entry_of(word)) });
            }
        }
    }
}

/// Exclusive write access to a hash table of blocks. Other threads can write after this value is dropped.
pub(crate) struct Writer<'a, T> {
    index: &'a Index<T>,
    books: MutexGuard<'a, Books<T>>,
}

impl<T> Writer<'_, T> {
    /// Returns the data `T` that is stored with the hash table, and that only the writer uses.
    pub(crate) fn state(&mut self) -> &mut T {
        &mut self.books.state
    }

    /// Returns the data `T` of the writer, the hash of the block in each slot, and the use counts of the blocks.
    pub(crate) fn parts(&mut self) -> (&mut T, &[u64], UsesInTable<'_>) {
        let Books { hashes, places, state, .. } = &mut *self.books;
        // SAFETY: the table is valid until a writer replaces it. Only `insert` replaces it, and `insert` needs the
        // `&mut self` that the parts borrow.
        let table = unsafe { &*self.index.table.load(Ordering::Acquire) };
        (state, hashes, UsesInTable { table, places })
    }

    fn table(&self) -> &Table {
        // SAFETY: as in `parts`; `insert` cannot be called while `self` is borrowed.
        unsafe { &*self.index.table.load(Ordering::Acquire) }
    }

    /// Returns the entry at position `place` of the hash table, and the word that points to the entry. Returns `None`
    /// if the position has no entry.
    fn at(&self, place: usize) -> Option<(Word, &Entry)> {
        let word = self.table().places[place].load(Ordering::Acquire);
        // SAFETY: only words of entries have a tag. Only the writer, which is borrowed, removes entries, and entries
        // are not changed while they are shared.
        (word.addr() & TAG != 0).then(|| (word, unsafe { &*entry_of(word) }))
    }

    /// Returns the entry of the block in a slot, and the word that points to the entry.
    fn held(&self, slot: Slot) -> (Word, &Entry) {
        self.at(self.books.places[slot as usize])
            .expect("each slot with a block must have an entry in the hash table of the cache")
    }

    /// Returns whether the table contains no block.
    pub(crate) fn is_empty(&self) -> bool {
        self.books.live == 0
    }

    /// Returns the slot and the length in bytes of the block named `id`. Returns `None` if the block is not cached.
    pub(crate) fn find(&self, hash: u64, id: &BlockId) -> Option<(Slot, usize)> {
        let table = self.table();
        let is_used = |place: &usize| !table.places[*place].load(Ordering::Acquire).is_null();
        let entries = table.path(hash).take_while(is_used).filter_map(|place| Some((place, self.at(place)?)));
        entries
            .filter(|(_, (word, _))| word.addr() & TAG == tag(hash))
            .find(|(_, (_, entry))| entry.id == *id)
            .map(|(place, (_, entry))| (self.books.slots[place], entry.block.len()))
    }

    /// Returns the slots of all blocks whose names satisfy `is_meant`.
    pub(crate) fn slots_where(&self, is_meant: impl Fn(&BlockId) -> bool) -> Vec<Slot> {
        let is_held = |place: &usize| self.at(*place).is_some_and(|(_, entry)| is_meant(&entry.id));
        (0..self.table().places.len()).filter(is_held).map(|place| self.books.slots[place]).collect()
    }

    /// Inserts a block, and returns its slot. The table must not contain a block with this name.
    pub(crate) fn insert(&mut self, hash: u64, id: BlockId, block: Bytes) -> Slot {
        if (self.books.used + 1) * 4 > self.table().places.len() * 3 {
            self.rebuild();
        }
        let books = &mut *self.books;
        let slot = books.vacant.pop().unwrap_or_else(|| {
            books.hashes.push(0);
            books.places.push(0);
            Slot::try_from(books.hashes.len() - 1).expect("a cache must have fewer than 2^32 blocks")
        });
        books.hashes[slot as usize] = hash;
        let entry = Box::into_raw(Box::new(Entry { id, block }));
        // SAFETY: as in `parts`; nothing below replaces the table.
        let table = unsafe { &*self.index.table.load(Ordering::Acquire) };
        books.put(table, slot, entry.map_addr(|address| address | tag(hash)));
        slot
    }

    /// Moves all entries to a new hash table without tombstones, in which 28 to 56 % of the positions have an entry.
    fn rebuild(&mut self) {
        let words = self.table().places.iter().map(|place| place.load(Ordering::Acquire));
        let words: Vec<(Slot, Word)> = self.books.slots.iter().copied().zip(words).collect();
        let places = ((self.books.live + 1) * 16 / 9).next_power_of_two().max(MIN_PLACES);
        let table = Table::new(places);
        let books = &mut *self.books;
        books.slots = vec![0; places];
        (books.used, books.live) = (0, 0);
        // The new table is filled before readers see it, so that every block stays visible.
        for (slot, word) in words {
            if word.addr() & TAG != 0 {
                books.put(&table, slot, word);
            }
        }
        let outgrown = self.index.table.swap(Box::into_raw(Box::new(table)), Ordering::AcqRel);
        // New readers cannot find the old table, and the epochs wait for the readers in progress.
        self.index.epochs.throw_away(&mut self.books.garbage, Outworn::Table(outgrown));
    }

    /// Replaces the block in a slot by another block with the same name, and counts a use.
    pub(crate) fn replace(&mut self, slot: Slot, block: Bytes) {
        let place = self.books.places[slot as usize];
        let (word, replaced) = self.held(slot);
        let entry = Box::into_raw(Box::new(Entry { id: replaced.id, block }));
        let uses = MAX_USES.min((word.addr() & USES) as u8 + 1);
        let bits = word.addr() & TAG | usize::from(uses);
        let old = self.table().places[place].swap(entry.map_addr(|address| address | bits), Ordering::AcqRel);
        self.throw_away(old);
    }

    /// Removes the block in a slot from the hash table.
    pub(crate) fn remove(&mut self, slot: Slot) {
        let place = self.books.places[slot as usize];
        let gone: Word = ptr::without_provenance_mut(GONE);
        let old = self.table().places[place].swap(gone, Ordering::AcqRel);
        self.books.live -= 1;
        self.books.vacant.push(slot);
        self.clear_gone(place);
        self.throw_away(old);
    }

    /// Removes unneeded tombstones: the tombstone at position `last` and all tombstones directly before it. Does
    /// nothing if the position after `last` is not empty, because searches then still need the tombstones.
    fn clear_gone(&mut self, last: usize) {
        let mask = self.table().mask();
        let load = |place: usize| self.table().places[place & mask].load(Ordering::Acquire);
        if !load(last.wrapping_add(1)).is_null() {
            return;
        }
        let mut place = last;
        let mut cleared = 0;
        while load(place).addr() == GONE {
            self.table().places[place & mask].store(ptr::null_mut(), Ordering::Release);
            cleared += 1;
            place = place.wrapping_sub(1);
        }
        self.books.used -= cleared;
    }

    /// Frees a removed entry as soon as no reader can reach it. New readers cannot find the entry. Readers that began
    /// earlier may still find it in an older table, so the entry is freed only after these readers have finished.
    fn throw_away(&mut self, word: Word) {
        self.index.epochs.throw_away(&mut self.books.garbage, Outworn::Entry(entry_of(word)));
    }
}

/// A removed entry or table that readers may still read. This value is the only owner of the object, which comes from
/// `Box::into_raw`.
enum Outworn {
    /// A removed entry. The pointer has no tag and no use count.
    Entry(*mut Entry),
    /// A hash table that was replaced, because its words were moved to another table.
    Table(*mut Table),
}

// SAFETY: an entry owns a name and a block, and a table owns positions. Any thread may drop them.
unsafe impl Send for Outworn {}

impl Drop for Outworn {
    fn drop(&mut self) {
        match *self {
            // SAFETY: this value owns the entry, and the epochs drop the value only after the readers have finished.
            Self::Entry(entry) => drop(unsafe { Box::from_raw(entry) }),
            // SAFETY: as for the entry above. Dropping positions drops no entries.
            Self::Table(table) => drop(unsafe { Box::from_raw(table) }),
        }
    }
}

impl<T> Books<T> {
    /// Writes a word (the address, tag and use count of an entry) to the first free position on its search path.
    /// Records this position in the metadata of the hash table.
    fn put(&mut self, table: &Table, slot: Slot, word: Word) {
        let mut path = table.path(self.hashes[slot as usize]);
        let is_free = |place: &usize| table.places[*place].load(Ordering::Acquire).addr() & TAG == 0;
        let place = path
            .find(is_free)
            .expect("at least a quarter of the positions in the hash table of a cache must be free");
        let replaced = table.places[place].swap(word, Ordering::AcqRel);
        self.used += usize::from(replaced.is_null());
        self.live += 1;
        self.places[slot as usize] = place;
        self.slots[place] = slot;
    }
}

/// The use counters of blocks, by slot. Readers increment the counters concurrently.
pub(crate) struct UsesInTable<'a> {
    table: &'a Table,
    places: &'a [usize],
}

impl UsesInTable<'_> {
    fn place(&self, slot: Slot) -> &AtomicPtr<Entry> {
        &self.table.places[self.places[slot as usize]]
    }
}

impl Uses for UsesInTable<'_> {
    fn of(&self, slot: Slot) -> u8 {
        (self.place(slot).load(Ordering::Relaxed).addr() & USES) as u8
    }

    fn spend(&mut self, slot: Slot) -> bool {
        let spent = |word: Word| (word.addr() & USES > 0).then(|| word.map_addr(|address| address - 1));
        self.place(slot).fetch_update(Ordering::Relaxed, Ordering::Relaxed, spent).is_ok()
    }

    fn clear(&mut self, slot: Slot) {
        self.place(slot).fetch_and(!USES, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::thread;

    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;
    use xxhash_rust::xxh3::xxh3_64;

    use super::*;

    const NAMES: u64 = 500;

    fn id(name: u64) -> BlockId {
        BlockId { tree: 1, table: name % 7, offset: name }
    }

    /// A hash function with many equal positions and equal tags.
    fn hash(name: u64) -> u64 {
        xxh3_64(&name.to_le_bytes()) & 0x3000_0000_0000_003f
    }

    /// Returns a block whose bytes all contain its name.
    fn block(name: u64, len: usize) -> Bytes {
        Bytes::copy_from(&vec![name as u8; len])
    }

    #[test]
    fn an_entry_is_one_cache_line() {
        assert_eq!((size_of::<Entry>(), align_of::<Entry>()), (64, 64));
    }

    #[test]
    fn it_agrees_with_a_map_call_by_call() {
        let random = &mut Xoshiro256PlusPlus::seed_from_u64(1);
        let index = Index::new(Arc::new(Epochs::new()), ());
        let mut model: HashMap<u64, (Slot, usize, u8)> = HashMap::new();
        for step in 0..60_000 {
            let name = random.random_range(0..if step % 20_000 < 10_000 { 20 } else { NAMES });
            let held = model.get(&name).copied();
            assert_eq!(index.write().find(hash(name), &id(name)), held.map(|(slot, len, _)| (slot, len)));
            let mut writer = index.write();
            match (held, random.random_range(0..4)) {
                (None, 0 | 1) => {
                    let slot = writer.insert(hash(name), id(name), block(name, 5));
                    model.insert(name, (slot, 5, 0));
                }
                (Some((slot, len, _)), 0) => {
                    assert_eq!(writer.held(slot).1.block.len(), len);
                    writer.remove(slot);
                    model.remove(&name);
                }
                (Some((slot, _, uses)), 1) => {
                    writer.replace(slot, block(name, 9));
                    model.insert(name, (slot, 9, MAX_USES.min(uses + 1)));
                }
                (Some((slot, len, uses)), 2) => {
                    assert_eq!(writer.parts().2.of(slot), uses);
                    assert_eq!(writer.parts().2.spend(slot), uses > 0);
                    model.insert(name, (slot, len, uses.saturating_sub(1)));
                }
                _ => {
                    drop(writer);
                    let found = index.read(hash(name), &id(name), Bytes::clone);
                    assert_eq!(found.as_deref(), held.map(|(_, len, _)| vec![name as u8; len]).as_deref());
                    model.entry(name).and_modify(|(_, _, uses)| *uses = MAX_USES.min(*uses + 1));
                }
            }
        }
        assert_eq!(index.write().slots_where(|_| true).len(), model.len());
        let expected = model.keys().filter(|name| id(**name).table == 3).count();
        assert_eq!(index.write().slots_where(|id| id.table == 3).len(), expected);
    }

    #[test]
    fn removal_leaves_no_places_behind_that_searches_must_pass() {
        let index = Index::new(Arc::new(Epochs::new()), ());
        for round in 0..200 {
            let slots: Vec<Slot> = (0..20)
                .map(|name| index.write().insert(hash(name + round), id(name + round), block(name, 1)))
                .collect();
            slots.into_iter().for_each(|slot| index.write().remove(slot));
            let writer = index.write();
            assert_eq!((writer.books.used, writer.books.live), (0, 0));
        }
    }

    #[test]
    fn readers_see_whole_blocks_of_their_name_while_a_writer_changes_everything() {
        let index = Index::new(Arc::new(Epochs::new()), ());
        let is_done = std::sync::atomic::AtomicBool::new(false);
        thread::scope(|scope| {
            let read = |seed| {
                let random = &mut Xoshiro256PlusPlus::seed_from_u64(seed);
                let mut hits = 0;
                while !is_done.load(Ordering::Relaxed) {
                    let name = random.random_range(0..NAMES);
                    let Some(block) = index.read(hash(name), &id(name), Bytes::clone) else { continue };
                    assert!(block.iter().all(|byte| *byte == name as u8), "{name} has another's bytes");
                    hits += 1;
                }
                hits
            };
            let readers: Vec<_> = (0..2).map(|seed| scope.spawn(move || read(seed))).collect();
            let random = &mut Xoshiro256PlusPlus::seed_from_u64(9);
            for _ in 0..40_000 {
                let name = random.random_range(0..NAMES);
                let mut writer = index.write();
                match writer.find(hash(name), &id(name)) {
                    Some((slot, _)) if random.random_bool(0.5) => {
                        writer.remove(slot);
                    }
                    Some((slot, _)) => writer.replace(slot, block(name, 100)),
                    None => {
                        writer.insert(hash(name), id(name), block(name, 100));
                    }
                }
            }
            is_done.store(true, Ordering::Relaxed);
            let hits: u64 = readers.into_iter().map(|reader| reader.join().unwrap()).sum();
            assert!(hits > 0, "readers never found a block");
        });
    }
}
