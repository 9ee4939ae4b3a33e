//! The textbook cost model of an LSM-tree: one set of formulas for leveling, tiering, lazy leveling and all policies
//! between them. Sources: Dayan & Idreos, "Dostoevsky" (SIGMOD 2018), sections 2 and 4.3, and Huynh et al., "Endure"
//! (VLDB 2022), section 3.
//!
//! The unit of all sizes is a buffer, which is a full memtable. N is the number of flushed buffers. L is the number of
//! levels, and level i contains at most (T − 1)·T^(i−1) buffers.

/// A tree with size ratio T, at most Z sorted runs in the largest level, and at most K sorted runs in every other
/// level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fluid {
    /// Size ratio T, at least 2.
    pub size_ratio: f64,
    /// The maximum number of runs K in each level except the largest level: 1 for leveling, T − 1 for tiering.
    pub upper_runs: f64,
    /// The maximum number of runs Z in the largest level.
    pub largest_runs: f64,
}

impl Fluid {
    /// Returns the model of leveling: one run in every level.
    pub fn leveled(size_ratio: f64) -> Self {
        Self { size_ratio, upper_runs: 1.0, largest_runs: 1.0 }
    }

    /// Returns the model of tiering: T − 1 runs in every level.
    pub fn tiered(size_ratio: f64) -> Self {
        Self { size_ratio, upper_runs: size_ratio - 1.0, largest_runs: size_ratio - 1.0 }
    }

    /// Returns the model of lazy leveling: one run in the largest level, and T − 1 runs in every other level.
    pub fn lazy_leveled(size_ratio: f64) -> Self {
        Self { upper_runs: size_ratio - 1.0, ..Self::leveled(size_ratio) }
    }

    /// Returns the number of levels of a tree with N = `buffers` full memtables: `⌈log_T(N + 1)⌉`. This is the smallest
    /// L for which all levels together have room for N memtables: Σ (T − 1)·T^(i−1) = T^L − 1 ≥ N.
    pub fn levels(&self, buffers: f64) -> u32 {
        // Adds up the capacities of the levels. A rounded logarithm could be off by one at powers of T.
        let (mut levels, mut held) = (0, 0.0);
        while held < buffers {
            held = held * self.size_ratio + self.size_ratio - 1.0;
            levels += 1;
        }
        levels
    }

    /// Returns the largest number of runs that a lookup searches: K·(L − 1) + Z.
    pub fn most_runs(&self, levels: u32) -> f64 {
        if levels == 0 { 0.0 } else { self.upper_runs * f64::from(levels - 1) + self.largest_runs }
    }

    /// Returns a lower and a higher estimate of the write amplification of a tree with L levels, including flushes. In
    /// the paper "Dostoevsky", a level of K runs costs (T − 1)/(K + 1) writes per entry. In the paper "Endure", it
    /// costs (T − 1 + K)/(2K) writes. Both formulas are valid only for large T.
    pub fn write_amp(&self, levels: u32) -> (f64, f64) {
        let sum = |level: fn(f64, f64) -> f64| {
            let upper = f64::from(levels.saturating_sub(1)) * level(self.size_ratio, self.upper_runs);
            1.0 + upper + level(self.size_ratio, self.largest_runs)
        };
        let dostoevsky = sum(|ratio, runs| (ratio - 1.0) / (runs + 1.0));
        let endure = sum(|ratio, runs| (ratio - 1.0 + runs) / (2.0 * runs));
        (dostoevsky.min(endure), dostoevsky.max(endure))
    }

    /// Returns an upper bound of the space amplification, which is the stored bytes per live byte, if every level is
    /// full: Z·T/(T − 1).
    pub fn most_space_amp(&self) -> f64 {
        // Each of the Z runs of the largest level may contain the same keys, and the upper levels may contain some of
        // these keys again. All upper levels together have (T^(L−1) − 1) / ((T − 1)·T^(L−1)) < 1/(T − 1) of the largest
        // level's bytes. The paper's O(Z) and O(1/T) for stale data are this bound minus 1.
        self.largest_runs * self.size_ratio / (self.size_ratio - 1.0)
    }

    /// Returns the fraction of all entries that is in level i of L levels: (T − 1)·T^(i−1) / (T^L − 1). The first level
    /// has number 1.
    pub fn share_of_level(&self, level: u32, levels: u32) -> f64 {
        let power = |exponent: u32| self.size_ratio.powi(exponent.cast_signed());
        (self.size_ratio - 1.0) * power(level.saturating_sub(1)) / (power(levels) - 1.0)
    }

    /// Returns the number of data blocks that a lookup of an absent key reads: `Σ K_i · fpr`, where `K_i` is the number
    /// of runs in level i, and `fpr` is the false-positive rate of each filter.
    pub fn blocks_per_absent_get(&self, levels: u32, fpr: f64) -> f64 {
        self.most_runs(levels) * fpr
    }

    /// Returns the number of data blocks that a lookup of a present key reads, if all entries are looked up equally
    /// often. The lookup reads the block of its key, and one block per false positive in newer runs. With the fraction
    /// `P_i` of all entries in level i, and `K_i` runs in this level, the number of blocks is:
    ///
    /// `Σ P_i · (1 + Σ_{j<i} K_j·fpr + (K_i − 1)/2 · fpr)`
    pub fn blocks_per_present_get(&self, levels: u32, fpr: f64) -> f64 {
        let runs = |level| if level == levels { self.largest_runs } else { self.upper_runs };
        let cost = |level: u32| {
            let before: f64 = (1..level).map(runs).sum();
            1.0 + fpr * (before + (runs(level) - 1.0) / 2.0)
        };
        (1..=levels).map(|level| self.share_of_level(level, levels) * cost(level)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_sum_to_one_and_levels_hold_what_they_must() {
        for ratio in [2.0, 4.0, 10.0] {
            let tree = Fluid::leveled(ratio);
            for levels in 1..8 {
                let shares: f64 = (1..=levels).map(|level| tree.share_of_level(level, levels)).sum();
                assert!((shares - 1.0).abs() < 1e-12, "{ratio} {levels}: {shares}");
                let held = ratio.powi(levels.cast_signed()) - 1.0;
                assert_eq!((tree.levels(held), tree.levels(held + 1.0)), (levels, levels + 1));
            }
        }
        assert_eq!(Fluid::leveled(10.0).levels(0.0), 0);
    }

    /// Tests the corrected values of section 2.5.6 of the cs265 report: T = 10, five levels, and filters with a
    /// false-positive rate of 1 %.
    #[test]
    fn worst_lookups_are_those_of_the_formulas() {
        let cases =
            [(Fluid::leveled(10.0), 5.0), (Fluid::tiered(10.0), 45.0), (Fluid::lazy_leveled(10.0), 37.0)];
        for (tree, runs) in cases {
            assert!((tree.most_runs(5) - runs).abs() < 1e-12);
            assert!((tree.blocks_per_absent_get(5, 0.01) - 0.01 * runs).abs() < 1e-12);
            let present = tree.blocks_per_present_get(5, 0.01);
            assert!((1.0..1.0 + 0.01 * runs).contains(&present), "{present}");
        }
        // All data are in one level of one run, so no lookup reads an unneeded block.
        assert!((Fluid::leveled(10.0).blocks_per_present_get(1, 0.5) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn leveling_and_tiering_are_special_cases() {
        let (low, high) = Fluid::leveled(10.0).write_amp(3);
        assert!((low - (1.0 + 3.0 * 4.5)).abs() < 1e-12 && (high - (1.0 + 3.0 * 5.0)).abs() < 1e-12);
        let (low, high) = Fluid::tiered(10.0).write_amp(3);
        assert!((low - (1.0 + 3.0 * 0.9)).abs() < 1e-12 && (high - (1.0 + 3.0)).abs() < 1e-12);
        assert!((Fluid::leveled(10.0).most_space_amp() - (1.0 + 1.0 / 9.0)).abs() < 1e-12);
        assert!((Fluid::tiered(4.0).most_space_amp() - 4.0).abs() < 1e-12);
    }
}
