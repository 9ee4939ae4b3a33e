//! Building one data block.

use types::{Entry, KeyHash, common_prefix};

use super::block::TAIL_BYTES;
use super::{fingerprints, hash_index};
use crate::codec::put_varint;
use crate::design::{BlockIndex, BlockOptions};

/// The most bytes that the three numbers before an entry take.
const MAX_HEAD_BYTES: usize = 15;

/// Collects entries in key order and lays them out as described in [`super::block`].
pub(super) struct BlockBuilder {
    options: BlockOptions,
    bytes: Vec<u8>,
    restarts: Vec<u32>,
    /// Entries since the last restart point.
    since_restart: u32,
    last_key: Vec<u8>,
    /// The hash and the restart point of each key, where an index is wanted.
    hashes: Vec<(KeyHash, u32)>,
    entries: usize,
}

impl BlockBuilder {
    pub(super) fn new(options: BlockOptions) -> Self {
        Self {
            options,
            bytes: Vec::new(),
            restarts: Vec::new(),
            since_restart: 0,
            last_key: Vec::new(),
            hashes: Vec::new(),
            entries: 0,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries == 0
    }

    /// The last key added.
    pub(super) fn last_key(&self) -> &[u8] {
        &self.last_key
    }

    /// Whether the block, finished after one more entry, may exceed `limit` bytes.
    pub(super) fn would_exceed(&self, entry: &Entry<'_>, limit: usize) -> bool {
        let entries = self.entries + 1;
        let index = match self.options.index {
            BlockIndex::None => 0,
            BlockIndex::Hash => hash_index::bucket_count(entries),
            BlockIndex::Fingerprint => fingerprints::len(entries),
        };
        let behind = (self.restarts.len() + 1) * size_of::<u32>() + index + TAIL_BYTES;
        self.bytes.len() + MAX_HEAD_BYTES + entry.user_bytes() + behind > limit
    }

    /// Appends an entry; keys must rise.
    pub(super) fn add(&mut self, entry: Entry<'_>, hash: KeyHash) {
        let mut shared = 0;
        if self.since_restart == self.options.restart_interval || self.entries == 0 {
            self.restarts.push(self.bytes.len() as u32);
            self.since_restart = 0;
        } else {
            shared = common_prefix(&self.last_key, entry.key);
        }
        let value = entry.value.unwrap_or_default();
        put_varint(&mut self.bytes, shared as u64);
        put_varint(&mut self.bytes, (entry.key.len() - shared) as u64);
        put_varint(&mut self.bytes, (value.len() as u64) << 1 | u64::from(entry.value.is_none()));
        self.bytes.extend_from_slice(&entry.key[shared..]);
        self.bytes.extend_from_slice(value);
        self.last_key.truncate(shared);
        self.last_key.extend_from_slice(&entry.key[shared..]);
        if self.options.index != BlockIndex::None {
            self.hashes.push((hash, self.restarts.len() as u32 - 1));
        }
        self.since_restart += 1;
        self.entries += 1;
    }

    /// Completes the block, hands its bytes to `take`, and begins the next one.
    pub(super) fn finish<R>(&mut self, take: impl FnOnce(&[u8]) -> R) -> R {
        for restart in &self.restarts {
            self.bytes.extend_from_slice(&restart.to_le_bytes());
        }
        let index_start = self.bytes.len();
        self.append_index();
        let index_len = (self.bytes.len() - index_start) as u32;
        self.bytes.extend_from_slice(&(self.restarts.len() as u32).to_le_bytes());
        self.bytes.extend_from_slice(&(index_len << 8 | self.options.index as u32).to_le_bytes());
        let taken = take(&self.bytes);
        self.bytes.clear();
        self.restarts.clear();
        self.hashes.clear();
        self.since_restart = 0;
        self.entries = 0;
        taken
    }

    fn append_index(&mut self) {
        match self.options.index {
            BlockIndex::None => {}
            BlockIndex::Hash => hash_index::build(&self.hashes, self.restarts.len(), &mut self.bytes),
            BlockIndex::Fingerprint => {
                let hashes = self.hashes.iter().map(|(hash, _)| *hash);
                fingerprints::build(hashes, self.options.restart_interval, &mut self.bytes);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::block::{Block, Found};
    use super::*;
    use types::HashedKey;

    fn hashed(key: &[u8]) -> HashedKey<'_> {
        HashedKey { bytes: key, hash: KeyHash(xxhash_rust::xxh3::xxh3_64(key)) }
    }

    fn build(keys: &[Vec<u8>], options: BlockOptions) -> Vec<u8> {
        let mut builder = BlockBuilder::new(options);
        for (index, key) in keys.iter().enumerate() {
            let value = format!("value {index}").into_bytes();
            let entry = Entry { key, value: (index % 5 != 3).then_some(&value) };
            builder.add(entry, hashed(key).hash);
        }
        builder.finish(<[u8]>::to_vec)
    }

    /// Keys that share prefixes, are prefixes of each other, and are empty.
    fn keys() -> Vec<Vec<u8>> {
        let mut keys: Vec<Vec<u8>> = (0..300u32).map(|i| format!("user{:05}", i * 7).into_bytes()).collect();
        keys.extend([b"".to_vec(), b"a".to_vec(), b"aa".to_vec(), b"aaa\0".to_vec(), b"\xff\xff".to_vec()]);
        keys.sort();
        keys
    }

    #[test]
    fn every_key_is_found_and_no_other() {
        let keys = keys();
        for restart_interval in [1, 2, 3, 16, 1000] {
            for index in BlockIndex::ALL {
                let options = BlockOptions { restart_interval, index, ..BlockOptions::default() };
                let bytes = build(&keys, options);
                let block = Block::new(&bytes).unwrap();
                for (index, key) in keys.iter().enumerate() {
                    match block.find(hashed(key)).unwrap() {
                        Found::Tombstone => assert_eq!(index % 5, 3),
                        Found::Value(range) => assert_eq!(bytes[range], *format!("value {index}").as_bytes()),
                        Found::Absent => panic!("{key:?} is not found"),
                    }
                    for near in [[key, &b"\0"[..]].concat(), [key, &b"x"[..]].concat()] {
                        assert_eq!(block.find(hashed(&near)), Some(Found::Absent), "{near:?}");
                    }
                    if let Some((_, shorter)) =
                        key.split_last().filter(|(_, shorter)| !keys.contains(&shorter.to_vec()))
                    {
                        assert_eq!(block.find(hashed(shorter)), Some(Found::Absent), "{shorter:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn damage_never_panics() {
        for index in BlockIndex::ALL {
            damage_everywhere(&build(&keys()[..40], BlockOptions { index, ..BlockOptions::default() }));
        }
    }

    fn damage_everywhere(bytes: &[u8]) {
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut damaged = bytes.to_vec();
                damaged[at] ^= 1 << bit;
                if let Some(block) = Block::new(&damaged) {
                    for key in &keys() {
                        if let Some(Found::Value(range)) = block.find(hashed(key)) {
                            assert!(range.end <= damaged.len());
                        }
                    }
                }
            }
            assert!(
                Block::new(&bytes[..at]).is_none_or(|block| block.find(hashed(b"user")).is_none_or(|_| true))
            );
        }
    }

    #[test]
    fn a_block_never_exceeds_what_it_foresaw() {
        for index in BlockIndex::ALL {
            let options = BlockOptions { index, restart_interval: 4, ..BlockOptions::default() };
            let mut builder = BlockBuilder::new(options);
            for key in keys() {
                let entry = Entry { key: &key, value: Some(b"0123456789") };
                if builder.would_exceed(&entry, 1024) {
                    let len = builder.finish(<[u8]>::len);
                    assert!((900..=1024).contains(&len), "{len}");
                }
                builder.add(entry, hashed(&key).hash);
            }
        }
    }
}
