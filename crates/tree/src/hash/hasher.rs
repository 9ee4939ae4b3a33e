//! The trait of hash functions of keys.

use types::KeyHash;

/// A hash function of keys. A key has the same hash on every machine and in every version.
pub trait KeyHasher: Send + Sync {
    /// Returns the hash of `key`.
    fn hash(&self, key: &[u8]) -> KeyHash;
}

/// Declares a hash function without parameters: its type and its variant for the catalog.
macro_rules! hash_function {
    ($name:ident, $kind:literal, $summary:literal, $hash:expr) => {
        pub(super) const VARIANT: catalog::Variant<dyn super::hasher::KeyHasher> =
            catalog::Variant::plain($kind, $summary, || Box::new($name));

        /// A hash function of keys, which has no parameters.
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
