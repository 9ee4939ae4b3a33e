//! One read, write or sync that an `io_uring` ring executes.

/// One read, write or sync of a file. The fields `start` and `len` are a position and a length in the buffer of the
/// `io_uring` ring.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(
    not(target_os = "linux"),
    expect(dead_code, reason = "only Linux has the io_uring rings that execute steps")
)]
pub(super) enum Step {
    /// Reads bytes of the file at `offset`.
    Read { start: usize, len: usize, offset: u64 },
    /// Writes bytes to the file at `offset`.
    Write { start: usize, len: usize, offset: u64 },
    /// Makes the data of the file durable.
    Sync,
}
