//! Walking the entries of one data block, in either direction.

use std::ops::Range;

use types::{Bytes, Direction};

use super::block::Layout;

/// A walk over one block. It owns its block and the current key; the value stays in the block.
///
/// Every method returns `None` where the block turns out to be damaged.
#[derive(Debug, Default)]
pub(super) struct BlockCursor {
    block: Option<Bytes>,
    layout: Layout,
    key: Vec<u8>,
    value: Range<usize>,
    tombstone: bool,
    /// Forward: the offset of the next entry.
    next_at: usize,
    /// Backward: the restart points before the one whose entries are on the stack.
    restarts_left: usize,
    /// Backward: the entries still to come, the next one last.
    stack: Vec<StackEntry>,
    /// Backward: the keys of the entries on the stack.
    stack_keys: Vec<u8>,
}

/// A decoded entry that waits for its turn in a backward walk.
#[derive(Clone, Debug)]
struct StackEntry {
    key: Range<usize>,
    value: Range<usize>,
    tombstone: bool,
}

impl BlockCursor {
    /// The current key.
    #[inline]
    pub(super) fn key(&self) -> &[u8] {
        &self.key
    }

    /// The current value, or `None` for a tombstone.
    #[inline]
    pub(super) fn value(&self) -> Option<&[u8]> {
        let block = self.block.as_deref().unwrap_or_default();
        (!self.tombstone).then(|| &block[self.value.clone()])
    }

    /// Takes a block and stands before its first entry in `direction`; `Some(false)` where `block` is damaged.
    pub(super) fn enter(&mut self, block: Bytes, direction: Direction) -> Option<()> {
        self.layout = Layout::of(&block)?;
        self.block = Some(block);
        self.stack.clear();
        self.next_at = self.layout.entries_start;
        self.restarts_left = if direction == Direction::Backward { self.layout.restart_count } else { 0 };
        Some(())
    }

    /// Moves to the next entry in `direction`; `Some(false)` at the end of the block.
    #[inline]
    pub(super) fn advance(&mut self, direction: Direction) -> Option<bool> {
        match direction {
            Direction::Forward => self.next(),
            Direction::Backward => self.previous(),
        }
    }

    /// After [`enter`](Self::enter): moves to the first entry in `direction` that is at or behind `target`
    /// (at or above it going forward, at or below it going backward); `Some(false)` where there is none.
    pub(super) fn seek(&mut self, target: &[u8], direction: Direction) -> Option<bool> {
        let block = self.block.clone()?;
        let restart = self.layout.seek_restart(&block, target)?;
        match direction {
            Direction::Forward => {
                self.next_at = self.layout.restart(&block, restart)?;
                loop {
                    if !self.next()? {
                        return Some(false);
                    }
                    if self.key.as_slice() >= target {
                        return Some(true);
                    }
                }
            }
            Direction::Backward => {
                self.restarts_left = restart + 1;
                loop {
                    if !self.previous()? {
                        return Some(false);
                    }
                    if self.key.as_slice() <= target {
                        return Some(true);
                    }
                }
            }
        }
    }

    #[inline]
    fn next(&mut self) -> Option<bool> {
        let Some(block) = &self.block else { return Some(false) };
        if self.next_at >= self.layout.entries_end {
            return Some(false);
        }
        let head = self.layout.entry(block, self.next_at)?;
        if head.shared > self.key.len() {
            return None;
        }
        self.key.truncate(head.shared);
        self.key.extend_from_slice(&block[head.suffix]);
        self.next_at = head.value.end;
        self.value = head.value;
        self.tombstone = head.tombstone;
        Some(true)
    }

    fn previous(&mut self) -> Option<bool> {
        while self.stack.is_empty() {
            if self.restarts_left == 0 {
                return Some(false);
            }
            self.restarts_left -= 1;
            self.decode_restart(self.restarts_left)?;
        }
        let entry = self.stack.pop()?;
        self.key.clear();
        self.key.extend_from_slice(&self.stack_keys[entry.key]);
        self.value = entry.value;
        self.tombstone = entry.tombstone;
        Some(true)
    }

    /// Puts all entries behind a restart point on the stack.
    fn decode_restart(&mut self, restart: usize) -> Option<()> {
        let block = self.block.as_ref()?;
        let mut at = self.layout.restart(block, restart)?;
        let end = match restart + 1 < self.layout.restart_count {
            true => self.layout.restart(block, restart + 1)?,
            false => self.layout.entries_end,
        };
        self.stack_keys.clear();
        let mut last_key = 0..0;
        while at < end {
            let head = self.layout.entry(block, at)?;
            if head.shared > last_key.len() {
                return None;
            }
            let start = self.stack_keys.len();
            self.stack_keys.extend_from_within(last_key.start..last_key.start + head.shared);
            self.stack_keys.extend_from_slice(&block[head.suffix]);
            last_key = start..self.stack_keys.len();
            at = head.value.end;
            self.stack.push(StackEntry {
                key: last_key.clone(),
                value: head.value,
                tombstone: head.tombstone,
            });
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::block_builder::BlockBuilder;
    use super::super::format::BlockFormat;
    use super::super::format::tests::formats;
    use super::*;
    use crate::design::BlockOptions;
    use types::{Entry, KeyHash};

    fn keys() -> Vec<Vec<u8>> {
        let mut keys: Vec<_> = (0..100u32).map(|i| format!("key{:04}", i * 2).into_bytes()).collect();
        keys[50].push(b'x');
        keys
    }

    /// The keys as blocks of every format, with their names.
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

    fn walk(cursor: &mut BlockCursor, direction: Direction) -> Vec<Vec<u8>> {
        let mut seen = Vec::new();
        while cursor.advance(direction).unwrap() {
            assert_eq!(cursor.value(), Some(cursor.key()));
            seen.push(cursor.key().to_vec());
        }
        seen
    }

    #[test]
    fn both_directions_meet_every_entry() {
        for (name, block) in [1, 7, 16, 1000].into_iter().flat_map(blocks) {
            let mut cursor = BlockCursor::default();
            cursor.enter(block.clone(), Direction::Forward).unwrap();
            assert_eq!(walk(&mut cursor, Direction::Forward), keys(), "{name}");
            cursor.enter(block, Direction::Backward).unwrap();
            let mut backward = walk(&mut cursor, Direction::Backward);
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
            cursor.enter(block.clone(), direction).unwrap();
            assert_eq!(cursor.seek(target, direction), Some(!expected.is_empty()));
            if let Some((first, others)) = expected.split_first() {
                assert_eq!(cursor.key(), first);
                assert_eq!(walk(&mut cursor, direction), others);
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
                    if cursor.enter(Bytes::copy_from(&damaged), direction).is_some() {
                        let mut steps = 0;
                        while cursor.advance(direction) == Some(true) {
                            steps += 1;
                            assert!(steps <= whole.len() * whole.len());
                        }
                    }
                }
            }
        }
    }
}
