//! Scan lengths with a Zipfian distribution. The shortest scans are the most frequent. Pebble's YCSB uses this
//! distribution with lengths of 1 to 1000.

use catalog::{Build, Count, Variant};
use serde::{Deserialize, Serialize};

use crate::length::{LengthDistribution, Zipfian};

pub(crate) const VARIANT: Variant<dyn LengthDistribution> = Variant::new::<ZipfianLength>(
    "zipfian",
    "a Zipf distribution of scan lengths, with many short scans and few long scans",
    "# Smallest number of entries per scan.
min = 1
# Largest number of entries per scan.
max = 1_000
# Zipf exponent. 0 gives uniform scan lengths, and a larger exponent gives more short scans.
theta = 0.99
",
);

struct ZipfianLength;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    min: Count,
    max: Count,
    theta: f64,
}

impl Default for Params {
    fn default() -> Self {
        Self { min: Count(1), max: Count(1000), theta: 0.99 }
    }
}

impl Build<dyn LengthDistribution> for ZipfianLength {
    type Params = Params;

    fn build(params: Params) -> Result<Box<dyn LengthDistribution>, String> {
        let (min, max) =
            (super::entries::entries("min", params.min)?, super::entries::entries("max", params.max)?);
        Ok(Box::new(Zipfian::new(min, max, params.theta)?))
    }
}
