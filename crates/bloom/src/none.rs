//! The variant "none": no filter. Without a filter, every probe answers "maybe". This variant is the baseline of all
//! filters.

use catalog::Variant;
use types::{Bytes, KeyHash};

use crate::corrupt::CorruptFilter;
use crate::filter::{Filter, FilterInput, FilterPolicy};

pub(crate) const VARIANT: Variant<dyn FilterPolicy> = Variant::plain(
    "none",
    "no filter, so a lookup searches every sorted run whose key range includes the key",
    || Box::new(NoFilter),
);

/// The policy and the filter of the variant "none", which stores nothing and never reports a key as absent.
struct NoFilter;

impl FilterPolicy for NoFilter {
    fn build(&self, _: &FilterInput<'_>) -> Vec<u8> {
        Vec::new()
    }

    fn open(&self, stored: Bytes) -> Result<Box<dyn Filter>, CorruptFilter> {
        if stored.is_empty() {
            Ok(Box::new(Self))
        } else {
            Err(CorruptFilter(
                "the stored filter has bytes, but the filter \"none\" stores no bytes; another variant may \
                 have written the filter"
                    .to_owned(),
            ))
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
