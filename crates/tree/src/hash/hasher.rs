//! The trait of the hash axis.

use types::KeyHash;

/// A hash function over keys. A key has the same hash on every machine and in every version.
pub trait KeyHasher: Send + Sync {
    /// Returns the hash of `key`.
    fn hash(&self, key: &[u8]) -> KeyHash;
}

/// Declares a hash function without parameters: its variant and its entry in the catalog.
macro_rules! hash_function {
    ($name:ident, $kind:literal, $summary:literal, $hash:expr) => {
        pub(super) const VARIANT: catalog::Variant<dyn super::hasher::KeyHasher> =
            catalog::Variant::plain($kind, $summary, || Box::new($name));

        /// The function has no state.
        struct $name;

        impl super::hasher::KeyHasher for $name {
            #[inline]
            fn hash(&self, key: &[u8]) -> types::KeyHash {
                let hash: fn(&[u8]) -> u64 = $hash;
                types::KeyHash(hash(key))
            }
        }
    };
}
