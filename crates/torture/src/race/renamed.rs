//! Assigns a violation to a check, depending on the kind of operation that detected the violation.

use super::history::OperationKind;
use crate::violation::{Check, Violation};

/// Changes the check of a violation if the violation was found in another kind of operation, such as a read of a copy
/// of the store.
pub(super) fn renamed(violation: Violation, kind: OperationKind) -> Violation {
    let check = match kind {
        OperationKind::Checkpoint => Check::Checkpoint,
        OperationKind::Reopened | OperationKind::Crashed => Check::Promise,
        _ => violation.check,
    };
    Violation { check, ..violation }
}
