//! Values that all have the same size.

use catalog::{Build, ByteSize, Variant};
use serde::{Deserialize, Serialize};

use crate::length::{Fixed, LengthDistribution};

pub(crate) const VARIANT: Variant<dyn LengthDistribution> = Variant::new::<FixedSize>(
    "fixed",
    "the same size for all values",
    "# Size of each value.\n\
     bytes = \"100B\"\n",
);

struct FixedSize;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    bytes: ByteSize,
}

impl Default for Params {
    fn default() -> Self {
        Self { bytes: ByteSize(100) }
    }
}

impl Build<dyn LengthDistribution> for FixedSize {
    type Params = Params;

    fn build(params: Params) -> Result<Box<dyn LengthDistribution>, String> {
        Ok(Box::new(Fixed(super::bytes::bytes("bytes", params.bytes)?)))
    }
}
