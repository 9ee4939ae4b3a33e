//! The trait of compaction policies: shape of the tree in, next job out.

use std::sync::Arc;

use crate::job::Job;
use crate::shape::Shape;

/// A policy that selects the next compaction. A policy is a pure function of plain data and has no side effects.
///
/// Invariants:
/// 1. Every job is valid: applying it changes no answer (see [`Job::validate`]). A policy that declares
///    [`catalog::Limit::DropsData`] may also drop the oldest runs. A key may then be absent, but no key gets an older
///    value.
/// 2. Equal shapes always give equal jobs.
/// 3. If jobs are applied to a tree that takes no flushes, the policy comes to rest after a finite number of jobs.
pub trait CompactionPolicy: Send + Sync {
    /// Returns the next job, or `None` if the shape needs none.
    fn pick(&self, shape: &Shape) -> Option<Job>;

    /// Returns the keys at which the output of a merge is cut, in ascending order. No output table has keys both below
    /// such a key and at or above it. The tree also cuts tables at their capacity. A policy in another process cuts
    /// nothing.
    fn cuts(&self, _shape: &Shape, _job: &Job) -> Vec<Arc<[u8]>> {
        Vec::new()
    }

    /// Returns the reason why the policy can pick no more jobs; `None` while it can. Callers check the reason when
    /// there is no job, because a policy in another process can fail. A failed policy never recovers and picks no job.
    fn failure(&self) -> Option<String> {
        None
    }

    /// Returns the bytes of compaction that a scan pays for each source beyond the first (see
    /// [`worth_merging`](crate::worth_merging)). 0 if scans trigger no compactions.
    fn seek_price(&self) -> u64 {
        0
    }
}
