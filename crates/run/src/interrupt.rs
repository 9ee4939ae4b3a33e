//! Handles Ctrl-C, hang-up of the terminal, and termination. The signal handler only records the signal, and the
//! program reacts at its next check. The exit code is always 130, which is the usual exit code after Ctrl-C.

use std::io::{self, Read};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

static REQUESTED: AtomicBool = AtomicBool::new(false);

/// The time between two checks for an interruption while a reader waits for data.
const LOOK_UP_PERIOD: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

/// Installs the handler of Ctrl-C, hang-up and termination.
pub fn install() {
    // Without the handler the process ends at once, which loses no more than the current configuration.
    let _ = ctrlc::set_handler(|| REQUESTED.store(true, Ordering::Release));
}

/// Whether the user has interrupted the program.
pub fn is_requested() -> bool {
    REQUESTED.load(Ordering::Acquire)
}

/// A reader that reports end of file after an interruption, even while it waits for data. The wrapped reader must not
/// buffer, because this reader waits for data at the file descriptor.
pub struct UntilInterrupted<R>(pub R);

impl<R: Read + AsFd> Read for UntilInterrupted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while !is_requested() {
            let mut awaited = [PollFd::new(&self.0, PollFlags::IN)];
            match poll(&mut awaited, Some(&LOOK_UP_PERIOD)) {
                Ok(0) | Err(Errno::INTR) => {}
                Ok(_) => return self.0.read(buffer),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(0)
    }
}
