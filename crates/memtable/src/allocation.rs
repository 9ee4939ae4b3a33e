//! Computes the size that a heap allocation takes in memory. Memory estimates use this size, so that they include the
//! overhead of small objects.

/// Returns the memory in bytes that an allocation of `len` bytes takes with the `malloc` of glibc: `len` and a header
/// of 8 bytes, rounded up to a multiple of 16, and at least 32 bytes. Returns 0 if `len` is 0.
pub(crate) fn allocation_bytes(len: usize) -> usize {
    if len == 0 { 0 } else { (len + 8).next_multiple_of(16).max(32) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_objects_cost_more_than_their_bytes() {
        let cases = [(0, 0), (1, 32), (24, 32), (25, 48), (100, 112), (1000, 1008)];
        assert!(cases.iter().all(|(len, bytes)| allocation_bytes(*len) == *bytes));
    }
}
