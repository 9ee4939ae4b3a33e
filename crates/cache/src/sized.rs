//! Cache variants whose only parameters are a capacity and a hash function.

use std::hash::BuildHasher;
use std::marker::PhantomData;

use catalog::{Build, ByteSize, Variant};
use serde::{Deserialize, Serialize};

use crate::cache::Cache;
use crate::hasher::{HasherKind, WithHasher, hasher_reference};

/// A kind of cache that needs only a capacity and a hash function.
pub trait SizedCache: 'static {
    /// Builds a cache with a capacity of `capacity` bytes and the hash function `hasher`.
    fn build<S: BuildHasher + Clone + Send + Sync + 'static>(capacity: u64, hasher: S) -> Box<dyn Cache>;
}

/// Returns the variant that builds `C` from the parameters `capacity` and `hasher`.
pub const fn variant<C: SizedCache>(kind: &'static str, summary: &'static str) -> Variant<dyn Cache> {
    Variant::new::<WithCapacity<C>>(
        kind,
        summary,
        concat!(
            "# Capacity in bytes of cached blocks. A larger cache gives more hits.\ncapacity = \"64MiB\"\n",
            hasher_reference!()
        ),
    )
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    capacity: ByteSize,
    hasher: HasherKind,
}

impl Default for Params {
    fn default() -> Self {
        Self { capacity: ByteSize(64 << 20), hasher: HasherKind::default() }
    }
}

/// A cache of kind `C` before its hash function is selected.
struct WithCapacity<C> {
    capacity: u64,
    kind: PhantomData<C>,
}

impl<C: SizedCache> Build<dyn Cache> for WithCapacity<C> {
    type Params = Params;

    fn build(params: Params) -> Result<Box<dyn Cache>, String> {
        Ok(params.hasher.build(Self { capacity: params.capacity.0, kind: PhantomData }))
    }
}

impl<C: SizedCache> WithHasher for WithCapacity<C> {
    fn with_hasher<S: BuildHasher + Clone + Send + Sync + 'static>(self, hasher: S) -> Box<dyn Cache> {
        C::build(self.capacity, hasher)
    }
}
