//! Leveled compaction keeps one run per level. The run of a level is up to T times as large as the run of the level
//! above.
//!
//! Sources: O'Neil, Cheng, Gawlick, O'Neil, "The Log-Structured Merge-Tree" (1996), section 2. A job merges complete
//! levels, as in Dayan, Athanassoulis, Idreos, "Monkey" (SIGMOD 2017), section 2, under the name leveling. Flushes go
//! to level 0. When level 0 has `level0_runs` runs, these runs are merged with the run of level 1. Level i ≥ 1 has
//! one run and a capacity of C(i) = T^i buffers (full memtables). If level 1 has another capacity C(1), the capacity
//! of level i is C(i) = C(1)·T^(i−1). When a run reaches the capacity of its level i, the complete run is merged into
//! level i + 1. If level i + 1 is empty, the run is moved. If [`l0-tiered`](crate::l0_tiered) enables trivial moves,
//! the SSTables of a level are moved separately.
//!
//! # Write amplification
//! Sizes are in buffers. Let N buffers with distinct keys be flushed. Data arrives at level i in units of a(i)
//! buffers, where a(1) = `level0_runs`. The level is full after n(i) = ⌈C(i) / a(i)⌉ arrivals and is then compacted
//! into the next level, so a(i+1) = n(i)·a(i). The merge of the j-th arrival since the level was empty writes j·a(i)
//! buffers. If the first arrival is one run, the run is moved without writes. After q·n(i) + r arrivals with r <
//! n(i), compactions into the level have written
//!
//! > W(i) = a(i) · ( q·S(n(i)) + S(r) ),  S(j) = j·(j+1)/2, minus 1 if the first arrival is moved and j > 0
//!
//! buffers, and write amplification is exactly 1 + Σ W(i) / N, where the 1 is the flush. With `level0_runs = 1` and
//! an integer T, a(i) = T^(i−1) and n(i) = T. When data leaves level i, the data has therefore cost
//!
//! > (T+1)/2 − 1/T = (T−1)(T+2)/(2T) writes in level i, which is 2.25 at T = 4 and 5.4 at T = 10.
//!
//! The published costs per level are similar, but smaller. The term (T−1)/2 (Dayan, Idreos, "Dostoevsky", SIGMOD
//! 2018) counts the data that is rewritten for an arrival, but not the arrival itself. The term T/2 (Huynh et al.,
//! "Endure", VLDB 2022) assumes at most T − 1 arrivals per level. With this assumption, the last and most expensive
//! merge of a level does not occur. The last level is only partly filled, so data in this level costs less than each
//! of these terms.

use std::sync::Arc;

use catalog::{Build, ByteSize, Variant};

use crate::incremental::{DRAIN_FULLNESS, Incremental};
use crate::job::Job;
use crate::policy::CompactionPolicy;
use crate::shape::Shape;
use crate::size_ratio::LeveledParams;
use crate::{descent, size_ratio, whole};

pub(crate) const VARIANT: Variant<dyn CompactionPolicy> = Variant::new::<Leveled>(
    "leveled",
    "one run per level; fewest runs to read and least space, but about size_ratio/2 writes per level",
    size_ratio::LEVELED_REFERENCE,
);

/// The policy `leveled` with its parameters.
pub(crate) struct Leveled {
    size_ratio: f64,
    /// The capacity of level 1 in full memtables. Each deeper level has T times the capacity of the level above.
    level1_buffers: f64,
    level0_runs: usize,
    seek_price: ByteSize,
    trivial_moves: bool,
    /// The maximum input size of a job, if several jobs compact a full level. With `None`, one job compacts the
    /// complete level.
    incremental: Option<Incremental>,
}

impl Build<dyn CompactionPolicy> for Leveled {
    type Params = LeveledParams;

    fn build(params: LeveledParams) -> Result<Box<dyn CompactionPolicy>, String> {
        Ok(Box::new(Self::new(params.size_ratio, params.level0_runs)?))
    }
}

impl Leveled {
    /// Creates the policy with the size ratio `size_ratio` between levels. Level 0 is compacted when it has
    /// `level0_runs` runs.
    ///
    /// # Errors
    /// A parameter is out of range.
    pub(crate) fn new(size_ratio: f64, level0_runs: u64) -> Result<Self, String> {
        Ok(Self {
            size_ratio: size_ratio::factor("size_ratio", size_ratio)?,
            level0_runs: size_ratio::level0_runs(level0_runs)?,
            level1_buffers: size_ratio,
            seek_price: ByteSize(0),
            trivial_moves: false,
            incremental: None,
        })
    }

    /// Sets the capacity of level 1 to `buffers` full memtables. 0 means T full memtables.
    pub(crate) fn with_level1_buffers(self, buffers: u64) -> Self {
        let level1_buffers = if buffers == 0 { self.size_ratio } else { buffers as f64 };
        Self { level1_buffers, ..self }
    }

    /// Sets the cost of opening a source (memtable or sorted run) in a scan, in bytes that a compaction writes. When
    /// such costs reach the cost of a merge, the sources are merged. 0 disables this read-triggered compaction.
    pub(crate) fn with_seek_price(self, seek_price: ByteSize) -> Self {
        Self { seek_price, ..self }
    }

    /// Sets whether a compaction moves SSTables that need no merge, instead of rewriting them.
    pub(crate) fn with_trivial_moves(self, trivial_moves: bool) -> Self {
        Self { trivial_moves, ..self }
    }

    /// Sets the maximum input size of a job from level 1 on, in bytes. A full level is then compacted by several
    /// jobs. With 0, one job compacts the complete level.
    pub(crate) fn with_max_compaction(self, bytes: ByteSize) -> Self {
        Self { incremental: (bytes.0 > 0).then_some(Incremental { bytes: bytes.0 }), ..self }
    }

    /// Returns the level with the highest fill ratio, if this level needs a job. Returns `None` if no level needs a
    /// job.
    pub(crate) fn due_level(&self, shape: &Shape) -> Option<usize> {
        whole::fullest(shape, |level| self.fullness(shape, level))
    }

    /// Returns how full the level `level` is, as a fraction of its limit. If the fraction is at least 1, the level
    /// needs a compaction.
    fn fullness(&self, shape: &Shape, level: usize) -> f64 {
        let runs = shape.runs_of(level).len();
        match level {
            0 => runs as f64 / self.level0_runs as f64,
            _ if runs > 1 => f64::INFINITY,
            _ => {
                let buffers = size_ratio::grown_bytes(shape.buffer_bytes, self.size_ratio, level - 1);
                let fullness = shape.bytes_of(level) as f64 / (buffers * self.level1_buffers);
                match self.incremental {
                    Some(_) if Incremental::is_draining(shape, level) => fullness.max(DRAIN_FULLNESS),
                    _ => fullness,
                }
            }
        }
    }
}

impl CompactionPolicy for Leveled {
    fn pick(&self, shape: &Shape) -> Option<Job> {
        let level = self.due_level(shape)?;
        // Another policy left more than one run in a level other than level 0.
        if level > 0 && shape.runs_of(level).len() > 1 {
            return Some(whole::merge_within(shape, level));
        }
        if let Some(job) = self.incremental.and_then(|incremental| incremental.next(shape, level)) {
            return Some(job);
        }
        Some(match self.trivial_moves {
            false => whole::merge_into_next(shape, level),
            true => descent::hand_down(shape, level),
        })
    }

    fn cuts(&self, shape: &Shape, job: &Job) -> Vec<Arc<[u8]>> {
        self.incremental.map_or_else(Vec::new, |incremental| incremental.cuts(shape, job))
    }

    fn seek_price(&self) -> u64 {
        self.seek_price.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::Action;
    use crate::testing::{cut_shape, shape};

    fn pick(level0_runs: u64, levels: &[&[u64]]) -> Option<(Vec<u64>, usize, Action)> {
        let job = Leveled::new(4.0, level0_runs).unwrap().pick(&shape(levels))?;
        assert_eq!(job.run, None);
        Some((job.inputs, job.level, job.action))
    }

    #[test]
    fn level_0_is_merged_when_its_runs_are_there() {
        assert_eq!(pick(1, &[&[1]]), Some((vec![1], 1, Action::Move)));
        assert_eq!(pick(1, &[&[1], &[2]]), Some((vec![1, 2], 1, Action::Merge)));
        assert_eq!(pick(3, &[&[1, 1], &[2]]), None);
        assert_eq!(pick(3, &[&[1, 1, 1]]), Some((vec![1, 2, 3], 1, Action::Merge)));
        assert_eq!(pick(3, &[&[1, 1, 1, 1], &[2]]), Some((vec![1, 2, 3, 4, 5], 1, Action::Merge)));
    }

    #[test]
    fn a_full_level_goes_into_the_next() {
        assert_eq!(pick(1, &[&[], &[3], &[15], &[63]]), None);
        assert_eq!(pick(1, &[&[], &[4]]), Some((vec![1], 2, Action::Move)));
        assert_eq!(pick(1, &[&[], &[3], &[17], &[1]]), Some((vec![2, 3], 3, Action::Merge)));
        // Level 1 is as full as level 0. Level 1 is compacted first, so that level 1 is empty when level 0 is
        // compacted.
        assert_eq!(pick(1, &[&[1], &[4], &[4]]), Some((vec![2, 3], 2, Action::Merge)));
        // Level 0 has a higher fill ratio than level 1.
        assert_eq!(pick(1, &[&[1, 1], &[4], &[4]]), Some((vec![1, 2, 3], 1, Action::Merge)));
    }

    #[test]
    fn what_need_not_be_merged_stays_as_it_is_where_that_is_asked_for() {
        let shape = cut_shape(&[(0, 1, &[(30, 39)]), (0, 0, &[(20, 29)]), (1, 0, &[(0, 9)])]);
        let action = |policy: Leveled| policy.pick(&shape).unwrap().action;
        assert_eq!(action(Leveled::new(4.0, 2).unwrap()), Action::Merge);
        assert_eq!(action(Leveled::new(4.0, 2).unwrap().with_trivial_moves(true)), Action::Move);
    }

    #[test]
    fn runs_that_another_policy_left_become_one() {
        assert_eq!(pick(1, &[&[], &[], &[1, 1, 1], &[1]]), Some((vec![1, 2, 3], 2, Action::Merge)));
    }
}
