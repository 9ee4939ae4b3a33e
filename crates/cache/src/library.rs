//! A cache whose eviction policy is in a shared library. The library implements the C ABI of `lsmbench_cache.h`.
//!
//! The functions of the ABI (hooks) are the same as for a plugin cache of libCacheSim. The library gets the ids and
//! sizes of blocks, and decides which block is evicted. The library only selects victims, while this crate stores the
//! blocks in shards with one lock each. If the parameter `library` is empty, the hooks are functions of this crate,
//! which implement the policy `lru`. A comparison with the variant `lru` then shows the cost of the ABI.
//!
//! The id of a block is the hash of the block's name, so a library can recognize a block that was evicted before. If
//! two cached blocks have equal hashes, the later block gets the next free number.
//!
//! # Panics
//! The cache panics if the library evicts an object that is not in the cache, because all later measurements would be
//! invalid.

mod hooks;
mod identity;

use catalog::library::{Interface, open};
use catalog::{Choice, Seam, Variant};
use hashbrown::HashMap;
use serde::{Deserialize, Serialize};
use types::Bytes;

use self::hooks::{Hooks, Plugin};
use crate::cache::{BlockId, Cache};
use crate::lru;
use crate::policy::{Incoming, Policy, Slot};
use crate::queue::PerSlot;
use crate::sharded::{Sharded, sharded_reference};

pub(crate) const VARIANT: Variant<dyn Cache> = Variant::new::<Sharded<Library>>(
    "library",
    "an eviction policy in a shared library, called through hooks like those of libCacheSim's plugins",
    sharded_reference!(
        "# Path of the shared library, relative to the current directory. \"\" calls the built-in policy \"lru\"\n\
         # through the same C ABI.\n\
         library = \"\"\n"
    ),
);

const INTERFACE: Interface =
    Interface { symbol: "lsmbench_cache", header: "lsmbench_cache.h", abi: hooks::ABI };

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Params {
    library: String,
}

/// An eviction policy in a shared library, for one shard of a cache.
pub(crate) struct Library {
    plugin: Plugin,
    /// The slot of each cached object. The key is the id by which the library identifies the object.
    slots: HashMap<u64, Slot, foldhash::fast::FixedState>,
    /// The id by which the library identifies the object in each slot, and the size of the object in bytes.
    objects: PerSlot<(u64, u64)>,
    /// The block that is about to be inserted. `None` if no insertion is in progress.
    incoming: Option<Incoming>,
}

impl Policy for Library {
    type Params = Params;

    fn new(params: &Params, _: usize) -> Result<Self, String> {
        let (api, provider) = open(&params.library, INTERFACE, identity::API)?;
        let hooks = Hooks::checked(api, provider)?;
        let slots = HashMap::default();
        Ok(Self { plugin: Plugin::new(hooks)?, slots, objects: PerSlot::default(), incoming: None })
    }

    fn set_share(&mut self, bytes: u64) {
        self.plugin.resize(bytes);
    }

    fn hit(&mut self, slot: Slot, _: u64) {
        let (object, size) = *self.objects.get(slot);
        self.plugin.hit(object, size);
    }

    fn announce(&mut self, incoming: Incoming) {
        self.incoming = Some(incoming);
    }

    fn victim(&mut self, _: &[u64]) -> Slot {
        let object = self.plugin.evict(self.incoming.map(|incoming| (incoming.hash, incoming.weight)));
        self.slots.remove(&object).unwrap_or_else(|| {
            panic!(
                "cache: the library \"{}\" evicted the object {object}, which is not in the cache; its \
                 cache_eviction_hook must return the id of an object in the cache",
                self.plugin.name()
            )
        })
    }

    fn admit(&mut self, slot: Slot, incoming: Incoming) {
        self.incoming = None;
        let mut object = incoming.hash;
        while self.slots.contains_key(&object) {
            object = object.wrapping_add(1);
        }
        self.slots.insert(object, slot);
        self.objects.set(slot, (object, incoming.weight));
        self.plugin.miss(object, incoming.weight);
    }

    fn remove(&mut self, slot: Slot) {
        let (object, _) = *self.objects.get(slot);
        self.slots.remove(&object);
        self.plugin.remove(object);
    }
}

/// The number of cache gets in each call of the two closures that [`seam`] returns.
const CALLS: u32 = 1000;

/// Returns two closures for a measurement of the cost of the C ABI. Each closure executes [`Seam::calls`] hits of the
/// policy `lru`: one closure through the C ABI, and the other by direct calls. Returns `None` if `choice` is not the
/// variant `library`.
pub fn seam(choice: &Choice) -> Option<Seam> {
    if choice.kind() != VARIANT.kind {
        return None;
    }
    let hits = |variant: &Variant<dyn Cache>| -> Option<Box<dyn FnMut()>> {
        let cache = variant.build(variant.defaults()).ok()?;
        let id = |number: u32| BlockId { tree: 0, table: u64::from(number) / 100, offset: u64::from(number) };
        (0..CALLS).for_each(|number| cache.insert(id(number), Bytes::copy_from(&[0; 64])));
        Some(Box::new(move || {
            let found = (0..CALLS).filter(|number| cache.get(&id(*number)).is_some());
            std::hint::black_box(found.count());
        }))
    };
    let (through, direct) = (hits(&VARIANT)?, hits(&lru::VARIANT)?);
    Some(Seam { axis: "cache", kind: VARIANT.kind, call: "a hit", calls: CALLS, through, direct })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_equal_hashes_are_different_objects() {
        let mut policy = Library::new(&Params::default(), 1).unwrap();
        policy.set_share(100);
        for slot in 0..3 {
            let incoming = Incoming { hash: 7, weight: 10 };
            policy.announce(incoming);
            policy.admit(slot, incoming);
        }
        policy.hit(0, 7);
        policy.remove(2);
        assert_eq!(policy.victim(&[]), 1);
        assert_eq!(policy.victim(&[]), 0);
    }

    #[test]
    fn the_seam_of_the_variant_can_be_timed() {
        let choose = |label: &str| crate::CATALOG.choose(&label.into()).unwrap();
        let mut seam = seam(&choose("library")).unwrap();
        (seam.through)();
        (seam.direct)();
        assert!(super::seam(&choose("lru")).is_none());
    }
}
