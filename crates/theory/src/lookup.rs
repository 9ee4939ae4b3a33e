//! Computes the number of data blocks that a lookup reads, from the properties of the existing runs.
//!
//! A lookup searches a run only if no newer run has the key. The filter of a run without the key still reports the key
//! with a certain probability, the false-positive rate. Each such report costs one block read. The cost of a lookup is
//! the sum of these rates over all runs that are newer than the run with the key, plus 1 for that run. Source: Monkey
//! (Dayan, Athanassoulis, Idreos, SIGMOD 2017), section 4, which uses one rate per level.

/// The properties of a sorted run that determine the cost of a lookup.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunView {
    /// The fraction of the lookups of present keys that find their key in this run.
    pub share: f64,
    /// The probability that a lookup of an absent key reads a block of this run. The probability is 1 without a filter.
    pub fpr: f64,
}

/// Returns the number of blocks that a lookup of an absent key reads on average.
pub fn blocks_per_absent_get(runs: &[RunView]) -> f64 {
    runs.iter().map(|run| run.fpr).sum()
}

/// Returns the number of blocks that a lookup of a present key reads on average. The runs are ordered from newest to
/// oldest. Returns `None` if no run contains a key.
pub fn blocks_per_present_get(runs: &[RunView]) -> Option<f64> {
    let (mut before, mut blocks, mut shares) = (0.0, 0.0, 0.0);
    for run in runs {
        blocks += run.share * (1.0 + before);
        shares += run.share;
        before += run.fpr;
    }
    (shares > 0.0).then(|| blocks / shares)
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;
    use crate::Fluid;

    /// Compares the sums with lookups that are simulated one by one.
    #[test]
    fn the_sums_are_what_lookups_do() {
        const LOOKUPS: u32 = 200_000;
        let random = &mut Xoshiro256PlusPlus::seed_from_u64(3);
        let runs = [(0.1, 0.3), (0.2, 0.05), (0.7, 0.5)].map(|(share, fpr)| RunView { share, fpr });
        let (mut absent, mut present) = (0u32, 0u32);
        for _ in 0..LOOKUPS {
            absent += runs.iter().map(|run| u32::from(random.random_bool(run.fpr))).sum::<u32>();
            let place: f64 = random.random();
            let own = if place < 0.1 { 0 } else { 1 + usize::from(place >= 0.3) };
            let in_vain = runs[..own].iter().map(|run| u32::from(random.random_bool(run.fpr)));
            present += 1 + in_vain.sum::<u32>();
        }
        let per = |blocks: u32| f64::from(blocks) / f64::from(LOOKUPS);
        assert!((per(absent) - blocks_per_absent_get(&runs)).abs() < 0.005, "{}", per(absent));
        assert!((per(present) - blocks_per_present_get(&runs).unwrap()).abs() < 0.005, "{}", per(present));
        assert_eq!(blocks_per_present_get(&[]), None);
    }

    /// Rule: for a full tree, the sum over its runs equals the formula of the textbook.
    #[test]
    fn a_full_tree_costs_what_the_textbook_says() {
        for tree in [Fluid::leveled(4.0), Fluid::tiered(4.0), Fluid::lazy_leveled(4.0)] {
            let runs: Vec<RunView> = (1..=5)
                .flat_map(|level| {
                    let count = if level == 5 { tree.largest_runs } else { tree.upper_runs };
                    let share = tree.share_of_level(level, 5) / count;
                    std::iter::repeat_n(RunView { share, fpr: 0.02 }, count as usize)
                })
                .collect();
            let present = blocks_per_present_get(&runs).unwrap();
            assert!((present - tree.blocks_per_present_get(5, 0.02)).abs() < 1e-12, "{present}");
            assert!((blocks_per_absent_get(&runs) - tree.blocks_per_absent_get(5, 0.02)).abs() < 1e-12);
        }
    }
}
