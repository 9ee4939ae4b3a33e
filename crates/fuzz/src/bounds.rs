//! The limits of memory and CPU time while a reader reads one input. The limit of the memory is proportional to the
//! length of the input, plus a constant. The limit of the CPU time is a constant.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use crate::counting::most_held;

/// The number of bytes of memory that a reader may use per byte of the input.
const BYTES_PER_BYTE: usize = 64;

/// The limit of the CPU time for one input. Every input that terminates needs far less time, even with sanitizers.
const MOST_TIME: Duration = Duration::from_secs(10);

/// Runs `work` on an input of `input_bytes` bytes, and returns its result.
///
/// # Panics
/// Panics if `work` at any time holds more memory than 64 bytes per byte of input plus `spare` bytes. Also panics if
/// `work` uses more than 10 seconds of CPU time.
pub fn bounded<R>(input_bytes: usize, spare: usize, work: impl FnOnce() -> R) -> R {
    let start = processor_time();
    let (result, held) = most_held(work);
    let allowed = BYTES_PER_BYTE * input_bytes + spare;
    assert!(
        held <= allowed,
        "the reader held {held} bytes of memory at once for an input of {input_bytes} bytes; the limit is {allowed} \
         bytes"
    );
    let taken = processor_time().saturating_sub(start);
    assert!(
        taken <= MOST_TIME,
        "the reader used {taken:?} of CPU time for an input of {input_bytes} bytes; the limit is {MOST_TIME:?}"
    );
    result
}

/// Returns the CPU time that this thread has used so far.
fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.cast_unsigned(), time.tv_nsec as u32)
}
