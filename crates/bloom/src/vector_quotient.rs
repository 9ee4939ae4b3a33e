//! The vector quotient filter. Each cache line has small buckets of fingerprints, and a key can be in one of two
//! cache lines.
//!
//! A block of 64 bytes has slots for fingerprints in the order of their buckets, and a bit string that delimits the
//! buckets. The bit string has a `0` bit per fingerprint, and a `1` bit after each bucket. The filter inserts a key
//! into the emptier of two blocks, so all blocks have similar numbers of keys. With 8-bit fingerprints, blocks do not
//! overflow until 93 % of all slots are filled (90 % with 16-bit fingerprints). Unlike in a [`cuckoo`](crate::cuckoo)
//! filter, no fingerprint moves between blocks. Unlike in a [`quotient`](crate::quotient) filter, all fingerprints of a
//! bucket are in one block. An insertion or a lookup accesses at most two cache lines, however full the filter is.
//!
//! Source: Pandey, Conway, Durie, Bender, Farach-Colton, Johnson, "Vector Quotient Filters: Overcoming the Time/Space
//! Trade-Off in Filter Design" (SIGMOD 2021), section 3. A block has 80 buckets and 48 slots for 8-bit fingerprints,
//! or 36 buckets and 28 slots for 16-bit fingerprints. In this filter, the hash of the key selects the second block,
//! because the filter never moves keys after construction.
//!
//! The filter takes 64 / (slots · load) bytes per key, which is 11.5 bits with 8-bit and 20.3 bits with 16-bit
//! fingerprints. A probe makes two memory accesses, which overlap. The false-positive rate is about 2 · load · slots
//! / buckets / 2^`fingerprint_bits`.

use catalog::{Build, Variant};
use prefetch::{large, prefetch};
use serde::{Deserialize, Serialize};
use types::{Bytes, KeyHash};

use crate::corrupt::CorruptFilter;
use crate::filter::{Filter, FilterInput, FilterPolicy};
use crate::position::{mix, reduce, remix};
use crate::slots::select;
use crate::stored::Head;

pub(crate) const VARIANT: Variant<dyn FilterPolicy> = Variant::new::<VectorQuotient>(
    "vector-quotient",
    "stores a fingerprint of each key in the emptier of two cache lines; insertion stays fast in a nearly \
     full filter",
    "# Fingerprint length in bits, 8 or 16. With 16 bits, the false-positive rate is lower, but a block\n\
     # of 64 bytes has room for fewer fingerprints.\n\
     fingerprint_bits = 8\n",
);

const TAG: [u8; 4] = *b"vqfl";

/// The number of 64-bit words of a block, which is one cache line.
const WORDS: usize = 8;

/// Builds vector quotient filters, which store a fingerprint of each key in one of two cache lines.
struct VectorQuotient {
    geometry: Geometry,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    fingerprint_bits: u32,
}

impl Default for Params {
    fn default() -> Self {
        Self { fingerprint_bits: 8 }
    }
}

impl Build<dyn FilterPolicy> for VectorQuotient {
    type Params = Params;

    fn build(Params { fingerprint_bits }: Params) -> Result<Box<dyn FilterPolicy>, String> {
        let geometry = Geometry::of(fingerprint_bits)
            .ok_or_else(|| format!("fingerprint_bits is {fingerprint_bits}; it must be 8 or 16"))?;
        Ok(Box::new(Self { geometry }))
    }
}

impl FilterPolicy for VectorQuotient {
    /// Builds the filter. The stored words contain the seed, the number of fingerprints and the blocks. The field
    /// `probes` of the header is the width of a fingerprint in bits.
    fn build(&self, input: &FilterInput<'_>) -> Vec<u8> {
        let geometry = self.geometry;
        let per_block = geometry.slots as f64 * geometry.load;
        let mut blocks = (input.hashes.len() as f64 / per_block).ceil().max(1.0);
        let filled = (0..).find_map(|seed| {
            let filled = fill(geometry, input.hashes, seed, blocks as usize);
            blocks = (blocks * 1.01).ceil();
            filled.map(|filled| (seed, filled))
        });
        let (seed, contents) = filled.unwrap_or_default();
        let fingerprints: usize = contents.iter().map(Vec::len).sum();
        let words = contents.iter().flat_map(|content| geometry.block(content));
        let words: Vec<u64> = [seed, fingerprints as u64].into_iter().chain(words).collect();
        Head::new(TAG, geometry.fingerprint_bits, input.hashes).encode(words.into_iter())
    }

    fn open(&self, stored: Bytes) -> Result<Box<dyn Filter>, CorruptFilter> {
        let (head, mut words) = Head::decode(&stored, TAG)?;
        let corrupt = || {
            CorruptFilter(
                "the stored filter does not consist of a seed, a number of fingerprints and whole blocks"
                    .to_owned(),
            )
        };
        if head.probes != self.geometry.fingerprint_bits {
            return Err(CorruptFilter(format!(
                "the stored filter has fingerprints of {} bits, but the parameter fingerprint_bits is {}",
                head.probes, self.geometry.fingerprint_bits
            )));
        }
        let (Some(seed), Some(fingerprints)) = (words.next(), words.next()) else { return Err(corrupt()) };
        if words.len() == 0 || !words.len().is_multiple_of(WORDS) || fingerprints > head.keys {
            return Err(corrupt());
        }
        let words = large::collected(words);
        Ok(Box::new(VectorQuotientFilter { geometry: self.geometry, words, seed, fingerprints }))
    }
}

/// The layout of a block: its numbers of buckets and of slots for fingerprints.
#[derive(Clone, Copy)]
struct Geometry {
    fingerprint_bits: u32,
    buckets: usize,
    slots: usize,
    /// The load factor: the fraction of slots that have a fingerprint after construction. The number of blocks follows
    /// from this factor.
    load: f64,
}

/// The bucket of a key in a block, and the fingerprint of the key.
type Entry = (usize, u64);

impl Geometry {
    fn of(fingerprint_bits: u32) -> Option<Self> {
        match fingerprint_bits {
            8 => Some(Self { fingerprint_bits, buckets: 80, slots: 48, load: 0.93 }),
            16 => Some(Self { fingerprint_bits, buckets: 36, slots: 28, load: 0.90 }),
            _ => None,
        }
    }

    /// Returns the number of words at the start of a block that delimit the buckets. These words have one bit for each
    /// bucket and one bit for each slot.
    fn meta_words(self) -> usize {
        (self.buckets + self.slots) / u64::BITS as usize
    }

    /// Returns the two blocks in which a key may be, and the bucket and the fingerprint of the key.
    #[inline]
    fn places(self, hash: KeyHash, seed: u64, blocks: usize) -> ([usize; 2], Entry) {
        let mixed = mix(hash.0, seed);
        let (second, third) = (remix(mixed ^ mixed >> 32), mix(mixed, seed));
        let fingerprint = third & ((1 << self.fingerprint_bits) - 1);
        ([reduce(mixed, blocks), reduce(second, blocks)], (reduce(third, self.buckets), fingerprint))
    }

    /// Returns the words of a block that contains the fingerprints `entries`, which are sorted.
    fn block(self, entries: &[Entry]) -> [u64; WORDS] {
        let mut words = [0; WORDS];
        let mut ended = 0;
        for bucket in 0..self.buckets {
            ended += entries[ended..].iter().take_while(|entry| entry.0 == bucket).count();
            let end = ended + bucket;
            words[end / 64] |= 1 << (end % 64);
        }
        for (slot, (_, fingerprint)) in entries.iter().enumerate() {
            let bit = slot * self.fingerprint_bits as usize;
            words[self.meta_words() + bit / 64] |= fingerprint << (bit % 64);
        }
        words
    }

    /// Returns whether a block contains the fingerprint of an entry in the bucket of the entry.
    #[inline]
    fn has(self, block: &[u64], (bucket, fingerprint): Entry) -> bool {
        let begin = if bucket == 0 { 0 } else { self.end_of(block, bucket - 1) };
        let slots = begin..self.end_of(block, bucket).min(self.slots);
        let mask = (1 << self.fingerprint_bits) - 1;
        slots.into_iter().any(|slot| {
            let bit = slot * self.fingerprint_bits as usize;
            block[self.meta_words() + bit / 64] >> (bit % 64) & mask == fingerprint
        })
    }

    /// Returns the slot at which a bucket of a block ends. The result is the number of `0` bits before the `1` bit that
    /// ends the bucket.
    #[inline]
    fn end_of(self, block: &[u64], bucket: usize) -> usize {
        let (mut left, mut before) = (bucket as u32, 0);
        for word in &block[..self.meta_words()] {
            let ones = word.count_ones();
            if left < ones {
                return (before + select(*word, left) as usize).saturating_sub(bucket);
            }
            left -= ones;
            before += 64;
        }
        // Only a corrupt block has too few one bits.
        self.slots
    }
}

/// Distributes the fingerprints of all keys to blocks. Returns `None` if both blocks of a key are full. The caller then
/// tries more blocks or another seed.
fn fill(geometry: Geometry, hashes: &[KeyHash], seed: u64, blocks: usize) -> Option<Vec<Vec<Entry>>> {
    let mut contents: Vec<Vec<Entry>> = vec![Vec::with_capacity(geometry.slots); blocks];
    for hash in hashes {
        let ([one, other], entry) = geometry.places(*hash, seed, blocks);
        let searched = [one, other].map(|block| contents[block].binary_search(&entry));
        // If one of the two blocks already has an equal entry, the key needs no further entry.
        let [Err(at_one), Err(at_other)] = searched else { continue };
        let (block, at) = match contents[other].len() < contents[one].len() {
            true => (other, at_other),
            false => (one, at_one),
        };
        if contents[block].len() == geometry.slots {
            return None;
        }
        contents[block].insert(at, entry);
    }
    Some(contents)
}

/// A vector quotient filter in memory. Each key has a fingerprint in one of two blocks.
struct VectorQuotientFilter {
    geometry: Geometry,
    /// The words of all blocks of the filter.
    words: Vec<u64>,
    seed: u64,
    fingerprints: u64,
}

impl VectorQuotientFilter {
    fn blocks(&self) -> usize {
        self.words.len() / WORDS
    }
}

impl Filter for VectorQuotientFilter {
    #[inline]
    fn may_contain(&self, hash: KeyHash) -> bool {
        let (blocks, entry) = self.geometry.places(hash, self.seed, self.blocks());
        blocks.into_iter().any(|block| self.geometry.has(&self.words[block * WORDS..][..WORDS], entry))
    }

    fn prefetch(&self, hash: KeyHash) {
        let (blocks, _) = self.geometry.places(hash, self.seed, self.blocks());
        blocks.into_iter().for_each(|block| prefetch(&self.words, block * WORDS));
    }

    /// Returns the false-positive rate: the probability that one of the two blocks of an absent key contains its
    /// fingerprint in its bucket. The two blocks of a key are equal with probability 1 / blocks.
    fn expected_fpr(&self) -> f64 {
        let blocks = self.blocks() as f64;
        let entries =
            blocks * self.geometry.buckets as f64 * 2f64.powf(self.geometry.fingerprint_bits.into());
        let one = (self.fingerprints as f64 / entries).min(1.0);
        let two = 1.0 - (1.0 - one).powi(2);
        one / blocks + two * (1.0 - 1.0 / blocks)
    }

    fn memory_bytes(&self) -> usize {
        size_of_val(&*self.words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_has_what_was_put_into_it() {
        for bits in [8, 16] {
            let geometry = Geometry::of(bits).unwrap();
            for count in [0, 1, 7, geometry.slots] {
                let entry = |i: usize| {
                    (mix(i as u64, 3) as usize % geometry.buckets, mix(i as u64, 4) & ((1 << bits) - 1))
                };
                let mut entries: Vec<Entry> = (0..count).map(entry).collect();
                entries.sort_unstable();
                let block = geometry.block(&entries);
                assert!(entries.iter().all(|entry| geometry.has(&block, *entry)));
                let others = (100..5000).map(entry).filter(|other| !entries.contains(other));
                assert!(others.into_iter().all(|other| !geometry.has(&block, other)), "{bits} bits, {count}");
            }
        }
    }

    /// Tests the claim of the authors that all keys fit at the configured load, because each key can be in two
    /// blocks.
    #[test]
    fn blocks_fill_to_their_load_at_the_first_attempt() {
        let hashes: Vec<KeyHash> = (0..200_000).map(|i| KeyHash(mix(i, 2))).collect();
        for bits in [8, 16] {
            let geometry = Geometry::of(bits).unwrap();
            let blocks = (hashes.len() as f64 / (geometry.slots as f64 * geometry.load)).ceil() as usize;
            assert!(fill(geometry, &hashes, 0, blocks).is_some(), "{bits} bits");
            let one_choice = hashes.iter().fold(vec![0; blocks], |mut loads, hash| {
                loads[geometry.places(*hash, 0, blocks).0[0]] += 1;
                loads
            });
            assert!(one_choice.iter().any(|load| *load > geometry.slots));
        }
    }
}
