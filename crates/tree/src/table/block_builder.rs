//! Builds a data block.

use types::{Entry, KeyHash};

use super::draft::{Draft, EntryWriter};
use super::format::BlockFormat;
use super::{fingerprints, hash_index};
use crate::design::{BlockIndex, BlockOptions};

/// A builder of data blocks. It collects entries in key order and encodes them in a block format.
pub struct BlockBuilder {
    writer: Box<dyn EntryWriter>,
    draft: Draft,
    entries: usize,
}

impl BlockBuilder {
    /// Creates a builder for data blocks in the format `format`.
    pub fn new(format: &dyn BlockFormat, options: &BlockOptions) -> Self {
        let draft = Draft::new(options);
        Self { writer: format.writer(options), draft, entries: 0 }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries == 0
    }

    /// Returns the key of the last entry that was added to the data block.
    pub(super) fn last_key(&self) -> &[u8] {
        &self.draft.last_key
    }

    /// Returns whether the data block would exceed `limit` bytes after [`add`](Self::add) of this entry.
    pub fn would_exceed(&self, entry: &Entry<'_>, limit: usize) -> bool {
        let entries = self.entries + 1;
        let index = match self.draft.index {
            BlockIndex::None => 0,
            BlockIndex::Hash => hash_index::bucket_count(entries, self.draft.index_load),
            BlockIndex::Fingerprint => fingerprints::len(entries),
        };
        self.writer.bytes_with(&self.draft, entry) + index > limit
    }

    /// Appends an entry to the data block. The key must be larger than the previous key of the block. `hash` is the
    /// hash of the key, for the index of the block.
    pub fn add(&mut self, entry: Entry<'_>, hash: KeyHash) {
        self.writer.add(&mut self.draft, &entry);
        if self.draft.index != BlockIndex::None {
            self.draft.hashes.push(hash);
        }
        self.entries += 1;
    }

    /// Completes the data block, passes its bytes to `take`, and returns the result of `take`. The builder then begins
    /// the next block.
    pub fn finish<R>(&mut self, take: impl FnOnce(&[u8]) -> R) -> R {
        self.writer.finish(&mut self.draft);
        let taken = take(&self.draft.bytes);
        self.draft.bytes.clear();
        self.draft.hashes.clear();
        self.entries = 0;
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::super::block::find;
    use super::super::formats::layout_of;
    use super::super::formats::tests::formats;
    use super::super::layout::Found;
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

    /// Returns keys of which some share prefixes, some are prefixes of other keys, and one is empty.
    fn keys() -> Vec<Vec<u8>> {
        let mut keys: Vec<Vec<u8>> = (0..300u32).map(|i| format!("user{:05}", i * 7).into_bytes()).collect();
        keys.extend([b"".to_vec(), b"a".to_vec(), b"aa".to_vec(), b"aaa\0".to_vec(), b"\xff\xff".to_vec()]);
        keys.sort();
        keys
    }

    /// Returns keys of one length, for values of one length.
    fn uniform_keys() -> Vec<Vec<u8>> {
        (1000..1100u32).map(|i| (i * 977).to_be_bytes().to_vec()).collect()
    }

    /// Returns every format with every index and several restart intervals.
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
                let layout = layout_of(&bytes).unwrap();
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
                    assert!(layout_of(&bytes).is_some(), "{label}");
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
                if let Some(layout) = layout_of(&damaged) {
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
