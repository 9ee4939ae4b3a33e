//! A memtable wrapper that adds a Bloom filter for the keys of any memtable. With the filter, most lookups of absent
//! keys read only one 64-bit word.
//!
//! A key sets five bits of one 64-bit word. A filter lookup therefore loads only one word, and an insert changes at
//! most one word. If the filter has 16 bits per key, the false-positive rate is 1 in 200. Scans do not use the filter.
//!
//! Sources: `memtable_whole_key_filtering` and `memtable_prefix_bloom_size_ratio` of RocksDB. A filter with one word
//! per key is described in Putze, Sanders, Singler, "Cache-, Hash- and Space-Efficient Bloom Filters", WEA 2007,
//! section 3.

use std::ops::Bound;
use std::sync::atomic::{AtomicU64, Ordering};

use types::{Direction, Entries, EntryBatch, HashedKey, KeyHash, Lookup, SequenceNumber};

use crate::memtable::{Memtable, MemtablePolicy, NewEntry};
use crate::pass_on::pass_on;

/// The number of bits that each key sets in its word. Six bits of the hash select each of these bits, and the upper
/// half of the hash selects the word.
const BITS_PER_KEY: u32 = 5;

/// Returns a policy that adds a filter of `filter_bytes` bytes to each memtable of `policy`.
pub fn with_filter(policy: Box<dyn MemtablePolicy>, filter_bytes: usize) -> Box<dyn MemtablePolicy> {
    Box::new(Policy { policy, words: filter_bytes.div_ceil(size_of::<u64>()).max(1) })
}

/// Creates memtables that have a Bloom filter of a fixed size.
struct Policy {
    policy: Box<dyn MemtablePolicy>,
    words: usize,
}

impl MemtablePolicy for Policy {
    fn create(&self, capacity_bytes: usize) -> Box<dyn Memtable> {
        let words = (0..self.words).map(|_| AtomicU64::new(0)).collect();
        Box::new(Filtered { words, memtable: self.policy.create(capacity_bytes) })
    }
}

/// A memtable with a Bloom filter of its keys. An insert first adds the key to the filter, and then the entry to the
/// memtable, so that a reader never misses a stored key.
struct Filtered {
    words: Box<[AtomicU64]>,
    memtable: Box<dyn Memtable>,
}

impl Filtered {
    /// Returns the word of the filter to which a key belongs, and a mask with the bits of the key in this word.
    #[inline]
    fn place(&self, hash: KeyHash) -> (&AtomicU64, u64) {
        let word = ((hash.0 >> 32) * self.words.len() as u64) >> 32;
        let bits = (0..BITS_PER_KEY).fold(0, |bits, at| bits | 1 << (hash.0 >> (6 * at) & 63));
        (&self.words[word as usize], bits)
    }

    #[inline]
    fn add(&self, hash: KeyHash) {
        let (word, bits) = self.place(hash);
        if word.load(Ordering::Relaxed) & bits != bits {
            word.fetch_or(bits, Ordering::Relaxed);
        }
    }

    /// Returns whether the memtable may contain the key with this hash. If the result is false, the memtable certainly
    /// does not contain the key.
    #[inline]
    fn may_have(&self, hash: KeyHash) -> bool {
        let (word, bits) = self.place(hash);
        word.load(Ordering::Relaxed) & bits == bits
    }
}

impl Memtable for Filtered {
    fn insert(&self, key: HashedKey<'_>, sequence: SequenceNumber, value: Option<&[u8]>) {
        self.add(key.hash);
        self.memtable.insert(key, sequence, value);
    }

    fn insert_all(&self, first: SequenceNumber, entries: &mut dyn Iterator<Item = NewEntry<'_>>) {
        self.memtable.insert_all(first, &mut entries.inspect(|(key, _)| self.add(key.hash)));
    }

    fn get(&self, key: HashedKey<'_>, snapshot: SequenceNumber, value: &mut Vec<u8>) -> Lookup {
        if self.may_have(key.hash) { self.memtable.get(key, snapshot, value) } else { Lookup::Absent }
    }

    fn sequence_of(&self, key: HashedKey<'_>, snapshot: SequenceNumber) -> Option<SequenceNumber> {
        self.may_have(key.hash).then(|| self.memtable.sequence_of(key, snapshot)).flatten()
    }

    fn scan(
        &self,
        from: Bound<&[u8]>,
        direction: Direction,
        snapshot: SequenceNumber,
        limit: usize,
        batch: &mut EntryBatch,
    ) {
        self.memtable.scan(from, direction, snapshot, limit, batch);
    }

    fn entries(
        &self,
        from: Bound<&[u8]>,
        direction: Direction,
        snapshot: SequenceNumber,
        limit: usize,
    ) -> Entries<'_> {
        self.memtable.entries(from, direction, snapshot, limit)
    }

    pass_on!();

    fn memory_bytes(&self) -> usize {
        size_of_val(&*self.words) + self.memtable.memory_bytes()
    }
}

#[cfg(test)]
mod tests {
    use xxhash_rust::xxh3::xxh3_64;

    use super::*;
    use crate::CATALOG;

    #[test]
    fn few_absent_keys_pass_and_all_that_are_there() {
        const KEYS: u64 = 20_000;
        let filtered = Filtered {
            words: (0..KEYS as usize * 16 / 64).map(|_| AtomicU64::new(0)).collect(),
            memtable: CATALOG.build(&CATALOG.baseline()).unwrap().create(1 << 20),
        };
        let hash = |number: u64| KeyHash(xxh3_64(&number.to_le_bytes()));
        (0..KEYS).for_each(|number| filtered.add(hash(number)));
        assert!((0..KEYS).all(|number| filtered.may_have(hash(number))));
        let passed = (KEYS..11 * KEYS).filter(|number| filtered.may_have(hash(*number))).count();
        let share = passed as f64 / (10 * KEYS) as f64;
        assert!((0.003..0.008).contains(&share), "{share}");
    }
}
