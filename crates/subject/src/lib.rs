//! Component benchmarks. Each benchmark tests one axis of a design without a tree. A subject is the tested component
//! together with its operations.
//!
//! An experiment with `subject = "fence"` has a `[component]` table instead of a workload. Designs, sweeps, trials in
//! separate processes, rows, charts and verdicts work as for trees. Each subject is one file and one line in
//! [`SUBJECTS`], with its own parameters and phases. [`Task`] is the work of a configuration: a workload on a tree, or
//! a single [`Component`]. A trial process creates a [`Bench`], which has the clock and checks the answers.
//!
//! This example probes the default Bloom filter with present and with absent keys:
//!
//! ```
//! use std::path::Path;
//!
//! use lsmbench_subject::{Bench, Component};
//! use results::{RunMode, columns::FPR};
//!
//! let text = "subject = \"bloom\"\ncomponent = { entries = 1000, operations = 10_000 }";
//! let subject = Component::from_toml(&text.parse()?)?.subject();
//! let (design, folder) = (tree::Design::default(), Path::new("."));
//! let mut bench = Bench::new(&design, (42, RunMode::Counted), (folder, folder), &|_| {});
//! subject.run(&mut bench)?;
//! let phases = bench.into_phases();
//! assert!(phases.iter().all(|phase| phase.answers.wrong == 0));
//! let absent = phases.iter().find(|phase| phase.name == "absent").ok_or("no such phase")?;
//! assert!(absent.cells.number(&FPR).is_some_and(|rate| rate < 0.02));
//! # Ok::<(), lsmbench_subject::Fault>(())
//! ```

mod bench;
mod bloom;
mod cache;
mod choices;
mod compaction;
mod compression;
mod contents;
mod expect;
mod fault;
mod fence;
mod format;
mod hash;
mod keys;
mod memtable;
mod ranges;
mod requests;
mod seam;
mod storage;
mod task;

use catalog::{Axis, Catalog, Choice, ChoiceError, alternatives};
use toml::{Table, Value};
use types::valid_names;

pub use bench::{Answers, Bench, BenchSlice, PhaseResult, Timing};
pub use expect::popularity_of_blocks;
pub use fault::Fault;
pub use seam::{Cost, Subject};
pub use task::Task;

/// The global allocator of the tests, which counts allocations like the allocator of the program `lsmbench`.
#[cfg(test)]
#[global_allocator]
static ALLOCATOR: measure::allocation::Counting = measure::allocation::Counting;

/// All subjects, which are tests of a component without a tree. The first subject of an axis has the name of the axis.
pub static SUBJECTS: Catalog<dyn Subject> = Catalog::new(
    catalog::origin!(),
    "component",
    "the axis that a component experiment measures, with the requests to its variants",
    &[
        memtable::VARIANT,
        bloom::VARIANT,
        ranges::VARIANT,
        fence::VARIANT,
        cache::VARIANT,
        compression::VARIANT,
        compaction::VARIANT,
        format::VARIANT,
        storage::VARIANT,
        hash::VARIANT,
    ],
);

/// The catalogs that only the parameters of component tests use: the contents of blocks, and the requests to a cache.
/// Other parameters use the catalogs of workloads.
pub static PARAMETER_CATALOGS: [&dyn Axis; 2] = [&contents::CONTENTS, &requests::STREAMS];

/// The key of an experiment file that names the tested component, as in `subject = "fence"`.
pub const SUBJECT: &str = "subject";

/// The key of the table with the parameters of a component test.
pub use results::columns::COMPONENT;

/// The parameters of component tests whose values `--quick` divides to shorten a run. An experiment can replace this
/// rule with its own values for quick runs.
const COUNTS: [&str; 4] = ["entries", "operations", "blocks", "syncs"];

/// The subject of a component experiment (the tested component and its operations), with its parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Component {
    choice: Choice,
}

impl Component {
    /// Reads a component from a table that contains only the keys `subject` and `component`.
    ///
    /// # Errors
    /// The error names the invalid key, such as `component.entries`.
    pub fn from_toml(table: &Table) -> Result<Self, ChoiceError> {
        let Some(Value::String(kind)) = table.get(SUBJECT) else {
            let message = format!("subject must be a name. {}", valid_names(SUBJECTS.kinds()));
            return Err(ChoiceError::at(SUBJECT, message));
        };
        if SUBJECTS.kinds().all(|known| known != kind) {
            let kinds = SUBJECTS.kinds().collect::<Vec<_>>();
            let message = format!("unknown subject \"{kind}\"{}", alternatives(kind, kinds));
            return Err(ChoiceError::at(SUBJECT, message));
        }
        let mut params = match table.get(COMPONENT) {
            None => Table::new(),
            Some(Value::Table(params)) => params.clone(),
            Some(_) => return Err(ChoiceError::at(COMPONENT, "component must be a table: [component]")),
        };
        if params.contains_key("kind") {
            let message = "[component] has no key `kind`; name the axis with subject = …";
            return Err(ChoiceError::at(format!("{COMPONENT}.kind"), message));
        }
        params.insert("kind".to_owned(), Value::String(kind.clone()));
        let choice = SUBJECTS.choose(&Value::Table(params)).map_err(|error| {
            let key = error.key.map_or_else(|| COMPONENT.to_owned(), |key| format!("{COMPONENT}.{key}"));
            ChoiceError::at(key, error.message)
        })?;
        Ok(Self { choice })
    }

    /// Returns the component as a table with all defaults, which parses to an equal component.
    pub fn to_toml(&self) -> Table {
        let mut table = Table::new();
        table.insert(SUBJECT.to_owned(), Value::String(self.kind().to_owned()));
        table.insert(COMPONENT.to_owned(), Value::Table(self.choice.params().clone()));
        table
    }

    /// Returns the value of the key `subject`, such as `bloom`.
    pub fn kind(&self) -> &'static str {
        self.choice.kind()
    }

    /// Returns the name of the design axis whose components are tested, such as `bloom`.
    pub fn axis(&self) -> &'static str {
        self.subject().axis()
    }

    /// Builds the component test with its parameters.
    ///
    /// # Panics
    /// Never panics, because reading the component has already built the subject once.
    pub fn subject(&self) -> Box<dyn Subject> {
        SUBJECTS
            .build(&self.choice)
            .expect("the parameters of a component must be valid after they were read")
    }

    /// Returns the keys of `[design]` that have an effect on the trials of this component.
    pub fn reads(&self) -> Vec<&'static str> {
        [&[self.axis()], self.subject().reads()].concat()
    }
}

/// Divides every count in the table `[component]` by `divisor`, for quick runs. The table must contain all defaults.
pub fn divide(table: &mut Table, divisor: i64) {
    let params = table.get_mut(COMPONENT).and_then(Value::as_table_mut).into_iter().flatten();
    for (_, value) in params.filter(|(key, _)| COUNTS.contains(&key.as_str())) {
        if let Value::Integer(count) = value {
            *count = (*count / divisor).max(1);
        }
    }
}

/// Returns the names of all subjects, separated by commas.
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subjects_are_axes_and_the_catalog_keeps_its_laws() {
        catalog::laws::check(&SUBJECTS).unwrap();
        for kind in SUBJECTS.kinds() {
            let component = Component::from_toml(&format!("subject = \"{kind}\"").parse().unwrap()).unwrap();
            assert_eq!(Component::from_toml(&component.to_toml()).unwrap(), component);
            assert!(tree::axis(component.axis()).is_some(), "{kind}: {} is no axis", component.axis());
            let design = tree::Design::default().to_toml();
            assert!(component.reads().iter().all(|key| design.contains_key(*key)), "{kind}");
            let (subject, phases) = (component.subject(), component.subject().phases());
            assert_eq!(subject.cost().phase_seconds.len(), phases.len(), "{kind}");
            assert!(phases.contains(&subject.verdict().0), "{kind}");
            assert!(!subject.modes().is_empty(), "{kind}");
        }
    }

    #[test]
    fn what_is_wrong_is_said_with_its_key() {
        for (text, key, message) in [
            (
                "subject = \"fense\"",
                "subject",
                "unknown subject \"fense\"; did you mean \"fence\"? Valid: \"memtable\"",
            ),
            ("subject = 3", "subject", "subject must be a name. Valid: \"memtable\", "),
            ("subject = \"fence\"\ncomponent = 3", "component", "[component]"),
            (
                "subject = \"fence\"\n[component]\nkind = \"x\"",
                "component.kind",
                "name the axis with subject = …",
            ),
            (
                "subject = \"fence\"\n[component]\nentris = 3",
                "component.entris",
                "fence has no parameter \"entris\"; did you mean \"entries\"? Valid: \"entries\"",
            ),
            (
                "subject = \"fence\"\n[component]\nentries = \"many\"",
                "component.entries",
                "\"many\" is not a count",
            ),
            ("subject = \"fence\"\n[component]\nentries = 0", "component", "entries is 0"),
            (
                "subject = \"fence\"\n[component]\nkeys = \"user2\"",
                "component.keys",
                "unknown variant \"user2\"",
            ),
        ] {
            let error = Component::from_toml(&text.parse().unwrap()).unwrap_err();
            assert_eq!(error.key.as_deref(), Some(key), "{text}: {error}");
            assert!(error.message.contains(message), "{text}: {error}");
        }
    }

    #[test]
    fn a_tenth_is_a_tenth_of_what_is_counted() {
        let component = "subject = \"fence\"\n[component]\nentries = 4000".parse().unwrap();
        let mut table = Component::from_toml(&component).unwrap().to_toml();
        divide(&mut table, 10);
        assert_eq!(table[COMPONENT]["entries"].as_integer(), Some(400));
        assert_eq!(table[COMPONENT]["batch"].as_integer(), Some(32));
    }
}
