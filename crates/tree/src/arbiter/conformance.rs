//! Checks the invariants of memory arbiters. The tests of any crate can call this check.
//!
//! ```
//! use lsmbench_tree::arbiter;
//!
//! arbiter::conformance::check(arbiter::CATALOG.variant("marginal")?)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(test)]
mod tests;

use cache::ReuseCurve;
use catalog::Variant;
use catalog::laws::{self, Invariant, ensure};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::CATALOG;
use super::memory_arbiter::{MemoryArbiter, MemoryObservation, MemorySizes};
use crate::conformance::check_in_tree;

/// The memory arbiter under test.
struct Subject(Box<dyn MemoryArbiter>);

/// The names and the checks of all invariants of memory arbiters.
const INVARIANTS: &[Invariant<Subject>] = &[
    ("two decisions with equal arguments must return equal sizes", |subject| {
        for_each_case(|observed, now| {
            let [once, again] = [(); 2].map(|()| subject.0.decide(observed, now));
            ensure(once == again, || {
                format!(
                    "for equal arguments, the first decision is {once:?}, and the second decision is \
                     {again:?}"
                )
            })
        })
    }),
    ("two memtables and the filters must fit into the memory budget", |subject| {
        for_each_case(|observed, now| {
            let next = subject.0.decide(observed, now);
            let needed = 2 * next.memtable_bytes + observed.expected_filter_bytes(next.filter_bits_per_key);
            ensure(
                needed <= observed.budget_bytes && next.memtable_bytes >= observed.least_memtable_bytes,
                || {
                    format!(
                        "with the sizes {next:?}, two memtables and the filters take {needed} bytes of a \
                         budget of {} bytes, and a memtable must have at least {} bytes",
                        observed.budget_bytes, observed.least_memtable_bytes
                    )
                },
            )
        })
    }),
    ("without observed operations, an arbiter must not change the sizes", |subject| {
        for_each_case(|observed, now| {
            let none = ReuseCurve::new(observed.budget_bytes);
            let idle = MemoryObservation {
                flush_bytes: 0.0,
                compaction_bytes: 0.0,
                fetched_bytes: 0.0,
                false_positive_bytes: 0.0,
                reuse: &none,
                ..*observed
            };
            let next = subject.0.decide(&idle, now);
            ensure(next == now, || {
                format!("without observed operations, the sizes changed from {now:?} to {next:?}")
            })
        })
    }),
    ("one decision must change two memtables by at most a quarter of the memory budget", |subject| {
        for_each_case(|observed, now| {
            let next = subject.0.decide(observed, now);
            let moved = 2 * next.memtable_bytes.abs_diff(now.memtable_bytes);
            ensure(moved <= observed.budget_bytes / 4, || {
                format!(
                    "one decision changes the sizes from {now:?} to {next:?}, so two memtables change by \
                     {moved} bytes; the maximum is a quarter of the budget of {} bytes",
                    observed.budget_bytes
                )
            })
        })
    }),
];

/// The number of generated inputs (observed I/O and current sizes) with which each invariant is checked.
const CASES: u64 = 300;

/// Checks every invariant of memory arbiters for one arbiter, with its default parameters. Also checks that a tree with
/// this arbiter gives the same answers as a `BTreeMap`, even after the tree was closed and opened again.
///
/// The function adds the arbiter to the catalog if the catalog lacks it, because a design refers to an arbiter by name.
///
/// # Errors
/// If the arbiter cannot be added to the catalog, or if an invariant is broken. The error has one line per broken
/// invariant, in the form `kind: "invariant": failure`.
pub fn check(variant: &'static Variant<dyn MemoryArbiter>) -> Result<(), String> {
    CATALOG.add_once(variant).map_err(|error| error.to_string())?;
    let by_itself = laws::check_component(CATALOG.axis, variant, Subject, INVARIANTS);
    let broken = [by_itself.err(), check_in_tree(CATALOG.axis, variant.kind).err()];
    laws::all_kept(&broken.into_iter().flatten().collect::<Vec<_>>())
}

/// Calls `check` with generated inputs of a memory arbiter: the observed I/O of a tree, and current memory sizes that
/// fit into the budget. The inputs are pseudo-random and come from fixed seeds.
fn for_each_case(
    check: impl Fn(&MemoryObservation<'_>, MemorySizes) -> Result<(), String>,
) -> Result<(), String> {
    (0..CASES).try_for_each(|seed| {
        let random = &mut Xoshiro256PlusPlus::seed_from_u64(seed);
        let budget_bytes = 1u64 << random.random_range(13..36);
        let mut reuse = ReuseCurve::new(budget_bytes);
        for _ in 0..random.random_range(0..40) {
            reuse.add(random.random_range(0..=budget_bytes * 2), random.random_range(0..budget_bytes));
        }
        let mut bytes = |most: f64| if random.random_bool(0.3) { 0.0 } else { random.random::<f64>() * most };
        let io = 4.0 * budget_bytes as f64;
        let (flush_bytes, compaction_bytes) = (bytes(io / 10.0), bytes(io));
        let (fetched_bytes, false_positive_bytes) = (bytes(io), bytes(io / 100.0));
        let has_filters = random.random_bool(0.5);
        let filter_bits = has_filters.then(|| random.random_range(2.0..20.0));
        // The filters take at most a quarter of the budget, and the memtables at most half.
        let filter_keys = if has_filters { random.random_range(0..=budget_bytes / 16) } else { 0 };
        let existing_bits = random.random_range(1.0..20.0);
        let observed = MemoryObservation {
            budget_bytes,
            least_memtable_bytes: 1024,
            filter_bytes: (filter_keys as f64 * existing_bits / 8.0) as u64,
            filter_keys,
            table_bytes: random.random_range(0..budget_bytes * 64),
            flush_bytes,
            compaction_bytes,
            fetched_bytes,
            false_positive_bytes,
            reuse: &reuse,
        };
        let memtable_bytes = random.random_range(1024..=budget_bytes / 4);
        check(&observed, MemorySizes { memtable_bytes, filter_bits_per_key: filter_bits })
            .map_err(|failure| format!("seed {seed}: {failure}"))
    })
}
