//! When it is safe to free what readers without a lock may still look at: once every one of them that began
//! before it was taken out is done.
//!
//! A reader writes the present epoch into a cell of its thread's own when it begins, and zero when it is
//! done: two plain stores, no atomic instruction and no word that threads share. Whoever throws things away
//! gathers them; with [`COLLECTED`] of them together it ends the epoch, and frees what was thrown away in an
//! epoch that no cell holds, nor an older one. What keeps a reader's loads from overtaking its own store is
//! paid then: a barrier in all threads of the process (`membarrier(2)`); where the system has none, readers
//! pay with a fence each. Sources: Fraser, "Practical lock-freedom" (2004), section 5.2.3, for epochs; the
//! barrier that is paid by the other side is that of Desnoyers et al., "User-Level Implementations of
//! Read-Copy Update" (IEEE TPDS 23(2), 2012).

use std::collections::VecDeque;
use std::sync::LazyLock;
use std::sync::atomic::compiler_fence;

use crossbeam_utils::CachePadded;

use crate::sync::{AtomicU64, Ordering, PerThread, fence, process_barrier, register_process_barrier, sized};

/// Pieces of garbage that are gathered before they are freed together: the barrier costs a third of a
/// microsecond.
pub(crate) const COLLECTED: usize = sized(16, 1);

/// What a cell holds while its thread does not read. Epochs begin after it.
const IDLE: u64 = 0;

/// The present epoch, and who reads since when.
pub(crate) struct Epochs {
    present: AtomicU64,
    cells: PerThread<CachePadded<AtomicU64>>,
    has_process_barrier: bool,
}

/// What one writer threw away and readers may still see, oldest first.
pub(crate) struct Garbage<G> {
    /// Pieces of epochs that have ended, with these.
    past: VecDeque<(u64, G)>,
    /// Pieces of the present epoch.
    fresh: Vec<G>,
}

impl<G> Default for Garbage<G> {
    fn default() -> Self {
        Self { past: VecDeque::new(), fresh: Vec::new() }
    }
}

/// A reader, until it is dropped. Where a thread has several of the same epochs, the one that began last
/// ends first.
pub(crate) struct Reading<'a> {
    cell: &'a AtomicU64,
    /// What the cell held before: the epoch of the reader around this one, or that there is none.
    before: u64,
}

impl Drop for Reading<'_> {
    fn drop(&mut self) {
        // Who sees the cell idle sees all that was read before.
        self.cell.store(self.before, Ordering::Release);
    }
}

impl Epochs {
    /// Epochs without readers.
    pub(crate) fn new() -> Self {
        let (present, cells) = (AtomicU64::new(IDLE + 1), PerThread::new());
        Self { present, cells, has_process_barrier: *HAS_PROCESS_BARRIER }
    }

    /// Begins to read: what is reachable from now on stays until the result is dropped.
    #[inline]
    pub(crate) fn read(&self) -> Reading<'_> {
        let cell = &**self.cells.get_or_default();
        let before = cell.load(Ordering::Relaxed);
        if before != IDLE {
            return Reading { cell, before };
        }
        // Who sees an epoch ended sees what was taken out before; and who sees this reader sees that the
        // thread's last one is done.
        cell.store(self.present.load(Ordering::Acquire), Ordering::Release);
        if self.has_process_barrier {
            compiler_fence(Ordering::SeqCst);
        } else {
            fence(Ordering::SeqCst);
        }
        Reading { cell, before }
    }

    /// Drops `piece`, which nobody who begins to read now can reach, once nobody who could have reached it
    /// reads any more; until then it is among the `garbage`.
    pub(crate) fn throw_away<G>(&self, garbage: &mut Garbage<G>, piece: G) {
        garbage.fresh.push(piece);
        if garbage.fresh.len() >= COLLECTED {
            self.collect(garbage);
        }
    }

    /// Ends the epoch and frees the garbage that nobody can see any more.
    fn collect<G>(&self, garbage: &mut Garbage<G>) {
        let ended = self.present.fetch_add(1, Ordering::AcqRel);
        garbage.past.extend(garbage.fresh.drain(..).map(|piece| (ended, piece)));
        // Behind it, a reader either shows in its cell, or has not yet looked at anything.
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

/// Whether the system can put a barrier into all threads of the process, which is asked for once.
static HAS_PROCESS_BARRIER: LazyLock<bool> = LazyLock::new(register_process_barrier);

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::thread;

    use super::*;

    /// A piece that counts those of its kind that are gone.
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
