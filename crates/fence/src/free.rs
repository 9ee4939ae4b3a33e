//! The ideal bound of fences, which returns the block of every stored key without a search. The reported memory is
//! zero.
//!
//! No other fence can save more time than this bound. A hash map returns the block of a present key. An exact search is
//! needed in three cases: for a scan, for an absent key, and if keys of several blocks have the hash of the key. A
//! lookup therefore reads the same blocks as with any exact fence. The reported memory is zero, because the bound
//! represents a fence without cost. The fence takes eight bytes per key in the SSTable, and these bytes do count as
//! storage.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::BuildHasherDefault;

use catalog::Variant;
use types::{AlreadyHashed, HashedKey};

use crate::fence::{Fence, FenceError, FenceInput, FencePolicy, TableView};
use crate::separators::Separators;
use crate::stored::{self, corrupt, take, u32s};

pub(crate) const VARIANT: Variant<dyn FencePolicy> = Variant::<dyn FencePolicy>::plain(
    "free",
    "a map from each key to its block, whose memory counts as 0; shows the best result that an index can \
     reach",
    || Box::new(Free),
)
.oracle();

const TAG: stored::Tag = *b"free";

/// A policy that builds the ideal bound: maps from the hash of each key to its block.
struct Free;

impl FencePolicy for Free {
    /// Returns the stored bytes of the fence: the separators, the index of the first entry of each block, the number of
    /// keys, and all hashes.
    fn build(&self, input: &FenceInput<'_>) -> Vec<u8> {
        let mut stored = stored::encode(TAG, input.separators);
        input.block_starts.iter().for_each(|start| stored.extend(start.to_le_bytes()));
        stored.extend((input.hashes.len() as u64).to_le_bytes());
        input.hashes.iter().for_each(|hash| stored.extend(hash.0.to_le_bytes()));
        stored
    }

    fn open(&self, table: &dyn TableView) -> Result<Box<dyn Fence>, FenceError> {
        let (separators, rest) = stored::read(TAG, table)?;
        let mut rest = &*rest;
        let starts: Vec<u32> = u32s(take(&mut rest, separators.len() * size_of::<u32>())?).collect();
        let (numbers, broken) = rest.as_chunks();
        let hashes = match numbers.split_first() {
            Some((keys, hashes)) if u64::from_le_bytes(*keys) == hashes.len() as u64 => hashes,
            _ => {
                return Err(corrupt(format!(
                    "the stored fence states a number of hashes that does not match its length; this number \
                     and the hashes take {} bytes",
                    rest.len()
                )));
            }
        };
        if !broken.is_empty() {
            return Err(corrupt(format!(
                "the stored fence has {} additional bytes at the end",
                broken.len()
            )));
        }
        Ok(Box::new(FreeFence { separators, blocks: block_of_hash(&starts, hashes)? }))
    }
}

/// Map from the hash of a key to the block of the key. The value is `None` if keys of several blocks have this hash.
type BlockOfHash = HashMap<u64, Option<u32>, BuildHasherDefault<AlreadyHashed>>;

fn block_of_hash(starts: &[u32], hashes: &[[u8; 8]]) -> Result<BlockOfHash, FenceError> {
    let ends = starts[1..].iter().map(|start| *start as usize).chain([hashes.len()]);
    if starts[0] != 0 || !starts.iter().map(|start| *start as usize).zip(ends.clone()).all(|(a, b)| a < b) {
        return Err(corrupt(
            "the stored fence has wrong indices for the first entries of the blocks; these indices must \
             begin at 0, increase, and be below the number of keys",
        ));
    }
    let mut blocks = BlockOfHash::with_capacity_and_hasher(hashes.len(), BuildHasherDefault::default());
    let mut start = 0;
    for (block, end) in ends.enumerate() {
        let block = block as u32;
        for hash in &hashes[start..end] {
            match blocks.entry(u64::from_le_bytes(*hash)) {
                Entry::Vacant(vacant) => _ = vacant.insert(Some(block)),
                Entry::Occupied(mut taken) if *taken.get() != Some(block) => _ = taken.insert(None),
                Entry::Occupied(_) => {}
            }
        }
        start = end;
    }
    Ok(blocks)
}

/// A map from the keys of one SSTable to their blocks, with the separators for exact searches.
struct FreeFence {
    separators: Separators,
    blocks: BlockOfHash,
}

impl Fence for FreeFence {
    fn seek(&self, key: &[u8], _: &dyn TableView) -> Result<u32, FenceError> {
        Ok(self.separators.rank(key).saturating_sub(1) as u32)
    }

    fn find(&self, key: HashedKey<'_>, table: &dyn TableView) -> Result<u32, FenceError> {
        match self.blocks.get(&key.hash.0) {
            Some(Some(block)) => Ok(*block),
            _ => self.seek(key.bytes, table),
        }
    }

    fn memory_bytes(&self) -> usize {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_of_two_blocks_is_nobodys() {
        let hashes = [1u64, 2, 2, 3, 1, 4].map(u64::to_le_bytes);
        let blocks = block_of_hash(&[0, 3, 4], &hashes).unwrap();
        let of = |hash: u64| blocks.get(&hash).copied();
        assert_eq!([of(1), of(2), of(3), of(4)], [Some(None), Some(Some(0)), Some(Some(1)), Some(Some(2))]);
        assert_eq!(of(5), None);
    }

    #[test]
    fn impossible_starts_are_refused() {
        let hashes = [1u64, 2, 3].map(u64::to_le_bytes);
        for starts in [&[1u32, 2][..], &[0, 0], &[0, 2, 1], &[0, 3], &[0, u32::MAX]] {
            assert!(block_of_hash(starts, &hashes).is_err(), "{starts:?}");
        }
    }
}
