//! The task of a configuration: a workload on a tree, or a test of a single component.

use catalog::ChoiceError;
use toml::{Table, Value};
use tree::Design;
use workload::Workload;

use crate::{COMPONENT, Component, SUBJECT};

/// The task of a configuration: the work that a trial measures.
#[derive(Clone, Debug, PartialEq)]
pub enum Task {
    /// A workload that runs on a tree.
    Workload(Workload),
    /// A test of a single component.
    Component(Component),
}

impl Task {
    /// Reads a component if the table has the key `subject`, and a workload otherwise.
    ///
    /// # Errors
    /// The error names the invalid key.
    pub fn from_toml(table: &Table) -> Result<Self, ChoiceError> {
        match table.contains_key(SUBJECT) {
            true => Component::from_toml(table).map(Self::Component),
            false => Workload::from_toml(table).map(Self::Workload),
        }
    }

    /// Returns the task as TOML with all defaults, which parses to an equal task.
    pub fn to_toml(&self) -> Table {
        match self {
            Self::Workload(workload) => workload.to_toml(),
            Self::Component(component) => component.to_toml(),
        }
    }

    /// Returns the task with default values for all phase settings that have no effect, so that tasks with equal
    /// operations are equal. A setting keeps its value if `is_kept` returns true for the name of the phase and the key.
    #[must_use]
    pub fn without_unread(self, is_kept: impl Fn(&str, &str) -> bool) -> Self {
        match self {
            Self::Workload(workload) => Self::Workload(workload.without_unread(is_kept)),
            component @ Self::Component(_) => component,
        }
    }

    /// Returns the names of the phases of the task, in order.
    pub fn phases(&self) -> Vec<String> {
        match self {
            Self::Workload(workload) => workload.phases.iter().map(|phase| phase.name.clone()).collect(),
            Self::Component(component) => {
                component.subject().phases().iter().map(|phase| (*phase).to_owned()).collect()
            }
        }
    }

    /// Returns the names with which a path to a value of the task can begin, such as `phase`.
    pub fn roots(&self) -> &'static [&'static str] {
        match self {
            Self::Workload(_) => &["phase", "key"],
            Self::Component(_) => &[COMPONENT],
        }
    }

    /// Returns the workload. Returns `None` for a component.
    pub fn workload(&self) -> Option<&Workload> {
        match self {
            Self::Workload(workload) => Some(workload),
            Self::Component(_) => None,
        }
    }

    /// Returns the component. Returns `None` for a workload.
    pub fn component(&self) -> Option<&Component> {
        match self {
            Self::Workload(_) => None,
            Self::Component(component) => Some(component),
        }
    }

    /// Returns the keys of a design that affect the task, as TOML.
    pub fn design_toml(&self, design: &Design) -> Table {
        let mut table = design.to_toml();
        if let Self::Component(component) = self {
            let reads = component.reads();
            table.retain(|key, _| reads.contains(&key));
            // The number of entries in the table `[component]` determines the size of a memtable under test.
            if let Some(Value::Table(memtable)) = table.get_mut("memtable") {
                memtable.remove("capacity");
                memtable.remove("entries");
            }
        }
        table
    }

    /// Returns the reason why the value at the path `path` of a design has no effect on the task. Returns `None` if the
    /// value has an effect.
    pub fn unread(&self, path: &[&str]) -> Option<String> {
        let component = self.component()?;
        let (subject, reads) = (component.kind(), component.reads());
        match path {
            ["memtable", limit @ ("capacity" | "entries")] if reads.contains(&"memtable") => Some(format!(
                "subject = \"{subject}\" derives the size of the memtable from component.entries; remove \
                 memtable.{limit}"
            )),
            [key, ..] if !reads.contains(key) => {
                let reads = reads.iter().map(|key| format!("design.{key}")).collect::<Vec<_>>().join(" and ");
                Some(format!("subject = \"{subject}\" uses only {reads}; remove design.{key}"))
            }
            _ => None,
        }
    }
}
