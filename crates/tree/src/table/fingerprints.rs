//! One byte of hash for each entry of a block: a key is compared only with entries whose byte is its own, as
//! one in 256 of the others is (the leaves of `FPTree`, Oukid et al., SIGMOD 2016).
//!
//! ```text
//! u16 restart interval, u8 × entries: the lowest byte of each key's hash
//! ```

use types::KeyHash;

/// The bytes before the fingerprints.
const HEAD_BYTES: usize = 2;

/// Fingerprints that are compared at once.
const LANES: usize = 32;

/// The bytes that an index over `entries` entries takes.
pub(super) fn len(entries: usize) -> usize {
    HEAD_BYTES + entries
}

/// Appends the index of entries with these hashes; every `restart_interval`-th is a restart point.
pub(super) fn build(hashes: impl Iterator<Item = KeyHash>, restart_interval: u32, out: &mut Vec<u8>) {
    out.extend_from_slice(&(restart_interval as u16).to_le_bytes());
    out.extend(hashes.map(fingerprint));
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
    /// The entry that the first bit of `mask` stands for, plus [`LANES`].
    base: usize,
    /// Entries that match and were not given out.
    mask: u32,
    /// The restart point given out last.
    last: usize,
}

impl Restarts<'_> {
    /// Compares the next fingerprints.
    #[inline]
    fn compare(&mut self) {
        let mut lanes = [!self.wanted; LANES];
        let count = self.fingerprints.len().min(LANES);
        let (now, later) = self.fingerprints.split_at(count);
        lanes[..count].copy_from_slice(now);
        self.fingerprints = later;
        self.base += LANES;
        self.mask = lanes
            .iter()
            .enumerate()
            .fold(0, |mask, (lane, byte)| mask | u32::from(*byte == self.wanted) << lane);
    }
}

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
            let restart = entry / self.interval;
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
            build((0..entries).map(hash), interval, &mut index);
            assert_eq!(index.len(), len(entries as usize));
            let mut found = 0;
            for entry in 0..entries {
                let restarts: Vec<usize> = restarts(&index, hash(entry)).unwrap().collect();
                assert!(
                    restarts.contains(&((entry / u64::from(interval)) as usize)),
                    "{entry}: {restarts:?}"
                );
                assert!(restarts.is_sorted_by(|a, b| a < b));
                found += restarts.len();
            }
            let chance = 1.0 + entries as f64 / 128.0;
            assert!(found as f64 <= entries as f64 * chance, "{found} of {entries}");
        }
        assert!(restarts(&[0], hash(1)).is_none());
        assert!(restarts(&[0, 0, 1], hash(1)).is_none());
    }
}
