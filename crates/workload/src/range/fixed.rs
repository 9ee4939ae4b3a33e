//! Scans that all have the same length.

use catalog::{Build, Count, Variant};
use serde::{Deserialize, Serialize};

use crate::length::{Fixed, LengthDistribution};

pub(crate) const VARIANT: Variant<dyn LengthDistribution> = Variant::new::<FixedLength>(
    "fixed",
    "the same number of entries for all scans",
    "# Number of entries per scan.\n\
     entries = 100\n",
);

struct FixedLength;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    entries: Count,
}

impl Default for Params {
    fn default() -> Self {
        Self { entries: Count(100) }
    }
}

impl Build<dyn LengthDistribution> for FixedLength {
    type Params = Params;

    fn build(params: Params) -> Result<Box<dyn LengthDistribution>, String> {
        Ok(Box::new(Fixed(super::entries::entries("entries", params.entries)?)))
    }
}
