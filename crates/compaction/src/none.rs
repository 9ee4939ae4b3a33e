//! No compaction: every flush stays a run of its own. It bounds write amplification from below and read
//! and space amplification from above.

use catalog::{Build, NoParams, Variant};

use crate::job::Job;
use crate::policy::CompactionPolicy;
use crate::shape::Shape;

pub(crate) const VARIANT: Variant<dyn CompactionPolicy> = Variant::new::<NoCompaction>(
    "none",
    "nothing is ever merged: fewest bytes written, most runs to read",
    "",
)
.oracle();

/// The policy that never has a job.
struct NoCompaction;

impl Build<dyn CompactionPolicy> for NoCompaction {
    type Params = NoParams;

    fn build(_: NoParams) -> Result<Box<dyn CompactionPolicy>, String> {
        Ok(Box::new(Self))
    }
}

impl CompactionPolicy for NoCompaction {
    fn pick(&self, _: &Shape) -> Option<Job> {
        None
    }
}
