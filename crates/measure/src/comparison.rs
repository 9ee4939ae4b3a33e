//! What paired trials of two variants say: the median ratio, an interval on it, and one of four verdicts.
//!
//! Blocks are the unit of repetition, never operations: operations of one run share its luck. Per block
//! the logarithm of candidate / baseline is taken, so that what slows a whole block down cancels and so
//! that twice and half are equally far. The interval is the percentile bootstrap of the median over blocks
//! (Efron & Tibshirani, *An Introduction to the Bootstrap*, 1993, chapter 13). A difference counts when the
//! interval excludes "none" and the median exceeds δ; two variants are equivalent when the whole interval
//! lies within ±δ (the two one-sided tests of Schuirmann, 1987, at a stricter level).

use std::fmt;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use results::Better;

use crate::Sample;
use crate::sample::median_of_sorted;

/// When a difference counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Criteria {
    /// The smallest relative difference that matters: 0.02 for 2 %.
    pub delta: f64,
    /// The share of intervals that should hold the true ratio, between 0 and 1.
    pub confidence: f64,
    /// How often the blocks are drawn anew; at least 1.
    pub resamples: usize,
    /// The seed of the draws.
    pub seed: u64,
}

impl Default for Criteria {
    fn default() -> Self {
        Self { delta: 0.02, confidence: 0.95, resamples: 10_000, seed: 42 }
    }
}

/// The fewest blocks that carry a verdict. The widest interval there is, from the least to the largest ratio,
/// holds the true median in a share 1 - 2⁻ⁿ⁺¹ of cases: 94 % for 5 blocks, 88 % for 4, 75 % for 3.
const FEWEST_BLOCKS: usize = 5;

/// What a comparison comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// The candidate is better than the baseline by more than δ.
    Improved,
    /// They differ by less than δ.
    Equivalent,
    /// The trials do not decide; the comparison says why.
    Inconclusive,
    /// The candidate is worse than the baseline by more than δ.
    Regressed,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Improved => "improved",
            Self::Equivalent => "equivalent",
            Self::Inconclusive => "inconclusive",
            Self::Regressed => "regressed",
        })
    }
}

/// Why a comparison is inconclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// Too few blocks in which both were measured.
    TooFewBlocks {
        /// How many there are.
        blocks: usize,
    },
    /// The interval holds both "no difference" and one that matters.
    TooNoisy,
    /// In some blocks one side is 0, so that there is no ratio.
    SometimesZero,
    /// A value is negative or not a number.
    NoRatio,
    /// The metric differs, but neither direction is better.
    NoDirection,
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooFewBlocks { blocks: 0 } => f.write_str("no trial has a value on both sides"),
            Self::TooFewBlocks { blocks } => {
                let trials = if *blocks == 1 { "trial does" } else { "trials do" };
                write!(f, "{blocks} {trials} not carry a verdict; it takes {FEWEST_BLOCKS} or more")
            }
            Self::TooNoisy => f.write_str("the interval is too wide; more trials would narrow it"),
            Self::SometimesZero => f.write_str("0 on one side in some trials, so there is no ratio"),
            Self::NoRatio => f.write_str("a negative value has no ratio"),
            Self::NoDirection => f.write_str("it differs, and neither direction is better"),
        }
    }
}

/// A range of ratios of candidate to baseline.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// What the trials of a candidate say against those of a baseline.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparison {
    /// What it comes to.
    pub verdict: Verdict,
    /// Median ratio of candidate to baseline; infinite where the baseline is 0 and the candidate is not.
    pub ratio: Option<f64>,
    /// The interval on the ratio; nothing where the blocks do not carry one.
    pub interval: Option<Interval>,
    /// Blocks in which both were measured.
    pub blocks: usize,
    /// The share of intervals that should hold the true ratio.
    pub confidence: f64,
    /// Why it is inconclusive; nothing for the other verdicts.
    pub doubt: Option<Doubt>,
}

/// Compares two variants over the blocks in which both were measured.
pub fn compare(baseline: &Sample, candidate: &Sample, better: Better, criteria: &Criteria) -> Comparison {
    let pairs: Vec<(f64, f64)> = baseline.pairs(candidate).collect();
    let blocks = pairs.len();
    let doubtful = |doubt| Comparison {
        verdict: Verdict::Inconclusive,
        ratio: None,
        interval: None,
        blocks,
        confidence: criteria.confidence,
        doubt: Some(doubt),
    };
    let Some(mut logs) = pairs.iter().map(log_ratio).collect::<Option<Vec<f64>>>() else {
        return doubtful(Doubt::NoRatio);
    };
    logs.sort_unstable_by(f64::total_cmp);
    let (Some(least), Some(largest)) = (logs.first(), logs.last()) else {
        return doubtful(Doubt::TooFewBlocks { blocks });
    };
    let constant = least.total_cmp(largest).is_eq();
    if !constant && (least.is_infinite() || largest.is_infinite()) {
        return doubtful(Doubt::SometimesZero);
    }
    let ratio = Some(median_of_sorted(&logs).exp());
    // Counters repeat exactly; then two blocks say all that twenty could.
    if blocks < 2 || (blocks < FEWEST_BLOCKS && !constant) {
        return Comparison { ratio, ..doubtful(Doubt::TooFewBlocks { blocks }) };
    }
    let (low, high) = if constant { (*least, *least) } else { bootstrap(&logs, criteria) };
    let (verdict, doubt) = judge(median_of_sorted(&logs), low, high, better, criteria.delta);
    let interval = Some(Interval { low: low.exp(), high: high.exp() });
    Comparison { verdict, ratio, interval, blocks, confidence: criteria.confidence, doubt }
}

/// Compares two counters of `counted` mode, where one trial is all there is: the interval has no width.
pub fn compare_exact(baseline: f64, candidate: f64, better: Better, delta: f64) -> Comparison {
    let criteria = Criteria { delta, ..Criteria::default() };
    let twice = |value| Sample::new("", [(0, value), (1, value)]);
    Comparison { blocks: 1, ..compare(&twice(baseline), &twice(candidate), better, &criteria) }
}

/// The logarithm of candidate / baseline; nothing where a side is negative or no number.
fn log_ratio((baseline, candidate): &(f64, f64)) -> Option<f64> {
    let fits = |value: f64| value.is_finite() && value >= 0.0;
    if !fits(*baseline) || !fits(*candidate) {
        return None;
    }
    // The sign of a negative zero goes, so that two zeros are the same; their logarithms would not subtract.
    let (baseline, candidate) = (baseline.abs(), candidate.abs());
    Some(if baseline.total_cmp(&candidate).is_eq() { 0.0 } else { candidate.ln() - baseline.ln() })
}

/// The percentile interval of the median over blocks drawn anew, from values in ascending order.
fn bootstrap(sorted: &[f64], criteria: &Criteria) -> (f64, f64) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(criteria.seed);
    let count = sorted.len();
    let mut drawn = vec![0_usize; count];
    let mut medians: Vec<f64> = (0..criteria.resamples.max(1))
        .map(|_| {
            drawn.fill_with(|| random.random_range(0..count));
            drawn.sort_unstable();
            let (lower, upper) = (drawn[(count - 1) / 2], drawn[count / 2]);
            f64::midpoint(sorted[lower], sorted[upper])
        })
        .collect();
    medians.sort_unstable_by(f64::total_cmp);
    let tail = (1.0 - criteria.confidence) / 2.0;
    let skipped = ((tail * medians.len() as f64) as usize).min((medians.len() - 1) / 2);
    (medians[skipped], medians[medians.len() - 1 - skipped])
}

/// The verdict on a median log-ratio and its interval.
fn judge(median: f64, low: f64, high: f64, better: Better, delta: f64) -> (Verdict, Option<Doubt>) {
    let margin = delta.ln_1p();
    if -margin <= low && high <= margin {
        return (Verdict::Equivalent, None);
    }
    let differs = (low > 0.0 || high < 0.0) && median.abs() > margin;
    match (differs, better) {
        (false, _) => (Verdict::Inconclusive, Some(Doubt::TooNoisy)),
        (true, Better::Neither) => (Verdict::Inconclusive, Some(Doubt::NoDirection)),
        (true, _) if (median > 0.0) == (better == Better::Higher) => (Verdict::Improved, None),
        (true, _) => (Verdict::Regressed, None),
    }
}

impl Comparison {
    /// The verdict and the change with its interval, without what several comparisons have in common:
    /// `improved, −12.3 % (−14.0 % to −10.2 %)`.
    pub fn brief(&self) -> String {
        let change = self.ratio.map_or_else(String::new, |ratio| format!(", {}", Change(ratio)));
        let interval = self.interval.filter(Interval::has_width);
        let interval = interval.map_or_else(String::new, |interval| format!(" ({interval})"));
        format!("{}{change}{interval}", self.verdict)
    }

    /// The change and how sure it is: `−12.3 % (95 % interval −14.0 % to −10.2 %, 10 trials)`; empty where there
    /// is none.
    pub fn change(&self) -> String {
        let Some(ratio) = self.ratio else { return String::new() };
        let percent = self.confidence * 100.0;
        match self.interval {
            Some(interval) if interval.has_width() => {
                format!("{} ({percent} % interval {interval}, {} trials)", Change(ratio), self.blocks)
            }
            Some(_) if self.blocks > 1 => format!("{} (the same in every trial)", Change(ratio)),
            _ => Change(ratio).to_string(),
        }
    }
}

impl Interval {
    fn has_width(&self) -> bool {
        self.low.total_cmp(&self.high).is_ne()
    }
}

impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} to {}", Change(self.low), Change(self.high))
    }
}

/// `improved, −12.3 % (95 % interval −14.0 % to −10.2 %, 10 trials)`, and why where it is inconclusive.
impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.verdict)?;
        if self.ratio.is_some() {
            write!(f, ", {}", self.change())?;
        }
        self.doubt.map_or(Ok(()), |doubt| write!(f, ": {doubt}"))
    }
}

/// A ratio as a reader takes it in: small changes in percent, large ones as a factor.
struct Change(f64);

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            ratio if ratio.is_infinite() => f.write_str("from 0"),
            0.0 => f.write_str("to 0"),
            1.0 => f.write_str("no change"),
            ratio if ratio >= 100.0 => write!(f, "×{ratio:.0}"),
            ratio if ratio >= 2.0 => write!(f, "×{ratio:.2}"),
            ratio if ratio <= 0.5 => write!(f, "×{ratio:.3}"),
            ratio if ratio < 1.0 => write!(f, "−{:.1} %", (1.0 - ratio) * 100.0),
            ratio => write!(f, "+{:.1} %", (ratio - 1.0) * 100.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(values: &[f64]) -> Sample {
        Sample::new("", (0..).zip(values.iter().copied()))
    }

    fn verdict(baseline: &[f64], candidate: &[f64], better: Better) -> (Verdict, Option<Doubt>) {
        let comparison = compare(&sample(baseline), &sample(candidate), better, &Criteria::default());
        (comparison.verdict, comparison.doubt)
    }

    #[test]
    fn the_four_verdicts() {
        let base = [100.0, 104.0, 98.0, 101.0, 99.0, 102.0];
        let times = |factor: f64| base.map(|value| value * factor);
        assert_eq!(verdict(&base, &times(1.2), Better::Higher), (Verdict::Improved, None));
        assert_eq!(verdict(&base, &times(1.2), Better::Lower), (Verdict::Regressed, None));
        assert_eq!(verdict(&base, &times(0.8), Better::Lower), (Verdict::Improved, None));
        assert_eq!(verdict(&base, &times(1.01), Better::Lower), (Verdict::Equivalent, None));
        assert_eq!(
            verdict(&base, &times(1.2), Better::Neither),
            (Verdict::Inconclusive, Some(Doubt::NoDirection))
        );
        let noisy = [50.0, 200.0, 70.0, 150.0, 99.0, 102.0];
        assert_eq!(verdict(&base, &noisy, Better::Lower), (Verdict::Inconclusive, Some(Doubt::TooNoisy)));
    }

    #[test]
    fn few_blocks_say_so_and_equal_counters_need_few() {
        let few = Doubt::TooFewBlocks { blocks: 3 };
        assert_eq!(
            verdict(&[1.0, 1.1, 1.2], &[2.0, 2.3, 2.5], Better::Lower),
            (Verdict::Inconclusive, Some(few))
        );
        assert!(few.to_string().contains("3 trials do not carry a verdict"));
        assert_eq!(verdict(&[], &[], Better::Lower).1, Some(Doubt::TooFewBlocks { blocks: 0 }));
        assert_eq!(verdict(&[7.0; 2], &[7.0; 2], Better::Lower), (Verdict::Equivalent, None));
        assert_eq!(verdict(&[7.0; 2], &[8.0; 2], Better::Lower), (Verdict::Regressed, None));
        assert_eq!(verdict(&[7.0], &[8.0], Better::Lower).1, Some(Doubt::TooFewBlocks { blocks: 1 }));
        let exact = compare_exact(1000.0, 1001.0, Better::Lower, 0.0);
        assert_eq!((exact.verdict, exact.blocks), (Verdict::Regressed, 1));
        assert_eq!(compare_exact(1000.0, 1000.0, Better::Lower, 0.0).verdict, Verdict::Equivalent);
    }

    #[test]
    fn zeros_and_nonsense_have_no_ratio_but_an_answer() {
        assert_eq!(verdict(&[0.0; 5], &[0.0; 5], Better::Lower), (Verdict::Equivalent, None));
        assert_eq!(verdict(&[0.0; 5], &[3.0; 5], Better::Lower), (Verdict::Regressed, None));
        assert_eq!(verdict(&[3.0; 5], &[0.0; 5], Better::Lower), (Verdict::Improved, None));
        let some = [0.0, 1.0, 0.0, 1.0, 1.0];
        assert_eq!(verdict(&some, &[1.0; 5], Better::Lower).1, Some(Doubt::SometimesZero));
        assert_eq!(verdict(&[-1.0; 5], &[1.0; 5], Better::Lower).1, Some(Doubt::NoRatio));
        assert_eq!(verdict(&[f64::NAN; 5], &[1.0; 5], Better::Lower).1, Some(Doubt::NoRatio));
    }

    #[test]
    fn a_common_slowdown_of_a_block_cancels() {
        let slow = [1.0, 9.0, 2.0, 30.0, 1.5, 4.0];
        let base = slow.map(|factor| factor * 100.0);
        let candidate = slow.map(|factor| factor * 110.0);
        let comparison = compare(&sample(&base), &sample(&candidate), Better::Lower, &Criteria::default());
        assert_eq!(comparison.verdict, Verdict::Regressed);
        assert!((comparison.ratio.unwrap() - 1.1).abs() < 1e-9);
    }

    #[test]
    fn sentences_read_well() {
        let base = [100.0, 104.0, 98.0, 101.0, 99.0, 102.0];
        let faster = [88.0, 90.0, 87.0, 88.0, 86.0, 91.0];
        let text = compare(&sample(&base), &sample(&faster), Better::Lower, &Criteria::default()).to_string();
        assert!(text.starts_with("improved, −12.") && text.ends_with("6 trials)"), "{text}");
        assert!(text.contains(" (95 % interval −"), "{text}");
        let brief = compare(&sample(&base), &sample(&faster), Better::Lower, &Criteria::default()).brief();
        assert_eq!(brief, text.replace("95 % interval ", "").replace(", 6 trials", ""));
        let text = compare_exact(1.0, 12.0, Better::Lower, 0.0).to_string();
        assert_eq!(text, "regressed, ×12.00");
        let text = compare_exact(0.0, 12.0, Better::Lower, 0.0).to_string();
        assert_eq!(text, "regressed, from 0");
        let twice = |value| Sample::new("", [(0, value), (1, value)]);
        let comparison = compare(&twice(1.0), &twice(0.75), Better::Lower, &Criteria::default());
        assert_eq!(comparison.to_string(), "improved, −25.0 % (the same in every trial)");
        assert_eq!(comparison.brief(), "improved, −25.0 %");
    }
}
