//! An SSTable in memory, and several kinds of keys, for the tests of fences.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::ops::Range;

use types::{Bytes, HashedKey, KeyHash, SplitMix64};

use crate::{BlockBounds, FenceInput, FencePolicy, Separators, TableReadError, TableView};

/// The kind of separator that the tests put between two blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cut {
    /// The separator is the first key of the block after it. The separator before block 0 is the first key of the
    /// SSTable.
    FirstKeys,
    /// The separator is the shortest prefix of the next block's first key that is above the last key of the previous
    /// block. The separator before block 0 is the empty string.
    Shortest,
}

/// An SSTable for the tests of fences: sorted keys in blocks, the stored bytes of a fence, and the number of reads by
/// the fence.
pub(crate) struct Table {
    pub(crate) blocks: Vec<Vec<Vec<u8>>>,
    pub(crate) cut: Cut,
    pub(crate) stored: Vec<u8>,
    /// A mask that selects the used bits of a hash. With fewer bits, more keys have equal hashes.
    pub(crate) hash_mask: u64,
    /// The number of pages and first keys of blocks that the fence has read.
    pub(crate) reads: Cell<u32>,
}

impl Table {
    /// Creates an SSTable with blocks of about `keys_per_block` keys each.
    pub(crate) fn new(keys: &[Vec<u8>], keys_per_block: usize, cut: Cut) -> Self {
        let mut random = SplitMix64::new(keys.len() as u64);
        let mut blocks = Vec::new();
        let mut rest = keys;
        while !rest.is_empty() {
            let count = 1 + random.next_u64() as usize % (2 * keys_per_block - 1);
            let (block, others) = rest.split_at(count.min(rest.len()));
            blocks.push(block.to_vec());
            rest = others;
        }
        Self { blocks, cut, stored: Vec::new(), hash_mask: u64::MAX, reads: Cell::new(0) }
    }

    /// Builds the fence of a policy for this SSTable, and keeps the stored bytes of the fence.
    pub(crate) fn store(&mut self, policy: &dyn FencePolicy) {
        self.stored = self.build(policy);
    }

    pub(crate) fn build(&self, policy: &dyn FencePolicy) -> Vec<u8> {
        let separators = self.separators();
        let hashes: Vec<KeyHash> = self.keys().map(|key| self.hashed(key).hash).collect();
        let block_starts: Vec<u32> = self
            .blocks
            .iter()
            .scan(0, |next, block| Some(std::mem::replace(next, *next + block.len() as u32)))
            .collect();
        let bounds = policy.needs_bounds().then(|| self.bounds());
        policy.build(&FenceInput {
            separators: &separators,
            hashes: &hashes,
            block_starts: &block_starts,
            level: 0,
            bounds: bounds.as_ref(),
        })
    }

    /// Returns the first key, the last key and the offset of every block. A block takes one page per key.
    fn bounds(&self) -> BlockBounds {
        let mut bounds = BlockBounds::default();
        let mut offset = 0;
        for keys in &self.blocks {
            bounds.first_keys.push(&keys[0]);
            bounds.last_keys.push(keys.last().expect("each block of the tested SSTable must have a key"));
            bounds.offsets.push(offset);
            offset += keys.len() as u64 * 4096;
        }
        bounds
    }

    pub(crate) fn separators(&self) -> Separators {
        let mut separators = Separators::default();
        for (block, keys) in self.blocks.iter().enumerate() {
            match (self.cut, block) {
                (Cut::FirstKeys, _) => separators.push(&keys[0]),
                (Cut::Shortest, 0) => separators.push(b""),
                (Cut::Shortest, _) => {
                    let last = self.blocks[block - 1]
                        .last()
                        .expect("each block of the tested SSTable must have a key");
                    separators.push(&keys[0][..=types::common_prefix(last, &keys[0])]);
                }
            }
        }
        separators
    }

    pub(crate) fn keys(&self) -> impl Iterator<Item = &Vec<u8>> {
        self.blocks.iter().flatten()
    }

    /// Returns a key together with its hash, an FNV-1a hash that is mixed and limited to the bits of the mask.
    pub(crate) fn hashed<'k>(&self, key: &'k [u8]) -> HashedKey<'k> {
        let fnv = key.iter().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        let mixed = (fnv ^ (fnv >> 32)).wrapping_mul(0xd134_2543_de82_ef95);
        HashedKey { bytes: key, hash: KeyHash((mixed ^ (mixed >> 29)) & self.hash_mask) }
    }
}

impl TableView for Table {
    fn block_count(&self) -> u32 {
        self.blocks.len() as u32
    }

    fn stored_bytes(&self) -> u64 {
        self.stored.len() as u64
    }

    fn read_stored(&self, range: Range<u64>) -> Result<Bytes, TableReadError> {
        let part = self.stored.get(range.start as usize..range.end as usize);
        part.map(Bytes::copy_from)
            .ok_or_else(|| format!("the byte range {range:?} is outside of the stored fence").into())
    }

    fn page(&self, range: Range<u64>) -> Result<Bytes, TableReadError> {
        self.reads.set(self.reads.get() + 1);
        self.read_stored(range)
    }

    fn first_key(&self, block: u32) -> Result<Bytes, TableReadError> {
        self.reads.set(self.reads.get() + 1);
        let keys =
            self.blocks.get(block as usize).ok_or_else(|| format!("the SSTable has no block {block}"))?;
        Ok(Bytes::copy_from(&keys[0]))
    }
}

/// Returns `count` keys. Each key is `user` followed by 20 digits.
pub(crate) fn numbered(count: usize) -> Vec<Vec<u8>> {
    (0..count).map(|i| format!("user{i:020}").into_bytes()).collect()
}

/// Returns several sets of sorted keys, each with a description.
pub(crate) fn shapes() -> Vec<(&'static str, Vec<Vec<u8>>)> {
    const KEYS: usize = 1500;
    let mut random = SplitMix64::new(1);
    let mut drawn = |draw: &dyn Fn(u64, &mut SplitMix64) -> Vec<u8>| -> Vec<Vec<u8>> {
        let keys: BTreeSet<Vec<u8>> = (0..KEYS as u64).map(|i| draw(i, &mut random)).collect();
        keys.into_iter().collect()
    };
    vec![
        ("random u64", drawn(&|_, random| random.next_u64().to_be_bytes().to_vec())),
        ("consecutive u64", drawn(&|i, _| i.to_be_bytes().to_vec())),
        ("decimal numbers", drawn(&|_, random| (random.next_u64() >> 20).to_string().into_bytes())),
        (
            "keys of \"user\" and 20 random digits",
            drawn(&|_, random| format!("user{:020}", random.next_u64()).into_bytes()),
        ),
        ("keys of random bytes of any length", drawn(&|_, random| bytes(random, 40, |byte| byte))),
        ("keys of only the letters a and b", drawn(&|_, random| bytes(random, 24, |byte| b'a' + byte % 2))),
        (
            "keys of only the bytes 0x00 and 0xff",
            drawn(&|_, random| bytes(random, 20, |byte| 0u8.wrapping_sub(byte % 2))),
        ),
        ("0 to 39 zero bytes", (0..40).map(|len| vec![0; len]).collect()),
        ("0 to 39 bytes 0xff", (0..40).map(|len| vec![0xff; len]).collect()),
        (
            "keys with a common prefix of 300 bytes",
            drawn(&|_, random| [vec![b'p'; 300], random.next_u64().to_be_bytes().to_vec()].concat()),
        ),
        (
            "some keys of 5000 bytes",
            drawn(&|i, random| bytes(random, if i % 50 == 0 { 5000 } else { 12 }, |byte| byte % 4)),
        ),
        (
            "equal 8-byte prefixes",
            drawn(&|i, random| {
                [b"samehead".to_vec(), vec![b'0' + (i % 3) as u8], bytes(random, 4, |b| b)].concat()
            }),
        ),
        ("one key", vec![b"alone".to_vec()]),
        ("only the empty key", vec![Vec::new()]),
    ]
}

/// Returns random bytes with a random length of up to `longest` bytes. The function `byte` maps each random byte to a
/// byte of the result.
fn bytes(random: &mut SplitMix64, longest: u64, byte: impl Fn(u8) -> u8) -> Vec<u8> {
    let length = random.next_u64() % (longest + 1);
    (0..length).map(|_| byte(random.next_u64() as u8)).collect()
}
