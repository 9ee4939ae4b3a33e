//! The hash index of a data block. The index maps the hash of a key to the restart point at or before the key. Source:
//! the data block hash index of `RocksDB` (2018).
//!
//! Each bucket is one byte. A bucket contains the number of a restart point, or the value for an empty bucket, or the
//! value for a collision. In a collision, keys after different restart points have this bucket, so the lookup must
//! search the block.

use types::KeyHash;

const EMPTY: u8 = 255;
const COLLISION: u8 = 254;

/// The maximum number of restart points in a block with a hash index. A bucket has one byte, and two values of this
/// byte have other meanings. A block with more restart points gets no index.
const MAX_RESTARTS: usize = 254;

/// The content of one bucket of a hash index. A lookup finds the bucket by the hash of its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bucket {
    /// No key of the data block has this bucket, so the block does not contain the searched key.
    Empty,
    /// All keys of the data block with this bucket are between the restart point with this number and the next restart
    /// point.
    Restart(u8),
    /// Keys after different restart points have this bucket, so the lookup must search the whole data block.
    Collision,
}

/// Appends the hash index of a data block to `out`. `hashes` contains the hash of each key, `keys_per_bucket` is the
/// mean number of keys per bucket, and every `interval`-th key is a restart point. Appends nothing if the block has too
/// many restart points.
pub(super) fn build(hashes: &[KeyHash], interval: usize, keys_per_bucket: f64, out: &mut Vec<u8>) {
    if hashes.len().div_ceil(interval) > MAX_RESTARTS {
        return;
    }
    let count = bucket_count(hashes.len(), keys_per_bucket);
    let start = out.len();
    out.resize(start + count, EMPTY);
    let buckets = &mut out[start..];
    for (restart, behind) in hashes.chunks(interval).enumerate() {
        behind.iter().for_each(|hash| put(buckets, *hash, restart));
    }
}

/// Returns the buckets of a hash index that is stored outside of its block. Each element of `keys` is the hash of a key
/// and the number of the restart point at or before the key, in key order. Returns `None` if there are more than
/// [`MAX_RESTARTS`] restart points, or no keys.
pub(super) fn buckets(keys: &[(KeyHash, usize)], keys_per_bucket: f64) -> Option<Vec<u8>> {
    keys.last().filter(|(_, restart)| *restart < MAX_RESTARTS)?;
    let mut buckets = vec![EMPTY; bucket_count(keys.len(), keys_per_bucket)];
    keys.iter().for_each(|(hash, restart)| put(&mut buckets, *hash, *restart));
    Some(buckets)
}

/// Adds a key to its bucket of a hash index. `restart` is the number of the restart point at or before the key.
fn put(buckets: &mut [u8], hash: KeyHash, restart: usize) {
    let count = buckets.len();
    let bucket = &mut buckets[place(hash, count)];
    *bucket = match *bucket {
        EMPTY => restart as u8,
        same if usize::from(same) == restart => same,
        _ => COLLISION,
    };
}

/// Returns the number of buckets in a hash index over `keys` keys.
pub(super) fn bucket_count(keys: usize, keys_per_bucket: f64) -> usize {
    (keys as f64 / keys_per_bucket).ceil() as usize
}

/// Returns the content of the bucket that a hash index has for `hash`.
#[inline]
pub(super) fn lookup(buckets: &[u8], hash: KeyHash) -> Bucket {
    match buckets[place(hash, buckets.len())] {
        EMPTY => Bucket::Empty,
        COLLISION => Bucket::Collision,
        restart => Bucket::Restart(restart),
    }
}

/// Returns the number of the bucket for a hash, if the hash index has `count` buckets.
///
/// The bucket depends only on the low 32 bits of the hash. A filter selects its cache line with the high 32 bits, so
/// the bucket and the cache line are independent.
#[inline]
fn place(hash: KeyHash, count: usize) -> usize {
    (((hash.0 & 0xffff_ffff) * count as u64) >> 32) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_finds_its_restart_point_or_a_collision() {
        let hashes: Vec<KeyHash> =
            (0..200u64).map(|i| KeyHash(i.wrapping_mul(0x9e37_79b9_7f4a_7c15))).collect();
        // The minimum number of keys that are found without a search, for 3/4, 1 and 4 keys per bucket.
        for (load, count, least) in [(0.75, 267, 80), (1.0, 200, 60), (4.0, 50, 0)] {
            let buckets = of_intervals(&hashes, load);
            assert_eq!(buckets.len(), count);
            let direct = direct(&hashes, &buckets);
            assert!(direct >= least, "only {direct} of 200 keys are found directly at {load}");
        }
        let mut none = Vec::new();
        build(&[KeyHash(0); 300], 1, 0.75, &mut none);
        assert!(none.is_empty());
    }

    fn of_intervals(hashes: &[KeyHash], load: f64) -> Vec<u8> {
        let mut buckets = Vec::new();
        build(hashes, 16, load, &mut buckets);
        buckets
    }

    /// Returns the number of keys that are found without a search. All other keys have a collision.
    fn direct(hashes: &[KeyHash], buckets: &[u8]) -> usize {
        let mut direct = 0;
        for (entry, hash) in hashes.iter().enumerate() {
            match lookup(buckets, *hash) {
                Bucket::Restart(found) => {
                    assert_eq!(usize::from(found), entry / 16);
                    direct += 1;
                }
                Bucket::Collision => {}
                Bucket::Empty => panic!("a key of the block is reported absent"),
            }
        }
        direct
    }
}
