//! The order-0 entropy of a block, and its fraction of text bytes. Selectors use these values to choose a codec.

/// The number of bytes at the start of a block from which selectors compute its entropy and its fraction of text.
const SAMPLE_BYTES: usize = 4096;

/// Returns the order-0 entropy of the first bytes of a block, in bits per byte. The entropy is 0 if all bytes are
/// equal, and 8 if all byte values occur equally often (Shannon 1948).
pub(crate) fn bits_per_byte(block: &[u8]) -> f64 {
    let sample = &block[..block.len().min(SAMPLE_BYTES)];
    let mut counts = [0u32; 256];
    sample.iter().for_each(|byte| counts[usize::from(*byte)] += 1);
    let len = sample.len() as f64;
    let share = |count: &u32| {
        let share = f64::from(*count) / len;
        -share * share.log2()
    };
    counts.iter().filter(|count| **count > 0).map(share).sum()
}

/// Returns the fraction of the first bytes of a block that are printable ASCII, tabs or line ends.
pub(crate) fn text_share(block: &[u8]) -> f64 {
    let sample = &block[..block.len().min(SAMPLE_BYTES)];
    let is_text = |byte: &&u8| byte.is_ascii_graphic() || byte.is_ascii_whitespace();
    sample.iter().filter(is_text).count() as f64 / sample.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entropy_is_that_of_the_distribution() {
        assert!(bits_per_byte(&[7; 100]).abs() < 1e-9);
        assert!((bits_per_byte(&[1, 2, 3, 4].repeat(50)) - 2.0).abs() < 1e-9);
        assert!((bits_per_byte(&(0..=255).collect::<Vec<u8>>()) - 8.0).abs() < 1e-9);
        assert!(bits_per_byte(&[]).abs() < 1e-9);
        assert!((text_share(b"text\x00\x01\x02\x03") - 0.5).abs() < 1e-9);
    }
}
