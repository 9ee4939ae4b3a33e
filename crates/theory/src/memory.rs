//! The split of a memory budget between several uses, such as memtable, filters and block cache.
//!
//! The cost of each use falls as its memory grows, but each additional byte saves less. The total cost is smallest if
//! one more byte saves the same amount in every use. For such costs, a greedy method finds the optimum: it splits the
//! budget into small shares, and gives each share to the use that saves most (Gross, 1956; Fox, "Discrete Optimization
//! via Marginal Analysis", Management Science 1966).

/// One use of memory, such as a cache, with its cost function.
pub struct MemoryUse<'a> {
    /// The minimum number of bytes for this use.
    pub least: f64,
    /// The cost of this use for a number of bytes. The function must be convex and falling.
    pub cost: &'a dyn Fn(f64) -> f64,
}

/// The best split of a memory budget between several uses.
#[derive(Clone, Debug, PartialEq)]
pub struct MemorySplit {
    /// The number of bytes that each use gets.
    pub bytes: Vec<f64>,
    /// For each use, the saving per byte that a further share of the budget would bring. At the optimum, these savings
    /// are nearly equal: they differ by less than the effect of one share.
    pub marginals: Vec<f64>,
    /// The sum of the costs of all uses.
    pub cost: f64,
}

/// Splits a memory budget of `budget` bytes between `uses`, so that their total cost is smallest. Each use gets its
/// minimum, and the rest of the budget is split in `shares` equal shares. Returns `None` if the budget is smaller than
/// the minimum of all uses together.
pub fn split_memory(budget: f64, uses: &[MemoryUse<'_>], shares: u32) -> Option<MemorySplit> {
    let mut bytes: Vec<f64> = uses.iter().map(|part| part.least).collect();
    let left = budget - bytes.iter().sum::<f64>();
    if left < 0.0 || uses.is_empty() || shares == 0 {
        return None;
    }
    let share = left / f64::from(shares);
    let saved = |at: usize, bytes: &[f64]| (uses[at].cost)(bytes[at]) - (uses[at].cost)(bytes[at] + share);
    let mut gains: Vec<f64> = (0..uses.len()).map(|at| saved(at, &bytes)).collect();
    for _ in 0..shares {
        let best = (0..uses.len()).max_by(|one, other| gains[*one].total_cmp(&gains[*other]))?;
        bytes[best] += share;
        gains[best] = saved(best, &bytes);
    }
    let per_byte = |gain: f64| if share > 0.0 { gain / share } else { 0.0 };
    let cost = uses.iter().zip(&bytes).map(|(part, bytes)| (part.cost)(*bytes)).sum();
    Some(MemorySplit { bytes, marginals: gains.into_iter().map(per_byte).collect(), cost })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Eviction, KLsm, Popularity};

    /// Compares the split with all enumerated splits. The uses are memtable, filters and cache of a tree with a million
    /// entries of 100 bytes.
    #[test]
    fn the_split_is_the_best_of_all_enumerated_ones() {
        const SHARES: u32 = 60;
        const BUDGET: f64 = 8e6;
        let tree = |buffer: f64| KLsm {
            size_ratio: 6.0,
            upper_runs: 1.0,
            largest_runs: 1.0,
            entries: 1e6,
            buffer: buffer / 100.0,
            entries_per_block: 40.0,
        };
        let blocks = Popularity::even(25_000.0);
        let buffer = |bytes: f64| 0.5 * tree(bytes).write(1.0);
        let filters = |bytes: f64| 0.3 * tree(1e5).absent_lookup(bytes * 8.0 / 1e6);
        let cache = |bytes: f64| 0.2 * (1.0 - Eviction::Lru.hit_rate(&blocks, bytes / 4096.0));
        let costs: [&dyn Fn(f64) -> f64; 3] = [&buffer, &filters, &cache];
        let least = [1e5, 0.0, 0.0];
        let uses: Vec<MemoryUse<'_>> =
            costs.iter().zip(least).map(|(cost, least)| MemoryUse { least, cost: *cost }).collect();
        let split = split_memory(BUDGET, &uses, SHARES).unwrap();
        assert!((split.bytes.iter().sum::<f64>() / BUDGET - 1.0).abs() < 1e-9);
        let share = (BUDGET - 1e5) / f64::from(SHARES);
        let mut best = f64::INFINITY;
        for first in 0..=SHARES {
            for second in 0..=SHARES - first {
                let parts = [first, second, SHARES - first - second].map(f64::from);
                let cost = (0..3).map(|at| costs[at](least[at] + parts[at] * share)).sum::<f64>();
                best = best.min(cost);
            }
        }
        assert!(split.cost <= best * (1.0 + 1e-6), "{} {best}", split.cost);
        assert_eq!(split_memory(1e4, &uses, SHARES), None);
    }
}
