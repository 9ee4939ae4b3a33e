//! Monkey: distributes filter bits over levels of any size, so that lookups of absent keys read the fewest blocks.
//!
//! Source: Dayan, Athanassoulis, Idreos, "Monkey" (SIGMOD 2017), section 4.2. This module does not assume that all
//! levels have the same size ratio. A filter with b bits per key has the false-positive rate `e^(−b·ln²2)`. For a total
//! of `Σ n_i·b_i = M` bits, the sum `Σ K_i·p_i` is smallest if `p_i` is proportional to the entries per run, `n_i/K_i`.
//! If the formula gives a rate above 1, the level has no filter, and the rates of the other levels are computed again.

/// The numbers of entries and sorted runs in a level, from which its filter bits follow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FilterLevel {
    /// The number of entries in all runs of the level.
    pub entries: f64,
    /// The number of sorted runs in the level. A lookup of an absent key probes the filter of each run.
    pub runs: f64,
}

/// (ln 2)². One additional filter bit per key reduces the natural logarithm of the false-positive rate by this value.
const LN2_SQUARED: f64 = std::f64::consts::LN_2 * std::f64::consts::LN_2;

/// Returns the false-positive rate of an ideal Bloom filter with `bits` bits per key. The rate is 1 for 0 bits.
pub fn fpr(bits: f64) -> f64 {
    (-bits.max(0.0) * LN2_SQUARED).exp()
}

/// Distributes `total_bits` filter bits over the levels so that lookups of absent keys read the fewest blocks. Returns
/// the bits per key of each level. A level without entries gets 0 bits.
pub fn allocate(levels: &[FilterLevel], total_bits: f64) -> Vec<f64> {
    let mut bits = vec![0.0; levels.len()];
    let mut filtered: Vec<usize> = (0..levels.len()).filter(|at| levels[*at].entries > 0.0).collect();
    while !filtered.is_empty() {
        // ln p_i = ln μ + ln(n_i/K_i), and Σ n_i·b_i = M gives μ.
        let run_entries = |at: usize| levels[at].entries / levels[at].runs.max(1.0);
        let entries: f64 = filtered.iter().map(|at| levels[*at].entries).sum();
        let logs: f64 = filtered.iter().map(|at| levels[*at].entries * run_entries(*at).ln()).sum();
        let log_mu = -(LN2_SQUARED * total_bits.max(0.0) + logs) / entries;
        let log_rate = |at: usize| log_mu + run_entries(at).ln();
        let before = filtered.len();
        filtered.retain(|at| log_rate(*at) < 0.0);
        if filtered.len() == before {
            filtered.iter().for_each(|at| bits[*at] = -log_rate(*at) / LN2_SQUARED);
            return bits;
        }
    }
    bits
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(levels: &[FilterLevel], bits: &[f64]) -> f64 {
        levels.iter().zip(bits).map(|(level, bits)| level.runs * fpr(*bits)).sum()
    }

    fn levels(of: &[(f64, f64)]) -> Vec<FilterLevel> {
        of.iter().map(|(entries, runs)| FilterLevel { entries: *entries, runs: *runs }).collect()
    }

    /// Rule: no enumerated allocation of the same number of bits has a lower cost, and the best enumerated allocation
    /// has the same cost.
    #[test]
    fn no_enumerated_allocation_costs_less() {
        const STEPS: i32 = 400;
        for (of, per_key) in [
            ([(100.0, 1.0), (1000.0, 1.0), (10_000.0, 1.0)], 10.0),
            ([(100.0, 9.0), (900.0, 9.0), (7000.0, 1.0)], 5.0),
            ([(500.0, 1.0), (400.0, 3.0), (90_000.0, 2.0)], 0.5),
            ([(3000.0, 2.0), (100.0, 1.0), (2000.0, 4.0)], 3.0),
        ] {
            let levels = levels(&of);
            let total = per_key * levels.iter().map(|level| level.entries).sum::<f64>();
            let best = allocate(&levels, total);
            let spent: f64 = levels.iter().zip(&best).map(|(level, bits)| level.entries * bits).sum();
            assert!((spent / total - 1.0).abs() < 1e-9, "{spent} of {total}");
            let mut least = f64::INFINITY;
            for first in 0..=STEPS {
                for second in 0..=STEPS - first {
                    let parts = [first, second, STEPS - first - second];
                    let bits: Vec<f64> = levels
                        .iter()
                        .zip(parts)
                        .map(|(level, part)| total * f64::from(part) / f64::from(STEPS) / level.entries)
                        .collect();
                    least = least.min(cost(&levels, &bits));
                }
            }
            let own = cost(&levels, &best);
            assert!(own <= least * (1.0 + 1e-9) && least <= own * 1.03, "{own} {least}");
        }
    }

    #[test]
    fn levels_whose_rate_would_exceed_1_have_no_filter() {
        let levels = levels(&[(10.0, 1.0), (1e6, 1.0)]);
        let bits = allocate(&levels, 50.0);
        assert!(bits[1].abs() < 1e-12 && (bits[0] - 5.0).abs() < 1e-9, "{bits:?}");
        assert!(allocate(&levels, 0.0).iter().all(|bits| bits.abs() < 1e-12));
        assert!(allocate(&[], 10.0).is_empty());
    }
}
