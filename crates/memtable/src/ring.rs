//! A consistent-hash ring, which maps hashes to shards. If the number of shards changes, the ring moves only the
//! smallest necessary number of keys to another shard.
//!
//! Each shard has several points (virtual nodes) on the ring, whose positions are 128-bit numbers. The position of a
//! point is the XXH3-128 hash of the shard number and the point number. A key belongs to the shard of the first point
//! at or after the hash of the key. The number of keys of a shard is proportional to its number of points, with a
//! relative deviation of about `1 / sqrt(points)`. Source: Karger et al., "Consistent Hashing and Random Trees", STOC
//! 1997. The document cs265, section 2.2.1, also uses XXH3-128.

use xxhash_rust::xxh3::xxh3_128;

/// A consistent-hash ring: the points of all shards in order of their positions. The hash of a key selects the next
/// point, and the key belongs to the shard of this point.
#[derive(Debug)]
pub(crate) struct Ring {
    points: Vec<Point>,
    /// For each value of the highest `bucket_bits` bits of a hash, the index of the first point at or after the
    /// smallest hash with these bits. With this table, a lookup examines only one or two points of the ring.
    buckets: Vec<u32>,
    bucket_bits: u32,
}

/// One point of a shard on the consistent-hash ring (a virtual node).
#[derive(Clone, Copy, Debug)]
struct Point {
    at: u128,
    shard: u32,
}

impl Ring {
    /// Creates a ring in which shard i has `points[i]` points. The ring must have at least one shard, and each shard at
    /// least one point.
    pub(crate) fn new(points: &[u32]) -> Self {
        let mut points: Vec<Point> = (0..)
            .zip(points)
            .flat_map(|(shard, points)| (0..*points).map(move |node| Point { at: place(shard, node), shard }))
            .collect();
        points.sort_unstable_by_key(|point| (point.at, point.shard));
        let bucket_bits = points.len().next_power_of_two().trailing_zeros().max(1);
        let buckets = (0..1u128 << bucket_bits)
            .map(|bucket| {
                let start = bucket << (u128::BITS - bucket_bits);
                points.partition_point(|point| point.at < start) as u32
            })
            .collect();
        Self { points, buckets, bucket_bits }
    }

    /// Returns the index of the shard to which `hash` belongs.
    #[inline]
    pub(crate) fn shard(&self, hash: u128) -> usize {
        let bucket = (hash >> (u128::BITS - self.bucket_bits)) as usize;
        let from = self.buckets[bucket] as usize;
        let behind = self.points[from..].iter().find(|point| point.at >= hash);
        // A hash after the last point belongs to the first point of the ring.
        behind.unwrap_or(&self.points[0]).shard as usize
    }
}

/// Returns the position of a point of a shard on the ring, which is a hash of both numbers. The hash input begins with
/// a constant word, so that it differs from the hash input of keys that are small integers.
fn place(shard: u32, node: u32) -> u128 {
    let mut name = *b"ring........";
    name[4..8].copy_from_slice(&shard.to_le_bytes());
    name[8..].copy_from_slice(&node.to_le_bytes());
    xxh3_128(&name)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// Returns hashes near the borders of points and buckets, and other hashes.
    fn probes(ring: &Ring) -> Vec<u128> {
        let near = ring.points.iter().flat_map(|point| [point.at - 1, point.at, point.at + 1]);
        near.chain([0, u128::MAX]).chain((0..10_000u64).map(|i| xxh3_128(&i.to_le_bytes()))).collect()
    }

    #[test]
    fn it_routes_like_the_ordered_map_of_the_document() {
        for (shards, virtual_nodes) in [(1u32, 1), (2, 1), (3, 7), (16, 128)] {
            let ring = Ring::new(&vec![virtual_nodes; shards as usize]);
            let map: BTreeMap<u128, u32> = (0..shards)
                .flat_map(|shard| (0..virtual_nodes).map(move |node| (place(shard, node), shard)))
                .collect();
            for hash in probes(&ring) {
                let expected = map.range(hash..).next().or_else(|| map.iter().next()).unwrap().1;
                assert_eq!(ring.shard(hash), *expected as usize);
            }
        }
    }

    #[test]
    fn one_shard_more_moves_its_share_and_nothing_else() {
        let (before, after) = (Ring::new(&[128; 16]), Ring::new(&[128; 17]));
        let hashes = (0..100_000u64).map(|i| xxh3_128(&i.to_le_bytes()));
        let mut moved = 0;
        for hash in hashes {
            let (old, new) = (before.shard(hash), after.shard(hash));
            assert!(old == new || new == 16, "a key moved between shards that both stay");
            moved += usize::from(old != new);
        }
        // The expected share is 1/17 of the keys, with a tolerance of three times the deviation of 128 points, which
        // is 9 %.
        assert!((4_200..7_600).contains(&moved), "{moved}");
    }

    #[test]
    fn more_virtual_nodes_make_shares_more_equal() {
        let spread = |virtual_nodes| {
            let ring = Ring::new(&[virtual_nodes; 16]);
            let mut shares = [0.0; 16];
            (0..100_000u64).for_each(|i| shares[ring.shard(xxh3_128(&i.to_le_bytes()))] += 1.0);
            let mean = 100_000.0 / 16.0;
            (shares.iter().map(|share: &f64| (share - mean).powi(2)).sum::<f64>() / 16.0).sqrt() / mean
        };
        for virtual_nodes in [4u32, 64, 1024] {
            let expected = 1.0 / f64::from(virtual_nodes).sqrt();
            let spread = spread(virtual_nodes);
            assert!((expected / 2.0..expected * 2.0).contains(&spread), "{spread}, not about {expected}");
        }
    }
}
