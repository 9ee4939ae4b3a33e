//! The two sources of noise in trials that run side by side, where the processes of the trials take turns. In one turn,
//! a process executes some operations, called a slice. The first source is the noise between slices of one process. The
//! second source is each start of the processes, for example because it changes the memory layout.
//!
//! Each start of the processes (a restart) is one value of the sample, because the memory layout differs between
//! restarts. The ratio of a restart is the ratio of the times of all its slices. The confidence interval is computed
//! over restarts, as in [`compare`](crate::compare). Slices of one restart share its memory layout, and neighboring
//! slices share the state of the machine. Slices therefore never count as separate values. Slices show how much of
//! the variance between restarts comes from within restarts.

use crate::significance::mean_and_error;

/// The smallest number of pairs of slices in a restart for which their standard deviation is meaningful. A pair is one
/// slice of the baseline and one slice of the candidate.
const FEWEST_PAIRS: usize = 8;

/// How much the ratio of candidate to baseline varies between restarts of the processes, as standard deviations of the
/// logarithm of the ratio.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RestartSpread {
    /// The standard deviation of the ratio between restarts, from all causes.
    pub total: f64,
    /// The part of the standard deviation that longer phases would reduce, because it comes from noise between the
    /// slices of a restart.
    pub within: f64,
    /// The part of the standard deviation that only more restarts can reduce, because it comes from the restarts
    /// themselves.
    pub between: f64,
    /// The number of restarts that have enough slices to be included.
    pub restarts: usize,
    /// The number of pairs of slices in all restarts. A pair is one slice of the baseline and one slice of the
    /// candidate.
    pub pairs: usize,
}

impl RestartSpread {
    /// Computes how much the ratio of two variants varies between restarts of their processes and within them. Each
    /// restart is a list of slices, with the time of the baseline and the time of the candidate. Returns `None` unless
    /// at least two restarts have eight slices.
    pub fn of(restarts: &[Vec<(f64, f64)>]) -> Option<Self> {
        let fit = restarts.iter().filter(|pairs| pairs.len() >= FEWEST_PAIRS);
        let logs: Vec<(f64, f64)> = fit.filter_map(|pairs| of_restart(pairs)).collect();
        let ratios: Vec<f64> = logs.iter().map(|(log, _)| *log).collect();
        let (_, error) = mean_and_error(&ratios)?;
        let total = error * (ratios.len() as f64).sqrt();
        let squares: f64 = logs.iter().map(|(_, error)| error.powi(2)).sum();
        let within = (squares / logs.len() as f64).sqrt();
        let between = (total.powi(2) - within.powi(2)).max(0.0).sqrt();
        let pairs = restarts.iter().map(Vec::len).sum();
        Some(Self { total, within, between, restarts: logs.len(), pairs })
    }
}

/// Returns the logarithm of the ratio candidate / baseline in one restart of the processes, and its standard error.
///
/// The standard error comes from batches of √n successive pairs of slices, which are nearly independent (Glynn & Whitt,
/// *Operations Research Letters* 10, 1991).
fn of_restart(pairs: &[(f64, f64)]) -> Option<(f64, f64)> {
    let count = pairs.len() as f64;
    let (base, candidate) = pairs.iter().fold((0.0, 0.0), |sum, pair| (sum.0 + pair.0, sum.1 + pair.1));
    if base <= 0.0 || candidate <= 0.0 {
        return None;
    }
    // The linear approximation of the logarithm of the ratio. It assigns a part of the logarithm to each pair, so that
    // the variation between pairs gives the standard error.
    let part = |pair: &(f64, f64)| count * (pair.1 / candidate - pair.0 / base);
    let batch = (count.sqrt() as usize).max(1);
    let whole = pairs.chunks_exact(batch);
    let means: Vec<f64> =
        whole.map(|batch| batch.iter().map(part).sum::<f64>() / batch.len() as f64).collect();
    let (_, error) = mean_and_error(&means)?;
    Some(((candidate / base).ln(), error))
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    #[test]
    fn noise_of_neighbouring_slices_is_told_from_that_of_restarts() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
        // Sums of twelve uniform numbers are nearly normal, with variance 1.
        let mut normal = || (0..12).map(|_| random.random_range(0.0..1.0)).sum::<f64>() - 6.0;
        let restarts: Vec<Vec<(f64, f64)>> = (0..200)
            .map(|_| {
                let (layout, mut state) = (0.02 * normal(), 0.0);
                let pairs = (0..400).map(|_| {
                    state = 0.8 * state + 0.6 * normal();
                    (1e7, 1e7 * (1.05 + layout + 0.05 * state))
                });
                pairs.collect()
            })
            .collect();
        let spread = RestartSpread::of(&restarts).unwrap();
        // Autocorrelation of 0.8 makes the error of a mean of 400 three times that of independent pairs: 0.05 × 3 / 20.
        let close = |value: f64, expected: f64| (value / expected - 1.0).abs() < 0.2;
        assert!(close(spread.within, 0.0075 / 1.05), "{spread:?}");
        assert!(close(spread.between, 0.02 / 1.05), "{spread:?}");
        assert_eq!((spread.restarts, spread.pairs), (200, 80_000));
        assert_eq!(RestartSpread::of(&restarts[..1]), None);
        assert_eq!(RestartSpread::of(&[vec![(1.0, 1.0); 7], vec![(1.0, 1.0); 7]]), None);
    }
}
