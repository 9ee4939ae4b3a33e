//! Tests of whole workloads, which are read from TOML, planned, run, checked and printed.

mod answers;
mod files;
mod phases;
mod profile;
mod streams;
mod text;
mod trace;
mod trace_formats;
mod trace_replay;

use std::path::Path;
use std::sync::Arc;

use lsmbench_workload as workload;
use workload::{Batch, Extent, Operation, PhasePlan, Workload, WorkloadPlan};

/// Parses a workload that must be valid.
fn read(toml: &str) -> Workload {
    let table: toml::Table = toml::from_str(toml).unwrap();
    Workload::from_toml(&table)
        .unwrap_or_else(|error| panic!("{}: {error}", error.key.clone().unwrap_or_default()))
}

/// Plans a workload with the seed 42.
fn plan(toml: &str) -> WorkloadPlan {
    plan_in(toml, Path::new("."))
}

/// Plans a workload whose relative paths start from `base`.
fn plan_in(toml: &str, base: &Path) -> WorkloadPlan {
    WorkloadPlan::new(&read(toml), 42, base).unwrap_or_else(|error| panic!("{error}"))
}

/// Plans a workload with two phases: a load of `keys` keys, and a phase with the given lines.
fn mixed(keys: u64, lines: &str) -> WorkloadPlan {
    plan(&format!("[[phase]]\nname = \"load\"\ninsert = {keys}\n[[phase]]\nname = \"run\"\n{lines}\n"))
}

/// Returns the keys and versions after one thread has loaded `keys` keys.
fn loaded(keys: u64) -> Extent {
    Extent { keys, versions: u32::try_from(keys).unwrap(), retired: 0 }
}

/// Returns the first operations of one thread, at most `limit`, and the keys and versions after them.
fn operations(phase: &Arc<PhasePlan>, from: Extent, thread: usize, limit: usize) -> (Vec<Operation>, Extent) {
    let mut stream = phase.streams(from).swap_remove(thread);
    let (mut batch, mut all) = (Batch::default(), Vec::new());
    while stream.fill(&mut batch, limit) > 0 {
        all.extend_from_slice(batch.operations());
    }
    (all, stream.extent())
}
