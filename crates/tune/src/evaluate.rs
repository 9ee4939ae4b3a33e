//! Computes the score of a design from the rows of a layer.

use std::collections::BTreeSet;

use results::{Metric, Row, columns as c};
use theory::robust_cost;
use tree::Design;
use workload::{LENGTHS, Phase, Work, Workload};

use crate::candidate::DesignScore;
use crate::goal::{Goal, GoalMetric, Objectives};

/// A function that returns the value of a metric for a phase and a kind of operation. The function returns `None` if
/// the layer of the search cannot compute the metric.
pub(crate) type Lookup<'a> = dyn Fn(&str, &str, &Metric) -> Option<f64> + 'a;

/// Computes the score of a design in a layer of the search. `value` returns the metrics of the design. Returns `None`
/// if the layer cannot compute the objective.
pub(crate) fn score(
    objectives: &Objectives,
    design: &Design,
    workload: &Workload,
    value: &Lookup<'_>,
) -> Option<DesignScore> {
    let of = |goal: &Goal, drift: f64| number(goal, drift, design, workload, value);
    let objective = objectives.sign(of(&objectives.goal, objectives.drift)?);
    let also = of(&objectives.also, 0.0);
    let limited: Vec<Option<f64>> = objectives.limits.iter().map(|limit| of(&limit.goal, 0.0)).collect();
    let excess = objectives.limits.iter().zip(&limited);
    let excess = excess.map(|(limit, value)| value.map_or(0.0, |value| limit.excess(value))).sum();
    let is_robust = objectives.goal.metric == GoalMetric::IoPerOp;
    let phase = workload.phases.iter().find(|phase| is_robust && phase.name == objectives.goal.phase);
    let costs = phase.and_then(|phase| costs(phase, design, workload, value));
    Some(DesignScore { objective, also, limited, excess, costs, trials: Vec::new() })
}

/// Computes the score of a design from the rows of a run in `runs.csv`. Each value is the median over trials. `cell` is
/// the number of the configuration with the design. Returns `None` if the run did not measure the objective.
pub(crate) fn score_of_rows(
    objectives: &Objectives,
    design: &Design,
    workload: &Workload,
    rows: &[Row],
    cell: u64,
) -> Option<DesignScore> {
    let of_design = |row: &&Row| row.get(&c::CELL).integer() == Some(cell);
    let rows: Vec<&Row> = rows.iter().filter(of_design).collect();
    let score_of = |trial: Option<u64>| {
        let value = |phase: &str, operation: &str, metric: &Metric| {
            let mut values: Vec<f64> = rows
                .iter()
                .filter(|row| trial.is_none() || row.get(&c::TRIAL).integer() == trial)
                .filter(|row| row.get(&c::PHASE).text() == Some(phase))
                .filter(|row| row.get(&c::OPERATION).text() == Some(operation))
                .filter_map(|row| row.get(metric).number())
                .collect();
            values.sort_by(f64::total_cmp);
            (!values.is_empty())
                .then(|| f64::midpoint(values[(values.len() - 1) / 2], values[values.len() / 2]))
        };
        score(objectives, design, workload, &value)
    };
    let trials: BTreeSet<u64> = rows.iter().filter_map(|row| row.get(&c::TRIAL).integer()).collect();
    let of_trials = trials.into_iter().filter_map(|trial| score_of(Some(trial)));
    let trials = of_trials.map(|score| (score.objective, score.also)).collect();
    Some(DesignScore { trials, ..score_of(None)? })
}

fn number(goal: &Goal, drift: f64, design: &Design, workload: &Workload, value: &Lookup<'_>) -> Option<f64> {
    match goal.metric {
        GoalMetric::Column(metric) => value(&goal.phase, &goal.operation, metric),
        GoalMetric::Memory => Some(memory(design, &goal.phase, value)),
        GoalMetric::IoPerOp => {
            let phase = workload.phases.iter().find(|phase| phase.name == goal.phase)?;
            let (weights, costs) = costs(phase, design, workload, value)?;
            Some(robust_cost(drift, &weights, &costs))
        }
    }
}

/// Returns the memory of a design in bytes. This is the memory budget of the design, if it has one. Otherwise, it is
/// the total size of two memtables, the filters and the fence pointers, plus the capacity of the cache.
fn memory(design: &Design, phase: &str, value: &Lookup<'_>) -> f64 {
    if let Some(budget) = design.options.memory {
        return budget.0 as f64;
    }
    let cache = cache::CATALOG.build(design.choice("cache")).map_or(0, |cache| cache.capacity());
    let of = |metric: &Metric| value(phase, c::ALL, metric).unwrap_or(0.0);
    2.0 * design.memtable_capacity.0 as f64 + cache as f64 + of(&c::FILTER_BYTES) + of(&c::FENCE_BYTES)
}

/// Returns the costs of the operations of a phase in two lists: the fractions of writes, gets and scans, and the number
/// of blocks that one operation of each kind reads and writes. Returns `None` if a cost cannot be computed.
fn costs(
    phase: &Phase,
    design: &Design,
    workload: &Workload,
    value: &Lookup<'_>,
) -> Option<(Vec<f64>, Vec<f64>)> {
    let of = |metric: &Metric| value(&phase.name, c::ALL, metric);
    let block = design.options.block.size.0 as f64;
    let (shares, length) = shares(phase)?;
    let operations = of(&c::OPS)?;
    let [writes, gets, scans] = shares;
    let mut weights = Vec::new();
    let mut costs = Vec::new();
    if writes > 0.0 {
        let written = of(&c::WRITE_AMP_SETTLED).unwrap_or(0.0) * of(&c::USER_BYTES_WRITTEN).unwrap_or(0.0);
        let read = of(&c::COMPACTION_BYTES_READ_SETTLED).unwrap_or(0.0);
        weights.push(writes);
        costs.push((written + read) / block / (operations * writes).max(1.0));
    }
    if gets > 0.0 {
        weights.push(gets);
        costs.push(of(&c::BLOCKS_PER_GET)?);
    }
    if scans > 0.0 {
        let entry = of(&c::LIVE_BYTES)? / simulation::added_keys(workload).max(1.0);
        weights.push(scans);
        costs.push(of(&c::SOURCES_PER_RANGE)? + length * entry / block);
    }
    let sum: f64 = weights.iter().sum();
    weights.iter_mut().for_each(|weight| *weight /= sum.max(f64::MIN_POSITIVE));
    (!costs.is_empty()).then_some((weights, costs))
}

/// Returns the fractions of writes, gets and scans in a phase, and the mean length of a scan in entries. Returns `None`
/// for phases without a mix of operations, such as a flush or a replay.
fn shares(phase: &Phase) -> Option<([f64; 3], f64)> {
    let length = match &phase.work {
        Work::Load(_) => 0.0,
        Work::Mixed(mixed) => LENGTHS.build(&mixed.range.length).ok()?.mean(),
        Work::Roles(_) | Work::Replay(_) | Work::Step(_) => return None,
    };
    let rates = simulation::rates(phase);
    let each = |count: f64| count / rates.operations.max(1.0);
    Some(([each(rates.writes), each(rates.gets), each(rates.scans)], length))
}
