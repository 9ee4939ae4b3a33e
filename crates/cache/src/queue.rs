//! Doubly linked queues of slots. A block can be removed from any position in constant time.

use crate::policy::Slot;

/// The value that marks the end of a queue in place of a slot number.
const NONE: Slot = Slot::MAX;

/// The neighbors of a cached block in its queue, and the weight of the block in bytes.
#[derive(Clone, Copy)]
struct Node {
    newer: Slot,
    older: Slot,
    weight: u64,
}

/// The links between the blocks of a queue. Several queues can share this value if no block is in two queues at the
/// same time.
#[derive(Default)]
pub(crate) struct Links {
    nodes: Vec<Node>,
}

/// A queue of cached blocks: the slots of its oldest and its newest block, and the sum of the weights of its blocks in
/// bytes.
pub(crate) struct Queue {
    newest: Slot,
    oldest: Slot,
    weight: u64,
}

impl Default for Queue {
    fn default() -> Self {
        Self { newest: NONE, oldest: NONE, weight: 0 }
    }
}

impl Queue {
    /// Returns the slot of the block that was added first to the queue. Returns `None` if the queue is empty.
    pub(crate) fn oldest(&self) -> Option<Slot> {
        (self.oldest != NONE).then_some(self.oldest)
    }

    /// Returns the sum of the weights of all blocks in the queue, in bytes.
    pub(crate) fn weight(&self) -> u64 {
        self.weight
    }

    /// Returns whether the queue is empty.
    pub(crate) fn is_empty(&self) -> bool {
        self.oldest == NONE
    }
}

impl Links {
    /// Adds the block in `slot` at the newest end of `queue`. The block must not be in a queue.
    pub(crate) fn push(&mut self, queue: &mut Queue, slot: Slot, weight: u64) {
        let at = slot as usize;
        if at >= self.nodes.len() {
            self.nodes.resize(at + 1, Node { newer: NONE, older: NONE, weight: 0 });
        }
        self.nodes[at] = Node { newer: NONE, older: queue.newest, weight };
        match queue.newest {
            NONE => queue.oldest = slot,
            newest => self.nodes[newest as usize].newer = slot,
        }
        queue.newest = slot;
        queue.weight += weight;
    }

    /// Removes the block in `slot` from `queue`, and returns the weight of the block in bytes. The block must be in the
    /// queue.
    pub(crate) fn remove(&mut self, queue: &mut Queue, slot: Slot) -> u64 {
        let Node { newer, older, weight } = self.nodes[slot as usize];
        match older {
            NONE => queue.oldest = newer,
            older => self.nodes[older as usize].newer = newer,
        }
        match newer {
            NONE => queue.newest = older,
            newer => self.nodes[newer as usize].older = older,
        }
        queue.weight -= weight;
        weight
    }

    /// Removes the oldest block of `queue`, and returns its slot and its weight. Returns `None` if the queue is empty.
    pub(crate) fn pop(&mut self, queue: &mut Queue) -> Option<(Slot, u64)> {
        let oldest = queue.oldest()?;
        Some((oldest, self.remove(queue, oldest)))
    }

    /// Moves the block in `slot` to the newest end of `queue`. The block must be in the queue.
    pub(crate) fn renew(&mut self, queue: &mut Queue, slot: Slot) {
        if queue.newest != slot {
            let weight = self.remove(queue, slot);
            self.push(queue, slot, weight);
        }
    }

    /// Returns the slot of the block that was added directly after the block in `slot`. Returns `None` if the block in
    /// `slot` is the newest.
    pub(crate) fn newer(&self, slot: Slot) -> Option<Slot> {
        let newer = self.nodes[slot as usize].newer;
        (newer != NONE).then_some(newer)
    }

    /// Returns the weight in bytes with which the block in `slot` was added to its queue.
    pub(crate) fn weight(&self, slot: Slot) -> u64 {
        self.nodes[slot as usize].weight
    }
}

/// A list with one value for the block in each slot. The list grows when the value of a larger slot number is set.
#[derive(Default)]
pub(crate) struct PerSlot<T>(Vec<T>);

impl<T: Clone + Default> PerSlot<T> {
    /// Sets the value that belongs to the block in `slot`.
    pub(crate) fn set(&mut self, slot: Slot, value: T) {
        let at = slot as usize;
        if at >= self.0.len() {
            self.0.resize(at + 1, T::default());
        }
        self.0[at] = value;
    }

    /// Returns a mutable reference to the value of the block in `slot`. The value must have been set.
    pub(crate) fn at(&mut self, slot: Slot) -> &mut T {
        &mut self.0[slot as usize]
    }

    /// Returns the value that belongs to the block in `slot`. The value must have been set.
    pub(crate) fn get(&self, slot: Slot) -> &T {
        &self.0[slot as usize]
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    #[test]
    fn two_queues_agree_with_two_deques() {
        let random = &mut Xoshiro256PlusPlus::seed_from_u64(1);
        let (mut links, mut queues) = (Links::default(), [Queue::default(), Queue::default()]);
        let mut models: [VecDeque<(Slot, u64)>; 2] = Default::default();
        for _ in 0..20_000 {
            let (slot, which) = (random.random_range(0..40), random.random_range(0..2));
            let place = (0..2).find(|&q| models[q].iter().any(|(held, _)| *held == slot));
            match place {
                None => {
                    let weight = random.random_range(1..100);
                    links.push(&mut queues[which], slot, weight);
                    models[which].push_back((slot, weight));
                }
                Some(q) if random.random_bool(0.4) => {
                    links.renew(&mut queues[q], slot);
                    let at = models[q].iter().position(|(held, _)| *held == slot).unwrap();
                    let renewed = models[q].remove(at).unwrap();
                    models[q].push_back(renewed);
                }
                Some(q) if random.random_bool(0.5) => {
                    links.remove(&mut queues[q], slot);
                    models[q].retain(|(held, _)| *held != slot);
                }
                Some(q) => assert_eq!(links.pop(&mut queues[q]), models[q].pop_front()),
            }
            for (queue, model) in queues.iter().zip(&models) {
                let slots = std::iter::successors(queue.oldest(), |&slot| links.newer(slot));
                assert!(slots.eq(model.iter().map(|(slot, _)| *slot)));
                assert_eq!(queue.weight(), model.iter().map(|(_, weight)| weight).sum::<u64>());
                assert_eq!(queue.is_empty(), model.is_empty());
            }
        }
    }
}
