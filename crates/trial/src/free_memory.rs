//! Writes to free memory before the measurement of a phase starts, so that the memory is ready to use.
//!
//! The host of a virtual machine may take back free memory of its guest within seconds (free page reporting). The first
//! write to such a page then waits until the host has provided another page. According to
//! `docs/explanation/performance-model.md`, this wait takes 5 to 10 µs. A write to a page that was used recently takes
//! a tenth of this time. WALs, memtables and SSTables use new pages, so a load on such a machine would measure the
//! host. Memory that was written and freed immediately before the phase still belongs to the guest.

use std::io::{self, Write as _};
use std::time::Instant;

use measure::probe;
use memmap2::MmapOptions;

/// The number of bytes that one system call writes.
const CHUNK: usize = 1 << 20;

/// The smallest page size of all supported kernels, in bytes.
const SMALLEST_PAGE: usize = 4096;

/// The number of bytes that [`cost`] writes. The number is large enough for an exact measurement, and small enough for
/// a measurement of at most a tenth of a second.
const SAMPLE_BYTES: usize = 32 << 20;

/// Writes to `bytes` bytes of free memory, and then frees this memory, so that the kernel has the pages ready for the
/// phase. The function writes once to small pages, which files use, and once to huge pages, which a memtable may use.
/// If huge pages would change the peak of resident memory, the function uses only small pages.
///
/// # Errors
///
/// The kernel does not support files in memory, or less than `bytes` bytes of memory are free. Page cache that is not
/// in use counts as free.
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

/// Writes to free memory in small pages, and frees the memory. The memory belongs to a temporary file in memory.
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

/// Writes to free memory in huge pages, and frees the memory. The memory belongs to this process, which advises the
/// kernel to use huge pages.
fn touch_huge_pages(bytes: usize) -> io::Result<()> {
    let mut map = MmapOptions::new().len(bytes).no_reserve_swap().map_anon()?;
    // Without huge pages, the kernel ignores the advice and uses small pages.
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

/// Returns an error, because this kernel does not support files in memory.
#[cfg(not(target_os = "linux"))]
fn file_in_memory() -> io::Result<std::fs::File> {
    Err(types::PlatformPart::WarmMemory.missing().into())
}

/// The speeds of writes to two kinds of free memory: pages that were not used recently, and recently freed pages. The
/// ratio of the two speeds shows how long the host of a virtual machine takes to provide memory.
pub struct Cost {
    /// Speed of writes to pages that were not used recently, in bytes per second.
    pub first: f64,
    /// Speed of writes to recently freed pages, in bytes per second.
    pub again: f64,
}

/// Measures the speed of writes to free memory, by writing and freeing the same number of bytes twice. Returns `None`
/// if the kernel does not permit the measurement.
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
        assert!(
            grown < 150 * CHUNK as u64,
            "the peak of resident memory must not grow, but it grew by {grown} bytes"
        );
        let cost = cost().unwrap();
        assert!(cost.first > 0.0 && cost.again > 0.0);
        assert_eq!(touch(u64::MAX).unwrap_err().kind(), io::ErrorKind::OutOfMemory);
    }
}
