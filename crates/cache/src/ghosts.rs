//! A ghost list: the names of evicted blocks, oldest first. The total size of the named blocks is limited. A policy
//! uses the list to recognize a block that is requested again after its eviction.

use hashbrown::HashTable;

use crate::policy::Slot;
use crate::queue::{Links, PerSlot, Queue};

/// The ghost list: a queue with the hashes of the names of evicted blocks. A hash takes about 30 bytes. If two names
/// have the same 64-bit hash, the list treats them as one name.
#[derive(Default)]
pub(crate) struct Ghosts {
    index: HashTable<Slot>,
    hashes: PerSlot<u64>,
    links: Links,
    queue: Queue,
    vacant: Vec<Slot>,
    used: Slot,
}

impl Ghosts {
    /// Adds an evicted block to the ghost list as the newest ghost. If the list already contains the block, its old
    /// entry is replaced.
    pub(crate) fn push(&mut self, hash: u64, weight: u64) {
        self.take(hash);
        let slot = self.vacant.pop().unwrap_or_else(|| {
            self.used += 1;
            self.used - 1
        });
        self.hashes.set(slot, hash);
        self.links.push(&mut self.queue, slot, weight);
        let hashes = &self.hashes;
        self.index.insert_unique(hash, slot, |slot| *hashes.get(*slot));
    }

    /// Removes a block from the ghost list. Returns whether the list contained the block.
    pub(crate) fn take(&mut self, hash: u64) -> bool {
        let hashes = &self.hashes;
        let Ok(entry) = self.index.find_entry(hash, |slot| *hashes.get(*slot) == hash) else {
            return false;
        };
        let (slot, _) = entry.remove();
        self.links.remove(&mut self.queue, slot);
        self.vacant.push(slot);
        true
    }

    /// Removes the oldest evicted block from the ghost list. Returns `false` if the list is empty.
    pub(crate) fn forget_oldest(&mut self) -> bool {
        match self.queue.oldest() {
            Some(slot) => self.take(*self.hashes.get(slot)),
            None => false,
        }
    }

    /// Removes the oldest evicted blocks from the ghost list until the remaining blocks have a total size of at most
    /// `bytes` bytes.
    pub(crate) fn trim(&mut self, bytes: u64) {
        while self.queue.weight() > bytes {
            self.forget_oldest();
        }
    }

    /// Returns the total size, in bytes, of the evicted blocks in the ghost list.
    pub(crate) fn weight(&self) -> u64 {
        self.queue.weight()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_is_forgotten_first_and_a_renewed_one_is_not_old() {
        let mut ghosts = Ghosts::default();
        (0..5).for_each(|hash| ghosts.push(hash, 10));
        ghosts.push(0, 10);
        assert_eq!(ghosts.weight(), 50);
        ghosts.trim(29);
        assert_eq!((1..5).filter(|hash| ghosts.take(*hash)).collect::<Vec<_>>(), [4]);
        assert!(ghosts.forget_oldest() && !ghosts.forget_oldest());
        assert_eq!(ghosts.weight(), 0);
    }
}
