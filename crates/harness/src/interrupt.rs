//! Ctrl-C and termination: noted once, obeyed at the next occasion.

use std::sync::atomic::{AtomicBool, Ordering};

static REQUESTED: AtomicBool = AtomicBool::new(false);

/// Takes over Ctrl-C and termination.
pub(crate) fn install() {
    // Without the handler the process just ends, which loses no more than the cell in hand.
    let _ = ctrlc::set_handler(|| REQUESTED.store(true, Ordering::Release));
}

/// Whether the user wants the program to end.
pub(crate) fn is_requested() -> bool {
    REQUESTED.load(Ordering::Acquire)
}
