//! Builds the trie of a `SuRF` filter in level order, from the shortest prefixes that distinguish the keys.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use types::{KeyHash, KeyList, common_prefix};

/// The largest number of suffix bits that the trie stores after the prefix of a key.
pub(super) const MOST_SUFFIX_BITS: u32 = 16;

/// The label for the end of a key. The label of a byte of a key is its value plus one.
pub(super) const END: u64 = 0;

/// The source of the suffix: bits that the trie stores after the prefix of a key, to reject more absent keys.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Suffix {
    /// The suffix consists of the bits of the key after the stored prefix.
    Real,
    /// The suffix consists of bits of the hash of the key.
    Hash,
}

/// Returns the label of a key at a depth of the trie: the value of the key's byte with the index `depth`, plus one.
/// Returns [`END`] if the key has no such byte.
pub(super) fn label(key: &[u8], depth: usize) -> u64 {
    key.get(depth).map_or(END, |byte| u64::from(*byte) + 1)
}

/// Returns the `bits` bits of a key after its first `depth` bytes. Missing bits at the end of the key count as zeros.
pub(super) fn real_bits(key: &[u8], depth: usize, bits: u32) -> u64 {
    let byte = |at: usize| u64::from(key.get(at).copied().unwrap_or(0));
    (byte(depth) << 8 | byte(depth + 1)) >> (MOST_SUFFIX_BITS - bits)
}

/// Returns the first `bits` bits of a hash.
pub(super) fn hash_bits(hash: KeyHash, bits: u32) -> u64 {
    if bits == 0 { 0 } else { hash.0 >> (u64::BITS - bits) }
}

/// A trie of key prefixes under construction. The labels are in level order.
#[derive(Default)]
pub(super) struct Trie<'a> {
    /// The bytes with which all keys begin. The trie does not store them.
    pub(super) prefix: &'a [u8],
    pub(super) labels: Vec<u64>,
    /// For each label of the trie, whether the label has a child node.
    pub(super) children: Vec<bool>,
    /// For each label of the trie, whether it is the first label of a node.
    pub(super) begins: Vec<bool>,
    /// The suffix bits of the keys, for each label without a child node.
    pub(super) suffixes: Vec<u64>,
    /// The probability that the filter reports a random key present. The random key consists of the shared prefix and
    /// random bytes.
    pub(super) rate: f64,
}

impl<'a> Trie<'a> {
    /// Creates the trie of `keys`, which are sorted and not empty.
    pub(super) fn of(keys: &'a KeyList, hashes: &[KeyHash], suffix: Suffix, suffix_bits: u32) -> Self {
        let (first, last) = (keys.key(0), keys.key(keys.len() - 1));
        // A single key has no shared prefix, because otherwise no byte of the key would remain for the trie.
        let shared = if first == last { 0 } else { common_prefix(first, last) };
        let mut trie = Self { prefix: &first[..shared], ..Self::default() };
        let mut nodes = VecDeque::from([(0, keys.len(), shared)]);
        while let Some((begin, end, depth)) = nodes.pop_front() {
            let mut at = begin;
            while at < end {
                let label = label(keys.key(at), depth);
                let same = (at..end).take_while(|key| self::label(keys.key(*key), depth) == label).count();
                // Equal keys share one leaf.
                let is_leaf = label == END || keys.key(at) == keys.key(at + same - 1);
                trie.begins.push(at == begin);
                trie.labels.push(label);
                trie.children.push(!is_leaf);
                if is_leaf {
                    trie.suffixes.push(match suffix {
                        Suffix::Real if label == END => 0,
                        Suffix::Real => real_bits(keys.key(at), depth + 1, suffix_bits),
                        Suffix::Hash => hash_bits(hashes[at], suffix_bits),
                    });
                    let distinct = i32::try_from(depth + 1 - shared).unwrap_or(i32::MAX >> 4);
                    let bits = 8 * distinct + suffix_bits.cast_signed();
                    trie.rate += if label == END { 0.0 } else { 0.5f64.powi(bits) };
                } else {
                    nodes.push_back((at, at + same, depth + 1));
                }
                at += same;
            }
        }
        trie
    }
}
