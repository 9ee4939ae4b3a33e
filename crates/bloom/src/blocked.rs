//! The blocked Bloom filter. All bits of a key are in one cache line of 512 bits.
//!
//! A lookup costs one cache miss, however many bits it tests. The false-positive rate is slightly above the rate of a
//! standard filter, because some cache lines have more keys than others. Source: Putze, Sanders & Singler, "Cache-,
//! hash- and space-efficient Bloom filters" (2007). The filters of `RocksDB` since version 6.6 (`FastLocalBloom`)
//! have the same layout. The high bits of the hash select the cache line. To select the bits, the low half of the
//! hash is multiplied by several odd numbers. The nine high bits of each product select one bit.

use catalog::{Build, Variant};
use types::{Bytes, KeyHash};

use crate::batch::in_groups;
use crate::corrupt::CorruptFilter;
use crate::filter::{Filter, FilterInput, FilterPolicy};
use crate::position::reduce;
use crate::probed::{Params, Probed};
use crate::processor::Portable;
#[cfg(target_arch = "x86_64")]
use crate::processor::{Avx2, Avx512};
use crate::stored::{Head, MAX_PROBES};
use crate::theory;
use prefetch::large;
use prefetch::prefetch;

pub(crate) const VARIANT: Variant<dyn FilterPolicy> = Variant::new::<Blocked>(
    "blocked",
    "sets all bits of a key in one cache line; one cache miss per lookup, more false positives than \
     \"standard\"",
    "# Memory in bits per key, 0.001 to 64. More bits lower the false-positive rate.\n\
     bits_per_key = 10\n\
     # Number of bits that each key sets in its cache line, 1 to 64. 0 selects the number of bits with\n\
     # the lowest false-positive rate for lines of 512 bits.\n\
     probes = 0\n",
);

const TAG: [u8; 4] = *b"blm2";
const LINE_BITS: u64 = 512;
const LINE_WORDS: usize = 8;

/// The odd multipliers that derive further hashes from one hash. Derived hash i is the low half of the hash times
/// multiplier i, which is the i-th power of `0x93d7_65dd`.
const POWERS: Powers = Powers::of(0x93d7_65dd);

/// Builds Bloom filters in which all bits of a key are in one cache line.
struct Blocked(Probed);

impl Build<dyn FilterPolicy> for Blocked {
    type Params = Params;

    fn build(params: Params) -> Result<Box<dyn FilterPolicy>, String> {
        Ok(Box::new(Self(Probed::from_params(&params, MAX_PROBES)?)))
    }
}

impl FilterPolicy for Blocked {
    fn build(&self, input: &FilterInput<'_>) -> Vec<u8> {
        let probes = self.0.probes(input, best_probes);
        let mut lines: Vec<Line> = large::zeros(self.0.budget.units(input, LINE_BITS));
        let count = lines.len();
        for hash in input.hashes {
            lines[reduce(hash.0, count)].add(*hash, probes);
        }
        let words = (0..count * LINE_WORDS).map(|word| lines[word / LINE_WORDS].0[word % LINE_WORDS]);
        Head::new(TAG, probes, input.hashes).encode(words)
    }

    fn open(&self, stored: Bytes) -> Result<Box<dyn Filter>, CorruptFilter> {
        let (head, mut words) = Head::decode_probed(&stored, TAG, LINE_WORDS)?;
        // The stored bytes are copied, because each `Line` must be aligned to a cache line and the stored bytes are
        // not aligned.
        let mut lines: Vec<Line> = large::zeros(words.len() / LINE_WORDS);
        lines.iter_mut().flat_map(|line| &mut line.0).zip(&mut words).for_each(|(to, from)| *to = from);
        let Head { probes, keys, .. } = head;
        #[cfg(target_arch = "x86_64")]
        if let Some(lookup) = Avx512::detect() {
            return Ok(Box::new(BlockedFilter { lines, probes, keys, lookup }));
        } else if let Some(lookup) = Avx2::detect() {
            return Ok(Box::new(BlockedFilter { lines, probes, keys, lookup }));
        }
        Ok(Box::new(BlockedFilter { lines, probes, keys, lookup: Portable }))
    }

    fn bits_per_key(&self) -> Option<f64> {
        Some(self.0.budget.param())
    }
}

/// Returns the number of bits that a key sets for the lowest false-positive rate in a large filter. The number is
/// smaller than for a standard filter, because many keys share some cache lines and would set too many bits there.
fn best_probes(bits_per_key: f64) -> u32 {
    const LINES: u64 = 1 << 32;
    let keys = (LINE_BITS as f64 / bits_per_key * LINES as f64) as u64;
    let mut best = 1;
    while best < MAX_PROBES && rate(keys, LINES, best + 1) < rate(keys, LINES, best) {
        best += 1;
    }
    best
}

fn rate(keys: u64, lines: u64, probes: u32) -> f64 {
    theory::blocked(keys, lines, |load| theory::small(LINE_BITS, load, probes))
}

/// A blocked Bloom filter in memory. All bits of a key are in one cache line.
struct BlockedFilter<L> {
    lines: Vec<Line>,
    probes: u32,
    keys: u64,
    lookup: L,
}

impl<L: Lookup> Filter for BlockedFilter<L> {
    fn may_contain(&self, hash: KeyHash) -> bool {
        self.lookup.may_contain(&self.lines, self.probes, hash)
    }

    fn prefetch(&self, hash: KeyHash) {
        prefetch(&self.lines, reduce(hash.0, self.lines.len()));
    }

    fn may_contain_batch(&self, hashes: &[KeyHash], answers: &mut [bool]) {
        self.lookup.may_contain_batch(&self.lines, self.probes, hashes, answers);
    }

    fn expected_fpr(&self) -> f64 {
        rate(self.keys, self.lines.len() as u64, self.probes)
    }

    fn memory_bytes(&self) -> usize {
        size_of_val(&*self.lines)
    }
}

/// The bits of one cache line of the filter.
#[derive(Clone, Copy, Default)]
#[repr(align(64))]
struct Line([u64; LINE_WORDS]);

impl Line {
    #[inline]
    fn add(&mut self, hash: KeyHash, probes: u32) {
        for power in POWERS.first(probes) {
            let bit = Self::bit(hash, *power);
            self.0[bit / 64] |= 1 << (bit % 64);
        }
    }

    /// Returns the index of the bit in a cache line, from 0 to 511. `power` is the multiplier that derives the index
    /// from the hash.
    #[inline]
    fn bit(hash: KeyHash, power: u32) -> usize {
        ((hash.0 as u32).wrapping_mul(power) >> (u32::BITS - LINE_BITS.ilog2())) as usize
    }
}

/// The powers of a multiplier: one multiplier for each bit that a key can set in its cache line.
#[repr(align(64))]
struct Powers([u32; MAX_PROBES as usize]);

impl Powers {
    const fn of(multiplier: u32) -> Self {
        let mut powers = [multiplier; MAX_PROBES as usize];
        let mut index = 1;
        while index < powers.len() {
            powers[index] = powers[index - 1].wrapping_mul(multiplier);
            index += 1;
        }
        Self(powers)
    }

    #[inline]
    fn first(&self, probes: u32) -> &[u32] {
        &self.0[..probes as usize]
    }
}

/// Tests whether a key may be in the filter, with code that is compiled for one CPU feature set. The answers are equal
/// for every set of CPU features.
trait Lookup: Copy + Send + Sync {
    fn may_contain(self, lines: &[Line], probes: u32, hash: KeyHash) -> bool;
    fn may_contain_batch(self, lines: &[Line], probes: u32, hashes: &[KeyHash], answers: &mut [bool]);
}

impl Lookup for Portable {
    /// Tests all bits of a key without branches. The cache line is already loaded, so a branch misprediction would cost
    /// more than the remaining tests.
    fn may_contain(self, lines: &[Line], probes: u32, hash: KeyHash) -> bool {
        let line = &lines[reduce(hash.0, lines.len())].0;
        let bits = POWERS.first(probes).iter().map(|power| Line::bit(hash, *power));
        bits.fold(1, |all, bit| all & (line[bit / 64] >> (bit % 64))) == 1
    }

    fn may_contain_batch(self, lines: &[Line], probes: u32, hashes: &[KeyHash], answers: &mut [bool]) {
        let place = |hash: KeyHash| reduce(hash.0, lines.len());
        let probe = |hash| self.may_contain(lines, probes, hash);
        in_groups(hashes, answers, |hash| prefetch(lines, place(hash)), probe);
    }
}

/// Lookups with vector instructions. Each 32-bit lane of a vector tests one bit of a key. A permutation instruction
/// copies the word with the tested bit from the cache line to the lane.
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
mod vector {
    #[allow(clippy::wildcard_imports)] // The names of the instructions are descriptive.
    use std::arch::x86_64::*;

    use super::{Avx2, Avx512, KeyHash, Line, Lookup, POWERS, in_groups, prefetch, reduce};

    impl Lookup for Avx512 {
        #[inline]
        fn may_contain(self, lines: &[Line], probes: u32, hash: KeyHash) -> bool {
            // SAFETY: `self` exists only where AVX-512 F was detected.
            unsafe { avx512(lines, probes, hash) }
        }

        fn may_contain_batch(self, lines: &[Line], probes: u32, hashes: &[KeyHash], answers: &mut [bool]) {
            #[target_feature(enable = "avx512f")]
            fn batch(lines: &[Line], probes: u32, hashes: &[KeyHash], answers: &mut [bool]) {
                let place = |hash: KeyHash| reduce(hash.0, lines.len());
                in_groups(
                    hashes,
                    answers,
                    |hash| prefetch(lines, place(hash)),
                    |hash| avx512(lines, probes, hash),
                );
            }
            // SAFETY: `self` exists only where AVX-512 F was detected.
            unsafe { batch(lines, probes, hashes, answers) }
        }
    }

    impl Lookup for Avx2 {
        #[inline]
        fn may_contain(self, lines: &[Line], probes: u32, hash: KeyHash) -> bool {
            // SAFETY: `self` exists only where AVX2 was detected.
            unsafe { avx2(lines, probes, hash) }
        }

        fn may_contain_batch(self, lines: &[Line], probes: u32, hashes: &[KeyHash], answers: &mut [bool]) {
            #[target_feature(enable = "avx2")]
            fn batch(lines: &[Line], probes: u32, hashes: &[KeyHash], answers: &mut [bool]) {
                let place = |hash: KeyHash| reduce(hash.0, lines.len());
                in_groups(
                    hashes,
                    answers,
                    |hash| prefetch(lines, place(hash)),
                    |hash| avx2(lines, probes, hash),
                );
            }
            // SAFETY: `self` exists only where AVX2 was detected.
            unsafe { batch(lines, probes, hashes, answers) }
        }
    }

    /// Tests sixteen bits of a key per step, with AVX-512.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn avx512(lines: &[Line], probes: u32, hash: KeyHash) -> bool {
        const LANES: usize = 16;
        let line = &lines[reduce(hash.0, lines.len())];
        // SAFETY: a line has 64 bytes and is aligned to 64.
        let table = unsafe { _mm512_load_si512(std::ptr::from_ref(line).cast()) };
        let hash = _mm512_set1_epi32(hash.0 as i32);
        let mut left = probes;
        for powers in POWERS.0.chunks_exact(LANES) {
            // SAFETY: the chunk has sixteen numbers of 32 bits.
            let powers = unsafe { _mm512_loadu_si512(powers.as_ptr().cast()) };
            let bit = _mm512_srli_epi32::<23>(_mm512_mullo_epi32(hash, powers));
            let word = _mm512_permutexvar_epi32(_mm512_srli_epi32::<5>(bit), table);
            let set = _mm512_test_epi32_mask(_mm512_rorv_epi32(word, bit), _mm512_set1_epi32(1));
            let missing = u32::from(!set);
            if left <= LANES as u32 {
                return missing << (u32::BITS - left) == 0;
            }
            if missing != 0 {
                return false;
            }
            left -= LANES as u32;
        }
        true
    }

    /// Tests eight bits of a key per step, with AVX2.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn avx2(lines: &[Line], probes: u32, hash: KeyHash) -> bool {
        const LANES: u32 = 8;
        let line = &lines[reduce(hash.0, lines.len())];
        // SAFETY: a line has two times 32 bytes and is aligned to 64.
        let (low, high) = unsafe {
            let halves = std::ptr::from_ref(line).cast::<__m256i>();
            (_mm256_load_si256(halves), _mm256_load_si256(halves.add(1)))
        };
        let hash = _mm256_set1_epi32(hash.0 as i32);
        let mut left = probes.cast_signed();
        for powers in POWERS.0.chunks_exact(LANES as usize) {
            // SAFETY: the chunk has eight numbers of 32 bits.
            let powers = unsafe { _mm256_loadu_si256(powers.as_ptr().cast()) };
            let derived = _mm256_mullo_epi32(hash, powers);
            // The highest bit selects the half of the cache line. The next three bits select the lane, and the next
            // five bits select the bit in the lane.
            let place = _mm256_srli_epi32::<28>(derived);
            let (low, high) =
                (_mm256_permutevar8x32_epi32(low, place), _mm256_permutevar8x32_epi32(high, place));
            let word = _mm256_blendv_ps(
                _mm256_castsi256_ps(low),
                _mm256_castsi256_ps(high),
                _mm256_castsi256_ps(derived),
            );
            let bit = _mm256_srli_epi32::<27>(_mm256_slli_epi32::<4>(derived));
            // Vector lanes after the last probe do not affect the result.
            let index = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
            let wanted = _mm256_cmpgt_epi32(_mm256_set1_epi32(left), index);
            let wanted = _mm256_and_si256(wanted, _mm256_sllv_epi32(_mm256_set1_epi32(1), bit));
            if _mm256_testc_si256(_mm256_castps_si256(word), wanted) == 0 {
                return false;
            }
            left -= LANES.cast_signed();
            if left <= 0 {
                break;
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fewer_probes_than_a_standard_filter() {
        let best: Vec<u32> = [0.1, 4.0, 8.0, 10.0, 12.0, 16.0, 24.0].map(best_probes).into();
        assert!(best.is_sorted());
        assert_eq!(best[0], 1);
        assert_eq!((best[3], best[5]), (6, 9));
        assert!(best_probes(64.0) < theory::standard_probes(64.0));
    }

    #[test]
    fn theory_is_above_that_of_a_standard_filter() {
        let blocked = rate(1_000_000, 19_532, 6);
        let standard = theory::standard(19_532 * 512, 1_000_000, 6);
        assert!(blocked > 1.1 * standard && blocked < 1.3 * standard, "{blocked} {standard}");
    }

    #[test]
    fn all_ways_to_look_up_agree() {
        let mut random = 1u64;
        let mut hash = || {
            random = random.wrapping_mul(0xd134_2543_de82_ef95).wrapping_add(1);
            KeyHash(random ^ random >> 29)
        };
        for probes in 1..=MAX_PROBES {
            let keys: Vec<KeyHash> = (0..1000).map(|_| hash()).collect();
            let mut lines = vec![Line::default(); keys.len() * probes as usize / 300 + 1];
            let count = lines.len();
            keys.iter().for_each(|key| lines[reduce(key.0, count)].add(*key, probes));
            let hashes: Vec<KeyHash> = keys.into_iter().chain((0..1000).map(|_| hash())).collect();
            let portable = answers(Portable, &lines, probes, &hashes);
            assert!(portable[..1000].iter().all(|answer| *answer), "{probes}");
            assert!(portable[1000..].iter().any(|answer| !*answer), "{probes}");
            #[cfg(target_arch = "x86_64")]
            {
                let same = |other: Option<Vec<bool>>| other.is_none_or(|other| other == portable);
                assert!(same(Avx2::detect().map(|l| answers(l, &lines, probes, &hashes))), "{probes}");
                assert!(same(Avx512::detect().map(|l| answers(l, &lines, probes, &hashes))), "{probes}");
            }
        }
    }

    /// Returns the answers of single lookups. Also checks that a batch gives the same answers.
    fn answers<L: Lookup>(lookup: L, lines: &[Line], probes: u32, hashes: &[KeyHash]) -> Vec<bool> {
        let mut batch = vec![false; hashes.len()];
        lookup.may_contain_batch(lines, probes, hashes, &mut batch);
        assert!(batch.iter().zip(hashes).all(|(b, hash)| *b == lookup.may_contain(lines, probes, *hash)));
        batch
    }

    #[test]
    fn lines_lie_on_cache_lines_wherever_the_stored_bytes_lie() {
        assert_eq!((size_of::<Line>(), align_of::<Line>()), (64, 64));
    }
}
