//! One comparison on several machines: the pooled ratio, and the variation of the ratio between machines.
//!
//! Each machine is a stratum with its own paired rounds. A random-effects model pools the mean logarithms of the ratios
//! of all machines. The variance between machines comes from the method of Paule and Mandel (*Journal of Research of
//! the National Bureau of Standards* 87, 1982). The interval of this variance is the Q profile of Viechtbauer
//! (*Statistics in Medicine* 26, 2007). The interval of the pooled ratio comes from the method of Hartung and Knapp
//! (*Statistics in Medicine* 20, 2001).

use statrs::distribution::{ChiSquared, ContinuousCDF, StudentsT};

use crate::significance::mean_and_error;
use crate::{Criteria, Interval};

/// The smallest number of other machines that the outlier test of a machine needs.
const FEWEST_OTHERS: usize = 3;

/// The smallest assumed variance of a machine's mean. Without this limit, a machine with equal rounds would have an
/// infinite weight.
const LEAST_VARIANCE: f64 = 1e-12;

/// The largest variance of the log ratio between machines that the search tries. Its standard deviation of 10
/// corresponds to a factor of about 22,000 between machines.
const MOST_VARIANCE: f64 = 100.0;

/// The result of a comparison of two variants over several machines.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pooled {
    /// The ratio of candidate to baseline, pooled over the machines.
    pub ratio: f64,
    /// The confidence interval of the pooled ratio.
    pub interval: Interval,
    /// The variation of the ratio between machines. `None` if no machine ran two rounds, because the noise of rounds
    /// is then unknown.
    pub spread: Option<MachineSpread>,
}

/// How much the ratio varies between machines: its standard deviation, without the noise of the rounds of trials.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MachineSpread {
    /// The standard deviation of the ratio between machines, as a relative difference: 0.03 means 3 %.
    pub relative: f64,
    /// The confidence interval of this standard deviation.
    pub interval: Interval,
}

/// Pools the ratios of several machines. Each element of `strata` contains the logarithms of the ratios of one machine.
/// Returns `None` for fewer than two machines, a machine without rounds, or a logarithm that is not finite.
pub fn pool(strata: &[Vec<f64>], criteria: &Criteria) -> Option<Pooled> {
    if strata.len() < 2 || strata.iter().flatten().any(|log| !log.is_finite()) {
        return None;
    }
    let means: Vec<f64> = strata.iter().map(|logs| mean(logs)).collect::<Option<_>>()?;
    let within = variance_within(strata);
    let machines = strata.iter().zip(&means).map(|(logs, mean)| {
        let own = mean_and_error(logs).map(|(_, error)| error * error);
        (*mean, own.or(within).unwrap_or_default().max(LEAST_VARIANCE))
    });
    let machines: Vec<(f64, f64)> = machines.collect();
    let freedom = machines.len() as f64 - 1.0;
    let tail = (1.0 - criteria.confidence) / 2.0;
    let chi = ChiSquared::new(freedom).ok()?;
    let between = variance_at(&machines, freedom);
    let (mean, total) = weighted(&machines, between);
    let error = (squares(&machines, between) / freedom / total).sqrt();
    let reach = StudentsT::new(0.0, 1.0, freedom).ok()?.inverse_cdf(1.0 - tail) * error;
    let relative = |variance: f64| variance.sqrt().exp_m1();
    let end = |share: f64| relative(variance_at(&machines, chi.inverse_cdf(share)));
    let spread = within.map(|_| MachineSpread {
        relative: relative(between),
        interval: Interval { low: end(1.0 - tail), high: end(tail) },
    });
    let interval = Interval { low: (mean - reach).exp(), high: (mean + reach).exp() };
    Some(Pooled { ratio: mean.exp(), interval, spread })
}

/// Returns whether the mean logarithm `own` of a machine is an outlier: it is outside of the prediction interval of the
/// other machines (Grubbs, *Annals of Mathematical Statistics* 21, 1950). Returns `false` for fewer than three other
/// machines.
pub fn is_outlying(own: f64, others: &[f64], criteria: &Criteria) -> bool {
    let count = others.len() as f64;
    let Some((center, error)) = mean_and_error(others).filter(|_| others.len() >= FEWEST_OTHERS) else {
        return false;
    };
    let deviation = error * (count + 1.0).sqrt();
    let tail = (1.0 - criteria.confidence) / (count + 1.0) / 2.0;
    let student = StudentsT::new(0.0, 1.0, count - 1.0);
    student.is_ok_and(|student| (own - center).abs() > student.inverse_cdf(1.0 - tail) * deviation)
}

fn mean(logs: &[f64]) -> Option<f64> {
    (!logs.is_empty()).then(|| logs.iter().sum::<f64>() / logs.len() as f64)
}

/// Returns the variance between the rounds of a machine, pooled over all machines. Returns `None` if no machine has two
/// rounds.
fn variance_within(strata: &[Vec<f64>]) -> Option<f64> {
    let squares = strata.iter().filter_map(|logs| {
        let mean = mean(logs)?;
        Some(logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>())
    });
    let freedom = strata.iter().map(|logs| logs.len().saturating_sub(1)).sum::<usize>();
    (freedom > 0).then(|| squares.sum::<f64>() / freedom as f64)
}

/// Returns the weighted mean of the machines and the sum of the weights. Each machine is a pair of its mean and its
/// variance, and `between` is the assumed variance between machines.
fn weighted(machines: &[(f64, f64)], between: f64) -> (f64, f64) {
    let weights = machines.iter().map(|(_, variance)| 1.0 / (variance + between));
    let total: f64 = weights.clone().sum();
    (weights.zip(machines).map(|(weight, (mean, _))| weight * mean).sum::<f64>() / total, total)
}

/// Returns the weighted sum of the squared deviations of the machines from their common mean. `between` is the assumed
/// variance between machines, and a larger variance gives a smaller sum.
fn squares(machines: &[(f64, f64)], between: f64) -> f64 {
    let (center, _) = weighted(machines, between);
    machines.iter().map(|(mean, variance)| (mean - center).powi(2) / (variance + between)).sum()
}

/// Finds the variance between machines for which the weighted sum of squared deviations equals `value`. Returns 0 if
/// the sum is smaller for every variance.
fn variance_at(machines: &[(f64, f64)], value: f64) -> f64 {
    if squares(machines, 0.0) <= value {
        return 0.0;
    }
    let (mut low, mut high) = (0.0, MOST_VARIANCE);
    for _ in 0..200 {
        let middle = f64::midpoint(low, high);
        if squares(machines, middle) > value { low = middle } else { high = middle }
    }
    high
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_xoshiro::Xoshiro256PlusPlus;
    use statrs::distribution::Normal;

    use super::*;

    /// Returns a normally distributed random number.
    fn draw(random: &mut Xoshiro256PlusPlus, deviation: f64) -> f64 {
        let uniform = rand::RngExt::random_range(random, 1e-12..1.0);
        Normal::new(0.0, 1.0).unwrap().inverse_cdf(uniform) * deviation
    }

    #[test]
    fn the_intervals_contain_the_truth_as_often_as_they_say() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
        let (truth, between, within, runs) = (0.2_f64, 0.05, 0.03, 400);
        let (mut ratios, mut spreads) = (0, 0);
        for run in 0..runs {
            let strata: Vec<Vec<f64>> = (0..6)
                .map(|node| {
                    let machine = truth + draw(&mut random, between);
                    // In half of the runs, some machines have one round only.
                    let rounds = if run % 2 == 0 && node < 2 { 1 } else { 8 };
                    (0..rounds).map(|_| machine + draw(&mut random, within)).collect()
                })
                .collect();
            let pooled = pool(&strata, &Criteria::default()).unwrap();
            let contains = |interval: Interval, value: f64| interval.low <= value && value <= interval.high;
            ratios += u32::from(contains(pooled.interval, truth.exp()));
            spreads += u32::from(contains(pooled.spread.unwrap().interval, between.exp_m1()));
        }
        let share = |count: u32| f64::from(count) / f64::from(runs);
        assert!((0.92..0.98).contains(&share(ratios)), "{ratios} of {runs}");
        assert!((0.92..0.98).contains(&share(spreads)), "{spreads} of {runs}");
    }

    #[test]
    fn equal_machines_have_no_spread_and_few_numbers_have_no_answer() {
        let criteria = Criteria::default();
        let same = vec![vec![0.1, 0.12, 0.11, 0.09]; 3];
        let pooled = pool(&same, &criteria).unwrap();
        assert!(pooled.spread.unwrap().relative == 0.0, "{pooled:?}");
        assert!((pooled.ratio.ln() - 0.105).abs() < 1e-12, "{pooled:?}");
        assert_eq!(pool(&same[..1], &criteria), None);
        assert_eq!(pool(&[vec![0.1], vec![]], &criteria), None);
        assert_eq!(pool(&[vec![0.1, f64::INFINITY], vec![0.2, 0.1]], &criteria), None);
        let single = pool(&[vec![0.1], vec![0.2], vec![0.15]], &criteria).unwrap();
        assert!(single.spread.is_none() && (single.ratio.ln() - 0.15).abs() < 1e-9, "{single:?}");
        // Student's interval of three numbers.
        assert!((single.interval.high.ln() - (0.15 + 4.302_652_7 * 0.05 / 3.0_f64.sqrt())).abs() < 1e-6);
    }

    #[test]
    fn an_outlying_machine_is_rarely_named_by_chance() {
        let criteria = Criteria::default();
        assert!(is_outlying(0.7, &[0.0, 0.01, -0.01, 0.005], &criteria));
        assert!(!is_outlying(0.7, &[0.0, 0.01], &criteria));
        let mut random = Xoshiro256PlusPlus::seed_from_u64(8);
        let named = (0..400).filter(|_| {
            let nodes: Vec<f64> = (0..6).map(|_| draw(&mut random, 0.05)).collect();
            (0..nodes.len()).any(|at| {
                let others = nodes.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, log)| *log);
                is_outlying(nodes[at], &others.collect::<Vec<f64>>(), &criteria)
            })
        });
        let named = named.count();
        assert!((4..36).contains(&named), "{named} of 400");
    }
}
