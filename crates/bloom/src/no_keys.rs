//! The filter of an SSTable without keys, for policies whose stored format needs at least one key.

use std::ops::Bound;

use types::KeyHash;

use crate::filter::Filter;

/// The filter of an SSTable without keys. It reports every key as absent.
pub(crate) struct NoKeys;

impl Filter for NoKeys {
    fn may_contain(&self, _: KeyHash) -> bool {
        false
    }

    fn answers_ranges(&self) -> bool {
        true
    }

    fn may_contain_range(&self, _: Bound<&[u8]>, _: Bound<&[u8]>) -> bool {
        false
    }

    fn expected_fpr(&self) -> f64 {
        0.0
    }

    fn memory_bytes(&self) -> usize {
        0
    }
}
