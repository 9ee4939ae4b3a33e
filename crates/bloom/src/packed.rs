//! An array of integers that have a few bits each. The integers are stored one directly after the other, without
//! padding bits.

use prefetch::{large, prefetch};

/// The largest width, in bits, of the integers of a packed array. With this limit, one unaligned 64-bit load reads any
/// integer, at whichever bit of a byte it begins.
pub(crate) const MOST_WIDTH: u32 = 32;

const WORD_BYTES: usize = size_of::<u64>();

/// An array of integers of `width` bits, in little-endian order of bits and bytes.
pub(crate) struct Packed {
    /// The bytes of all integers of the array. One extra word at the end allows reading the last integer with a 64-bit
    /// load.
    bytes: Vec<u8>,
    width: u32,
}

impl Packed {
    /// Creates an array of `len` integers of `width` bits whose values are 0. The width is 1 to [`MOST_WIDTH`].
    pub(crate) fn zeros(len: usize, width: u32) -> Self {
        Self { bytes: large::zeros(Self::words(len, width) * WORD_BYTES), width }
    }

    /// Returns the number of 64-bit words that an array of `len` integers of `width` bits takes in storage. Returns
    /// `None` on overflow.
    pub(crate) fn checked_words(len: u64, width: u32) -> Option<u64> {
        len.checked_mul(width.into()).map(|bits| bits.div_ceil(u64::BITS.into()) + 1)
    }

    fn words(len: usize, width: u32) -> usize {
        (len * width as usize).div_ceil(u64::BITS as usize) + 1
    }

    /// Creates the array of integers of `width` bits from its stored words. The last word is padding.
    pub(crate) fn from_words(words: impl ExactSizeIterator<Item = u64>, width: u32) -> Self {
        let mut bytes = large::with_room(words.len() * WORD_BYTES);
        words.for_each(|word| bytes.extend_from_slice(&word.to_le_bytes()));
        Self { bytes, width }
    }

    /// Returns the array as 64-bit words, for storage.
    pub(crate) fn to_words(&self) -> impl ExactSizeIterator<Item = u64> {
        self.bytes.chunks_exact(WORD_BYTES).map(|word| {
            u64::from_le_bytes(word.try_into().expect("a word of a packed array must have eight bytes"))
        })
    }

    /// Returns the largest value that fits into an integer of this array.
    #[inline]
    pub(crate) fn mask(&self) -> u64 {
        (1 << self.width) - 1
    }

    #[inline]
    pub(crate) fn width(&self) -> u32 {
        self.width
    }

    #[inline]
    pub(crate) fn get(&self, index: usize) -> u64 {
        let bit = index * self.width as usize;
        let word = &self.bytes[bit / 8..bit / 8 + WORD_BYTES];
        u64::from_le_bytes(word.try_into().expect("a word of a packed array must have eight bytes"))
            >> (bit % 8)
            & self.mask()
    }

    /// Sets the integer at `index` to the low bits of `value`.
    #[inline]
    pub(crate) fn set(&mut self, index: usize, value: u64) {
        let (bit, mask) = (index * self.width as usize, self.mask());
        let place = &mut self.bytes[bit / 8..bit / 8 + WORD_BYTES];
        let word =
            u64::from_le_bytes((&*place).try_into().expect("a word of a packed array must have eight bytes"));
        let word = word & !(mask << (bit % 8)) | (value & mask) << (bit % 8);
        place.copy_from_slice(&word.to_le_bytes());
    }

    /// Prefetches the cache line in which the integer at `index` begins.
    #[inline]
    pub(crate) fn prefetch(&self, index: usize) {
        prefetch(&self.bytes, index * self.width as usize / 8);
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.bytes.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_every_width_read_back() {
        for width in 1..=MOST_WIDTH {
            let number = |index: usize| crate::position::mix(index as u64, 0) & ((1 << width) - 1);
            for len in [0, 1, 7, 64, 333] {
                let mut packed = Packed::zeros(len, width);
                for index in (0..len).rev() {
                    packed.set(index, u64::MAX);
                    packed.set(index, number(index));
                }
                let words: Vec<u64> = packed.to_words().collect();
                assert_eq!(Packed::checked_words(len as u64, width), Some(words.len() as u64));
                let read = Packed::from_words(words.into_iter(), width);
                assert!((0..len).all(|index| read.get(index) == number(index)), "{width}");
            }
        }
        assert_eq!(Packed::checked_words(u64::MAX, 2), None);
    }
}
