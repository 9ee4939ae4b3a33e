//! Moves memory to the component in which one more byte saves the most I/O.
//!
//! The arbiter predicts the I/O of the observed operations for a grid of memtable sizes. At the optimum, one more byte
//! saves the same amount of I/O in the memtables, in the cache and in the filters.
//!
//! - **Memtables.** Compactions rewrite an entry about once per level. A tree with N bytes of SSTables and memtables of
//!   M bytes has log(N / M) levels. Let W be the I/O of compactions that was observed with memtables of M bytes. With
//!   memtables of M′ bytes, compactions then transfer W · log(N / M′) / log(N / M) bytes. The derivative of this
//!   function at M′ = M is −W / (M · ln(N / M)), as in the white-box model of Luo and Carey.
//! - **Cache.** The arbiter computes the misses of a cache of any size from the reuse distances of sampled block
//!   requests. Luo and Carey instead simulate a ghost cache of one fixed size. Unlike a ghost cache, reuse distances
//!   also show the savings of a much larger cache, for example of a cache into which the whole working set fits.
//! - **Filters.** A false positive reads a block. One more bit per key multiplies the false positives by 0.6185, as in
//!   a Bloom filter. Only new filters get the new size.
//!
//! The arbiter moves towards the least predicted cost, by at most `step` of the budget per decision. The arbiter moves
//! memory only if the predicted saving is at least `margin` of the observed I/O, so noise does not move memory back and
//! forth. Two memtables and the cache each keep at least 1/32 of the budget.
//!
//! The computation uses only basic arithmetic, so that every machine gets an equal result.
//!
//! # Sources
//! Luo, Carey, "Breaking Down Memory Walls: Adaptive Memory Management in LSM-based Storage Systems" (PVLDB 14(3),
//! 2020), section 5: the cost per operation as a function of the write memory, its derivative, the bound on a step and
//! the stop at small savings. The equal marginals: Fox, "Discrete Optimization via Marginal Analysis" (Management
//! Science 1966).

use catalog::{Build, Count, Variant};
use serde::{Deserialize, Serialize};

use super::memory_arbiter::{DecisionPeriod, MemoryArbiter, MemoryObservation, MemorySizes};

pub(super) const VARIANT: Variant<dyn MemoryArbiter> = Variant::new::<Marginal>(
    "marginal",
    "moves memory between memtables, filters and cache, to the part where an additional byte saves the \
     most I/O",
    "# Interval between two decisions: the bytes of flushes, compactions and requested blocks, as a multiple of\n\
     # the memory budget, 0.1 to 1000. With a longer period, the split changes less often and adapts later to a\n\
     # new workload.\n\
     period = 2.0\n\
     # Largest part of the budget that one decision moves, in percent, 0.1 to 25. With a larger step, the\n\
     # split adapts faster to a new workload, but a wrong step costs more.\n\
     step = 10.0\n\
     # Smallest predicted saving for which memory moves, in percent of the observed I/O, 0 to 100.\n\
     margin = 2.0\n\
     # Cost of a byte that a get or a scan reads from storage, as a number of bytes that flushes and compactions\n\
     # transfer, 0 to 1000. With a larger weight, the cache gets more memory.\n\
     read_weight = 1.0\n\
     # Number of blocks in the sample of reuse distances, 16 to 1048576. A larger sample predicts the misses of\n\
     # the cache better. The sample takes 150 bytes of the budget per block.\n\
     sampled_blocks = 1024\n",
);

/// The number of equal parts into which the arbiter divides the memory budget. The arbiter considers the current
/// memtable size, and each size with which two memtables fill a whole number of these parts.
const GRID: u64 = 64;

/// The divisor for the smallest share of the memory budget. The cache keeps at least 1 / `KEPT` of the budget, and two
/// memtables together also keep at least this share.
const KEPT: u64 = 32;

/// The factor by which one more bit per key changes the false-positive rate of a Bloom filter: 2^(−ln 2).
const FPR_PER_BIT: f64 = 0.6185;

/// The smallest and the largest number of bits per key that the arbiter chooses for new filters.
const FILTER_BITS: (f64, f64) = (2.0, 24.0);

/// The memory arbiter `marginal` with its parameters.
struct Marginal(Params);

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    period: f64,
    step: f64,
    margin: f64,
    read_weight: f64,
    sampled_blocks: Count,
}

impl Default for Params {
    fn default() -> Self {
        Self { period: 2.0, step: 10.0, margin: 2.0, read_weight: 1.0, sampled_blocks: Count(1024) }
    }
}

impl Build<dyn MemoryArbiter> for Marginal {
    type Params = Params;

    fn build(params: Params) -> Result<Box<dyn MemoryArbiter>, String> {
        check("period", params.period, 0.1..=1000.0, "times the memory budget")?;
        check("step", params.step, 0.1..=25.0, "percent of the memory budget")?;
        check("margin", params.margin, 0.0..=100.0, "percent of the observed I/O")?;
        check("read_weight", params.read_weight, 0.0..=1000.0, "compaction bytes per read byte")?;
        if !(16..=1 << 20).contains(&params.sampled_blocks.0) {
            return Err(format!(
                "sampled_blocks is {}; it must be from 16 to 1048576",
                params.sampled_blocks.0
            ));
        }
        Ok(Box::new(Self(params)))
    }
}

/// Returns an error if the value `value` of the parameter `name` is outside `range`. The error message gives the range
/// in `unit`.
fn check(name: &str, value: f64, range: std::ops::RangeInclusive<f64>, unit: &str) -> Result<(), String> {
    let (least, most) = (range.start(), range.end());
    match range.contains(&value) {
        true => Ok(()),
        false => Err(format!("{name} is {value}; it must be from {least} to {most} {unit}")),
    }
}

impl Marginal {
    /// Predicts the I/O of the tree with the memory sizes `sizes`, from the I/O that was observed with the sizes `now`.
    /// The result is a weighted number of bytes: the bytes of compactions, plus `read_weight` times the bytes that gets
    /// and scans read from storage. The result omits I/O that does not depend on the sizes, such as flushes.
    fn cost(&self, observed: &MemoryObservation<'_>, now: MemorySizes, sizes: MemorySizes) -> f64 {
        let levels = |memtable: u64| levels(observed.table_bytes as f64 / memtable as f64);
        let compaction =
            observed.compaction_bytes * levels(sizes.memtable_bytes) / levels(now.memtable_bytes);
        let false_positives = match sizes.filter_bits_per_key {
            Some(bits) if observed.filter_keys > 0 => {
                let mean = observed.filter_bytes as f64 * 8.0 / observed.filter_keys as f64;
                observed.false_positive_bytes * fpr_factor(bits - mean)
            }
            _ => 0.0,
        };
        let missed = observed.reuse.missed_bytes(observed.expected_cache_bytes(sizes));
        compaction + self.0.read_weight * (false_positives + missed)
    }

    /// Returns all divisions of the memory budget that the arbiter compares. The arbiter chooses the division with the
    /// least predicted I/O.
    fn candidates(observed: &MemoryObservation<'_>, now: MemorySizes) -> Vec<MemorySizes> {
        let share = |of_grid: u64| observed.budget_bytes / 2 / GRID * of_grid;
        let memtables =
            (GRID / KEPT..GRID).map(share).filter(|bytes| *bytes >= observed.least_memtable_bytes);
        let memtables: Vec<u64> = memtables.chain([now.memtable_bytes]).collect();
        let bits: Vec<Option<f64>> = match now.filter_bits_per_key {
            None => vec![None],
            Some(bits) => {
                let (fewest, most) = (FILTER_BITS.0.min(bits), FILTER_BITS.1.max(bits));
                [bits, bits - 1.0, bits + 1.0].map(|bits| Some(bits.clamp(fewest, most))).to_vec()
            }
        };
        let with = |filter_bits_per_key: Option<f64>| {
            memtables.iter().map(move |memtable_bytes| MemorySizes {
                memtable_bytes: *memtable_bytes,
                filter_bits_per_key,
            })
        };
        bits.into_iter().flat_map(with).filter(|sizes| has_room(observed, *sizes)).collect()
    }

    /// Returns the memory sizes after one decision: a step from the sizes `now` towards the best sizes `wanted`. The
    /// parameter `step` limits the change.
    fn step(&self, observed: &MemoryObservation<'_>, now: MemorySizes, wanted: MemorySizes) -> MemorySizes {
        let most = (observed.budget_bytes as f64 / 2.0 * self.0.step / 100.0) as u64;
        let (least, largest) = (now.memtable_bytes.saturating_sub(most), now.memtable_bytes + most);
        let memtable_bytes = wanted.memtable_bytes.clamp(least, largest);
        let stepped = MemorySizes { memtable_bytes, ..wanted };
        if has_room(observed, stepped) { stepped } else { MemorySizes { memtable_bytes, ..now } }
    }
}

impl MemoryArbiter for Marginal {
    fn period(&self) -> Option<DecisionPeriod> {
        let Params { period, sampled_blocks, .. } = &self.0;
        Some(DecisionPeriod { budgets: *period, sampled_blocks: sampled_blocks.0 as usize })
    }

    fn decide(&self, observed: &MemoryObservation<'_>, now: MemorySizes) -> MemorySizes {
        let cost = |sizes: &MemorySizes| self.cost(observed, now, *sizes);
        let candidates = Self::candidates(observed, now);
        let costs = candidates.iter().map(|sizes| (cost(sizes), sizes));
        let Some((least, best)) = costs.min_by(|(one, _), (other, _)| one.total_cmp(other)) else {
            return now;
        };
        let saving = cost(&now) - least;
        let io =
            observed.flush_bytes + observed.compaction_bytes + self.0.read_weight * observed.fetched_bytes;
        // New SSTables may have added filters that take memory from the cache. The arbiter then acts even without a
        // saving.
        let is_crowded = io > 0.0 && !has_room(observed, now);
        let is_worth = saving > 0.0 && saving >= self.0.margin / 100.0 * io;
        if is_crowded || is_worth { self.step(observed, now, *best) } else { now }
    }
}

/// Returns whether the memory budget has room for two memtables, the filters and the smallest cache. The filters must
/// fit with their current size, and also after all of them have the new number of bits per key.
fn has_room(observed: &MemoryObservation<'_>, sizes: MemorySizes) -> bool {
    let filters = observed.expected_filter_bytes(sizes.filter_bits_per_key).max(observed.filter_bytes);
    2 * sizes.memtable_bytes + filters + observed.budget_bytes / KEPT <= observed.budget_bytes
}

/// Returns the number of levels of a tree whose SSTables together are `ratio` times as large as a memtable:
/// log₂(`ratio`), but at least 1. Between powers of two, the function interpolates linearly.
fn levels(ratio: f64) -> f64 {
    let (mut exponent, mut mantissa) = (0.0, ratio);
    while mantissa >= 2.0 {
        mantissa /= 2.0;
        exponent += 1.0;
    }
    f64::max(exponent + mantissa - 1.0, 1.0)
}

/// Returns the factor by which `more` additional bits per key change the number of false positives of filters. Between
/// whole bits, the function interpolates linearly.
fn fpr_factor(more: f64) -> f64 {
    let whole = more.floor();
    let exponent = whole.clamp(-64.0, 64.0) as i32;
    let factor = (0..exponent.unsigned_abs()).fold(1.0, |factor: f64, _| factor * FPR_PER_BIT);
    let at_whole = if exponent < 0 { 1.0 / factor } else { factor };
    at_whole * (1.0 - (more - whole) * (1.0 - FPR_PER_BIT))
}

#[cfg(test)]
mod tests;
