//! No compaction. Every flush remains a separate run.

use catalog::Variant;

use crate::job::Job;
use crate::policy::CompactionPolicy;
use crate::shape::Shape;

pub(crate) const VARIANT: Variant<dyn CompactionPolicy> = Variant::<dyn CompactionPolicy>::plain(
    "none",
    "no compaction; fewest bytes written, but most runs to read",
    || Box::new(NoCompaction),
)
.oracle();

/// The policy `none`, which never picks a job.
struct NoCompaction;

impl CompactionPolicy for NoCompaction {
    fn pick(&self, _: &Shape) -> Option<Job> {
        None
    }

    fn merges_all_runs(&self) -> bool {
        true
    }
}
