//! Numbers from the bytes of keys, with the byte values that occur in the keys as digits.
//!
//! Numbers sort like the keys. Keys of few byte values, such as decimal digits, have numbers without gaps.

use types::{KeyList, common_prefix};

/// The words that have a bit for each byte value.
const WORDS: usize = 256 / u64::BITS as usize;

/// The byte values that occur after the prefix that all keys share.
pub(crate) struct Alphabet {
    /// One bit for each byte value.
    values: [u64; WORDS],
    size: u64,
    /// The number of digits of a number.
    digits: usize,
}

impl Alphabet {
    /// Collects the byte values of these keys. The keys are in order, and there is at least one.
    pub(crate) fn of(keys: &KeyList) -> Self {
        let shared = common_prefix(keys.key(0), keys.key(keys.len() - 1));
        let mut values = [0; WORDS];
        for byte in keys.iter().flat_map(|key| &key[shared..]) {
            values[usize::from(byte / 64)] |= 1u64 << (byte % 64);
        }
        Self::with(values)
    }

    fn with(values: [u64; WORDS]) -> Self {
        let size = values.iter().map(|word| u64::from(word.count_ones())).sum::<u64>().max(1);
        let fit = |digits: &u32| u128::from(size).pow(*digits) <= 1 << u64::BITS;
        let most = if size == 1 { 1 } else { u64::BITS / size.ilog2() };
        Self { values, size, digits: (1..=most).rev().find(fit).unwrap_or(1) as usize }
    }

    /// The number of digits of a number. Later bytes of a key do not count.
    pub(crate) fn digits(&self) -> usize {
        self.digits
    }

    /// The number of a key without its prefix. A byte that is no digit stands for everything between the digits next to
    /// it. A key that ends continues with the smallest digit.
    pub(crate) fn number(&self, key: &[u8]) -> u64 {
        let mut number = 0;
        let mut rest = None;
        for at in 0..self.digits {
            let digit = rest.unwrap_or_else(|| match key.get(at) {
                Some(byte) => match (self.is_digit(*byte), self.below(*byte)) {
                    (true, below) => below,
                    (false, 0) => *rest.insert(0),
                    (false, below) => {
                        rest = Some(self.size - 1);
                        below - 1
                    }
                },
                None => *rest.insert(0),
            });
            number = number * self.size + digit;
        }
        number
    }

    /// Whether all bytes of a key after the prefix that it shares with `other` are digits.
    pub(crate) fn has_all(&self, key: &[u8], other: &[u8]) -> bool {
        key[common_prefix(key, other)..].iter().all(|byte| self.is_digit(*byte))
    }

    fn is_digit(&self, byte: u8) -> bool {
        self.values[usize::from(byte / 64)] >> (byte % 64) & 1 == 1
    }

    /// The number of digits below a byte value.
    fn below(&self, byte: u8) -> u64 {
        let word = usize::from(byte / 64);
        let before: u32 = self.values[..word].iter().map(|word| word.count_ones()).sum();
        u64::from(before + (self.values[word] & ((1 << (byte % 64)) - 1)).count_ones())
    }

    /// The stored words.
    pub(crate) fn words(&self) -> [u64; WORDS] {
        self.values
    }

    /// Decodes the stored words. `None` if there are too few.
    pub(crate) fn decode(words: &mut impl Iterator<Item = u64>) -> Option<Self> {
        let mut values = [0; WORDS];
        for value in &mut values {
            *value = words.next()?;
        }
        Some(Self::with(values))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;

    use super::*;

    fn alphabet(keys: &[&str]) -> Alphabet {
        Alphabet::of(&keys.iter().collect())
    }

    #[test]
    fn numbers_have_as_many_digits_as_fit() {
        let digits = |size: u32| {
            let keys: KeyList = (0..size).map(|byte| [byte as u8]).collect();
            Alphabet::of(&keys).digits()
        };
        assert_eq!([1, 2, 3, 10, 16, 17, 255, 256].map(digits), [1, 64, 40, 19, 16, 15, 8, 8]);
    }

    #[test]
    fn decimal_digits_have_decimal_numbers() {
        let decimal = alphabet(&["key0", "key123456789", "key9"]);
        let unit = 10u64.pow(18);
        assert_eq!(decimal.number(b"3"), 3 * unit);
        assert_eq!(decimal.number(b"31"), 31 * (unit / 10));
        // A byte between two digits is above all that begins with the lower one.
        let others: [&[u8]; 3] = [b"/9", b"99:", b"x"];
        assert_eq!(others.map(|key| decimal.number(key)), [0, 10 * unit - 1, 10 * unit - 1]);
        let even = alphabet(&["0", "2", "4"]);
        assert_eq!(even.number(b"1"), even.number(b"2") - 1);
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
        ) {
            let alphabet = Alphabet::of(&keys.iter().collect());
            asked.extend(keys);
            asked.sort();
            let numbers: Vec<u64> = asked.iter().map(|key| alphabet.number(key.as_bytes())).collect();
            prop_assert!(numbers.is_sorted(), "{asked:?} {numbers:?}");
        }
    }
}
