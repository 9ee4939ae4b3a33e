//! Replaces the check that a violation names by a more specific check, which depends on the kind of the read.

use super::history::OperationKind;
use crate::violation::{Check, Violation};

/// Returns the violation with a check that fits the kind of the read, such as the check of checkpoints.
pub(super) fn renamed(violation: Violation, kind: OperationKind) -> Violation {
    let check = match kind {
        OperationKind::Checkpoint => Check::Checkpoint,
        OperationKind::Reopened | OperationKind::Crashed => Check::Promise,
        _ => violation.check,
    };
    Violation { check, ..violation }
}
