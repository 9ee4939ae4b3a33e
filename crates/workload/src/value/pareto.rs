//! Value sizes with a generalized Pareto distribution. Most sizes are small, and few sizes are large. The
//! distribution and its default parameters are those of `mixgraph` in `RocksDB`'s `db_bench` (Cao et al., FAST '20).

use catalog::{Build, ByteSize, Variant};
use serde::{Deserialize, Serialize};

use crate::length::{LengthDistribution, Pareto, ParetoLaw};

pub(crate) const VARIANT: Variant<dyn LengthDistribution> = Variant::new::<ParetoSize>(
    "pareto",
    "mostly small values: a generalized Pareto distribution that Facebook measured in production",
    "# Location parameter of the generalized Pareto distribution, in bytes.
theta = 0.0
# Scale parameter of the generalized Pareto distribution, in bytes. A larger scale gives larger
# values.
sigma = 25.45
# Shape parameter of the generalized Pareto distribution. A larger shape gives more large values.
k = 0.2615
# Smallest value size. Sizes below this minimum are raised to the minimum.
min = \"10B\"
# Largest value size. Sizes above this maximum are taken modulo the maximum.
max = \"1KiB\"
",
);

struct ParetoSize;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    theta: f64,
    sigma: f64,
    k: f64,
    min: ByteSize,
    max: ByteSize,
}

impl Default for Params {
    fn default() -> Self {
        Self { theta: 0.0, sigma: 25.45, k: 0.2615, min: ByteSize(10), max: ByteSize(1024) }
    }
}

impl Build<dyn LengthDistribution> for ParetoSize {
    type Params = Params;

    fn build(params: Params) -> Result<Box<dyn LengthDistribution>, String> {
        let law = ParetoLaw { theta: params.theta, sigma: params.sigma, k: params.k };
        let (min, max) = (super::bytes::bytes("min", params.min)?, super::bytes::bytes("max", params.max)?);
        Ok(Box::new(Pareto::new(law, min, max)?))
    }
}
