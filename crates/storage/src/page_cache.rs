//! Reports which pages of files are in the page cache of the kernel, and evicts pages from the page cache.
//!
//! Neither the report nor the eviction needs privileges. `posix_fadvise(2)` with `POSIX_FADV_DONTNEED` evicts the clean
//! pages of a file. `mincore(2)` reports for each page of a mapping whether the page is in memory. Eviction works only
//! on Linux.

use std::fs::File;
use std::io;
#[cfg(target_os = "linux")]
use std::ops::Range;
use std::path::Path;

use memmap2::Mmap;
use rustix::param::page_size;
#[cfg(not(target_os = "linux"))]
use types::PlatformPart;

/// The number of pages of one or more files, and how many of these pages are in the page cache of the kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Resident {
    /// The number of pages of the files.
    pub pages: u64,
    /// The number of pages that are in the page cache.
    pub resident: u64,
}

impl Resident {
    /// Returns the fraction of the pages that are in the page cache. Returns `None` without any page.
    pub fn share(self) -> Option<f64> {
        (self.pages > 0).then(|| self.resident as f64 / self.pages as f64)
    }

    /// Returns the sums of the numbers of pages of `self` and `other`.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self { pages: self.pages + other.pages, resident: self.resident + other.resident }
    }
}

/// Syncs a file, and evicts its pages from the page cache. Pages that a process has mapped stay in the page cache; see
/// [`page_out_mapped`].
///
/// # Errors
/// The file cannot be opened or synced.
#[cfg(target_os = "linux")]
pub fn let_go_of(path: &Path) -> io::Result<()> {
    use rustix::fs::{Advice, fadvise, fsync};

    let file = File::open(path)?;
    // The kernel would not evict dirty pages, so they are written first.
    fsync(&file)?;
    Ok(fadvise(&file, 0, None, Advice::DontNeed)?)
}

/// Returns an error, because this operating system does not evict files on request.
///
/// # Errors
/// This operating system does not support eviction.
#[cfg(not(target_os = "linux"))]
pub fn let_go_of(_: &Path) -> io::Result<()> {
    Err(PlatformPart::PageCacheEviction.missing().into())
}

/// Removes the memory-mapped pages of files below `folder` from the memory of this process. No data is lost: the kernel
/// writes changed pages back, and reads a page again at the next access.
///
/// # Errors
/// The operating system does not list mappings, or cannot reclaim pages on request (Linux before 5.4).
#[cfg(target_os = "linux")]
pub fn page_out_mapped(folder: &Path) -> io::Result<()> {
    let maps = std::fs::read_to_string("/proc/self/maps")?;
    maps.lines().filter_map(|line| mapping_below(line, folder)).try_for_each(page_out)
}

/// Returns an error, because this operating system cannot remove memory-mapped pages on request.
///
/// # Errors
/// This operating system does not support eviction.
#[cfg(not(target_os = "linux"))]
pub fn page_out_mapped(_: &Path) -> io::Result<()> {
    Err(PlatformPart::PageCacheEviction.missing().into())
}

/// Parses a line of `/proc/self/maps`, which describes one memory mapping. Returns the addresses of the mapping if it
/// maps a file below `folder`; otherwise `None`.
#[cfg(target_os = "linux")]
fn mapping_below(line: &str, folder: &Path) -> Option<Range<usize>> {
    let path = &line[line.find('/')?..];
    if !Path::new(path).starts_with(folder) {
        return None;
    }
    let (start, end) = line.split(' ').next()?.split_once('-')?;
    let address = |text| usize::from_str_radix(text, 16).ok();
    Some(address(start)?..address(end)?)
}

/// Asks the kernel to remove the pages at these addresses from memory. If the addresses are no longer mapped, the call
/// has no effect.
#[cfg(target_os = "linux")]
#[allow(unsafe_code)]
fn page_out(addresses: Range<usize>) -> io::Result<()> {
    let start = std::ptr::without_provenance_mut(addresses.start);
    // SAFETY: `MADV_PAGEOUT` changes no content, even if other pages are at these addresses by now. A reclaimed page
    // has the same bytes when it is used again.
    let answer = unsafe { libc::madvise(start, addresses.len(), libc::MADV_PAGEOUT) };
    match (answer, io::Error::last_os_error()) {
        (0, _) => Ok(()),
        (_, error) if error.raw_os_error() == Some(libc::ENOMEM) => Ok(()),
        (_, error) => Err(error),
    }
}

/// Returns the number of pages of a file, and the number of these pages that are in the page cache.
///
/// # Errors
/// The file cannot be opened or mapped, or the operating system does not report which pages are in memory.
pub fn resident(path: &Path) -> io::Result<Resident> {
    let file = File::open(path)?;
    if file.metadata()?.len() == 0 {
        return Ok(Resident::default());
    }
    #[allow(unsafe_code)]
    // SAFETY: no byte of the mapping is read, so concurrent writes and truncation are harmless.
    let map = unsafe { Mmap::map(&file) }?;
    let mut pages = vec![0; map.len().div_ceil(page_size())];
    in_core(&map, 0, &mut pages)?;
    let resident = pages.iter().filter(|page| is_resident(**page)).count() as u64;
    Ok(Resident { pages: pages.len() as u64, resident })
}

/// Returns whether the byte at `offset` of a memory map is in memory. Returns `true` if the kernel does not report
/// which pages are in memory.
pub(crate) fn is_in_memory(map: &Mmap, offset: usize) -> bool {
    let mut page = [0];
    in_core(map, offset / page_size(), &mut page).is_ok() && is_resident(page[0])
}

/// Returns whether a page is in memory. `page` is the byte that `mincore(2)` returns for the page. Only the lowest bit
/// of this byte is defined.
fn is_resident(page: u8) -> bool {
    page & 1 == 1
}

/// Reports for each page of a memory map whether it is in memory: fills `pages` with one byte of `mincore(2)` per page,
/// starting at page `first`. The function does not access the content of the map.
///
/// # Panics
/// Panics if the memory map has fewer pages.
#[allow(unsafe_code)]
fn in_core(map: &Mmap, first: usize, pages: &mut [u8]) -> io::Result<()> {
    let (start, len) = (first * page_size(), pages.len() * page_size());
    assert!(start + len <= map.len().next_multiple_of(page_size()), "{first} and {} pages", pages.len());
    // SAFETY: the range is in the pages of the mapping that `map` keeps alive, and begins at a page boundary.
    // `pages` has a byte for each of these pages.
    let answer =
        unsafe { libc::mincore(map.as_ptr().add(start).cast_mut().cast(), len, pages.as_mut_ptr().cast()) };
    if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use std::fs;
    #[cfg(target_os = "linux")]
    use std::os::unix::fs::FileExt;

    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn what_was_written_is_in_memory_until_it_is_let_go_of_and_what_was_read_is_again() {
        let folder = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        let path = folder.path().join("file");
        let pages = 64;
        fs::write(&path, vec![7; pages * page_size() - 1]).unwrap();
        assert_eq!(resident(&path).unwrap(), Resident { pages: 64, resident: 64 });
        let_go_of(&path).unwrap();
        assert_eq!(resident(&path).unwrap(), Resident { pages: 64, resident: 0 });
        let file = File::open(&path).unwrap();
        rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::Random).unwrap();
        file.read_exact_at(&mut [0; 1], 3 * page_size() as u64).unwrap();
        let read = resident(&path).unwrap();
        assert!(read.resident >= 1 && read.resident < 64, "{read:?}");
        assert_eq!(fs::read(&path).unwrap().len(), pages * page_size() - 1);
        assert_eq!(resident(&path).unwrap().share(), Some(1.0));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn mapped_pages_leave_memory_and_keep_their_bytes() {
        let folder = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        let path = folder.path().join("file");
        fs::write(&path, vec![7; 64 * page_size()]).unwrap();
        let file = File::open(&path).unwrap();
        #[allow(unsafe_code)]
        // SAFETY: nothing changes the file during the test.
        let map = unsafe { Mmap::map(&file) }.unwrap();
        let sum = || map.iter().map(|byte| u64::from(*byte)).sum::<u64>();
        let before = sum();
        let_go_of(&path).unwrap();
        assert_eq!(resident(&path).unwrap().resident, 64, "pages that are mapped stay");
        page_out_mapped(&folder.path().canonicalize().unwrap()).unwrap();
        let_go_of(&path).unwrap();
        assert_eq!(resident(&path).unwrap().resident, 0);
        assert_eq!(sum(), before);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn only_mappings_below_the_folder_are_meant() {
        let line = "7f1000-7f3000 r--s 00000000 08:01 42    /data/a b/tree/1.sst";
        assert_eq!(mapping_below(line, Path::new("/data/a b")), Some(0x7f_1000..0x7f_3000));
        assert_eq!(mapping_below(line, Path::new("/data/a")), None);
        assert_eq!(mapping_below("7f1000-7f3000 rw-p 00000000 00:00 0 ", Path::new("/data")), None);
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
