//! The interface between a textbook eviction policy and the sharded cache that runs it. A policy orders the numbered
//! slots of one shard, without locks, hash tables or blocks.

use serde::Serialize;
use serde::de::DeserializeOwned;

/// The number of a cached block in its shard. Slot numbers are small and reused.
pub(crate) type Slot = u32;

/// A block that is not cached and is about to be inserted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Incoming {
    /// The hash of the block's name, by which policies remember evicted blocks.
    pub(crate) hash: u64,
    /// The length of the block in bytes, at least 1 and at most the shard's share.
    pub(crate) weight: u64,
}

/// An eviction policy: the order in which the blocks of a shard are evicted.
///
/// The sharded cache reports every hit by [`hit`](Self::hit). For every miss that ends in an insertion, it calls
/// [`announce`](Self::announce), then [`victim`](Self::victim) as often as needed to make room, and then
/// [`admit`](Self::admit). The papers use this order: first evict and then insert. Targets that papers state in entries
/// are kept in bytes, as fractions of the capacity.
pub(crate) trait Policy: Send + Sized + 'static {
    /// The parameters of the policy, without the parameters of the sharded cache.
    type Params: Clone + Serialize + DeserializeOwned + Default;

    /// Creates the policy of an empty shard that has no capacity yet. `shards` policies share the requests.
    ///
    /// # Errors
    /// A sentence that names the parameter and its valid values.
    fn new(params: &Self::Params, shards: usize) -> Result<Self, String>;

    /// Sets the shard's share of the capacity to `bytes`. If the share shrank, calls of `victim` follow.
    fn set_share(&mut self, _bytes: u64) {}

    /// Whether the cache must remove the requested block in `slot` and report it as absent.
    fn is_expired(&self, _slot: Slot) -> bool {
        false
    }

    /// Records a hit of the block in `slot`, whose name hashes to `hash`.
    fn hit(&mut self, slot: Slot, hash: u64);

    /// Announces a miss of `incoming`. Calls of `victim` follow if there is no room for it.
    fn announce(&mut self, _incoming: Incoming) {}

    /// Chooses the block to evict. At least one block is cached. The policy forgets the block, or remembers only its
    /// hash; `hashes[slot]` is the hash of the block in `slot`.
    fn victim(&mut self, hashes: &[u64]) -> Slot;

    /// Inserts `incoming`, announced before, into `slot`.
    fn admit(&mut self, slot: Slot, incoming: Incoming);

    /// Removes the block in `slot` for another reason than eviction.
    fn remove(&mut self, slot: Slot);
}

/// Returns `percent` of `bytes`.
pub(crate) fn share(bytes: u64, percent: f64) -> u64 {
    (bytes as f64 * percent / 100.0) as u64
}

/// Rejects a share that is not between `least` and 100 percent.
pub(crate) fn check_percent(name: &str, percent: f64, least: f64) -> Result<(), String> {
    if (least..=100.0).contains(&percent) {
        Ok(())
    } else {
        Err(format!("{name} is {percent}; it must be {least} to 100 percent of the capacity"))
    }
}
