//! Replaces the check that failed by a more specific check for the kind of the read.

use super::history::OperationKind;
use crate::violation::{Check, Violation};

/// Returns the violation with a more specific check for the kind of the read, such as the check of checkpoints.
pub(super) fn renamed(violation: Violation, kind: OperationKind) -> Violation {
    let check = match kind {
        OperationKind::Checkpoint => Check::Checkpoint,
        OperationKind::Reopened | OperationKind::Crashed => Check::Promise,
        _ => violation.check,
    };
    Violation { check, ..violation }
}
