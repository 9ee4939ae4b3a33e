//! Free memory that is at hand when the clock of a phase starts.
//!
//! The host of a virtual machine may take back what its guest leaves free, within seconds (free page reporting). The
//! first write to such a page then waits until the host has found another: 5 to 10 µs, by `docs/explanation/performance-model.md`,
//! where a page that was used a moment ago takes a tenth. Logs, memtables and tables are made of new pages, so that on
//! such a machine a load measures the host. Memory that was written and given up right before is at hand.

use std::io::{self, Write as _};
use std::time::Instant;

use measure::probe;
use memmap2::MmapOptions;

/// What is written at a time.
const CHUNK: usize = 1 << 20;

/// The bytes of the smallest page of any system.
const SMALLEST_PAGE: usize = 4096;

/// What [`cost`] writes: enough to be told from noise, a tenth of a second at worst.
const SAMPLE_BYTES: usize = 32 << 20;

/// Writes to `bytes` of free memory and gives them up, once as small pages, of which files are made, and once as huge ones,
/// of which a memtable may be: the system takes the two from different lists. The peak of resident memory stays as it was;
/// where the system cannot forget what huge pages add to it, small ones have to do.
///
/// # Errors
/// Where the system has no files in memory, or less memory than that can be had, page cache that nobody uses included.
pub(super) fn touch(bytes: u64) -> io::Result<()> {
    if probe::available_memory_bytes().is_some_and(|available| available < bytes) {
        return Err(io::ErrorKind::OutOfMemory.into());
    }
    let bytes = usize::try_from(bytes).map_err(|_| io::ErrorKind::OutOfMemory)?;
    touch_small_pages(bytes)?;
    match bytes {
        0 => Ok(()),
        _ => probe::without_peak(|| touch_huge_pages(bytes)).unwrap_or(Ok(())),
    }
}

/// As [`touch`], by a file in memory.
fn touch_small_pages(bytes: usize) -> io::Result<()> {
    let file = file_in_memory()?;
    let chunk = vec![1; CHUNK];
    let mut left = bytes;
    while left > 0 {
        let part = left.min(CHUNK);
        (&file).write_all(&chunk[..part])?;
        left -= part;
    }
    Ok(())
}

/// As [`touch`], by memory of this process that asks for huge pages.
fn touch_huge_pages(bytes: usize) -> io::Result<()> {
    let mut map = MmapOptions::new().len(bytes).no_reserve_swap().map_anon()?;
    // Advice that the system does not take leaves small pages.
    #[cfg(target_os = "linux")]
    let _ = map.advise(memmap2::Advice::HugePage);
    map.iter_mut().step_by(SMALLEST_PAGE).for_each(|byte| *byte = 1);
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
pub struct Cost {
    /// Bytes per second into pages that nobody has used lately.
    pub first: f64,
    /// Bytes per second into pages given up a moment ago.
    pub again: f64,
}

/// Measures what free memory costs; `None` where the system does not let it.
pub fn cost() -> Option<Cost> {
    let rate = || {
        let begun = Instant::now();
        touch_small_pages(SAMPLE_BYTES).ok()?;
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
        let peak = probe::rss_peak_bytes().unwrap();
        touch(300 * CHUNK as u64 + 1).unwrap();
        let grown = probe::rss_peak_bytes().unwrap() - peak;
        assert!(grown < 150 * CHUNK as u64, "the largest resident memory grew by {grown} bytes");
        let cost = cost().unwrap();
        assert!(cost.first > 0.0 && cost.again > 0.0);
        assert_eq!(touch(u64::MAX).unwrap_err().kind(), io::ErrorKind::OutOfMemory);
    }
}
