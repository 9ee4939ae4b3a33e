//! Defines the ways in which a run can end.

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// All trials ran, and all answers were correct.
    Done,
    /// At least one answer of a store was wrong.
    WrongAnswers,
    /// All answers were correct, but a configuration did not pass the gate of the experiment.
    Regressed,
    /// The user interrupted the run.
    Interrupted,
}
