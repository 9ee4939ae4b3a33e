//! A cell: one combination of swept values, ready to run.

use catalog::Choice;
use engines::EngineOptions;
use subject::Task;
use tree::Design;

use super::engine::{Absence, engine};

/// One combination of swept values.
#[derive(Clone, Debug)]
pub struct Cell {
    /// Its number, in the order of the sweep.
    pub number: u64,
    /// Its label: the swept values that set it apart.
    pub label: String,
    /// The value of every swept path, as the sweep gives it; empty where a path does not apply.
    pub swept: Vec<String>,
    /// The engine.
    pub engine: Choice,
    /// The design.
    pub design: Design,
    /// Its work.
    pub task: Task,
}

impl Cell {
    /// The store as text that no two different stores share: the engine, and the part of the design that it reads.
    pub fn subject(&self) -> String {
        let reads = match engine(&self.engine).reads_whole_design() {
            true => self.design.to_toml().to_string(),
            false => format!("{:?}", EngineOptions::of(&self.design)),
        };
        format!("{}{reads}", self.engine.to_toml())
    }
}

/// A combination that does not run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// The swept values.
    pub label: String,
    /// Why.
    pub reason: String,
    /// Its engine, where that is not here.
    pub absence: Option<Absence>,
}

/// The engines that are not here, each once.
pub fn absences(left_out: &[LeftOut]) -> Vec<&Absence> {
    let mut absent: Vec<&Absence> = Vec::new();
    for absence in left_out.iter().filter_map(|left| left.absence.as_ref()) {
        if !absent.contains(&absence) {
            absent.push(absence);
        }
    }
    absent
}
