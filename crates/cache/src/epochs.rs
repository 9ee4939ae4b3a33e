//! Epoch-based reclamation of memory. A removed object is not freed at once, because lock-free readers may still read
//! it. The object is freed when all readers that began before the removal have finished.
//!
//! Each thread has its own cell, which is a word in memory that only this thread writes. At the start of a read, a
//! reader writes the current epoch into its cell. At the end of the read, the reader writes zero. A writer collects
//! removed objects. After [`COLLECTED`] objects, the writer ends the current epoch and begins a new epoch. The writer
//! then frees the objects whose epoch is older than every epoch in the cells. The CPU must not execute the loads of a
//! reader before the store to the cell. The writer ensures this order by a memory barrier in all threads of the
//! process (`membarrier(2)`), so readers need no barrier of their own. If the kernel has no such barrier, each reader
//! executes a memory fence. Sources: Fraser, "Practical lock-freedom" (2004), section 5.2.3, for epochs; Desnoyers et
//! al., "User-Level Implementations of Read-Copy Update" (IEEE TPDS 23(2), 2012), for the barrier on the writer's
//! side.

use std::collections::VecDeque;
use std::sync::LazyLock;
use std::sync::atomic::compiler_fence;

use crossbeam_utils::CachePadded;

use crate::sync::{AtomicU64, Ordering, PerThread, fence, process_barrier, register_process_barrier, sized};

/// The number of removed objects that a writer frees in one batch. Freeing each object separately would be slow,
/// because each batch needs a memory barrier, which takes a third of a microsecond.
pub(crate) const COLLECTED: usize = sized(16, 1);

/// The value in the cell of a thread that does not read at the moment. Every epoch is a larger number.
const IDLE: u64 = 0;

/// The current epoch, and one cell for each reading thread. The cell has the epoch in which the read of the thread
/// began.
pub(crate) struct Epochs {
    present: AtomicU64,
    cells: PerThread<CachePadded<AtomicU64>>,
    has_process_barrier: bool,
}

/// The objects that one writer has removed and that readers may still read, oldest first.
pub(crate) struct Garbage<G> {
    /// The removed objects of past epochs that readers may still read, each group with its epoch.
    past: VecDeque<(u64, G)>,
    /// The objects that were removed in the current epoch.
    fresh: Vec<G>,
}

impl<G> Default for Garbage<G> {
    fn default() -> Self {
        Self { past: VecDeque::new(), fresh: Vec::new() }
    }
}

/// A read of lock-free data. The read ends when this value is dropped. If a thread begins several reads with the same
/// [`Epochs`], the read that began last must end first.
pub(crate) struct Reading<'a> {
    cell: &'a AtomicU64,
    /// The value of the thread's cell before this read: the epoch of an earlier read that has not ended, or [`IDLE`].
    /// The cell gets this value again when this read ends.
    before: u64,
}

impl Drop for Reading<'_> {
    fn drop(&mut self) {
        // A thread that sees the idle cell also sees that all earlier loads of this thread are done.
        self.cell.store(self.before, Ordering::Release);
    }
}

impl Epochs {
    /// Creates the first epoch. No thread reads yet.
    pub(crate) fn new() -> Self {
        let (present, cells) = (AtomicU64::new(IDLE + 1), PerThread::new());
        Self { present, cells, has_process_barrier: *HAS_PROCESS_BARRIER }
    }

    /// Begins a read. Objects that the reader reaches during the read are not freed before the result is dropped.
    #[inline]
    pub(crate) fn read(&self) -> Reading<'_> {
        let cell = &**self.cells.get_or_default();
        let before = cell.load(Ordering::Relaxed);
        if before != IDLE {
            return Reading { cell, before };
        }
        // A thread that sees the new epoch also sees the removals before the epoch. A thread that sees this reader
        // also sees that the thread's previous read is done.
        cell.store(self.present.load(Ordering::Acquire), Ordering::Release);
        if self.has_process_barrier {
            compiler_fence(Ordering::SeqCst);
        } else {
            fence(Ordering::SeqCst);
        }
        Reading { cell, before }
    }

    /// Adds a removed object (`piece`) to `garbage`, and drops it when all readers that may have reached it have
    /// finished. The caller must have made `piece` unreachable for new readers.
    pub(crate) fn throw_away<G>(&self, garbage: &mut Garbage<G>, piece: G) {
        garbage.fresh.push(piece);
        if garbage.fresh.len() >= COLLECTED {
            self.collect(garbage);
        }
    }

    /// Ends the current epoch, and frees the objects in `garbage` that no reader can reach.
    fn collect<G>(&self, garbage: &mut Garbage<G>) {
        let ended = self.present.fetch_add(1, Ordering::AcqRel);
        garbage.past.extend(garbage.fresh.drain(..).map(|piece| (ended, piece)));
        // After the barrier, each reader is visible in its cell, or has not loaded anything yet.
        if self.has_process_barrier {
            process_barrier();
        } else {
            fence(Ordering::SeqCst);
        }
        let epochs = self.cells.iter().map(|cell| cell.load(Ordering::Acquire));
        let oldest = epochs.filter(|epoch| *epoch != IDLE).min().unwrap_or(u64::MAX);
        garbage.past.drain(..garbage.past.partition_point(|(epoch, _)| *epoch < oldest));
    }
}

/// Whether the kernel can execute a memory barrier in all threads of the process. The program asks the kernel only
/// once.
static HAS_PROCESS_BARRIER: LazyLock<bool> = LazyLock::new(register_process_barrier);

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::thread;

    use super::*;

    /// An object that increments a counter when it is dropped.
    struct Piece(Arc<AtomicU64>);

    impl Drop for Piece {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn both_kinds() -> [Epochs; 2] {
        [true, false].map(|wanted| {
            let mut epochs = Epochs::new();
            epochs.has_process_barrier &= wanted;
            epochs
        })
    }

    #[test]
    fn garbage_is_freed_in_batches_where_nobody_reads() {
        for epochs in both_kinds() {
            let (gone, mut garbage) = (Arc::new(AtomicU64::new(0)), Garbage::default());
            for thrown in 1..=3 * COLLECTED as u64 {
                drop(epochs.read());
                epochs.throw_away(&mut garbage, Piece(Arc::clone(&gone)));
                assert_eq!(gone.load(Ordering::Relaxed), thrown / COLLECTED as u64 * COLLECTED as u64);
            }
        }
    }

    #[test]
    fn garbage_waits_for_a_reader_that_began_before_and_for_no_other() {
        for epochs in both_kinds() {
            let (gone, mut garbage) = (Arc::new(AtomicU64::new(0)), Garbage::default());
            let mut throw = |pieces: usize| {
                (0..pieces).for_each(|_| epochs.throw_away(&mut garbage, Piece(Arc::clone(&gone))));
            };
            throw(COLLECTED - 1);
            let reading = epochs.read();
            throw(COLLECTED * 5);
            assert_eq!(gone.load(Ordering::Relaxed), 0, "the reader may see any of them");
            drop(reading);
            let reading = epochs.read();
            throw(COLLECTED);
            let freed = gone.load(Ordering::Relaxed);
            assert!(freed >= 4 * COLLECTED as u64, "{freed}: what was thrown away before is free");
            drop(reading);
        }
    }

    #[test]
    fn a_reader_within_a_reader_does_not_end_it() {
        for epochs in both_kinds() {
            let (gone, mut garbage) = (Arc::new(AtomicU64::new(0)), Garbage::default());
            let outer = epochs.read();
            drop(epochs.read());
            (0..COLLECTED * 3).for_each(|_| epochs.throw_away(&mut garbage, Piece(Arc::clone(&gone))));
            assert_eq!(gone.load(Ordering::Relaxed), 0);
            drop(outer);
            (0..COLLECTED).for_each(|_| epochs.throw_away(&mut garbage, Piece(Arc::clone(&gone))));
            assert!(gone.load(Ordering::Relaxed) >= 3 * COLLECTED as u64);
        }
    }

    #[test]
    fn readers_of_other_threads_are_waited_for() {
        for epochs in both_kinds() {
            let (gone, mut garbage) = (Arc::new(AtomicU64::new(0)), Garbage::default());
            let (go, going) = std::sync::mpsc::channel();
            let (read, reading) = std::sync::mpsc::channel();
            let (epochs, reader_epochs) = (&epochs, &epochs);
            thread::scope(|scope| {
                scope.spawn(move || {
                    let held = reader_epochs.read();
                    read.send(()).unwrap();
                    going.recv().unwrap();
                    drop(held);
                });
                reading.recv().unwrap();
                (0..COLLECTED * 3).for_each(|_| epochs.throw_away(&mut garbage, Piece(Arc::clone(&gone))));
                assert_eq!(gone.load(Ordering::Relaxed), 0);
                go.send(()).unwrap();
            });
            (0..COLLECTED * 2).for_each(|_| epochs.throw_away(&mut garbage, Piece(Arc::clone(&gone))));
            assert!(gone.load(Ordering::Relaxed) >= 3 * COLLECTED as u64);
        }
    }
}
