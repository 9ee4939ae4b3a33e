//! Maps keys to numbers with mixed radix. Each byte of a key is a digit of the number. The possible digits at a byte
//! position are the byte values that occur at this position in the keys.
//!
//! The numbers have the same order as the keys. If the keys consist of few byte values, such as decimal digits, the
//! numbers of successive keys are contiguous. A position where all keys have the same byte adds nothing to the
//! number. Each of the first positions after the common prefix of all keys has its own set of digits. All later
//! positions share one set of digits.

use types::{KeyList, common_prefix};

/// The number of 64-bit words of a bit set that has one bit for each of the 256 byte values.
const WORDS: usize = 256 / u64::BITS as usize;

/// The largest number of byte positions that have their own set of possible byte values. All later positions share one
/// set.
const MOST_POSITIONS: usize = 24;
/// The memory in bits for the possible byte values of one key position: one bit for each byte value.
const BITS_PER_POSITION: f64 = 256.0;

/// The largest number of bytes of a key that can influence the number to which the key is mapped.
const MOST_BYTES: usize = 64;

/// The byte values that occur at each position of the keys. With these values as digits, each key is a number.
pub(crate) struct Alphabet {
    /// The length in bytes of the prefix that all keys share.
    shared: usize,
    /// The possible byte values at each position after the shared prefix. The last element applies to all later
    /// positions.
    positions: Vec<Digits>,
}

/// The byte values that occur at one position of the keys. They are the possible digits at this position of the number
/// to which a key is mapped.
#[derive(Clone, Copy, Default)]
struct Digits {
    /// A bit for each byte value, which is set if the byte value occurs at this position of the keys.
    values: [u64; WORDS],
}

impl Digits {
    /// Returns the number of byte values that can occur at this position of a key. The result is at least one.
    fn count(&self) -> u64 {
        self.values.iter().map(|word| u64::from(word.count_ones())).sum::<u64>().max(1)
    }

    fn has(&self, byte: u8) -> bool {
        self.values[usize::from(byte / 64)] >> (byte % 64) & 1 == 1
    }

    /// Returns the number of byte values below `byte` that can occur at this position of a key.
    fn below(&self, byte: u8) -> u64 {
        let word = usize::from(byte / 64);
        let before: u32 = self.values[..word].iter().map(|word| word.count_ones()).sum();
        u64::from(before + (self.values[word] & ((1 << (byte % 64)) - 1)).count_ones())
    }
}

/// The digit for all remaining positions of a number. A number needs such digits if its key ends early, or after a byte
/// that no stored key has at its position.
#[derive(Clone, Copy)]
enum Rest {
    Smallest,
    Largest,
}

impl Alphabet {
    /// Collects the byte values that occur at each position of `keys`. The keys are sorted, and the list is not empty.
    /// The first positions get their own sets of byte values, as many as fit into `bits` bits of memory. One further
    /// set, which does not count towards `bits`, is for all later positions.
    pub(crate) fn of(keys: &KeyList, bits: f64) -> Self {
        let shared = common_prefix(keys.key(0), keys.key(keys.len() - 1));
        let own = ((bits / BITS_PER_POSITION) as usize).min(MOST_POSITIONS);
        let mut positions = vec![Digits::default(); own + 1];
        for key in keys.iter() {
            for (at, byte) in key[shared..].iter().enumerate() {
                positions[at.min(own)].values[usize::from(byte / 64)] |= 1 << (byte % 64);
            }
        }
        Self { shared, positions }
    }

    /// Returns the memory in bits of the sets of byte values that belong to one position each. The last set, which all
    /// later positions share, is not counted.
    pub(crate) fn bits(&self) -> f64 {
        (self.positions.len() - 1) as f64 * BITS_PER_POSITION
    }

    fn digits(&self, at: usize) -> &Digits {
        &self.positions[at.saturating_sub(self.shared).min(self.positions.len() - 1)]
    }

    /// Returns the byte positions, from `start` on, whose bytes together fit into one 64-bit number.
    fn positions(&self, start: usize) -> impl Iterator<Item = usize> {
        let mut numbers = 1u128;
        (start..start + MOST_BYTES).take_while(move |at| {
            numbers *= u128::from(self.digits(*at).count());
            numbers <= 1 << u64::BITS
        })
    }

    /// Converts the bytes of a key from position `start` on to a number. Missing bytes of a short key count as the
    /// smallest digits. A key with a byte that occurs in no stored key gets the number of a neighboring key without
    /// such bytes.
    pub(crate) fn number(&self, key: &[u8], start: usize) -> u64 {
        let mut number = 0;
        let mut rest = None;
        for at in self.positions(start) {
            let digits = self.digits(at);
            let digit = match (rest, key.get(at)) {
                (None, Some(byte)) if digits.has(*byte) => digits.below(*byte),
                (None, Some(byte)) => match digits.below(*byte) {
                    0 => {
                        rest = Some(Rest::Smallest);
                        0
                    }
                    below => {
                        rest = Some(Rest::Largest);
                        below - 1
                    }
                },
                (Some(Rest::Largest), _) => digits.count() - 1,
                (None | Some(Rest::Smallest), _) => {
                    rest = Some(Rest::Smallest);
                    0
                }
            };
            number = number * digits.count() + digit;
        }
        number
    }

    /// Returns the smallest possible difference between the numbers of two different keys of `length` bytes. Each byte
    /// of these keys must occur at its position in the stored keys. Returns `None` if `length` bytes do not fit into
    /// one number.
    pub(crate) fn unit(&self, start: usize, length: usize) -> Option<u64> {
        let end = start + self.positions(start).count();
        let counts = || (length.max(start)..end).map(|at| self.digits(at).count());
        (end >= length).then(|| counts().fold(1, u64::saturating_mul))
    }

    /// Whether each byte of a key from position `start` on occurs at its position in the stored keys.
    pub(crate) fn has_all(&self, key: &[u8], start: usize) -> bool {
        key.iter().enumerate().skip(start).all(|(at, byte)| self.digits(at).has(*byte))
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        size_of_val(&*self.positions)
    }

    pub(crate) fn encode(&self, words: &mut Vec<u64>) {
        words.extend([self.shared as u64, self.positions.len() as u64]);
        words.extend(self.positions.iter().flat_map(|digits| digits.values));
    }

    /// Decodes an alphabet from stored words. Returns `None` if the words are corrupt.
    pub(crate) fn decode(words: &mut impl ExactSizeIterator<Item = u64>) -> Option<Self> {
        let (shared, positions) = (words.next()?, words.next()? as usize);
        if shared > u32::MAX.into() || !(1..=MOST_POSITIONS + 1).contains(&positions) {
            return None;
        }
        let mut digits = vec![Digits::default(); positions];
        for value in digits.iter_mut().flat_map(|digits| &mut digits.values) {
            *value = words.next()?;
        }
        Some(Self { shared: shared as usize, positions: digits })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;

    use super::*;

    fn alphabet(keys: &[&str], positions: usize) -> Alphabet {
        let sets = BITS_PER_POSITION * positions as f64;
        let alphabet = Alphabet::of(&keys.iter().collect(), sets);
        let mut words = Vec::new();
        alphabet.encode(&mut words);
        Alphabet::decode(&mut words.into_iter()).unwrap()
    }

    #[test]
    fn numbers_have_as_many_digits_as_fit() {
        let digits = |count: u32| {
            let keys: KeyList = (0..count).map(|byte| [byte as u8]).collect();
            Alphabet::of(&keys, 0.0).positions(0).count()
        };
        assert_eq!([1, 2, 3, 10, 16, 17, 255, 256].map(digits), [64, 64, 40, 19, 16, 15, 8, 8]);
    }

    #[test]
    fn decimal_digits_have_decimal_numbers() {
        let decimal = alphabet(&["key0", "key123456789", "key9"], 0);
        let unit = 10u64.pow(18);
        let number = |key: &str| decimal.number(key.as_bytes(), 3);
        assert_eq!((number("key3"), number("key31")), (3 * unit, 31 * (unit / 10)));
        // A byte between two digits sorts after every key that has the lower digit at this position.
        assert_eq!(["key/9", "key99:", "keyx"].map(number), [0, 10 * unit - 1, 10 * unit - 1]);
        let even = alphabet(&["0", "2", "4"], 0);
        assert_eq!(even.number(b"1", 0), even.number(b"2", 0) - 1);
    }

    #[test]
    fn each_of_the_first_positions_has_its_own_digits() {
        let keys = alphabet(&["a7/x", "a8/x", "b7/x", "c9/x"], 8);
        let numbers = ["a7/x", "a8/x", "a9/x", "b7/x", "c9/x"].map(|key| keys.number(key.as_bytes(), 0));
        assert_eq!(numbers, [0, 1, 2, 3, 8]);
        assert_eq!((keys.unit(0, 4), keys.unit(0, 65)), (Some(1), None));
        assert_eq!(alphabet(&["00", "01", "10"], 0).unit(0, 60), Some(16));
        assert!(keys.has_all(b"b9/x", 0) && !keys.has_all(b"b9/y", 0) && !keys.has_all(b"b9/xx", 0));
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            rng_seed: RngSeed::Fixed(42),
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        #[test]
        fn numbers_sort_like_keys(
            keys in proptest::collection::btree_set("[a-d]{0,70}", 1..8),
            mut asked in proptest::collection::vec("[`-f]{0,5}", 2..20),
            positions in 0usize..5,
        ) {
            let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
            let alphabet = alphabet(&keys, positions);
            // Only keys that have the shared prefix are looked up.
            let shared = &keys[0][..alphabet.shared];
            asked.iter_mut().for_each(|key| key.insert_str(0, shared));
            asked.extend(keys.iter().map(|key| (*key).to_owned()));
            asked.sort();
            let number = |key: &String| alphabet.number(key.as_bytes(), alphabet.shared);
            prop_assert!(asked.iter().map(number).is_sorted(), "{asked:?}");
        }
    }
}
