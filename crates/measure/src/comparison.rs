//! The comparison of the trials of two variants: the median ratio, its confidence interval, and one of four verdicts.
//!
//! The unit of repetition is a round of trials (a block in identifiers). A single operation is not a repetition,
//! because all operations of one run share the conditions of the run. For each round, the logarithm of candidate /
//! baseline is computed. The ratios 2 and 1/2 are then equally far from 1, and a slowdown of a whole round has no
//! effect.
//!
//! A verdict reports a difference if three conditions hold. The confidence interval excludes "no difference". The
//! difference is significant after the correction for all comparisons of one sweep ([`adjust`]). The median exceeds δ,
//! the smallest difference that counts. Two variants are equivalent if the whole interval is within ±δ (the two
//! one-sided tests of Schuirmann, 1987, at a stricter level).

use results::Better;

use crate::criteria::Criteria;
use crate::sample::{log_ratio, median_of_sorted};
use crate::significance::{self, FEWEST_BLOCKS, FEWEST_SESSIONS};
use crate::verdict::{WIDEST_EQUIVALENCE, judge};
use crate::{Doubt, Sample, Verdict, bootstrap};

/// A range of values, such as a confidence interval of the ratio of candidate to baseline.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The lower end of the range.
    pub low: f64,
    /// The upper end of the range.
    pub high: f64,
}

/// The result of comparing the trials of a candidate with the trials of a baseline.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparison {
    /// The verdict on the difference between candidate and baseline.
    pub verdict: Verdict,
    /// The median over rounds of the ratio candidate / baseline. The ratio is infinite if only the baseline is 0.
    /// `None` if the ratio is undefined.
    pub ratio: Option<f64>,
    /// The confidence interval of the ratio. `None` if it cannot be computed, for example with too few rounds, or if a
    /// value is 0.
    pub interval: Option<Interval>,
    /// The p-value: the probability that chance alone causes a difference of at least this size. [`adjust`] corrects
    /// the p-value for the number of comparisons. `None` if it cannot be computed, for example with too few rounds.
    pub p_value: Option<f64>,
    /// The difference compared with the noise (Cohen's d of paired differences): the mean logarithm of the ratio,
    /// divided by the standard deviation of the logarithms over rounds.
    ///
    /// Infinite if every round has the same ratio. `None` without common rounds, for too few rounds, and if the ratio
    /// is 1 in every round.
    pub effect_size: Option<f64>,
    /// The number of rounds in which both variants were measured. In a comparison without common rounds, the number of
    /// runs or sessions of the variant with fewer runs or sessions.
    pub blocks: usize,
    /// The smallest relative difference that a verdict of this comparison reports.
    pub delta: f64,
    /// The probability with which the confidence interval should contain the true ratio.
    pub confidence: f64,
    /// The reason why the comparison is inconclusive; `None` for other verdicts.
    pub doubt: Option<Doubt>,
}

/// Compares a candidate with a baseline over the rounds of trials in which both were measured. `better` states whether
/// higher or lower values are better.
pub fn compare(baseline: &Sample, candidate: &Sample, better: Better, criteria: &Criteria) -> Comparison {
    let logs: Option<Vec<f64>> = baseline.pairs(candidate).map(log_ratio).collect();
    let blocks = baseline.pairs(candidate).count();
    let doubtful = |doubt| Comparison::doubtful(doubt, blocks, criteria);
    let Some(mut logs) = logs else { return doubtful(Doubt::NoRatio) };
    logs.sort_unstable_by(f64::total_cmp);
    let (Some(least), Some(largest)) = (logs.first(), logs.last()) else {
        return doubtful(Doubt::TooFewBlocks { blocks });
    };
    let constant = least.total_cmp(largest).is_eq();
    if !constant && (least.is_infinite() || largest.is_infinite()) {
        return doubtful(Doubt::SometimesZero);
    }
    let median = median_of_sorted(&logs);
    let ratio = Some(median.exp());
    if blocks < 2 || (blocks < FEWEST_BLOCKS && !(constant && criteria.exact)) {
        return Comparison { ratio, ..doubtful(Doubt::TooFewBlocks { blocks }) };
    }
    let interval = if constant { (*least, *least) } else { bootstrap::of_median(&logs, criteria) };
    let p_value = significance::paired(&logs);
    let found = Comparison { ratio, effect_size: effect_size(&logs), ..doubtful(Doubt::TooNoisy) };
    found.judged(median, interval, p_value, better)
}

/// Compares the runs of a candidate and a baseline that have no common rounds, for example from two sessions. The ratio
/// of the medians then includes any difference between the sessions. The p-value comes from a rank test.
pub fn compare_unpaired(
    baseline: &Sample,
    candidate: &Sample,
    better: Better,
    criteria: &Criteria,
) -> Comparison {
    let sides = [baseline, candidate].map(Sample::ascending);
    let [base, new] = &sides;
    let blocks = base.len().min(new.len());
    let doubtful = |doubt| Comparison::doubtful(doubt, blocks, criteria);
    if blocks == 0 {
        return doubtful(Doubt::TooFewBlocks { blocks });
    }
    let (base_median, new_median) = (median_of_sorted(base), median_of_sorted(new));
    let Some(log) = log_ratio((base_median, new_median)) else { return doubtful(Doubt::NoRatio) };
    let ratio = Some(log.exp());
    if significance::least_unpaired(base.len(), new.len()) > 1.0 - criteria.confidence {
        return Comparison { ratio, ..doubtful(Doubt::TooFewBlocks { blocks }) };
    }
    let is_zero = |side: &[f64]| side[side.len() - 1] == 0.0;
    let found = Comparison { ratio, ..doubtful(Doubt::TooNoisy) };
    let p_value = significance::unpaired(base, new);
    if is_zero(base) || is_zero(new) {
        return found.judged(log, (log, log), p_value, better);
    }
    if base[0] <= 0.0 || new[0] <= 0.0 {
        return doubtful(Doubt::SometimesZero);
    }
    let logs = sides.each_ref().map(|side| side.iter().map(|value| value.ln()).collect::<Vec<f64>>());
    let interval = bootstrap::of_difference(&logs[0], &logs[1], criteria);
    found.judged(log, interval, p_value, better)
}

/// Compares two builds by whole sessions of trials, because load, temperature and memory layout differ more between
/// sessions than within one. Each value summarizes one session, for example by the median over its trials.
///
/// The confidence interval is Student's interval for the difference of the mean logarithms, with one common variance
/// for both builds (*Biometrika* 6, 1908). Both builds together need at least [`FEWEST_SESSIONS`] sessions. With fewer
/// sessions, the result is inconclusive.
pub fn compare_sessions(
    baseline: &[f64],
    candidate: &[f64],
    better: Better,
    criteria: &Criteria,
) -> Comparison {
    let blocks = baseline.len().min(candidate.len());
    let doubtful = |doubt| Comparison::doubtful(doubt, blocks, criteria);
    if blocks == 0 {
        return doubtful(Doubt::TooFewBlocks { blocks });
    }
    let is_zero = |value: &f64| *value == 0.0;
    if baseline.iter().chain(candidate).all(is_zero) {
        return doubtful(Doubt::TooNoisy).judged(0.0, (0.0, 0.0), 1.0, better);
    }
    if baseline.iter().chain(candidate).any(is_zero) {
        return doubtful(Doubt::SometimesZero);
    }
    let logs = [baseline, candidate]
        .map(|side| side.iter().map(|value| log_ratio((1.0, *value))).collect::<Option<Vec<f64>>>());
    let [Some(base), Some(new)] = logs else { return doubtful(Doubt::NoRatio) };
    let mean = |logs: &[f64]| logs.iter().sum::<f64>() / logs.len() as f64;
    let difference = mean(&new) - mean(&base);
    let ratio = Some(difference.exp());
    if base.len() + new.len() < FEWEST_SESSIONS {
        return Comparison { ratio, ..doubtful(Doubt::FewSessions) };
    }
    let (low, high, p_value) = significance::between_sessions(&base, &new, criteria.confidence);
    Comparison { ratio, ..doubtful(Doubt::TooNoisy) }.judged(difference, (low, high), p_value, better)
}

/// Compares two values that are equal in every trial, such as counters. The verdict reports every difference above
/// `delta`.
pub fn compare_exact(baseline: f64, candidate: f64, better: Better, delta: f64) -> Comparison {
    let criteria = Criteria { delta, exact: true, ..Criteria::default() };
    let twice = |value| Sample::new("", [(0, value), (1, value)]);
    Comparison { blocks: 1, ..compare(&twice(baseline), &twice(candidate), better, &criteria) }
}

/// Compares two values that were measured with only one seed, although another seed would change them. `counts`
/// contains the numbers of events from which the two values are computed.
///
/// With another seed, a count would vary by about its square root. The confidence interval is therefore that of the
/// ratio of two independent Poisson or binomial counts. Without counts, there is no interval, and a difference above δ
/// is inconclusive.
pub fn compare_counts(
    values: [f64; 2],
    counts: Option<[f64; 2]>,
    is_share: bool,
    better: Better,
    delta: f64,
) -> Comparison {
    let criteria = Criteria { delta, exact: true, ..Criteria::default() };
    let exact = compare_exact(values[0], values[1], better, delta);
    if values[0].total_cmp(&values[1]).is_eq() {
        return exact;
    }
    let doubtful = Comparison {
        ratio: exact.ratio,
        effect_size: None,
        ..Comparison::doubtful(Doubt::OneSeed, 1, &criteria)
    };
    let Some(counts) = counts.filter(|counts| counts.iter().all(|count| count.is_finite() && *count >= 0.0))
    else {
        return if exact.verdict == Verdict::Equivalent { exact } else { doubtful };
    };
    // Half an event is added to each count, so that the ratio of the counts is finite even if a count is 0.
    let events = counts.map(|count| count + 0.5);
    let spread =
        |at: usize| if is_share { (1.0 - values[at]).clamp(0.0, 1.0) / events[at] } else { 1.0 / events[at] };
    let error = (spread(0) + spread(1)).sqrt();
    let is_zero = values.contains(&0.0);
    let adjusted = (events[1].ln() - events[0].ln(), exact.ratio.map(f64::ln));
    let log = match adjusted {
        (_, Some(log)) if !is_zero => log,
        (log, _) => log,
    };
    let (reach, p_value) = significance::normal(log, error, criteria.confidence);
    let found = Comparison { ratio: exact.ratio, ..doubtful }.judged(
        log,
        (log - reach, log + reach),
        p_value,
        better,
    );
    match found.verdict {
        Verdict::Inconclusive if found.doubt != Some(Doubt::NoDirection) => {
            Comparison { doubt: Some(Doubt::OneSeed), ..found }
        }
        _ => found,
    }
}

/// Corrects the p-values of all comparisons of a sweep, because one of many comparisons easily looks significant by
/// chance (Holm, 1979). If a corrected p-value is no longer significant, the verdict becomes inconclusive.
pub fn adjust<'a>(comparisons: impl IntoIterator<Item = &'a mut Comparison>) {
    let mut family: Vec<&mut Comparison> =
        comparisons.into_iter().filter(|comparison| comparison.p_value.is_some()).collect();
    let p_values: Vec<f64> = family.iter().filter_map(|comparison| comparison.p_value).collect();
    let comparisons = family.len();
    for (comparison, p_value) in family.iter_mut().zip(significance::holm(&p_values)) {
        comparison.p_value = Some(p_value);
        let claims = matches!(comparison.verdict, Verdict::Improved | Verdict::Regressed);
        if claims && p_value > 1.0 - comparison.confidence {
            comparison.verdict = Verdict::Inconclusive;
            comparison.doubt = Some(Doubt::OneOfMany { comparisons });
        }
    }
}

/// Returns the effect size: the mean of the logarithms of the ratios, divided by their standard deviation. Returns
/// `None` if it is undefined.
fn effect_size(logs: &[f64]) -> Option<f64> {
    let (mean, error) = significance::mean_and_error(logs)?;
    let size = mean / (error * (logs.len() as f64).sqrt());
    (!size.is_nan()).then_some(size)
}

impl Comparison {
    /// Creates an inconclusive comparison without a ratio, for the reason `doubt`. `blocks` is the number of common
    /// rounds.
    fn doubtful(doubt: Doubt, blocks: usize, criteria: &Criteria) -> Self {
        Self {
            verdict: Verdict::Inconclusive,
            ratio: None,
            interval: None,
            p_value: None,
            effect_size: None,
            blocks,
            delta: criteria.delta,
            confidence: criteria.confidence,
            doubt: Some(doubt),
        }
    }

    /// Returns the reason why the comparison is inconclusive, as text. `threshold` names the smallest difference that
    /// the verdict reports, such as `noise floor`. Returns `None` for other verdicts.
    pub fn reason(&self, threshold: &str) -> Option<String> {
        let doubt = self.doubt?;
        let Some(interval) = self.interval.filter(|_| doubt == Doubt::TooSmall) else {
            return Some(doubt.to_string());
        };
        let size = format!("{threshold} of {:.1}%", self.delta * 100.0);
        let is_within = [interval.low, interval.high].iter().all(|end| end.ln().abs() <= self.delta.ln_1p());
        let limit = match is_within {
            true => &format!(
                "{:.1}%, the largest difference that counts as equivalent",
                WIDEST_EQUIVALENCE * 100.0
            ),
            false => "it",
        };
        Some(format!(
            "the difference is smaller than the {size}, but the confidence interval (CI) extends beyond {limit}"
        ))
    }

    /// Returns the largest difference at which two variants count as equivalent in this comparison, as a fraction.
    pub fn equivalence_limit(&self) -> f64 {
        self.delta.min(WIDEST_EQUIVALENCE)
    }

    /// Returns this comparison with a verdict, a confidence interval and a p-value. `median` and `interval` are
    /// logarithms of the ratio candidate / baseline.
    fn judged(self, median: f64, interval: (f64, f64), p_value: f64, better: Better) -> Self {
        let (mut verdict, mut doubt) = judge(median, interval, better, self.delta);
        let claims = matches!(verdict, Verdict::Improved | Verdict::Regressed);
        if claims && p_value > 1.0 - self.confidence {
            (verdict, doubt) = (Verdict::Inconclusive, Some(Doubt::Chance));
        }
        let interval = Interval { low: interval.0.exp(), high: interval.1.exp() };
        Self { verdict, doubt, interval: Some(interval), p_value: Some(p_value), ..self }
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
    fn an_unlucky_block_makes_doubt_and_says_why() {
        let candidate = [15.15, 1.35, 1.24, 1.53, 1.57, 1.07, 1.24].map(|ratio| 100.0 * ratio);
        let doubt = Some(Doubt::Chance);
        assert_eq!(verdict(&[100.0; 7], &candidate, Better::Lower), (Verdict::Inconclusive, doubt));
    }

    #[test]
    fn times_that_happen_to_be_equal_are_no_counters() {
        let few = Some(Doubt::TooFewBlocks { blocks: 3 });
        assert_eq!(verdict(&[210.0; 3], &[200.0; 3], Better::Lower), (Verdict::Inconclusive, few));
        let one = |value| Sample::new("", [(0, value)]);
        let criteria = Criteria::default();
        let sessions = compare_unpaired(&one(1.0), &one(2.0), Better::Lower, &criteria);
        assert_eq!(sessions.doubt, Some(Doubt::TooFewBlocks { blocks: 1 }));
        let zeros = compare_unpaired(&sample(&[0.0; 5]), &sample(&[0.0; 5]), Better::Lower, &criteria);
        assert_eq!(zeros.verdict, Verdict::Equivalent);
        let from_zero = compare_unpaired(&sample(&[0.0; 5]), &sample(&[3.0; 5]), Better::Lower, &criteria);
        assert_eq!(from_zero.verdict, Verdict::Regressed);
    }

    #[test]
    fn a_reason_names_the_threshold_and_the_limit_that_the_interval_exceeds() {
        let reason = |ratios: &[f64], delta| {
            let base = vec![100.0; ratios.len()];
            let own: Vec<f64> = ratios.iter().map(|ratio| 100.0 * ratio).collect();
            let criteria = Criteria { delta, ..Criteria::default() };
            compare(&sample(&base), &sample(&own), Better::Higher, &criteria).reason("noise floor")
        };
        let within = "the difference is smaller than the noise floor of 50.0%, but the confidence interval (CI) \
                      extends beyond 10.0%, the largest difference that counts as equivalent";
        assert_eq!(reason(&[1.2, 1.21, 1.19, 1.2, 1.22, 1.18, 1.2], 0.5).as_deref(), Some(within));
        let beyond = "the difference is smaller than the noise floor of 50.0%, but the confidence interval (CI) \
                      extends beyond it";
        assert_eq!(reason(&[1.2, 1.9, 1.1, 1.2, 1.8, 1.1, 1.2, 1.7], 0.5).as_deref(), Some(beyond));
        assert_eq!(reason(&[2.2, 2.21, 2.19, 2.2, 2.22, 2.18, 2.2], 0.5), None);
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
    fn a_noisy_machine_calls_little_different_and_nothing_large_equal() {
        let base = [100.0, 104.0, 98.0, 101.0, 99.0, 102.0];
        let under = |factor: f64, delta: f64| {
            let criteria = Criteria { delta, ..Criteria::default() };
            let comparison =
                compare(&sample(&base), &sample(&base.map(|v| v * factor)), Better::Lower, &criteria);
            (comparison.verdict, comparison.doubt)
        };
        assert_eq!(under(1.08, 0.09), (Verdict::Equivalent, None));
        assert_eq!(under(1.2, 0.5), (Verdict::Inconclusive, Some(Doubt::TooSmall)));
        assert_eq!(under(1.6, 0.5), (Verdict::Regressed, None));
    }

    #[test]
    fn few_blocks_say_so_and_equal_counters_need_few() {
        let few = Doubt::TooFewBlocks { blocks: 3 };
        assert_eq!(
            verdict(&[1.0, 1.1, 1.2], &[2.0, 2.3, 2.5], Better::Lower),
            (Verdict::Inconclusive, Some(few))
        );
        assert!(few.to_string().contains("3 trials are too few for a verdict"));
        assert_eq!(verdict(&[], &[], Better::Lower).1, Some(Doubt::TooFewBlocks { blocks: 0 }));
        assert_eq!(verdict(&[7.0; 6], &[7.0; 6], Better::Lower), (Verdict::Equivalent, None));
        assert_eq!(verdict(&[7.0; 6], &[8.0; 6], Better::Lower), (Verdict::Regressed, None));
        assert_eq!(verdict(&[7.0], &[8.0], Better::Lower).1, Some(Doubt::TooFewBlocks { blocks: 1 }));
        let exact = compare_exact(1000.0, 1001.0, Better::Lower, 0.0);
        assert_eq!((exact.verdict, exact.blocks), (Verdict::Regressed, 1));
        assert_eq!(compare_exact(1000.0, 1000.0, Better::Lower, 0.0).verdict, Verdict::Equivalent);
    }

    #[test]
    fn zeros_and_nonsense_have_no_ratio_but_an_answer() {
        assert_eq!(verdict(&[0.0; 6], &[0.0; 6], Better::Lower), (Verdict::Equivalent, None));
        assert_eq!(verdict(&[0.0; 6], &[3.0; 6], Better::Lower), (Verdict::Regressed, None));
        assert_eq!(verdict(&[3.0; 6], &[0.0; 6], Better::Lower), (Verdict::Improved, None));
        let some = [0.0, 1.0, 0.0, 1.0, 1.0];
        assert_eq!(verdict(&some, &[1.0; 5], Better::Lower).1, Some(Doubt::SometimesZero));
        assert_eq!(verdict(&[-1.0; 5], &[1.0; 5], Better::Lower).1, Some(Doubt::NoRatio));
        assert_eq!(verdict(&[f64::NAN; 5], &[1.0; 5], Better::Lower).1, Some(Doubt::NoRatio));
    }

    #[test]
    fn counts_of_one_seed_decide_only_beyond_chance() {
        let fpr = |counts: [f64; 2]| {
            compare_counts(counts.map(|count| count / 1e5), Some(counts), true, Better::Lower, 0.02)
        };
        for (counts, verdict) in [
            ([20.0, 33.0], Verdict::Inconclusive),
            ([4.0, 3.0], Verdict::Inconclusive),
            ([0.0, 0.0], Verdict::Equivalent),
            ([0.0, 3.0], Verdict::Inconclusive),
            ([400.0, 200.0], Verdict::Improved),
            ([200.0, 400.0], Verdict::Regressed),
            ([40.0, 0.0], Verdict::Improved),
        ] {
            let found = fpr(counts);
            assert_eq!(found.verdict, verdict, "{counts:?}: {found:?}");
            assert_eq!(
                found.doubt,
                (verdict == Verdict::Inconclusive).then_some(Doubt::OneSeed),
                "{counts:?}"
            );
        }
        // A hit rate near 1 is better known than the number of its hits.
        let hits = compare_counts([0.9, 0.95], Some([900.0, 950.0]), true, Better::Higher, 0.02);
        assert_eq!(hits.verdict, Verdict::Improved);
        let unknown = compare_counts([1.0, 2.0], None, false, Better::Lower, 0.02);
        assert_eq!((unknown.verdict, unknown.doubt), (Verdict::Inconclusive, Some(Doubt::OneSeed)));
        assert_eq!(compare_counts([1.0, 1.0], None, false, Better::Lower, 0.02).verdict, Verdict::Equivalent);
    }

    #[test]
    fn sessions_decide_only_by_how_far_sessions_differ() {
        let criteria = Criteria::default();
        let compared = |base: &[f64], new: &[f64]| compare_sessions(base, new, Better::Lower, &criteria);
        let once = compared(&[100.0], &[250.0]);
        assert_eq!((once.verdict, once.doubt), (Verdict::Inconclusive, Some(Doubt::FewSessions)));
        assert!(
            (once.ratio.unwrap() - 2.5).abs() < 1e-9 && once.interval.is_none() && once.p_value.is_none()
        );
        assert_eq!(compared(&[100.0, 101.0], &[250.0]).doubt, Some(Doubt::FewSessions));
        // Student's interval by hand: means 0 and ln 2, s² = 2 · 0.01² / 2, t(2; 0.975) = 4.3027.
        let [low, high] = [-0.01_f64, 0.01].map(f64::exp);
        let found = compared(&[low, high], &[2.0 * low, 2.0 * high]);
        let reach = 4.302_653 * 0.01 * 2.0_f64.sqrt();
        assert_eq!(found.verdict, Verdict::Regressed);
        let ends = found.interval.unwrap();
        assert!((ends.low - 2.0 * (-reach).exp()).abs() < 1e-4, "{ends:?}");
        assert!((ends.high - 2.0 * reach.exp()).abs() < 1e-4, "{ends:?}");
        // Three sessions of the base and one of the new build.
        assert_eq!(compared(&[100.0, 104.0, 96.0], &[105.0]).verdict, Verdict::Inconclusive);
        assert_eq!(compared(&[100.0, 104.0, 96.0], &[300.0]).verdict, Verdict::Regressed);
        assert_eq!(compared(&[0.0; 2], &[0.0; 2]).verdict, Verdict::Equivalent);
        assert_eq!(compared(&[0.0, 1.0], &[1.0; 2]).doubt, Some(Doubt::SometimesZero));
        assert_eq!(compared(&[-1.0, 1.0], &[1.0; 2]).doubt, Some(Doubt::NoRatio));
        assert_eq!(compared(&[], &[1.0]).doubt, Some(Doubt::TooFewBlocks { blocks: 0 }));
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
}
