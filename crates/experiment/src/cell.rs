//! Configurations of a sweep, and the combinations of swept values that do not run.

use std::borrow::Cow;

use catalog::Choice;
use engines::EngineOptions;
use subject::Task;
use tree::Design;
use types::quantity;

use super::engine::{Absence, ENGINE, engine};

/// A configuration: one combination of swept values that runs.
#[derive(Clone, Debug)]
pub struct Cell {
    /// The index of the configuration in the order of the sweep, starting at 0.
    pub number: u64,
    /// The label of the configuration: a short text with the swept values, which is unique in the experiment.
    pub label: String,
    /// The values of all swept settings in this configuration, as text. The text is empty for a setting that the
    /// configuration does not have.
    pub swept: Vec<String>,
    /// The engine that runs the configuration.
    pub engine: Choice,
    /// The design of the store or of the component.
    pub design: Design,
    /// The workload, or the parameters of the component under test.
    pub task: Task,
}

impl Cell {
    /// Returns a text that identifies the store of the configuration: the engine, and the design options that this
    /// engine uses. Two configurations have equal texts only if their stores are equal.
    pub fn subject(&self) -> String {
        let reads = match engine(&self.engine).reads_whole_design() {
            true => self.design.to_toml().to_string(),
            false => format!("{:?}", EngineOptions::of(&self.design)),
        };
        format!("{}{reads}", self.engine.to_toml())
    }
}

/// Returns the text of a swept value in the rows of results. A size is its number of bytes, so `2MiB` becomes
/// `2097152`. Any other value is unchanged. `path` is the swept path, and `value` is one of the texts in
/// [`Cell::swept`].
pub fn row_text<'a>(path: &str, value: &'a str) -> Cow<'a, str> {
    let size = quantity::parse_size(value).filter(|_| path != ENGINE);
    size.map_or(Cow::Borrowed(value), |bytes| Cow::Owned(bytes.to_string()))
}

/// Returns whether at least one configuration uses the key `key` of the phase with the name `phase`.
pub(crate) fn is_read(cells: &[Cell], phase: &str, key: &str) -> bool {
    let phases = cells.iter().filter_map(|cell| cell.task.workload()).flat_map(|workload| &workload.phases);
    phases.filter(|found| found.name == phase).any(|found| found.reads(key))
}

/// A combination of swept values that does not run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkippedCell {
    /// The swept values of the combination, as text.
    pub label: String,
    /// The reason why the combination does not run.
    pub reason: String,
    /// The engine that is not available, with the steps to install it. `None` if the combination is skipped for another
    /// reason.
    pub absence: Option<Absence>,
}

/// Returns the engines that are not available and therefore cause skipped combinations. Each engine occurs once.
pub fn absences(left_out: &[SkippedCell]) -> Vec<&Absence> {
    let mut absent: Vec<&Absence> = Vec::new();
    for absence in left_out.iter().filter_map(|left| left.absence.as_ref()) {
        if !absent.contains(&absence) {
            absent.push(absence);
        }
    }
    absent
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_is_a_number_of_bytes_in_rows() {
        for (path, value, text) in [
            ("design.memory", "2MiB", "2097152"),
            ("design.compaction.max_compaction", "0 B", "0"),
            ("design.block.size", "4096", "4096"),
            ("phase.look.seconds", "30s", "30s"),
            ("design.cache", "lru(capacity=2MiB)", "lru(capacity=2MiB)"),
            ("engine", "2B", "2B"),
        ] {
            assert_eq!(row_text(path, value), text, "{path}");
        }
    }
}
