//! The closed forms of the compaction policies: the written bytes, the levels and the runs after a number of flushes of
//! distinct keys. The unit of sizes is a buffer, which is a full memtable. The module documentation of each policy in
//! the compaction crate derives its closed form. The closed forms are exact. For policies that compact single SSTables,
//! the closed forms are exact only if every run is one SSTable.

use catalog::{ByteSize, Choice};

use crate::fluid::Fluid;
use crate::horizontal::{binomial_runs, binomial_writes, least_writes};

/// Returns whether a policy compacts single SSTables, so that its write amplification depends on the size of SSTables.
pub fn picks_tables(policy: &Choice) -> bool {
    let bytes = policy.params().get("max_compaction").map(|bytes| bytes.clone().try_into::<ByteSize>());
    let is_incremental = matches!(bytes, Some(Ok(ByteSize(1..))));
    is_incremental || matches!(policy.kind(), "leveled-partial" | "one-leveling" | "golden")
}

/// Returns the write amplification of a compaction policy: the bytes that flushes and compactions write per flushed
/// byte. `flushes` flushes write distinct keys into an empty tree. Returns `None` for a policy without a closed form,
/// and for 0 flushes.
pub fn write_amp(policy: &Choice, flushes: u64) -> Option<f64> {
    write_amp_of(policy, flushes, 1.0)
}

/// Returns the same as [`write_amp`], for flushes whose SSTables have a total size of `flush_buffers` full memtables.
/// This size is below 1 if the flush writes values to blob files.
pub(crate) fn write_amp_of(policy: &Choice, flushes: u64, flush_buffers: f64) -> Option<f64> {
    if flushes == 0 {
        return None;
    }
    let ratio = number(policy, "size_ratio");
    let whole = count(policy, "size_ratio");
    let buffers = match policy.kind() {
        "none" | "fifo" => 0,
        "leveled" | "leveled-partial" | "l0-tiered" => {
            let level1 = level1_buffers(policy, ratio?) / flush_buffers;
            leveled(flushes, ratio?, count(policy, "level0_runs")?, level1).0
        }
        "multi-level" => multi_level(flushes, ratio?, count(policy, "level0_runs")?, flush_buffers),
        "golden" => leveled(flushes, number(policy, "growth")?, 2, number(policy, "growth")?).0,
        "one-leveling" => leveled(flushes, ratio?, whole?, ratio? * ratio?).0,
        "tiered" => rounded_down(flushes, whole?),
        "binary-counter" => rounded_down(flushes, 2),
        "horizontal" => {
            let runs = count(policy, "runs")?;
            match count(policy, "flushes") {
                None => binomial_writes(flushes, runs),
                // The schedule writes the minimum for exactly `known` flushes. No closed form is known for fewer or
                // more flushes.
                Some(known) if known == flushes => least_writes(flushes, runs)? - flushes,
                Some(_) => return None,
            }
        }
        "lazy-leveled" => {
            let ratio = whole?;
            powers(ratio, flushes).map(|level| lazy_leveled(flushes, ratio, level)).sum()
        }
        "fluid" => fluid(flushes, whole?, count(policy, "upper_runs")?, count(policy, "largest_runs")?),
        "merge-all" => merge_all(flushes, count(policy, "runs")?),
        "partial" => partial(flushes, count(policy, "run_threshold")?, count(policy, "max_runs")?),
        "time-window" => {
            let (window, runs) = (count(policy, "window")?, count(policy, "min_runs")?);
            // If a window is longer than the load, no window is full. The cost of a full window is then not needed, and
            // its computation could overflow.
            let of_each = if window <= flushes { window + rounded_down(window - 1, runs) } else { 0 };
            flushes / window * of_each + rounded_down(flushes % window, runs)
        }
        _ => return None,
    };
    Some(1.0 + buffers as f64 / flushes as f64)
}

/// Returns the number of levels that contain runs, and the total number of runs, after `flushes` flushes of distinct
/// keys. Returns `None` for a policy without a closed form.
pub fn levels_and_runs(policy: &Choice, flushes: u64) -> Option<(u64, u64)> {
    levels_and_runs_of(policy, flushes, 1.0)
}

/// Returns the same as [`levels_and_runs`], for flushes whose SSTables have a total size of `flush_buffers` full
/// memtables. This size is below 1 if the flush writes values to blob files.
pub(crate) fn levels_and_runs_of(policy: &Choice, flushes: u64, flush_buffers: f64) -> Option<(u64, u64)> {
    let whole = count(policy, "size_ratio");
    Some(match policy.kind() {
        "none" => (u64::from(flushes > 0), flushes),
        "leveled" | "l0-tiered" | "leveled-partial" | "multi-level" => {
            let ratio = number(policy, "size_ratio")?;
            let level1 = level1_buffers(policy, ratio) / flush_buffers;
            let (_, filled, waiting) = leveled(flushes, ratio, count(policy, "level0_runs")?, level1);
            (filled + u64::from(waiting > 0), filled + waiting)
        }
        "tiered" => of_digits(flushes, whole?),
        "binary-counter" => of_digits(flushes, 2),
        "horizontal" if count(policy, "flushes").is_none() => {
            (u64::from(flushes > 0), binomial_runs(flushes, count(policy, "runs")?))
        }
        "lazy-leveled" => {
            let ratio = whole?;
            let largest = powers(ratio, flushes).last();
            let above = largest.map_or(flushes, |size| flushes % size);
            let (levels, runs) = of_digits(above, ratio);
            let one = u64::from(largest.is_some());
            (levels + one, runs + one)
        }
        "merge-all" => {
            let runs = count(policy, "runs")?;
            let left = if flushes < runs { flushes } else { 1 + (flushes - runs) % (runs - 1) };
            (u64::from(flushes > 0), left)
        }
        _ => return None,
    })
}

/// Returns whether the closed forms of a policy are valid if the SSTables of a flush are smaller than a full memtable.
/// They are valid for policies that count runs, and for leveled policies.
pub(crate) fn has_form_of_part(policy: &Choice) -> bool {
    !picks_tables(policy) && !matches!(policy.kind(), "lazy-leveled" | "horizontal" | "time-window" | "fifo")
}

/// Returns the number of flushes between two compactions into the largest level of a leveled tree, while random keys
/// are overwritten. `buffers` is the size of all live entries in the tree, and `flush_buffers` is the size of the
/// SSTables of a flush, both in full memtables. Returns `None` for any policy other than leveled compaction of whole
/// levels.
pub fn flushes_per_merge(policy: &Choice, buffers: f64, flush_buffers: f64) -> Option<u64> {
    // A level above the largest level is compacted when the distinct keys of its flushes fill the level. Of N keys, k
    // flushes of n keys overwrite N·(1 − (1 − n / N)^k) distinct keys.
    let is_flush = flush_buffers > 0.0 && flush_buffers < buffers;
    if !matches!(policy.kind(), "leveled" | "l0-tiered") || picks_tables(policy) || !is_flush {
        return None;
    }
    let ratio = number(policy, "size_ratio").filter(|ratio| *ratio > 1.0)?;
    let (mut arrival, mut capacity) = (count(policy, "level0_runs")?, level1_buffers(policy, ratio));
    while capacity < buffers {
        let flushes = (-capacity / buffers).ln_1p() / (-flush_buffers / buffers).ln_1p();
        arrival *= (flushes / arrival as f64).ceil().max(1.0) as u64;
        capacity *= ratio;
    }
    Some(arrival)
}

/// Returns an upper bound of the space amplification of a policy, which is the stored bytes per live byte, if every
/// level is full and keys are overwritten. The bound does not include runs that wait in level 0. Returns `None` for a
/// policy that the textbook model ([`Fluid`]) does not cover.
pub fn most_space_amp(policy: &Choice) -> Option<f64> {
    let ratio = number(policy, "size_ratio");
    let tree = match policy.kind() {
        "leveled" | "leveled-partial" | "l0-tiered" | "spooky" | "multi-level" => Fluid::leveled(ratio?),
        "golden" => Fluid::leveled(number(policy, "growth")?),
        "tiered" => Fluid::tiered(ratio?),
        "binary-counter" => Fluid::tiered(2.0),
        "lazy-leveled" => Fluid::lazy_leveled(ratio?),
        "fluid" => Fluid {
            size_ratio: ratio?,
            upper_runs: number(policy, "upper_runs")?,
            largest_runs: number(policy, "largest_runs")?,
        },
        _ => return None,
    };
    Some(tree.most_space_amp())
}

/// Returns the write amplification of `leveled`, `tiered`, `lazy-leveled` or `l0-tiered` compaction with size ratio T
/// after `flushes` flushes of distinct keys. The result includes the bytes of flushes, but not the bytes of the WAL.
/// For `l0-tiered`, level 0 collects T runs. Returns `None` for any other policy, for T below 2, and for 0 flushes.
pub fn textbook_write_amp(kind: &str, size_ratio: u64, flushes: u64) -> Option<f64> {
    if size_ratio < 2 || flushes == 0 {
        return None;
    }
    let ratio = size_ratio as f64;
    let buffers: u64 = match kind {
        "tiered" => rounded_down(flushes, size_ratio),
        "leveled" => leveled(flushes, ratio, 1, ratio).0,
        "l0-tiered" => leveled(flushes, ratio, size_ratio, ratio).0,
        "lazy-leveled" => {
            powers(size_ratio, flushes).map(|level| lazy_leveled(flushes, size_ratio, level)).sum()
        }
        _ => return None,
    };
    Some(1.0 + buffers as f64 / flushes as f64)
}

/// Writes `number` with digits in base `base`. Returns the number of nonzero digits, and the sum of all digits.
fn of_digits(mut number: u64, base: u64) -> (u64, u64) {
    let (mut filled, mut sum) = (0, 0);
    while number > 0 {
        filled += u64::from(!number.is_multiple_of(base));
        sum += number % base;
        number /= base;
    }
    (filled, sum)
}

/// Returns the value of the parameter `name` of a policy as a number. Returns `None` if the policy has no such
/// parameter, or if the value is not a number.
pub(crate) fn number(policy: &Choice, name: &str) -> Option<f64> {
    let value = policy.params().get(name)?;
    value.as_float().or_else(|| value.as_integer().map(|whole| whole as f64))
}

/// Returns the value of the parameter `name` of a policy as a count. Returns `None` if the policy has no such
/// parameter, or if the value is not an integer of at least 1.
fn count(policy: &Choice, name: &str) -> Option<u64> {
    let value = policy.params().get(name)?.as_integer()?;
    u64::try_from(value).ok().filter(|count| *count > 0)
}

/// Returns the capacity of level 1 in full memtables. This is the parameter `level1_memtables` of the policy, or the
/// size ratio T if the parameter is missing or 0.
fn level1_buffers(policy: &Choice, ratio: f64) -> f64 {
    count(policy, "level1_memtables").map_or(ratio, |memtables| memtables as f64)
}

/// Returns the powers `base`, `base`², … that are at most `flushes`.
fn powers(base: u64, flushes: u64) -> impl Iterator<Item = u64> {
    std::iter::successors((base > 1).then_some(base), move |size| size.checked_mul(base))
        .take_while(move |size| *size <= flushes)
}

/// Returns how many full memtables compactions write, if each memtable is written once per level. A level that receives
/// runs of b memtables gets `flushes`, rounded down to a multiple of b. The result is the sum over all powers b of
/// `base`.
fn rounded_down(flushes: u64, base: u64) -> u64 {
    powers(base, flushes).map(|level| flushes / level * level).sum()
}

/// Computes the state of leveled compaction after `flushes` flushes. Returns three values: the number of full memtables
/// that compactions have written, the number of levels below level 0 that have a run, and the number of runs that wait
/// in level 0. Level 1 has room for `capacity` memtables.
fn leveled(flushes: u64, size_ratio: f64, level0_runs: u64, mut capacity: f64) -> (u64, u64, u64) {
    let (mut writes, mut filled, mut arrival) = (0, 0, level0_runs);
    let mut moved_first = u64::from(level0_runs == 1);
    while flushes >= arrival {
        let sum = |arrivals: u64| (arrivals * (arrivals + 1) / 2).saturating_sub(moved_first);
        // A level that needs more than `flushes` arriving runs never fills. The limit prevents overflows.
        let to_fill = ((capacity / arrival as f64).ceil() as u64).min(flushes + 1);
        let arrivals = flushes / arrival;
        writes += arrival * (arrivals / to_fill * sum(to_fill) + sum(arrivals % to_fill));
        filled += u64::from(!arrivals.is_multiple_of(to_fill));
        arrival *= to_fill;
        capacity *= size_ratio;
        moved_first = 1;
    }
    (writes, filled, flushes % level0_runs)
}

/// Returns how many full memtables the compactions of the multi-level policy write. If arriving data fills a level,
/// leveled compaction writes the data into this level, and then again into the next level. The multi-level policy
/// writes the data only once, directly into the next level.
fn multi_level(flushes: u64, size_ratio: f64, level0_runs: u64, flush_buffers: f64) -> u64 {
    let (mut writes, mut arrival, mut capacity) = (0, level0_runs, size_ratio / flush_buffers);
    let mut moved_first = u64::from(level0_runs == 1);
    while flushes >= arrival {
        let sum = |arrivals: u64| (arrivals * (arrivals + 1) / 2).saturating_sub(moved_first);
        let to_fill = ((capacity / arrival as f64).ceil() as u64).min(flushes + 1);
        let arrivals = flushes / arrival;
        writes += arrival * (arrivals / to_fill * sum(to_fill - 1) + sum(arrivals % to_fill));
        arrival *= to_fill;
        capacity *= size_ratio;
        moved_first = 0;
    }
    writes
}

/// Returns how many full memtables lazy leveling writes to one level during `flushes` flushes. Each run that arrives in
/// this level consists of `level` memtables.
fn lazy_leveled(flushes: u64, size_ratio: u64, level: u64) -> u64 {
    let arrivals = flushes / level;
    let as_largest = arrivals.min(size_ratio);
    let moved_first = u64::from(level > size_ratio);
    level * (as_largest * (as_largest + 1) / 2 + (arrivals - as_largest) - moved_first)
}

/// Returns how many full memtables the compactions of a Fluid LSM-tree write after `flushes` flushes. The tree has at
/// most `largest_runs` runs in its largest level, and at most `upper_runs` runs in every other level.
fn fluid(flushes: u64, size_ratio: u64, upper_runs: u64, largest_runs: u64) -> u64 {
    let place_in_run = |arrival: u64, runs: u64| (arrival - 1) % (size_ratio - 1).div_ceil(runs) + 1;
    let first_level = |flush: u64| {
        let arrival = (flush - 1) % size_ratio + 1;
        let place = place_in_run(arrival, upper_runs);
        if place == 1 || arrival == size_ratio { 0 } else { place }
    };
    let level = |size: u64| -> u64 {
        let place = |arrival: u64| match arrival <= size_ratio {
            true => place_in_run(arrival, largest_runs),
            false => place_in_run((arrival - 1) % size_ratio + 1, upper_runs),
        };
        size * (1..=flushes / size).map(place).sum::<u64>()
    };
    (1..=flushes).map(first_level).sum::<u64>() + powers(size_ratio, flushes).map(level).sum::<u64>()
}

/// Returns how many full memtables compactions write if they merge all runs into one as soon as the tree has `runs`
/// runs.
fn merge_all(flushes: u64, runs: u64) -> u64 {
    let merges = if runs > 1 { (flushes - 1) / (runs - 1) } else { 0 };
    (0..merges).map(|merge| runs + (runs - 1) * merge).sum()
}

/// Returns how many full memtables the policy `partial` writes in compactions. As soon as a level has `run_threshold`
/// runs, the policy compacts the oldest `max_runs` of these runs into one run of the next level.
fn partial(flushes: u64, run_threshold: u64, max_runs: u64) -> u64 {
    let (mut writes, mut arrivals, mut size) = (0, flushes, 1);
    while arrivals >= run_threshold && max_runs > 1 {
        arrivals = (arrivals - run_threshold) / max_runs + 1;
        size *= max_runs;
        writes += arrivals * size;
    }
    writes
}
