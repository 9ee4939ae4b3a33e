//! Ctrl-C, a terminal that hangs up, and termination: noted once, obeyed at the next occasion. Whichever it was, the
//! exit code is that of Ctrl-C, 130.

use std::io::{self, Read};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

static REQUESTED: AtomicBool = AtomicBool::new(false);

/// How soon a reader that waits looks up.
const LOOK_UP_PERIOD: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

/// Takes over Ctrl-C, hang-up and termination.
pub fn install() {
    // Without the handler the process just ends, which loses no more than the cell in hand.
    let _ = ctrlc::set_handler(|| REQUESTED.store(true, Ordering::Release));
}

/// Whether the user wants the program to end.
pub fn is_requested() -> bool {
    REQUESTED.load(Ordering::Acquire)
}

/// A reader that is at its end when the user wants the program to end, even while it waits for more. It must not
/// hold back bytes that it has read: it waits for those that are still to come.
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
