//! Value sizes with a uniform distribution between two bounds.

use catalog::{Build, ByteSize, Variant};
use serde::{Deserialize, Serialize};

use crate::length::{LengthDistribution, Uniform};

pub(crate) const VARIANT: Variant<dyn LengthDistribution> = Variant::new::<UniformSize>(
    "uniform",
    "all sizes between two bounds with equal probability",
    "# Smallest value size.\n\
     min = \"1B\"\n\
     # Largest value size.\n\
     max = \"200B\"\n",
);

struct UniformSize;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    min: ByteSize,
    max: ByteSize,
}

impl Default for Params {
    fn default() -> Self {
        Self { min: ByteSize(1), max: ByteSize(200) }
    }
}

impl Build<dyn LengthDistribution> for UniformSize {
    type Params = Params;

    fn build(params: Params) -> Result<Box<dyn LengthDistribution>, String> {
        let (min, max) = (super::bytes::bytes("min", params.min)?, super::bytes::bytes("max", params.max)?);
        Ok(Box::new(Uniform::new(min, max)?))
    }
}
