//! The trait of compaction policies: shape of the tree in, next job out.

use std::sync::Arc;

use crate::job::Job;
use crate::shape::Shape;

/// Policy that selects the next compaction. It is a pure function of plain data without side effects.
///
/// Invariants:
/// 1. Every job is valid: applying it changes no answer (see [`Job::validate`]). A policy that declares
///    [`catalog::Limit::DropsData`] may also drop the oldest runs; a key may then be absent, but no key gets an older
///    value.
/// 2. Equal shapes always give equal jobs.
/// 3. Applying job after job to a tree that takes no flushes ends: the policy comes to rest.
pub trait CompactionPolicy: Send + Sync {
    /// Returns the next job, or `None` if the shape needs none.
    fn pick(&self, shape: &Shape) -> Option<Job>;

    /// Returns the keys at which the output of a merge is cut, in ascending order. Of each key, no output table has keys
    /// both below it and from it on. The tree also cuts tables at their capacity. A policy in another process cuts
    /// nothing.
    fn cuts(&self, _shape: &Shape, _job: &Job) -> Vec<Arc<[u8]>> {
        Vec::new()
    }

    /// Returns the reason why the policy can pick no more jobs; `None` while it can. Callers check it when there is no
    /// job, because a policy in another process can fail. A failed policy never recovers, and picks no job.
    fn failure(&self) -> Option<String> {
        None
    }

    /// Returns the price of one source less in a scan, in bytes merged (see [`worth_merging`](crate::worth_merging));
    /// 0 if scans trigger no compactions.
    fn seek_price(&self) -> u64 {
        0
    }
}
