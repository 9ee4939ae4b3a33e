//! Restart points and hash indexes of blocks that are kept in memory, separately from the blocks (option
//! `block.memory_index`). Opening an SSTable builds the indexes from its blocks.
//!
//! In a delta-encoded block, the restart points are all entries with full keys. In all other blocks, the distance
//! between two restart points is the restart interval. The block itself need not store the offsets of its restart
//! points. A lookup first finds the bucket of its key. An empty bucket shows that the block lacks the key, so that the
//! lookup reads no block. If the key may be present, the lookup searches the entries from one restart point to the next
//! restart point.
//!
//! Source: the document byron (section 1.2 A). The page hash index of the document byron has slots of 8 bits and as
//! many slots as keys.

use std::ops::Range;

use types::KeyHash;

use super::formats::layout_of;
use super::hash_index::{self, Bucket};
use super::layout::{Entries, Part};
use crate::design::BlockOptions;

/// The restart points and the hash indexes of all data blocks of an SSTable, which stay in memory while the SSTable is
/// open.
#[derive(Default)]
pub(super) struct MemoryIndex {
    /// The index of each data block, by block number. A corrupt block has `None`. A lookup then reads the block and
    /// returns the error.
    blocks: Vec<Option<IndexOfBlock>>,
}

/// The restart points and the hash index of one data block.
struct IndexOfBlock {
    /// The offsets of the restart points in the data block.
    restarts: Box<[u32]>,
    /// The buckets of the hash index of the data block. Empty if the block has too many restart points for a hash
    /// index.
    buckets: Box<[u8]>,
}

/// An answer of the memory index about a key in one data block, before the lookup reads the block.
pub(super) enum Hint {
    /// The data block does not contain the key.
    Absent,
    /// The data block can contain the key only in this part.
    Part(Part),
    /// The data block can contain the key, but the hash index cannot exclude any part. The lookup must search all
    /// restart points.
    Unknown,
}

impl MemoryIndex {
    /// Adds the index of the next data block of the SSTable. `block` is `None` if the block is corrupt. `hash` computes
    /// the hash of a key.
    pub(super) fn add(
        &mut self,
        block: Option<&[u8]>,
        options: &BlockOptions,
        hash: impl Fn(&[u8]) -> KeyHash,
    ) {
        self.blocks.push(block.and_then(|block| IndexOfBlock::new(block, options, hash)));
    }

    /// Looks up the hash of a key in the index of the data block number `block`. Returns which part of the block can
    /// contain the key, or that the block does not contain the key. Returns `None` if this block has no index.
    pub(super) fn hint(&self, block: u32, hash: KeyHash) -> Option<Hint> {
        let index = self.of(block)?;
        if index.buckets.is_empty() {
            return Some(Hint::Unknown);
        }
        Some(match hash_index::lookup(&index.buckets, hash) {
            Bucket::Empty => Hint::Absent,
            Bucket::Restart(restart) => Hint::Part(index.part(usize::from(restart))),
            Bucket::Collision => Hint::Unknown,
        })
    }

    /// Returns the only part of the data block number `block` that can contain `key`, after a binary search over the
    /// restart points of the index. `bytes` is the block. Returns `None` if the block has no index or is corrupt.
    pub(super) fn seek(&self, block: u32, bytes: &[u8], key: &[u8]) -> Option<Part> {
        let (index, layout) = (self.of(block)?, layout_of(bytes)?);
        let Range { start: mut low, end: mut high } = 0..index.restarts.len();
        while high - low > 1 {
            let middle = usize::midpoint(low, high);
            let entry = layout.entry(bytes, index.restarts[middle] as usize)?;
            if bytes[entry.suffix] <= *key { low = middle } else { high = middle }
        }
        Some(index.part(low))
    }

    /// Returns the memory that the in-memory index of all data blocks takes, in bytes.
    pub(super) fn memory_bytes(&self) -> usize {
        let blocks = self.blocks.iter().flatten();
        let parts = blocks.map(|index| size_of_val(&*index.restarts) + index.buckets.len());
        self.blocks.capacity() * size_of::<Option<IndexOfBlock>>() + parts.sum::<usize>()
    }

    fn of(&self, block: u32) -> Option<&IndexOfBlock> {
        self.blocks.get(block as usize)?.as_ref()
    }
}

impl IndexOfBlock {
    /// Creates the in-memory index of a data block. Returns `None` if the block is corrupt.
    fn new(block: &[u8], options: &BlockOptions, hash: impl Fn(&[u8]) -> KeyHash) -> Option<Self> {
        let layout = layout_of(block)?;
        let (mut restarts, mut keys): (Vec<u32>, Vec<(KeyHash, usize)>) = Default::default();
        let (mut key, mut at) = (Vec::new(), layout.entries_start);
        while at < layout.entries_end {
            let entry = layout.entry(block, at)?;
            let is_restart = match matches!(layout.entries, Entries::Delta) {
                true => entry.shared == 0,
                false => keys.len().is_multiple_of(options.restart_interval as usize),
            };
            if is_restart {
                restarts.push(u32::try_from(at).ok()?);
            }
            (entry.shared <= key.len()).then_some(())?;
            key.truncate(entry.shared);
            key.extend_from_slice(&block[entry.suffix]);
            keys.push((hash(&key), restarts.len().checked_sub(1)?));
            at = entry.value.end;
        }
        let buckets = hash_index::buckets(&keys, options.index_load).unwrap_or_default().into();
        (!restarts.is_empty()).then(|| Self { restarts: restarts.into(), buckets })
    }

    /// Returns the part of the data block from the restart point number `restart` to the next restart point.
    fn part(&self, restart: usize) -> Part {
        let offset = |restart: usize| self.restarts.get(restart).map(|offset| *offset as usize);
        Part { restarts: 0..1, start: offset(restart).unwrap_or_default(), end: offset(restart + 1) }
    }
}

#[cfg(test)]
mod tests {
    use types::{Entry, HashedKey};
    use xxhash_rust::xxh3::xxh3_64;

    use super::super::block::{find, find_in_part};
    use super::super::block_builder::BlockBuilder;
    use super::super::formats::tests::formats;
    use super::*;
    use crate::block::Found;

    fn hash(key: &[u8]) -> KeyHash {
        KeyHash(xxh3_64(key))
    }

    /// Returns keys of which some share prefixes, and one is a prefix of others.
    fn keys() -> Vec<Vec<u8>> {
        let mut keys: Vec<Vec<u8>> = (0..400u32).map(|i| format!("user{:05}", i * 7).into_bytes()).collect();
        keys.extend([b"a".to_vec(), b"ab".to_vec(), b"user".to_vec(), b"\xff\xff".to_vec()]);
        keys.sort();
        keys
    }

    /// Returns the index of a table with one block.
    fn index_of(block: Option<&[u8]>, options: &BlockOptions) -> MemoryIndex {
        let mut index = MemoryIndex::default();
        index.add(block, options, hash);
        index
    }

    /// Looks up a key in a block with the index, as a table does.
    fn find_by(index: &MemoryIndex, block: &[u8], key: &[u8]) -> Option<Found> {
        match index.hint(0, hash(key)).unwrap() {
            Hint::Absent => Some(Found::Absent),
            Hint::Part(part) => find_in_part(block, &part, key),
            Hint::Unknown => find_in_part(block, &index.seek(0, block, key).unwrap(), key),
        }
    }

    #[test]
    fn a_lookup_with_the_index_is_a_lookup_in_the_block() {
        for (name, format) in formats() {
            // The index may have another interval than the block. With an interval of 1, the index has no buckets.
            for (written, kept) in [(1, 1), (3, 3), (10, 10), (10, 3), (3, 10), (1000, 8)] {
                let options = |restart_interval| BlockOptions { restart_interval, ..BlockOptions::default() };
                let mut builder = BlockBuilder::new(&*format, &options(written));
                let keys = keys();
                keys.iter().for_each(|key| {
                    builder.add(Entry { key, value: (key.len() % 2 == 1).then_some(key) }, hash(key));
                });
                let block = builder.finish(<[u8]>::to_vec);
                let index = index_of(Some(&block), &options(kept));
                for key in &keys {
                    for key in [key.clone(), [key, &b"x"[..]].concat(), key[..key.len() - 1].to_vec()] {
                        let hashed = HashedKey { bytes: &key, hash: hash(&key) };
                        let found = find_by(&index, &block, &key);
                        assert_eq!(found, find(&block, hashed), "{name}, {written}, {kept}, {key:?}");
                    }
                }
                assert!(index.memory_bytes() > 400 / kept.max(written.min(400)) as usize * 4, "{name}");
            }
        }
    }

    #[test]
    fn a_corrupt_block_has_no_index_and_never_causes_a_panic() {
        let options = BlockOptions::default();
        for (_, format) in formats() {
            let mut builder = BlockBuilder::new(&*format, &options);
            for key in &keys()[..60] {
                builder.add(Entry { key, value: Some(key) }, hash(key));
            }
            let block = builder.finish(<[u8]>::to_vec);
            for at in 0..block.len() {
                for bit in 0..8 {
                    let mut flipped = block.clone();
                    flipped[at] ^= 1 << bit;
                    let index = index_of(Some(&flipped), &options);
                    if index.hint(0, hash(b"user00021")).is_some() {
                        find_by(&index, &flipped, b"user00021");
                    }
                }
            }
        }
        for block in [None, Some(&b"no block"[..])] {
            let index = index_of(block, &options);
            assert!((0..2).all(|block| index.hint(block, hash(b"a")).is_none()));
        }
    }
}
