//! Columns, reader and writer of `verdicts.csv`, the verdicts of a run for other programs.

use std::path::Path;

use crate::metric::{Better, Metric, Repeats, Unit, ValueType, columns};
use crate::table::read_rows;
use crate::writer::replace;
use crate::{ResultsError, Row, Schema};

columns! {
    /// Columns of `verdicts.csv`, in order.
    VERDICTS
    /// Name of the experiment.
    EXPERIMENT = "experiment", "experiment", Plain, Text, Neither, Exact;
    /// Swept values that all compared configurations share, such as `entries = 1000`. Empty if the experiment has
    /// only one comparison.
    WITHIN = "within", "within", Plain, Text, Neither, Exact;
    /// Name of the phase.
    PHASE = "phase", "phase", Plain, Text, Neither, Exact;
    /// The kind of operation, or `all`.
    OPERATION = "operation", "operation", Plain, Text, Neither, Exact;
    /// The column of `runs.csv` that is compared.
    METRIC = "metric", "metric", Plain, Text, Neither, Exact;
    /// Label of the configuration that is the reference of the comparison.
    BASELINE = "baseline", "baseline", Plain, Text, Neither, Exact;
    /// Label of the configuration that is compared with the baseline.
    CANDIDATE = "candidate", "candidate", Plain, Text, Neither, Exact;
    /// `improved`, `regressed`, `equivalent` or `inconclusive`.
    VERDICT = "verdict", "verdict", Plain, Text, Neither, Varies;
    /// Reason why the verdict is inconclusive. The column is empty for all other verdicts.
    DOUBT = "doubt", "doubt", Plain, Text, Neither, Varies;
    /// Median of the baseline's metric over trials, in the metric's unit.
    BASELINE_MEDIAN = "baseline_median", "baseline's median", Plain, Number, Neither, Varies;
    /// Median of the candidate's metric over trials, in the metric's unit.
    CANDIDATE_MEDIAN = "candidate_median", "candidate's median", Plain, Number, Neither, Varies;
    /// Median of the ratio candidate / baseline over trials, paired by trial. Empty if the ratio is undefined or
    /// infinite.
    RATIO = "ratio", "ratio", Ratio, Number, Neither, Varies;
    /// Lower end of the 95 % confidence interval (CI) of `ratio`.
    RATIO_LOW = "ratio_low", "ratio, lower end", Ratio, Number, Neither, Varies;
    /// Upper end of the 95 % confidence interval (CI) of `ratio`.
    RATIO_HIGH = "ratio_high", "ratio, upper end", Ratio, Number, Neither, Varies;
    /// Probability that chance alone causes at least this difference. The probability is corrected for all
    /// comparisons of the run (Holm).
    P_VALUE = "p_value", "p-value", Share, Number, Neither, Varies;
    /// Mean logarithm of the ratio, divided by the standard deviation of this logarithm over trials. Empty if all
    /// trials have the same ratio.
    EFFECT_SIZE = "effect_size", "effect size", Ratio, Number, Neither, Varies;
    /// Number of trials that have the metric for both the baseline and the candidate.
    TRIALS = "trials", "trials", Count, Integer, Neither, Exact;
    /// Smallest relative difference that counts as a change. The value is the largest of `verdict.threshold` (2 % by
    /// default), `noise_floor`, and the precision of a rate search.
    DELTA = "delta", "δ", Share, Number, Neither, Varies;
    /// Largest relative difference that noise alone may cause: the end of the CI that is farthest from 0 if the
    /// baseline is compared with itself (A/A). Empty if the baseline did not run twice in each round.
    NOISE_FLOOR = "noise_floor", "noise floor", Share, Number, Neither, Varies;
    /// Smallest true relative difference that this number of trials detects with 80 % power on this machine.
    DETECTABLE = "detectable", "detectable difference", Share, Number, Neither, Varies;
    /// Number of settings in which the two designs differ. In a clean comparison, the number is 1.
    FACTORS = "factors", "factors", Count, Integer, Neither, Exact;
    /// Paths of the settings in which the two designs differ, separated by commas.
    DIFFERS_IN = "differs_in", "differs in", Plain, Text, Neither, Exact;
    /// Memory of the baseline in bytes: memtables, filters, fence pointers and cache. The value is the median over
    /// trials. Empty for components.
    BASELINE_MEMORY_BYTES = "baseline_memory_bytes", "baseline's memory", Bytes, Number, Neither, Varies;
    /// Memory of the candidate, defined like `baseline_memory_bytes`.
    CANDIDATE_MEMORY_BYTES = "candidate_memory_bytes", "candidate's memory", Bytes, Number, Neither, Varies;
    /// `equal`, or `unequal` if the memory of the two configurations differs by more than 5 %. Empty for sweeps
    /// without `memory = "equal"`.
    MEMORY = "memory", "memory", Plain, Text, Neither, Varies;
    /// Number of trials in which the baseline was not steady (`steady` in `runs.csv`). Empty if no trial reports
    /// `steady`.
    BASELINE_UNSTEADY_TRIALS = "baseline_unsteady_trials", "baseline's unsteady trials", Count, Integer, Neither, Varies;
    /// Number of trials in which the candidate was not steady, defined like `baseline_unsteady_trials`.
    CANDIDATE_UNSTEADY_TRIALS = "candidate_unsteady_trials", "candidate's unsteady trials", Count, Integer, Neither, Varies;
}

/// The start of the column `doubt` if the candidate is not comparable with the baseline. Two configurations are
/// comparable if at least one cost, such as the memory or the false-positive rate, is about equal in both.
pub const NO_RIVAL: &str = "no rival";

/// Returns an empty row of `verdicts.csv`.
pub fn row() -> Row {
    Row::new(&Schema::fixed(VERDICTS))
}

/// Writes `verdicts.csv` in one atomic step, so a reader sees the complete old file or the complete new file.
///
/// # Errors
/// A text contains a line break or another control character, or the file system returns an error.
pub fn write(path: &Path, rows: &[Row]) -> Result<(), ResultsError> {
    replace(path, &Schema::fixed(VERDICTS), rows)
}

/// Reads `verdicts.csv`. A missing file has no rows.
///
/// # Errors
/// The file cannot be read, has other columns, or has a field of the wrong type. The error names the file and the
/// line.
pub fn read(path: &Path) -> Result<Vec<Row>, ResultsError> {
    if !path.exists() {
        return Ok(Vec::new());
    }
    let (_, rows, _) = read_rows(path, |header| Schema::read_fixed(path, header, VERDICTS))?;
    Ok(rows.into_iter().map(|(_, row)| row).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("verdicts.csv");
        let mut verdict = row();
        verdict.set(&BASELINE, "none").set(&RATIO, 0.5).set(&TRIALS, 6_u64);
        let rows = [verdict.clone(), verdict];
        write(&path, &rows).unwrap();
        assert_eq!(read(&path).unwrap(), rows);
        std::fs::write(&path, "experiment,ratio\nx,0.5\n").unwrap();
        let refused = read(&path).unwrap_err().to_string();
        assert!(refused.contains("expected \"within\", found \"ratio\""), "{refused}");
    }

    #[test]
    fn verdicts_are_written_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("verdicts.csv");
        let mut verdict = row();
        verdict.set(&BASELINE, "none").set(&RATIO, 0.5).set(&TRIALS, 6_u64);
        write(&path, &[verdict.clone(), verdict]).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text.lines().count(), 3);
        assert!(
            text.starts_with("experiment,within,phase,operation,metric,baseline,candidate,verdict,"),
            "{text}"
        );
        write(&path, &[]).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap().lines().count(), 1);
    }

    #[test]
    fn every_column_is_described() {
        for metric in VERDICTS {
            assert!(metric.definition().ends_with('.'), "{}", metric.name);
        }
    }
}
