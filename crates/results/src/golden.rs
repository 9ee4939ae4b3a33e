//! Golden files. A golden file contains the exact values of the counters of one experiment, one value per line.
//! Golden files are text files that are kept in git and are easy to review.

use std::path::Path;

use serde_json::Value;

use crate::ResultsError;
use crate::whole::write_whole;
use crate::writer::encode;

/// The exact values of a `counted` run, and the command that measures these values again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Golden {
    /// The name of the experiment.
    pub experiment: String,
    /// The arguments of `lsmbench check` that measure the counters again: the experiment file and its options.
    pub command: Vec<String>,
    /// The hash of the measured settings, as in the field `config_hash` of the run's manifest.
    pub config_hash: String,
    /// The counter values, in the order of the rows of the experiment.
    pub numbers: Vec<GoldenNumber>,
}

/// The exact value of one counter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GoldenNumber {
    /// The label of the configuration.
    pub label: String,
    /// The name of the phase.
    pub phase: String,
    /// The kind of operation, such as `get`, or `all`.
    pub operation: String,
    /// The name of the counter, which is a column of `runs.csv`.
    pub metric: String,
    /// The value of the counter as text, with all its digits.
    pub value: String,
}

/// The column names on the line above the values of a golden file.
const HEADER: [&str; 5] = ["label", "phase", "operation", "metric", "value"];

impl Golden {
    /// Writes the golden file atomically.
    ///
    /// # Errors
    /// The file system returns an error.
    pub fn write(&self, path: &Path) -> Result<(), ResultsError> {
        let command = Value::from(self.command.clone());
        let mut text = Vec::from(format!(
            "# experiment: {}\n# command: {}\n# config: {}\n",
            self.experiment, command, self.config_hash
        ));
        let lines = self.numbers.iter().map(GoldenNumber::cells);
        for line in std::iter::once(HEADER).chain(lines) {
            text.extend(encode(line.into_iter().map(str::to_owned)));
        }
        write_whole(path, &text, false)
    }

    /// Reads a golden file.
    ///
    /// # Errors
    /// The file cannot be read, its first lines or its header are not those of a golden file, or a line does not have
    /// five fields with a number at the end. The error names the line.
    pub fn read(path: &Path) -> Result<Self, ResultsError> {
        let text = std::fs::read_to_string(path).map_err(ResultsError::io(path, "read"))?;
        let wrong = |line: usize, message: &str| ResultsError::Row {
            path: path.to_owned(),
            line: line as u64,
            message: message.to_owned(),
        };
        let mut head = text.lines();
        let mut told = |number: usize, name: &str| {
            let line = head.next().and_then(|line| line.strip_prefix(&format!("# {name}: ")));
            line.map(str::to_owned).ok_or_else(|| wrong(number, &format!("expected \"# {name}: …\"")))
        };
        let mut golden = Self { experiment: told(1, "experiment")?, ..Self::default() };
        let command = told(2, "command")?;
        golden.command = serde_json::from_str(&command)
            .map_err(|_| wrong(2, "the command in a golden file must be a JSON list of texts"))?;
        golden.config_hash = told(3, "config")?;
        let table: Vec<&str> = text.lines().skip(3).collect();
        let mut reader =
            csv::ReaderBuilder::new().flexible(true).from_reader(std::io::Cursor::new(table.join("\n")));
        let is_ours = reader.headers().is_ok_and(|header| header.iter().eq(HEADER));
        if !is_ours {
            return Err(wrong(
                4,
                &format!("the header of a golden file must be {columns}", columns = HEADER.join(",")),
            ));
        }
        for (index, record) in reader.records().enumerate() {
            let cells = record.ok().map(|record| record.iter().map(str::to_owned).collect::<Vec<_>>());
            let Some(Ok([label, phase, operation, metric, value])) = cells.map(<[String; 5]>::try_from)
            else {
                return Err(wrong(
                    index + 5,
                    "the line must have five fields: label, phase, operation, metric and value",
                ));
            };
            if !value.parse().is_ok_and(f64::is_finite) {
                return Err(wrong(index + 5, &format!("{value:?} is not a number")));
            }
            golden.numbers.push(GoldenNumber { label, phase, operation, metric, value });
        }
        Ok(golden)
    }
}

impl GoldenNumber {
    fn cells(&self) -> [&str; 5] {
        [&self.label, &self.phase, &self.operation, &self.metric, &self.value]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goldens_read_back_and_damage_has_a_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bloom.csv");
        let number = GoldenNumber {
            label: "blocked(bits_per_key=10, seed=1)".to_owned(),
            phase: "look".to_owned(),
            operation: "all".to_owned(),
            metric: "fpr".to_owned(),
            value: "0.0123456789012345".to_owned(),
        };
        let golden = Golden {
            experiment: "bloom".to_owned(),
            command: vec!["configs/my bloom.toml".to_owned(), "--quick".to_owned()],
            config_hash: "00ff".to_owned(),
            numbers: vec![number.clone(), GoldenNumber { value: "17".to_owned(), ..number }],
        };
        golden.write(&path).unwrap();
        assert_eq!(Golden::read(&path).unwrap(), golden);
        let text = std::fs::read_to_string(&path).unwrap();
        let message = |text: &str| {
            std::fs::write(&path, text).unwrap();
            Golden::read(&path).unwrap_err().to_string()
        };
        assert!(message(&text.replace("# config: ", "config ")).contains(":3: "), "line 3");
        assert!(message(&text.replace("metric,value", "metric")).contains(":4: "));
        assert!(message(&text.replace(",17", ",seventeen")).contains(":6: \"seventeen\" is not a number"));
        assert!(message(&text.replace(",17", "")).contains(":6: the line must have five fields"));
        assert!(message("").contains(":1: "));
    }
}
