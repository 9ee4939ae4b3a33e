//! The seam of the compaction axis: a picture in, the next job out.

use crate::job::Job;
use crate::shape::Shape;

/// Decides what is compacted next. A pure function: it sees plain data and touches nothing.
///
/// Laws:
/// 1. Every job is valid: doing it changes no answer (see [`Job::validate`]). A policy that declares
///    [`catalog::Limit::DropsData`] may drop the oldest runs besides; then a key may be found no more, and none
///    is found with an older value.
/// 2. The same shape always gives the same job.
/// 3. Doing job after job to a tree that takes no flushes ends: the policy comes to rest.
pub trait CompactionPolicy: Send + Sync {
    /// The next job, or `None` where the shape is as the policy wants it.
    fn pick(&self, shape: &Shape) -> Option<Job>;

    /// Why the policy can pick no more jobs; `None` while it can. Who asks for a job asks this where there is none,
    /// because a policy outside of this process can fail. A failed policy never recovers, and picks no job.
    fn failure(&self) -> Option<String> {
        None
    }

    /// What it is worth to a range to open one source less, in bytes merged (see
    /// [`worth_merging`](crate::worth_merging)); 0 where ranges have no say in what is merged.
    fn seek_price(&self) -> u64 {
        0
    }
}
