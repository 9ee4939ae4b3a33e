//! The bytes that all values are cut from: random, and as compressible as was asked for.

use types::PADDING;

use crate::random::Random;

/// The bytes from which values start; a value may reach beyond them.
const START_BYTES: usize = 1 << 20;

/// The bytes that a match costs in LZ4 and its like: token, offset, and now and then a longer length.
const MATCH_COST: f64 = 3.5;

/// The shortest period.
const SHORTEST_PERIOD: usize = 32;

/// The longest period: a filler that is longer than values would make some of them equal.
const LONGEST_PERIOD: usize = 1024;

/// The random bytes that every value has in front where it is long enough, so that two values are told
/// apart.
const TELLTALE: usize = 8;

/// About a mebibyte of bytes with a period of random bytes and filler.
///
/// Each period starts with fresh random bytes, which do not compress, and ends with the beginning of one
/// phrase, the same in all periods, which compresses to a match. Wherever a value starts and however long it
/// is, the same share of it is filler, so that single values, and blocks of many, compress alike. The random
/// part is shortened by what a match costs.
pub(crate) struct Pool {
    bytes: Vec<u8>,
    period: usize,
    periods: u64,
    /// The places in the random part of a period at which a value may start.
    starts: u64,
}

impl Pool {
    /// A pool for values of up to `longest` bytes, of which a compressor saves the share `compressible`,
    /// below 1.
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

    /// Where the value with this hash starts.
    #[inline]
    pub(crate) fn start(&self, hash: u64) -> u32 {
        let period = ((hash >> 32) * self.periods) >> 32;
        let within = ((hash & 0xffff_ffff) * self.starts) >> 32;
        (period * self.period as u64 + within) as u32
    }

    /// So many bytes from `start` on.
    #[inline]
    pub(crate) fn slice(&self, start: u32, bytes: u32) -> &[u8] {
        &self.bytes[start as usize..][..bytes as usize]
    }
}

/// The length of a period and of its random part.
fn layout(compressible: f64) -> (usize, usize) {
    if compressible == 0.0 {
        return (SHORTEST_PERIOD, SHORTEST_PERIOD);
    }
    let kept = 1.0 - compressible;
    let wanted = ((TELLTALE as f64 + MATCH_COST) / kept).ceil() as usize;
    let period = wanted.clamp(SHORTEST_PERIOD, LONGEST_PERIOD);
    let random_bytes = (kept * period as f64 - MATCH_COST).round().max(1.0) as usize;
    // A filler too short for a match would not be one.
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

    /// What LZ4 makes of blocks of values is what was asked for, but for the few bytes that a match at the
    /// edge of a value costs.
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

    /// A wrong version is seen: of many pairs of values, next to none are equal.
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
