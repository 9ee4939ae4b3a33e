//! Free memory that is at hand when the clock of a phase starts.
//!
//! The host of a virtual machine may take back what its guest leaves free, within seconds (free page reporting). The
//! first write to such a page then waits until the host has found another: 5 to 10 µs, by `docs/performance.md`,
//! where a page that was used a moment ago takes a tenth. Logs, memtables and tables are made of new pages, so that on
//! such a machine a load measures the host. Memory that was written and given up right before is at hand.

use std::io::{self, Write as _};
use std::time::Instant;

use super::probe;

/// What is written at a time.
const CHUNK: usize = 1 << 20;

/// What [`cost`] writes: enough to be told from noise, a tenth of a second at worst.
const SAMPLE_BYTES: u64 = 32 << 20;

/// Writes to `bytes` of free memory and gives them up. They are those of a file in memory, so that this process is
/// never the larger for them.
///
/// # Errors
/// Where the system has no files in memory, or less memory than that can be had, page cache that nobody uses included.
pub(super) fn touch(bytes: u64) -> io::Result<()> {
    if probe::available_memory_bytes().is_some_and(|available| available < bytes) {
        return Err(io::ErrorKind::OutOfMemory.into());
    }
    let file = file_in_memory()?;
    let chunk = vec![1; CHUNK];
    let mut left = usize::try_from(bytes).unwrap_or(usize::MAX);
    while left > 0 {
        let part = left.min(CHUNK);
        (&file).write_all(&chunk[..part])?;
        left -= part;
    }
    Ok(())
}

#[cfg(target_os = "linux")]
fn file_in_memory() -> io::Result<std::fs::File> {
    use rustix::fs::{MemfdFlags, memfd_create};
    Ok(std::fs::File::from(memfd_create("lsmbench-free-memory", MemfdFlags::CLOEXEC)?))
}

#[cfg(not(target_os = "linux"))]
fn file_in_memory() -> io::Result<std::fs::File> {
    Err(io::ErrorKind::Unsupported.into())
}

/// What free memory costs this process: the first bytes, and the same again.
pub(super) struct Cost {
    /// Bytes per second into pages that nobody has used lately.
    pub(super) first: f64,
    /// Bytes per second into pages given up a moment ago.
    pub(super) again: f64,
}

/// Measures what free memory costs; `None` where the system does not let it.
pub(super) fn cost() -> Option<Cost> {
    let rate = || {
        let begun = Instant::now();
        touch(SAMPLE_BYTES).ok()?;
        Some(SAMPLE_BYTES as f64 / begun.elapsed().as_secs_f64())
    };
    Some(Cost { first: rate()?, again: rate()? })
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn what_free_memory_costs_is_measured_and_more_than_there_is_is_refused() {
        touch(0).unwrap();
        touch(3 * CHUNK as u64 + 1).unwrap();
        let cost = cost().unwrap();
        assert!(cost.first > 0.0 && cost.again > 0.0);
        assert_eq!(touch(u64::MAX).unwrap_err().kind(), io::ErrorKind::OutOfMemory);
    }
}
