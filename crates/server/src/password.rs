//! Compares passwords without revealing their contents through the duration of the comparison.

/// Compares two passwords. The duration depends only on the length of the given password, and not on its contents.
pub(crate) fn is_same(given: &[u8], expected: &[u8]) -> bool {
    let differing = given.iter().zip(expected.iter().cycle()).fold(0, |all, (a, b)| all | (a ^ b));
    std::hint::black_box(differing) == 0 && given.len() == expected.len()
}
