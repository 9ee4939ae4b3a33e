//! Building one data block.

use types::{Entry, KeyHash};

use super::format::{BlockFormat, TAIL_BYTES, Tail};
use super::{fingerprints, hash_index};
use crate::design::{BlockIndex, BlockOptions};

/// The most bytes that the numbers before an entry take.
const MAX_HEAD_BYTES: usize = 15;

/// Collects entries in key order and lays them out in a format.
pub struct BlockBuilder {
    writer: Box<dyn EntryWriter>,
    draft: Draft,
    entries: usize,
}

/// What a format does to lay out the entries of a block.
pub trait EntryWriter: Send {
    /// Takes the next entry; its key is above the one before.
    fn add(&mut self, draft: &mut Draft, entry: &Entry<'_>);

    /// The most bytes that the block has but for its index, finished with one more entry.
    fn bytes_with(&self, draft: &Draft, entry: &Entry<'_>) -> usize;

    /// Completes the block up to and with [`Draft::end`], and begins the next one.
    fn finish(&mut self, draft: &mut Draft);
}

/// A block in the making: what all formats have in common.
pub struct Draft {
    /// The bytes of the block so far.
    pub(super) bytes: Vec<u8>,
    /// The last key added.
    pub(super) last_key: Vec<u8>,
    index: BlockIndex,
    /// Keys per bucket of an index by hash.
    index_load: f64,
    /// The hash of each key, where an index is wanted.
    hashes: Vec<KeyHash>,
}

impl BlockBuilder {
    /// A builder of blocks of a format.
    pub fn new(format: &dyn BlockFormat, options: &BlockOptions) -> Self {
        let BlockOptions { index, index_load, .. } = *options;
        let draft = Draft { bytes: Vec::new(), last_key: Vec::new(), index, index_load, hashes: Vec::new() };
        Self { writer: format.writer(options), draft, entries: 0 }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries == 0
    }

    /// The last key added.
    pub(super) fn last_key(&self) -> &[u8] {
        &self.draft.last_key
    }

    /// Whether the block, finished after one more entry, may exceed `limit` bytes.
    pub fn would_exceed(&self, entry: &Entry<'_>, limit: usize) -> bool {
        let entries = self.entries + 1;
        let index = match self.draft.index {
            BlockIndex::None => 0,
            BlockIndex::Hash => hash_index::bucket_count(entries, self.draft.index_load),
            BlockIndex::Fingerprint => fingerprints::len(entries),
        };
        self.writer.bytes_with(&self.draft, entry) + index > limit
    }

    /// Appends an entry; keys must rise.
    pub fn add(&mut self, entry: Entry<'_>, hash: KeyHash) {
        self.writer.add(&mut self.draft, &entry);
        if self.draft.index != BlockIndex::None {
            self.draft.hashes.push(hash);
        }
        self.entries += 1;
    }

    /// Completes the block, hands its bytes to `take`, and begins the next one.
    pub fn finish<R>(&mut self, take: impl FnOnce(&[u8]) -> R) -> R {
        self.writer.finish(&mut self.draft);
        let taken = take(&self.draft.bytes);
        self.draft.bytes.clear();
        self.draft.hashes.clear();
        self.entries = 0;
        taken
    }
}

impl Draft {
    /// The most bytes of the block with one more entry, the numbers before it, the tail, and `around` bytes of the
    /// format's own.
    #[inline]
    pub(super) fn bytes_with(&self, entry: &Entry<'_>, around: usize) -> usize {
        self.bytes.len() + MAX_HEAD_BYTES + entry.user_bytes() + around + TAIL_BYTES
    }

    /// Remembers the last key, which shares its first `shared` bytes with the one before.
    #[inline]
    pub(super) fn set_last_key(&mut self, shared: usize, key: &[u8]) {
        self.last_key.truncate(shared);
        self.last_key.extend_from_slice(&key[shared..]);
    }

    /// Appends the index and the tail to a block of a format whose every `interval`-th entry is a restart
    /// point.
    pub(super) fn end(&mut self, format: usize, restart_count: usize, interval: usize) {
        let index_at = self.bytes.len();
        match self.index {
            BlockIndex::None => {}
            BlockIndex::Hash => hash_index::build(&self.hashes, interval, self.index_load, &mut self.bytes),
            BlockIndex::Fingerprint => fingerprints::build(&self.hashes, interval, &mut self.bytes),
        }
        let index_len = self.bytes.len() - index_at;
        let tail = Tail { format: format as u8, restart_count, index: self.index, index_at, index_len };
        self.bytes.extend_from_slice(&tail.encode());
    }
}

#[cfg(test)]
mod tests {
    use super::super::block::{Found, Layout, find};
    use super::super::format::tests::formats;
    use super::*;
    use types::HashedKey;

    fn hashed(key: &[u8]) -> HashedKey<'_> {
        HashedKey { bytes: key, hash: KeyHash(xxhash_rust::xxh3::xxh3_64(key)) }
    }

    fn build(format: &dyn BlockFormat, keys: &[Vec<u8>], options: &BlockOptions) -> Vec<u8> {
        let mut builder = BlockBuilder::new(format, options);
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

    /// Keys and values of one size each.
    fn uniform_keys() -> Vec<Vec<u8>> {
        (1000..1100u32).map(|i| (i * 977).to_be_bytes().to_vec()).collect()
    }

    /// Every format, with every index, and restart points at several distances.
    fn all_options() -> Vec<(String, Box<dyn BlockFormat>, BlockOptions)> {
        let mut all = Vec::new();
        for restart_interval in [1, 2, 3, 16, 1000] {
            for index in BlockIndex::ALL {
                for (label, format) in formats() {
                    let options = BlockOptions { restart_interval, index, ..BlockOptions::default() };
                    all.push((format!("{label}, {index:?}, {restart_interval}"), format, options));
                }
            }
        }
        all
    }

    #[test]
    fn every_key_is_found_and_no_other() {
        for (name, format, options) in all_options() {
            for keys in [keys(), uniform_keys(), keys()[..1].to_vec()] {
                let bytes = build(&*format, &keys, &options);
                let layout = Layout::of(&bytes).unwrap();
                assert_eq!(bytes[layout.first_key(&bytes).unwrap()], keys[0]);
                for (index, key) in keys.iter().enumerate() {
                    match find(&bytes, hashed(key)).unwrap() {
                        Found::Tombstone => assert_eq!(index % 5, 3),
                        Found::Value(range) => assert_eq!(bytes[range], *format!("value {index}").as_bytes()),
                        Found::Absent => panic!("{name}: {key:?} is not found"),
                    }
                    let shorter = &key[..key.len().saturating_sub(1)];
                    for near in [shorter, &[key, &b"\0"[..]].concat(), &[key, &b"x"[..]].concat()] {
                        if !keys.iter().any(|key| key == near) {
                            assert_eq!(find(&bytes, hashed(near)), Some(Found::Absent), "{name}: {near:?}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn damage_never_panics() {
        for (label, format) in formats() {
            for index in BlockIndex::ALL {
                let options = BlockOptions { index, ..BlockOptions::default() };
                for keys in [keys()[..40].to_vec(), uniform_keys()[..20].to_vec()] {
                    let bytes = build(&*format, &keys, &options);
                    assert!(Layout::of(&bytes).is_some(), "{label}");
                    damage_everywhere(&bytes, &keys);
                }
            }
        }
    }

    fn damage_everywhere(bytes: &[u8], keys: &[Vec<u8>]) {
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut damaged = bytes.to_vec();
                damaged[at] ^= 1 << bit;
                if let Some(layout) = Layout::of(&damaged) {
                    layout.first_key(&damaged);
                }
                for key in keys {
                    if let Some(Found::Value(range)) = find(&damaged, hashed(key)) {
                        assert!(range.end <= damaged.len());
                    }
                }
            }
            find(&bytes[..at], hashed(b"user"));
        }
    }

    #[test]
    fn a_block_never_exceeds_what_it_foresaw() {
        for (name, format, options) in all_options() {
            let mut builder = BlockBuilder::new(&*format, &options);
            for key in keys() {
                let entry = Entry { key: &key, value: Some(b"0123456789") };
                if builder.would_exceed(&entry, 1024) {
                    let len = builder.finish(<[u8]>::len);
                    assert!((900..=1024).contains(&len), "{name}: {len}");
                }
                builder.add(entry, hashed(&key).hash);
            }
        }
    }
}
