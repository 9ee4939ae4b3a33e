//! Scan lengths with a uniform distribution between two bounds, as in YCSB E.

use catalog::{Build, Count, Variant};
use serde::{Deserialize, Serialize};

use crate::length::{LengthDistribution, Uniform};

pub(crate) const VARIANT: Variant<dyn LengthDistribution> = Variant::new::<UniformLength>(
    "uniform",
    "all scan lengths between two bounds with equal probability",
    "# Smallest number of entries per scan.\n\
     min = 1\n\
     # Largest number of entries per scan.\n\
     max = 100\n",
);

struct UniformLength;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    min: Count,
    max: Count,
}

impl Default for Params {
    fn default() -> Self {
        Self { min: Count(1), max: Count(100) }
    }
}

impl Build<dyn LengthDistribution> for UniformLength {
    type Params = Params;

    fn build(params: Params) -> Result<Box<dyn LengthDistribution>, String> {
        let (min, max) =
            (super::entries::entries("min", params.min)?, super::entries::entries("max", params.max)?);
        Ok(Box::new(Uniform::new(min, max)?))
    }
}
