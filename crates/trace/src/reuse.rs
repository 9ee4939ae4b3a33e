//! Reuse distances and the miss-ratio curve of LRU, in one pass.
//!
//! The reuse distance of an access is the number of distinct keys accessed since the previous access to its key. A
//! Fenwick tree over the positions of the last accesses counts these keys (Mattson et al. 1970; Bennett and Kruskal
//! 1975). If there are more keys than a limit, only a sample is kept: the keys whose hash is below a threshold. The
//! threshold is halved whenever the sample reaches the limit (SHARDS: Waldspurger et al., FAST '15).

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use types::AlreadyHashed;

/// A map by the hash of a key. The map uses the hash directly and does not hash it again.
type Map<V> = HashMap<u64, V, BuildHasherDefault<AlreadyHashed>>;

/// The initial number of positions in the Fenwick tree. A position stands for the last access to a key.
const FIRST_POSITIONS: usize = 1 << 12;

/// The statistics of a sampled key of a trace.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Key {
    /// The position in the Fenwick tree of the last access to the key.
    position: u32,
    /// The number of accesses to the key.
    pub(crate) count: u64,
    /// The number of the last access to the key, counted over all accesses of the trace.
    last: u64,
}

/// The reuse distances of a trace, computed from a sample of its keys. A reuse distance is the number of other keys
/// that are accessed between two accesses to the same key.
#[derive(Debug)]
pub(crate) struct Reuse {
    most_keys: usize,
    /// The sample contains one key in 2^`shift`.
    shift: u32,
    keys: Map<Key>,
    tree: Vec<u32>,
    next: u32,
    /// The number of accesses with each reuse distance. The index is the distance in sampled keys.
    distances: Vec<f64>,
    /// The number of accesses to sampled keys that were the first access to their key.
    cold: f64,
    accesses: u64,
}

/// The result of a search for the previous access to the same key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    /// The key of the access is not in the sample.
    NotSampled,
    /// The access is the first access to its key.
    First,
    /// The number of the last access to this key, counted over all accesses of the trace.
    Last(u64),
}

impl Reuse {
    /// Creates empty statistics, which keep at most `most_keys` keys in memory.
    pub(crate) fn new(most_keys: usize) -> Self {
        Self {
            most_keys: most_keys.max(1),
            shift: 0,
            keys: Map::default(),
            tree: vec![0; FIRST_POSITIONS + 1],
            next: 0,
            distances: Vec::new(),
            cold: 0.0,
            accesses: 0,
        }
    }

    /// Adds an access to the key with the hash `hash`. Returns the previous access to this key.
    pub(crate) fn access(&mut self, hash: u64) -> Seen {
        let now = self.accesses;
        self.accesses += 1;
        if !is_sampled(hash, self.shift) {
            return Seen::NotSampled;
        }
        if self.next as usize + 1 == self.tree.len() {
            self.renumber();
        }
        let position = self.next;
        self.next += 1;
        let seen = if let Some(key) = self.keys.get_mut(&hash) {
            let old = std::mem::replace(&mut key.position, position);
            let last = std::mem::replace(&mut key.last, now);
            key.count += 1;
            let distance = self.keys.len() - self.up_to(old);
            if self.distances.len() <= distance {
                self.distances.resize(distance + 1, 0.0);
            }
            self.distances[distance] += 1.0;
            self.change(old, u32::MAX);
            Seen::Last(last)
        } else {
            self.keys.insert(hash, Key { position, count: 1, last: now });
            self.cold += 1.0;
            Seen::First
        };
        self.change(position, 1);
        if self.keys.len() > self.most_keys {
            self.halve();
        }
        seen
    }

    /// Returns the number of keys that each sampled key represents. This is 1 if all keys are kept.
    pub(crate) fn scale(&self) -> f64 {
        2f64.powi(self.shift.cast_signed())
    }

    /// Returns the number of distinct keys. If the keys are sampled, this is an estimate.
    pub(crate) fn distinct(&self) -> u64 {
        (self.keys.len() as u64) << self.shift
    }

    /// Returns the number of accesses to each sampled key.
    pub(crate) fn counts(&self) -> Vec<u64> {
        self.keys.values().map(|key| key.count).collect()
    }

    /// Returns the median reuse distance in keys. The first access to each key has no reuse distance.
    pub(crate) fn median_distance(&self) -> Option<f64> {
        let total: f64 = self.distances.iter().sum();
        let mut below = 0.0;
        let place = self.distances.iter().position(|count| {
            below += count;
            below >= total / 2.0
        });
        place.filter(|_| total > 0.0).map(|place| place as f64 * self.scale())
    }

    /// Returns the miss ratio of an LRU cache for each capacity. The capacities are numbers of keys, in ascending
    /// order.
    pub(crate) fn miss_ratios(&self, capacities: &[u64]) -> Vec<f64> {
        let sampled: f64 = self.cold + self.distances.iter().sum::<f64>();
        if sampled <= 0.0 {
            return vec![1.0; capacities.len()];
        }
        // If a sample has more or fewer accesses than expected, it has too many or too few of the most frequent keys,
        // whose distances are short.
        let expected = self.accesses as f64 / self.scale();
        let mut hits = expected - sampled;
        let mut place = 0;
        let ratio = |capacity: &u64| {
            let kept = (*capacity as f64 / self.scale()) as usize;
            while place < kept.min(self.distances.len()) {
                hits += self.distances[place];
                place += 1;
            }
            if kept == 0 { 1.0 } else { (1.0 - hits / expected).clamp(0.0, 1.0) }
        };
        capacities.iter().map(ratio).collect()
    }

    /// Halves the sample of keys to save memory: keeps the keys with the smaller hashes, and adapts the counts.
    fn halve(&mut self) {
        self.shift += 1;
        let shift = self.shift;
        self.keys.retain(|hash, _| is_sampled(*hash, shift));
        let mut halved = vec![0.0; self.distances.len().div_ceil(2)];
        for (distance, count) in self.distances.iter().enumerate() {
            halved[distance / 2] += count / 2.0;
        }
        self.distances = halved;
        self.cold /= 2.0;
        self.renumber();
    }

    /// Closes the gaps between the used positions of the Fenwick tree, and reserves as many further positions.
    fn renumber(&mut self) {
        let mut keys: Vec<&mut Key> = self.keys.values_mut().collect();
        keys.sort_unstable_by_key(|key| key.position);
        for (position, key) in (0..).zip(&mut keys) {
            key.position = position;
        }
        self.next = keys.len() as u32;
        let positions = (2 * keys.len()).max(FIRST_POSITIONS);
        // Node i of a Fenwick tree counts the last accesses at the n positions up to position i, where n is the lowest
        // set bit of i. Each of the first `next` positions has one access.
        self.tree = (0..=positions)
            .map(|node| {
                let first = node - (node & node.wrapping_neg());
                (node.min(self.next as usize)).saturating_sub(first) as u32
            })
            .collect();
    }

    /// Returns the number of last accesses at positions up to `position` in the Fenwick tree.
    fn up_to(&self, position: u32) -> usize {
        let mut node = position as usize + 1;
        let mut sum = 0;
        while node > 0 {
            sum += self.tree[node] as usize;
            node &= node - 1;
        }
        sum
    }

    /// Adds `change` to the number of last accesses at `position` in the Fenwick tree. The sum wraps around at 2³², so
    /// `u32::MAX` subtracts 1.
    fn change(&mut self, position: u32, change: u32) {
        let mut node = position as usize + 1;
        while node < self.tree.len() {
            self.tree[node] = self.tree[node].wrapping_add(change);
            node += node & node.wrapping_neg();
        }
    }
}

/// Returns whether a sample of one key in 2^`shift` contains the key with the hash `hash`.
fn is_sampled(hash: u64, shift: u32) -> bool {
    hash.leading_zeros() >= shift
}

#[cfg(test)]
mod tests {
    use types::avalanche;

    use super::*;

    /// Returns the number of misses of a simulated LRU cache with room for `capacity` keys.
    fn simulated(accesses: &[u64], capacity: usize) -> f64 {
        let mut list: Vec<u64> = Vec::new();
        let mut misses = 0;
        for access in accesses {
            if let Some(place) = list.iter().position(|key| key == access) {
                list.remove(place);
            } else {
                misses += 1;
                list.truncate(capacity - 1);
            }
            list.insert(0, *access);
        }
        f64::from(misses) / accesses.len() as f64
    }

    /// Returns skewed accesses to `keys` keys.
    fn accesses(count: u64, keys: u64) -> Vec<u64> {
        (0..count).map(|at| avalanche(avalanche(at) % (1 + avalanche(at * 7 + 1) % keys))).collect()
    }

    #[test]
    fn the_curve_is_that_of_simulated_caches() {
        let accesses = accesses(6000, 300);
        let mut reuse = Reuse::new(usize::MAX);
        accesses.iter().for_each(|access| {
            reuse.access(*access);
        });
        let capacities = [1, 2, 3, 10, 50, 150, 299, 300, 1000];
        let ratios = reuse.miss_ratios(&capacities);
        for (capacity, ratio) in capacities.iter().zip(&ratios) {
            let simulated = simulated(&accesses, *capacity as usize);
            assert!((ratio - simulated).abs() < 1e-9, "{capacity}: {ratio} and {simulated}");
        }
        assert!(ratios[8] > 0.0 && ratios[0] > ratios[5]);
    }

    #[test]
    fn a_sample_is_close_to_the_whole() {
        let accesses = accesses(200_000, 20_000);
        let (mut whole, mut sample) = (Reuse::new(usize::MAX), Reuse::new(3000));
        for access in accesses {
            whole.access(access);
            sample.access(access);
        }
        assert!(sample.scale() >= 4.0 && sample.keys.len() <= 3000);
        let distinct = whole.distinct() as f64;
        assert!((sample.distinct() as f64 / distinct - 1.0).abs() < 0.1, "{}", sample.distinct());
        let capacities = [200, 1000, 4000, 10_000, 18_000];
        for (a, b) in whole.miss_ratios(&capacities).iter().zip(sample.miss_ratios(&capacities)) {
            assert!((a - b).abs() < 0.05, "{a} and {b}");
        }
    }

    #[test]
    fn the_last_access_is_known() {
        let mut reuse = Reuse::new(usize::MAX);
        assert_eq!(
            [5, 6, 5, 5].map(|key| reuse.access(key)),
            [Seen::First, Seen::First, Seen::Last(0), Seen::Last(2)]
        );
        assert_eq!((reuse.distinct(), reuse.median_distance()), (2, Some(0.0)));
    }
}
