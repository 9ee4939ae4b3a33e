//! The restrictions of engines: configurations that an engine cannot run, and design settings that an engine does not
//! support.

use std::collections::BTreeSet;

use catalog::Limit;
use engines::{EngineOptions, MISMATCH};
use results::RunMode;
use workload::{Kind, Phase, Rate, StoreStep, Work};

use super::cell::Cell;
use super::engine::{engine, engine_label, is_limited};
use super::families;

/// The reason why some engines cannot run in counted mode, as the end of an error message.
const COUNTED: &str = "because the timing of its background threads affects its counters";

/// Returns how many settings of the design are used by only one of two engines. With many such settings, a comparison
/// of the engines is less fair. The result is 0 for two builds of one engine.
pub(super) fn mismatches(a: &Cell, b: &Cell) -> usize {
    if a.engine.kind() == b.engine.kind() {
        return 0;
    }
    let [one, other] = [a, b].map(|cell| {
        let lines = engine(&cell.engine).mapping(&EngineOptions::of(&cell.design));
        lines.into_iter().filter(|line| line.starts_with(MISMATCH)).collect::<BTreeSet<String>>()
    });
    one.symmetric_difference(&other).count()
}

/// Returns the reason why an experiment cannot use the engine of this configuration. For example, the engine does not
/// support an operation of the workload. Returns `None` if the experiment can use the engine.
pub(super) fn hindrance(mode: RunMode, cell: &Cell) -> Option<String> {
    let name = engine_label(&cell.engine);
    if mode == RunMode::Counted && is_limited(&cell.engine, Limit::NotDeterministic) {
        return Some(format!(
            "engine \"{name}\" cannot run in counted mode ({COUNTED}); use trials.mode = \"timed\""
        ));
    }
    if let Some(reason) = unfit_design(cell).or_else(|| families::problem(mode, cell)) {
        return Some(reason);
    }
    let missing = missing_call(cell)?;
    Some(format!("{missing}; remove the phase, or the engine"))
}

/// Returns the reason why the design cannot execute the merges or the conditional puts of the workload: the merge
/// operator is missing, or the design drops data. Returns `None` if the design can execute all operations.
fn unfit_design(cell: &Cell) -> Option<String> {
    let phases = &cell.task.workload()?.phases;
    if let Some(reason) = families::lacking_operator(phases, &cell.design) {
        return Some(reason);
    }
    let merging = phases.iter().find(|phase| mixes(phase, Kind::Merge));
    let limits = cell.design.limits();
    let (axis, choice, _) = limits.into_iter().find(|(.., limit)| *limit == Limit::DropsData)?;
    let conditional = phases.iter().find(|phase| mixes(phase, Kind::PutIfAbsent));
    let (phase, kind) =
        merging.map(|phase| (phase, Kind::Merge)).or(conditional.map(|phase| (phase, Kind::PutIfAbsent)))?;
    Some(format!(
        "phase \"{}\" has {kind} in its mix, but {axis} = \"{choice}\" drops data, so lsmbench \
         cannot know the results of later reads; remove the phase, or use another {axis}",
        phase.name
    ))
}

/// Returns whether a phase executes a kind of operation as a single operation, outside of write batches.
fn executes(phase: &Phase, kind: Kind) -> bool {
    match &phase.work {
        Work::Mixed(mixed) => mixed.mix.has(kind),
        Work::Roles(roles) => roles.iter().any(|role| role.mixed.mix.has(kind)),
        _ => false,
    }
}

/// Returns whether a phase executes a kind of operation, as a single operation or inside of batches.
fn mixes(phase: &Phase, kind: Kind) -> bool {
    match &phase.work {
        Work::Mixed(mixed) => mixed.has(kind),
        Work::Roles(roles) => roles.iter().any(|role| role.mixed.has(kind)),
        _ => false,
    }
}

/// Returns whether the write batches of a phase contain a kind of operation.
fn batches(phase: &Phase, kind: Kind) -> bool {
    match &phase.work {
        Work::Mixed(mixed) => mixed.batches(kind),
        Work::Roles(roles) => roles.iter().any(|role| role.mixed.batches(kind)),
        _ => false,
    }
}

/// Returns a sentence about the first step or operation of the workload that the engine does not support. Returns
/// `None` if the engine supports all of them.
fn missing_call(cell: &Cell) -> Option<String> {
    let engine = engine(&cell.engine);
    let lacks = |step: StoreStep| match step {
        StoreStep::Compact => !engine.compacts_on_request(),
        StoreStep::Checkpoint => !engine.makes_checkpoints(),
        _ => false,
    };
    let in_mix = [
        (Kind::DeleteRange, engine.deletes_ranges()),
        (Kind::SingleDelete, engine.single_deletes()),
        (Kind::Merge, engine.merges()),
        (Kind::PutIfAbsent, engine.puts_if_absent()),
    ];
    let call_of = |phase: &Phase| {
        if let Some(step) = phase.step() {
            return lacks(step).then(|| format!("step = \"{}\"", step.name()));
        }
        let alone = in_mix.into_iter().find(|(kind, has_call)| !has_call && executes(phase, *kind));
        let member = Kind::BATCHED.into_iter().find(|kind| batches(phase, *kind) && !engine.batches(*kind));
        let alone = alone.map(|(kind, _)| format!("{kind} in the mix"));
        alone.or_else(|| member.map(|kind| format!("{kind} in the batch_mix")))
    };
    let phases = &cell.task.workload()?.phases;
    let (missing, phase) = phases.iter().find_map(|phase| Some((call_of(phase)?, &phase.name)))?;
    Some(format!("engine \"{}\" cannot execute {missing} of phase \"{phase}\"", engine_label(&cell.engine)))
}

/// Returns the reason why the sweep must skip this configuration: its engine cannot run with these settings. Returns
/// `None` if the engine can run the configuration.
pub(super) fn refusal(mode: RunMode, cell: &Cell) -> Option<String> {
    let (built, engine) = (engine(&cell.engine), engine_label(&cell.engine));
    if mode == RunMode::Counted && is_limited(&cell.engine, Limit::NotDeterministic) {
        return Some(format!("engine \"{engine}\" cannot run in counted mode ({COUNTED})"));
    }
    let unfit = unfit_design(cell).or_else(|| families::problem(mode, cell));
    if let Some(missing) = unfit.or_else(|| missing_call(cell)) {
        return Some(missing);
    }
    if !built.reads_whole_design() {
        let limits = cell.design.limits();
        if let Some((axis, choice, _)) = limits.into_iter().find(|(_, _, limit)| *limit == Limit::NotDurable)
        {
            return Some(format!(
                "engine \"{engine}\" needs files, but {axis} = \"{choice}\" has no files; use another \
                 variant, such as \"pread\""
            ));
        }
        if cell.design.to_toml().contains_key("memory") {
            return Some(format!(
                "engine \"{engine}\" has no equivalent of design.memory; remove design.memory, and set \
                 memtable.capacity and cache.capacity"
            ));
        }
    }
    let asks_more = |rate: &Rate| {
        matches!(rate, Rate::Sustained(search)
            if search.objective.stalls_ns.is_some() || search.objective.level0_runs.is_some())
    };
    let phases = cell.task.workload().map_or(&[][..], |workload| &workload.phases);
    let asking = phases.iter().find(|phase| asks_more(&phase.rate));
    if let Some(phase) = asking.filter(|_| !built.reports_levels_and_stalls()) {
        let name = &phase.name;
        return Some(format!(
            "engine \"{engine}\" does not report stalls and level-0 runs, but phase.{name}.rate limits \
             them; remove `stalls` and `level0_runs` from this rate"
        ));
    }
    built.identify().err().map(|missing| missing.to_string())
}
