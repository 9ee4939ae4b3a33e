//! Finds change points: the positions at which the level of a series of runs changes.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;

/// The smallest number of values before and after a change point. A shorter group of deviating values counts as
/// outliers.
const LEAST_SIDE: usize = 3;

/// The probability that a series without a change is reported to have a change.
const SIGNIFICANCE: f64 = 0.01;

/// The number of shuffled series with which the significance test compares a cut.
const PERMUTATIONS: usize = 999;

/// Returns the change points of `values`, in ascending order. A change point is the index of the first value of a new
/// level.
///
/// The method is E-divisive with α = 1 (Matteson & James, *Journal of the American Statistical Association* 109, 2014).
/// It assumes that the noise has no trend and that neighboring runs are not correlated. `seed` makes the random
/// significance test reproducible. About nine values are needed to distinguish a change from chance.
pub fn changes(values: &[f64], seed: u64) -> Vec<usize> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut cuts = Vec::new();
    while let Some((at, divergence)) = best_cut(values, &cuts) {
        if !is_significant(values, &cuts, divergence, &mut random) {
            break;
        }
        cuts.push(at);
        cuts.sort_unstable();
    }
    cuts
}

/// Splits a series at its cuts. Returns for each part the index of its first value, and its values.
fn parts<'a>(values: &'a [f64], cuts: &[usize]) -> impl Iterator<Item = (usize, &'a [f64])> {
    let starts: Vec<usize> = [0].into_iter().chain(cuts.iter().copied()).collect();
    let ends: Vec<usize> = cuts.iter().copied().chain([values.len()]).collect();
    starts.into_iter().zip(ends).map(|(start, end)| (start, &values[start..end]))
}

/// Returns the position for one more cut at which the values before the cut differ most from the values after it. Also
/// returns the divergence, which measures this difference.
fn best_cut(values: &[f64], cuts: &[usize]) -> Option<(usize, f64)> {
    let best = parts(values, cuts).filter_map(|(start, part)| {
        let (at, divergence) = best_split(part)?;
        Some((start + at, divergence))
    });
    best.max_by(|one, other| one.1.total_cmp(&other.1))
}

/// Returns whether one more cut with the divergence `divergence` is significant. The cut is significant if shuffled
/// values rarely have a cut with an equal or larger divergence.
fn is_significant(values: &[f64], cuts: &[usize], divergence: f64, random: &mut Xoshiro256PlusPlus) -> bool {
    let most = (SIGNIFICANCE * (PERMUTATIONS + 1) as f64) as usize - 1;
    let mut as_much = 0;
    for _ in 0..PERMUTATIONS {
        let mut order: Vec<f64> = Vec::with_capacity(values.len());
        for (start, part) in parts(values, cuts) {
            order.extend(part);
            order[start..].shuffle(random);
        }
        // The tolerance of 1e-9 covers rounding errors: sums of the same values in another order differ in their last
        // digits.
        let of_order = best_cut(&order, cuts).map_or(0.0, |(_, divergence)| divergence);
        as_much += usize::from(of_order >= divergence * (1.0 - 1e-9));
        if as_much > most {
            return false;
        }
    }
    true
}

/// Finds the position in one part of a series at which the values before it differ most from the values after it.
/// Returns this position and the divergence of the two groups of values. Returns `None` if the part is too short.
fn best_split(part: &[f64]) -> Option<(usize, f64)> {
    let distance_to =
        |value: f64, others: &[f64]| -> f64 { others.iter().map(|other| (value - other).abs()).sum() };
    let mut left = 0.0;
    let mut right: f64 = (0..part.len()).map(|at| distance_to(part[at], &part[at + 1..])).sum();
    let mut across = 0.0;
    let mut best = None;
    for at in 1..part.len() {
        // Moves one more value from the right side to the left.
        let to_left = distance_to(part[at - 1], &part[..at - 1]);
        let to_right = distance_to(part[at - 1], &part[at..]);
        left += to_left;
        right -= to_right;
        across += to_right - to_left;
        let (m, n) = (at as f64, (part.len() - at) as f64);
        if at < LEAST_SIDE || part.len() - at < LEAST_SIDE {
            continue;
        }
        let energy = 2.0 * across / (m * n) - 2.0 * left / (m * (m - 1.0)) - 2.0 * right / (n * (n - 1.0));
        let divergence = energy * m * n / (m + n);
        if best.is_none_or(|(_, most)| divergence > most) {
            best = Some((at, divergence));
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::*;

    /// Returns a random series. Each level has a value and a number of values, with noise of ±`noise` around the level.
    fn series(levels: &[(f64, usize)], noise: f64, seed: u64) -> Vec<f64> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let values = levels.iter().flat_map(|(level, count)| std::iter::repeat_n(*level, *count));
        values.map(|level| level * (1.0 + noise * random.random_range(-1.0..1.0))).collect()
    }

    #[test]
    fn levels_are_found_where_they_change() {
        assert_eq!(changes(&series(&[(100.0, 12), (90.0, 10)], 0.03, 1), 7), [12]);
        let twice = changes(&series(&[(100.0, 15), (120.0, 15), (100.0, 15)], 0.03, 2), 7);
        assert_eq!(twice, [15, 30]);
        // Counters: no noise at all.
        assert_eq!(changes(&series(&[(5.0, 8), (6.0, 5)], 0.0, 3), 7), [8]);
    }

    #[test]
    fn outliers_and_short_series_are_no_change() {
        let mut spike = series(&[(100.0, 20)], 0.02, 4);
        spike[9] = 300.0;
        assert_eq!(changes(&spike, 7), [0; 0]);
        assert_eq!(changes(&[1.0; 50], 7), [0; 0]);
        for short in [&[][..], &[1.0], &[1.0, 2.0, 1.0, 2.0, 2.0], &[1.0, 1.0, 1.0, 9.0, 9.0, 9.0]] {
            assert_eq!(changes(short, 7), [0; 0], "{short:?}");
        }
    }

    /// Tests the false-positive rate. About one in a hundred series without a change has a detected change, so more
    /// than five detected changes in 200 such series are very unlikely.
    #[test]
    fn chance_finds_few_changes() {
        let found = (0..200).filter(|seed| !changes(&series(&[(100.0, 16)], 0.1, 100 + seed), 7).is_empty());
        let found = found.count();
        assert!(found <= 6, "{found} of 200");
    }
}
