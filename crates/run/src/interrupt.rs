//! Handles the signals for Ctrl-C, for a closed terminal, and for termination. The signal handler only records the
//! signal, to which the program reacts at its next check. The program then ends with the exit code 130, as a shell
//! reports it after Ctrl-C.

use std::io::{self, Read};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

static REQUESTED: AtomicBool = AtomicBool::new(false);

/// The interval at which a waiting reader checks whether the user has interrupted the program.
const LOOK_UP_PERIOD: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

/// Installs the signal handler for Ctrl-C, for a closed terminal, and for termination.
pub fn install() {
    // Without the handler the process ends at once, which loses no more than the current configuration.
    let _ = ctrlc::set_handler(|| REQUESTED.store(true, Ordering::Release));
}

/// Returns whether the user has interrupted the program.
pub fn is_requested() -> bool {
    REQUESTED.load(Ordering::Acquire)
}

/// A reader that returns end of file if the user interrupts the program, even while it waits for data. The inner reader
/// must be unbuffered, because the wait uses its file descriptor.
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
