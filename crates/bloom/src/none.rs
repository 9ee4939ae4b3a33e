//! No filter: every probe says "maybe". The baseline that every filter must pay against.

use catalog::{Build, NoParams, Variant};
use types::{Bytes, KeyHash};

use crate::corrupt::CorruptFilter;
use crate::filter::{Filter, FilterInput, FilterPolicy};

pub(crate) const VARIANT: Variant<dyn FilterPolicy> =
    Variant::new::<NoFilter>("none", "no filter: every run whose key range covers the key is searched", "");

/// The policy and the filter in one: there is nothing to hold.
struct NoFilter;

impl Build<dyn FilterPolicy> for NoFilter {
    type Params = NoParams;

    fn build(_: NoParams) -> Result<Box<dyn FilterPolicy>, String> {
        Ok(Box::new(Self))
    }
}

impl FilterPolicy for NoFilter {
    fn build(&self, _: &FilterInput<'_>) -> Vec<u8> {
        Vec::new()
    }

    fn open(&self, stored: Bytes) -> Result<Box<dyn Filter>, CorruptFilter> {
        if stored.is_empty() {
            Ok(Box::new(Self))
        } else {
            Err(CorruptFilter("bytes where there is no filter".to_owned()))
        }
    }
}

impl Filter for NoFilter {
    fn may_contain(&self, _: KeyHash) -> bool {
        true
    }

    fn expected_fpr(&self) -> f64 {
        1.0
    }

    fn memory_bytes(&self) -> usize {
        0
    }
}
