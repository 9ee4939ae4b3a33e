//! The operations of one thread of a phase, generated one batch at a time.
//!
//! Each key has only one writing thread, so that every answer can be checked. With T threads, a load assigns its
//! positions to the threads round-robin. In a mixed phase, thread t writes only keys whose index is t modulo T. If a
//! write draws another thread's key, it draws again. Reads access any key. The versions of a key therefore rise in the
//! order of its writer's operations. The last version is known after the phase, for every interleaving of the threads.
//! With one thread, every answer is known exactly.

mod load;
mod mixed;
mod owned;

use std::sync::Arc;

use crate::batch::Batch;
use crate::operation::KeyId;
use crate::plan::{Extent, PhasePlan, PlannedWork};
use crate::share::{Ownership, ThreadShare};

use load::LoadStream;
use mixed::MixedStream;

impl PhasePlan {
    /// Returns the streams of all threads for a store that earlier phases left at `from`. Returns no streams if the
    /// phase replays recorded operations or takes a step.
    ///
    /// Equal plans and extents give equal streams, so that executed operations can be generated again off the clock.
    pub fn streams(self: &Arc<Self>, from: Extent) -> Vec<Stream> {
        match self.work {
            PlannedWork::Replay(_) | PlannedWork::Step => Vec::new(),
            _ => (0..self.phase.threads).map(|thread| Stream::new(self, thread, from)).collect(),
        }
    }

    /// Returns the streams for the measured run. The streams of a phase with a warm-up are endless, because the length
    /// of the warm-up is unknown beforehand.
    pub fn performed_streams(self: &Arc<Self>, from: Extent) -> Vec<Stream> {
        let mut streams = self.streams(from);
        if self.phase.before.warm_up.is_some() {
            streams.iter_mut().for_each(Stream::forget_the_end);
        }
        streams
    }

    /// Returns the extent after all operations of the phase, and generates the streams once to find it. For a phase
    /// without a known end, returns `from`.
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
/// A stream is a function of the plan, the thread, and the extent at its start.
pub struct Stream {
    phase: Arc<PhasePlan>,
    thread: u32,
    /// The keys that the thread writes, of a phase that begins with `existing` keys.
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
            (_, None) => unreachable!("the phase has no streams"),
        };
        Self { phase: Arc::clone(phase), thread, owned, existing: from.keys, work }
    }

    fn forget_the_end(&mut self) {
        if let StreamWork::Mixed(mixed) = &mut self.work {
            mixed.forget_the_end();
        }
    }

    /// Returns the number of the thread of the stream.
    pub fn thread(&self) -> u32 {
        self.thread
    }

    /// Returns the number of remaining operations, if the stream has a known end. A group is one operation.
    pub fn remaining(&self) -> Option<u64> {
        match &self.work {
            StreamWork::Load(load) => Some(load.remaining()),
            StreamWork::Mixed(mixed) => mixed.remaining(),
        }
    }

    /// Replaces the content of `batch` with at most `limit` further operations and returns their number. A group with
    /// all its members counts as one operation. 0 means that the stream has ended.
    pub fn fill(&mut self, batch: &mut Batch, limit: usize) -> usize {
        batch.clear();
        let filled = match &mut self.work {
            StreamWork::Load(load) => load.fill(&self.phase.values, &mut batch.operations, limit),
            StreamWork::Mixed(mixed) => mixed.fill(&self.phase, self.thread, &mut batch.operations, limit),
        };
        batch.finish(&*self.phase.format, &self.phase.values);
        filled
    }

    /// Returns the keys and versions that this thread has reserved, used or not.
    pub fn extent(&self) -> Extent {
        match &self.work {
            StreamWork::Load(load) => load.extent(),
            StreamWork::Mixed(mixed) => mixed.extent(),
        }
    }

    /// Returns whether this thread writes `key` in a mixed phase.
    pub(crate) fn owns(&self, key: KeyId) -> bool {
        self.owned.is_some_and(|owned| owned.has(key.index(), self.existing))
    }
}
