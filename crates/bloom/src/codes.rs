//! Sets of codes for range filters. A code is a small number that a filter stores for a key. A set is stored as
//! sorted numbers, or as a bit array if the memory budget is small.

use prefetch::large;

use crate::budget::Budget;
use crate::elias_fano::EliasFano;
use crate::packed::MOST_WIDTH;

/// The number of bits per key from which a sorted set of codes has a lower false-positive rate than a bit array.
const SPARSE_FROM: f64 = 4.0;

/// The number by which the header of a stored range filter identifies a bit array of key codes. If the codes are a
/// sorted set, the header has the number of low bits of the Elias–Fano encoding, plus one.
const DENSE: u32 = 0;

/// Chooses an encoding in which the codes of `keys` keys fit into `bits` bits. A code is a small number that a range
/// filter stores for a key. Returns the number of possible codes, which is at most `largest` + 1, and the number that
/// identifies the encoding.
pub(crate) fn layout(bits: f64, keys: usize, largest: u64) -> (u64, u32) {
    let (numbers, keys) = (largest.saturating_add(1), keys as f64);
    let bits_per_key = bits / keys;
    if bits_per_key < SPARSE_FROM {
        return (numbers.min(bits.ceil().max(1.0) as u64), DENSE);
    }
    // The budget per key is divided into one bit for the key, its low bits, and a rest for the values of the high
    // bits. The number of high-bit values is one to two times the number of keys.
    let left = bits_per_key - 1.0;
    let low_bits = Budget::width(left - EliasFano::BITS_PER_ZERO).min(MOST_WIDTH - 1);
    let zeros = ((left - f64::from(low_bits)) / EliasFano::BITS_PER_ZERO).min(2.0);
    let range = (zeros * keys * f64::from(low_bits).exp2()) as u64;
    (numbers.min(range.max(1)), low_bits + 1)
}

/// Returns the number that identifies the smallest encoding of a set of `len` codes below `range`. Also returns the
/// size of the encoded set in 64-bit words. Returns `None` if the set is too large for every encoding.
pub(crate) fn smallest(len: u64, range: u64) -> Option<(u32, u64)> {
    let low_bits = (range / len.max(1)).max(1).ilog2().min(MOST_WIDTH - 1);
    let sparse = EliasFano::words(len, range, low_bits).map(|words| (low_bits + 1, words));
    let dense = (DENSE, range.div_ceil(u64::BITS.into()));
    match sparse {
        Some(sparse) if sparse.1 < dense.1 => Some(sparse),
        _ => (range <= u32::MAX.into()).then_some(dense),
    }
}

/// Returns the number of distinct codes in a sorted list of codes.
pub(crate) fn different(codes: &[u64]) -> u64 {
    codes.chunk_by(|one, other| one == other).count() as u64
}

/// The set of the codes of all keys. A code is a small number that a range filter stores for a key.
pub(crate) enum Codes {
    /// The set as a bit array with one bit for each possible code.
    Dense(Vec<u64>),
    /// The set as a sorted list of codes in the Elias–Fano encoding.
    Sparse(EliasFano),
}

impl Codes {
    /// Encodes the set of `codes`, and appends the result to `words`. The codes are sorted and below `range`. `form`
    /// identifies the encoding: [`DENSE`] for a bit array, or the number of low bits of the Elias–Fano encoding, plus
    /// one, for a sorted set.
    pub(crate) fn encode(codes: &[u64], range: u64, form: u32, words: &mut Vec<u64>) {
        if let Some(low_bits) = form.checked_sub(1) {
            EliasFano::new(codes, range, low_bits).to_words(words);
        } else {
            let start = words.len();
            words.resize(start + range.div_ceil(64) as usize, 0);
            codes.iter().for_each(|code| words[start + *code as usize / 64] |= 1 << (code % 64));
        }
    }

    /// Decodes a set of `len` codes below `range` from all words of `words`. Returns `None` if the words are corrupt.
    pub(crate) fn decode(
        words: &mut impl ExactSizeIterator<Item = u64>,
        len: u64,
        range: u64,
        form: u32,
    ) -> Option<Self> {
        match form.checked_sub(1) {
            Some(low_bits) if low_bits > MOST_WIDTH => None,
            Some(low_bits) => EliasFano::from_words(words, len, range, low_bits).map(Self::Sparse),
            None if words.len() as u64 != range.div_ceil(64) => None,
            None => Some(Self::Dense(large::collected(words))),
        }
    }

    /// Whether the set has a code from `first` to `last`, inclusive. `last` is not below `first`, and is below the
    /// number of possible codes.
    pub(crate) fn has_between(&self, first: u64, last: u64) -> bool {
        match self {
            Self::Sparse(set) => set.has_between(first, last),
            Self::Dense(words) => {
                let (start, end) = (first as usize / 64, last as usize / 64);
                let from_first = u64::MAX << (first % 64);
                let to_last = u64::MAX >> (63 - last % 64);
                if start == end {
                    return words[start] & from_first & to_last != 0;
                }
                words[start] & from_first != 0
                    || words[start + 1..end].iter().any(|word| *word != 0)
                    || words[end] & to_last != 0
            }
        }
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        match self {
            Self::Dense(words) => size_of_val(&**words),
            Self::Sparse(set) => set.memory_bytes(),
        }
    }
}
