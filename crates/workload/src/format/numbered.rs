//! What the formats share whose keys are nothing but a number of a fixed length.

use catalog::ByteSize;
use serde::{Deserialize, Serialize};
use types::MAX_KEY_BYTES;

use crate::operation::KeyId;
use crate::permutation::Permutation;

/// The parameters with their defaults, as TOML.
pub(super) const REFERENCE: &str = "# The length of every key.
bytes = \"16B\"
# Whether neighbours in index order stand anywhere in key order.
scattered = false
";

/// The seed of the scattering: the same in every run, so that the keys of a store stay what they are.
const SCATTER_SEED: u64 = 0x5ca7_7e2e_d000_0001;

/// What a workload sets.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Params {
    /// The length of every key.
    pub(super) bytes: ByteSize,
    scattered: bool,
}

impl Default for Params {
    fn default() -> Self {
        Self { bytes: ByteSize(16), scattered: false }
    }
}

impl Params {
    /// The parameters, if a store takes keys of this length.
    ///
    /// # Errors
    /// If none does.
    pub(super) fn checked(self) -> Result<Self, String> {
        if self.bytes.0 == 0 || self.bytes.0 > MAX_KEY_BYTES as u64 {
            return Err(format!(
                "bytes is {}; a key has 1B to {}",
                self.bytes,
                ByteSize(MAX_KEY_BYTES as u64)
            ));
        }
        Ok(self)
    }

    /// The numbers of keys, of which there may be `count`.
    pub(super) fn numbers(&self, count: u64) -> Numbers {
        Numbers { count, scatter: self.scattered.then(|| Permutation::new(count, SCATTER_SEED)) }
    }
}

/// The numbers that keys are written as.
pub(super) struct Numbers {
    /// Numbers are below this.
    count: u64,
    scatter: Option<Permutation>,
}

impl Numbers {
    /// The number of a key.
    #[inline]
    pub(super) fn of(&self, key: KeyId) -> u64 {
        match &self.scatter {
            None => key.number(),
            Some(scatter) => scatter.apply(key.number()),
        }
    }

    /// The number that is `span` above that of a key, where there is one.
    pub(super) fn above(&self, key: KeyId, span: u32) -> Option<u64> {
        self.of(key).checked_add(span.into()).filter(|number| *number < self.count)
    }

    /// How many keys there are: each has a number, and so has the absent key behind it.
    pub(super) fn keys(&self) -> u64 {
        self.count / 2
    }

    /// Whether numbers order like the indexes of their keys.
    pub(super) fn ordered(&self) -> bool {
        self.scatter.is_none()
    }
}
