//! The trait of compaction policies. A policy receives the shape of the tree and returns the next compaction job.

use std::sync::Arc;

use crate::job::Job;
use crate::shape::Shape;

/// A policy that selects the next compaction job. A policy is a pure function of the shape, without side effects.
///
/// Invariants:
/// 1. Every job is valid, which means that the job changes no lookup result (see [`Job::validate`]). A policy that
///    declares [`catalog::Limit::DropsData`] may also drop the oldest runs. Keys may then be absent, but no lookup
///    returns an older value.
/// 2. Equal shapes always give equal jobs.
/// 3. For a tree without new flushes, the policy picks only a finite number of jobs.
pub trait CompactionPolicy: Send + Sync {
    /// Returns the next job, or `None` if the shape needs no compaction.
    fn pick(&self, shape: &Shape) -> Option<Job>;

    /// Returns the keys at which the output of a merge is divided, in ascending order. A new output SSTable begins at
    /// the first key that is not below a returned key. The tree also begins a new SSTable when an SSTable is full.
    /// The result is empty for a policy in another process.
    fn cuts(&self, _shape: &Shape, _job: &Job) -> Vec<Arc<[u8]>> {
        Vec::new()
    }

    /// Returns the reason why the policy has failed, or `None` if the policy works. A policy in another process can
    /// fail, so callers check this result when the policy picks no job. A failed policy never recovers and picks no
    /// more jobs.
    fn failure(&self) -> Option<String> {
        None
    }

    /// Returns the cost of each additional source of a scan, as a number of bytes that a compaction writes (see
    /// [`worth_merging`](crate::worth_merging)). Returns 0 if scans trigger no compactions.
    fn seek_price(&self) -> u64 {
        0
    }
}
