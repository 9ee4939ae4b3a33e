//! Tests of the decisions of the arbiter `marginal`.

use cache::ReuseCurve;

use super::*;

const BUDGET: u64 = 64 << 20;

/// Returns the arbiter with the given parameters, and defaults for all others.
fn arbiter(change: impl FnOnce(&mut Params)) -> Box<dyn MemoryArbiter> {
    let mut params = Params::default();
    change(&mut params);
    Marginal::build(params).unwrap()
}

fn observed(reuse: &ReuseCurve) -> MemoryObservation<'_> {
    MemoryObservation {
        budget_bytes: BUDGET,
        least_memtable_bytes: 1024,
        filter_bytes: 0,
        filter_keys: 0,
        table_bytes: 4 << 30,
        flush_bytes: 0.0,
        compaction_bytes: 0.0,
        fetched_bytes: 0.0,
        false_positive_bytes: 0.0,
        reuse,
    }
}

fn memtable(bytes: u64) -> MemorySizes {
    MemorySizes { memtable_bytes: bytes, filter_bits_per_key: None }
}

/// Repeats decisions until the sizes no longer change, and returns these sizes. Only the observed compaction bytes
/// change with the sizes.
fn settled(arbiter: &dyn MemoryArbiter, seen: MemoryObservation<'_>, from: MemorySizes) -> MemorySizes {
    let mut now = from;
    for _ in 0..100 {
        let compaction_bytes =
            seen.compaction_bytes * levels(seen.table_bytes as f64 / now.memtable_bytes as f64);
        let next = arbiter.decide(&MemoryObservation { compaction_bytes, ..seen }, now);
        if next == now {
            return now;
        }
        now = next;
    }
    panic!("the arbiter must stop changing the sizes, but still chooses {now:?}");
}

#[test]
fn without_reads_the_memtables_get_the_memory_and_without_writes_the_cache() {
    let empty = ReuseCurve::new(BUDGET);
    let writes = MemoryObservation { compaction_bytes: 1e9, flush_bytes: 1e8, ..observed(&empty) };
    let arbiter = arbiter(|params| params.margin = 0.0);
    let largest = settled(&*arbiter, writes, memtable(1 << 20));
    assert_eq!(observed(&empty).expected_cache_bytes(largest), BUDGET / KEPT);
    let mut reuse = ReuseCurve::new(BUDGET);
    (1..=64).for_each(|part| reuse.add(BUDGET / 64 * part, 1 << 24));
    let reads = MemoryObservation { fetched_bytes: 1e9, ..observed(&reuse) };
    let smallest = settled(&*arbiter, reads, largest);
    assert_eq!(smallest.memtable_bytes, BUDGET / 2 / KEPT);
}

/// Tests that the arbiter finds the optimum from smaller and from larger memtables. With these operations, the
/// derivatives are −W / (M · log₂ N/M · ln 2) per byte of a memtable, and −2 · R / budget for the two bytes that the
/// cache loses. The optimum is where both are equal.
#[test]
fn the_optimum_has_equal_marginals_from_both_sides() {
    let mut reuse = ReuseCurve::new(BUDGET);
    (1..=64).for_each(|part| reuse.add(BUDGET / 64 * part, 1 << 24));
    let (requested, per_level) = (f64::from(64 << 24), 2e8);
    let seen = MemoryObservation { compaction_bytes: per_level, fetched_bytes: 5e8, ..observed(&reuse) };
    // Compactions write per_level · log₂(N / M), so the derivative is per_level / (M · ln 2).
    let optimum = per_level / std::f64::consts::LN_2 / (2.0 * requested / BUDGET as f64);
    for start in [1 << 20, 30 << 20] {
        let found = settled(&*arbiter(|params| params.margin = 0.0), seen, memtable(start));
        let ratio = found.memtable_bytes as f64 / optimum;
        // The logarithm is linear between powers of two, so the found size is off by at most a factor of 2·ln 2.
        assert!((0.7..1.4).contains(&ratio), "{found:?}, not {optimum}");
    }
}

#[test]
fn a_step_is_bounded_and_small_savings_move_nothing() {
    let empty = ReuseCurve::new(BUDGET);
    let writes = MemoryObservation { compaction_bytes: 1e9, ..observed(&empty) };
    let now = memtable(4 << 20);
    let moved = arbiter(|params| params.step = 5.0).decide(&writes, now);
    assert_eq!(moved.memtable_bytes, (4 << 20) + BUDGET / 2 / 20);
    // The compactions are a small part of the I/O, which consists of flushes.
    let flushes = MemoryObservation { flush_bytes: 1e12, ..writes };
    assert_eq!(arbiter(|_| {}).decide(&flushes, now), now);
    assert_ne!(arbiter(|params| params.margin = 0.0).decide(&flushes, now), now);
}

/// Tests that the cache grows although a small step saves nothing, because all requests have one long reuse distance.
#[test]
fn the_cache_grows_towards_a_working_set_that_is_far_away() {
    let mut reuse = ReuseCurve::new(BUDGET);
    reuse.add(BUDGET / 2, 1 << 30);
    let seen = MemoryObservation { compaction_bytes: 1e8, fetched_bytes: 1e9, ..observed(&reuse) };
    let found = settled(&*arbiter(|params| params.step = 2.0), seen, memtable(BUDGET / 2 * 7 / 8));
    let cache = observed(&reuse).expected_cache_bytes(found);
    assert!(
        (BUDGET / 2..BUDGET * 5 / 8).contains(&cache),
        "the working set must fit into the cache of {cache} bytes"
    );
}

/// Tests that memtables become smaller if the filters of new data have taken the memory of the cache.
#[test]
fn memtables_shrink_if_the_cache_has_no_room_left() {
    let empty = ReuseCurve::new(BUDGET);
    let now = MemorySizes { memtable_bytes: BUDGET / 2 - (2 << 20), filter_bits_per_key: Some(10.0) };
    let seen = MemoryObservation { filter_keys: 4 << 20, filter_bytes: 5 << 20, ..observed(&empty) };
    let arbiter = arbiter(|params| params.margin = 100.0);
    let next = arbiter.decide(&MemoryObservation { compaction_bytes: 1e9, ..seen }, now);
    assert!(next.memtable_bytes < now.memtable_bytes && has_room(&seen, next), "{next:?}");
    assert_eq!(arbiter.decide(&seen, now), now, "without I/O, the arbiter must not change the sizes");
}

#[test]
fn filters_grow_if_false_positives_cost_more_than_misses() {
    let mut reuse = ReuseCurve::new(BUDGET);
    (1..=64).for_each(|part| reuse.add(BUDGET / 64 * part, 1 << 14));
    // The memtables have their smallest size already.
    let now = MemorySizes { memtable_bytes: BUDGET / 2 / KEPT, filter_bits_per_key: Some(10.0) };
    let seen = MemoryObservation {
        filter_keys: 1 << 20,
        filter_bytes: 10 << 17,
        fetched_bytes: 1e7,
        ..observed(&reuse)
    };
    let bits = |seen: &MemoryObservation<'_>| arbiter(|_| {}).decide(seen, now).filter_bits_per_key;
    assert_eq!(bits(&MemoryObservation { false_positive_bytes: 1e7, ..seen }), Some(11.0));
    // With filters of 9 bits per key, the cache has room for half of the misses.
    let mut misses = ReuseCurve::new(BUDGET);
    misses.add(61 << 20, 1 << 30);
    let seen = MemoryObservation { reuse: &misses, fetched_bytes: 1e9, ..seen };
    assert_eq!(bits(&MemoryObservation { false_positive_bytes: 1e5, ..seen }), Some(9.0));
}

#[test]
fn the_logarithm_and_the_power_are_exact_at_whole_exponents() {
    assert_eq!((levels(0.5), levels(2.0), levels(1024.0), levels(96.0)), (1.0, 1.0, 10.0, 6.5));
    assert!((fpr_factor(2.0) - FPR_PER_BIT * FPR_PER_BIT).abs() < 1e-12);
    assert!((fpr_factor(-1.0) - 1.0 / FPR_PER_BIT).abs() < 1e-12);
    assert!((fpr_factor(0.5) - (1.0 + FPR_PER_BIT) / 2.0).abs() < 1e-12);
    assert!(fpr_factor(-0.5) > 1.0 && fpr_factor(1e9) >= 0.0);
}

#[test]
fn parameters_out_of_range_are_rejected() {
    let rejected = |change: fn(&mut Params)| {
        let mut params = Params::default();
        change(&mut params);
        Marginal::build(params).err().unwrap()
    };
    assert_eq!(
        rejected(|params| params.step = 30.0),
        "step is 30; it must be from 0.1 to 25 percent of the memory budget"
    );
    assert!(rejected(|params| params.period = f64::NAN).contains("period is NaN"));
    assert!(rejected(|params| params.sampled_blocks = Count(1)).contains("16 to 1048576"));
}
