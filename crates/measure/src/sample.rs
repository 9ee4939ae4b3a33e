//! The values of one metric for one variant, over all rounds of trials.

/// The distance from the median, in median absolute deviations, above which a value is an outlier.
const OUTLIER_SPREADS: f64 = 10.0;

/// The values of one metric for one variant, round by round.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// The name of the variant, as verdicts print it.
    pub name: String,
    /// The number and the value of each round of trials. Rounds without a value are missing.
    pub blocks: Vec<(u64, f64)>,
}

impl Sample {
    /// Creates a sample from the name of the variant and its values by round.
    pub fn new(name: impl Into<String>, blocks: impl IntoIterator<Item = (u64, f64)>) -> Self {
        Self { name: name.into(), blocks: blocks.into_iter().collect() }
    }

    /// Returns the median of the sample over its rounds. Returns `None` if the sample has no rounds.
    pub fn median(&self) -> Option<f64> {
        let values = self.ascending();
        (!values.is_empty()).then(|| median_of_sorted(&values))
    }

    /// Returns the rounds with outliers: values further from the median than ten median absolute deviations.
    /// Comparisons report outliers but still use them, because removing values would bias the result.
    pub fn outliers(&self) -> Vec<(u64, f64)> {
        let Some(median) = self.median() else { return Vec::new() };
        let distances = self.blocks.iter().map(|(block, value)| (*block, (value - median).abs()));
        let Some(spread) = Self::new("", distances).median() else { return Vec::new() };
        let is_outlier = |value: f64| (value - median).abs() > OUTLIER_SPREADS * spread;
        // If more than half of the values are equal, the spread is 0, and no value counts as an outlier.
        let blocks = self.blocks.iter().filter(|(_, value)| spread > 0.0 && is_outlier(*value));
        blocks.copied().collect()
    }

    /// Returns the values of all rounds in ascending order.
    pub(crate) fn ascending(&self) -> Vec<f64> {
        let mut values: Vec<f64> = self.blocks.iter().map(|(_, value)| *value).collect();
        values.sort_unstable_by(f64::total_cmp);
        values
    }

    /// Returns the values of all rounds in which both samples have a value, as pairs. The first value of a pair comes
    /// from this sample.
    pub fn pairs<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = (f64, f64)> + 'a {
        self.blocks.iter().filter_map(|(block, ours)| {
            other.blocks.iter().find(|(theirs, _)| theirs == block).map(|(_, theirs)| (*ours, *theirs))
        })
    }
}

/// Returns the median of values. Returns `None` if there are no values.
pub fn median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    Sample::new("", (0..).zip(values)).median()
}

/// Returns the median of sorted values. There must be at least one value.
pub(crate) fn median_of_sorted(values: &[f64]) -> f64 {
    let middle = values.len() / 2;
    if values.len() % 2 == 1 { values[middle] } else { f64::midpoint(values[middle - 1], values[middle]) }
}

/// Returns the logarithm of the ratio candidate / baseline. Returns `None` if one of the values is negative or not
/// finite.
pub(crate) fn log_ratio((baseline, candidate): (f64, f64)) -> Option<f64> {
    let fits = |value: f64| value.is_finite() && value >= 0.0;
    if !fits(baseline) || !fits(candidate) {
        return None;
    }
    // Changes -0 to 0, so that two zeros are equal and have the log ratio 0. The difference of their logarithms would
    // be NaN.
    let (baseline, candidate) = (baseline.abs(), candidate.abs());
    Some(if baseline.total_cmp(&candidate).is_eq() { 0.0 } else { candidate.ln() - baseline.ln() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_far_out_is_told() {
        let usual = [100.0, 101.0, 99.0, 100.5, 99.5, 100.2];
        let sample = |values: &[f64]| Sample::new("", (0..).zip(values.iter().copied()));
        assert!(sample(&usual).outliers().is_empty());
        let mut unlucky = usual.to_vec();
        unlucky.push(140.0);
        assert_eq!(sample(&unlucky).outliers(), [(6, 140.0)]);
        assert!(sample(&[7.0, 7.0, 7.0, 8.0]).outliers().is_empty());
        assert!(sample(&[]).outliers().is_empty());
    }

    #[test]
    fn blocks_are_paired_by_number() {
        let a = Sample::new("a", [(0, 1.0), (1, 2.0), (3, 4.0)]);
        let b = Sample::new("b", [(3, 40.0), (0, 10.0), (2, 30.0)]);
        assert_eq!(a.pairs(&b).collect::<Vec<_>>(), [(1.0, 10.0), (4.0, 40.0)]);
        assert_eq!(a.median(), Some(2.0));
        assert_eq!(b.median(), Some(30.0));
        assert_eq!(Sample::new("c", [(0, 1.0), (1, 2.0)]).median(), Some(1.5));
        assert_eq!(Sample::new("d", []).median(), None);
    }
}
