//! A configuration, which is one combination of swept values that can run.

use catalog::Choice;
use engines::EngineOptions;
use subject::Task;
use tree::Design;

use super::engine::{Absence, engine};

/// One combination of swept values.
#[derive(Clone, Debug)]
pub struct Cell {
    /// The number of the configuration, in the order of the sweep.
    pub number: u64,
    /// The label: the swept values that distinguish the configuration.
    pub label: String,
    /// The value of every swept path, as written in the sweep; empty where a path does not apply.
    pub swept: Vec<String>,
    /// The engine.
    pub engine: Choice,
    /// The design.
    pub design: Design,
    /// The workload, or the parameters of the component under test.
    pub task: Task,
}

impl Cell {
    /// A text that identifies the store: the engine, and the part of the design that the engine reads. Different stores
    /// have different texts.
    pub fn subject(&self) -> String {
        let reads = match engine(&self.engine).reads_whole_design() {
            true => self.design.to_toml().to_string(),
            false => format!("{:?}", EngineOptions::of(&self.design)),
        };
        format!("{}{reads}", self.engine.to_toml())
    }
}

/// Whether the phase of some configuration reads a key.
pub(crate) fn is_read(cells: &[Cell], phase: &str, key: &str) -> bool {
    let phases = cells.iter().filter_map(|cell| cell.task.workload()).flat_map(|workload| &workload.phases);
    phases.filter(|found| found.name == phase).any(|found| found.reads(key))
}

/// A combination that does not run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkippedCell {
    /// The swept values.
    pub label: String,
    /// The reason.
    pub reason: String,
    /// The engine and the reason, if the engine is not available.
    pub absence: Option<Absence>,
}

/// The engines that are not available, each once.
pub fn absences(left_out: &[SkippedCell]) -> Vec<&Absence> {
    let mut absent: Vec<&Absence> = Vec::new();
    for absence in left_out.iter().filter_map(|left| left.absence.as_ref()) {
        if !absent.contains(&absence) {
            absent.push(absence);
        }
    }
    absent
}
