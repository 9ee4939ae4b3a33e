//! A cell: one combination of swept values, ready to run.

use catalog::Choice;
use engines::EngineOptions;
use subject::Task;
use tree::Design;

use super::engine::{Absence, engine};

/// One combination of swept values.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    /// Its number, in the order of the sweep.
    pub(crate) number: u64,
    /// What sets it apart, in short.
    pub(crate) label: String,
    /// The value of every swept path, as the sweep gives it; empty where a path does not apply.
    pub(crate) swept: Vec<String>,
    /// The engine.
    pub(crate) engine: Choice,
    /// The design.
    pub(crate) design: Design,
    /// What is done with it.
    pub(crate) task: Task,
}

impl Cell {
    /// What is driven, as text that no two different stores share: the engine, and what it reads of the design.
    pub(crate) fn subject(&self) -> String {
        let reads = match engine(&self.engine).reads_whole_design() {
            true => self.design.to_toml().to_string(),
            false => format!("{:?}", EngineOptions::of(&self.design)),
        };
        format!("{}{reads}", self.engine.to_toml())
    }
}

/// A combination that does not run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LeftOut {
    /// The swept values.
    pub(crate) label: String,
    /// Why.
    pub(crate) reason: String,
    /// Its engine, where that is not here.
    pub(crate) absence: Option<Absence>,
}

/// The engines that are not here, each once.
pub(crate) fn absences(left_out: &[LeftOut]) -> Vec<&Absence> {
    let mut absent: Vec<&Absence> = Vec::new();
    for absence in left_out.iter().filter_map(|left| left.absence.as_ref()) {
        if !absent.contains(&absence) {
            absent.push(absence);
        }
    }
    absent
}
