//! The percentile bootstrap. The bootstrap estimates how much a median would differ in other rounds of trials (Efron
//! & Tibshirani, *An Introduction to the Bootstrap*, 1993, chapter 13).

use std::collections::BTreeMap;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::Criteria;

/// Returns the confidence interval of the median of values in ascending order. At least one value is needed.
pub(crate) fn of_median(ascending: &[f64], criteria: &Criteria) -> (f64, f64) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(criteria.seed);
    let mut drawn = vec![0; ascending.len()];
    interval(criteria, || median_of_drawn(ascending, &mut drawn, &mut random))
}

/// Returns the confidence interval of the difference of two medians. Both samples are in ascending order, were drawn
/// independently, and have at least one value.
pub(crate) fn of_difference(baseline: &[f64], candidate: &[f64], criteria: &Criteria) -> (f64, f64) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(criteria.seed);
    let (mut of_baseline, mut of_candidate) = (vec![0; baseline.len()], vec![0; candidate.len()]);
    interval(criteria, || {
        median_of_drawn(candidate, &mut of_candidate, &mut random)
            - median_of_drawn(baseline, &mut of_baseline, &mut random)
    })
}

/// A possible median of a resample, and how often it occurs. The first two fields are the positions of the two middle
/// values in ascending order. The third field is the number of resamples with this median.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DrawnMedian {
    /// The position of the lower value.
    pub low: usize,
    /// The position of the upper value. If the number of values is odd, the upper position equals the lower position.
    pub high: usize,
    /// The number of resamples.
    pub times: usize,
}

/// Returns the resampled medians that the bootstrap draws from `count` values. The seed determines the positions, so
/// the positions are equal for all samples of this size. A program that knows these positions can compute the same
/// confidence interval without the random number generator.
pub fn drawn_medians(count: usize, criteria: &Criteria) -> Vec<DrawnMedian> {
    if count == 0 {
        return Vec::new();
    }
    let mut random = Xoshiro256PlusPlus::seed_from_u64(criteria.seed);
    let mut drawn = vec![0; count];
    let mut times: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    for _ in 0..criteria.resamples.max(1) {
        *times.entry(middle_of_drawn(&mut drawn, &mut random)).or_default() += 1;
    }
    times.into_iter().map(|((low, high), times)| DrawnMedian { low, high, times }).collect()
}

/// Returns the median of a resample of equal size, drawn with replacement. `drawn` is a buffer for the drawn indexes.
fn median_of_drawn(ascending: &[f64], drawn: &mut [usize], random: &mut Xoshiro256PlusPlus) -> f64 {
    let (low, high) = middle_of_drawn(drawn, random);
    f64::midpoint(ascending[low], ascending[high])
}

/// Returns the positions of the two middle values of a resample.
fn middle_of_drawn(drawn: &mut [usize], random: &mut Xoshiro256PlusPlus) -> (usize, usize) {
    let count = drawn.len();
    drawn.fill_with(|| random.random_range(0..count));
    drawn.sort_unstable();
    (drawn[(count - 1) / 2], drawn[count / 2])
}

/// Returns the confidence interval: the central part of many drawn medians. The confidence of the interval is the
/// share of resamples whose median is in the interval.
fn interval(criteria: &Criteria, mut draw: impl FnMut() -> f64) -> (f64, f64) {
    let mut draws: Vec<f64> = (0..criteria.resamples.max(1)).map(|_| draw()).collect();
    draws.sort_unstable_by(f64::total_cmp);
    let tail = (1.0 - criteria.confidence) / 2.0;
    let skipped = ((tail * draws.len() as f64) as usize).min((draws.len() - 1) / 2);
    (draws[skipped], draws[draws.len() - 1 - skipped])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The interval from only the drawn positions, as the page of results computes it.
    fn from_positions(ascending: &[f64], criteria: &Criteria) -> (f64, f64) {
        let drawn = drawn_medians(ascending.len(), criteria);
        let mut medians: Vec<f64> = drawn
            .iter()
            .flat_map(|of| {
                std::iter::repeat_n(f64::midpoint(ascending[of.low], ascending[of.high]), of.times)
            })
            .collect();
        medians.sort_unstable_by(f64::total_cmp);
        let mut medians = medians.into_iter();
        interval(criteria, || medians.next().unwrap())
    }

    #[test]
    fn the_positions_of_drawn_medians_give_the_same_interval() {
        let criteria = Criteria::default();
        for count in [1, 2, 5, 6, 7, 12, 31] {
            let values: Vec<f64> = (0..count).map(|at| (f64::from(at) * 1.7).sin() + f64::from(at)).collect();
            let mut ascending = values.clone();
            ascending.sort_unstable_by(f64::total_cmp);
            let (a, b) = (of_median(&ascending, &criteria), from_positions(&ascending, &criteria));
            assert_eq!((a.0.to_bits(), a.1.to_bits()), (b.0.to_bits(), b.1.to_bits()), "{count}");
            let drawn = drawn_medians(ascending.len(), &criteria);
            assert_eq!(drawn.iter().map(|of| of.times).sum::<usize>(), criteria.resamples);
        }
        assert!(drawn_medians(0, &criteria).is_empty());
    }
}
