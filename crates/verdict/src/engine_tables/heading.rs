//! A column of the engine tables: a phase with one value of each swept workload setting.

use std::collections::BTreeSet;

use results::ConfigPath;

/// The operations that write, by their names in the results.
const WRITES: [&str; 7] = ["insert", "put", "delete", "single_delete", "delete_range", "merge", "batch"];

/// The heading of one column of the engine tables: a phase with the values of the swept workload settings.
pub(super) struct Heading {
    pub(super) phase: String,
    /// The swept paths of the workload, each with its value in this column.
    pub(super) within: Vec<(String, String)>,
    /// The number of threads of the phase.
    pub(super) threads: u64,
    /// Whether the phase is a step on the store. A step, such as a compaction or a restart, has no threads that execute
    /// operations.
    pub(super) is_step: bool,
    /// The state of the store at the start of the phase. `None` in results of an earlier version.
    pub(super) state: Option<String>,
    /// Whether the operations of the phase write keys or values.
    pub(super) writes: bool,
    /// The kinds of operations of the phase.
    pub(super) operations: BTreeSet<String>,
}

impl Heading {
    /// Returns whether this column shows the phase `phase` with the values `within` of the swept workload settings.
    pub(super) fn is(&self, phase: &str, within: &[(String, String)]) -> bool {
        self.phase == phase && self.within == within
    }

    /// Returns whether all operations of the phase are writes.
    pub(super) fn only_writes(&self) -> bool {
        !self.operations.is_empty() && self.operations.iter().all(|kind| WRITES.contains(&kind.as_str()))
    }

    /// Returns the title of the column without the number of threads, such as `load, order sequential`. All columns of
    /// a table have equal numbers of threads.
    pub(super) fn title(&self) -> String {
        let is_own_threads = |path: &str| ConfigPath::new(path).below() == [self.phase.as_str(), "threads"];
        let within = self.within.iter().filter(|(path, _)| !is_own_threads(path));
        let within = within.map(|(path, value)| format!(", {} {value}", self.short(path)));
        // A phase that is repeated by two threads has the same name with the suffix "-2".
        let suffix = format!("-{}", self.threads);
        let phase = self.phase.strip_suffix(&suffix).filter(|_| self.threads > 1).unwrap_or(&self.phase);
        format!("{phase}{}", within.collect::<String>())
    }

    /// Returns the title of the column with the number of threads, such as `load, order sequential, 2 threads`. The
    /// number of threads is omitted for one thread. Texts outside of a table use this title.
    pub(super) fn full_title(&self) -> String {
        match self.threads {
            1 => self.title(),
            more => format!("{}, {more} threads", self.title()),
        }
    }

    /// Shortens the path of a swept setting for the title of this column: `phase.load.order` becomes `order`. The
    /// number of threads of another phase keeps the name of that phase, such as `load.threads`.
    fn short(&self, path: &str) -> String {
        let path = ConfigPath::new(path);
        match (path.phase(), path.below()) {
            // Without the name of the phase, these threads would look like the threads of this column's phase.
            (Some(phase), [_, "threads"]) if phase != self.phase => format!("{phase}.threads"),
            (Some(_), [_, inside @ ..]) if !inside.is_empty() => inside.join("."),
            _ => path.short().to_owned(),
        }
    }
}
