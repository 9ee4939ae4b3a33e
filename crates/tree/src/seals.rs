//! File seals. A seal is a number that every checksum of a file covers. Seals distinguish the files of different
//! stores.
//!
//! A checksum covers the seal of the file and the offset of the checked bytes (see [`checksum`](crate::checksum)). The
//! seal combines the file number with the identity of the store that wrote the file. The tree therefore detects a file
//! of another store, even if its number, offsets and checksums are correct in that store. A checkpoint keeps the
//! SSTables of its store with their seals. A checkpoint gets its own identity for the files that it writes.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::path::Path;

use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::codec::{Reader, put_varint};

/// Computes the seals of the files of a store: for each file, a number that identifies the file and the store that
/// wrote it. A checkpoint has files of several stores.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Seals {
    /// Pairs of a file number and the identity of the store that wrote the files from this number on, in ascending
    /// order. Files with smaller numbers have no identity, because a version of lsmbench without seals wrote them.
    since: Vec<(u64, u64)>,
}

impl Seals {
    /// Returns the seal of the file with the number `number`: a number that identifies the file and its store, and that
    /// each checksum of the file covers.
    #[inline]
    pub(crate) fn of(&self, number: u64) -> u64 {
        let holds = self.since.iter().rev().find(|(first, _)| *first <= number);
        number ^ holds.map_or(0, |(_, identity)| *identity)
    }

    /// Returns the identity of the store, which all checksums of new files cover. Returns 0 if the store has no
    /// identity.
    pub(crate) fn identity(&self) -> u64 {
        self.since.last().map_or(0, |(_, identity)| *identity)
    }

    /// Sets the identity of the store for all files from `number` on. Has no effect if the store already has an
    /// identity.
    pub(crate) fn begin(&mut self, number: u64, identity: u64) {
        if self.since.is_empty() {
            self.since.push((number, identity));
        }
    }

    /// Returns the seals of the files of a checkpoint in `directory`. The checkpoint writes the files from `number` on,
    /// so their seals contain its own identity. Files with smaller numbers keep their seals.
    pub(crate) fn of_copy(&self, number: u64, directory: &Path) -> Self {
        let parent = self.identity() ^ number;
        let identity = xxh3_64_with_seed(directory.as_os_str().as_encoded_bytes(), parent);
        let mut since = self.since.clone();
        since.push((number, identity));
        Self { since }
    }

    /// Appends the encoded pairs of file numbers and store identities to `out`.
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        put_varint(out, self.since.len() as u64);
        for (first, identity) in &self.since {
            put_varint(out, *first);
            out.extend_from_slice(&identity.to_le_bytes());
        }
    }

    /// Decodes the pairs of file numbers and store identities. Returns `None` if the bytes are corrupt.
    pub(crate) fn decode(reader: &mut Reader<'_>) -> Option<Self> {
        let mut since = Vec::new();
        for _ in 0..reader.varint()? {
            since.push((reader.varint()?, reader.u64()?));
        }
        Some(Self { since })
    }
}

/// Returns a random identity for a new store. With very high probability, no other store has the same identity.
pub(crate) fn new_identity() -> u64 {
    // The keys of the standard library's hash function are random, and each call in a process gets different keys.
    RandomState::new().hash_one("a store")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_keep_the_seal_that_they_were_written_under() {
        let mut seals = Seals::default();
        assert_eq!(seals.of(7), 7, "without an identity the number is the seal");
        seals.begin(5, 0xabcd);
        assert_eq!((seals.of(4), seals.of(5), seals.of(0x900)), (4, 5 ^ 0xabcd, 0x900 ^ 0xabcd));
        let copy = seals.of_copy(0x20, Path::new("copy"));
        assert_eq!((copy.of(4), copy.of(0x1f)), (seals.of(4), seals.of(0x1f)));
        assert_eq!((seals.identity(), copy.of(0x20)), (0xabcd, 0x20 ^ copy.identity()));
        assert_ne!(copy.of(0x20), seals.of(0x20));
        assert_ne!(copy.of(0x20), seals.of_copy(0x20, Path::new("other")).of(0x20));
        assert_ne!(new_identity(), new_identity());
        let mut again = seals.clone();
        again.begin(9, 1);
        assert_eq!(again, seals, "an identity is assigned once");
    }

    #[test]
    fn seals_read_back_and_cut_ones_are_refused() {
        let mut seals = Seals::default();
        seals.begin(300, u64::MAX);
        let seals = seals.of_copy(1 << 40, Path::new("copy"));
        let mut bytes = Vec::new();
        seals.encode(&mut bytes);
        assert_eq!(Seals::decode(&mut Reader::new(&bytes)), Some(seals));
        for cut in 0..bytes.len() {
            assert_eq!(Seals::decode(&mut Reader::new(&bytes[..cut])), None);
        }
    }
}
