//! The rule that no block ever grows: what a codec does not make smaller is stored as it is.

use crate::compression::RAW;

/// Appends what `codec` makes of `block` to `out` and returns `tag`; where that is not smaller, or the
/// codec fails, appends the block itself and returns [`RAW`]. The codec writes into the slice it is given,
/// at least `bound` bytes, and says how many it wrote.
pub(crate) fn append(
    tag: u8,
    bound: usize,
    block: &[u8],
    out: &mut Vec<u8>,
    codec: impl FnOnce(&mut [u8]) -> Option<usize>,
) -> u8 {
    let start = out.len();
    out.resize(start + bound, 0);
    match codec(&mut out[start..]) {
        Some(written) if written < block.len() => {
            out.truncate(start + written);
            tag
        }
        _ => {
            out.truncate(start);
            out.extend_from_slice(block);
            RAW
        }
    }
}

/// Appends `stored` to `out` and returns `tag`, or, where it is not smaller than `block`, the block itself and
/// [`RAW`].
pub(crate) fn append_whole(tag: u8, stored: &[u8], block: &[u8], out: &mut Vec<u8>) -> u8 {
    let is_smaller = stored.len() < block.len();
    out.extend_from_slice(if is_smaller { stored } else { block });
    if is_smaller { tag } else { RAW }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_smaller_is_kept() {
        for (written, expected) in [(Some(3), 9), (Some(4), RAW), (Some(5), RAW), (None, RAW)] {
            let mut out = b"before".to_vec();
            let tag = append(9, 5, b"data", &mut out, |space| {
                space.fill(b'x');
                written
            });
            assert_eq!(tag, expected);
            assert_eq!(out, if tag == RAW { b"beforedata".as_slice() } else { b"beforexxx" });
        }
    }
}
