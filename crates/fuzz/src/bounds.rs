//! The limits for reading an input. Memory and steps may grow in proportion to the input, plus a constant.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use crate::counting::most_held;

/// Bytes of memory that a reader may allocate at once for each byte of the input.
const BYTES_PER_BYTE: usize = 64;

/// The limit of the CPU time for one input. The limit is far above every input that terminates, on any machine and
/// with sanitizers, and far below an endless loop.
const MOST_TIME: Duration = Duration::from_secs(10);

/// Runs `work` on an input of `input_bytes` bytes, and returns the result of `work`.
///
/// # Panics
/// If the reader allocates more memory at once than 64 bytes for each byte of input and `spare` bytes, or runs for more
/// than 10 seconds.
pub fn bounded<R>(input_bytes: usize, spare: usize, work: impl FnOnce() -> R) -> R {
    let start = processor_time();
    let (result, held) = most_held(work);
    let allowed = BYTES_PER_BYTE * input_bytes + spare;
    assert!(
        held <= allowed,
        "{held} bytes were allocated at once for an input of {input_bytes} bytes; the limit is {allowed}"
    );
    let taken = processor_time().saturating_sub(start);
    assert!(taken <= MOST_TIME, "an input of {input_bytes} bytes took too long: {taken:?}");
    result
}

/// Returns the CPU time of the calling thread.
fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.cast_unsigned(), time.tv_nsec as u32)
}
