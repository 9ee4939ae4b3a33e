//! The operations of one thread of a phase. A stream generates the operations in batches.
//!
//! Each key is written by only one thread, so that every answer can be checked. With T threads, a load distributes
//! its keys over the threads in turn. In a mixed phase, thread t writes only keys whose index has the remainder t
//! modulo T. If a thread draws a key of another thread for a write, the thread draws again. Reads may access any key.
//! The versions of a key therefore increase in the order of the operations of one thread. After the phase, the last
//! version of each key is known, even if the order of the threads is unknown. If only one thread runs, every answer
//! is known exactly.

mod load;
mod mixed;
mod owned;

use std::sync::Arc;

use crate::batch::Batch;
use crate::extents::Extent;
use crate::operation::KeyId;
use crate::plan::{PhasePlan, PlannedWork};
use crate::share::{Ownership, ThreadShare};

use load::LoadStream;
use mixed::MixedStream;

impl PhasePlan {
    /// Returns the streams of all threads. `from` contains the keys and versions that were used before the phase. A
    /// phase that replays recorded operations or executes a step has no streams.
    ///
    /// Equal plans and equal values of `from` give equal streams. The check can therefore generate the executed
    /// operations again after the run.
    pub fn streams(self: &Arc<Self>, from: Extent) -> Vec<Stream> {
        match self.work {
            PlannedWork::Replay(_) | PlannedWork::Step => Vec::new(),
            _ => (0..self.phase.threads).map(|thread| Stream::new(self, thread, from)).collect(),
        }
    }

    /// Returns the streams of operations for the measured run. If the phase has a warm-up, the streams have no end, so
    /// the caller must limit the measured operations.
    pub fn performed_streams(self: &Arc<Self>, from: Extent) -> Vec<Stream> {
        let mut streams = self.streams(from);
        if self.phase.before.warm_up.is_some() {
            streams.iter_mut().for_each(Stream::forget_the_end);
        }
        streams
    }

    /// Returns how many keys and versions are used after all operations of the phase. The function generates all
    /// operations to count them. If the number of operations is unknown, it returns `from`.
    pub fn extent_after(self: &Arc<Self>, from: Extent) -> Extent {
        if self.operations().is_none() {
            return from;
        }
        let mut batch = Batch::default();
        let ends = self.streams(from).into_iter().map(|mut stream| {
            while stream.fill(&mut batch, Batch::OPERATIONS) > 0 {}
            stream.extent()
        });
        ends.fold(from, Extent::join)
    }
}

/// The stream of operations of one thread.
///
/// A stream depends only on the plan, on the number of the thread, and on the keys and versions that were used before
/// the phase.
pub struct Stream {
    phase: Arc<PhasePlan>,
    thread: u32,
    /// The keys that the thread may write. `None` if the thread only reads.
    owned: Option<Ownership>,
    existing: u64,
    work: StreamWork,
}

enum StreamWork {
    Load(LoadStream),
    Mixed(Box<MixedStream>),
}

impl Stream {
    pub(crate) fn new(phase: &Arc<PhasePlan>, thread: u32, from: Extent) -> Self {
        let (work, owned) = match (&phase.work, phase.mix_of(thread)) {
            (PlannedWork::Load { keys, order, batch }, _) => {
                let load = LoadStream::new(phase, *keys, *order, *batch, thread, from);
                (StreamWork::Load(load), ThreadShare::equal(thread, phase.phase.threads).owned)
            }
            (_, Some((mixed, share))) => {
                let stream = MixedStream::new(phase, mixed, (thread, share), from);
                (StreamWork::Mixed(Box::new(stream)), share.owned)
            }
            (_, None) => unreachable!("a phase with streams must have a load or a mix"),
        };
        Self { phase: Arc::clone(phase), thread, owned, existing: from.keys, work }
    }

    fn forget_the_end(&mut self) {
        if let StreamWork::Mixed(mixed) = &mut self.work {
            mixed.forget_the_end();
        }
    }

    /// Returns the number of the thread that executes the stream.
    pub fn thread(&self) -> u32 {
        self.thread
    }

    /// Returns the number of operations that the stream has still to generate, or `None` if the number is unknown. A
    /// group with all its members is one operation.
    pub fn remaining(&self) -> Option<u64> {
        match &self.work {
            StreamWork::Load(load) => Some(load.remaining()),
            StreamWork::Mixed(mixed) => mixed.remaining(),
        }
    }

    /// Replaces the content of `batch` with at most `limit` new operations. Returns the number of new operations. A
    /// group with all its members counts as one operation. The stream has ended if the result is 0.
    pub fn fill(&mut self, batch: &mut Batch, limit: usize) -> usize {
        batch.clear();
        let filled = match &mut self.work {
            StreamWork::Load(load) => load.fill(&self.phase.values, &mut batch.operations, limit),
            StreamWork::Mixed(mixed) => mixed.fill(&self.phase, self.thread, &mut batch.operations, limit),
        };
        batch.finish(&*self.phase.format, &self.phase.values);
        filled
    }

    /// Returns the numbers of keys and versions that the operations generated so far may use, whether they were
    /// executed or not.
    pub fn extent(&self) -> Extent {
        match &self.work {
            StreamWork::Load(load) => load.extent(),
            StreamWork::Mixed(mixed) => mixed.extent(),
        }
    }

    /// Returns whether this thread is the only thread that may write `key` in a mixed phase.
    pub(crate) fn owns(&self, key: KeyId) -> bool {
        self.owned.is_some_and(|owned| owned.has(key.index(), self.existing))
    }
}
