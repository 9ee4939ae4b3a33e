//! The optimal allocation of filter memory. The false-positive rate of a sorted run's filter is proportional to the
//! size of the run.
//!
//! A lookup of an absent key searches every run, so its cost depends on the sum of the false-positive rates. One more
//! bit for every key of a small run costs little memory, so small runs get more bits per key. The lowest possible sum
//! is the rate of one filter over all entries, times the perplexity (the exponential of the entropy) of the run
//! sizes. Source: Dayan, Athanassoulis & Idreos, "Monkey: optimal navigable key-value store" (SIGMOD 2017), sections
//! 4.1 and 4.2. This implementation accepts runs of any size, while the paper assumes a geometric series of sizes.

use catalog::Variant;

use super::logarithmic::{Favour, bits_per_key};
use super::policy::{Allocation, LevelLoad};

pub(crate) const VARIANT: Variant<dyn Allocation> = Variant::plain(
    "monkey",
    "more bits per key for smaller runs, which gives the lowest sum of false-positive rates",
    || Box::new(Monkey),
);

/// The allocation `monkey`, which has no parameters.
struct Monkey;

impl Allocation for Monkey {
    fn bits_per_key(&self, base: f64, levels: &[LevelLoad], level: usize) -> f64 {
        bits_per_key(Favour::Small, base, levels, level)
    }
}

#[cfg(test)]
mod tests {
    use std::f64::consts::LN_2;

    use super::super::tests::leveled;
    use super::*;

    fn rate(bits_per_key: f64) -> f64 {
        (-bits_per_key * LN_2 * LN_2).exp()
    }

    fn sum_of_rates(base: f64, levels: &[LevelLoad]) -> f64 {
        let rate = |level: usize| levels[level].runs * rate(Monkey.bits_per_key(base, levels, level));
        (0..levels.len()).map(rate).sum()
    }

    /// Tests equation 17 of Monkey, section 4.1, for leveling. T is the size ratio, and R is the sum of the
    /// false-positive rates over infinitely many levels. The rate of the last level is R·(T−1)/T. The rate of each
    /// other level is 1/T of the rate of the level below.
    #[test]
    fn rates_fall_by_the_size_ratio_towards_the_top() {
        for ratio in [2.0, 4.0, 10.0] {
            let levels = leveled(ratio, 6);
            let rates: Vec<f64> = (0..6).map(|l| rate(Monkey.bits_per_key(10.0, &levels, l))).collect();
            assert!(rates.windows(2).all(|pair| (pair[1] / pair[0] / ratio - 1.0).abs() < 1e-9));
            let endless = rates[5] * ratio / (ratio - 1.0);
            let sum: f64 = rates.iter().sum();
            assert!((sum / (endless * (1.0 - ratio.powi(-6))) - 1.0).abs() < 1e-9);
        }
    }

    /// Tests levels whose runs have equal sizes. The sum of the rates is the rate of one filter times the perplexity
    /// of the run sizes.
    #[test]
    fn the_sum_is_one_rate_times_the_perplexity_of_runs() {
        let tiered: Vec<LevelLoad> =
            (0..4).map(|level| LevelLoad { entries: 1e4 * 5f64.powi(level), runs: 4.0 }).collect();
        for levels in [leveled(10.0, 5), tiered] {
            let entries: f64 = levels.iter().map(|load| load.entries).sum();
            let entropy: f64 = levels
                .iter()
                .map(|load| {
                    let share = load.entries / load.runs / entries;
                    -load.runs * share * share.ln()
                })
                .sum();
            let expected = rate(10.0) * entropy.exp();
            assert!((sum_of_rates(10.0, &levels) / expected - 1.0).abs() < 1e-9);
        }
        // Each level is ten times as large as the level above. The sum of five rates is then 1.435 times one rate,
        // and not five times.
        assert!((sum_of_rates(10.0, &leveled(10.0, 5)) / rate(10.0) - 1.435).abs() < 1e-3);
    }

    /// Computes the memory that Monkey saves compared with uniform bits per key, at equal sums of false-positive rates.
    /// The model is from the audit of the claim by the document cs265 that Monkey saves 50 %.
    #[test]
    fn memory_saved_at_equal_sums() {
        for (ratio, count, saved) in [(4.0, 3, 0.09), (4.0, 5, 0.18), (10.0, 5, 0.26), (10.0, 7, 0.33)] {
            let levels = leveled(ratio, count);
            let uniform = f64::from(count) * rate(10.0);
            let (mut low, mut high) = (1.0, 10.0);
            for _ in 0..60 {
                let middle = (low + high) / 2.0;
                if sum_of_rates(middle, &levels) > uniform { low = middle } else { high = middle }
            }
            assert!((1.0 - high / 10.0 - saved).abs() < 0.006, "{ratio} {count}: {high}");
        }
    }

    /// Tests a statement of Monkey, section 4.1. With little memory, the largest levels have no filter, and the other
    /// levels share the memory.
    #[test]
    fn with_little_memory_the_largest_level_has_none() {
        let levels = leveled(10.0, 4);
        let bits: Vec<f64> = (0..4).map(|level| Monkey.bits_per_key(0.2, &levels, level)).collect();
        assert!(bits[3] < 1e-9 && bits[0] > bits[1] && bits[1] > bits[2] && bits[2] > 0.0, "{bits:?}");
    }
}
