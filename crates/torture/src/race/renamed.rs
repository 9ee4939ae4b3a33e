//! Replaces the check of a violation by the check that fits the kind of the operation.

use super::history::OperationKind;
use crate::violation::{Check, Violation};

/// Returns the violation with the check for the operation kind `kind`. For example, a violation in a read of a
/// checkpoint belongs to the check of checkpoints.
pub(super) fn renamed(violation: Violation, kind: OperationKind) -> Violation {
    let check = match kind {
        OperationKind::Checkpoint => Check::Checkpoint,
        OperationKind::Reopened | OperationKind::Crashed => Check::Promise,
        _ => violation.check,
    };
    Violation { check, ..violation }
}
