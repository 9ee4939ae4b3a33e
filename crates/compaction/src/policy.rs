//! The trait of all compaction policies.

use std::sync::Arc;

use crate::job::Job;
use crate::shape::Shape;

/// A policy that selects the next compaction job. The result of a policy depends only on the shape, with one exception.
/// If a policy observes operations, the result may also depend on earlier results of the policy, and therefore on the
/// sequence of shapes.
///
/// Invariants:
/// 1. Every job is valid: the job changes no lookup result (see [`Job::validate`]). A policy that declares
///    [`catalog::Limit::DropsData`] may also drop the oldest runs. After a drop, lookups may find no value for a key,
///    but they never find an older value.
/// 2. Equal shapes always give equal jobs. If a policy observes operations, only two cases are required: consecutive
///    equal shapes, and equal shapes without operations.
/// 3. After a finite number of jobs without a new flush, the policy picks no further job.
pub trait CompactionPolicy: Send + Sync {
    /// Returns the next compaction job for a tree of this shape, or `None` if the tree needs no compaction.
    fn pick(&self, shape: &Shape) -> Option<Job>;

    /// Returns the keys at which the output of a merge is divided into SSTables, in ascending order. A new output
    /// SSTable begins at the first key that is not below a returned key. By default, the result is empty, so the tree
    /// divides the output only by size.
    fn cuts(&self, _shape: &Shape, _job: &Job) -> Vec<Arc<[u8]>> {
        Vec::new()
    }

    /// Returns the reason why the policy has failed, or `None` if the policy works. A policy in another process can
    /// fail, so callers check this result when the policy picks no job. A failed policy never recovers and picks no
    /// more jobs.
    fn failure(&self) -> Option<String> {
        None
    }

    /// Returns the cost of opening a source (memtable or sorted run) in a scan, for each source after the first. The
    /// unit is a byte that a compaction writes (see [`worth_merging`](crate::worth_merging)). Returns 0 if scans
    /// trigger no compactions.
    fn seek_price(&self) -> u64 {
        0
    }

    /// Returns whether every job merges all SSTables of the tree, and scans trigger no compactions. A tree without a
    /// manifest needs such a policy, because it recognizes the inputs of a compaction only by the sequence numbers in
    /// the names of its SSTables.
    fn merges_all_runs(&self) -> bool {
        false
    }

    /// Returns the number of latest flushes whose operations the policy observes in [`Shape::operations`]. If the
    /// result is not 0, the tree also calls the policy regularly between flushes (see
    /// [`picks_after_gets`](crate::picks_after_gets) and [`picks_after_scan`](crate::picks_after_scan)). Returns 0 if
    /// the policy observes no operations.
    fn observed_flushes(&self) -> usize {
        0
    }
}
