//! Scan lengths with a generalized Pareto distribution. The default parameters are those of `mixgraph` in
//! `RocksDB`'s `db_bench` (Cao et al., FAST '20).

use catalog::{Build, Count, Variant};
use serde::{Deserialize, Serialize};

use crate::length::{LengthDistribution, Pareto, ParetoLaw};

pub(crate) const VARIANT: Variant<dyn LengthDistribution> = Variant::new::<ParetoLength>(
    "pareto",
    "mostly short scans, few very long scans: a generalized Pareto distribution that Facebook measured",
    "# Location parameter of the generalized Pareto distribution, in entries.
theta = 0.0
# Scale parameter of the generalized Pareto distribution, in entries. A larger scale gives longer
# scans.
sigma = 14.236
# Shape parameter of the generalized Pareto distribution. A larger shape gives more long scans.
k = 2.517
# Smallest number of entries per scan. Scans below this minimum are extended to the minimum.
min = 1
# Largest number of entries per scan. Lengths above this maximum are taken modulo the maximum.
max = 10_000
",
);

struct ParetoLength;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    theta: f64,
    sigma: f64,
    k: f64,
    min: Count,
    max: Count,
}

impl Default for Params {
    fn default() -> Self {
        Self { theta: 0.0, sigma: 14.236, k: 2.517, min: Count(1), max: Count(10_000) }
    }
}

impl Build<dyn LengthDistribution> for ParetoLength {
    type Params = Params;

    fn build(params: Params) -> Result<Box<dyn LengthDistribution>, String> {
        let law = ParetoLaw { theta: params.theta, sigma: params.sigma, k: params.k };
        let (min, max) =
            (super::entries::entries("min", params.min)?, super::entries::entries("max", params.max)?);
        Ok(Box::new(Pareto::new(law, min, max)?))
    }
}
