//! A column of the tables: a phase under swept values of the workload.

use std::collections::BTreeSet;

use results::Column;

/// Operations that write, by their names in the results.
const WRITES: [&str; 4] = ["insert", "put", "delete", "batch"];

/// One column: a phase under swept values of the workload.
pub(super) struct Heading {
    pub(super) phase: String,
    /// The swept paths of the workload and their values.
    pub(super) within: Vec<(String, String)>,
    /// The number of threads.
    pub(super) threads: u64,
    /// The kinds of operations.
    pub(super) operations: BTreeSet<String>,
}

impl Heading {
    /// Whether it is the column of a phase under swept values.
    pub(super) fn is(&self, phase: &str, within: &[(String, String)]) -> bool {
        self.phase == phase && self.within == within
    }

    /// Whether all operations are writes.
    pub(super) fn only_writes(&self) -> bool {
        !self.operations.is_empty() && self.operations.iter().all(|kind| WRITES.contains(&kind.as_str()))
    }

    /// The title of the column in a table of columns with the same number of threads: `load, order sequential`.
    pub(super) fn title(&self) -> String {
        let own_threads = format!("phase.{}.threads", self.phase);
        let within = self.within.iter().filter(|(path, _)| *path != own_threads);
        let within = within.map(|(path, value)| format!(", {} {value}", self.short(path)));
        // A phase that is repeated by two threads has the same name with the suffix "-2".
        let suffix = format!("-{}", self.threads);
        let phase = self.phase.strip_suffix(&suffix).filter(|_| self.threads > 1).unwrap_or(&self.phase);
        format!("{phase}{}", within.collect::<String>())
    }

    /// The title of the column outside of such a table: `load, order sequential, 2 threads`.
    pub(super) fn full_title(&self) -> String {
        match self.threads {
            1 => self.title(),
            more => format!("{}, {more} threads", self.title()),
        }
    }

    /// The distinctive part of a path: `order` of `phase.load.order`.
    fn short(&self, path: &str) -> String {
        match path.strip_prefix("phase.").and_then(|path| path.split_once('.')) {
            // The threads of another phase are named with that phase.
            Some((phase, "threads")) if phase != self.phase => format!("{phase}.threads"),
            Some((_, inside)) => inside.to_owned(),
            None => Column::Swept(path.to_owned()).title().to_owned(),
        }
    }
}
