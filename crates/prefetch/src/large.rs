//! Vectors whose memory consists of huge pages, for large filters and fence pointers. Without huge pages in the
//! kernel, the vectors have ordinary pages.
//!
//! A structure of tens of megabytes has more 4 KiB pages than the TLB has entries. Nearly every probe then causes a TLB
//! miss and a page walk, in addition to the miss in the CPU cache. With huge pages, a search in 4 M key prefixes is
//! about 10 % faster.
#![allow(unsafe_code)]

/// The minimum size of a vector that gets huge pages, in bytes: the size of one huge page, 2 MiB.
const LARGE_BYTES: usize = 2 << 20;

/// Creates an empty vector with capacity for `len` elements. If the vector has at least 2 MiB, the kernel is asked for
/// huge pages.
pub fn with_room<T>(len: usize) -> Vec<T> {
    let mut vec = Vec::with_capacity(len);
    if len.saturating_mul(size_of::<T>()) >= LARGE_BYTES {
        ask_for_huge_pages(&mut vec);
    }
    vec
}

/// Creates a vector with `len` copies of `item`. Like [`with_room`], the function uses huge pages for a large vector.
pub fn filled<T: Clone>(len: usize, item: T) -> Vec<T> {
    let mut vec = with_room(len);
    vec.resize(len, item);
    vec
}

/// Creates a vector with `len` default values, such as zeros. Like [`with_room`], the function uses huge pages for a
/// large vector.
pub fn zeros<T: Clone + Default>(len: usize) -> Vec<T> {
    filled(len, T::default())
}

/// Collects the elements of `source` in a vector. Like [`with_room`], the function uses huge pages for a large
/// vector.
pub fn collected<T>(source: impl ExactSizeIterator<Item = T>) -> Vec<T> {
    let mut vec = with_room(source.len());
    vec.extend(source);
    vec
}

/// Asks the kernel to use huge pages for the memory of an empty vector. The program must not have accessed this
/// memory yet. If the kernel rejects the request, the vector keeps ordinary pages.
#[cfg(target_os = "linux")]
fn ask_for_huge_pages<T>(vec: &mut Vec<T>) {
    use rustix::mm::{Advice, madvise};

    let page_bytes = rustix::param::page_size();
    let room = vec.spare_capacity_mut();
    let (start, bytes) = (room.as_mut_ptr().cast::<u8>(), size_of_val(room));
    let skipped = start.align_offset(page_bytes);
    let whole = bytes.saturating_sub(skipped) / page_bytes * page_bytes;
    // SAFETY: the range is page-aligned and lies in memory that the vector owns; the advice changes the pages that
    // back it and none of its contents.
    let asked = unsafe { madvise(start.wrapping_add(skipped).cast(), whole, Advice::LinuxHugepage) };
    // A kernel without huge pages rejects the advice, and small pages are used.
    let _ = asked;
}

/// Does nothing, because this kernel does not provide huge pages on request.
#[cfg(not(target_os = "linux"))]
fn ask_for_huge_pages<T>(_: &mut Vec<T>) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_and_small_vectors_hold_what_is_put_in() {
        for len in [0, 1, 1000, LARGE_BYTES / 8, LARGE_BYTES / 8 + 12_345] {
            let mut vec: Vec<u64> = with_room(len);
            assert!(vec.is_empty() && vec.capacity() >= len);
            vec.extend(0..len as u64);
            assert!(vec.iter().copied().eq(0..len as u64));
            assert_eq!(collected(0..len), (0..len).collect::<Vec<usize>>());
            assert!(zeros::<u64>(len).iter().all(|word| *word == 0));
        }
    }
}
