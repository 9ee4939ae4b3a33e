//! A hash table of blocks with lock-free reads and one writer at a time.
//!
//! A hash table with open addressing and linear probing, at most three quarters full, with 8 bytes per place. A place
//! is a pointer to the entry of a block with six spare bits, because entries are 64 bytes at addresses that are
//! multiples of 64. Four of these bits are bits of the hash, so that readers seldom read the wrong entry. Two bits
//! count the uses of the block. A hit touches two cache lines: the place and the entry. After three counted uses, a hit
//! writes neither of them. [`Epochs`] frees removed entries and outgrown tables when no reader can still see them.
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

/// A cached block with its name, in one cache line.
#[repr(align(64))]
struct Entry {
    id: BlockId,
    block: Bytes,
}

/// A slot of a hash table: null, the address of an entry with its tag and uses, or [`GONE`].
type Word = *mut Entry;

/// The bits of a word that count uses, and the bits of the tag. All of them are below the alignment of an entry.
const USES: usize = 0b11;
const TAG: usize = 0b11_1100;

/// The tombstone of a removed entry. Readers must continue the search after it. The tag of a tombstone is 0, which no
/// entry has.
const GONE: usize = align_of::<Entry>();

/// Minimum number of positions in a table.
const MIN_PLACES: usize = 64;

const _: () = assert!(USES | TAG == align_of::<Entry>() - 1 && MAX_USES as usize == USES);

/// The tag of a hash, 1 to 15, from bits that select neither the shard nor the position.
fn tag(hash: u64) -> usize {
    ((hash >> 60) as usize).max(1) << 2
}

/// The address of a word's entry, without tag and uses.
fn entry_of(word: Word) -> Word {
    word.map_addr(|address| address & !(USES | TAG))
}

/// The slots of a hash table. The number of slots is a power of two.
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

    /// Indexes of the slots to search for a hash, in order.
    fn path(&self, hash: u64) -> impl Iterator<Item = usize> {
        let (mask, first) = (self.mask(), hash as usize);
        (0..self.places.len()).map(move |step| first.wrapping_add(step) & mask)
    }
}

/// The hash table, the writer's metadata, and the writer's own state `T`.
pub(crate) struct Index<T> {
    table: AtomicPtr<Table>,
    epochs: Arc<Epochs>,
    writer: Mutex<Books<T>>,
}

/// Metadata that only the writer uses: for each slot, the position of its block in the table, and for each position,
/// its slot.
struct Books<T> {
    hashes: Vec<u64>,
    places: Vec<usize>,
    slots: Vec<Slot>,
    vacant: Vec<Slot>,
    /// Number of positions that are not null.
    used: usize,
    /// Number of positions with an entry.
    live: usize,
    garbage: Garbage<Outworn>,
    state: T,
}

impl<T> Index<T> {
    /// Creates an empty table. Several tables may share epochs if a thread reads in only one of them at a time.
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

    /// Calls `look` with the block of this name, whose hash is `hash`, and counts a use of the block. Takes no lock.
    #[inline]
    pub(crate) fn read<R>(&self, hash: u64, id: &BlockId, look: impl FnOnce(&Bytes) -> R) -> Option<R> {
        let _reading: Reading<'_> = self.epochs.read();
        // SAFETY: the table was made by `Box::into_raw` and is never null. A writer that takes it out of `self.table`
        // throws it away in the same epochs, which drop it after `_reading`.
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
            // while it is shared. A writer that takes the word out of its place throws the entry away in the same
            // epochs, which drop it after `_reading`.
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

    /// Waits for other writers, and returns the exclusive writer.
    pub(crate) fn write(&self) -> Writer<'_, T> {
        Writer { index: self, books: self.writer.lock() }
    }
}

/// Counts a use of an entry. The count fails if another thread changed the word at the same time. A second try is not
/// worth its cost.
fn count_use(place: &AtomicPtr<Entry>, word: Word) {
    let used = word.map_addr(|address| address + 1);
    let _ = place.compare_exchange(word, used, Ordering::Relaxed, Ordering::Relaxed);
}

impl<T> Drop for Index<T> {
    fn drop(&mut self) {
        let table = *self.table.get_mut();
        // SAFETY: the index is not shared any more, so only this function has its table and entries. Retired tables
        // and entries are in neither.
        let table = unsafe { Box::from_raw(table) };
        for mut place in table.places {
            let word = *place.get_mut();
            if word.addr() & TAG != 0 {
                // SAFETY: as above; only words of entries have a tag.
                drop(unsafe { Box::from_raw(entry_of(word)) });
            }
        }
    }
}

/// The only writer of an index, until it is dropped.
pub(crate) struct Writer<'a, T> {
    index: &'a Index<T>,
    books: MutexGuard<'a, Books<T>>,
}

impl<T> Writer<'_, T> {
    /// The writer's own state.
    pub(crate) fn state(&mut self) -> &mut T {
        &mut self.books.state
    }

    /// The writer's own state, the hashes of blocks by slot, and the uses of blocks by slot.
    pub(crate) fn parts(&mut self) -> (&mut T, &[u64], UsesInTable<'_>) {
        let Books { hashes, places, state, .. } = &mut *self.books;
        // SAFETY: the table is valid until a writer replaces it. Only `insert` does so, through the `&mut self` that
        // the parts borrow.
        let table = unsafe { &*self.index.table.load(Ordering::Acquire) };
        (state, hashes, UsesInTable { table, places })
    }

    fn table(&self) -> &Table {
        // SAFETY: as in `parts`; `insert` cannot be called while `self` is borrowed.
        unsafe { &*self.index.table.load(Ordering::Acquire) }
    }

    /// The word and the entry at index `place`, or `None` without an entry.
    fn at(&self, place: usize) -> Option<(Word, &Entry)> {
        let word = self.table().places[place].load(Ordering::Acquire);
        // SAFETY: only words of entries have a tag. Only the writer, which is borrowed, removes entries, and they are
        // not changed while they are shared.
        (word.addr() & TAG != 0).then(|| (word, unsafe { &*entry_of(word) }))
    }

    /// The word and the entry of the block in a slot.
    fn held(&self, slot: Slot) -> (Word, &Entry) {
        self.at(self.books.places[slot as usize]).expect("slots in use have entries")
    }

    /// Whether the index is empty.
    pub(crate) fn is_empty(&self) -> bool {
        self.books.live == 0
    }

    /// The slot and the length in bytes of the block of this name.
    pub(crate) fn find(&self, hash: u64, id: &BlockId) -> Option<(Slot, usize)> {
        let table = self.table();
        let is_used = |place: &usize| !table.places[*place].load(Ordering::Acquire).is_null();
        let entries = table.path(hash).take_while(is_used).filter_map(|place| Some((place, self.at(place)?)));
        entries
            .filter(|(_, (word, _))| word.addr() & TAG == tag(hash))
            .find(|(_, (_, entry))| entry.id == *id)
            .map(|(place, (_, entry))| (self.books.slots[place], entry.block.len()))
    }

    /// The slots of all blocks whose names satisfy the predicate.
    pub(crate) fn slots_where(&self, is_meant: impl Fn(&BlockId) -> bool) -> Vec<Slot> {
        let is_held = |place: &usize| self.at(*place).is_some_and(|(_, entry)| is_meant(&entry.id));
        (0..self.table().places.len()).filter(is_held).map(|place| self.books.slots[place]).collect()
    }

    /// Inserts a block and returns its slot. The name of the block must not be in the table.
    pub(crate) fn insert(&mut self, hash: u64, id: BlockId, block: Bytes) -> Slot {
        if (self.books.used + 1) * 4 > self.table().places.len() * 3 {
            self.rebuild();
        }
        let books = &mut *self.books;
        let slot = books.vacant.pop().unwrap_or_else(|| {
            books.hashes.push(0);
            books.places.push(0);
            Slot::try_from(books.hashes.len() - 1).expect("fewer than 2^32 blocks are held")
        });
        books.hashes[slot as usize] = hash;
        let entry = Box::into_raw(Box::new(Entry { id, block }));
        // SAFETY: as in `parts`; nothing below replaces the table.
        let table = unsafe { &*self.index.table.load(Ordering::Acquire) };
        books.put(table, slot, entry.map_addr(|address| address | tag(hash)));
        slot
    }

    /// Moves all entries to a new table, in which 28 to 56 % of the positions have an entry.
    fn rebuild(&mut self) {
        let words = self.table().places.iter().map(|place| place.load(Ordering::Acquire));
        let words: Vec<(Slot, Word)> = self.books.slots.iter().copied().zip(words).collect();
        let places = ((self.books.live + 1) * 16 / 9).next_power_of_two().max(MIN_PLACES);
        let table = Table::new(places);
        let books = &mut *self.books;
        books.slots = vec![0; places];
        (books.used, books.live) = (0, 0);
        // Filled before readers see it, so that every block stays visible.
        for (slot, word) in words {
            if word.addr() & TAG != 0 {
                books.put(&table, slot, word);
            }
        }
        let outgrown = self.index.table.swap(Box::into_raw(Box::new(table)), Ordering::AcqRel);
        // New readers cannot find the old table, and the epochs know the readers in progress.
        self.index.epochs.throw_away(&mut self.books.garbage, Outworn::Table(outgrown));
    }

    /// Replaces the block in a slot by another block of the same name, and counts a use.
    pub(crate) fn replace(&mut self, slot: Slot, block: Bytes) {
        let place = self.books.places[slot as usize];
        let (word, replaced) = self.held(slot);
        let entry = Box::into_raw(Box::new(Entry { id: replaced.id, block }));
        let uses = MAX_USES.min((word.addr() & USES) as u8 + 1);
        let bits = word.addr() & TAG | usize::from(uses);
        let old = self.table().places[place].swap(entry.map_addr(|address| address | bits), Ordering::AcqRel);
        self.throw_away(old);
    }

    /// Removes the block in a slot.
    pub(crate) fn remove(&mut self, slot: Slot) {
        let place = self.books.places[slot as usize];
        let gone: Word = ptr::without_provenance_mut(GONE);
        let old = self.table().places[place].swap(gone, Ordering::AcqRel);
        self.books.live -= 1;
        self.books.vacant.push(slot);
        self.clear_gone(place);
        self.throw_away(old);
    }

    /// Sets positions without an entry to null if no search passes through these positions. Such positions are directly
    /// before a null position.
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

    /// Frees a removed entry as soon as no reader can see the entry.
    ///
    /// New readers cannot find the entry: its word was in one place of one table, and is no longer there. An outgrown
    /// table may still contain the word. A reader of that table began before the table was replaced, and therefore
    /// before now.
    fn throw_away(&mut self, word: Word) {
        self.index.epochs.throw_away(&mut self.books.garbage, Outworn::Entry(entry_of(word)));
    }
}

/// A removed object that readers may still see. Only this value owns the object, which was made by `Box::into_raw`.
enum Outworn {
    /// An entry, without tag and uses.
    Entry(*mut Entry),
    /// A table whose words are in another table.
    Table(*mut Table),
}

// SAFETY: an entry owns a name and a block, a table owns places; any thread may drop them.
unsafe impl Send for Outworn {}

impl Drop for Outworn {
    fn drop(&mut self) {
        match *self {
            // SAFETY: by the invariant of the type; the epochs drop it when the readers have finished.
            Self::Entry(entry) => drop(unsafe { Box::from_raw(entry) }),
            // SAFETY: as above. Dropping places drops no entries.
            Self::Table(table) => drop(unsafe { Box::from_raw(table) }),
        }
    }
}

impl<T> Books<T> {
    /// Writes a word to the first free position on its search path, and records the position in the metadata.
    fn put(&mut self, table: &Table, slot: Slot, word: Word) {
        let mut path = table.path(self.hashes[slot as usize]);
        let is_free = |place: &usize| table.places[*place].load(Ordering::Acquire).addr() & TAG == 0;
        let place = path.find(is_free).expect("a quarter of the places is free");
        let replaced = table.places[place].swap(word, Ordering::AcqRel);
        self.used += usize::from(replaced.is_null());
        self.live += 1;
        self.places[slot as usize] = place;
        self.slots[place] = slot;
    }
}

/// The uses of blocks by slot, which readers count concurrently.
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

    /// A hash function whose values often start at equal places and have equal tags.
    fn hash(name: u64) -> u64 {
        xxh3_64(&name.to_le_bytes()) & 0x3000_0000_0000_003f
    }

    /// A block with its name in every byte.
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
