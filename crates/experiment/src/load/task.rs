//! Reads the base task of an experiment and applies the overrides. The task is a workload, or the parameters of a
//! component under test.

use subject::{self, COMPONENT, SUBJECT, Task};
use toml::{Table, Value};
use types::Outcome;

use super::Loader;
use crate::file::SourceFile;
use crate::overrides::SetBy;
use crate::wording;

/// The top-level keys of an experiment file that belong to the workload.
const WORKLOAD_KEYS: [&str; 2] = ["key", "phase"];

/// The top-level keys of an experiment file that belong to a component experiment.
const COMPONENT_KEYS: [&str; 2] = [SUBJECT, COMPONENT];

/// The number by which `--quick` divides counts and times if the experiment has no table `[quick]`.
const QUICK_DIVISOR: u64 = 10;

impl Loader<'_> {
    /// Reads the task of the experiment: its workload, or the parameters of its component. The function applies the
    /// overrides of the file first, and then the overrides of the command line.
    pub(super) fn task(&self) -> Outcome<Task> {
        let is_component = self.file.table.contains_key(SUBJECT);
        let keys = if is_component { COMPONENT_KEYS } else { WORKLOAD_KEYS };
        self.check_kind(is_component)?;
        let source = self.workload_file.as_ref().unwrap_or(&self.file);
        if let Some(file) = &self.workload_file {
            self.check_workload_file(file)?;
        }
        let parts = keys.into_iter().filter_map(|key| Some((key.to_owned(), source.table.get(key)?)));
        let mut table: Table = parts.map(|(key, value)| (key, value.clone())).collect();
        for by in [SetBy::File, SetBy::Quick, SetBy::CommandLine] {
            table = self.read_task(source, &table)?.to_toml();
            if by == SetBy::Quick && self.overrides.quick && !self.file.table.contains_key("quick") {
                divide(&mut table);
                subject::divide(&mut table, QUICK_DIVISOR.cast_signed());
            }
            self.sets.apply(&self.file, &mut table, &keys, by)?;
        }
        self.read_task(source, &table)
    }

    /// Checks that a component experiment has no keys of a workload, and that any other experiment has no keys of a
    /// component experiment.
    fn check_kind(&self, is_component: bool) -> Outcome<()> {
        let (wrong, message) = match is_component {
            true => (
                &["workload", "key", "phase"][..],
                "a component experiment has no workload; set the parameters of its subject in [component]"
                    .to_owned(),
            ),
            false => (
                &[COMPONENT][..],
                format!(
                    "the subject of the experiment is missing; add it, such as subject = \"fence\". {valid}",
                    valid = wording::valid(subject::SUBJECTS.kinds())
                ),
            ),
        };
        if let Some(key) = wrong.iter().find(|key| self.file.table.contains_key(**key)) {
            return Err(self.file.problem(&[key], message));
        }
        let set = wrong.iter().find_map(|root| self.sets.under(root).next());
        set.map_or(Ok(()), |(_, set)| Err(set.problem(&self.file, message)))
    }

    fn check_workload_file(&self, file: &SourceFile) -> Outcome<()> {
        // A workload file can also be an experiment, with the key `question` and its own merge operator.
        let is_operator = |design: &Value| {
            design.as_table().is_some_and(|design| design.keys().all(|key| key == "merge_operator"))
        };
        let is_known = |(key, value): &(&String, &Value)| match key.as_str() {
            "question" => true,
            "design" => is_operator(value),
            key => WORKLOAD_KEYS.contains(&key),
        };
        if let Some((key, _)) = file.table.iter().find(|entry| !is_known(entry)) {
            return Err(file.problem(&[key], wording::unknown("key of a workload file", key, WORKLOAD_KEYS)));
        }
        match WORKLOAD_KEYS.into_iter().find(|key| self.file.table.contains_key(*key)) {
            None => Ok(()),
            Some(own) => {
                let message = "the workload comes from a file; change its values in [set], such as \
                \"phase.load.insert\" = 1000";
                Err(self.file.problem(&[own], message))
            }
        }
    }

    fn read_task(&self, source: &SourceFile, table: &Table) -> Outcome<Task> {
        Task::from_toml(table).map_err(|error| self.choice_problem(source, error))
    }
}

/// Divides all lengths in a workload by ten, for `--quick`: the numbers of keys and operations, the seconds, and the
/// warm-ups.
fn divide(workload: &mut Table) {
    let phases = workload.get_mut("phase").and_then(Value::as_array_mut).into_iter().flatten();
    for phase in phases.filter_map(Value::as_table_mut) {
        divide_length(phase);
        let roles = phase.get_mut("role").and_then(Value::as_array_mut).into_iter().flatten();
        roles.filter_map(Value::as_table_mut).for_each(divide_length);
        match phase.get_mut("warm_up") {
            Some(Value::Table(until)) => ["round", "at_most"]
                .iter()
                .filter_map(|key| until.get_mut(*key).map(divide_quantity))
                .collect(),
            warm_up => warm_up.into_iter().for_each(divide_quantity),
        }
    }
}

/// Divides all lengths in the table of a phase or a role by ten, for `--quick`.
fn divide_length(table: &mut Table) {
    for key in ["insert", "operations", "seconds"] {
        table.get_mut(key).into_iter().for_each(divide_quantity);
    }
}

/// Divides a TOML value that is a count or a time by ten, for `--quick`.
fn divide_quantity(value: &mut Value) {
    match value {
        Value::Integer(count) => *count = (*count / QUICK_DIVISOR.cast_signed()).max(1),
        Value::String(time) => {
            if let Ok(ns) = types::quantity::parse_nanoseconds(time) {
                *time = types::quantity::format_nanoseconds((ns / QUICK_DIVISOR).max(1));
            }
        }
        _ => {}
    }
}
