//! Finds metrics that can never have a value in the phase of the verdict. The error contains the reason, and the
//! setting that would provide a value. A metric that lacks a value only in some runs is no error.

use results::{Metric, RunMode, Unit, columns as c};
use tree::{Design, Mapped};
use workload::{Kind, Mixed, Phase, Rate, Work};

use super::cell::Cell;
use super::engine::engine;
use super::trials::Trials;

/// The metrics per byte that the user writes, such as the write amplification. They have no value in a phase without
/// writes.
const PER_WRITTEN_BYTE: [Metric; 8] = [
    c::WRITE_AMP,
    c::WRITE_AMP_WAL,
    c::WRITE_AMP_SETTLED,
    c::WRITE_AMP_WAL_SETTLED,
    c::OS_WRITE_AMP,
    c::OS_WRITE_AMP_SETTLED,
    c::EXPECTED_WRITE_AMP,
    c::WRITE_AMP_RESIDUAL,
];

/// The metrics per point lookup, such as the number of blocks that a get reads. They have no value in a phase without
/// lookups.
const PER_LOOKUP: [Metric; 4] =
    [c::BLOCKS_PER_GET, c::EXPECTED_BLOCKS_PER_GET, c::BLOCKS_PER_GET_RESIDUAL, c::FPR];

/// The metrics of scans. They have no value in a phase without scans.
const PER_SCAN: [Metric; 3] = [c::RANGE_FPR, c::SOURCES_PER_RANGE, c::COMPARISONS_PER_ENTRY];

/// The metrics of the block cache, such as its hit rate. They have no value if all reads bypass the cache.
const OF_CACHE: [Metric; 3] = [c::CACHE_HIT_RATE, c::EXPECTED_HIT_RATE, c::HIT_RATE_RESIDUAL];

/// The metrics of response times. They have no value in a phase without an open loop, because only an open loop has
/// intended start times.
const OPEN_LOOP: [Metric; 6] = [
    c::RESPONSE_MEAN_NS,
    c::RESPONSE_P50_NS,
    c::RESPONSE_P99_NS,
    c::RESPONSE_P999_NS,
    c::RESPONSE_P9999_NS,
    c::RESPONSE_MAX_NS,
];

/// The metrics of the process and its files. Like times, they have no value in counted mode.
const OF_PROCESS: [Metric; 8] = [
    c::RSS_PEAK_BYTES,
    c::OS_WRITE_BYTES,
    c::OS_WRITE_BYTES_SETTLED,
    c::OS_READ_BYTES,
    c::OS_WRITE_AMP,
    c::OS_WRITE_AMP_SETTLED,
    c::DISK_BYTES,
    c::DISK_PEAK_BYTES,
];

/// Returns whether a metric has values only in timed runs.
pub(super) fn takes_time(metric: &Metric) -> bool {
    let is_time = matches!(
        metric.unit,
        Unit::Nanoseconds | Unit::Seconds | Unit::OperationsPerSecond | Unit::MegabytesPerSecond
    );
    let of_process = OF_PROCESS.iter().chain(c::HARDWARE).chain([&c::ALLOCATIONS_PER_OP]);
    !metric.is_exact() && (is_time || of_process.into_iter().any(|other| other == metric))
}

/// Returns the reason why a metric cannot have a value in the phase `phase`, and the setting that would provide a
/// value. Returns `None` if the metric can have a value.
pub(super) fn hindrance(metric: &Metric, cell: &Cell, phase: &str, trials: &Trials) -> Option<String> {
    let mode = trials.mode;
    if *metric == c::USER_INSTRUCTIONS_PER_OP && trials.instructions.is_none() {
        return Some("only valgrind measures this metric; set trials.instructions = 20_000".to_owned());
    }
    if mode == RunMode::Counted && takes_time(metric) {
        return Some("counted mode measures no time; use trials.mode = \"timed\"".to_owned());
    }
    let workload = cell.task.workload()?;
    let judged = workload.phases.iter().find(|other| other.name == phase)?;
    let others = |does: fn(&Phase) -> bool| {
        let others = workload.phases.iter().filter(|other| does(other)).map(|other| other.name.as_str());
        others.collect::<Vec<&str>>()
    };
    let instead = |does: fn(&Phase) -> bool| match others(does).last() {
        Some(other) => format!("use verdict.phase = \"{other}\""),
        None => "add a phase for this metric".to_owned(),
    };
    let is_one_of = |list: &[Metric]| list.contains(metric);
    if is_one_of(&PER_WRITTEN_BYTE) && !judged.may_write() {
        return Some(format!(
            "phase \"{phase}\" writes nothing; {advice}",
            advice = instead(Phase::may_write)
        ));
    }
    if is_one_of(&PER_LOOKUP) && !looks_up(judged) {
        return Some(format!("phase \"{phase}\" looks up no key; {advice}", advice = instead(looks_up)));
    }
    if *metric == c::READ_AMP && judged.may_write() {
        return Some(format!(
            "phase \"{phase}\" has operations other than reads; {advice}",
            advice = instead(only_reads)
        ));
    }
    if is_one_of(&PER_SCAN) && !scans(judged) {
        return Some(format!("phase \"{phase}\" has no scan; {advice}", advice = instead(scans)));
    }
    if is_one_of(&OPEN_LOOP) && !is_open(judged) {
        return Some(format!(
            "phase \"{phase}\" runs in a closed loop, but this metric needs an open loop, in which operations \
             start at a fixed rate; set a rate, such as phase.{phase}.rate = 10_000"
        ));
    }
    if *metric == c::SUSTAINED_OPS_PER_SECOND && !matches!(judged.rate, Rate::Sustained(_)) {
        return Some(format!(
            "phase \"{phase}\" has no rate search; set phase.{phase}.rate = {{ p99 = \"1ms\" }}"
        ));
    }
    if *metric == c::SETTLED_OPS_PER_SECOND && !judged.settle {
        return Some(format!(
            "phase \"{phase}\" does not wait for pending flushes and compactions; remove `settle = false` from the phase"
        ));
    }
    (is_one_of(&OF_CACHE) && bypasses_cache(cell)).then(|| {
        "reads of memory-mapped SSTables bypass the cache; use design.block.mapped = \"cached\"".to_owned()
    })
}

/// Returns whether the reads of a configuration bypass the block cache, because lsmbench reads the blocks of mapped
/// files in place. If the fence pointers have their own pages, reads of these pages use the block cache.
fn bypasses_cache(cell: &Cell) -> bool {
    let (design, default) = (&cell.design, Design::default());
    let is_default = |axis: &str| design.choice(axis).kind() == default.choice(axis).kind();
    let is_plain = ["storage", "compression", "fence"].into_iter().all(is_default);
    is_plain && design.options.block.mapped == Mapped::InPlace && engine(&cell.engine).reads_whole_design()
}

fn mix(phase: &Phase, kinds: &[Kind]) -> bool {
    match &phase.work {
        Work::Load(_) | Work::Step(_) => false,
        Work::Mixed(mixed) => has_any(mixed, kinds),
        Work::Roles(roles) => roles.iter().any(|role| has_any(&role.mixed, kinds)),
        // The operations in a replayed file are not known in advance, so the phase may execute these kinds.
        Work::Replay(_) => true,
    }
}

fn has_any(mixed: &Mixed, kinds: &[Kind]) -> bool {
    kinds.iter().any(|kind| mixed.mix.has(*kind))
}

/// Returns whether the phase or one of its roles is an open loop, so that its operations have response times.
fn is_open(phase: &Phase) -> bool {
    match phase.roles() {
        [] => phase.rate != Rate::Closed,
        roles => roles.iter().any(|role| role.rate != Rate::Closed),
    }
}

fn only_reads(phase: &Phase) -> bool {
    (looks_up(phase) || scans(phase)) && !phase.may_write()
}

fn looks_up(phase: &Phase) -> bool {
    mix(phase, &[Kind::Get, Kind::MultiGet, Kind::ReadModifyWrite])
}

fn scans(phase: &Phase) -> bool {
    mix(phase, &[Kind::Range, Kind::Prefix, Kind::First, Kind::Last])
}
