//! Converts the operations of a fitted workload to trace records, so that [`Statistics`] can measure the workload like
//! a trace.

use std::path::Path;

use catalog::ChoiceError;
use toml::Table;
use types::{Outcome, Problem};
use workload::{Batch, Extent, Kind, TraceOperation, TraceRecord, Workload, WorkloadPlan};

use crate::statistics::Statistics;

/// The seed of the generated operations.
const SEED: u64 = 1;

/// Generates the operations of the last phase of the workload `toml`, and returns their statistics.
pub(crate) fn measure(toml: &str) -> Outcome<Statistics> {
    let wrong = |error: ChoiceError| Problem::new(format!("the fitted workload is not possible: {error}"));
    let table: Table = toml.parse().map_err(|error| Problem::doing("parse the fitted workload", error))?;
    let workload = Workload::from_toml(&table).map_err(wrong)?;
    let plan = WorkloadPlan::new(&workload, SEED, Path::new("."))
        .map_err(|error| Problem::new(format!("the fitted workload is not possible: {error}")))?;
    let (last, before) = plan.phases().split_last().expect("a fitted workload must have a phase");
    let extent = before.iter().fold(Extent::default(), |extent, phase| phase.extent_after(extent));
    let mut statistics = Statistics::default();
    let mut batch = Batch::default();
    for mut stream in last.streams(extent) {
        while stream.fill(&mut batch, Batch::OPERATIONS) > 0 {
            batch.heads().for_each(|at| statistics.add(&record(&batch, at)));
        }
    }
    Ok(statistics)
}

/// Returns the trace record of the operation with the index `at` of a batch.
fn record(batch: &Batch, at: usize) -> TraceRecord {
    let operation = &batch.operations()[at];
    let kind = match operation.kind {
        Kind::Put | Kind::Insert => TraceOperation::Put,
        Kind::Delete => TraceOperation::Delete,
        Kind::DeleteRange => TraceOperation::DeleteRange,
        Kind::SingleDelete => TraceOperation::SingleDelete,
        Kind::Range | Kind::Prefix | Kind::First | Kind::Last => TraceOperation::Scan,
        Kind::ReadModifyWrite => TraceOperation::ReadModifyWrite,
        Kind::Merge => TraceOperation::Merge,
        _ => TraceOperation::Get,
    };
    let record = TraceRecord::new(kind, batch.key(at));
    match kind {
        TraceOperation::Scan => record.entries(operation.count),
        TraceOperation::DeleteRange => record.until(batch.end(at).unwrap_or_default()),
        kind if kind.sets() => record.sized(operation.value.bytes),
        _ => record,
    }
}
