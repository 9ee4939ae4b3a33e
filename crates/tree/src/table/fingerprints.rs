//! The fingerprint index of a data block, with one hash byte (fingerprint) per entry.
//!
//! A lookup compares its key only with entries whose fingerprint equals the hash byte of the key. On average, the
//! fingerprint excludes 255 of 256 entries with other keys. Source: the leaves of `FPTree` (Oukid et al., SIGMOD 2016).
//!
//! ```text
//! u16 restart interval, u8 × entries: the lowest byte of each key's hash
//! ```

use types::KeyHash;

/// The number of bytes in front of the fingerprints in the fingerprint index of a data block.
const HEAD_BYTES: usize = 2;

/// The number of fingerprints that a lookup compares in one step.
const GROUP: usize = 64;

/// The number of fingerprints that one SIMD instruction compares.
const CHUNK: usize = 16;

/// Returns the size of the fingerprint index of a data block with `entries` entries, in bytes.
pub(super) fn len(entries: usize) -> usize {
    HEAD_BYTES + entries
}

/// Appends the fingerprint index of a data block to `out`. `hashes` contains the hash of each key of the block. Every
/// `interval`-th entry is a restart point.
pub(super) fn build(hashes: &[KeyHash], interval: usize, out: &mut Vec<u8>) {
    out.extend_from_slice(&(interval as u16).to_le_bytes());
    out.extend(hashes.iter().map(|hash| fingerprint(*hash)));
}

/// The fingerprint index of a data block: one hash byte per entry.
#[derive(Clone, Copy)]
pub(super) struct Fingerprints<'a> {
    /// The restart interval of the data block in entries, at least one.
    pub(super) interval: usize,
    /// The data block from its first byte to the end of its fingerprint index.
    bytes: &'a [u8],
    count: usize,
}

impl<'a> Fingerprints<'a> {
    /// Reads the fingerprint index of a data block. `bytes` ends with the index, which has `len` bytes. Returns `None`
    /// if the index is invalid.
    #[inline]
    pub(super) fn new(bytes: &'a [u8], len: usize) -> Option<Self> {
        let index = bytes.get(bytes.len().checked_sub(len)?..)?;
        let (interval, fingerprints) = index.split_first_chunk::<HEAD_BYTES>()?;
        let interval = usize::from(u16::from_le_bytes(*interval));
        (interval > 0).then_some(Self { interval, bytes, count: fingerprints.len() })
    }

    /// Returns the numbers of the entries whose fingerprint equals the lowest byte of `hash`. The iterator returns each
    /// number once.
    #[inline]
    pub(super) fn matches(self, hash: KeyHash) -> Matches<'a> {
        Matches { left: self, wanted: fingerprint(hash), mask: 0 }
    }
}

fn fingerprint(hash: KeyHash) -> u8 {
    hash.0 as u8
}

/// An iterator over the numbers of the entries with a matching fingerprint, from [`Fingerprints::matches`].
pub(super) struct Matches<'a> {
    /// The fingerprints that the iterator has not compared yet. The iterator compares groups of fingerprints from the
    /// end.
    left: Fingerprints<'a>,
    wanted: u8,
    /// A bit mask of the matching entries in the last compared group that the iterator has not returned yet.
    mask: u64,
}

impl Iterator for Matches<'_> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        while self.mask == 0 {
            if self.left.count == 0 {
                return None;
            }
            let taken = self.left.count.min(GROUP);
            self.mask = equal_last(self.left.bytes, taken, self.wanted);
            self.left.count -= taken;
            self.left.bytes = &self.left.bytes[..self.left.bytes.len() - taken];
        }
        let entry = self.left.count + self.mask.trailing_zeros() as usize;
        self.mask &= self.mask - 1;
        Some(entry)
    }
}

/// Compares the last `count` of the fingerprints `bytes` with `wanted`. Returns a bit mask with one bit per compared
/// byte, which is set if the byte equals `wanted`. `count` is 1 to [`GROUP`].
#[inline]
fn equal_last(bytes: &[u8], count: usize, wanted: u8) -> u64 {
    if let Some(group) = bytes.last_chunk::<GROUP>() {
        // The function compares a full group, and then drops the results of all bytes before the last `count` bytes. A
        // comparison of variable length would be slower.
        let (chunks, _) = group.as_chunks::<CHUNK>();
        let masks = chunks.iter().rev().map(|chunk| equal_chunk(chunk, wanted));
        return masks.fold(0, |mask, chunk| mask << CHUNK | u64::from(chunk)) >> (GROUP - count);
    }
    let bytes = bytes[bytes.len() - count..].iter().rev();
    bytes.fold(0, |mask, byte| mask << 1 | u64::from(*byte == wanted))
}

/// Compares the 16 bytes of a chunk with `wanted`. Returns a bit mask with one bit per byte, which is set if the byte
/// equals `wanted`.
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
#[inline]
fn equal_chunk(chunk: &[u8; CHUNK], wanted: u8) -> u16 {
    use std::arch::x86_64::{_mm_cmpeq_epi8, _mm_loadu_si128, _mm_movemask_epi8, _mm_set1_epi8};
    // SAFETY: every x86-64 CPU supports SSE2. A chunk has the 16 bytes that the load reads, and the load needs no
    // alignment.
    unsafe {
        let bytes = _mm_loadu_si128(chunk.as_ptr().cast());
        _mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(wanted.cast_signed()))) as u16
    }
}

/// Compares the 16 bytes of a chunk with `wanted`. Returns a bit mask with one bit per byte, which is set if the byte
/// equals `wanted`. The mask is the sum of a power of two for each equal byte, because NEON has no instruction that
/// collects one bit per byte.
#[cfg(target_arch = "aarch64")]
#[allow(unsafe_code)]
#[inline]
fn equal_chunk(chunk: &[u8; CHUNK], wanted: u8) -> u16 {
    use std::arch::aarch64::{vaddv_u8, vandq_u8, vceqq_u8, vdupq_n_u8, vget_high_u8, vget_low_u8, vld1q_u8};
    const WEIGHTS: [u8; CHUNK] = [1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128];
    // SAFETY: every AArch64 CPU that Rust supports by default has NEON. Both arrays have the 16 bytes that a load
    // reads, and a load needs no alignment.
    unsafe {
        let equal = vceqq_u8(vld1q_u8(chunk.as_ptr()), vdupq_n_u8(wanted));
        let weighted = vandq_u8(equal, vld1q_u8(WEIGHTS.as_ptr()));
        u16::from_le_bytes([vaddv_u8(vget_low_u8(weighted)), vaddv_u8(vget_high_u8(weighted))])
    }
}

/// Compares the 16 bytes of a chunk with `wanted`, without SIMD instructions. Returns a bit mask with one bit per byte,
/// which is set if the byte equals `wanted`.
#[cfg(any(test, not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
fn equal_chunk_plainly(chunk: &[u8; CHUNK], wanted: u8) -> u16 {
    chunk.iter().rev().fold(0, |mask, byte| mask << 1 | u16::from(*byte == wanted))
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
use equal_chunk_plainly as equal_chunk;

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(number: u64) -> KeyHash {
        KeyHash(number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 8)
    }

    #[test]
    fn every_key_finds_itself_and_few_others() {
        for before in [0, 7, 300] {
            for entries in [1, 31, 32, 33, 63, 64, 65, 200] {
                let mut bytes = vec![0; before];
                let hashes: Vec<KeyHash> = (0..entries).map(hash).collect();
                build(&hashes, 16, &mut bytes);
                assert_eq!(bytes.len() - before, len(hashes.len()));
                let index = Fingerprints::new(&bytes, len(hashes.len())).unwrap();
                assert_eq!(index.interval, 16);
                for wanted in &hashes {
                    let mut found: Vec<usize> = index.matches(*wanted).collect();
                    found.sort_unstable();
                    let same = |entry: &usize| fingerprint(hashes[*entry]) == fingerprint(*wanted);
                    assert_eq!(found, (0..hashes.len()).filter(same).collect::<Vec<_>>());
                }
            }
        }
        assert!(Fingerprints::new(&[0], 1).is_none());
        assert!(Fingerprints::new(&[0, 0, 1], 3).is_none());
        assert!(Fingerprints::new(&[1, 0, 1], 4).is_none());
    }

    #[test]
    fn sixteen_at_a_time_is_one_at_a_time() {
        let bytes: Vec<u8> = (0..100).map(|i| hash(i % 7).0 as u8).collect();
        for chunk in bytes.array_windows::<CHUNK>() {
            assert_eq!(equal_chunk(chunk, bytes[3]), equal_chunk_plainly(chunk, bytes[3]));
        }
    }
}
