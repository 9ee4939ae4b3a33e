//! A count-min sketch with aging. For any name, the sketch estimates the number of recent requests. The sketch takes
//! little memory, because names share 4-bit counters.
//!
//! The sketch has four rows of 4-bit counters, and each name has one counter in each row. The estimated frequency of a
//! name is the minimum of its four counters. An estimate below 15 is never too low, and rarely too high. All counters
//! are halved whenever the number of increments reaches ten times the number of counters of a row. Old requests
//! therefore have less effect than new requests. Sources: Cormode and Muthukrishnan (2005); for the aging, the reset of
//! `TinyLFU`, Einziger, Friedman and Manes (ACM TOS 13(4), 2017, section 3.3).

/// One odd multiplier for each row of the sketch, so that a hash selects a different counter in each row. The values
/// are arbitrary.
const SCRAMBLERS: [u64; 4] =
    [0x9e37_79b9_7f4a_7c15, 0xbf58_476d_1ce4_e5b9, 0x94d0_49bb_1331_11eb, 0xd6e8_feb8_6659_fd93];

/// The maximum value of a counter of the sketch.
const MAX_COUNT: u64 = 15;

/// A mask for halving all 4-bit counters of a word at once. The word is shifted right by one bit, and the mask then
/// clears the bits that come from neighboring counters.
const HALVED: u64 = 0x7777_7777_7777_7777;

/// The number of 4-bit counters in one word of the sketch.
const COUNTERS_PER_WORD: usize = 16;

/// The minimum number of counters in a row of the sketch.
const MIN_COUNTERS: usize = 64;

/// The counters of all rows, and the number of increments since the counters were last halved.
pub(crate) struct Sketch {
    words: Vec<u64>,
    /// The number of counters in a row of the sketch, which is a power of two.
    counters: usize,
    increments: usize,
}

impl Default for Sketch {
    fn default() -> Self {
        Self::with_counters(MIN_COUNTERS)
    }
}

impl Sketch {
    fn with_counters(counters: usize) -> Self {
        Self { words: vec![0; SCRAMBLERS.len() * counters / COUNTERS_PER_WORD], counters, increments: 0 }
    }

    /// Ensures that each row has at least `entries` counters. If the rows are too short, their length is doubled until
    /// it suffices, and all counters are reset.
    pub(crate) fn grow(&mut self, entries: usize) {
        if entries > self.counters {
            *self = Self::with_counters(entries.next_power_of_two());
        }
    }

    /// Returns the position of the counter of a hash in the row `row`: the index of its word, and its first bit in this
    /// word.
    fn place(&self, row: usize, hash: u64) -> (usize, usize) {
        let scrambled = hash.wrapping_mul(SCRAMBLERS[row]);
        let counter = (scrambled >> (64 - self.counters.trailing_zeros())) as usize;
        ((row * self.counters + counter) / COUNTERS_PER_WORD, counter % COUNTERS_PER_WORD * 4)
    }

    /// Counts one request for the block with this hash.
    pub(crate) fn increment(&mut self, hash: u64) {
        for row in 0..SCRAMBLERS.len() {
            let (word, bit) = self.place(row, hash);
            if self.words[word] >> bit & MAX_COUNT < MAX_COUNT {
                self.words[word] += 1 << bit;
            }
        }
        self.increments += 1;
        if self.increments == 10 * self.counters {
            self.words.iter_mut().for_each(|word| *word = *word >> 1 & HALVED);
            self.increments /= 2;
        }
    }

    /// Returns the estimated number of recent requests for the block with this hash, 0 to 15.
    pub(crate) fn frequency(&self, hash: u64) -> u64 {
        let count = |row| {
            let (word, bit) = self.place(row, hash);
            self.words[word] >> bit & MAX_COUNT
        };
        (0..SCRAMBLERS.len()).map(count).min().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use xxhash_rust::xxh3::xxh3_64;

    use super::*;

    fn hash(name: u64) -> u64 {
        xxh3_64(&name.to_le_bytes())
    }

    #[test]
    fn counts_are_never_too_low_and_seldom_too_high() {
        let mut sketch = Sketch::default();
        sketch.grow(1000);
        for name in 0..500 {
            (0..name % 12).for_each(|_| sketch.increment(hash(name)));
        }
        assert!((0..500).all(|name| sketch.frequency(hash(name)) >= name % 12));
        let wrong = (0..500).filter(|&name| sketch.frequency(hash(name)) != name % 12).count();
        assert!(wrong < 50, "{wrong} of 500");
    }

    #[test]
    fn counts_stop_at_fifteen_and_are_halved_in_time() {
        let mut sketch = Sketch::default();
        (0..30).for_each(|_| sketch.increment(hash(1)));
        assert_eq!(sketch.frequency(hash(1)), 15);
        (30..639).for_each(|_| sketch.increment(hash(1)));
        assert_eq!(sketch.frequency(hash(1)), 15);
        sketch.increment(hash(1));
        assert_eq!((sketch.frequency(hash(1)), sketch.increments), (7, 320));
    }

    #[test]
    fn growing_starts_anew_and_shrinking_is_none() {
        let mut sketch = Sketch::default();
        sketch.increment(hash(1));
        sketch.grow(64);
        assert_eq!(sketch.frequency(hash(1)), 1);
        sketch.grow(65);
        assert_eq!((sketch.frequency(hash(1)), sketch.counters), (0, 128));
    }
}
