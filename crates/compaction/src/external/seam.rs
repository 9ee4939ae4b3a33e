//! Measures the time of one pick through the JSON protocol of external policies. The measurement includes either only
//! the encoding, or also the communication with another process.

use std::hint::black_box;
use std::time::Duration;

use catalog::{Catalog, Choice, Seam};

use super::process::PolicyProcess;
use super::{KIND, Params, identity, wire};
use crate::operations::Operations;
use crate::policy::CompactionPolicy;
use crate::shape::{Level, Levels, Run, Shape, TableShape};

/// The number of sorted runs in the tree for which the measured policy picks a job. Each run has the same number of
/// SSTables.
const RUNS: u64 = 10;

/// The number of calls of the policy per time measurement.
const CALLS: u32 = 20;

/// Prepares a measurement of the time that the JSON protocol of external policies adds to one call of a policy. See
/// [`seam`](crate::seam()).
pub(crate) fn seam(
    catalog: &Catalog<dyn CompactionPolicy>,
    choice: &Choice,
    without_jobs: &[String],
) -> Option<Seam> {
    let params: Params = choice.params().clone().try_into().ok()?;
    if choice.kind() != KIND {
        return None;
    }
    let direct = identity(catalog, if params.command.is_empty() { &params.identity } else { "none" }).ok()?;
    let shape = shape();
    let through: Box<dyn FnMut()> = if params.command.is_empty() {
        let (policy, shape) = (identity(catalog, &params.identity).ok()?, shape.clone());
        Box::new(move || {
            for _ in 0..CALLS {
                black_box(wire::through(&*policy, black_box(&shape)));
            }
        })
    } else {
        let mut process = PolicyProcess::new(without_jobs.to_vec(), Duration::from_secs(10)).ok()?;
        process.ask(&wire::encode_shape(&shape)).ok()?;
        let shape = shape.clone();
        Box::new(move || {
            for _ in 0..CALLS {
                let answer = process.ask(&wire::encode_shape(black_box(&shape)));
                black_box(answer.ok().map(|answer| wire::decode_job(&answer)));
            }
        })
    };
    let direct: Box<dyn FnMut()> = Box::new(move || {
        for _ in 0..CALLS {
            black_box(direct.pick(black_box(&shape)));
        }
    });
    let call = match params.command.is_empty() {
        true => "one pick of a job for a tree with 100 SSTables, as JSON in this process",
        false => "one pick of a job for a tree with 100 SSTables, as JSON to another process",
    };
    Some(Seam { axis: "compaction", kind: KIND, call, calls: CALLS, through, direct })
}

/// Returns the shape of the tree for the measurement: ten runs in level 0 with ten SSTables each.
fn shape() -> Shape {
    let table = |id: u64| TableShape {
        id,
        bytes: 1 << 20,
        entries: 10_000,
        tombstones: 10,
        smallest: (id % RUNS * 2).to_be_bytes().into(),
        largest: (id % RUNS * 2 + 1).to_be_bytes().into(),
    };
    let run = |id: u64| Run { id, tables: (id * RUNS..(id + 1) * RUNS).map(table).collect() };
    let levels = vec![Level { runs: (0..RUNS).rev().map(run).collect() }];
    Shape { buffer_bytes: 10 << 20, levels: Levels { levels }, operations: Operations::default() }
}
