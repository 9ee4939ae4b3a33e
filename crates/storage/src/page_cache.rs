//! Residency of files in the operating system's page cache, and eviction from it.
//!
//! Neither needs privileges: `posix_fadvise(2)` with `POSIX_FADV_DONTNEED` evicts the clean pages of a file, and
//! `mincore(2)` reports for each page of a mapping whether it is in memory.

use std::fs::File;
use std::io;
use std::path::Path;

use memmap2::Mmap;
use rustix::fs::{Advice, fadvise, fsync};
use rustix::param::page_size;

/// Pages of a file in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Resident {
    /// Number of pages of the file.
    pub pages: u64,
    /// Number of those pages in the page cache.
    pub resident: u64,
}

impl Resident {
    /// Share of the pages that are in memory; `None` for an empty file.
    pub fn share(self) -> Option<f64> {
        (self.pages > 0).then(|| self.resident as f64 / self.pages as f64)
    }

    /// Sum of two files.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self { pages: self.pages + other.pages, resident: self.resident + other.resident }
    }
}

/// Makes a file durable and evicts it from the page cache. Pages mapped by a process stay.
///
/// # Errors
/// If the file cannot be opened or synced.
pub fn let_go_of(path: &Path) -> io::Result<()> {
    let file = File::open(path)?;
    // Dirty pages would not be evicted.
    fsync(&file)?;
    Ok(fadvise(&file, 0, None, Advice::DontNeed)?)
}

/// Counts the pages of a file in memory.
///
/// # Errors
/// If the file cannot be opened or mapped, or the system does not report residency.
pub fn resident(path: &Path) -> io::Result<Resident> {
    let file = File::open(path)?;
    if file.metadata()?.len() == 0 {
        return Ok(Resident::default());
    }
    #[allow(unsafe_code)]
    // SAFETY: no byte of the mapping is read, so concurrent writes and truncation do no harm.
    let map = unsafe { Mmap::map(&file) }?;
    let mut pages = vec![0; map.len().div_ceil(page_size())];
    in_core(&map, 0, &mut pages)?;
    let resident = pages.iter().filter(|page| is_resident(**page)).count() as u64;
    Ok(Resident { pages: pages.len() as u64, resident })
}

/// Whether the byte of a mapping at `offset` is in memory; `true` if the system does not report it.
pub(crate) fn is_in_memory(map: &Mmap, offset: usize) -> bool {
    let mut page = [0];
    in_core(map, offset / page_size(), &mut page).is_ok() && is_resident(page[0])
}

/// Whether a page is in memory, by its byte of `mincore(2)`: only the lowest bit is defined.
fn is_resident(page: u8) -> bool {
    page & 1 == 1
}

/// Fills `pages` with one byte per page of a mapping, from page `first` on. The content is not read.
///
/// # Panics
/// If the mapping has fewer pages.
#[allow(unsafe_code)]
fn in_core(map: &Mmap, first: usize, pages: &mut [u8]) -> io::Result<()> {
    let (start, len) = (first * page_size(), pages.len() * page_size());
    assert!(start + len <= map.len().next_multiple_of(page_size()), "{first} and {} pages", pages.len());
    // SAFETY: the range lies in the pages of the mapping that `map` keeps alive, which begins at a page boundary, and
    // `pages` has a byte for each of the pages.
    let answer = unsafe { libc::mincore(map.as_ptr().add(start).cast_mut().cast(), len, pages.as_mut_ptr()) };
    if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::FileExt;

    use super::*;

    #[test]
    fn what_was_written_is_in_memory_until_it_is_let_go_of_and_what_was_read_is_again() {
        let folder = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        let path = folder.path().join("file");
        let pages = 64;
        fs::write(&path, vec![7; pages * page_size() - 1]).unwrap();
        assert_eq!(resident(&path).unwrap(), Resident { pages: 64, resident: 64 });
        let_go_of(&path).unwrap();
        assert_eq!(resident(&path).unwrap(), Resident { pages: 64, resident: 0 });
        let file = File::open(&path).unwrap();
        fadvise(&file, 0, None, Advice::Random).unwrap();
        file.read_exact_at(&mut [0; 1], 3 * page_size() as u64).unwrap();
        let read = resident(&path).unwrap();
        assert!(read.resident >= 1 && read.resident < 64, "{read:?}");
        assert_eq!(fs::read(&path).unwrap().len(), pages * page_size() - 1);
        assert_eq!(resident(&path).unwrap().share(), Some(1.0));
    }

    #[test]
    fn an_empty_file_has_no_pages() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "").unwrap();
        let empty = resident(&path).unwrap();
        assert_eq!((empty, empty.share()), (Resident::default(), None));
        assert_eq!(empty.and(Resident { pages: 4, resident: 1 }).share(), Some(0.25));
        assert!(let_go_of(&path.with_file_name("other")).is_err());
    }
}
