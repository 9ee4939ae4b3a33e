//! Conversion of numbers to decimal digits.

/// Number of decimal digits that [`decimal_digits`] returns. 24 digits are enough for every 64-bit number, and a
/// multiple of 8.
pub(super) const DIGITS: usize = 24;

/// Returns `number` as [`DIGITS`] decimal digits, with leading zeros.
#[inline]
pub(super) fn decimal_digits(number: u64) -> [u8; DIGITS] {
    const EIGHT: u64 = 100_000_000;
    let (upper, lower) = (number / EIGHT, number % EIGHT);
    let mut digits = [0; DIGITS];
    for (eight, part) in digits.chunks_exact_mut(8).zip([upper / EIGHT, upper % EIGHT, lower]) {
        eight.copy_from_slice(&eight_digits(part));
    }
    digits
}

/// Returns a number below 10⁸ as eight decimal digits. The function computes all digits at once in a 64-bit integer.
#[inline]
fn eight_digits(number: u64) -> [u8; 8] {
    let fours = (number / 10_000) | ((number % 10_000) << 32);
    // First step: x / 100 in two lanes, for x < 10 000. Second step: x / 10 in four lanes, for x < 100.
    let hundreds = ((fours * 10_486) >> 20) & 0x0000_007f_0000_007f;
    let twos = hundreds | ((fours - hundreds * 100) << 16);
    let tens = ((twos * 103) >> 10) & 0x000f_000f_000f_000f;
    let ones = tens | ((twos - tens * 10) << 8);
    (ones | 0x3030_3030_3030_3030).to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_those_of_the_standard_library() {
        let mut random = crate::random::Random::new(1);
        let random = (0..100_000).map(|i| random.bits() >> (i % 64));
        for number in
            [0, 9, 10, 99, 100, 9999, 10_000, 99_999_999, 100_000_000, u64::MAX].into_iter().chain(random)
        {
            let digits = decimal_digits(number);
            assert_eq!(std::str::from_utf8(&digits).unwrap(), format!("{number:024}"));
        }
    }
}
