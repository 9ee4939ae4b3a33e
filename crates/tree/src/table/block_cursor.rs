//! An iterator over the entries of one data block, in either direction.

use types::{Bytes, Direction, Entry};

use super::block_bytes::BlockBytes;
use super::formats::layout_of;
use super::layout::{Entries, EntryCodec, EntryHead, Layout, Part};
use super::{delta, pairs, whole};
use crate::merge::head;

/// The maximum number of entries that a forward block iterator decodes in one batch. A batch is faster than single
/// entries, because the state of the decoder stays in CPU registers.
const ENTRIES_AT_ONCE: usize = 16;

/// The number of key bytes after which a block iterator ends a batch of decoded entries. The last key may exceed this
/// number.
const KEY_BYTES_AT_ONCE: usize = 256 << 10;

/// The maximum size of a data block with more than one entry, in bytes. A larger block has a single entry.
const MAX_BYTES_OF_SEVERAL_ENTRIES: usize = 64 << 10;

/// The maximum length in bytes of a key that the decoder handles as one 128-bit number.
const SHORT_KEY_BYTES: usize = 16;

/// An iterator over the entries of one data block. It holds the block and a batch of decoded entries. The values remain
/// in the block.
///
/// Every method that moves the iterator returns `None` if the block is corrupt.
#[derive(Debug)]
pub(super) struct BlockCursor<'t> {
    block: Option<BlockBytes<'t>>,
    layout: Layout,
    direction: Direction,
    /// The current batch of decoded entries of the data block, in key order.
    entries: Vec<Decoded>,
    /// The keys of the decoded entries, concatenated.
    keys: Vec<u8>,
    /// The index of the current entry in the batch of decoded entries. The index is out of bounds before the first and
    /// after the last entry.
    at: usize,
    /// The number of entries of the data block before the current batch. This number is valid only during forward
    /// iteration from the first entry of the block.
    passed: usize,
    /// The offset in the data block of the first entry after the current batch. Only forward iteration uses this field.
    next_at: usize,
    /// The number of restart points of the data block that a backward iteration has not reached yet.
    restarts_left: usize,
    /// Set if a backward iteration has decoded only the last entries after the current restart point: the offset at
    /// which these entries begin. The entries before this offset are decoded later. Otherwise `None`.
    rest_end: Option<usize>,
}

/// An entry of a data block whose key was decoded into the buffer of the iterator.
#[derive(Clone, Copy, Debug)]
struct Decoded {
    /// The first 16 bytes of the entry's key as a number, as [`head`] computes it.
    head: u128,
    key_start: u32,
    key_end: u32,
    /// The offset of the entry's value in the data block, or [`TOMBSTONE`] for a tombstone.
    value_start: u32,
    value_end: u32,
}

/// The value of [`Decoded::value_start`] that marks a tombstone.
const TOMBSTONE: u32 = u32::MAX;

/// Reads a whole data block: calls `visit` with the key and the value of every entry, in ascending or descending key
/// order. The value is `None` for a tombstone.
///
/// Returns `None` if the block is corrupt. `visit` may have been called for some entries before.
pub fn walk(block: Bytes, direction: Direction, mut visit: impl FnMut(&[u8], Option<&[u8]>)) -> Option<()> {
    let mut cursor = BlockCursor::default();
    cursor.enter(BlockBytes::Own(block), direction)?;
    while cursor.advance()? {
        let Entry { key, value } = cursor.entry();
        visit(key, value);
    }
    Some(())
}

impl Default for BlockCursor<'_> {
    fn default() -> Self {
        Self {
            block: None,
            layout: Layout::default(),
            direction: Direction::Forward,
            entries: Vec::with_capacity(ENTRIES_AT_ONCE),
            keys: Vec::with_capacity((ENTRIES_AT_ONCE + 1) * SHORT_KEY_BYTES),
            at: 0,
            passed: 0,
            next_at: 0,
            restarts_left: 0,
            rest_end: None,
        }
    }
}

impl<'t> BlockCursor<'t> {
    /// Returns the key of the current entry, or an empty key if the iterator is not at an entry.
    #[inline]
    pub(super) fn key(&self) -> &[u8] {
        self.entries.get(self.at).map_or(&[], |entry| entry.key(&self.keys))
    }

    /// Returns the first 16 bytes of the current key as a number, or 0 if the iterator is not at an entry.
    #[inline]
    pub(super) fn head(&self) -> u128 {
        self.entries.get(self.at).map_or(0, |entry| entry.head)
    }

    /// Returns the current entry, or an entry with an empty key and no value if the iterator is not at an entry.
    #[inline]
    pub(super) fn entry(&self) -> Entry<'_> {
        let Some(entry) = self.entries.get(self.at) else { return Entry { key: &[], value: None } };
        entry.entry(self.block.as_deref().unwrap_or_default(), &self.keys)
    }

    /// Moves past decoded entries: calls `pass` with each entry after the current entry, as long as `pass` returns
    /// `true`. Ends at the last entry for which `pass` returned `true`, or at the last entry of the batch. Only for
    /// forward iteration.
    #[inline]
    pub(super) fn pass(&mut self, mut pass: impl FnMut(Entry<'_>) -> bool) {
        let block = self.block.as_deref().unwrap_or_default();
        let behind = self.entries.get(self.at + 1..).unwrap_or_default();
        self.at += behind.iter().take_while(|entry| pass(entry.entry(block, &self.keys))).count();
    }

    /// Returns the number of entries before the current entry in its data block. The iterator must have read the block
    /// forward, from its first entry.
    pub(super) fn number(&self) -> usize {
        self.passed + self.at
    }

    /// Returns whether the current entry is a tombstone.
    #[inline]
    pub(super) fn is_tombstone(&self) -> bool {
        self.entries.get(self.at).is_none_or(|entry| entry.value_start == TOMBSTONE)
    }

    /// Starts the iteration over a block, at the position before its first entry in `direction`. Returns `None` if the
    /// block is corrupt.
    pub(super) fn enter(&mut self, block: BlockBytes<'t>, direction: Direction) -> Option<()> {
        self.layout = layout_of(&block)?;
        if block.len() >= TOMBSTONE as usize {
            return None;
        }
        if block.len() > MAX_BYTES_OF_SEVERAL_ENTRIES {
            let first = self.layout.entry(&block, self.layout.entries_start)?;
            (first.value.end == self.layout.entries_end).then_some(())?;
        }
        self.block = Some(block);
        self.direction = direction;
        self.rewind();
        Some(())
    }

    /// Moves back to the start of the iteration: before the first entry, or after the last entry in a backward
    /// iteration.
    pub(super) fn rewind(&mut self) {
        self.next_at = self.layout.entries_start;
        let is_backward = self.direction == Direction::Backward;
        self.restarts_left = if is_backward { self.layout.restart_count } else { 0 };
        self.forget();
    }

    /// Moves to the next entry. Returns `Some(false)` at the end of the block.
    #[inline]
    pub(super) fn advance(&mut self) -> Option<bool> {
        let step = if self.direction == Direction::Forward { 1 } else { usize::MAX };
        self.at = self.at.wrapping_add(step);
        if self.at < self.entries.len() { Some(true) } else { self.decode_more() }
    }

    /// Moves to the first entry at or after `target` in the reading direction: forward, the first key at or above
    /// `target`; backward, the last key at or below `target`. Returns `Some(false)` if no such entry exists.
    ///
    /// The caller must call [`enter`](Self::enter) first. `part` is the part of the block that can contain `target`, if
    /// the caller knows the part.
    pub(super) fn seek(&mut self, target: &[u8], part: Option<&Part>) -> Option<bool> {
        let (block, layout) = (self.block.as_deref()?, &self.layout);
        let among = part.map_or_else(|| layout.all_restarts(), |part| part.restarts.clone());
        let restart = layout.seek_restart(block, among.clone(), target)?;
        self.next_at = match part {
            Some(part) if restart == among.start => layout.ends(part).0,
            _ => layout.restart(block, restart)?,
        };
        self.restarts_left = restart + 1;
        self.forget();
        let target_head = head(target);
        while self.decode_more()? {
            let keys = &self.keys;
            let order =
                |entry: &Decoded| entry.head.cmp(&target_head).then_with(|| entry.key(keys).cmp(target));
            self.at = match self.direction {
                Direction::Forward => self.entries.partition_point(|entry| order(entry).is_lt()),
                Direction::Backward => {
                    self.entries.partition_point(|entry| order(entry).is_le()).wrapping_sub(1)
                }
            };
            if self.at < self.entries.len() {
                return Some(true);
            }
        }
        Some(false)
    }

    /// Discards the current batch of decoded entries.
    fn forget(&mut self) {
        self.entries.clear();
        self.keys.clear();
        self.at = 0;
        self.passed = 0;
        self.rest_end = None;
    }

    /// Decodes the next batch of entries in the reading direction and moves to its first entry. Returns `Some(false)`
    /// at the end of the block.
    #[inline(never)]
    fn decode_more(&mut self) -> Option<bool> {
        match self.direction {
            Direction::Forward => {
                // The next key may share a prefix with the previous key.
                let last = self.entries.last().map_or(0..0, |last| last.key_start as usize..self.keys.len());
                self.keys.drain(..last.start);
                self.passed += self.entries.len();
                self.entries.clear();
                self.next_at = self.decode(self.next_at, self.layout.entries_end, ENTRIES_AT_ONCE)?;
                self.at = 0;
            }
            Direction::Backward => {
                let mut rest_end = self.rest_end.take();
                self.forget();
                while self.entries.is_empty() && (rest_end.is_some() || self.restarts_left > 0) {
                    if rest_end.is_none() {
                        self.restarts_left -= 1;
                    }
                    let block = self.block.as_deref()?;
                    let start = self.layout.restart(block, self.restarts_left)?;
                    let end = match (rest_end.take(), self.restarts_left + 1 < self.layout.restart_count) {
                        (Some(end), _) => end,
                        (None, true) => self.layout.restart(block, self.restarts_left + 1)?,
                        (None, false) => self.layout.entries_end,
                    };
                    if self.decode(start, end, usize::MAX)? < end {
                        self.decode_last(start, end)?;
                    }
                }
                self.at = self.entries.len().wrapping_sub(1);
            }
        }
        Some(!self.entries.is_empty())
    }

    /// For backward iteration: decodes only the last entries between the restart point at offset `start` and the offset
    /// `end`. This limits the memory of a batch if the keys in this range have more than [`KEY_BYTES_AT_ONCE`] bytes.
    #[cold]
    fn decode_last(&mut self, start: usize, end: usize) -> Option<()> {
        self.forget();
        let block = self.block.as_deref()?;
        let mut all_bytes = 0;
        let mut at = start;
        while at < end {
            let entry = self.layout.entry(block, at)?;
            all_bytes += entry.shared + entry.suffix.len();
            at = entry.value.end;
        }
        // Keys before the first wanted entry are decoded into one buffer, and each key overwrites the previous key.
        let mut from = start;
        loop {
            let entry = self.layout.entry(block, from)?;
            let bytes = entry.shared + entry.suffix.len();
            if all_bytes <= KEY_BYTES_AT_ONCE || entry.value.end >= end {
                break;
            }
            (entry.shared <= self.keys.len()).then_some(())?;
            self.keys.truncate(entry.shared);
            self.keys.extend_from_slice(&block[entry.suffix]);
            all_bytes -= bytes;
            from = entry.value.end;
        }
        self.decode(from, end, usize::MAX)?;
        self.rest_end = (from > start).then_some(from);
        Some(())
    }

    /// Decodes the entries between the offsets `at` and `end` of the block, and returns the offset at which decoding
    /// stopped.
    ///
    /// The function decodes at most `limit` entries, and stops after about [`KEY_BYTES_AT_ONCE`] bytes of keys. If the
    /// entry at `at` is not a restart point, `keys` must end with the key of the entry before it.
    #[inline]
    fn decode(&mut self, at: usize, end: usize, limit: usize) -> Option<usize> {
        match self.layout.entries {
            Entries::Delta => self.decode_as::<delta::Delta>(at, end, limit),
            Entries::Whole => self.decode_as::<whole::Whole>(at, end, limit),
            Entries::Pairs => self.decode_as::<pairs::Pairs>(at, end, limit),
            Entries::SentinelPairs => self.decode_as::<pairs::SentinelPairs>(at, end, limit),
        }
    }

    /// Implements [`decode`](Self::decode) for the entry encoding `E`.
    #[inline(never)]
    fn decode_as<E: EntryCodec>(&mut self, mut at: usize, end: usize, limit: usize) -> Option<usize> {
        let block = self.block.as_deref()?;
        let entries = &block[..self.layout.entries_end];
        let mut last = LastKey::of(&self.keys);
        let most_bytes = self.keys.len() + KEY_BYTES_AT_ONCE;
        while at < end && self.entries.len() < limit && self.keys.len() <= most_bytes {
            let entry = E::head(entries, at)?;
            at = entry.value.end;
            let key_start = self.keys.len();
            let head = last.append(block, &entry, &mut self.keys)?;
            self.entries.push(Decoded {
                head,
                key_start: key_start as u32,
                key_end: self.keys.len() as u32,
                value_start: if entry.tombstone { TOMBSTONE } else { entry.value.start as u32 },
                value_end: entry.value.end as u32,
            });
        }
        Some(at)
    }
}

impl Decoded {
    #[inline]
    fn entry<'a>(&self, block: &'a [u8], keys: &'a [u8]) -> Entry<'a> {
        let value = match self.value_start {
            TOMBSTONE => None,
            start => block.get(start as usize..self.value_end as usize),
        };
        Entry { key: self.key(keys), value }
    }

    #[inline]
    fn key<'a>(&self, keys: &'a [u8]) -> &'a [u8] {
        &keys[self.key_start as usize..self.key_end as usize]
    }
}

/// The last decoded key, from which the decoder of a delta-encoded block restores the next key.
struct LastKey {
    start: usize,
    /// The first 16 bytes of the last decoded key as a little-endian number, padded with zeros. Short keys are restored
    /// with operations on this number.
    front: u128,
}

impl LastKey {
    /// Creates the state after the decoding of one key. `keys` contains exactly this key, which may be empty.
    fn of(keys: &[u8]) -> Self {
        Self { start: 0, front: head(keys).swap_bytes() }
    }

    /// Restores the key of `entry` and appends it to `keys`, which must end with this last key. The appended key
    /// becomes the last key.
    ///
    /// Returns the first 16 bytes of the key as a number. Returns `None` if the entry shares more bytes than the last
    /// key has.
    // This function is inlined, because a call would take as long as the body.
    #[allow(clippy::inline_always)]
    #[inline(always)]
    fn append(&mut self, block: &[u8], entry: &EntryHead, keys: &mut Vec<u8>) -> Option<u128> {
        let start = keys.len();
        if entry.shared > start - self.start {
            return None;
        }
        let len = entry.shared + entry.suffix.len();
        match block.get(entry.suffix.start..).and_then(<[u8]>::first_chunk::<SHORT_KEY_BYTES>) {
            Some(suffix) if len <= SHORT_KEY_BYTES && entry.shared < SHORT_KEY_BYTES => {
                let suffix = u128::from_le_bytes(*suffix) << (8 * entry.shared);
                let kept = self.front & !(u128::MAX << (8 * entry.shared));
                let front = (kept | suffix) & (u128::MAX >> (8 * (SHORT_KEY_BYTES - len).min(15)));
                self.front = if len == 0 { 0 } else { front };
                keys.extend_from_slice(&self.front.to_le_bytes());
                keys.truncate(start + len);
            }
            _ => {
                keys.extend_from_within(self.start..self.start + entry.shared);
                keys.extend_from_slice(&block[entry.suffix.clone()]);
                self.front = head(&keys[start..]).swap_bytes();
            }
        }
        self.start = start;
        Some(self.front.swap_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::super::block_builder::BlockBuilder;
    use super::super::format::BlockFormat;
    use super::super::formats::tests::formats;
    use super::*;
    use crate::design::BlockOptions;
    use types::KeyHash;

    fn keys() -> Vec<Vec<u8>> {
        let mut keys: Vec<_> = (0..100u32).map(|i| format!("key{:04}", i * 2).into_bytes()).collect();
        keys[50].push(b'x');
        keys
    }

    /// Returns the keys as blocks of every format, with the name of each format.
    fn blocks(restart_interval: u32) -> Vec<(String, Bytes)> {
        let options = BlockOptions { restart_interval, ..BlockOptions::default() };
        let block = |(name, format): (String, Box<dyn BlockFormat>)| {
            let mut builder = BlockBuilder::new(&*format, &options);
            for key in keys() {
                builder.add(Entry { key: &key, value: Some(&key) }, KeyHash(0));
            }
            (name, Bytes::copy_from(&builder.finish(<[u8]>::to_vec)))
        };
        formats().into_iter().map(block).collect()
    }

    fn walk(cursor: &mut BlockCursor<'_>) -> Vec<Vec<u8>> {
        let mut seen = Vec::new();
        while cursor.advance().unwrap() {
            assert_eq!(cursor.entry().value, Some(cursor.key()));
            seen.push(cursor.key().to_vec());
        }
        seen
    }

    #[test]
    fn both_directions_meet_every_entry() {
        for (name, block) in [1, 7, 16, 1000].into_iter().flat_map(blocks) {
            let mut cursor = BlockCursor::default();
            cursor.enter(BlockBytes::Own(block.clone()), Direction::Forward).unwrap();
            assert_eq!(walk(&mut cursor), keys(), "{name}");
            cursor.enter(BlockBytes::Own(block), Direction::Backward).unwrap();
            let mut backward = walk(&mut cursor);
            backward.reverse();
            assert_eq!(backward, keys(), "{name}");
        }
    }

    #[test]
    fn seeking_finds_the_nearest_entry_of_the_direction() {
        for (_, block) in blocks(8) {
            let numbers = (0..205u32).map(|i| format!("key{i:04}").into_bytes());
            for target in numbers.chain([b"a".to_vec(), b"z".to_vec()]) {
                seek(&block, &target);
            }
        }
    }

    fn seek(block: &Bytes, target: &[u8]) {
        let all = keys();
        let mut cursor = BlockCursor::default();
        let above: Vec<_> = all.iter().filter(|key| key.as_slice() >= target).cloned().collect();
        let below: Vec<_> = all.iter().rev().filter(|key| key.as_slice() <= target).cloned().collect();
        for (direction, expected) in [(Direction::Forward, above), (Direction::Backward, below)] {
            cursor.enter(BlockBytes::Own(block.clone()), direction).unwrap();
            assert_eq!(cursor.seek(target, None), Some(!expected.is_empty()));
            if let Some((first, others)) = expected.split_first() {
                assert_eq!(cursor.key(), first);
                assert_eq!(walk(&mut cursor), others);
            }
        }
    }

    /// Tests that the iterator holds copies of a long common prefix for only a few keys at a time. The block stores
    /// this prefix only once.
    #[test]
    fn long_prefixes_take_no_more_room_than_some_keys() {
        let delta = BlockOptions { restart_interval: 4096, ..BlockOptions::default() };
        let format = &formats()[0].1;
        let keys: Vec<Vec<u8>> =
            (0..3000u32).map(|i| [b"p".repeat(30_000), i.to_be_bytes().to_vec()].concat()).collect();
        let mut builder = BlockBuilder::new(&**format, &delta);
        keys.iter().for_each(|key| builder.add(Entry { key, value: Some(b"v") }, KeyHash(0)));
        let block = Bytes::copy_from(&builder.finish(<[u8]>::to_vec));
        assert!(block.len() < MAX_BYTES_OF_SEVERAL_ENTRIES);
        let room = |cursor: &BlockCursor<'_>| cursor.keys.capacity();
        for direction in [Direction::Forward, Direction::Backward] {
            let mut cursor = BlockCursor::default();
            cursor.enter(BlockBytes::Own(block.clone()), direction).unwrap();
            let mut seen = 0..keys.len();
            while cursor.advance().unwrap() {
                let expected = if direction == Direction::Forward { seen.next() } else { seen.next_back() };
                assert!(cursor.key() == keys[expected.unwrap()]);
                assert!(room(&cursor) < 4 * KEY_BYTES_AT_ONCE, "room for {} bytes", room(&cursor));
            }
            assert!(seen.is_empty());
            for at in [0, 7, 1500, 2999] {
                cursor.enter(BlockBytes::Own(block.clone()), direction).unwrap();
                assert_eq!(cursor.seek(&keys[at], None), Some(true));
                assert!(cursor.key() == keys[at]);
            }
        }
    }

    /// Tests that the iterator rejects a block of more than 64 KiB with more than one entry, because a tree writes no
    /// such block.
    #[test]
    fn a_large_block_has_one_entry() {
        for (_, format) in formats() {
            for (count, is_taken) in [(1, Some(())), (2, None)] {
                let mut builder = BlockBuilder::new(&*format, &BlockOptions::default());
                let value = vec![b'v'; MAX_BYTES_OF_SEVERAL_ENTRIES];
                (0..count).for_each(|key: u8| {
                    builder.add(Entry { key: &[key], value: Some(&value) }, KeyHash(0));
                });
                let block = Bytes::copy_from(&builder.finish(<[u8]>::to_vec));
                assert_eq!(
                    BlockCursor::default().enter(BlockBytes::Own(block), Direction::Forward),
                    is_taken
                );
            }
        }
    }

    #[test]
    fn damage_never_panics_and_always_ends() {
        for (_, whole) in blocks(8) {
            for at in 0..whole.len() {
                let mut damaged = whole.to_vec();
                damaged[at] ^= 0x55;
                for direction in [Direction::Forward, Direction::Backward] {
                    let mut cursor = BlockCursor::default();
                    if cursor.enter(BlockBytes::Own(Bytes::copy_from(&damaged)), direction).is_some() {
                        let mut steps = 0;
                        while cursor.advance() == Some(true) {
                            steps += 1;
                            assert!(steps <= whole.len() * whole.len());
                        }
                    }
                }
            }
        }
    }
}
