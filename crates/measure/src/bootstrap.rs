//! The percentile bootstrap, which estimates how much a median would differ in other rounds of trials (Efron &
//! Tibshirani, *An Introduction to the Bootstrap*, 1993, chapter 13).

use std::collections::BTreeMap;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::Criteria;

/// Returns the confidence interval of the median of a sample, by the bootstrap. The values must be in ascending order,
/// and there must be at least one value.
pub(crate) fn of_median(ascending: &[f64], criteria: &Criteria) -> (f64, f64) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(criteria.seed);
    let mut drawn = vec![0; ascending.len()];
    interval(criteria, || median_of_drawn(ascending, &mut drawn, &mut random))
}

/// Returns the confidence interval of the difference between the medians of two independent samples, by the bootstrap.
/// Both samples must be in ascending order, and must have at least one value.
pub(crate) fn of_difference(baseline: &[f64], candidate: &[f64], criteria: &Criteria) -> (f64, f64) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(criteria.seed);
    let (mut of_baseline, mut of_candidate) = (vec![0; baseline.len()], vec![0; candidate.len()]);
    interval(criteria, || {
        median_of_drawn(candidate, &mut of_candidate, &mut random)
            - median_of_drawn(baseline, &mut of_baseline, &mut random)
    })
}

/// A median that the bootstrap has drawn, and the number of resamples with this median. The median is the mean of the
/// two middle values of a resample, which this type stores as positions in the sorted sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DrawnMedian {
    /// The position of the lower of the two middle values in the sorted sample.
    pub low: usize,
    /// The position of the upper of the two middle values in the sorted sample. Both positions are equal if the number
    /// of values is odd.
    pub high: usize,
    /// The number of resamples with this median.
    pub times: usize,
}

/// Returns the medians that the bootstrap draws from a sample of `count` values, as positions in the sorted sample.
/// With these positions, another program can compute the same confidence interval without the random number generator.
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

/// Draws as many random values from the sample as it contains, with replacement, and returns their median. `drawn` is a
/// buffer for the indexes of the values.
fn median_of_drawn(ascending: &[f64], drawn: &mut [usize], random: &mut Xoshiro256PlusPlus) -> f64 {
    let (low, high) = middle_of_drawn(drawn, random);
    f64::midpoint(ascending[low], ascending[high])
}

/// Draws as many random positions of the sorted sample as it contains, with replacement. Returns the two middle
/// positions, which give the median.
fn middle_of_drawn(drawn: &mut [usize], random: &mut Xoshiro256PlusPlus) -> (usize, usize) {
    let count = drawn.len();
    drawn.fill_with(|| random.random_range(0..count));
    drawn.sort_unstable();
    (drawn[(count - 1) / 2], drawn[count / 2])
}

/// Returns the confidence interval of the bootstrap, for example the central 95 % of the values. `draw` returns one
/// value at each call, such as the median of a new resample.
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

    /// Computes the interval only from the drawn positions, as the page of results does.
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
