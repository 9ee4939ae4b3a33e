//! The allocator of the program `lsmbench`: the system allocator, which also counts the allocations of each thread.
//!
//! Each thread has its own counters. They count only the allocations of the thread itself, even while flushes and
//! compactions run in other threads. Counting costs a few additions to memory that no other thread writes. Engines in
//! C++ do not use this allocator, so their allocations are not counted. The program declares this allocator as its
//! global allocator. In a program with another global allocator, nothing is counted.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

#[cfg(test)]
#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The system allocator, which also counts the allocations of each thread.
pub struct Counting;

thread_local! {
    /// Number of allocations and reallocations of this thread.
    static COUNT: Cell<u64> = const { Cell::new(0) };

    /// The number of bytes that this thread has allocated, minus the number of bytes that it has freed. The number is
    /// negative if the thread has freed bytes of other threads.
    static HELD: Cell<isize> = const { Cell::new(0) };

    /// The maximum of [`HELD`] since [`most_held`] has last started a measurement.
    static MOST: Cell<isize> = const { Cell::new(0) };
}

/// Returns whether allocations are counted. This requires that the program uses the allocator [`Counting`].
pub fn are_counted() -> bool {
    let before = allocations();
    drop(std::hint::black_box(Box::new(0_u8)));
    allocations() > before
}

/// Returns the number of allocations of this thread so far.
#[inline]
pub fn allocations() -> u64 {
    COUNT.get()
}

/// Runs `work`, and returns the largest amount of memory that this thread held during `work`, in bytes above the amount
/// at the start.
pub fn most_held(work: impl FnOnce()) -> usize {
    let before = HELD.get();
    MOST.set(before);
    work();
    (MOST.get() - before).cast_unsigned()
}

/// Counts an allocation or a reallocation by this thread. `more` is the number of bytes that it adds to the memory of
/// the thread.
#[inline]
fn count(more: isize) {
    COUNT.set(COUNT.get() + 1);
    let held = HELD.get() + more;
    HELD.set(held);
    MOST.set(MOST.get().max(held));
}

// SAFETY: every call is passed to the system allocator unchanged. The counters are thread-locals without a
// destructor or lazy initialisation, so that using them neither allocates nor can fail while a thread ends.
unsafe impl GlobalAlloc for Counting {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size().cast_signed());
        // SAFETY: the caller keeps the contract of `alloc`, which is the same.
        unsafe { System.alloc(layout) }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size().cast_signed());
        // SAFETY: the caller keeps the contract of `alloc_zeroed`, which is the same.
        unsafe { System.alloc_zeroed(layout) }
    }

    #[inline]
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        HELD.set(HELD.get() - layout.size().cast_signed());
        // SAFETY: memory from this allocator came from the system allocator, with the same layout.
        unsafe { System.dealloc(memory, layout) }
    }

    #[inline]
    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size.cast_signed() - layout.size().cast_signed());
        // SAFETY: memory from this allocator came from the system allocator, with the same layout.
        unsafe { System.realloc(memory, layout, size) }
    }
}

#[cfg(test)]
mod tests {
    use std::hint::black_box;

    use super::*;

    /// Allocates memory in a way that the compiler cannot optimize out.
    fn ask(bytes: usize) -> Vec<u8> {
        black_box(Vec::with_capacity(black_box(bytes)))
    }

    #[test]
    fn what_a_thread_asks_for_is_counted_and_nothing_else() {
        let before = allocations();
        let mut grown = ask(10);
        grown.reserve_exact(5000);
        drop((black_box(grown), ask(100)));
        assert_eq!(allocations() - before, 3, "memory, more of it, and other memory");
        assert!(are_counted());
        std::thread::scope(|scope| {
            let before = allocations();
            scope.spawn(|| (0..1000).for_each(|_| drop(ask(1)))).join().unwrap();
            let to_spawn = allocations() - before;
            let other = scope.spawn(|| {
                let before = allocations();
                (0..1000).for_each(|_| drop(ask(1)));
                allocations() - before
            });
            assert_eq!(other.join().unwrap(), 1000);
            assert!(to_spawn < 100, "{to_spawn} of them are this thread's");
        });
    }

    #[test]
    fn the_most_that_is_held_is_what_lives_at_the_same_time() {
        let kept = ask(1 << 20);
        let most = most_held(|| {
            drop(ask(3000));
            let mut grown = ask(1000);
            drop(ask(500));
            grown.reserve_exact(2000);
            drop((black_box(grown), ask(1200)));
        });
        assert_eq!(most, 3200, "the two at the end, and nothing of before");
        assert_eq!(most_held(|| drop(black_box(kept))), 0, "to give back is not to ask");
    }
}
