//! One byte of hash for each entry of a block: a key is compared only with entries whose byte is its own, as
//! one in 256 of the others is (the leaves of `FPTree`, Oukid et al., SIGMOD 2016).
//!
//! ```text
//! u16 restart interval, u8 × entries: the lowest byte of each key's hash
//! ```

use types::KeyHash;

/// The bytes before the fingerprints.
const HEAD_BYTES: usize = 2;

/// Fingerprints that are looked at before the first entry is.
const LANES: usize = 64;

/// Fingerprints that are compared at once.
const CHUNK: usize = 16;

/// The bytes that an index over `entries` entries takes.
pub(super) fn len(entries: usize) -> usize {
    HEAD_BYTES + entries
}

/// Appends the index of entries with these hashes; every `interval`-th is a restart point.
pub(super) fn build(hashes: &[KeyHash], interval: usize, out: &mut Vec<u8>) {
    out.extend_from_slice(&(interval as u16).to_le_bytes());
    out.extend(hashes.iter().map(|hash| fingerprint(*hash)));
}

/// The restart points behind which entries with the fingerprint of `hash` stand, in order, each once; `None`
/// where `index` is no such index.
pub(super) fn restarts(index: &[u8], hash: KeyHash) -> Option<Restarts<'_>> {
    let (interval, fingerprints) = index.split_first_chunk::<HEAD_BYTES>()?;
    let interval = usize::from(u16::from_le_bytes(*interval));
    (interval > 0).then(|| Restarts {
        fingerprints,
        wanted: fingerprint(hash),
        interval,
        base: 0,
        mask: 0,
        last: usize::MAX,
    })
}

fn fingerprint(hash: KeyHash) -> u8 {
    hash.0 as u8
}

/// See [`restarts`].
pub(super) struct Restarts<'a> {
    /// Those that were not looked at yet.
    fingerprints: &'a [u8],
    wanted: u8,
    interval: usize,
    /// The entry behind those that the bits of `mask` stand for.
    base: usize,
    /// Entries that match and were not given out, those before `base`.
    mask: u64,
    /// The restart point given out last.
    last: usize,
}

impl Restarts<'_> {
    /// Compares the next fingerprints.
    #[inline]
    fn compare(&mut self) {
        let count = self.fingerprints.len().min(LANES);
        let (now, later) = self.fingerprints.split_at(count);
        self.fingerprints = later;
        self.base += LANES;
        self.mask = equal(now, self.wanted);
    }
}

/// The bytes of `bytes`, at most [`LANES`], that equal `wanted`, as bits.
#[inline]
fn equal(bytes: &[u8], wanted: u8) -> u64 {
    let (chunks, rest) = bytes.as_chunks::<CHUNK>();
    let mut mask = 0;
    for (chunk, at) in chunks.iter().zip((0..).step_by(CHUNK)) {
        mask |= u64::from(equal_chunk(chunk, wanted)) << at;
    }
    if rest.is_empty() {
        return mask;
    }
    let start = bytes.len() - rest.len();
    match bytes.last_chunk::<CHUNK>() {
        // The last bytes once more, with some before them.
        Some(last) => mask | u64::from(equal_chunk(last, wanted)) >> (CHUNK - rest.len()) << start,
        None => rest.iter().rev().fold(0, |mask, byte| mask << 1 | u64::from(*byte == wanted)),
    }
}

/// The bytes of a chunk that equal `wanted`, as bits.
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
#[inline]
fn equal_chunk(chunk: &[u8; CHUNK], wanted: u8) -> u16 {
    use std::arch::x86_64::{_mm_cmpeq_epi8, _mm_loadu_si128, _mm_movemask_epi8, _mm_set1_epi8};
    // SAFETY: SSE2 is part of x86-64, and a chunk has the sixteen bytes that are loaded, at any alignment.
    unsafe {
        let bytes = _mm_loadu_si128(chunk.as_ptr().cast());
        _mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(wanted.cast_signed()))) as u16
    }
}

/// The bytes of a chunk that equal `wanted`, as bits.
#[cfg(any(test, not(target_arch = "x86_64")))]
fn equal_chunk_plainly(chunk: &[u8; CHUNK], wanted: u8) -> u16 {
    chunk.iter().rev().fold(0, |mask, byte| mask << 1 | u16::from(*byte == wanted))
}

#[cfg(not(target_arch = "x86_64"))]
use equal_chunk_plainly as equal_chunk;

impl Iterator for Restarts<'_> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        loop {
            while self.mask == 0 {
                if self.fingerprints.is_empty() {
                    return None;
                }
                self.compare();
            }
            let entry = self.base - LANES + self.mask.trailing_zeros() as usize;
            self.mask &= self.mask - 1;
            // A division costs more than a comparison of sixteen entries.
            let restart = if self.interval == 1 { entry } else { entry / self.interval };
            if restart != self.last {
                self.last = restart;
                return Some(restart);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_finds_its_restart_point_and_few_others() {
        let hash = |i: u64| KeyHash(i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 8);
        for (entries, interval) in [(1, 1), (31, 1), (32, 1), (33, 4), (200, 16), (200, 1)] {
            let mut index = Vec::new();
            let hashes: Vec<KeyHash> = (0..entries).map(hash).collect();
            build(&hashes, interval, &mut index);
            assert_eq!(index.len(), len(entries as usize));
            let mut found = 0;
            for entry in 0..entries {
                let restarts: Vec<usize> = restarts(&index, hash(entry)).unwrap().collect();
                assert!(restarts.contains(&(entry as usize / interval)), "{entry}: {restarts:?}");
                assert!(restarts.is_sorted_by(|a, b| a < b));
                found += restarts.len();
            }
            let chance = 1.0 + entries as f64 / 128.0;
            assert!(found as f64 <= entries as f64 * chance, "{found} of {entries}");
        }
        let bytes: Vec<u8> = (0..LANES as u64).map(|i| hash(i % 7).0 as u8).collect();
        for (from, to) in (0..LANES).flat_map(|from| (from..=LANES).map(move |to| (from, to))) {
            let plainly =
                (from..to).filter(|at| bytes[*at] == bytes[3]).fold(0, |mask, at| mask | 1 << (at - from));
            assert_eq!(equal(&bytes[from..to], bytes[3]), plainly, "{from}..{to}");
        }
        for chunk in bytes.array_windows::<CHUNK>() {
            assert_eq!(equal_chunk(chunk, bytes[3]), equal_chunk_plainly(chunk, bytes[3]));
        }
        assert!(restarts(&[0], hash(1)).is_none());
        assert!(restarts(&[0, 0, 1], hash(1)).is_none());
    }
}
