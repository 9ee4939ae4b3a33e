//! The noise of a machine: the difference between two series of trials of the same baseline.

use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::sample::log_ratio;
use crate::significance::{FEWEST_BLOCKS, mean_and_error};
use crate::{Criteria, Sample, bootstrap};

/// The probability of detection in the formula for the smallest detectable difference. The formula assumes that the
/// standard deviation is known. A few rounds only estimate it, so the real probability is about 80 %.
const POWER: f64 = 0.9;

/// The ratio of the standard error of a median to the standard error of a mean, for normally distributed values:
/// √(π/2).
const MEDIAN_PENALTY: f64 = 1.253_314_137;

/// The noise of the machine, estimated from a variant that ran twice in each round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Noise {
    /// The noise floor: the largest relative difference that noise alone probably causes, such as 0.03 for 3 %.
    /// Verdicts do not report smaller differences.
    pub floor: f64,
    /// The smallest true difference that an experiment with this number of rounds detects with a probability of 80 %,
    /// as a fraction.
    pub detectable: f64,
    /// The number of rounds in which the variant ran twice.
    pub blocks: usize,
}

impl Noise {
    /// Estimates the noise from two samples of the same variant. The smallest detectable difference grows with the
    /// number of `comparisons`. Returns `None` if there are too few rounds, or if a ratio has no logarithm.
    pub fn of(first: &Sample, again: &Sample, criteria: &Criteria, comparisons: usize) -> Option<Self> {
        let mut logs = first.pairs(again).map(log_ratio).collect::<Option<Vec<f64>>>()?;
        let finite = logs.iter().all(|log| log.is_finite());
        if logs.len() < FEWEST_BLOCKS || !finite {
            return None;
        }
        logs.sort_unstable_by(f64::total_cmp);
        let (low, high) = bootstrap::of_median(&logs, criteria);
        let floor = low.abs().max(high.abs()).exp_m1();
        let level = (1.0 - criteria.confidence) / comparisons.max(1) as f64;
        let detectable = detectable(&logs, floor.max(criteria.delta), level)?;
        Some(Self { floor, detectable, blocks: logs.len() })
    }
}

/// Returns the smallest true difference that a comparison probably detects. A comparison detects a difference if it is
/// significant at `level` and its median exceeds `delta`.
fn detectable(logs: &[f64], delta: f64, level: f64) -> Option<f64> {
    let (_, error) = mean_and_error(logs)?;
    let student = StudentsT::new(0.0, 1.0, logs.len() as f64 - 1.0).ok()?;
    let told_from_none = (student.inverse_cdf(1.0 - level / 2.0) + student.inverse_cdf(POWER)) * error;
    let above_delta = delta.ln_1p() + student.inverse_cdf(POWER) * MEDIAN_PENALTY * error;
    Some(told_from_none.max(above_delta).exp_m1())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quiet_machine_finds_more() {
        let of = |spread: f64| {
            let signs = [1.0, -1.0, 0.5, -0.5, 0.2, -0.2];
            let first = Sample::new("a", (0..6).map(|block| (block, 100.0)));
            let again = (0..).zip(signs).map(|(block, sign)| (block, 100.0 * (1.0 + spread * sign)));
            Noise::of(&first, &Sample::new("a", again), &Criteria::default(), 1).unwrap()
        };
        let (quiet, loud) = (of(0.002), of(0.1));
        assert!(quiet.floor < 0.003 && (0.02..0.03).contains(&quiet.detectable), "{quiet:?}");
        assert!((0.05..0.12).contains(&loud.floor) && loud.detectable > loud.floor, "{loud:?}");
        assert_eq!(quiet.blocks, 6);
        // Counters have no noise at all.
        assert!(of(0.0).floor == 0.0);
    }

    #[test]
    fn few_blocks_and_zeros_tell_nothing() {
        let sample = |values: &[f64]| Sample::new("a", (0..).zip(values.iter().copied()));
        let criteria = Criteria::default();
        assert_eq!(Noise::of(&sample(&[1.0; 3]), &sample(&[1.0; 3]), &criteria, 1), None);
        let zero = [0.0, 1.0, 1.0, 1.0, 1.0, 1.0];
        assert_eq!(Noise::of(&sample(&zero), &sample(&[1.0; 6]), &criteria, 1), None);
    }
}
