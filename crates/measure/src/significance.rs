//! The probability that chance causes a measured difference: p-values of paired and of unpaired runs, and the
//! correction for several comparisons.

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};
use statrs::stats_tests::Alternative;
use statrs::stats_tests::mannwhitneyu::{MannWhitneyUMethod, mannwhitneyu};

/// The smallest number of rounds of trials that supports a verdict. With fewer rounds, even the range from the smallest
/// to the largest ratio contains the true median with less than 95 % confidence.
pub const FEWEST_BLOCKS: usize = 6;

/// The smallest number of sessions of both builds together that supports a verdict. With fewer sessions, a comparison
/// cannot estimate how much the sessions of one build vary.
pub const FEWEST_SESSIONS: usize = 4;

/// Returns the mean of values and its standard error. Returns `None` for fewer than two values.
pub(crate) fn mean_and_error(values: &[f64]) -> Option<(f64, f64)> {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (values.len() > 1).then(|| (mean, (squares / (count - 1.0) / count).sqrt()))
}

/// Returns the p-value of a paired comparison: the probability of such ratios if the true ratio is 1. `logs` are the
/// logarithms of the ratios, and the test is Student's test of paired differences (*Biometrika* 6, 1908).
///
/// An outlier makes this p-value too large, and never too small. If all logarithms are equal, as with counters, the
/// p-value is either 0 or 1.
pub(crate) fn paired(logs: &[f64]) -> f64 {
    let Some((mean, error)) = mean_and_error(logs) else { return 1.0 };
    // The mean is not finite if a ratio is 0 or infinite. All ratios are then equal, because the caller rejects all
    // other such samples.
    if error == 0.0 || !mean.is_finite() {
        return if mean == 0.0 { 1.0 } else { 0.0 };
    }
    let student = StudentsT::new(0.0, 1.0, logs.len() as f64 - 1.0)
        .expect("the sample of a t-test must have at least two values");
    2.0 * student.cdf(-(mean / error).abs())
}

/// Compares the means of two independent samples by Student's test with one common variance. Returns both ends of the
/// confidence interval of the difference, and the two-sided p-value of "the means are equal". The two samples together
/// must have at least three values.
pub(crate) fn between_sessions(baseline: &[f64], candidate: &[f64], confidence: f64) -> (f64, f64, f64) {
    let mean = |side: &[f64]| side.iter().sum::<f64>() / side.len() as f64;
    let squares = |side: &[f64]| side.iter().map(|value| (value - mean(side)).powi(2)).sum::<f64>();
    let [base, new] = [baseline, candidate].map(|side| side.len() as f64);
    let freedom = base + new - 2.0;
    let variance = (squares(baseline) + squares(candidate)) / freedom;
    let error = (variance * (1.0 / base + 1.0 / new)).sqrt();
    let difference = mean(candidate) - mean(baseline);
    if error == 0.0 {
        return (difference, difference, if difference == 0.0 { 1.0 } else { 0.0 });
    }
    let student = StudentsT::new(0.0, 1.0, freedom)
        .expect("both samples of a t-test together must have at least three values");
    let reach = student.inverse_cdf(f64::midpoint(1.0, confidence)) * error;
    let p_value = 2.0 * student.cdf(-(difference / error).abs());
    (difference - reach, difference + reach, p_value)
}

/// Returns half the width of the confidence interval of a value with a normally distributed error, and the two-sided
/// p-value of "the value is 0".
pub(crate) fn normal(value: f64, error: f64, confidence: f64) -> (f64, f64) {
    if error == 0.0 {
        return (0.0, if value == 0.0 { 1.0 } else { 0.0 });
    }
    let normal =
        Normal::new(0.0, 1.0).expect("the parameters of the standard normal distribution must be valid");
    let reach = normal.inverse_cdf(f64::midpoint(1.0, confidence)) * error;
    (reach, 2.0 * normal.cdf(-(value / error).abs()))
}

/// The largest number of runs of both builds together for which the rank test evaluates every possible order. For more
/// runs, the test uses the normal approximation.
const MOST_EXACT: usize = 60;

/// Returns the two-sided p-value of "both samples come from one distribution", by the rank test of Mann and Whitney
/// (*Annals of Mathematical Statistics* 18, 1947). The p-value of small samples is exact, even with ties.
pub(crate) fn unpaired(baseline: &[f64], candidate: &[f64]) -> f64 {
    if baseline.is_empty() || candidate.is_empty() {
        return 1.0;
    }
    if baseline.len() + candidate.len() <= MOST_EXACT {
        return exact(baseline, candidate);
    }
    let method = MannWhitneyUMethod::AsymptoticInclContinuityCorrection;
    mannwhitneyu(baseline, candidate, method, Alternative::TwoSided).map_or(1.0, |(_, p)| p)
}

/// Returns the exact p-value of the rank test: the fraction of all possible orders in which the rank sum of the
/// baseline is at least as extreme as the measured rank sum.
fn exact(baseline: &[f64], candidate: &[f64]) -> f64 {
    // Doubled, so that the mean rank of equal values is a whole number.
    let doubled_rank = |value: f64| -> usize {
        let all = || baseline.iter().chain(candidate);
        let below = all().filter(|other| other.total_cmp(&value).is_lt()).count();
        let equal = all().filter(|other| other.total_cmp(&value).is_eq()).count();
        2 * below + equal + 1
    };
    let ranks: Vec<usize> = baseline.iter().chain(candidate).map(|value| doubled_rank(*value)).collect();
    let (chosen, total) = (baseline.len(), ranks.iter().sum::<usize>());
    // `ways[n][sum]` is the number of ways in which n of the ranks so far have that sum.
    let mut ways = vec![vec![0.0; total + 1]; chosen + 1];
    ways[0][0] = 1.0;
    for rank in &ranks {
        for n in (1..=chosen).rev() {
            for sum in (*rank..=total).rev() {
                ways[n][sum] += ways[n - 1][sum - rank];
            }
        }
    }
    let expected = total as f64 * chosen as f64 / ranks.len() as f64;
    let distance = |sum: usize| (sum as f64 - expected).abs();
    let seen = distance(ranks[..chosen].iter().sum());
    let extreme: f64 = ways[chosen]
        .iter()
        .enumerate()
        .filter(|(sum, _)| distance(*sum) >= seen - 1e-9)
        .map(|(_, n)| n)
        .sum();
    extreme / ways[chosen].iter().sum::<f64>()
}

/// Returns the smallest p-value that a rank test can have for samples of these sizes. The p-value is smallest if all
/// values of one sample are above all values of the other.
pub fn least_unpaired(baseline: usize, candidate: usize) -> f64 {
    let ways = (1..=candidate).fold(1.0, |ways, i| ways * (baseline + i) as f64 / i as f64);
    (2.0 / ways).min(1.0)
}

/// Returns the corrected p-values of several comparisons. With the correction, the probability of one or more false
/// alarms stays below the significance level. The correction is the step-down procedure of Holm (*Scandinavian Journal
/// of Statistics* 6, 1979).
pub(crate) fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|a, b| p_values[*a].total_cmp(&p_values[*b]));
    let (mut corrected, mut largest) = (vec![0.0; p_values.len()], 0.0_f64);
    for (rank, at) in order.iter().enumerate() {
        let remaining = (p_values.len() - rank) as f64;
        largest = largest.max((p_values[*at] * remaining).min(1.0));
        corrected[*at] = largest;
    }
    corrected
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p_values_are_those_of_published_examples() {
        // Student (1908): hours of sleep gained by one drug over another; t = 4.06 with 9 degrees of freedom.
        let sleep = [1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4];
        assert!((paired(&sleep) - 0.002_83).abs() < 0.000_05, "{}", paired(&sleep));
        // Five against four that all lie below: 2 of 126 orders are as extreme.
        let (above, below) = ([19.0, 22.0, 16.0, 29.0, 24.0], [1.0, 2.0, 3.0, 4.0]);
        assert!((unpaired(&above, &below) - 2.0 / 126.0).abs() < 1e-12);
        assert!((unpaired(&below, &above) - 2.0 / 126.0).abs() < 1e-12);
        // The example of Mann and Whitney's test in R: p = 0.254 of ten against five.
        let ozone = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46];
        assert!((unpaired(&ozone, &[1.15, 0.88, 0.90, 0.74, 1.21]) - 0.254_412).abs() < 1e-5);
        // Equal values share their ranks. Of the six ways to assign 1, 2, 2, 3, two are as extreme as {1, 2}.
        assert!((unpaired(&[1.0, 2.0], &[2.0, 3.0]) - 4.0 / 6.0).abs() < 1e-12);
        // Just above the limit of the exact count, the normal approximation is close to the exact value just below it.
        let many = |from: u32| (0..31).map(|i| f64::from(from + i)).collect::<Vec<f64>>();
        let few = |from: u32| (0..30).map(|i| f64::from(from + i)).collect::<Vec<f64>>();
        let (approximate, counted) = (unpaired(&many(0), &many(8)), unpaired(&few(0), &few(8)));
        assert!((approximate - counted).abs() < 0.01, "{approximate} {counted}");
        assert!((least_unpaired(5, 4) - 2.0 / 126.0).abs() < 1e-12);
        assert!((least_unpaired(1, 1) - 1.0).abs() < 1e-12);
        // Holm's correction by hand.
        let corrected = holm(&[0.01, 0.04, 0.03, 0.005]);
        for (corrected, expected) in corrected.iter().zip([0.03, 0.06, 0.06, 0.02]) {
            assert!((corrected - expected).abs() < 1e-12, "{corrected} {expected}");
        }
        assert!(holm(&[]).is_empty());
    }

    #[test]
    fn counters_leave_nothing_to_chance() {
        let certain = |p: f64| (p - 1.0).abs() < f64::EPSILON;
        assert!(certain(paired(&[0.0; 6])) && certain(paired(&[])) && certain(unpaired(&[], &[1.0])));
        assert!(paired(&[0.1; 6]).abs() < f64::EPSILON);
    }
}
