//! Tests that the conformance check detects a hash function that breaks an invariant.

use types::KeyHash;

use super::{INVARIANTS, Subject};
use crate::hash::KeyHasher;

/// A hash function with an injected fault.
#[derive(Clone, Copy, Debug)]
enum Canary {
    /// The hash depends on the address of the key.
    HashesItsAddress,
    /// The hash has only 16 bits.
    IsNarrow,
    /// The hash is the key itself: its last 8 bytes, read as a number.
    IsTheKey,
}

impl KeyHasher for Canary {
    fn hash(&self, key: &[u8]) -> KeyHash {
        let hash = xxhash_rust::xxh3::xxh3_64(key);
        KeyHash(match self {
            Self::HashesItsAddress => hash ^ (key.as_ptr() as u64 & 7),
            Self::IsNarrow => hash & 0xffff,
            Self::IsTheKey => key.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)),
        })
    }
}

#[test]
fn every_canary_is_caught_by_its_invariant() {
    let canaries = [Canary::HashesItsAddress, Canary::IsNarrow, Canary::IsTheKey];
    assert_eq!(canaries.len(), INVARIANTS.len());
    for (canary, (name, check)) in canaries.into_iter().zip(INVARIANTS) {
        assert!(
            check(&Subject(Box::new(canary))).is_err(),
            "the invariant \"{name}\" does not catch {canary:?}"
        );
    }
}
