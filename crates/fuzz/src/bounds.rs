//! What reading an input may cost: memory and steps in proportion to it, and a constant.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use crate::counting::most_held;

/// How many times the bytes of an input may be in memory at once on its behalf.
const BYTES_PER_BYTE: usize = 64;

/// The processor time that one input may take: far more than any takes that ends, whatever the machine and the
/// sanitizers, and far less than an endless loop.
const MOST_TIME: Duration = Duration::from_secs(10);

/// Runs `work` on an input of `input_bytes` and hands on its result.
///
/// # Panics
/// If it holds more memory at once than 64 bytes for each byte and `spare` bytes, or runs for more than 10 seconds.
pub fn bounded<R>(input_bytes: usize, spare: usize, work: impl FnOnce() -> R) -> R {
    let start = processor_time();
    let (result, held) = most_held(work);
    let allowed = BYTES_PER_BYTE * input_bytes + spare;
    assert!(held <= allowed, "{held} bytes were held at once for an input of {input_bytes}, above {allowed}");
    let taken = processor_time().saturating_sub(start);
    assert!(taken <= MOST_TIME, "an input of {input_bytes} bytes took {taken:?}");
    result
}

/// The time that this thread has run.
fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.cast_unsigned(), time.tv_nsec as u32)
}
