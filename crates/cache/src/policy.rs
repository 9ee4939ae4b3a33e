//! The interface between a textbook eviction policy and the sharded cache that uses the policy. Each shard has its own
//! policy, which decides which of the shard's blocks is evicted. The policy identifies a cached block by the number of
//! its slot. It has no locks and no hash table of blocks, and does not store the blocks.

use serde::Serialize;
use serde::de::DeserializeOwned;

/// The number of a cached block in its shard. Slot numbers are small, and the number of a removed block is reused.
pub(crate) type Slot = u32;

/// A block that is not cached and is about to be inserted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Incoming {
    /// The hash of the block's name. Policies remember evicted blocks by this hash.
    pub(crate) hash: u64,
    /// The length of the block in bytes. The length is at least 1, and at most the shard's share of the capacity.
    pub(crate) weight: u64,
}

/// An eviction policy: decides which block a shard evicts next.
///
/// The sharded cache reports every hit by [`hit`](Self::hit). For every miss that ends in an insertion, the cache first
/// calls [`announce`](Self::announce). The cache then calls [`victim`](Self::victim) as often as needed to make room,
/// and finally [`admit`](Self::admit). The papers on eviction policies state target sizes as numbers of blocks, but
/// these policies use bytes, as fractions of the capacity.
pub(crate) trait Policy: Send + Sized + 'static {
    /// The parameters of the policy in TOML, without the parameters that all sharded caches have.
    type Params: Clone + Serialize + DeserializeOwned + Default;

    /// Creates the policy of an empty shard, which has no capacity yet. The cache has `shards` shards. Each shard has
    /// its own policy and receives a share of the requests.
    ///
    /// # Errors
    /// Returns an error that names the parameter and its valid values.
    fn new(params: &Self::Params, shards: usize) -> Result<Self, String>;

    /// Sets the shard's share of the capacity to `bytes`. If the cached blocks no longer fit, the cache then calls
    /// `victim` until they fit.
    fn set_share(&mut self, _bytes: u64) {}

    /// Returns whether the block in `slot` has expired. If so, the cache removes the block and reports a miss.
    fn is_expired(&self, _slot: Slot) -> bool {
        false
    }

    /// Records a hit of the block in `slot`. `hash` is the hash of the block's name.
    fn hit(&mut self, slot: Slot, hash: u64);

    /// Informs the policy about a miss of the block `incoming`, before the block is inserted. If `incoming` does not
    /// fit, the cache then calls `victim`.
    fn announce(&mut self, _incoming: Incoming) {}

    /// Selects the block to evict, removes it from the policy, and returns its slot. At least one block must be cached.
    /// The policy may remember the hash of the block. `hashes[slot]` is the hash of the block in `slot`.
    fn victim(&mut self, hashes: &[u64]) -> Slot;

    /// Informs the policy that the block `incoming` is now in `slot`. The cache has announced `incoming` before.
    fn admit(&mut self, slot: Slot, incoming: Incoming);

    /// Removes the block in `slot` for a reason other than eviction, such as the removal of its SSTable.
    fn remove(&mut self, slot: Slot);
}

/// Returns `percent` percent of `bytes`, rounded down to whole bytes.
pub(crate) fn share(bytes: u64, percent: f64) -> u64 {
    (bytes as f64 * percent / 100.0) as u64
}

/// Returns an error if the parameter `name`, a percentage, is not between `least` and 100.
pub(crate) fn check_percent(name: &str, percent: f64, least: f64) -> Result<(), String> {
    if (least..=100.0).contains(&percent) {
        Ok(())
    } else {
        Err(format!("{name} is {percent}; it must be {least} to 100 percent of the capacity"))
    }
}
