//! What the harness adds to every operation, measured against a store that does nothing.

use std::path::Path;
use std::sync::atomic::AtomicU64;

use measure::{Clock, Histogram};
use results::HarnessCost;
use workload::{Extent, NoOp, Plan, Workload};

use super::drive::Drive;
use crate::experiment::RunMode;

/// Operations of one measurement.
const OPERATIONS: u64 = 400_000;

/// Measurements, of which the least counts: what disturbs a measurement only adds to it.
const REPEATS: usize = 5;

/// The workload that the cost is measured with: uniform gets of 16-byte keys, closed loop, one thread.
const WORKLOAD: &str = r#"
key = { format = "u64", bytes = 16 }
[[phase]]
name = "load"
insert = 1_000_000
[[phase]]
name = "get"
operations = 400_000
mix = { get = 1 }
keys = "uniform"
"#;

/// Nanoseconds per operation with every `sampling`-th one timed, generation, timing and recording together.
pub(crate) fn harness_cost(sampling: u64) -> HarnessCost {
    let clock = Clock::new();
    HarnessCost {
        clock: Some(clock.source().to_owned()),
        clock_ns: Some(clock.cost_ns()),
        record_ns: Some(Histogram::record_cost_ns(&clock)),
        operation_ns: operation_ns(&clock, sampling),
        sampling: Some(sampling),
    }
}

fn operation_ns(clock: &Clock, sampling: u64) -> Option<f64> {
    let workload = Workload::from_toml(&WORKLOAD.parse().ok()?).ok()?;
    let plan = Plan::new(&workload, 42, Path::new("")).ok()?;
    let phase = plan.phases().last()?;
    let from = Extent { keys: 1_000_000, versions: 1 };
    let drive = Drive { mode: RunMode::Timed, sampling, check: 0 };
    let costs = (0..REPEATS).filter_map(|_| {
        let driven = drive.phase(&NoOp, phase, from, clock, &AtomicU64::new(0)).ok()?;
        driven.elapsed_ns.map(|ns| ns as f64 / OPERATIONS as f64)
    });
    costs.reduce(f64::min)
}
