//! Stores a block raw if a codec does not make it smaller. No block therefore ever grows.

use std::cell::RefCell;

use crate::compression::RAW;

thread_local! {
    /// The output buffer of this thread, which all codecs reuse so that the buffer need not be cleared for each block.
    static SPACE: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Allocates the output buffer of this thread in advance, for blocks of `block_bytes` bytes. All codecs share this
/// buffer, so a later measurement of the memory of one codec does not include it.
pub fn make_room(block_bytes: usize) {
    // No format adds more than a sixth of a block, and a small constant.
    let bound = block_bytes + block_bytes / 4 + 1024;
    SPACE.with_borrow_mut(|space| space.resize(space.len().max(bound), 0));
}

/// Compresses `block` with the function `codec`, appends the output to `out`, and returns `tag`. If the output is not
/// smaller than the block, or if `codec` fails, appends the block itself and returns [`RAW`]. `codec` writes into a
/// slice of `bound` bytes, and returns the number of written bytes.
pub(crate) fn append(
    tag: u8,
    bound: usize,
    block: &[u8],
    out: &mut Vec<u8>,
    codec: impl FnOnce(&mut [u8]) -> Option<usize>,
) -> u8 {
    SPACE.with_borrow_mut(|space| {
        if space.len() < bound {
            space.resize(bound, 0);
        }
        let stored = codec(&mut space[..bound]).filter(|written| *written < block.len());
        out.extend_from_slice(stored.map_or(block, |written| &space[..written]));
        if stored.is_some() { tag } else { RAW }
    })
}

/// Appends the compressed bytes `stored` of `block` to `out` and returns `tag`. If `stored` is not smaller than
/// `block`, appends the block itself and returns [`RAW`].
pub(crate) fn append_whole(tag: u8, stored: &[u8], block: &[u8], out: &mut Vec<u8>) -> u8 {
    let is_smaller = stored.len() < block.len();
    out.extend_from_slice(if is_smaller { stored } else { block });
    if is_smaller { tag } else { RAW }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_made_once() {
        make_room(10_000);
        let before = SPACE.with_borrow(|space| (space.len(), space.as_ptr()));
        assert!(before.0 >= 12_500);
        append(9, 12_000, b"data", &mut Vec::new(), |_| None);
        make_room(100);
        assert_eq!(SPACE.with_borrow(|space| (space.len(), space.as_ptr())), before);
    }

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
