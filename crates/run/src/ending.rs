//! The possible endings of a run.

/// The way in which a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// All trials ran, and all answers were correct.
    Done,
    /// At least one answer was wrong.
    WrongAnswers,
    /// A configuration did not pass the gate of the experiment.
    Regressed,
    /// The user interrupted the run.
    Interrupted,
}
