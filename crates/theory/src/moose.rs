//! Moose's rule for the size ratio and the number of runs of each level, which may differ between levels.
//!
//! Source: Liu et al., "Structural Designs Meet Optimality: Exploring Optimized LSM-tree Structures in a Colossal
//! Configuration Space" (SIGMOD 2024). A level with n runs that is r times as large as the level above costs `n` blocks
//! per lookup without filters. With blocks of b entries, the level also costs `(r − 1)/(b·n)` block writes per entry.
//! The sum of both costs is smallest at `n = √((r − 1)/b)`, but Moose uses `n = √r`.

/// Returns the cost of a level per lookup, in blocks: the blocks that the lookup reads, plus the blocks that writes
/// cause per lookup. `writes` is the number of written entries per lookup.
pub fn level_cost(ratio: f64, runs: f64, entries_per_block: f64, writes: f64) -> f64 {
    runs + writes * (ratio - 1.0) / (entries_per_block * runs)
}

/// Returns the number of runs in a level, at least 1, for which [`level_cost`] is smallest.
pub fn best_runs(ratio: f64, entries_per_block: f64, writes: f64) -> f64 {
    (writes * (ratio - 1.0) / entries_per_block).sqrt().max(1.0)
}

/// Returns the size ratios of `levels` levels for which the total cost is smallest, and this cost. The product of the
/// size ratios is `growth`, and each level has the best number of runs. `steps` is the number of steps of the search.
pub fn best_ratios(
    growth: f64,
    levels: usize,
    entries_per_block: f64,
    writes: f64,
    steps: usize,
) -> (Vec<f64>, f64) {
    // If every level has more than one run, the cost of a level is `2·√(writes·(r − 1)/b)`, which is concave in `ln r`
    // for large r. The optimum therefore gives only the last level a large ratio. The search uses dynamic programming
    // over `steps` equal steps of `ln growth`.
    let step = growth.max(1.0).ln() / steps.max(1) as f64;
    let cost = |taken: usize| {
        let ratio = (step * taken as f64).exp();
        level_cost(ratio, best_runs(ratio, entries_per_block, writes), entries_per_block, writes)
    };
    // `least[taken]` is the least cost of the levels so far, if the product of their size ratios is e^(step·taken).
    let mut least = vec![f64::INFINITY; steps + 1];
    least[0] = 0.0;
    let mut choices: Vec<Vec<usize>> = Vec::new();
    for _ in 0..levels {
        let mut next = vec![(f64::INFINITY, 0); steps + 1];
        for (before, cost_before) in least.iter().enumerate().filter(|(_, cost)| cost.is_finite()) {
            for taken in 0..=steps - before {
                let sum = cost_before + cost(taken);
                if sum < next[before + taken].0 {
                    next[before + taken] = (sum, taken);
                }
            }
        }
        choices.push(next.iter().map(|(_, taken)| *taken).collect());
        least = next.into_iter().map(|(sum, _)| sum).collect();
    }
    let (mut at, mut ratios) = (steps, Vec::new());
    for choice in choices.iter().rev() {
        ratios.push((step * choice[at] as f64).exp());
        at -= choice[at];
    }
    ratios.reverse();
    (ratios, least[steps])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_runs_is_the_best_of_all() {
        for (ratio, block, writes) in
            [(4.0, 1.0, 1.0), (100.0, 4.0, 2.0), (10.0, 32.0, 1.0), (50.0, 1.0, 9.0)]
        {
            let best = best_runs(ratio, block, writes);
            let least = (10..=2000).map(|tenth| level_cost(ratio, f64::from(tenth) / 10.0, block, writes));
            let least = least.fold(f64::INFINITY, f64::min);
            assert!(level_cost(ratio, best, block, writes) <= least + 1e-9, "{ratio} {block}");
        }
    }

    #[test]
    fn the_programme_finds_the_enumerated_optimum() {
        const STEPS: usize = 12;
        let (growth, block, writes) = (4096.0f64, 4.0, 20.0);
        let step = growth.ln() / STEPS as f64;
        let mut least = f64::INFINITY;
        for first in 0..=STEPS {
            for second in 0..=STEPS - first {
                let taken = [first, second, STEPS - first - second];
                let cost = taken.map(|taken| {
                    let ratio = (step * taken as f64).exp();
                    level_cost(ratio, best_runs(ratio, block, writes), block, writes)
                });
                least = least.min(cost.iter().sum());
            }
        }
        let (ratios, cost) = best_ratios(growth, 3, block, writes, STEPS);
        assert!((cost - least).abs() < 1e-9, "{cost} {least}");
        assert!((ratios.iter().product::<f64>() / growth - 1.0).abs() < 1e-9, "{ratios:?}");
    }
}
