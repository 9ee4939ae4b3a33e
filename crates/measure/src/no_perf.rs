//! The counter of a system without an interface for counters. Such a counter cannot be opened.

use std::io;

use types::PlatformPart;

use crate::processor_event::{Count, CounterScope, ProcessorEvent};

/// A counter, which does not exist on this system.
#[derive(Debug)]
pub(crate) enum Counter {}

impl Counter {
    /// Returns the error that hardware counters are not on this system.
    pub(crate) fn of(_: ProcessorEvent) -> io::Result<(Self, CounterScope)> {
        Err(PlatformPart::HardwareCounters.missing().into())
    }

    pub(crate) fn read(&mut self) -> Option<Count> {
        match *self {}
    }
}
