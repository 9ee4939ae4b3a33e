//! The replacement for the module `crate::sync` of the modeled crates. For its atomics, fences and locks, `loom` tries
//! every interleaving, and every value that the memory model permits.
//!
//! Each atomic operation or fence in the source with an ordering stronger than `Relaxed` is a [`Site`]. A test can
//! [weaken](weaken) one site at a time to `Relaxed`. If no model then fails, either the code does not need the original
//! ordering, or the models lack the case that needs it.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::panic::Location;
use std::sync::{Mutex as StdMutex, PoisonError};

pub(crate) use loom::hint::spin_loop;
pub(crate) use loom::sync::atomic::Ordering;
pub(crate) use loom::thread::yield_now;

/// Returns the size `model` of a data structure, which is small because `loom` executes all interleavings. In the real
/// crates, the function with this name returns the size `real`.
pub(crate) const fn sized(_real: usize, model: usize) -> usize {
    model
}

/// A position in the source code of an atomic operation or fence with an ordering stronger than `Relaxed`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Site {
    /// The path of the file, relative to the root of the repository.
    pub file: String,
    /// The line and the column of the operation in the source file, both starting at 1.
    pub place: (u32, u32),
    /// The name of the atomic operation, such as `load` or `fence`.
    pub operation: &'static str,
}

/// The sites (atomic operations in the source) that a model has executed, and the site that is weakened to `Relaxed`.
struct Sites {
    passed: BTreeSet<Site>,
    weak: Option<Site>,
}

thread_local! {
    /// The sites of the model that this thread runs. `loom` runs all threads of a model in one OS thread, so several OS
    /// threads can run different models at the same time.
    static SITES: RefCell<Sites> = const { RefCell::new(Sites { passed: BTreeSet::new(), weak: None }) };
}

/// Weakens the memory ordering of a site (an atomic operation in the source) to `Relaxed`, for the models that this
/// thread runs. `None` weakens no site.
pub(crate) fn weaken(site: Option<Site>) {
    SITES.with_borrow_mut(|sites| sites.weak = site);
}

/// Returns the sites (atomic operations in the source) that this thread's models have executed since the last call of
/// this function.
pub(crate) fn passed() -> BTreeSet<Site> {
    SITES.with_borrow_mut(|sites| std::mem::take(&mut sites.passed))
}

/// Returns the memory ordering of an operation in the model: `Relaxed` if the test weakens the operation, and otherwise
/// `order`. Records the operation, unless `order` is `Relaxed`.
fn ordered(order: Ordering, operation: &'static str, at: &Location<'_>) -> Ordering {
    if order == Ordering::Relaxed {
        return order;
    }
    let file = at.file().rsplit_once("../").map_or(at.file(), |(_, file)| file);
    let site = Site { file: file.to_owned(), place: (at.line(), at.column()), operation };
    SITES.with_borrow_mut(|sites| {
        let is_weak = sites.weak.as_ref() == Some(&site);
        sites.passed.insert(site);
        if is_weak { Ordering::Relaxed } else { order }
    })
}

/// A memory fence of a model. The fence does nothing if the test weakens it.
#[track_caller]
pub(crate) fn fence(order: Ordering) {
    match ordered(order, "fence", Location::caller()) {
        Ordering::Relaxed => {}
        order => loom::sync::atomic::fence(order),
    }
}

/// Declares an atomic integer type of a model, which records the position of each of its operations in the source.
macro_rules! atomic {
    ($name:ident, $number:ty) => {
        /// An atomic integer of a model, which records the position of each of its operations in the source.
        #[derive(Debug, Default)]
        pub(crate) struct $name(loom::sync::atomic::$name);

        impl $name {
            pub(crate) fn new(value: $number) -> Self {
                Self(loom::sync::atomic::$name::new(value))
            }

            #[track_caller]
            pub(crate) fn load(&self, order: Ordering) -> $number {
                self.0.load(ordered(order, "load", Location::caller()))
            }

            #[track_caller]
            pub(crate) fn store(&self, value: $number, order: Ordering) {
                self.0.store(value, ordered(order, "store", Location::caller()));
            }
        }
    };
}

atomic!(AtomicU32, u32);
atomic!(AtomicU64, u64);
atomic!(AtomicUsize, usize);

impl AtomicU64 {
    #[track_caller]
    pub(crate) fn fetch_add(&self, value: u64, order: Ordering) -> u64 {
        self.0.fetch_add(value, ordered(order, "fetch_add", Location::caller()))
    }

    #[track_caller]
    pub(crate) fn compare_exchange(
        &self,
        from: u64,
        to: u64,
        order: Ordering,
        failed: Ordering,
    ) -> Result<u64, u64> {
        let at = Location::caller();
        let order = ordered(order, "compare_exchange", at);
        self.0.compare_exchange(from, to, order, ordered(failed, "compare_exchange that fails", at))
    }
}

impl AtomicUsize {
    #[track_caller]
    pub(crate) fn fetch_max(&self, value: usize, order: Ordering) -> usize {
        self.0.fetch_max(value, ordered(order, "fetch_max", Location::caller()))
    }
}

/// A variable of which each thread of a model has its own value.
pub(crate) struct PerThread<T> {
    cells: [T; MOST_THREADS],
    owners: StdMutex<Vec<loom::thread::ThreadId>>,
}

/// The maximum number of threads in a model.
const MOST_THREADS: usize = 3;

impl<T: Default + Send> PerThread<T> {
    pub(crate) fn new() -> Self {
        Self { cells: Default::default(), owners: StdMutex::default() }
    }

    /// Returns the value of the calling thread, which is the default value at first.
    pub(crate) fn get_or_default(&self) -> &T {
        let own = loom::thread::current().id();
        let mut owners = self.owners.lock().unwrap_or_else(PoisonError::into_inner);
        let at = owners.iter().position(|owner| *owner == own).unwrap_or_else(|| {
            owners.push(own);
            owners.len() - 1
        });
        &self.cells[at]
    }

    /// Iterates over the values of all threads. Unused values, for threads that do not exist, have their default value.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.cells.iter()
    }
}

/// Returns `false`, because a model has no process-wide memory barrier of the kernel. Readers therefore execute a fence
/// themselves.
pub(crate) fn register_process_barrier() -> bool {
    false
}

/// Panics. No caller exists, because [`register_process_barrier`] always returns false.
pub(crate) fn process_barrier() {
    unreachable!("a model must not call a process barrier, because none is registered")
}
