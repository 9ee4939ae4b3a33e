//! XXH64: the 64-bit hash of xxHash before XXH3.

use catalog::{Build, Variant};
use serde::{Deserialize, Serialize};
use types::KeyHash;

use super::hasher::KeyHasher;

pub(super) const VARIANT: Variant<dyn KeyHasher> =
    Variant::new::<Xxh64>("xxh64", "the older 64-bit xxHash, a little slower on short keys", "");

/// The function has no state.
struct Xxh64;

/// There is nothing to set.
#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {}

impl Build<dyn KeyHasher> for Xxh64 {
    type Params = Params;

    fn build(_: Params) -> Result<Box<dyn KeyHasher>, String> {
        Ok(Box::new(Self))
    }
}

impl KeyHasher for Xxh64 {
    #[inline]
    fn hash(&self, key: &[u8]) -> KeyHash {
        KeyHash(xxhash_rust::xxh64::xxh64(key, 0))
    }
}
