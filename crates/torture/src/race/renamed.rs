//! The check that a violation breaks, by where it was found.

use super::history::OperationKind;
use crate::violation::{Check, Violation};

/// What a violation is called when it was found in a store of its own.
pub(super) fn renamed(violation: Violation, kind: OperationKind) -> Violation {
    let check = match kind {
        OperationKind::Checkpoint => Check::Checkpoint,
        OperationKind::Reopened | OperationKind::Crashed => Check::Promise,
        _ => violation.check,
    };
    Violation { check, ..violation }
}
