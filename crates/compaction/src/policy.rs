//! The trait of compaction policies. A policy receives the shape of the tree and returns the next compaction job.

use std::sync::Arc;

use crate::job::Job;
use crate::shape::Shape;

/// A policy that selects the next compaction job. A policy is a pure function of the shape, without side effects. Only a
/// policy that observes operations may also use its decisions for earlier shapes. Such a policy is a pure function of
/// the sequence of shapes.
///
/// Invariants:
/// 1. Every job is valid, which means that the job changes no lookup result (see [`Job::validate`]). A policy that
///    declares [`catalog::Limit::DropsData`] may also drop the oldest runs. Keys may then be absent, but no lookup
///    returns an older value.
/// 2. Equal shapes always give equal jobs. If a policy observes operations, this holds for consecutive equal shapes, and
///    for all shapes without operations.
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

    /// Returns the number of latest flushes whose operations the policy observes in
    /// [`Shape::operations`]. The tree then also asks the policy for jobs after some thousand gets and after some dozens
    /// of scans (see [`picks_after_gets`](crate::picks_after_gets)). Returns 0 if the policy observes no operations.
    fn observed_flushes(&self) -> usize {
        0
    }
}
