//! The order in which trials run. Trials run in rounds, so that a drift (heat, other tenants, a filling disk) affects
//! all configurations equally.
//!
//! In identifiers, a round is a block, and a configuration is a cell. Every round runs every configuration once. All
//! trials of a round have the number of the round. The trials of two configurations in one round are a pair.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;

/// The rule for the order of the configurations within a round of trials.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrangement {
    /// Each round runs the configurations in a random order of its own.
    Shuffled,
    /// A random order alternates with its reverse: `ABC CBA ABC …`. This order cancels a drift that is linear in time.
    Mirrored,
}

/// One trial in the plan: the number of its round and the number of its configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// The number of the round, which is also the number of the trial.
    pub block: usize,
    /// The number of the configuration.
    pub cell: usize,
}

/// The order of all trials of an experiment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The trials of all rounds, in the order in which they run.
    pub slots: Vec<Slot>,
}

impl Plan {
    /// Creates an order in which each of `cells` configurations runs once in each of `blocks` rounds. Equal arguments
    /// give the same order, and more rounds only extend the order at its end.
    pub fn new(cells: usize, blocks: usize, seed: u64, arrangement: Arrangement) -> Self {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut order: Vec<usize> = (0..cells).collect();
        order.shuffle(&mut random);
        let mut slots = Vec::with_capacity(cells * blocks);
        for block in 0..blocks {
            slots.extend(order.iter().map(|cell| Slot { block, cell: *cell }));
            match arrangement {
                Arrangement::Shuffled => order.shuffle(&mut random),
                Arrangement::Mirrored => order.reverse(),
            }
        }
        Self { slots }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cells(plan: &Plan) -> Vec<usize> {
        plan.slots.iter().map(|slot| slot.cell).collect()
    }

    #[test]
    fn two_mirrored_cells_run_abba() {
        let order = cells(&Plan::new(2, 4, 7, Arrangement::Mirrored));
        let (a, b) = (order[0], order[1]);
        assert_ne!(a, b);
        assert_eq!(order, [a, b, b, a, a, b, b, a]);
    }

    #[test]
    fn shuffled_blocks_put_every_cell_everywhere() {
        let plan = Plan::new(4, 400, 42, Arrangement::Shuffled);
        for cell in 0..4 {
            for place in 0..4 {
                let times = plan.slots.chunks(4).filter(|block| block[place].cell == cell).count();
                assert!((60..140).contains(&times), "cell {cell} in place {place}: {times} of 400");
            }
        }
        assert_ne!(plan, Plan::new(4, 400, 43, Arrangement::Shuffled));
    }

    proptest! {
        #[test]
        fn every_block_runs_every_cell_once(
            count in 0..20_usize, blocks in 0..10_usize, seed: u64, mirrored: bool,
        ) {
            let arrangement = if mirrored { Arrangement::Mirrored } else { Arrangement::Shuffled };
            let plan = Plan::new(count, blocks, seed, arrangement);
            prop_assert_eq!(plan.slots.len(), count * blocks);
            for (number, block) in plan.slots.chunks(count.max(1)).enumerate() {
                let mut found: Vec<usize> = block.iter().map(|slot| slot.cell).collect();
                found.sort_unstable();
                prop_assert_eq!(found, (0..count).collect::<Vec<_>>());
                prop_assert!(block.iter().all(|slot| slot.block == number));
            }
            let longer = Plan::new(count, blocks + 3, seed, arrangement);
            prop_assert_eq!(&longer.slots[..plan.slots.len()], &plan.slots[..]);
        }
    }
}
