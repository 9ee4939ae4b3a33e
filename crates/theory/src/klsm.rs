//! The cost model of a tree with different numbers of runs in the last level and in all other levels. The last level
//! can be filled to any fraction.
//!
//! The formulas come from Huynh, Chaudhari, Terzi, Athanassoulis, "AXE" (2025), after Dayan & Idreos (SIGMOD 2018) and
//! Huynh et al., "Endure" (VLDB 2022), section 3. The number of levels is `L = log_T(N/buffer + 1)` without rounding.
//! The last level is weighted with its filled fraction `1 − ⌈L⌉ + L`, so the costs do not jump when a level is added.
//! The false-positive rates come from [`monkey`](crate::monkey::allocate), and never exceed 1.
//!
//! The unit of all sizes is one entry, and the unit of costs is data blocks per operation.

use crate::monkey::{FilterLevel, allocate, fpr};

/// A tree of size ratio T, with `upper_runs` runs in each level except the last, and `largest_runs` runs in the last
/// level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KLsm {
    /// Size ratio T, at least 2.
    pub size_ratio: f64,
    /// The number of runs in each level except the last, from 1 to T − 1.
    pub upper_runs: f64,
    /// The number of runs in the last level, from 1 to T − 1.
    pub largest_runs: f64,
    /// The number N of entries in the tree.
    pub entries: f64,
    /// The number of entries in a full memtable.
    pub buffer: f64,
    /// The number of entries in a data block, B.
    pub entries_per_block: f64,
}

impl KLsm {
    /// Returns the number of levels, which may be a fraction.
    pub fn levels(&self) -> f64 {
        (self.entries / self.buffer + 1.0).ln() / self.size_ratio.ln()
    }

    /// Returns the number of levels with entries, `⌈L⌉`. A fraction of a level below 10⁻⁹ counts as a rounding error.
    pub fn whole_levels(&self) -> u32 {
        (self.levels() - 1e-9).ceil().max(1.0) as u32
    }

    /// Returns how full the last level is, as a fraction from 0 to 1.
    pub fn last_share(&self) -> f64 {
        (1.0 - f64::from(self.whole_levels()) + self.levels()).clamp(0.0, 1.0)
    }

    /// Returns the entries and runs of each level. The last level contains the entries that do not fit into the levels
    /// above it.
    pub fn filter_levels(&self) -> Vec<FilterLevel> {
        let (levels, mut left) = (self.whole_levels(), self.entries);
        let level = |level: u32| {
            let full = (self.size_ratio - 1.0) * self.size_ratio.powf(f64::from(level - 1)) * self.buffer;
            let entries = if level == levels { left } else { full.min(left) };
            left -= entries;
            FilterLevel { entries, runs: self.runs(level) }
        };
        (1..=levels).map(level).collect()
    }

    /// Returns the number of blocks that a lookup of an absent key reads: `Σ K_i·p_i`, where `K_i` is the number of
    /// runs in level i, and `p_i` is the false-positive rate of their filters. All filters together have `bits` bits
    /// per entry.
    pub fn absent_lookup(&self, bits: f64) -> f64 {
        let levels = self.filter_levels();
        let rates = allocate(&levels, bits * self.entries);
        levels.iter().zip(rates).map(|(level, bits)| level.runs * fpr(bits)).sum()
    }

    /// Returns the number of blocks that a lookup of a present key reads: the block of the key, and one block per false
    /// positive in newer runs. With the fraction `P_i` of all entries in level i, `K_i` runs and the false-positive
    /// rate `p_i`, the number is:
    ///
    /// `Σ P_i·(1 + Σ_{j<i} K_j·p_j + (K_i − 1)/2·p_i)`
    pub fn present_lookup(&self, bits: f64) -> f64 {
        let levels = self.filter_levels();
        let rates = allocate(&levels, bits * self.entries);
        let (mut before, mut blocks) = (0.0, 0.0);
        for (level, bits) in levels.iter().zip(rates) {
            let rate = fpr(bits);
            let own = 1.0 + before + (level.runs - 1.0) / 2.0 * rate;
            blocks += level.entries / self.entries * own;
            before += level.runs * rate;
        }
        blocks
    }

    /// Returns the number of runs in which a scan seeks: `Σ K_i`, where the last level is weighted with its filled
    /// fraction.
    pub fn scan_seeks(&self) -> f64 {
        let last = self.whole_levels();
        (1..last).map(|level| self.runs(level)).sum::<f64>() + self.runs(last) * self.last_share()
    }

    /// Returns the number of blocks that a scan of `entries` entries reads: one block per seek, and the blocks that
    /// contain the entries.
    pub fn scan(&self, entries: f64) -> f64 {
        self.scan_seeks() + entries / self.entries_per_block
    }

    /// Returns the write amplification, including flushes: 1 for the flush, and `(T − 1 + K)/(2K)` for each level. The
    /// last level is weighted with its filled fraction.
    pub fn write_amp(&self) -> f64 {
        let level = |runs: f64| (self.size_ratio - 1.0 + runs) / (2.0 * runs);
        let last = self.whole_levels();
        1.0 + (1..last).map(|number| level(self.runs(number))).sum::<f64>()
            + self.last_share() * level(self.runs(last))
    }

    /// Returns the cost of a write in blocks per entry: `(1 + φ)·(WA − 1)/B + 1/B`. WA is the write amplification, and
    /// B the number of entries in a block. A block that compactions read counts as φ = `read_price` written blocks.
    pub fn write(&self, read_price: f64) -> f64 {
        ((self.write_amp() - 1.0) * (1.0 + read_price) + 1.0) / self.entries_per_block
    }

    fn runs(&self, level: u32) -> f64 {
        if level == self.whole_levels() { self.largest_runs } else { self.upper_runs }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Fluid;

    fn tree(size_ratio: f64, runs: (f64, f64), entries: f64) -> KLsm {
        let (upper_runs, largest_runs) = runs;
        KLsm { size_ratio, upper_runs, largest_runs, entries, buffer: 1000.0, entries_per_block: 32.0 }
    }

    /// Rule: if all levels are full, this model equals the textbook formula.
    #[test]
    fn full_levels_are_those_of_the_fluid_tree() {
        for (ratio, runs) in [(4.0, (1.0, 1.0)), (4.0, (3.0, 3.0)), (6.0, (5.0, 1.0))] {
            let fluid = Fluid { size_ratio: ratio, upper_runs: runs.0, largest_runs: runs.1 };
            for levels in 1..6 {
                let full = tree(ratio, runs, (ratio.powi(levels) - 1.0) * 1000.0);
                let levels = levels.cast_unsigned();
                assert_eq!(full.whole_levels(), levels);
                assert!((full.last_share() - 1.0).abs() < 1e-9);
                assert!((full.scan_seeks() - fluid.most_runs(levels)).abs() < 1e-9);
                assert!((full.write_amp() - fluid.write_amp(levels).1).abs() < 1e-9);
                assert!((full.absent_lookup(0.0) - fluid.most_runs(levels)).abs() < 1e-9);
                let entries: f64 = full.filter_levels().iter().map(|level| level.entries).sum();
                assert!((entries / full.entries - 1.0).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn costs_have_no_steps_where_a_level_is_added() {
        let full = 1000.0 * (4f64.powi(4) - 1.0);
        let costs = |entries: f64| {
            let tree = tree(4.0, (1.0, 1.0), entries);
            [tree.write_amp(), tree.scan_seeks(), tree.scan(64.0), tree.write(1.0), tree.present_lookup(10.0)]
        };
        for (below, above) in costs(full * 0.9999).into_iter().zip(costs(full * 1.0001)) {
            assert!((above / below - 1.0).abs() < 0.01, "{below} {above}");
        }
    }

    #[test]
    fn more_filter_bits_never_cost_reads() {
        let tree = tree(10.0, (9.0, 1.0), 3e6);
        let costs: Vec<f64> = (0..20).map(|bits| tree.absent_lookup(f64::from(bits))).collect();
        assert!(costs.windows(2).all(|pair| pair[1] <= pair[0] + 1e-12), "{costs:?}");
        assert!(tree.present_lookup(0.0) > tree.present_lookup(10.0) && tree.present_lookup(30.0) < 1.001);
    }
}
