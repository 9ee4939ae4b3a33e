//! The pool that contains the bytes of all values. The bytes are random but compress to the requested size.

use types::PADDING;

use crate::random::Random;

/// Length of the part of the value pool in which values begin, in bytes. A value may extend beyond this part.
const START_BYTES: usize = 1 << 20;

/// The number of bytes that a match takes in compressed data, assumed for LZ4 and similar compressors. A match is a
/// reference to an earlier copy of the same bytes.
const MATCH_COST: f64 = 3.5;

/// Shortest length of a period of the value pool, in bytes. A period consists of random bytes and a repeated filler.
const SHORTEST_PERIOD: usize = 32;

/// Longest length of a period of the value pool, in bytes. In a longer period, the repeated filler could be longer than
/// a value, so some values would be equal.
const LONGEST_PERIOD: usize = 1024;

/// Number of random bytes at the start of every value that has at least this length. These bytes make the values of
/// different writes different.
const TELLTALE: usize = 8;

/// About one MiB of bytes, of which every value is a part. The bytes are divided into periods.
///
/// Each period begins with new random bytes, which do not compress. The rest of the period is a filler, whose bytes are
/// equal in all periods, so a compressor replaces it by a reference to an earlier period. The fraction of filler in a
/// value does not depend on the start or the length of the value. Single values and blocks of many values therefore
/// have equal compression ratios.
///
/// A reference also takes space in the compressed data. The random part of a period is therefore shorter by the size of
/// a reference.
pub(crate) struct Pool {
    bytes: Vec<u8>,
    period: usize,
    periods: u64,
    /// Number of offsets in each period at which a value may start. These offsets lie in the random part of the period.
    starts: u64,
}

impl Pool {
    /// Creates a pool for values of up to `longest` bytes. A compressor saves the fraction `compressible` of the
    /// bytes. The fraction is below 1.
    pub(crate) fn new(seed: u64, compressible: f64, longest: usize) -> Self {
        let (period, random_bytes) = layout(compressible);
        let periods = START_BYTES.div_ceil(period);
        let mut random = Random::new(seed);
        let mut phrase = vec![0; period - random_bytes];
        fill(&mut random, &mut phrase);
        let mut bytes = vec![0; periods * period + longest + PADDING];
        for chunk in bytes.chunks_mut(period) {
            let (fresh, filler) = chunk.split_at_mut(random_bytes.min(chunk.len()));
            fill(&mut random, fresh);
            filler.copy_from_slice(&phrase[..filler.len()]);
        }
        let starts = (random_bytes.saturating_sub(TELLTALE) + 1) as u64;
        Self { bytes, period, periods: periods as u64, starts }
    }

    /// Returns the offset in the pool at which the value with the hash `hash` begins.
    #[inline]
    pub(crate) fn start(&self, hash: u64) -> u32 {
        let period = ((hash >> 32) * self.periods) >> 32;
        let within = ((hash & 0xffff_ffff) * self.starts) >> 32;
        (period * self.period as u64 + within) as u32
    }

    /// Returns the length of the longest value that the pool supports, in bytes.
    pub(crate) fn longest(&self) -> u32 {
        u32::try_from(self.bytes.len() - self.periods as usize * self.period).unwrap_or(u32::MAX)
    }

    /// Returns the value that begins at the offset `start` of the pool and has `bytes` bytes.
    #[inline]
    pub(crate) fn slice(&self, start: u32, bytes: u32) -> &[u8] {
        &self.bytes[start as usize..][..bytes as usize]
    }
}

/// Returns the length of a period of the pool and the length of its random part. With these lengths, a compressor saves
/// the fraction `compressible` of a value.
fn layout(compressible: f64) -> (usize, usize) {
    if compressible == 0.0 {
        return (SHORTEST_PERIOD, SHORTEST_PERIOD);
    }
    let kept = 1.0 - compressible;
    let wanted = ((TELLTALE as f64 + MATCH_COST) / kept).ceil() as usize;
    let period = wanted.clamp(SHORTEST_PERIOD, LONGEST_PERIOD);
    let random_bytes = (kept * period as f64 - MATCH_COST).round().max(1.0) as usize;
    // Filler that is too short for a match would not be compressed.
    let random_bytes = if period - random_bytes < 5 { period } else { random_bytes };
    (period, random_bytes)
}

fn fill(random: &mut Random, bytes: &mut [u8]) {
    for chunk in bytes.chunks_mut(8) {
        let bits = random.bits().to_le_bytes();
        chunk.copy_from_slice(&bits[..chunk.len()]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tests that LZ4 compresses blocks of values to the requested size. The size may differ by a few bytes per
    /// value, because a match can end at the edge of a value.
    #[test]
    fn blocks_of_values_compress_as_asked() {
        for (value_bytes, block_bytes, tolerance) in
            [(40, 4096, 0.21), (100, 4096, 0.08), (1000, 16_384, 0.03), (50_000, 50_000, 0.02)]
        {
            for compressible in [0.0, 0.2, 0.3, 0.5, 0.7, 0.8, 0.9] {
                let kept = kept_by_lz4(compressible, value_bytes, block_bytes);
                assert!(
                    (kept - (1.0 - compressible)).abs() < tolerance,
                    "compressible {compressible}, values of {value_bytes}: {kept} is kept"
                );
            }
        }
    }

    fn kept_by_lz4(compressible: f64, value_bytes: u32, block_bytes: usize) -> f64 {
        let pool = Pool::new(1, compressible, 1 << 16);
        let mut random = Random::new(2);
        let (mut plain, mut packed) = (0, 0);
        for _ in 0..20 {
            let mut block = Vec::new();
            while block.len() < block_bytes {
                block.extend_from_slice(pool.slice(pool.start(random.bits()), value_bytes));
            }
            plain += block.len();
            packed += lz4_flex::compress(&block).len();
        }
        packed as f64 / plain as f64
    }

    #[test]
    fn every_start_leaves_room_for_the_longest_value() {
        for compressible in [0.0, 0.1, 0.5, 0.99, 0.999] {
            let pool = Pool::new(3, compressible, 5000);
            for hash in [0, u64::MAX, 1 << 32, u64::MAX << 32] {
                assert_eq!(pool.slice(pool.start(hash), 5000).len(), 5000);
            }
        }
    }

    /// Tests that almost all values differ, so that a check detects the value of a wrong version.
    #[test]
    fn values_differ() {
        for compressible in [0.0, 0.5, 0.9] {
            let pool = Pool::new(4, compressible, 100);
            let mut random = Random::new(5);
            let mut value = || pool.slice(pool.start(random.bits()), 10).to_vec();
            let same = (0..20_000).filter(|_| value() == value()).count();
            assert!(same <= 5, "compressible {compressible}: {same} equal pairs of 20000");
        }
    }
}
