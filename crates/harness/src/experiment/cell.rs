//! A cell: one combination of swept values, ready to run.

use tree::Design;

use super::task::Task;

/// One combination of swept values.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    /// Its number, in the order of the sweep.
    pub(crate) number: u64,
    /// What sets it apart, in short.
    pub(crate) label: String,
    /// The value of every swept path, as the sweep gives it; empty where a path does not apply.
    pub(crate) swept: Vec<String>,
    /// The design.
    pub(crate) design: Design,
    /// What is done with it.
    pub(crate) task: Task,
}

/// A combination that does not run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LeftOut {
    /// The swept values.
    pub(crate) label: String,
    /// Why.
    pub(crate) reason: String,
}
