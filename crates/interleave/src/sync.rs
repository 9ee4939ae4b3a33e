//! What the modelled crates call `crate::sync`: atomics, fences and locks whose every interleaving, and every
//! answer that the memory model allows, `loom` tries.
//!
//! Each place in the source where an operation is stronger than `Relaxed` is a [`Site`]. One of them can be
//! [weakened](weaken): a model that does not notice does not need it, or does not look.

use std::collections::BTreeSet;
use std::panic::Location;
use std::sync::{Mutex as StdMutex, PoisonError};

pub(crate) use loom::hint::spin_loop;
pub(crate) use loom::sync::atomic::Ordering;
pub(crate) use loom::thread::yield_now;

/// The size that a model has in place of the real one.
pub(crate) const fn sized(_real: usize, model: usize) -> usize {
    model
}

/// A place in the source that asks for an order.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Site {
    /// The file, from the root of the repository.
    pub file: String,
    /// The line and the column.
    pub place: (u32, u32),
    /// What is done there.
    pub operation: &'static str,
}

/// The sites that were passed, and the one that is weak.
struct Sites {
    passed: BTreeSet<Site>,
    weak: Option<Site>,
}

// Not one of loom's: what tests keep beside a model must not order its threads.
static SITES: StdMutex<Sites> = StdMutex::new(Sites { passed: BTreeSet::new(), weak: None });

/// Makes a site relaxed, or none.
pub(crate) fn weaken(site: Option<Site>) {
    SITES.lock().unwrap_or_else(PoisonError::into_inner).weak = site;
}

/// The sites that were passed since the last call.
pub(crate) fn passed() -> BTreeSet<Site> {
    std::mem::take(&mut SITES.lock().unwrap_or_else(PoisonError::into_inner).passed)
}

/// The order that is asked for, or none where the site is weak.
fn ordered(order: Ordering, operation: &'static str, at: &Location<'_>) -> Ordering {
    if order == Ordering::Relaxed {
        return order;
    }
    let file = at.file().rsplit_once("../").map_or(at.file(), |(_, file)| file);
    let site = Site { file: file.to_owned(), place: (at.line(), at.column()), operation };
    let mut sites = SITES.lock().unwrap_or_else(PoisonError::into_inner);
    let is_weak = sites.weak.as_ref() == Some(&site);
    sites.passed.insert(site);
    if is_weak { Ordering::Relaxed } else { order }
}

/// A fence; none where its site is weak.
#[track_caller]
pub(crate) fn fence(order: Ordering) {
    match ordered(order, "fence", Location::caller()) {
        Ordering::Relaxed => {}
        order => loom::sync::atomic::fence(order),
    }
}

/// Declares an atomic number.
macro_rules! atomic {
    ($name:ident, $number:ty) => {
        /// An atomic number.
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

/// The cells of all threads of a model: as many as there are.
pub(crate) struct PerThread<T> {
    cells: [T; MOST_THREADS],
    owners: StdMutex<Vec<loom::thread::ThreadId>>,
}

/// The most threads of a model.
const MOST_THREADS: usize = 3;

impl<T: Default + Send> PerThread<T> {
    pub(crate) fn new() -> Self {
        Self { cells: Default::default(), owners: StdMutex::default() }
    }

    /// The cell of the thread that asks.
    pub(crate) fn get_or_default(&self) -> &T {
        let own = loom::thread::current().id();
        let mut owners = self.owners.lock().unwrap_or_else(PoisonError::into_inner);
        let at = owners.iter().position(|owner| *owner == own).unwrap_or_else(|| {
            owners.push(own);
            owners.len() - 1
        });
        &self.cells[at]
    }

    /// All cells.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.cells.iter()
    }
}

/// No system is asked for a barrier: readers pay with a fence.
pub(crate) fn register_process_barrier() -> bool {
    false
}

/// Nobody has registered.
pub(crate) fn process_barrier() {
    unreachable!("no process barrier was registered")
}
