//! The percentile bootstrap: how far a median would move if other rounds of trials had been run (Efron & Tibshirani,
//! *An Introduction to the Bootstrap*, 1993, chapter 13).

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::Criteria;

/// The confidence interval on the median of values in ascending order; at least one value is needed.
pub(crate) fn of_median(ascending: &[f64], criteria: &Criteria) -> (f64, f64) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(criteria.seed);
    let mut drawn = vec![0; ascending.len()];
    interval(criteria, || median_of_drawn(ascending, &mut drawn, &mut random))
}

/// The confidence interval on the difference of two medians. Both sides are in ascending order, were drawn
/// independently, and have at least one value.
pub(crate) fn of_difference(baseline: &[f64], candidate: &[f64], criteria: &Criteria) -> (f64, f64) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(criteria.seed);
    let (mut of_baseline, mut of_candidate) = (vec![0; baseline.len()], vec![0; candidate.len()]);
    interval(criteria, || {
        median_of_drawn(candidate, &mut of_candidate, &mut random)
            - median_of_drawn(baseline, &mut of_baseline, &mut random)
    })
}

/// The median of a resample of the same size, drawn with replacement; `drawn` is a buffer for the drawn indices.
fn median_of_drawn(ascending: &[f64], drawn: &mut [usize], random: &mut Xoshiro256PlusPlus) -> f64 {
    let count = ascending.len();
    drawn.fill_with(|| random.random_range(0..count));
    drawn.sort_unstable();
    f64::midpoint(ascending[drawn[(count - 1) / 2]], ascending[drawn[count / 2]])
}

/// The central share, given by the confidence, of many draws.
fn interval(criteria: &Criteria, mut draw: impl FnMut() -> f64) -> (f64, f64) {
    let mut draws: Vec<f64> = (0..criteria.resamples.max(1)).map(|_| draw()).collect();
    draws.sort_unstable_by(f64::total_cmp);
    let tail = (1.0 - criteria.confidence) / 2.0;
    let skipped = ((tail * draws.len() as f64) as usize).min((draws.len() - 1) / 2);
    (draws[skipped], draws[draws.len() - 1 - skipped])
}
