//! Computations about the hit rates of caches, and about how much hits speed up reads.

use super::Arguments;

/// Computes the hit rate, in percent, of one sequential pass over blocks of K keys each: 100 (1 - 1/K). Only the first
/// key of a block misses, so the cache size does not matter.
pub(super) fn sequential_hit_pct(with: &Arguments<'_>) -> Result<f64, String> {
    with.number("keys_per_block").map(|keys| 100.0 * (1.0 - 1.0 / keys))
}

/// Computes the speedup that a cache gives reads at one hit rate, from the known speedup at another hit rate.
///
/// At a hit rate h, a read takes the fraction 1 - h·s of the time without a cache. Here, s is the fraction of the time
/// that a hit saves. The known speedup determines s.
pub(super) fn cached_speedup(with: &Arguments<'_>) -> Result<f64, String> {
    let saved = (1.0 - 1.0 / with.number("known_speedup")?) / (with.number("known_hit_pct")? / 100.0);
    Ok(1.0 / (1.0 - saved * with.number("hit_pct")? / 100.0))
}

/// Computes the hit rate, in percent, of an LRU cache whose capacity is a fraction of all keys. Requests are drawn
/// independently from a Zipf distribution (Che, Tung and Wang, *Hierarchical Web Caching Systems*, 2002).
///
/// A key with probability p is in the cache with probability 1 - e^(-pt). The time t is chosen so that these
/// probabilities add up to the capacity. Keys with similar ranks are computed as one group.
pub(super) fn lru_hit_pct(with: &Arguments<'_>) -> Result<f64, String> {
    let (keys, theta) = (with.count("keys")?, with.number("theta")?);
    let held = with.number("share")? * keys as f64;
    let groups = groups(keys, theta);
    let total: f64 = groups.iter().map(|(count, weight)| count * weight).sum();
    let sum = |time: f64, of: fn(f64, f64) -> f64| -> f64 {
        let each = groups
            .iter()
            .map(|(count, weight)| count * of(weight / total, -(-weight / total * time).exp_m1()));
        each.sum()
    };
    let (mut low, mut high) = (0.0_f64, 1e3 * keys as f64);
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if sum(middle, |_, present| present) < held { low = middle } else { high = middle }
    }
    Ok(100.0 * sum(low, |probability, present| probability * present))
}

/// Groups the keys of a Zipf distribution by similar popularity, in the order of their ranks. Each group is a pair: the
/// number of its keys, and the popularity of each key.
fn groups(keys: u64, theta: f64) -> Vec<(f64, f64)> {
    let (mut groups, mut first) = (Vec::new(), 1);
    while first <= keys {
        let count = (first / 100).max(1).min(keys - first + 1);
        let middle = first as f64 + (count - 1) as f64 / 2.0;
        groups.push((count as f64, middle.powf(-theta)));
        first += count;
    }
    groups
}
