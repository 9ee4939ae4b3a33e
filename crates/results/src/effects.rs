//! The files that `lsmbench effects` writes: `effects.csv` with the effects of swept factors, and `ranking.csv` with
//! the ranking of configurations.

use std::path::Path;

use crate::metric::{Better, Metric, Repeats, Unit, ValueType, columns};
use crate::writer::replace;
use crate::{ResultsError, Row, Schema};

columns! {
    /// The columns of `effects.csv`, in order.
    EFFECTS
    /// The column of `runs.csv` that is analyzed.
    METRIC = "metric", "metric", Plain, Text, Neither, Exact;
    /// Name of the phase.
    PHASE = "phase", "phase", Plain, Text, Neither, Exact;
    /// The swept path. For an interaction, the column contains both paths, separated by ` × `.
    FACTOR = "factor", "factor", Plain, Text, Neither, Exact;
    /// The value of the factor. For an interaction, the column contains the values of both factors, separated by ` ×
    /// `.
    LEVEL = "level", "level", Plain, Text, Neither, Exact;
    /// The metric at this value of the factor, divided by the geometric mean of the metric over all configurations. For
    /// an interaction, the ratio that remains after the main effects of both factors are removed.
    RATIO = "ratio", "ratio to the mean", Ratio, Number, Neither, Varies;
    /// Lower end of the 95 % confidence interval of `ratio` over rounds.
    RATIO_LOW = "ratio_low", "ratio, lower end", Ratio, Number, Neither, Varies;
    /// Upper end of the 95 % confidence interval of `ratio` over rounds.
    RATIO_HIGH = "ratio_high", "ratio, upper end", Ratio, Number, Neither, Varies;
    /// Fraction of the variance between configurations that the factor or interaction explains. The variance is
    /// computed from logarithms of the metric.
    SHARE = "share", "share of the variance", Share, Number, Neither, Varies;
    /// Probability that chance alone causes an effect of this size. The probability is corrected for the number of
    /// effects.
    P_VALUE = "p_value", "p-value", Share, Number, Neither, Varies;
}

columns! {
    /// The columns of `ranking.csv`, in order.
    RANKING
    /// The column of `runs.csv` by which configurations are ranked.
    RANKED_METRIC = "metric", "metric", Plain, Text, Neither, Exact;
    /// Name of the phase.
    RANKED_PHASE = "phase", "phase", Plain, Text, Neither, Exact;
    /// The label of the configuration.
    CONFIGURATION = "configuration", "configuration", Plain, Text, Neither, Exact;
    /// Median of the metric over trials, in the unit of the metric.
    MEDIAN = "median", "median", Plain, Number, Neither, Varies;
    /// Rank of the configuration: the number of better configurations, plus 1. A tied configuration does not count as
    /// better.
    RANK = "rank", "rank", Plain, Integer, Neither, Varies;
    /// The configurations that are significantly better than this configuration, the best first, separated by `; `.
    BEATEN_BY = "beaten_by", "beaten by", Plain, Text, Neither, Varies;
    /// The configurations without a significant difference from this configuration.
    TIED_WITH = "tied_with", "no significant difference from", Plain, Text, Neither, Varies;
    /// Name of a configuration that is better than this configuration in at least one metric and worse in no metric.
    /// Empty for configurations on the Pareto front over all metrics.
    DOMINATED_BY = "dominated_by", "dominated by", Plain, Text, Neither, Varies;
}

/// Returns an empty row of `effects.csv`.
pub fn effect_row() -> Row {
    Row::new(&Schema::fixed(EFFECTS))
}

/// Returns an empty row of `ranking.csv`.
pub fn ranking_row() -> Row {
    Row::new(&Schema::fixed(RANKING))
}

/// Writes `effects.csv` and `ranking.csv` into a folder, each file in one atomic step.
///
/// # Errors
/// A text contains a control character, or the file system returns an error.
pub fn write(folder: &Path, effects: &[Row], ranking: &[Row]) -> Result<(), ResultsError> {
    replace(&folder.join("effects.csv"), &Schema::fixed(EFFECTS), effects)?;
    replace(&folder.join("ranking.csv"), &Schema::fixed(RANKING), ranking)
}
