//! The `io_uring` ring on a system without `io_uring`. Such a ring cannot be created.

use std::fs::File;
use std::io;

use types::PlatformPart;

use super::step::Step;

/// An `io_uring` ring. No value of this type exists on this system.
pub(super) enum Ring {}

impl Ring {
    /// Returns an error, because this system has no `io_uring`.
    pub(super) fn new(_: u32) -> io::Result<Self> {
        Err(PlatformPart::IoUring.missing().into())
    }

    pub(super) fn scratch_mut(&mut self, _: usize) -> io::Result<&mut [u8]> {
        match *self {}
    }

    pub(super) fn shrink(&mut self) {
        match *self {}
    }

    pub(super) fn is_idle(&self) -> bool {
        match *self {}
    }

    pub(super) fn run(&mut self, _: &File, _: &[Step]) -> io::Result<Vec<io::Result<usize>>> {
        match *self {}
    }
}
