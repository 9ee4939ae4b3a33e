//! Evaluates verdicts during a run, so that the run can stop early without a higher rate of false alarms. An evaluation
//! of the verdicts before the end of a run is called a look.
//!
//! If a run looked often and stopped at its first significant look, it would report a difference for far more than 5 %
//! of the pairs of equal variants. All looks of a run therefore share one error rate α. When a fraction t of the time
//! budget is used, the looks so far may have used the part α·t² of this error rate (an α-spending function of Kim &
//! `DeMets`, *Biometrika* 74, 1987, after Lan & `DeMets`, *Biometrika* 70, 1983). The significance level of a look is
//! the increase of the used part of α at this look. By Bonferroni's inequality, the probability of any false alarm over
//! all looks is at most α, even if the looks depend on each other. The intervals of all looks together therefore
//! contain the true values with a confidence of 1 - α.

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

use crate::sample::log_ratio;
use crate::significance::{FEWEST_BLOCKS, mean_and_error};
use crate::{Sample, Verdict};

/// The factor by which the number of rounds grows from one look (evaluation of the verdicts) to the next.
const LOOK_GROWTH: f64 = 4.0 / 3.0;

/// The probability below which a run stops measuring a comparison. It is the probability that the rest of the time
/// budget decides the comparison.
const LEAST_CHANCE: f64 = 0.05;

/// How much of the error rate the earlier looks (evaluations of the verdicts) of a run have used. All looks share one
/// error rate, because each look can cause a false alarm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spending {
    /// The error rate of all looks together: the probability of a false alarm.
    alpha: f64,
    /// The fraction of the time budget that was used at the last look.
    share: f64,
}

impl Spending {
    /// Creates the state before the first look. `alpha` is the error rate that all looks share.
    pub fn new(alpha: f64) -> Self {
        Self { alpha, share: 0.0 }
    }

    /// Returns the significance level for the next look, at which a fraction `share` of the time budget is used.
    pub fn look(&mut self, share: f64) -> f64 {
        let share = share.clamp(self.share, 1.0);
        let level = self.alpha * (share.powi(2) - self.share.powi(2));
        self.share = share;
        level
    }
}

/// Returns whether a run evaluates its verdicts after `rounds` rounds. This is the case after 6, 8, 11, 14, 19, 25
/// rounds and so on.
pub fn is_look(rounds: usize) -> bool {
    let mut look = FEWEST_BLOCKS as f64;
    while (look.round() as usize) < rounds {
        look *= LOOK_GROWTH;
    }
    look.round() as usize == rounds
}

/// The forecast for a comparison during a run: whether more rounds of trials are worthwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outlook {
    /// The comparison has its verdict, so more rounds are not necessary.
    Decided(Verdict),
    /// More rounds may decide the comparison.
    Open,
    /// The rest of the time budget will probably not decide the comparison.
    Hopeless,
}

/// Returns the forecast for a comparison that has the verdict `verdict` so far. `level` is the significance level, and
/// `more_rounds` is the number of rounds for which the time budget still suffices.
///
/// * The comparison is decided if a difference is significant and exceeds `delta`, or if the whole confidence interval
///   is within ±`delta`.
/// * The comparison is hopeless if the probability of a decision at the end is less than 5 %.
pub fn outlook(
    baseline: &Sample,
    candidate: &Sample,
    verdict: Verdict,
    (delta, level): (f64, f64),
    more_rounds: usize,
) -> Outlook {
    let logs: Option<Vec<f64>> = baseline.pairs(candidate).map(log_ratio).collect();
    let Some((mean, error)) = logs.as_deref().and_then(mean_and_error) else { return Outlook::Open };
    let rounds = logs.map_or(0, |logs| logs.len()) as f64;
    if rounds < FEWEST_BLOCKS as f64 || !error.is_finite() {
        return Outlook::Open;
    }
    let margin = delta.ln_1p();
    let reach = |error: f64, rounds: f64| {
        let student = StudentsT::new(0.0, 1.0, rounds - 1.0);
        let share = 1.0 - level.max(f64::MIN_POSITIVE) / 2.0;
        student.map_or(f64::INFINITY, |student| student.inverse_cdf(share) * error)
    };
    match verdict {
        Verdict::Improved | Verdict::Regressed => return Outlook::Decided(verdict),
        // With few rounds, the interval of the median can be narrow by chance. The interval of the mean must therefore
        // also be within the margin.
        Verdict::Equivalent if mean.abs() + reach(error, rounds) <= margin => {
            return Outlook::Decided(verdict);
        }
        Verdict::Equivalent | Verdict::Inconclusive => {}
    }
    let all = rounds + more_rounds as f64;
    let spread = error * rounds.sqrt();
    let (final_error, rest) = (spread / all.sqrt(), spread * (1.0 / rounds - 1.0 / all).max(0.0).sqrt());
    let final_reach = reach(final_error, all);
    let (apart, equal) = (margin.max(final_reach), margin - final_reach);
    let Ok(normal) = Normal::new(mean, rest.max(f64::MIN_POSITIVE)) else { return Outlook::Open };
    let within = |half: f64| normal.cdf(half) - normal.cdf(-half);
    let chance = (1.0 - within(apart)) + if equal > 0.0 { within(equal) } else { 0.0 };
    if chance < LEAST_CHANCE { Outlook::Hopeless } else { Outlook::Open }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_become_rarer_and_spend_no_more_than_all() {
        let looks: Vec<usize> = (0..60).filter(|rounds| is_look(*rounds)).collect();
        assert_eq!(looks, [6, 8, 11, 14, 19, 25, 34, 45]);
        let mut spending = Spending::new(0.05);
        let levels: Vec<f64> = [0.2, 0.5, 0.5, 0.9, 1.3].map(|share| spending.look(share)).to_vec();
        assert!((levels.iter().sum::<f64>() - 0.05).abs() < 1e-12, "{levels:?}");
        assert!(levels[2] == 0.0 && levels.iter().all(|level| *level >= 0.0), "{levels:?}");
    }

    #[test]
    fn a_comparison_that_the_budget_cannot_decide_is_given_up() {
        let sample = |values: &[f64]| Sample::new("", (0..).zip(values.iter().copied()));
        let base = sample(&[1.0; 8]);
        let noisy = sample(&[1.3, 0.8, 1.1, 0.9, 1.25, 0.85, 1.15, 0.8]);
        let of = |candidate: &Sample, verdict, more| outlook(&base, candidate, verdict, (0.02, 0.01), more);
        assert_eq!(of(&noisy, Verdict::Inconclusive, 4), Outlook::Hopeless);
        assert_eq!(of(&noisy, Verdict::Inconclusive, 10_000), Outlook::Open);
        let slower = sample(&[1.03, 1.01, 1.04, 1.02, 1.03, 1.05, 1.01, 1.04]);
        assert_eq!(of(&slower, Verdict::Inconclusive, 8), Outlook::Open);
        assert_eq!(of(&slower, Verdict::Regressed, 8), Outlook::Decided(Verdict::Regressed));
        // The data is too noisy for a decision, even if the interval of the median is narrow.
        assert_ne!(of(&noisy, Verdict::Equivalent, 4), Outlook::Decided(Verdict::Equivalent));
    }
}
