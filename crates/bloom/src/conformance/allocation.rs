//! The invariants of allocations. Each invariant is a function that checks one allocation.

use catalog::laws::{Invariant, ensure};

use crate::allocation::{Allocation, LevelLoad};

/// The allocation of filter memory whose invariants are checked.
pub(crate) struct Subject(pub(crate) Box<dyn Allocation>);

/// All invariants of allocations, each with its name.
pub(crate) const INVARIANTS: &[Invariant<Subject>] = &[
    ("if keeps_budget() returns true, the allocation stays within the memory budget", budgets_are_kept),
    ("bits per key are finite and not negative", no_level_spends_less_than_nothing),
    ("calls with equal arguments return equal bits per key", equal_levels_give_equal_bits),
];

/// The memory budgets, in bits per key on average over the tree, with which each invariant is checked.
const BASES: [f64; 4] = [0.1, 1.0, 5.0, 10.0];

/// Returns the trees for which the allocations are checked: leveled trees, a tree with many runs, and a tree with empty
/// levels.
fn trees() -> Vec<Vec<LevelLoad>> {
    let leveled = |ratio: f64, levels: i32| -> Vec<LevelLoad> {
        (0..levels).map(|level| LevelLoad { entries: 1e4 * ratio.powi(level), runs: 1.0 }).collect()
    };
    vec![
        leveled(10.0, 5),
        leveled(4.0, 1),
        leveled(2.0, 8),
        vec![LevelLoad { entries: 5e3, runs: 4.0 }, LevelLoad { entries: 1e6, runs: 10.0 }],
        vec![LevelLoad::default(), LevelLoad { entries: 1e6, runs: 1.0 }, LevelLoad::default()],
    ]
}

/// Calls `check` with each combination of a memory budget from `BASES` and a tree from `trees`. Returns the first
/// error.
fn each(mut check: impl FnMut(f64, &[LevelLoad]) -> Result<(), String>) -> Result<(), String> {
    for levels in trees() {
        BASES.iter().try_for_each(|base| check(*base, &levels))?;
    }
    Ok(())
}

fn budgets_are_kept(allocation: &Subject) -> Result<(), String> {
    each(|base, levels| {
        let bits = |level: usize| allocation.0.bits_per_key(base, levels, level) * levels[level].entries;
        let entries: f64 = levels.iter().map(|level| level.entries).sum();
        let spent = (0..levels.len()).map(bits).sum::<f64>() / entries;
        ensure(!allocation.0.keeps_budget() || (spent / base - 1.0).abs() < 1e-9, || {
            format!(
                "`keeps_budget` returns true, but the levels use {spent} bits per key on average instead of the \
                 budget of {base}"
            )
        })
    })
}

fn no_level_spends_less_than_nothing(allocation: &Subject) -> Result<(), String> {
    let with_nothing = [vec![LevelLoad::default(); 3]].into_iter().chain(trees());
    for levels in with_nothing {
        for (base, level) in
            BASES.into_iter().flat_map(|base| (0..levels.len()).map(move |level| (base, level)))
        {
            let bits = allocation.0.bits_per_key(base, &levels, level);
            ensure(bits >= 0.0 && bits.is_finite(), || {
                format!("level {level} gets {bits} bits per key; the number must be finite and not negative")
            })?;
        }
    }
    Ok(())
}

fn equal_levels_give_equal_bits(allocation: &Subject) -> Result<(), String> {
    each(|base, levels| {
        (0..levels.len()).try_for_each(|level| {
            let [once, again] = [(); 2].map(|()| allocation.0.bits_per_key(base, levels, level));
            ensure(once.to_bits() == again.to_bits(), || {
                format!(
                    "for level {level}, two equal calls return {once} and {again} bits per key; they must \
                     return the same number"
                )
            })
        })
    })
}
