//! Hash functions of caches. Each hash function has a fixed seed. A cache therefore makes the same decisions in every
//! run, if it gets the same calls.

use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher, Hasher};

use foldhash::fast::FixedState;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::cache::Cache;

/// Documents the valid values of the parameter `hasher` for the reference pages.
macro_rules! hasher_reference {
    () => {
        "# Hash function that the cache applies to the names of blocks. \"xxh3\" gives the same hits on every\n\
         # machine. \"sip\" is the default of Rust's standard library. Valid values: \"xxh3\", \"foldhash\",\n\
         # \"ahash\", \"rustc-hash\", \"sip\".\n\
         hasher = \"xxh3\"\n"
    };
}
pub(crate) use hasher_reference;

/// The name of a hash function. The default is `xxh3`, which gives equal hashes on every machine, so a cache has the
/// same hits on every machine. The other functions give equal hashes on one machine, but `ahash` and `foldhash` may
/// differ between machines and versions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HasherKind {
    /// The 64-bit variant of XXH3.
    #[default]
    Xxh3,
    /// The fast variant of the hash function of the crate `foldhash`.
    Foldhash,
    /// The hash function of the crate `ahash`.
    Ahash,
    /// The hash function of the Rust compiler.
    RustcHash,
    /// `SipHash`, the default of the standard library.
    Sip,
}

/// Builds a cache with any hash function. The hash function is a type parameter, so that the compiler can inline it
/// into the cache.
pub trait WithHasher {
    /// Builds the cache. It hashes the names of blocks with `hasher`.
    fn with_hasher<S: BuildHasher + Clone + Send + Sync + 'static>(self, hasher: S) -> Box<dyn Cache>;
}

impl HasherKind {
    /// Builds a cache that hashes the names of blocks with this hash function.
    pub fn build(self, cache: impl WithHasher) -> Box<dyn Cache> {
        match self {
            Self::Xxh3 => cache.with_hasher(BuildHasherDefault::<Xxh3>::default()),
            Self::Foldhash => cache.with_hasher(FixedState::default()),
            Self::Ahash => cache.with_hasher(ahash::RandomState::with_seeds(1, 2, 3, 4)),
            Self::RustcHash => cache.with_hasher(rustc_hash::FxBuildHasher),
            Self::Sip => cache.with_hasher(BuildHasherDefault::<DefaultHasher>::default()),
        }
    }
}

/// Maps the hash of a block name to one of `shards` shards. The mapping does not use the bits of the hash that the hash
/// tables inside a shard use (the lowest bits and the seven highest bits).
pub(crate) fn shard(hash: u64, shards: usize) -> usize {
    let bits = u64::from((hash >> 16) as u32);
    ((bits * shards as u64) >> 32) as usize
}

/// The number of bytes that the hasher collects before it computes a hash. The name of a block has this number of
/// bytes.
const GATHERED_BYTES: usize = 24;

/// The 64-bit XXH3 hash of the written bytes. The hasher first collects all bytes, because the streaming version of
/// XXH3 takes ten times as long for so few bytes. A longer input is hashed in pieces, and the hash of each piece is
/// the seed for the next piece.
#[derive(Clone, Copy, Default)]
pub(crate) struct Xxh3 {
    gathered: [u8; GATHERED_BYTES],
    len: usize,
    seed: u64,
}

impl Hasher for Xxh3 {
    #[inline]
    fn write(&mut self, mut bytes: &[u8]) {
        while self.len + bytes.len() > GATHERED_BYTES {
            let (now, later) = bytes.split_at(GATHERED_BYTES - self.len);
            self.gathered[self.len..].copy_from_slice(now);
            self.seed = xxh3_64_with_seed(&self.gathered, self.seed);
            self.len = 0;
            bytes = later;
        }
        self.gathered[self.len..self.len + bytes.len()].copy_from_slice(bytes);
        self.len += bytes.len();
    }

    /// Writes the number as little-endian bytes, so that all machines give the same hash.
    // This function is always inlined. The collected bytes then stay in registers, and hashing a block name takes a
    // third of the time.
    #[allow(clippy::inline_always)]
    #[inline(always)]
    fn write_u64(&mut self, number: u64) {
        let bytes = number.to_le_bytes();
        match self.gathered.get_mut(self.len..self.len + bytes.len()) {
            Some(gathered) => {
                gathered.copy_from_slice(&bytes);
                self.len += bytes.len();
            }
            None => self.write(&bytes),
        }
    }

    #[allow(clippy::inline_always)]
    #[inline(always)]
    fn finish(&self) -> u64 {
        if self.len == GATHERED_BYTES {
            // The function has five paths for inputs of different lengths. The length is a constant here, so the
            // compiler keeps only one path.
            return xxh3_64_with_seed(&self.gathered, self.seed);
        }
        xxh3_64_with_seed(&self.gathered[..self.len], self.seed)
    }
}

#[cfg(test)]
mod tests {
    use xxhash_rust::xxh3::xxh3_64;

    use super::*;
    use crate::cache::BlockId;

    #[test]
    fn a_block_hashes_to_the_xxh3_of_its_name() {
        let id = BlockId { tree: 1, table: u64::MAX, offset: 4096 };
        let name = [id.tree, id.table, id.offset].map(u64::to_le_bytes).concat();
        assert_eq!(BuildHasherDefault::<Xxh3>::default().hash_one(id), xxh3_64(&name));
    }

    #[test]
    fn every_byte_of_a_long_input_counts() {
        let hash = |bytes: &[u8]| {
            let mut hasher = Xxh3::default();
            bytes.chunks(7).for_each(|piece| hasher.write(piece));
            hasher.finish()
        };
        let mut input = [0; 100];
        let zeros = hash(&input);
        for at in 0..input.len() {
            input[at] = 1;
            assert_ne!(hash(&input), zeros, "byte {at}");
            input[at] = 0;
        }
    }

    #[test]
    fn shards_are_used_alike() {
        for shards in [1, 3, 16] {
            let mut used = vec![0; shards];
            (0..16_000u64).for_each(|i| used[shard(xxh3_64(&i.to_le_bytes()), shards)] += 1);
            let mean = 16_000 / shards;
            assert!(used.iter().all(|blocks| (mean * 4 / 5..mean * 6 / 5 + 1).contains(blocks)), "{used:?}");
        }
    }
}
