//! An allocator that counts the bytes that each thread holds. The allocator passes each request to the system
//! allocator. Every program that links this crate uses this counting allocator.
//!
//! With this allocator, a target checks that the memory for an input stays within its limit. The counts are per thread,
//! so that concurrent targets do not count each other's bytes.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The system allocator, which also counts the allocated bytes of each thread.
struct Counting;

thread_local! {
    /// The number of bytes that this thread has allocated, minus the number of bytes that it has freed. The number is
    /// negative if the thread has freed bytes of other threads.
    static HELD: Cell<isize> = const { Cell::new(0) };
    /// The largest value of [`HELD`] since the last reset.
    static MOST: Cell<isize> = const { Cell::new(0) };
}

/// Runs `work`. Returns its result, and the largest amount of memory that `work` held at one time, in bytes.
pub(crate) fn most_held<R>(work: impl FnOnce() -> R) -> (R, usize) {
    let before = HELD.get();
    MOST.set(before);
    let result = work();
    (result, (MOST.get() - before).max(0).cast_unsigned())
}

fn add(bytes: isize) {
    let held = HELD.get() + bytes;
    HELD.set(held);
    MOST.set(MOST.get().max(held));
}

// SAFETY: every call is passed to the system allocator unchanged. The counters are thread-locals without destructors or
// lazy initialisation, so that using them neither allocates nor can fail while a thread ends.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        add(layout.size().cast_signed());
        // SAFETY: the caller keeps the contract of `alloc`, which is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        add(layout.size().cast_signed());
        // SAFETY: the caller keeps the contract of `alloc_zeroed`, which is the same.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        add(-layout.size().cast_signed());
        // SAFETY: memory from this allocator came from the system allocator, with the same layout.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        add(size.cast_signed() - layout.size().cast_signed());
        // SAFETY: memory from this allocator came from the system allocator, with the same layout.
        unsafe { System.realloc(memory, layout, size) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_is_what_was_held_at_once() {
        let ((), most) = most_held(|| {
            (0..3).for_each(|_| drop(Vec::<u8>::with_capacity(1000)));
            let mut grown: Vec<u8> = Vec::with_capacity(10);
            grown.reserve_exact(5000);
        });
        assert!((5000..6000).contains(&most), "{most}");
    }
}
