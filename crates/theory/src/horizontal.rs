//! The closed forms of horizontal growth: the number of buffers that the binomial scheme writes, and the minimum for
//! any schedule with the same number of runs. A buffer is a full memtable.
//!
//! Sources: Bentley, Saxe, "Decomposable Searching Problems I" (1980), section 3; Mathieu, Staelin, Young, Yousefi,
//! "Bigtable Merge Compaction" (2014). The derivation is in the module documentation of `compaction/src/horizontal.rs`.

/// Returns the minimum number of full memtables that any schedule of compactions writes, including flushes. `flushes`
/// flushes write distinct keys, and at most `runs` runs remain after each flush. Returns `None` if `runs` is 0.
///
/// Each flush first creates its own run, so a later compaction writes the memtable again.
pub fn least_writes(flushes: u64, runs: u64) -> Option<u64> {
    (runs > 0).then(|| {
        let merges = if runs == 1 { flushes.saturating_sub(1) } else { least_merges(flushes, runs) };
        least_in_place(flushes, runs) + merges
    })
}

/// Returns the minimum number of written memtables if a flush could write directly into an existing run. The result is
/// the sum of the `flushes` smallest numbers v ≥ 1, where each v occurs C(v + runs − 1, runs − 1) times.
fn least_in_place(flushes: u64, runs: u64) -> u64 {
    let (mut left, mut sum, mut weight) = (flushes, 0, 1);
    while left > 0 {
        let taken = left.min(binomial(weight + runs - 1, runs - 1));
        sum += weight * taken;
        left -= taken;
        weight += 1;
    }
    sum
}

/// Returns the smallest number of compactions of any schedule that writes only [`least_in_place`] memtables, the
/// minimum.
fn least_merges(flushes: u64, runs: u64) -> u64 {
    let full = |weight: u64| binomial(weight + runs, runs) - 1;
    let last = (1..=flushes + 1).find(|weight| full(*weight) >= flushes).unwrap_or(1);
    if last == 1 {
        return 0;
    }
    // The weight of a buffer is the number of times that it is written, and w is the largest weight. The schedule makes
    // one merge for each buffer with a weight of at most w − 2, and one merge for each chain of buffers of weight w.
    let (mut merges, mut rest) = (full(last - 2), flushes - full(last - 1));
    for length in (1..=runs).rev() {
        let steps = runs - length;
        let taken = rest.min(binomial(last - 2 + steps, steps) * length);
        merges += taken.div_ceil(length);
        rest -= taken;
    }
    merges
}

/// Returns how many full memtables the compactions of horizontal growth write, if the number of flushes is not known in
/// advance. The tree has at most `runs` runs.
pub(crate) fn binomial_writes(flushes: u64, runs: u64) -> u64 {
    let (mut left, mut writes) = (flushes, 0);
    for rank in (1..=runs).rev() {
        let Some((weight, oldest)) = oldest_run(left, rank) else { break };
        // The policy is optimal for the `oldest − 1` buffers before the last merge of the oldest run.
        writes += least_in_place(oldest - 1, rank) - unmerged(weight - 1, rank);
        writes += if oldest > 1 { oldest } else { 0 };
        left -= oldest;
    }
    writes
}

/// Returns the number of runs that a tree with horizontal growth has after `flushes` flushes. The tree has at most
/// `runs` runs.
pub(crate) fn binomial_runs(flushes: u64, runs: u64) -> u64 {
    let (mut left, mut count) = (flushes, 0);
    for rank in (1..=runs).rev() {
        let Some((_, oldest)) = oldest_run(left, rank) else { break };
        (left, count) = (left - oldest, count + 1);
    }
    count
}

/// Returns the weight w and the size of the oldest run of a tree with horizontal growth and at most `rank` runs. The
/// weight is the number of times that the oldest entries of the run were written. It is the largest number for which
/// the size, C(w − 1 + rank, rank) full memtables, is at most `flushes`. Returns `None` for 0 flushes.
fn oldest_run(flushes: u64, rank: u64) -> Option<(u64, u64)> {
    if rank == 1 {
        return (flushes > 0).then_some((flushes, flushes));
    }
    let sizes = (1..).map(|weight| (weight, binomial(weight - 1 + rank, rank)));
    sizes.take_while(|(_, size)| *size <= flushes).last()
}

/// Returns how many flushes of an optimal schedule cause no merge, so that the flushed memtable first stays a run. The
/// schedule has C(`weight` + `runs`, `runs`) − 1 flushes, and writes each memtable at most `weight` times.
fn unmerged(weight: u64, runs: u64) -> u64 {
    if weight == 0 { 0 } else { binomial(weight + runs - 1, weight) }
}

/// Returns the binomial coefficient of `n` over `k`, or 2^60 if the coefficient is larger.
fn binomial(n: u64, k: u64) -> u64 {
    const MOST: u128 = 1 << 60;
    let mut result = 1u128;
    for step in 1..=k.min(n - k) {
        result = result * u128::from(n + 1 - step) / u128::from(step);
        if result > MOST {
            return MOST as u64;
        }
    }
    result as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computes the minimum by dynamic programming, over the flush after which all runs are compacted for the last
    /// time.
    fn dynamic_programme(flushes: usize, runs: usize) -> Vec<u64> {
        let mut fewer = vec![u64::MAX / 4; flushes + 1];
        fewer[0] = 0;
        for _ in 0..runs {
            let mut least = vec![0; flushes + 1];
            for count in 1..=flushes {
                let merged = |last: usize| if last == 1 { 1 } else { 1 + last as u64 };
                let cost = |last: usize| least[last - 1] + merged(last) + fewer[count - last];
                least[count] = (1..=count).map(cost).min().unwrap();
            }
            fewer = least;
        }
        fewer
    }

    #[test]
    fn the_least_writes_are_those_of_the_dynamic_programme() {
        for runs in 1..=9 {
            let least = dynamic_programme(512, runs);
            for (flushes, least) in least.into_iter().enumerate() {
                assert_eq!(least_writes(flushes as u64, runs as u64), Some(least), "{flushes}, {runs} runs");
            }
        }
        assert_eq!(least_writes(10, 0), None);
    }

    #[test]
    fn the_published_table_leaves_out_the_flush() {
        let per_byte = |flushes: u64, runs: u64| least_in_place(flushes, runs) as f64 / flushes as f64;
        for (flushes, expected) in [(64, [32.5, 6.72, 4.12]), (256, [128.5, 14.2, 7.25])] {
            for (runs, expected) in (1..).zip(expected) {
                assert!((per_byte(flushes, runs) - expected).abs() < 0.05, "{flushes} flushes, {runs} runs");
            }
        }
    }
}
