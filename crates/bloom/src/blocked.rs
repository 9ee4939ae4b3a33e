//! The blocked Bloom filter: all bits of a key in one cache line of 512 bits.
//!
//! One lookup costs one cache miss, whatever the number of probes, at a somewhat higher rate: lines are
//! unevenly loaded. Source: Putze, Sanders & Singler, "Cache-, hash- and space-efficient Bloom filters"
//! (2007); the same idea is behind the filters of `RocksDB` since version 6.6 (`FastLocalBloom`). The line is
//! chosen by the high bits of the hash, each bit in it by the nine high bits of a further odd multiple.

use catalog::{Build, Variant};
use serde::{Deserialize, Serialize};
use types::{Bytes, KeyHash};

use crate::budget::Budget;
use crate::filter::{DamagedFilter, Filter, FilterInput, FilterPolicy};
use crate::position::{reduce, remix};
use crate::prefetch::prefetch;
use crate::stored::{Head, MAX_PROBES};
use crate::theory;

pub(crate) const VARIANT: Variant<dyn FilterPolicy> = Variant::new::<Blocked>(
    "blocked",
    "one cache line per key: one cache miss per lookup, at a somewhat higher rate than standard",
    "# Bits spent per key, 0.001 to 64.\n\
     bits_per_key = 10\n\
     # Bits set per key, 1 to 64; 0 takes the best number for lines of 512 bits.\n\
     probes = 0\n",
);

const TAG: [u8; 4] = *b"blmb";
const LINE_BITS: u64 = 512;
const LINE_WORDS: usize = 8;

/// How many probes of a batch are under way at once; enough to keep all line-fill buffers busy.
const GROUP: usize = 32;

/// Builds blocked Bloom filters.
struct Blocked {
    budget: Budget,
    probes: Option<u32>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    bits_per_key: f64,
    probes: u32,
}

impl Default for Params {
    fn default() -> Self {
        Self { bits_per_key: 10.0, probes: 0 }
    }
}

impl Build<dyn FilterPolicy> for Blocked {
    type Params = Params;

    fn build(params: Params) -> Result<Box<dyn FilterPolicy>, String> {
        if params.probes > MAX_PROBES {
            return Err(format!("probes is {}; it must be from 0 to {MAX_PROBES}", params.probes));
        }
        let budget = Budget::from_param(params.bits_per_key)?;
        Ok(Box::new(Self { budget, probes: (params.probes > 0).then_some(params.probes) }))
    }
}

impl FilterPolicy for Blocked {
    fn build(&self, input: &FilterInput<'_>) -> Vec<u8> {
        let probes = self.probes.unwrap_or_else(|| best_probes(self.budget.bits_per_key(input)));
        let mut lines = vec![Line::default(); self.budget.units(input, LINE_BITS)];
        let count = lines.len();
        for hash in input.hashes {
            lines[reduce(hash.0, count)].add(*hash, probes);
        }
        let words = (0..count * LINE_WORDS).map(|word| lines[word / LINE_WORDS].0[word % LINE_WORDS]);
        Head::new(TAG, probes, input.hashes).encode(words)
    }

    fn open(&self, stored: Bytes) -> Result<Box<dyn Filter>, DamagedFilter> {
        let (head, mut words) = Head::decode_probed(&stored, TAG, LINE_WORDS)?;
        // Copied, because lines must lie on cache lines and stored bytes lie anywhere.
        let mut lines = vec![Line::default(); words.len() / LINE_WORDS];
        lines.iter_mut().flat_map(|line| &mut line.0).zip(&mut words).for_each(|(to, from)| *to = from);
        Ok(Box::new(BlockedFilter { lines, probes: head.probes, keys: head.keys }))
    }
}

/// The number of probes with the lowest rate in a large filter; fewer than a standard filter wants, since
/// crowded lines suffer most from many.
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

/// A blocked Bloom filter in memory.
struct BlockedFilter {
    lines: Vec<Line>,
    probes: u32,
    keys: u64,
}

impl BlockedFilter {
    #[inline]
    fn line(&self, hash: KeyHash) -> &Line {
        &self.lines[reduce(hash.0, self.lines.len())]
    }
}

impl Filter for BlockedFilter {
    fn may_contain(&self, hash: KeyHash) -> bool {
        self.line(hash).may_contain(hash, self.probes)
    }

    fn may_contain_batch(&self, hashes: &[KeyHash], answers: &mut [bool]) {
        assert_eq!(hashes.len(), answers.len(), "one answer per probe");
        for (hashes, answers) in hashes.chunks(GROUP).zip(answers.chunks_mut(GROUP)) {
            for hash in hashes {
                prefetch(self.line(*hash));
            }
            for (hash, answer) in hashes.iter().zip(answers) {
                *answer = self.line(*hash).may_contain(*hash, self.probes);
            }
        }
    }

    fn expected_fpr(&self) -> f64 {
        rate(self.keys, self.lines.len() as u64, self.probes)
    }

    fn memory_bytes(&self) -> usize {
        size_of_val(&*self.lines)
    }
}

/// One cache line of bits.
#[derive(Clone, Copy, Default)]
#[repr(align(64))]
struct Line([u64; LINE_WORDS]);

impl Line {
    #[inline]
    fn add(&mut self, hash: KeyHash, probes: u32) {
        let mut derived = hash.0;
        for _ in 0..probes {
            derived = remix(derived);
            let bit = Self::bit(derived);
            self.0[bit / 64] |= 1 << (bit % 64);
        }
    }

    /// Looks at all bits without a branch between them: the line is there already, and a wrong guess would
    /// cost more than the remaining probes.
    #[inline]
    fn may_contain(&self, hash: KeyHash, probes: u32) -> bool {
        let (mut derived, mut all) = (hash.0, 1);
        for _ in 0..probes {
            derived = remix(derived);
            let bit = Self::bit(derived);
            all &= self.0[bit / 64] >> (bit % 64);
        }
        all == 1
    }

    /// The bit that a derived hash selects: 0 to 511.
    #[inline]
    fn bit(derived: u64) -> usize {
        (derived >> (64 - LINE_BITS.ilog2())) as usize
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
    fn lines_lie_on_cache_lines_wherever_the_stored_bytes_lie() {
        assert_eq!((size_of::<Line>(), align_of::<Line>()), (64, 64));
    }
}
