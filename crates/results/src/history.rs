//! Reads and writes the history file `history.csv`. The file contains medians of metrics for every added run, one
//! value per line, oldest run first.

use std::path::Path;

use crate::metric::{Better, Metric, Repeats, Unit, ValueType, columns};
use crate::table::read_rows;
use crate::writer::replace;
use crate::{ResultsError, Row, Schema};

columns! {
    /// The columns of `history.csv`, in order.
    HISTORY
    /// Start of the run, RFC 3339.
    STARTED = "started", "started", Plain, Text, Neither, Varies;
    /// Commit from which the program was built; empty if the commit is unknown.
    GIT_COMMIT = "git_commit", "commit", Plain, Text, Neither, Varies;
    /// CPU model, cores and kernel of the machine. Empty in `counted` mode, because the values of a `counted` run do
    /// not depend on the machine.
    MACHINE = "machine", "machine", Plain, Text, Neither, Varies;
    /// Hash of the measured configuration.
    CONFIG_HASH = "config_hash", "configuration", Plain, Text, Neither, Exact;
    /// Name of the experiment.
    EXPERIMENT = "experiment", "experiment", Plain, Text, Neither, Exact;
    /// Label of the configuration.
    LABEL = "label", "label", Plain, Text, Neither, Exact;
    /// Name of the phase.
    PHASE = "phase", "phase", Plain, Text, Neither, Exact;
    /// The kind of operation, or `all`.
    OPERATION = "operation", "operation", Plain, Text, Neither, Exact;
    /// Name of the column of `runs.csv` that contains the metric.
    METRIC = "metric", "metric", Plain, Text, Neither, Exact;
    /// Median of the metric over the trials of the run, in the unit of the metric.
    MEDIAN = "median", "median", Plain, Number, Neither, Varies;
    /// Number of trials from which the median is computed.
    TRIALS = "trials", "trials", Count, Integer, Neither, Varies;
}

/// Returns an empty row of `history.csv`, the file with the metrics of earlier runs.
pub fn row() -> Row {
    Row::new(&Schema::fixed(HISTORY))
}

/// Reads `history.csv`. A file that does not exist has no rows.
///
/// # Errors
/// The file cannot be read, has other columns, or has a field of the wrong type. The error names the file and the
/// line.
pub fn read(path: &Path) -> Result<Vec<Row>, ResultsError> {
    if !path.exists() {
        return Ok(Vec::new());
    }
    let (_, rows, torn) = read_rows(path, |header| Schema::read_fixed(path, header, HISTORY))?;
    if let Some(torn) = torn {
        let message =
            "the last line is truncated; remove this line, and add its run again with `lsmbench history \
             --add`"
                .to_owned();
        return Err(ResultsError::Row { path: path.to_owned(), line: torn.line, message });
    }
    Ok(rows.into_iter().map(|(_, row)| row).collect())
}

/// Writes `history.csv` in one atomic step, so a reader sees the complete old file or the complete new file.
///
/// # Errors
/// A text contains a line break or another control character, or the file system returns an error.
pub fn write(path: &Path, rows: &[Row]) -> Result<(), ResultsError> {
    replace(path, &Schema::fixed(HISTORY), rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_history_is_read_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("history.csv");
        assert_eq!(read(&path).unwrap(), []);
        let mut entry = row();
        entry
            .set(&STARTED, "2026-01-01T00:00:00Z")
            .set(&METRIC, "fpr")
            .set(&MEDIAN, 0.01)
            .set(&TRIALS, 3_u64);
        write(&path, &[entry.clone()]).unwrap();
        assert_eq!(read(&path).unwrap(), [entry]);
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, &text[..text.len() - 3]).unwrap();
        assert!(read(&path).unwrap_err().to_string().contains("is truncated"));
    }
}
