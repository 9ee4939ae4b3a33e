//! Restart hints: an in-memory index of a few restart points of each data block, with their offsets and key prefixes.
//!
//! Without hints, a search prefetches the whole block and searches all restart points. A 4 KiB block has 64 cache
//! lines. With hints, a search prefetches only the part of the block that can contain the key. The hints of a block are
//! computed when its checksum is verified, because the verification reads the whole block anyway.
//!
//! The stored prefixes begin after the common prefix of all keys in the SSTable. If the keys of a block have a longer
//! common prefix, their stored prefixes are equal, and the hints return most of the block.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use super::formats::layout_of;
use super::layout::Part;
use crate::design::BlockIndex;

/// The maximum number of parts into which restart hints divide a data block. Each part begins at a restart point.
const MOST_PARTS: usize = 6;

/// The length in bytes of a key prefix in restart hints.
const HEAD_BYTES: usize = size_of::<u64>();

/// The restart hints of the data blocks of an SSTable: an in-memory index of a few restart points of each block. With
/// hints, a search prefetches only the part of a block that can contain its key.
pub(super) struct RestartHints {
    /// The common prefix of all keys of the SSTable. The hints contain key prefixes without this common prefix.
    prefix: Box<[u8]>,
    blocks: u32,
    /// The restart hints of each data block. The list is allocated when the first block gets hints.
    rows: OnceLock<Box<[Row]>>,
}

/// The restart hints of one data block, in half a cache line. The hints divide the block into parts that begin at
/// restart points. A row consists of little-endian numbers of two bytes, four per word.
///
/// ```text
/// u8 parts, u8 shift
/// u16 restart points
/// u16 × 5   offsets of the second to the sixth part
/// u16 × 5   differences between the prefixes of their first keys and the prefix below, shifted to the right
/// u64       prefix of the first key of the second part
/// ```
///
/// Several threads may store the hints of one block at the same time, because they all write equal words.
#[repr(align(32))]
#[derive(Default)]
struct Row([AtomicU64; WORDS]);

/// The number of 8-byte words in the restart hints of one data block (a [`Row`]).
const WORDS: usize = 4;

/// In a [`Row`], the index of the two-byte number that contains the count of parts and the shift of the key prefixes.
const PARTS: usize = 0;

/// In a [`Row`], the index of the two-byte number that contains the count of restart points.
const RESTARTS: usize = 1;

/// In a [`Row`], the two-byte number `STARTS + n` is the offset at which part `n` of the block begins. Part 0 begins at
/// the first entry, so its offset is omitted.
const STARTS: usize = 1;

/// In a [`Row`], the two-byte number `HEADS + n` is the key prefix of part `n` of the block, stored as the difference
/// from the key prefix of part 1.
const HEADS: usize = 6;

/// In a [`Row`], the index of the 8-byte word that contains the key prefix of part 1.
const BASE: usize = 3;

impl RestartHints {
    /// Creates empty restart hints for an SSTable with `blocks` data blocks. `smallest` and `largest` are its smallest
    /// and its largest key.
    pub(super) fn new(blocks: u32, smallest: &[u8], largest: &[u8]) -> Self {
        let prefix = smallest[..types::common_prefix(smallest, largest)].into();
        Self { prefix, blocks, rows: OnceLock::new() }
    }

    /// Computes and stores the restart hints of the data block number `index`, whose content is `block`. Does nothing
    /// if hints would not help searches in this block, or if the block is corrupt.
    pub(super) fn learn(&self, index: u32, block: &[u8]) {
        if let Some(words) = self.words(block) {
            let rows = self.rows.get_or_init(|| (0..self.blocks).map(|_| Row::default()).collect());
            rows[index as usize].store(words);
        }
    }

    /// Computes the restart hints of a data block, as the words of a [`Row`].
    ///
    /// Returns `None` if the block is corrupt, or if hints would not help. Hints do not help if the block has fewer
    /// than two restart points, if it has an index, or if it stores its smallest and largest key.
    fn words(&self, block: &[u8]) -> Option<[u64; WORDS]> {
        let layout = layout_of(block)?;
        let restarts = u16::try_from(layout.restart_count).ok()?;
        if layout.index != BlockIndex::None || layout.has_bounds || restarts < 2 {
            return None;
        }
        let parts = layout.restart_count.min(MOST_PARTS);
        let mut numbers = [0u16; 4 * WORDS];
        let mut heads = [0; MOST_PARTS];
        for part in 1..parts {
            let at = layout.restart(block, first_restart(part, parts, layout.restart_count))?;
            numbers[STARTS + part] = u16::try_from(at).ok()?;
            heads[part] = self.head(block.get(layout.entry(block, at)?.suffix)?);
        }
        let (base, last) = (heads[1], heads[parts - 1]);
        let shift = (u64::BITS - last.checked_sub(base)?.leading_zeros()).saturating_sub(u16::BITS);
        for part in 1..parts {
            numbers[HEADS + part] = (heads[part].checked_sub(base)? >> shift) as u16;
        }
        numbers[PARTS] = parts as u16 | (shift as u16) << 8;
        numbers[RESTARTS] = restarts;
        let mut words = [0; WORDS];
        for (at, number) in numbers.into_iter().enumerate() {
            words[at / 4] |= u64::from(number) << (16 * (at % 4));
        }
        words[BASE] = base;
        Some(words)
    }

    /// Returns the first 8 bytes of a key after the common prefix of the SSTable. If the key lacks the common prefix,
    /// returns 0 for a key below all keys of the SSTable, or `u64::MAX` for a key above all keys.
    #[inline]
    fn head(&self, key: &[u8]) -> u64 {
        match key.strip_prefix(&*self.prefix) {
            Some(rest) => head(rest),
            None if key < &*self.prefix => 0,
            None => u64::MAX,
        }
    }

    /// Returns the part of the data block number `index` that can contain `key`. Returns `None` if the block has no
    /// hints.
    #[inline]
    pub(super) fn part(&self, index: u32, key: &[u8]) -> Option<Part> {
        let words = self.rows.get()?.get(index as usize)?.load();
        let number = |at: usize| (words[at / 4] >> (16 * (at % 4))) as u16;
        let (parts, shift) = (usize::from(number(PARTS) as u8), number(PARTS) >> 8);
        if parts == 0 {
            return None;
        }
        // These variables are the first and the last part that can contain the key.
        let (mut from, mut to) = (0, 0);
        if let Some(above) = self.head(key).checked_sub(words[BASE]) {
            let above = above >> shift;
            for part in 1..parts {
                let head = u64::from(number(HEADS + part));
                from += usize::from(head < above);
                to += usize::from(head <= above);
            }
        }
        let (restarts, end) = (usize::from(number(RESTARTS)), to + 1);
        Some(Part {
            restarts: first_restart(from, parts, restarts)..first_restart(end, parts, restarts),
            start: if from == 0 { 0 } else { usize::from(number(STARTS + from)) },
            end: (end < parts).then(|| usize::from(number(STARTS + end))),
        })
    }

    /// Returns the memory that the restart hints take, in bytes.
    pub(super) fn memory_bytes(&self) -> usize {
        self.rows.get().map_or(0, |rows| size_of_val(&**rows)) + self.prefix.len()
    }
}

impl Row {
    fn store(&self, words: [u64; WORDS]) {
        for (at, word) in words.into_iter().enumerate().rev() {
            // The first word is stored last. A reader that sees the first word therefore also sees the other words.
            self.0[at].store(word, if at == 0 { Ordering::Release } else { Ordering::Relaxed });
        }
    }

    #[inline]
    fn load(&self) -> [u64; WORDS] {
        let first = self.0[0].load(Ordering::Acquire);
        let [_, behind @ ..] = &self.0;
        let [second, third, fourth] = behind.each_ref().map(|word| word.load(Ordering::Relaxed));
        [first, second, third, fourth]
    }
}

/// Returns the number of the first restart point of the part number `part`. The hints divide `restarts` restart points
/// evenly into `parts` parts.
#[inline]
fn first_restart(part: usize, parts: usize, restarts: usize) -> usize {
    // A 32-bit division takes half as long as a 64-bit division.
    (part as u32 * restarts as u32 / parts as u32) as usize
}

/// Returns the first 8 bytes of a key as a big-endian number, padded with zeros.
#[inline]
fn head(key: &[u8]) -> u64 {
    match key.first_chunk::<HEAD_BYTES>() {
        Some(head) => u64::from_be_bytes(*head),
        None => key
            .iter()
            .enumerate()
            .fold(0, |head, (at, byte)| head | u64::from(*byte) << (8 * (HEAD_BYTES - 1 - at))),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use types::{Bytes, Direction, Entry, KeyHash};

    use super::super::block::{find, find_in_part};
    use super::super::block_builder::BlockBuilder;
    use super::super::block_bytes::BlockBytes;
    use super::super::block_cursor::BlockCursor;
    use super::super::formats::tests::formats;
    use super::*;
    use crate::design::BlockOptions;

    type Keys = std::collections::BTreeSet<Vec<u8>>;

    /// Returns blocks of `keys` in every format in which searches use only restart points, with the names of the
    /// formats.
    fn blocks(keys: &Keys, restart_interval: u32) -> Vec<(String, Bytes)> {
        let options = BlockOptions { restart_interval, ..BlockOptions::default() };
        let block = |(name, format): (String, Box<dyn crate::block::BlockFormat>)| {
            let mut builder = BlockBuilder::new(&*format, &options);
            for key in keys {
                builder.add(Entry { key, value: Some(key) }, KeyHash(0));
            }
            (name, Bytes::copy_from(&builder.finish(<[u8]>::to_vec)))
        };
        formats().into_iter().map(block).collect()
    }

    /// Returns the hints of a table that contains this block.
    fn restart_hints(keys: &Keys, block: &[u8]) -> RestartHints {
        let (smallest, largest) = (keys.first().unwrap(), keys.last().unwrap());
        let restart_hints = RestartHints::new(3, smallest, largest);
        restart_hints.learn(1, block);
        assert_eq!((restart_hints.part(0, smallest), restart_hints.part(2, largest)), (None, None));
        restart_hints
    }

    /// Compares a lookup in the part of the block that can contain the key with a lookup in the whole block.
    fn check(restart_hints: &RestartHints, block: &Bytes, key: &[u8]) {
        let layout = layout_of(block).unwrap();
        let Some(part) = restart_hints.part(1, key) else {
            assert!(layout.restart_count < 2 || layout.has_bounds, "a block with nothing to tell");
            return;
        };
        let restart = layout.seek_restart(block, layout.all_restarts(), key).unwrap();
        assert!(part.restarts.contains(&restart), "{restart} for {key:?}, not in {part:?}");
        let (start, end) = layout.ends(&part);
        assert_eq!(start, layout.restart(block, part.restarts.start).unwrap());
        assert_eq!(end, layout.restart(block, part.restarts.end).unwrap_or(layout.entries_end));
        let hashed = types::HashedKey { bytes: key, hash: KeyHash(0) };
        assert_eq!(find_in_part(block, &part, key), find(block, hashed));
        for direction in [Direction::Forward, Direction::Backward] {
            let walk = |part| {
                let mut cursor = BlockCursor::default();
                cursor.enter(BlockBytes::Own(block.clone()), direction).unwrap();
                let mut keys = Vec::new();
                let mut stands = cursor.seek(key, part).unwrap();
                while stands {
                    keys.push(cursor.key().to_vec());
                    stands = cursor.advance().unwrap();
                }
                keys
            };
            assert_eq!(walk(Some(&part)), walk(None));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn the_part_has_the_key_if_the_block_has_it(
            prefix in proptest::collection::vec(any::<u8>(), 0..12),
            middle in prop_oneof![Just(0), Just(7), Just(9)],
            rests in proptest::collection::btree_set(proptest::collection::vec(0u8..4, 0..6), 1..120),
            targets in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..20), 0..20),
            interval in 1u32..20,
        ) {
            // If the first bytes after the common prefix are equal, the keys have equal prefixes.
            let key = |rest: &Vec<u8>| {
                let first = rest.first().copied().unwrap_or(0);
                [&prefix[..], &[first], &vec![7; middle], rest].concat()
            };
            let keys: Keys = rests.iter().map(key).collect();
            for (_, block) in blocks(&keys, interval) {
                let restart_hints = restart_hints(&keys, &block);
                for key in &keys {
                    check(&restart_hints, &block, key);
                    check(&restart_hints, &block, &[&key[..], &[0]].concat());
                    check(&restart_hints, &block, &key[..key.len() / 2]);
                }
                targets.iter().for_each(|target| check(&restart_hints, &block, target));
            }
        }
    }

    #[test]
    fn a_key_is_in_one_part_of_many() {
        let keys: Keys = (0..37u32).map(|at| format!("user{:012}", at * 9973).into_bytes()).collect();
        let (name, block) = blocks(&keys, 4).swap_remove(0);
        assert_eq!(name, "delta");
        let restart_hints = restart_hints(&keys, &block);
        let parts: Vec<Part> = keys.iter().map(|key| restart_hints.part(1, key).unwrap()).collect();
        // The hints divide ten restart points into six parts. According to the prefixes, the key at a restart point
        // may also be in the previous part.
        assert!(parts.iter().all(|part| part.restarts.len() <= 4), "{parts:?}");
        assert!(parts.iter().filter(|part| part.restarts.len() > 2).count() <= MOST_PARTS, "{parts:?}");
        let parts: std::collections::BTreeSet<usize> = parts.iter().map(|part| part.start).collect();
        assert_eq!(parts.len(), MOST_PARTS);
    }

    #[test]
    fn blocks_with_nothing_to_tell_take_no_memory() {
        let keys: Keys = (0..100u8).map(|at| vec![at]).collect();
        let build = |options: BlockOptions| {
            let mut builder = BlockBuilder::new(&*formats()[0].1, &options);
            keys.iter().for_each(|key| builder.add(Entry { key, value: Some(key) }, KeyHash(0)));
            builder.finish(<[u8]>::to_vec)
        };
        let usual = BlockOptions::default();
        let one_part = BlockOptions { restart_interval: 4096, ..usual };
        let indexed = BlockOptions { index: BlockIndex::Hash, ..usual };
        for (options, rows) in [(usual, 3), (one_part, 0), (indexed, 0)] {
            let restart_hints = restart_hints(&keys, &build(options));
            assert_eq!(restart_hints.memory_bytes(), rows * size_of::<Row>(), "{options:?}");
            assert_eq!(restart_hints.part(1, &[50]).is_some(), rows > 0, "{options:?}");
        }
    }

    /// Tests a block in which the offset of a part is the largest two-byte number.
    #[test]
    fn parts_begin_anywhere_in_a_large_block() {
        let keys: Keys = (0..60u8).map(|at| vec![at; 530]).collect();
        for (name, block) in blocks(&keys, 1) {
            assert!(block.len() > 60_000 && block.len() < 1 << 16, "{name}: {}", block.len());
            let restart_hints = restart_hints(&keys, &block);
            keys.iter().for_each(|key| check(&restart_hints, &block, key));
        }
    }

    #[test]
    fn damage_never_panics() {
        let keys: Keys = (0..100u8).map(|at| vec![at]).collect();
        for (_, whole) in blocks(&keys, 8) {
            for at in 0..whole.len() {
                let mut block = whole.to_vec();
                block[at] ^= 0xff;
                let restart_hints = restart_hints(&keys, &block);
                let block = Bytes::copy_from(&block);
                for key in &keys {
                    let Some(part) = restart_hints.part(1, key) else { continue };
                    let _ = find_in_part(&block, &part, key);
                    for direction in [Direction::Forward, Direction::Backward] {
                        let mut cursor = BlockCursor::default();
                        cursor
                            .enter(BlockBytes::Own(block.clone()), direction)
                            .expect("the layout of the block was learnt");
                        let mut stands = cursor.seek(key, Some(&part));
                        while stands == Some(true) {
                            stands = cursor.advance();
                        }
                    }
                }
            }
        }
    }
}
