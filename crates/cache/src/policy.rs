//! The seam between a textbook policy and the shell that runs it: one shard's order of eviction, over
//! numbered slots, without locks, hash tables or bytes.

use serde::Serialize;
use serde::de::DeserializeOwned;

/// The number that a shell gives to a block while it is held; small, and given anew once it is free.
pub(crate) type Slot = u32;

/// A block that is not held and is about to be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Incoming {
    /// The hash of its name, by which policies remember blocks that are no longer held.
    pub(crate) hash: u64,
    /// Its length in bytes, at least 1 and at most the shard's share.
    pub(crate) weight: u64,
}

/// Which block of a shard goes next.
///
/// A shell reports every hit by [`hit`](Self::hit), and every miss that ends in an insertion by
/// [`announce`](Self::announce), as many [`victim`](Self::victim)s as it takes to make room, and
/// [`admit`](Self::admit): in that order, since papers evict first and insert then. Targets that papers
/// state in entries are kept in bytes, as shares of the capacity.
pub(crate) trait Policy: Send + Sized + 'static {
    /// What can be set, beside what every shell takes.
    type Params: Clone + Serialize + DeserializeOwned + Default;

    /// A policy of a shard that holds nothing and has no capacity yet; `shards` of them share the requests.
    ///
    /// # Errors
    /// A sentence that names the parameter and what it may be.
    fn new(params: &Self::Params, shards: usize) -> Result<Self, String>;

    /// The shard's share of the capacity is now `bytes`; victims will be asked for if it shrank.
    fn set_share(&mut self, _bytes: u64) {}

    /// Whether the block in `slot`, which was asked for, is to be treated as absent and removed.
    fn is_expired(&self, _slot: Slot) -> bool {
        false
    }

    /// The block in `slot`, whose name hashes to `hash`, was asked for and found.
    fn hit(&mut self, slot: Slot, hash: u64);

    /// `incoming` was asked for and not found; victims follow if there is no room for it.
    fn announce(&mut self, _incoming: Incoming) {}

    /// Chooses a block among those held, of which there is at least one, and forgets it, or remembers no
    /// more than its hash; `hashes[slot]` is that of the block in `slot`.
    fn victim(&mut self, hashes: &[u64]) -> Slot;

    /// `incoming`, announced before, is now held in `slot`.
    fn admit(&mut self, slot: Slot, incoming: Incoming);

    /// The block in `slot` is gone for another reason than eviction.
    fn remove(&mut self, slot: Slot);
}

/// `percent` of `bytes`.
pub(crate) fn share(bytes: u64, percent: f64) -> u64 {
    (bytes as f64 * percent / 100.0) as u64
}

/// Refuses a share that is not between `least` and 100 percent.
pub(crate) fn check_percent(name: &str, percent: f64, least: f64) -> Result<(), String> {
    if (least..=100.0).contains(&percent) {
        Ok(())
    } else {
        Err(format!("{name} is {percent}; it is a share of the capacity, {least} to 100 percent"))
    }
}
