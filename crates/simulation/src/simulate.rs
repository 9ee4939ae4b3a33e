//! Simulates the phases of a workload on a design.

use std::path::Path;
use std::sync::Arc;

use compaction::CompactionPolicy;
use engines::EngineStats;
use results::columns::{self as c, ALL};
use results::{Measurements, formulas};
use tree::Design;
use types::{Outcome, Problem};
use workload::{
    Batch, Extent, Kind, Performer, PhasePlan, Rate, StoreStep, Target, Work, Workload, WorkloadPlan,
};

use crate::costs::Costs;
use crate::exact::SimulatedTree;
use crate::expected::ExpectedTree;
use crate::phases::{operations, scaled};

/// The largest number of operations of a workload for which the simulation tracks each key by default.
pub const MOST_EXACT_WRITES: f64 = 3e6;

/// The maximum number of operations of the workload from which the sample SSTables are built.
const SAMPLED_OPERATIONS: f64 = 40_000.0;

/// The kind of simulated tree: with exact keys, or with expected numbers of entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Picture {
    /// `Exact` for up to 3 million operations, and `Expected` for more operations.
    #[default]
    Automatic,
    /// The simulated tree contains the exact keys of all operations.
    Exact,
    /// The simulated tree contains key ranges with expected numbers of entries, so it can have any size.
    Expected,
}

/// The settings of a simulation.
#[derive(Clone, Debug)]
pub struct Simulation<'a> {
    /// The design of the simulated tree.
    pub design: &'a Design,
    /// The workload whose phases are simulated.
    pub workload: &'a Workload,
    /// The seed of the operations.
    pub seed: u64,
    /// The folder of the experiment file. Relative paths in the workload start here.
    pub base: &'a Path,
    /// The kind of simulated tree: with exact keys, or with expected numbers of entries.
    pub picture: Picture,
    /// The device class of the storage `simulated`, which determines the device times.
    pub device: &'a str,
    /// The costs of SSTables in bytes and device time. With `None`, the simulation measures them on sample SSTables.
    pub costs: Option<Costs>,
}

/// The simulated values of one phase.
#[derive(Clone, Debug, PartialEq)]
pub struct PhaseRow {
    /// The name of the phase.
    pub phase: String,
    /// The values of the phase over all kinds of operations, by the columns of `runs.csv`.
    pub row: Measurements,
}

/// Simulates all phases of a workload. Returns a row per phase, and the costs of SSTables.
///
/// # Errors
/// A phase or the design cannot be simulated (see [`check`]), the workload cannot be planned, or the compaction policy
/// is invalid or violates an invariant of compaction policies.
pub fn simulate(simulation: &Simulation<'_>) -> Outcome<(Vec<PhaseRow>, Costs)> {
    check(simulation.design, simulation.workload)?;
    let all: f64 = simulation.workload.phases.iter().map(operations).sum();
    let is_exact = match simulation.picture {
        Picture::Automatic => all <= MOST_EXACT_WRITES,
        picture => picture == Picture::Exact,
    };
    let costs = match simulation.costs {
        Some(costs) => costs,
        None => simulation.sample(all)?,
    };
    let policy = compaction::CATALOG.build(simulation.design.choice("compaction"));
    let policy = policy.map_err(|error| Problem::new(error.to_string()))?;
    let rows =
        if is_exact { simulation.exact(&*policy, costs)? } else { simulation.expected(&*policy, costs)? };
    Ok((rows, costs))
}

/// Checks that a design and all phases of a workload can be simulated.
///
/// # Errors
/// A phase or an axis of the design cannot be simulated. The error names the first such phase or axis, and the reason.
pub fn check(design: &Design, workload: &Workload) -> Outcome<()> {
    check_phases(workload)?;
    check_design(design)
}

/// Checks that a design can be simulated. It must have no blob files, no arbiter that moves memory between memtables
/// and cache, and no index of all sorted runs.
fn check_design(design: &Design) -> Outcome<()> {
    let index = design.index_of_all_runs();
    let (axis, reason) = match (design.keeps_values_inline(), design.moves_memory(), index) {
        (false, ..) => ("values", "the simulation has no blob files"),
        (true, true, _) => ("arbiter", "the simulation has no cache that the arbiter could observe"),
        (true, false, Some((axis, _))) => (axis, "simulated reads use no index of all runs"),
        (true, false, None) => return Ok(()),
    };
    Err(Problem::new(format!(
        "design.{axis} = \"{}\" cannot be simulated, because {reason}; use `lsmbench run` in counted mode",
        design.choice(axis)
    )))
}

/// Checks that all phases of a workload can be simulated.
fn check_phases(workload: &Workload) -> Outcome<()> {
    for phase in &workload.phases {
        let counted = "use `lsmbench run` in counted mode";
        let (feature, remedy) = match &phase.work {
            _ if phase.family.is_some() => ("a column family", counted),
            Work::Roles(_) => ("roles", "use `lsmbench run` in timed mode"),
            Work::Replay(_) => ("a recorded trace", counted),
            Work::Mixed(mixed) if mixed.has(Kind::DeleteRange) => ("range deletes", counted),
            Work::Mixed(mixed) if mixed.has(Kind::SingleDelete) => ("single deletes", counted),
            Work::Mixed(mixed) if mixed.has(Kind::Merge) => ("merges", counted),
            Work::Mixed(mixed) if mixed.mix.has(Kind::Prefix) => ("prefix scans", counted),
            Work::Mixed(mixed) if mixed.mix.has(Kind::PutIfAbsent) => ("conditional puts", counted),
            Work::Mixed(mixed) if mixed.operations.is_none() => {
                ("a time limit", "set operations instead of seconds")
            }
            Work::Load(load) if load.keys.is_none() => ("keys from a trace", counted),
            Work::Step(StoreStep::Reopen | StoreStep::Checkpoint | StoreStep::DropCaches) => {
                ("a step that needs files", counted)
            }
            _ => continue,
        };
        return Err(Problem::new(format!(
            "phase \"{}\" cannot be simulated, because it has {feature}; {remedy}",
            phase.name
        )));
    }
    Ok(())
}

impl Simulation<'_> {
    fn plan(&self, workload: &Workload) -> Outcome<WorkloadPlan> {
        WorkloadPlan::new(workload, self.seed, self.base).map_err(|error| Problem::new(error.to_string()))
    }

    /// Measures the costs of SSTables with a smaller copy of the workload, which has at most about 40,000 operations.
    /// `all` is the number of operations of the whole workload.
    fn sample(&self, all: f64) -> Outcome<Costs> {
        let sampled = scaled(self.workload, SAMPLED_OPERATIONS / all.max(SAMPLED_OPERATIONS));
        Costs::sample(self.design, &self.plan(&sampled)?, self.device)
    }

    fn exact(&self, policy: &dyn CompactionPolicy, costs: Costs) -> Outcome<Vec<PhaseRow>> {
        let plan = self.plan(self.workload)?;
        let tree = SimulatedTree::new(policy, self.design, costs);
        let (mut extent, mut rows) = (Extent::default(), Vec::new());
        for phase in plan.phases() {
            let before = tree.stats();
            let mut totals = Totals::default();
            match phase.step() {
                None => extent = perform(phase, extent, &tree, &mut totals).map_err(problem)?,
                Some(step) => take(step, &tree).map_err(problem)?,
            }
            rows.push(row(phase.phase(), &totals, &before, &tree.stats()));
        }
        Ok(rows)
    }

    fn expected(&self, policy: &dyn CompactionPolicy, costs: Costs) -> Outcome<Vec<PhaseRow>> {
        let mut tree = ExpectedTree::new(policy, self.design, self.workload, costs)?;
        let mut rows = Vec::new();
        for phase in &self.workload.phases {
            let before = tree.stats();
            tree.phase(phase).map_err(|error| Problem::new(format!("phase \"{}\": {error}", phase.name)))?;
            let totals = Totals { operations: operations(phase) as u64, ..Totals::default() };
            rows.push(row(phase, &totals, &before, &tree.stats()));
        }
        Ok(rows)
    }
}

#[allow(clippy::needless_pass_by_value)] // it maps errors
fn problem(error: workload::TargetError) -> Problem {
    Problem::new(error.to_string())
}

/// Totals over a phase: its operations, and its lookups that found or did not find a value.
#[derive(Clone, Copy, Debug, Default)]
struct Totals {
    operations: u64,
    found: u64,
    missing: u64,
}

/// Executes a phase on the simulated tree. Returns the numbers of keys and versions that exist after the phase.
fn perform(
    phase: &Arc<PhasePlan>,
    from: Extent,
    tree: &SimulatedTree<'_>,
    totals: &mut Totals,
) -> Result<Extent, workload::TargetError> {
    let (mut performer, mut batch) = (Performer::new(tree), Batch::default());
    let mut extent = from;
    for mut stream in phase.streams(from) {
        while stream.fill(&mut batch, Batch::OPERATIONS) > 0 {
            for at in batch.heads() {
                let outcome = performer.perform(&batch, at, false)?;
                totals.operations += 1;
                // Scans are left out, because `found` and `missing` count only lookups.
                if batch.operations()[at].kind != Kind::Range {
                    totals.found += u64::from(outcome.found);
                    totals.missing += u64::from(outcome.missing);
                }
            }
        }
        extent = extent.join(stream.extent());
    }
    Ok(extent)
}

fn take(step: StoreStep, tree: &SimulatedTree<'_>) -> Result<(), workload::TargetError> {
    match step {
        StoreStep::Flush => tree.flush(),
        StoreStep::Compact => tree.compact(),
        _ => Ok(()),
    }
}

/// Returns the values of a phase over all kinds of operations, by the columns of `runs.csv`. `before` and `after` are
/// the statistics of the tree at the start and at the end of the phase.
fn row(phase: &workload::Phase, totals: &Totals, before: &EngineStats, after: &EngineStats) -> PhaseRow {
    let mut row = Measurements::default();
    let is_open = matches!(phase.rate, Rate::Open { .. });
    row.set(&c::PHASE, phase.name.as_str()).set(&c::OPERATION, ALL).set(&c::MODE, "simulated");
    row.set(&c::LOOP, if is_open { "open" } else { "closed" }).set(&c::OPS, totals.operations);
    if totals.found + totals.missing > 0 {
        row.set(&c::FOUND, totals.found).set(&c::MISSING, totals.missing);
    }
    let since = after.since(before);
    row.extend(since.clone());
    formulas::settle(&mut row, &since);
    row.set(&c::THREADS, 1_u64);
    formulas::derive(&mut row);
    row.retain(&[c::IDENTITY, c::METRICS]);
    PhaseRow { phase: phase.name.clone(), row }
}
