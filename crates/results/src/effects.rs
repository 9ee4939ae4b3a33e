//! The files of `lsmbench effects`: the effects of swept factors, and the ranking of configurations.

use std::path::Path;

use crate::metric::{Better, Kind, Metric, Unit, columns};
use crate::writer::replace;
use crate::{ResultsError, Row, Schema};

columns! {
    /// The columns of `effects.csv`, in order.
    EFFECTS
    /// The metric of `runs.csv`.
    METRIC = "metric", "metric", Plain, Text, Neither, true;
    /// The phase.
    PHASE = "phase", "phase", Plain, Text, Neither, true;
    /// The swept path; of an interaction both, with ` × ` between them.
    FACTOR = "factor", "factor", Plain, Text, Neither, true;
    /// The value of the factor; of an interaction both, with ` × ` between them.
    LEVEL = "level", "level", Plain, Text, Neither, true;
    /// The metric at this level / the geometric mean over all configurations; of an interaction / that and the main effects
    /// of both factors.
    RATIO = "ratio", "ratio to the mean", Ratio, Number, Neither, false;
    /// The lower end of the 95 % confidence interval of the ratio over rounds.
    RATIO_LOW = "ratio_low", "lower end of the interval", Ratio, Number, Neither, false;
    /// The upper end of the interval.
    RATIO_HIGH = "ratio_high", "upper end of the interval", Ratio, Number, Neither, false;
    /// The share of the variation between configurations, of the logarithm of the metric, that the factor or interaction explains.
    SHARE = "share", "share of the variation", Share, Number, Neither, false;
    /// How often chance alone would cause an effect of this size, corrected for all effects.
    P_VALUE = "p_value", "p-value", Share, Number, Neither, false;
}

columns! {
    /// The columns of `ranking.csv`, in order.
    RANKING
    /// The metric of `runs.csv`.
    RANKED_METRIC = "metric", "metric", Plain, Text, Neither, true;
    /// The phase.
    RANKED_PHASE = "phase", "phase", Plain, Text, Neither, true;
    /// The label of the configuration.
    CONFIGURATION = "configuration", "configuration", Plain, Text, Neither, true;
    /// Median over trials, in the unit of the metric.
    MEDIAN = "median", "median", Plain, Number, Neither, false;
    /// The number of configurations that beat it, plus 1.
    RANK = "rank", "rank", Plain, Integer, Neither, false;
    /// The configurations that are distinguished from it and better, the best first, with `; ` between them.
    BEATEN_BY = "beaten_by", "beaten by", Plain, Text, Neither, false;
    /// The configurations that are not distinguished from it.
    TIED_WITH = "tied_with", "not distinguished from", Plain, Text, Neither, false;
    /// A configuration that is better in some metric and not worse in any; empty on the Pareto front over all metrics.
    DOMINATED_BY = "dominated_by", "dominated by", Plain, Text, Neither, false;
}

/// An empty row of `effects.csv`.
pub fn effect_row() -> Row {
    Row::new(&Schema::fixed(EFFECTS))
}

/// An empty row of `ranking.csv`.
pub fn ranking_row() -> Row {
    Row::new(&Schema::fixed(RANKING))
}

/// Writes `effects.csv` and `ranking.csv` into a folder, each atomically.
///
/// # Errors
/// Text with a control character; an error of the file system.
pub fn write(folder: &Path, effects: &[Row], ranking: &[Row]) -> Result<(), ResultsError> {
    replace(&folder.join("effects.csv"), &Schema::fixed(EFFECTS), effects)?;
    replace(&folder.join("ranking.csv"), &Schema::fixed(RANKING), ranking)
}
