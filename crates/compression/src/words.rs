//! Functions for the codecs of integer columns, which split a block into 8-byte words and pack numbers into bits.

/// Returns the first bytes of an encoded block: the length of `block`, by which decompression detects a wrong length.
pub(crate) fn begin(block: &[u8]) -> Vec<u8> {
    (block.len() as u32).to_le_bytes().to_vec()
}

/// Returns the bytes of an encoded block that follow its stored length. Returns `None` if the stored length differs
/// from `len`.
pub(crate) fn behind_begin(stored: &[u8], len: usize) -> Option<&[u8]> {
    let (stored_len, behind) = stored.split_first_chunk::<4>()?;
    (u32::from_le_bytes(*stored_len) as usize == len).then_some(behind)
}

/// Splits a block into its 8-byte little-endian words and the remaining bytes.
pub(crate) fn split(block: &[u8]) -> (impl ExactSizeIterator<Item = u64> + Clone, &[u8]) {
    let (words, rest) = block.as_chunks::<8>();
    (words.iter().map(|word| u64::from_le_bytes(*word)), rest)
}

/// Returns the smallest number of bits that can represent `number`.
pub(crate) fn width(number: u64) -> u32 {
    u64::BITS - number.leading_zeros()
}

/// Returns the number of bytes that `count` numbers of `width` bits take.
pub(crate) fn packed_len(count: usize, width: u32) -> usize {
    (count * width as usize).div_ceil(8)
}

/// Appends the lowest `width` bits of each number to `out`, one number directly after the other, and pads the last byte
/// with zeros.
pub(crate) fn pack(numbers: impl Iterator<Item = u64>, width: u32, out: &mut Vec<u8>) {
    let (mut bits, mut held) = (0u128, 0);
    for number in numbers {
        bits |= u128::from(number) << held;
        held += width;
        while held >= 8 {
            out.push(bits as u8);
            bits >>= 8;
            held -= 8;
        }
    }
    if held > 0 {
        out.push(bits as u8);
    }
}

/// Iterates over `count` numbers of `width` bits in `packed`, whose length must be [`packed_len`].
pub(crate) fn unpack(packed: &[u8], count: usize, width: u32) -> impl Iterator<Item = u64> {
    let mask = if width == u64::BITS { u64::MAX } else { (1 << width) - 1 };
    let (mut bits, mut held, mut bytes) = (0u128, 0, packed.iter());
    (0..count).map(move |_| {
        while held < width {
            bits |= u128::from(bytes.next().copied().unwrap_or(0)) << held;
            held += 8;
        }
        let number = bits as u64 & mask;
        bits >>= width;
        held -= width;
        number
    })
}

/// Fills `out` with the bytes of `words`, followed by `rest`. Returns `None` if their total length is not the length of
/// `out`.
pub(crate) fn join(mut words: impl Iterator<Item = u64>, rest: &[u8], out: &mut [u8]) -> Option<()> {
    let (places, end) = out.as_chunks_mut::<8>();
    for place in places {
        *place = words.next()?.to_le_bytes();
    }
    if words.next().is_some() || end.len() != rest.len() {
        return None;
    }
    end.copy_from_slice(rest);
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_any_width_come_back() {
        for bits in 0..=64 {
            let mask = if bits == 64 { u64::MAX } else { (1 << bits) - 1 };
            let numbers: Vec<u64> =
                (1..100u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15) & mask).collect();
            let mut packed = Vec::new();
            pack(numbers.iter().copied(), bits, &mut packed);
            assert_eq!(packed.len(), packed_len(numbers.len(), bits));
            assert!(numbers.iter().all(|number| width(*number) <= bits));
            assert_eq!(unpack(&packed, numbers.len(), bits).collect::<Vec<_>>(), numbers, "{bits} bits");
        }
    }
}
