//! `SuRF`, a range filter that is a trie of the shortest prefixes that distinguish the keys. The trie takes only
//! slightly more memory than the information-theoretic minimum.
//!
//! The trie stores the shortest prefix of each key that no other key has. The filter therefore works for strings of
//! any kind and for ranges of any length. A suffix of `suffix_bits` bits follows each stored prefix. An absent key
//! with a stored prefix is a false positive if its suffix is equal too. A suffix consists of the next bits of the key
//! (`real`) or of bits of the hash (`hash`). Bits of the key improve lookups and ranges, while bits of the hash
//! improve only lookups.
//!
//! The nodes of the trie are stored in level order, as a list of labels. A label is a byte of a key or the end of a
//! key, so it takes nine bits. A first bit vector marks the labels that have a child node. A second bit vector marks
//! the first label of each node. The child of label i is node number c + 1, where c is the number of earlier labels
//! with children. The n-th one bit of the second bit vector marks the start of node n. The operations rank and select
//! of `rank.rs` find the child of a label and the start of a node. Bytes that all keys share are stored once.
//!
//! Source: Zhang, Lim, Leis, Andersen, Kaminsky, Keeton, Pavlo, "`SuRF`: Practical Range Query Filtering with Fast
//! Succinct Tries" (SIGMOD 2018), sections 2 and 3. All levels have the sparse encoding of the paper (LOUDS-Sparse).
//! The paper also has a dense encoding for the top levels, which is faster but not smaller.
//!
//! The filter takes 11.7 bits per label, and `suffix_bits` bits per key. Random keys have about 1.2 labels per key. A
//! lookup makes about four memory accesses per level.

mod trie;

use std::ops::Bound;

use catalog::{Build, Variant};
use serde::{Deserialize, Serialize};
use types::{Bytes, HashedKey, KeyHash};

use crate::batch::one_by_one;
use crate::corrupt::CorruptFilter;
use crate::filter::{Filter, FilterInput, FilterPolicy};
use crate::no_keys::NoKeys;
use crate::packed::Packed;
use crate::rank::RankedBits;
use crate::stored::Head;
use crate::surf::trie::{END, MOST_SUFFIX_BITS, Suffix, Trie, hash_bits, label, real_bits};
use crate::universe::{decode_bytes, encode_bytes};

pub(crate) const VARIANT: Variant<dyn FilterPolicy> = Variant::new::<Surf>(
    "surf",
    "a trie of the shortest distinct key prefixes; answers ranges of any length over keys of any kind",
    "# Number of bits that the filter stores for each key after its prefix, 0 to 16. More bits lower the\n\
     # false-positive rate.\n\
     suffix_bits = 8\n\
     # Source of the suffix bits. \"real\" takes the next bits of the key, which help lookups and scans.\n\
     # \"hash\" takes bits of the key's hash, which help only lookups.\n\
     suffix = \"real\"\n",
);

/// The number of bits of a label. A label is one of the 256 byte values or the end of a key.
const LABEL_BITS: u32 = 9;

/// Builds `SuRF` filters, which are tries of the shortest distinct prefixes of the keys.
struct Surf {
    suffix_bits: u32,
    suffix: Suffix,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    suffix_bits: u32,
    suffix: Suffix,
}

impl Default for Params {
    fn default() -> Self {
        Self { suffix_bits: 8, suffix: Suffix::Real }
    }
}

impl Build<dyn FilterPolicy> for Surf {
    type Params = Params;

    fn build(Params { suffix_bits, suffix }: Params) -> Result<Box<dyn FilterPolicy>, String> {
        if suffix_bits > MOST_SUFFIX_BITS {
            return Err(format!("suffix_bits is {suffix_bits}; it must be from 0 to {MOST_SUFFIX_BITS}"));
        }
        Ok(Box::new(Self { suffix_bits, suffix }))
    }
}

impl FilterPolicy for Surf {
    /// Builds the filter. The stored words contain the false-positive rate, the number of labels, the shared prefix,
    /// both bit vectors, the labels and the suffixes. The field `probes` of the header is the number of suffix bits.
    fn build(&self, input: &FilterInput<'_>) -> Vec<u8> {
        let keys = input.needed_keys();
        if keys.is_empty() {
            return Head::new(self.tag(), 0, &[]).encode([0; 0].into_iter());
        }
        let trie = Trie::of(keys, input.hashes, self.suffix, self.suffix_bits);
        let mut words = vec![trie.rate.to_bits(), trie.labels.len() as u64];
        encode_bytes(trie.prefix, &mut words);
        words.extend(bits(&trie.children));
        words.extend(bits(&trie.begins));
        words.extend(packed(&trie.labels, LABEL_BITS).to_words());
        if self.suffix_bits > 0 {
            words.extend(packed(&trie.suffixes, self.suffix_bits).to_words());
        }
        Head::new(self.tag(), self.suffix_bits, input.hashes).encode(words.into_iter())
    }

    fn open(&self, stored: Bytes) -> Result<Box<dyn Filter>, CorruptFilter> {
        let (head, mut words) = Head::decode(&stored, self.tag())?;
        if head.keys == 0 && words.len() == 0 {
            return Ok(Box::new(NoKeys));
        }
        let corrupt = || {
            CorruptFilter(
                "the prefix, the bit vectors, the labels or the suffixes of the stored trie are incomplete, \
                 or do not match the header"
                    .to_owned(),
            )
        };
        if head.probes > MOST_SUFFIX_BITS {
            return Err(corrupt());
        }
        let filter = SurfFilter::decode(&mut words, self.suffix, head.probes).ok_or_else(corrupt)?;
        if words.len() > 0 {
            return Err(corrupt());
        }
        Ok(Box::new(filter))
    }

    fn needs_keys(&self) -> bool {
        true
    }

    fn assumes_similar_keys(&self) -> bool {
        true
    }
}

impl Surf {
    fn tag(&self) -> [u8; 4] {
        match self.suffix {
            Suffix::Real => *b"srfr",
            Suffix::Hash => *b"srfh",
        }
    }
}

/// Packs a bit vector into 64-bit words.
fn bits(bits: &[bool]) -> impl Iterator<Item = u64> {
    bits.chunks(64).map(|chunk| chunk.iter().rev().fold(0, |word, bit| word << 1 | u64::from(*bit)))
}

fn packed(values: &[u64], width: u32) -> Packed {
    let mut packed = Packed::zeros(values.len(), width);
    values.iter().enumerate().for_each(|(index, value)| packed.set(index, *value));
    packed
}

/// A `SuRF` filter in memory: a trie of key prefixes.
struct SurfFilter {
    prefix: Vec<u8>,
    labels: Packed,
    len: usize,
    children: RankedBits,
    begins: RankedBits,
    suffixes: Option<Packed>,
    suffix: Suffix,
    suffix_bits: u32,
    rate: f64,
}

/// A bound of a range during a search of the trie. `None` means that every key below the current node satisfies the
/// bound. Otherwise, the bound begins with the bytes on the path to the current node, so the search must compare
/// further bytes.
type Tight<'a> = Option<&'a [u8]>;

impl SurfFilter {
    /// Decodes a `SuRF` filter from its stored words. Returns `None` if the words are corrupt.
    fn decode(
        words: &mut impl ExactSizeIterator<Item = u64>,
        suffix: Suffix,
        suffix_bits: u32,
    ) -> Option<Self> {
        let (rate, len) = (f64::from_bits(words.next()?), words.next()?);
        let prefix = decode_bytes(words)?;
        if !(0.0..=1.0).contains(&rate) || len == 0 || len > u32::MAX.into() {
            return None;
        }
        let mut take = |count: u64| -> Option<Vec<u64>> {
            (count <= words.len() as u64).then(|| words.take(count as usize).collect())
        };
        let children = RankedBits::new(take(len.div_ceil(64))?.into_iter());
        let begins = RankedBits::new(take(len.div_ceil(64))?.into_iter());
        let labels =
            Packed::from_words(take(Packed::checked_words(len, LABEL_BITS)?)?.into_iter(), LABEL_BITS);
        let leaves = len.checked_sub(children.ones() as u64)?;
        let suffixes = match suffix_bits {
            0 => None,
            bits => Some(Packed::from_words(take(Packed::checked_words(leaves, bits)?)?.into_iter(), bits)),
        };
        Some(Self {
            prefix,
            labels,
            len: len as usize,
            children,
            begins,
            suffixes,
            suffix,
            suffix_bits,
            rate,
        })
    }

    /// Returns the index of the first label of a node and the index after its last label. If the filter is corrupt and
    /// has no such node, both indices are equal.
    fn node(&self, node: usize) -> (usize, usize) {
        let begin = self.begins.select(node).unwrap_or(self.len).min(self.len);
        (begin, self.begins.select(node + 1).unwrap_or(self.len).min(self.len))
    }

    /// Returns the index of the first label of a node that is at least `label`. Returns the end of the node if it has
    /// no such label.
    fn search(&self, (mut begin, mut end): (usize, usize), label: u64) -> usize {
        while begin < end {
            let middle = begin + (end - begin) / 2;
            if self.labels.get(middle) < label { begin = middle + 1 } else { end = middle }
        }
        begin
    }

    /// Returns the child node of the label with the index `at`. Returns `None` if the label is a leaf.
    fn child(&self, at: usize) -> Option<usize> {
        self.children.get(at).then(|| self.children.rank(at) + 1)
    }

    /// Returns the suffix bits of the leaf with the label index `at`.
    fn suffix(&self, at: usize) -> u64 {
        self.suffixes.as_ref().map_or(0, |suffixes| suffixes.get(at - self.children.rank(at)))
    }

    /// Whether the suffix bits of a leaf equal those of the key. The path to the suffix consists of the first `depth`
    /// bytes of the key.
    fn fits(&self, at: usize, key: HashedKey<'_>, depth: usize) -> bool {
        let stored = self.suffix(at);
        match self.suffix {
            Suffix::Hash => stored == hash_bits(key.hash, self.suffix_bits),
            // If the label is the end of a key, the trie has all bytes of this key.
            Suffix::Real if self.labels.get(at) == END => true,
            Suffix::Real => stored == real_bits(key.bytes, depth, self.suffix_bits),
        }
    }

    /// Whether a stored key below a node may be between two bounds. The path to the node has `depth` bytes.
    fn has_between(&self, node: usize, depth: usize, low: Tight<'_>, high: Tight<'_>) -> bool {
        let labels = self.node(node);
        let from = low.map(|low| label(low, depth));
        let to = high.map(|high| label(high, depth));
        let mut at = from.map_or(labels.0, |from| self.search(labels, from));
        while at < labels.1 {
            let label = self.labels.get(at);
            if to.is_some_and(|to| label > to) {
                return false;
            }
            let low = low.filter(|_| from == Some(label));
            let high = high.filter(|_| to == Some(label));
            let found = match self.child(at) {
                // If both bounds are `None`, all keys below the child are between the bounds, and the result is true.
                // Otherwise, the search continues at the child. The last two conditions are false only in a corrupt
                // filter.
                Some(child) if (low.is_some() || high.is_some()) && child > node && label != END => {
                    self.has_between(child, depth + 1, low, high)
                }
                Some(_) => true,
                None => self.leaf_is_between(at, depth + 1, low, high),
            };
            if found {
                return true;
            }
            at += 1;
        }
        false
    }

    /// Whether the key of a leaf may be between two bounds, according to the suffix bits of the leaf.
    fn leaf_is_between(&self, at: usize, depth: usize, low: Tight<'_>, high: Tight<'_>) -> bool {
        if self.suffix == Suffix::Hash || self.labels.get(at) == END {
            return true;
        }
        let stored = self.suffix(at);
        let bits = |bound: &[u8]| real_bits(bound, depth, self.suffix_bits);
        low.is_none_or(|low| stored >= bits(low)) && high.is_none_or(|high| stored <= bits(high))
    }
}

impl Filter for SurfFilter {
    /// Always returns true, because a hash does not determine the key, and the trie needs the key.
    fn may_contain(&self, _: KeyHash) -> bool {
        true
    }

    fn may_contain_key(&self, key: HashedKey<'_>) -> bool {
        if !key.bytes.starts_with(&self.prefix) {
            return false;
        }
        let (mut node, mut depth) = (0, self.prefix.len());
        loop {
            let wanted = label(key.bytes, depth);
            let labels = self.node(node);
            let at = self.search(labels, wanted);
            if at == labels.1 || self.labels.get(at) != wanted {
                return false;
            }
            depth += 1;
            match self.child(at) {
                // Only in a corrupt filter, the child of a node does not have a larger number than the node.
                Some(child) if child <= node || wanted == END => return true,
                Some(child) => node = child,
                None => return self.fits(at, key, depth),
            }
        }
    }

    fn may_contain_keys(&self, keys: &[HashedKey<'_>], answers: &mut [bool]) {
        one_by_one(keys, answers, |key| self.may_contain_key(key));
    }

    fn answers_ranges(&self) -> bool {
        true
    }

    fn may_contain_range(&self, low: Bound<&[u8]>, high: Bound<&[u8]>) -> bool {
        let bytes = |bound| match bound {
            Bound::Included(key) | Bound::Excluded(key) => Some(key),
            Bound::Unbounded => None,
        };
        // A bound without the shared prefix is below or above all keys.
        let (low, high): (Tight<'_>, Tight<'_>) = (bytes(low), bytes(high));
        let is_tight = |bound: &&[u8]| bound.starts_with(&self.prefix);
        if low.is_some_and(|low| !is_tight(&low) && *low > *self.prefix)
            || high.is_some_and(|high| !is_tight(&high) && *high < *self.prefix)
        {
            return false;
        }
        self.has_between(0, self.prefix.len(), low.filter(is_tight), high.filter(is_tight))
    }

    /// Returns the false-positive rate of point lookups. The rate assumes that looked-up keys have the shared prefix
    /// of all keys, and random bytes after this prefix.
    fn expected_fpr(&self) -> f64 {
        self.rate
    }

    fn memory_bytes(&self) -> usize {
        let suffixes = self.suffixes.as_ref().map_or(0, Packed::memory_bytes);
        let bits = self.children.memory_bytes() + self.begins.memory_bytes();
        self.prefix.len() + self.labels.memory_bytes() + bits + suffixes
    }
}

#[cfg(test)]
mod tests {
    use std::ops::RangeBounds;

    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;
    use types::KeyList;

    use super::*;
    use crate::position::mix;

    fn filter(params: Params, keys: &KeyList) -> Box<dyn Filter> {
        let policy = <Surf as Build<_>>::build(params).ok().unwrap();
        let hashes: Vec<KeyHash> = (0..keys.len()).map(|i| KeyHash(mix(i as u64, 5))).collect();
        let stored = policy.build(&FilterInput { hashes: &hashes, bits_per_key: None, keys: Some(keys) });
        policy.open(Bytes::copy_from(&stored)).unwrap()
    }

    fn has(filter: &dyn Filter, low: &str, high: &str) -> bool {
        filter.may_contain_range(Bound::Included(low.as_bytes()), Bound::Included(high.as_bytes()))
    }

    /// Tests the example in a figure of the paper. The trie stores prefixes of a few words, so absent words with
    /// these prefixes are false positives.
    #[test]
    fn prefixes_end_where_keys_are_told_apart() {
        let keys: KeyList = ["SIGAI", "SIGMOD", "SIGOPS", "SIGMODX"].map(str::as_bytes).into_iter().collect();
        let mut sorted: Vec<&[u8]> = keys.iter().collect();
        sorted.sort_unstable();
        let keys: KeyList = sorted.into_iter().collect();
        let bare = filter(Params { suffix_bits: 0, suffix: Suffix::Real }, &keys);
        let asks = |key: &str| bare.may_contain_key(HashedKey { bytes: key.as_bytes(), hash: KeyHash(0) });
        assert!(["SIGAI", "SIGMOD", "SIGMODX", "SIGOPS"].into_iter().all(asks));
        assert!(asks("SIGACT") && !asks("SIGMETRICS") && !asks("SIGM") && !asks("VLDB") && !asks("SIGMODE"));
        assert!(has(&*bare, "SIGB", "SIGMOD") && !has(&*bare, "SIGB", "SIGMO") && !has(&*bare, "SIGP", "T"));
        // A suffix of kind `real` helps lookups and ranges.
        let real = filter(Params::default(), &keys);
        assert!(!real.may_contain_key(HashedKey { bytes: b"SIGACT", hash: KeyHash(0) }));
        assert!(has(&*bare, "SIGAJ", "SIGB") && !has(&*real, "SIGAJ", "SIGB") && has(&*real, "SIGA", "SIGB"));
    }

    /// Tests the claims of the authors for random integers. The trie takes fewer than 15 bits per key, and each
    /// suffix bit lowers the false-positive rate. Without suffix bits, the false-positive rate of a range follows
    /// from the number of unique two-byte prefixes.
    #[test]
    fn random_numbers_take_few_bits() {
        let mut numbers: Vec<u64> = (0..100_000).map(|i| mix(i, 1)).collect();
        numbers.sort_unstable();
        let keys: KeyList = numbers.iter().map(|number| number.to_be_bytes()).collect();
        let [bare, real] =
            [0, 8].map(|suffix_bits| filter(Params { suffix_bits, suffix: Suffix::Real }, &keys));
        let bits = |filter: &dyn Filter| filter.memory_bytes() as f64 * 8.0 / keys.len() as f64;
        assert!(bits(&*bare) < 15.0 && bits(&*real) < 23.0, "{} {}", bits(&*bare), bits(&*real));
        let short = |filter: &dyn Filter| {
            let asks = |i: u64| {
                let low = mix(i, 2);
                let (low, high) = (low.to_be_bytes(), low.saturating_add(1 << 20).to_be_bytes());
                filter.may_contain_range(Bound::Included(&low), Bound::Included(&high))
            };
            (0..50_000).filter(|i| asks(*i)).count() as f64 / 50_000.0
        };
        let (bare, real) = (short(&*bare), short(&*real));
        let keys_per_prefix = 100_000.0 / 65_536.0f64;
        assert!((bare - keys_per_prefix * (-keys_per_prefix).exp()).abs() < 0.02, "{bare}");
        assert!(real < bare / 100.0, "{bare} {real}");
    }

    #[test]
    fn impossible_suffixes_are_refused() {
        assert!(<Surf as Build<_>>::build(Params { suffix_bits: 17, ..Params::default() }).is_err());
    }

    fn bytes() -> impl Strategy<Value = Vec<u8>> {
        proptest::collection::vec(prop_oneof![Just(0u8), Just(1), Just(b'a'), Just(0xff)], 0..6)
    }

    fn bound() -> impl Strategy<Value = Bound<Vec<u8>>> {
        prop_oneof![
            Just(Bound::Unbounded),
            bytes().prop_map(Bound::Included),
            bytes().prop_map(Bound::Excluded)
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            cases: 5_000,
            rng_seed: RngSeed::Fixed(42),
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        /// Tests that no range with a key is reported empty, for any strings and suffixes.
        #[test]
        fn no_key_between_bounds_is_lost(
            keys in proptest::collection::btree_set(bytes(), 1..20), low in bound(), high in bound(),
            suffix_bits in 0u32..17, is_real in any::<bool>(),
        ) {
            let list: KeyList = keys.iter().collect();
            let suffix = if is_real { Suffix::Real } else { Suffix::Hash };
            let filter = filter(Params { suffix_bits, suffix }, &list);
            for (index, key) in keys.iter().enumerate() {
                let hash = KeyHash(mix(index as u64, 5));
                prop_assert!(filter.may_contain_key(HashedKey { bytes: key, hash }), "{key:?}");
            }
            let bounds = (low.as_ref().map(Vec::as_slice), high.as_ref().map(Vec::as_slice));
            let inside = keys.iter().any(|key| RangeBounds::<[u8]>::contains(&bounds, key.as_slice()));
            prop_assert!(!inside || filter.may_contain_range(bounds.0, bounds.1), "{bounds:?}");
        }
    }
}
