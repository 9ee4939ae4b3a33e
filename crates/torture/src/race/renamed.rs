//! The check that a violation breaks, by where it was found.

use super::history::Kind;
use crate::violation::{Check, Violation};

/// What a violation is called when it was found in a store of its own.
pub(super) fn renamed(violation: Violation, kind: Kind) -> Violation {
    let check = match kind {
        Kind::Checkpoint => Check::Checkpoint,
        Kind::Reopened | Kind::Crashed => Check::Promise,
        _ => violation.check,
    };
    Violation { check, ..violation }
}
