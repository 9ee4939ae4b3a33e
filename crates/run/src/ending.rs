//! Defines the ways in which a run can end.

/// The way in which a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// All trials ran, and all answers were correct.
    Done,
    /// At least one answer of a store was wrong.
    WrongAnswers,
    /// All answers were correct, but a configuration regressed by more than the table `[gate]` of the experiment
    /// allows.
    Regressed,
    /// The user interrupted the run.
    Interrupted,
}
