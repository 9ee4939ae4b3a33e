//! Shared code of the key formats whose keys contain only a number and have a fixed length.

use catalog::ByteSize;
use serde::{Deserialize, Serialize};
use types::MAX_KEY_BYTES;

use crate::operation::KeyId;
use crate::permutation::Permutation;

/// The TOML parameters of key formats whose keys are numbers of a fixed length, with their default values.
pub(super) const REFERENCE: &str = "# Length of each key.
bytes = \"16B\"
# Whether keys are scattered. Two keys with successive indexes are then not adjacent in key order.
scattered = false
";

/// Seed of the bijection that scatters keys. The seed is fixed, so every run writes the same keys, and the keys of an
/// existing store stay valid.
const SCATTER_SEED: u64 = 0x5ca7_7e2e_d000_0001;

/// Parameters of a key format whose keys are only a number.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Params {
    /// The length of every key in bytes.
    pub(super) bytes: ByteSize,
    scattered: bool,
}

impl Default for Params {
    fn default() -> Self {
        Self { bytes: ByteSize(16), scattered: false }
    }
}

impl Params {
    /// Returns the parameters unchanged if the length of a key is valid.
    ///
    /// # Errors
    /// Returns an error if stores do not accept keys of this length.
    pub(super) fn checked(self) -> Result<Self, String> {
        if self.bytes.0 == 0 || self.bytes.0 > MAX_KEY_BYTES as u64 {
            return Err(format!(
                "bytes is {}; the length of a key must be 1B to {}",
                self.bytes,
                ByteSize(MAX_KEY_BYTES as u64)
            ));
        }
        Ok(self)
    }

    /// Returns the mapping from the numbers of keys to the numbers that their bytes encode. All encoded numbers are
    /// below `count`.
    pub(super) fn numbers(&self, count: u64) -> Numbers {
        Numbers { count, scatter: self.scattered.then(|| Permutation::new(count, SCATTER_SEED)) }
    }
}

/// Mapping from the number of a key to the number that the bytes of the key encode. The two numbers differ only in
/// formats that scatter keys.
pub(super) struct Numbers {
    /// Exclusive upper bound of the numbers that the keys encode.
    count: u64,
    scatter: Option<Permutation>,
}

impl Numbers {
    /// Returns the number that the bytes of `key` encode.
    #[inline]
    pub(super) fn of(&self, key: KeyId) -> u64 {
        match &self.scatter {
            None => key.number(),
            Some(scatter) => scatter.apply(key.number()),
        }
    }

    /// Returns the encoded number of `key` plus `span`; `None` if the sum is not a valid number.
    pub(super) fn above(&self, key: KeyId, span: u32) -> Option<u64> {
        self.of(key).checked_add(span.into()).filter(|number| *number < self.count)
    }

    /// Returns the number of keys that the mapping has room for. Each key takes two numbers: one for the key itself,
    /// and one for the absent key directly after the key.
    pub(super) fn keys(&self) -> u64 {
        self.count / 2
    }

    /// Returns whether the encoded numbers have the same order as the indexes of the keys. Scattered keys do not have
    /// this order.
    pub(super) fn ordered(&self) -> bool {
        self.scatter.is_none()
    }
}
