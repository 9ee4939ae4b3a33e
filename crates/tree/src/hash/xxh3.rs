//! XXH3, 64 bits: xxHash 0.8.

use catalog::{Build, Variant};
use serde::{Deserialize, Serialize};
use types::KeyHash;

use super::hasher::KeyHasher;

pub(super) const VARIANT: Variant<dyn KeyHasher> =
    Variant::new::<Xxh3>("xxh3", "fastest on short keys and long ones alike", "");

/// The function has no state.
struct Xxh3;

/// There is nothing to set.
#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {}

impl Build<dyn KeyHasher> for Xxh3 {
    type Params = Params;

    fn build(_: Params) -> Result<Box<dyn KeyHasher>, String> {
        Ok(Box::new(Self))
    }
}

impl KeyHasher for Xxh3 {
    #[inline]
    fn hash(&self, key: &[u8]) -> KeyHash {
        KeyHash(xxhash_rust::xxh3::xxh3_64(key))
    }
}
