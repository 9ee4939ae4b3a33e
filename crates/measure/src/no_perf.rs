//! The counter on a system without an interface for hardware counters. Such a counter cannot be opened.

use std::io;

use types::PlatformPart;

use crate::processor_event::{Count, CounterScope, ProcessorEvent};

/// A hardware counter. No value of this type exists, because this system has no interface for hardware counters.
#[derive(Debug)]
pub(crate) enum Counter {}

impl Counter {
    /// Returns an error, because this system has no hardware counters.
    pub(crate) fn of(_: ProcessorEvent) -> io::Result<(Self, CounterScope)> {
        Err(PlatformPart::HardwareCounters.missing().into())
    }

    pub(crate) fn read(&mut self) -> Option<Count> {
        match *self {}
    }
}
