//! Measures the time that lsmbench itself adds to every operation. The measurement uses a store that does nothing.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use measure::{Clock, Histogram};
use results::{HarnessCost, OperationCost, RunMode};
use workload::{Extent, NoOp, PhasePlan, Rate, TargetError, Workload, WorkloadPlan};

use super::drive::{Drive, DrivePart};

/// The sampling intervals with which the overhead is measured in every run. With 1, every operation is timed. With 100,
/// one operation in a hundred is timed.
const SAMPLINGS: [u64; 2] = [1, 100];

/// How often the overhead is measured. The smallest result counts, because disturbances only add time.
const REPEATS: usize = 5;

/// The number of keys that exist at the start of the measured phase. The phase `load` of [`WORKLOAD`] inserts as many
/// keys.
const KEYS: u64 = 1_000_000;

/// The workload with which the overhead is measured: one thread executes uniform gets of 16-byte keys in a closed loop.
const WORKLOAD: &str = r#"
key = { format = "u64", bytes = 16 }
[[phase]]
name = "load"
insert = 1_000_000
[[phase]]
name = "get"
operations = 200_000
mix = { get = 1 }
keys = "uniform"
"#;

/// Measures how much time lsmbench adds to each operation, with the settings of a run. The run times one of `sampling`
/// operations, and keeps one of `check` answers. The intervals of its timeline have `interval_ns` nanoseconds.
pub fn harness_cost(sampling: u64, check: u64, interval_ns: u64) -> HarnessCost {
    let clock = Clock::new();
    let phase = phase();
    let mut samplings = SAMPLINGS.to_vec();
    if !samplings.contains(&sampling) {
        samplings.push(sampling);
    }
    let cost = |sampling| {
        let drive = Drive {
            mode: RunMode::Timed,
            sampling,
            check,
            interval_ns,
            rate: Rate::Closed,
            counts_instructions: false,
        };
        let costs = (0..REPEATS).filter_map(|_| operation_ns(drive, &phase, &clock).ok()?);
        Some(OperationCost { sampling, operation_ns: costs.reduce(f64::min)? })
    };
    HarnessCost {
        clock: Some(clock.source().to_owned()),
        clock_ns: Some(clock.cost_ns()),
        record_ns: Some(Histogram::record_cost_ns(&clock)),
        operations: samplings.into_iter().filter_map(cost).collect(),
    }
}

/// Measures the time of one clock reading, which is the only overhead that lsmbench measures for component experiments.
pub fn clock_cost() -> HarnessCost {
    let clock = Clock::new();
    HarnessCost {
        clock: Some(clock.source().to_owned()),
        clock_ns: Some(clock.cost_ns()),
        ..HarnessCost::default()
    }
}

fn phase() -> Arc<PhasePlan> {
    let workload = Workload::from_toml(&WORKLOAD.parse().expect("the constant WORKLOAD must be valid TOML"))
        .expect("the constant WORKLOAD must be a valid workload");
    let plan = WorkloadPlan::new(&workload, 42, Path::new(""))
        .expect("the plan of the constant WORKLOAD must be valid");
    Arc::clone(plan.phases().last().expect("the constant WORKLOAD must have at least one phase"))
}

/// Returns the time that lsmbench needs to generate, time and record one operation, in nanoseconds.
fn operation_ns(drive: Drive, phase: &Arc<PhasePlan>, clock: &Clock) -> Result<Option<f64>, TargetError> {
    let from = Extent { keys: KEYS, versions: 1, retired: 0 };
    let parts = phase.parts();
    let parts: Vec<_> = parts.iter().map(|part| DrivePart { target: &NoOp, part, from }).collect();
    let driven = drive.streams(&parts, phase, clock, &AtomicU64::new(0), (None, None))?;
    let operations: u64 = driven.operations.iter().map(|(_, totals)| totals.operations).sum();
    Ok(driven.elapsed_ns.map(|ns| ns as f64 / operations as f64))
}
