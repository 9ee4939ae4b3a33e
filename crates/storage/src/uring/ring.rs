//! One `io_uring` ring, with a buffer for reads and writes. This file contains all `unsafe` code for `io_uring`.
//!
//! All addresses that the kernel receives are in this buffer, which the ring owns. A step is one read, write or sync.
//! While a step is in progress, the buffer is neither moved nor freed. If a ring is dropped while steps are in
//! progress, the buffer is never freed.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

use io_uring::types::{Fd, FsyncFlags};
use io_uring::{IoUring, opcode, squeue};

use super::step::Step;
use crate::aligned::AlignedBuffer;

/// The size of the buffer that an `io_uring` ring keeps between calls, in bytes.
const KEPT_BYTES: usize = 1 << 20;

/// An `io_uring` ring with a buffer. It executes reads, writes and syncs (steps), and waits until all of them are
/// complete.
pub(super) struct Ring {
    queues: IoUring,
    scratch: AlignedBuffer,
    /// The number of steps that the kernel may still execute. The number is 0 outside of [`run`](Self::run), unless
    /// [`run`](Self::run) has returned an error.
    under_way: usize,
}

impl Ring {
    /// Creates an `io_uring` ring for up to `depth` concurrent steps.
    pub(super) fn new(depth: u32) -> io::Result<Self> {
        Ok(Self { queues: IoUring::new(depth)?, scratch: AlignedBuffer::new(0), under_way: 0 })
    }

    /// Returns the first `len` bytes of the buffer of the `io_uring` ring. The bytes keep their content until a call
    /// requests a larger buffer.
    pub(super) fn scratch_mut(&mut self, len: usize) -> io::Result<&mut [u8]> {
        self.check_idle()?;
        if self.scratch.len() < len {
            self.scratch = AlignedBuffer::new(len.next_power_of_two());
        }
        Ok(&mut self.scratch.bytes_mut()[..len])
    }

    /// Frees the buffer of the `io_uring` ring if it is larger than the size that the ring keeps between calls.
    pub(super) fn shrink(&mut self) {
        if self.is_idle() && self.scratch.len() > KEPT_BYTES {
            self.scratch = AlignedBuffer::new(0);
        }
    }

    /// Returns whether no step is in progress. After an error, steps may still be in progress, and the ring must not be
    /// used again.
    pub(super) fn is_idle(&self) -> bool {
        self.under_way == 0
    }

    fn check_idle(&self) -> io::Result<()> {
        if self.is_idle() {
            Ok(())
        } else {
            Err(io::Error::other("an earlier call of io_uring failed, so its ring cannot be used any more"))
        }
    }

    /// Executes all steps on `file`, and returns the number of bytes that each step has transferred. The number of
    /// steps must not exceed the depth of the ring.
    ///
    /// # Errors
    /// The ring fails. The effect of the steps is then unknown.
    ///
    /// # Panics
    /// A step is outside of the buffer, or there are too many steps.
    pub(super) fn run(&mut self, file: &File, steps: &[Step]) -> io::Result<Vec<io::Result<usize>>> {
        self.check_idle()?;
        let entries: Vec<squeue::Entry> =
            steps.iter().zip(0..).map(|(step, n)| self.entry(file, *step, n)).collect();
        self.under_way = entries.len();
        self.push(&entries);
        let mut results = vec![0; entries.len()];
        while self.under_way > 0 {
            match self.queues.submit_and_wait(self.under_way) {
                Err(error) if error.kind() != io::ErrorKind::Interrupted => return Err(error),
                _ => {}
            }
            for done in self.queues.completion() {
                results[done.user_data() as usize] = done.result();
                self.under_way -= 1;
            }
        }
        Ok(results.into_iter().map(moved).collect())
    }

    /// Converts a step (a read, write or sync of `file`) to an entry of the `io_uring` submission queue.
    fn entry(&mut self, file: &File, step: Step, number: u64) -> squeue::Entry {
        let fd = Fd(file.as_raw_fd());
        let room = self.scratch.len();
        let memory = self.scratch.bytes_mut().as_mut_ptr();
        let address = |start, len| memory.wrapping_add(inside(room, start, len));
        let entry = match step {
            Step::Read { start, len, offset } => {
                opcode::Read::new(fd, address(start, len), length(len)).offset(offset).build()
            }
            Step::Write { start, len, offset } => {
                opcode::Write::new(fd, address(start, len), length(len)).offset(offset).build()
            }
            Step::Sync => opcode::Fsync::new(fd).flags(FsyncFlags::DATASYNC).build(),
        };
        entry.user_data(number)
    }

    #[allow(unsafe_code)]
    fn push(&mut self, entries: &[squeue::Entry]) {
        // SAFETY: everything that an entry names must be valid until the entry is completed. `run` counts the
        // entries as in progress before they get here, and as done when their completions are taken.
        // * The memory: `entry` has checked that each range is inside the scratch memory. The scratch memory is
        //   replaced only while nothing is in progress, and otherwise `drop` leaks it. `run` holds `&mut self`, so
        //   no reference to the bytes exists while the kernel uses them. Later references come from `scratch_mut`,
        //   when nothing is in progress.
        // * The file: it is borrowed until `run` returns. If `run` returns early because of an error, the kernel
        //   itself keeps the file open for the entries that it has accepted. The other entries are dropped with the
        //   ring, which is not used again.
        unsafe { self.queues.submission().push_multiple(entries) }
            .expect("a caller must not pass more steps than the io_uring ring has entries");
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        if !self.is_idle() {
            // The kernel may still write to this memory, so the memory is never freed or used again.
            std::mem::forget(std::mem::replace(&mut self.scratch, AlignedBuffer::new(0)));
        }
    }
}

/// Checks that `len` bytes at `start` are inside of a buffer of `room` bytes. Returns `start`.
///
/// # Panics
/// The bytes extend beyond the buffer.
fn inside(room: usize, start: usize, len: usize) -> usize {
    assert!(
        start <= room && len <= room - start,
        "{len} bytes at offset {start} exceed the io_uring buffer of {room} bytes"
    );
    start
}

/// Converts the length of a read or write to the type that `io_uring` needs. If the length is too large, the result is
/// the maximum, and the caller transfers the rest with another step.
fn length(len: usize) -> u32 {
    /// The maximum number of bytes that one read or write transfers, in whole pages; see read(2).
    const MOST: usize = 0x7fff_f000;
    len.min(MOST) as u32
}

/// Converts the result of one `io_uring` operation to the number of transferred bytes, or to an error.
fn moved(result: i32) -> io::Result<usize> {
    match usize::try_from(result) {
        Ok(bytes) => Ok(bytes),
        Err(_) => Err(io::Error::from_raw_os_error(-result)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::print_stderr, reason = "whoever runs the tests must know what was left out")]
    fn a_ring_that_failed_is_used_no_more() {
        let mut ring = match Ring::new(2) {
            Ok(ring) => ring,
            Err(refused) => return eprintln!("skipped: this kernel rejects io_uring ({refused})"),
        };
        ring.scratch_mut(100).unwrap().fill(7);
        ring.under_way = 1;
        assert!(ring.scratch_mut(1).is_err());
        assert!(ring.run(&File::open("/dev/null").unwrap(), &[Step::Sync]).is_err());
        assert!(!ring.is_idle());
        // No step was really in progress. The memory must not leak, because a leak checker would report it.
        ring.under_way = 0;
    }

    #[test]
    fn steps_stay_inside_of_the_memory() {
        assert_eq!([inside(128, 0, 128), inside(128, 128, 0)], [0, 128]);
        for (start, len) in [(0, 129), (129, 0), (100, 60), (1, usize::MAX)] {
            assert!(std::panic::catch_unwind(|| inside(128, start, len)).is_err(), "{len} at {start}");
        }
    }
}
