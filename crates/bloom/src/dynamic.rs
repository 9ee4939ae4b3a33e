//! The dynamic Bloom filter: a list of standard filters (parts). Each part is larger and more accurate than the
//! previous part. All parts together keep a target false-positive rate for any number of keys.
//!
//! The number of keys need not be known in advance. However, a probe may test every part, and the last part can have
//! unused space. The rates of the parts form a geometric progression, so the sum of the rates never exceeds the
//! target. Sources: the document cs265, section 3.3.2, for a list of filters that grows when a target rate is
//! exceeded; Almeida, Baquero, Preguiça & Hutchison, "Scalable Bloom filters" (2007), for the sizes and rates of the
//! parts.
//!
//! The filter takes 1.8 to 3.5 bytes per key for a rate of 1 % and a growth factor of 2. A probe of an absent key
//! makes about two memory accesses per part. The number of parts grows with the logarithm of the number of keys.

use catalog::{Build, Variant};
use serde::{Deserialize, Serialize};
use types::{Bytes, KeyHash};

use crate::bits::BitArray;
use crate::corrupt::CorruptFilter;
use crate::filter::{Filter, FilterInput, FilterPolicy};
use crate::stored::{Head, MAX_PROBES};
use crate::theory;

pub(crate) const VARIANT: Variant<dyn FilterPolicy> = Variant::new::<Dynamic>(
    "dynamic",
    "a list of growing Bloom filters, which keeps a target false-positive rate for any number of keys",
    "# Target false-positive rate, 1e-9 to 0.5. A lower rate takes more memory. No allocation changes\n\
     # this rate.\n\
     target_fpr = 0.01\n\
     # Capacity of the first Bloom filter in keys, 1 to 16 million.\n\
     initial_keys = 1024\n\
     # Ratio of the capacities of two successive Bloom filters, 1.1 to 16. With a larger ratio, a lookup\n\
     # tests fewer filters, but the last filter has more unused memory.\n\
     growth = 2.0\n",
);

const TAG: [u8; 4] = *b"dynb";

/// The ratio of the false-positive rates of two successive Bloom filters of the list. The first Bloom filter gets the
/// target rate minus the rates of all later Bloom filters.
const TIGHTENING: f64 = 0.5;

/// The largest valid value of `initial_keys`, the capacity of the first Bloom filter in keys. Even an SSTable with few
/// keys has a first Bloom filter of this capacity, so a large value wastes memory.
const MOST_INITIAL_KEYS: u64 = 16_000_000;

/// The largest number of Bloom filters in the list. With this many Bloom filters, the list has space for more keys than
/// any SSTable has.
const MOST_PARTS: u32 = 256;

/// Builds dynamic Bloom filters: lists of standard Bloom filters of growing size.
struct Dynamic(Params);

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    target_fpr: f64,
    initial_keys: u64,
    growth: f64,
}

impl Default for Params {
    fn default() -> Self {
        Self { target_fpr: 0.01, initial_keys: 1024, growth: 2.0 }
    }
}

impl Build<dyn FilterPolicy> for Dynamic {
    type Params = Params;

    fn build(params: Params) -> Result<Box<dyn FilterPolicy>, String> {
        let Params { target_fpr, initial_keys, growth } = params;
        if !(1e-9..=0.5).contains(&target_fpr) {
            return Err(format!("target_fpr is {target_fpr}; it must be from 1e-9 to 0.5"));
        }
        if !(1..=MOST_INITIAL_KEYS).contains(&initial_keys) {
            return Err(format!("initial_keys is {initial_keys}; it must be from 1 to 16 million"));
        }
        if !(1.1..=16.0).contains(&growth) {
            return Err(format!("growth is {growth}; it must be from 1.1 to 16"));
        }
        Ok(Box::new(Self(params)))
    }
}

impl FilterPolicy for Dynamic {
    fn build(&self, input: &FilterInput<'_>) -> Vec<u8> {
        let mut filter = DynamicFilter { parts: Vec::new() };
        let mut left = 0;
        for hash in input.hashes {
            if left == 0 {
                let (part, keys) = self.part(filter.parts.len());
                filter.parts.push(part);
                left = keys;
            }
            let part = filter
                .parts
                .last_mut()
                .expect("a dynamic Bloom filter must have at least one Bloom filter in its list");
            part.bits.add(*hash, part.probes);
            part.keys += 1;
            left -= 1;
        }
        filter.encode(input)
    }

    fn open(&self, stored: Bytes) -> Result<Box<dyn Filter>, CorruptFilter> {
        Ok(Box::new(DynamicFilter::decode(&stored)?))
    }
}

impl Dynamic {
    /// Creates the empty Bloom filter with the index `index` in the list. Also returns its capacity in keys.
    fn part(&self, index: usize) -> (Part, u64) {
        let Params { target_fpr, initial_keys, growth } = self.0;
        let keys = (initial_keys as f64 * growth.powf(index as f64)).ceil();
        let rate = target_fpr * (1.0 - TIGHTENING) * TIGHTENING.powf(index as f64);
        let probes = (-rate.log2()).ceil().clamp(1.0, MAX_PROBES.into());
        // The number of bits at which `keys` keys and `probes` probes give the rate `rate`.
        let bits = -probes * keys / (-rate.powf(1.0 / probes)).ln_1p();
        let words = (bits / 64.0).ceil() as usize;
        (Part { bits: BitArray::zeros(words), probes: probes as u32, keys: 0 }, keys as u64)
    }
}

/// One of the standard Bloom filters in the list of a dynamic Bloom filter.
struct Part {
    bits: BitArray,
    probes: u32,
    keys: u64,
}

/// A dynamic Bloom filter in memory: a list of growing standard Bloom filters.
struct DynamicFilter {
    parts: Vec<Part>,
}

impl DynamicFilter {
    /// Encodes the filter: the numbers of words, probes and keys of each Bloom filter in the list, and then the bit
    /// arrays of all Bloom filters. The header field `probes` is the number of Bloom filters.
    fn encode(&self, input: &FilterInput<'_>) -> Vec<u8> {
        let heads =
            self.parts.iter().flat_map(|part| [part.bits.len() as u64 / 64, part.probes.into(), part.keys]);
        let bodies = self.parts.iter().flat_map(|part| part.bits.words());
        let words: Vec<u64> = heads.chain(bodies).collect();
        Head::new(TAG, self.parts.len() as u32, input.hashes).encode(words.into_iter())
    }

    fn decode(stored: &[u8]) -> Result<Self, CorruptFilter> {
        let (head, mut words) = Head::decode(stored, TAG)?;
        if head.probes > MOST_PARTS || words.len() < 3 * head.probes as usize {
            return Err(CorruptFilter(format!(
                "the header of the stored filter states {} Bloom filters, which do not fit into the {} \
                 stored words",
                head.probes,
                words.len()
            )));
        }
        let mut next = || {
            words.next().expect("the stored filter must have three words for each Bloom filter of its list")
        };
        let heads: Vec<[u64; 3]> = (0..head.probes).map(|_| [next(), next(), next()]).collect();
        let mut parts = Vec::with_capacity(heads.len());
        for [len, probes, keys] in heads {
            if len == 0 || len > words.len() as u64 || !(1..=u64::from(MAX_PROBES)).contains(&probes) {
                return Err(CorruptFilter(format!(
                    "the stored filter has a Bloom filter with {len} words and {probes} probes per key; the \
                     words must be from 1 to the number of stored words, and the probes from 1 to \
                     {MAX_PROBES}"
                )));
            }
            let body: Vec<u64> = words.by_ref().take(len as usize).collect();
            parts.push(Part { bits: BitArray::from_words(body.into_iter()), probes: probes as u32, keys });
        }
        match words.len() {
            0 => Ok(Self { parts }),
            left => Err(CorruptFilter(format!(
                "the stored filter has {left} unexpected words after its last Bloom filter"
            ))),
        }
    }
}

impl Filter for DynamicFilter {
    /// Tests the last Bloom filter of the list first, because it has the most keys.
    fn may_contain(&self, hash: KeyHash) -> bool {
        self.parts.iter().rev().any(|part| part.bits.may_contain(hash, part.probes))
    }

    /// Prefetches memory of the last Bloom filter of the list only, because it has the most keys.
    fn prefetch(&self, hash: KeyHash) {
        if let Some(part) = self.parts.last() {
            part.bits.prefetch(hash);
        }
    }

    fn expected_fpr(&self) -> f64 {
        let rate = |part: &Part| theory::standard(part.bits.len() as u64, part.keys, part.probes);
        1.0 - self.parts.iter().map(|part| 1.0 - rate(part)).product::<f64>()
    }

    fn memory_bytes(&self) -> usize {
        self.parts.iter().map(|part| part.bits.memory_bytes()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::position::mix;

    #[test]
    fn the_target_is_held_at_every_size() {
        for growth in [1.5, 2.0, 4.0] {
            let policy = Dynamic(Params { growth, initial_keys: 100, ..Params::default() });
            for keys in [1, 99, 100, 101, 5000, 60_000] {
                let hashes: Vec<KeyHash> = (0..keys).map(|i| KeyHash(mix(i, 3))).collect();
                let stored = policy.build(&FilterInput { hashes: &hashes, bits_per_key: None, keys: None });
                let filter = DynamicFilter::decode(&stored).unwrap();
                assert!(filter.expected_fpr() <= 0.01, "{growth} {keys}: {}", filter.expected_fpr());
                let parts = (1.0 + (keys - 1) as f64 / 100.0 * (growth - 1.0)).log(growth).floor() + 1.0;
                assert!((filter.parts.len() as f64 - parts).abs() <= 1.0);
            }
        }
    }

    #[test]
    fn impossible_targets_are_refused() {
        for target_fpr in [0.0, 0.6, f64::NAN] {
            assert!(<Dynamic as Build<_>>::build(Params { target_fpr, ..Params::default() }).is_err());
        }
        assert!(<Dynamic as Build<_>>::build(Params { growth: 1.0, ..Params::default() }).is_err());
        assert!(<Dynamic as Build<_>>::build(Params { initial_keys: 0, ..Params::default() }).is_err());
    }
}
