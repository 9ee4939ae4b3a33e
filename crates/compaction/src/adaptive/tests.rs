//! Tests of the decisions of the policy `adaptive`, on simulated trees.

use super::*;
use crate::operations::Operations;
use crate::simulate::{SimulatedLoad, SimulatedWrites, Simulator};

const LOAD: SimulatedLoad = SimulatedLoad {
    writes_per_flush: 1000,
    entry_bytes: 100,
    entries_per_table: u64::MAX,
    distinct_keys: None,
};

/// A part of a simulated workload that changes over time: a number of flushes, and the reads before each flush.
#[derive(Clone, Copy)]
struct Part {
    flushes: u64,
    reads: Operations,
}

fn part(flushes: u64, scans: u64) -> Part {
    Part { flushes, reads: Operations { scans, ..Operations::default() } }
}

/// Simulates the workload `day` on a tree. Returns the write counters, and the total number of runs that all scans have
/// read.
fn play(policy: &dyn CompactionPolicy, day: &[Part]) -> (SimulatedWrites, u64) {
    let mut simulator = Simulator::new(policy, LOAD).unwrap();
    let (mut reads, mut scanned) = (Operations::default(), 0);
    for part in day {
        for _ in 0..part.flushes {
            for chunk in 0..part.reads.scans.div_ceil(64) {
                let scans = (part.reads.scans - chunk * 64).min(64);
                reads.scans += scans;
                scanned += scans * simulator.report().runs() as u64;
                simulator.note_reads(reads);
                simulator.pick_after_reads().unwrap();
            }
            simulator.flush().unwrap();
        }
    }
    (simulator.report(), scanned)
}

/// Returns the cost of the workload `day` in bytes, with scans that read 4 KiB per run.
fn cost(policy: &dyn CompactionPolicy, day: &[Part]) -> f64 {
    let (report, scanned) = play(policy, day);
    (report.flush_bytes + report.compaction_bytes_written) as f64 + scanned as f64 * 4096.0
}

fn adaptive() -> Box<dyn CompactionPolicy> {
    Adaptive::build(Params::default()).unwrap()
}

fn fluid(setting: &Setting) -> Gathered<Fluid> {
    Gathered(setting.fluid)
}

#[test]
fn writes_alone_are_tiered() {
    let tiered = Gathered(Fluid { size_ratio: 10, upper_runs: 9, largest_runs: 9 });
    let day = [part(250, 0)];
    assert_eq!(play(&*adaptive(), &day), play(&tiered, &day));
}

#[test]
fn a_constant_mix_costs_little_more_than_its_best_setting() {
    for (flushes, scans) in [(200, 3), (160, 30)] {
        let day = [part(flushes, scans)];
        let costs = settings(10).into_iter().map(|setting| cost(&fluid(&setting), &day));
        let best = costs.fold(f64::INFINITY, f64::min);
        let own = cost(&*adaptive(), &day);
        assert!(own < best * 1.15, "{scans} scans per flush: {own:.0}, best {best:.0}");
    }
}

#[test]
fn a_drifting_day_costs_less_than_every_single_setting() {
    let day = [part(111, 0), part(10, 2000), part(100, 0), part(10, 2000)];
    let costs = settings(10).into_iter().map(|setting| cost(&fluid(&setting), &day));
    let best = costs.fold(f64::INFINITY, f64::min);
    let own = cost(&*adaptive(), &day);
    assert!(own < best, "{own:.0}, best {best:.0}");
}

/// Tests that read-triggered merges are never too expensive: they write at most as many bytes as the reads would have
/// cost without these merges.
#[test]
fn reads_pay_for_the_merges_that_they_trigger() {
    let policy = adaptive();
    let mut simulator = Simulator::new(&*policy, LOAD).unwrap();
    (0..333).for_each(|_| simulator.flush().unwrap());
    let before = simulator.report();
    assert_eq!(before.runs(), 9);
    // A scan costs 4 KiB per run, and the setting allows 9 runs in each of three levels.
    for scans in 1..2000 {
        simulator.note_reads(Operations { scans, ..Operations::default() });
        simulator.pick_after_reads().unwrap();
        let written = simulator.report().compaction_bytes_written - before.compaction_bytes_written;
        assert!(written <= scans * 27 * 4096, "{written} bytes after {scans} scans");
    }
    let after = simulator.report();
    assert!(after.runs() < 9 && after.compaction_bytes_written > before.compaction_bytes_written);
}

#[test]
fn a_mix_between_two_settings_does_not_flap() {
    let policy = Adaptive {
        window: 8,
        model: CostModel { horizon: 1.0, read_price: 4096.0, fpr: 0.01 },
        settings: settings(10),
        current: Mutex::new(0),
    };
    let mut simulator = Simulator::new(&policy, LOAD).unwrap();
    let (mut reads, mut changes, mut last) = (Operations::default(), 0, 0);
    for flush in 0..400u64 {
        // The number of scans varies by a tenth around its mean.
        reads.scans += 18 + flush * 7 % 5;
        simulator.note_reads(reads);
        simulator.flush().unwrap();
        let setting = *policy.current.lock();
        changes += u32::from(setting != last);
        last = setting;
    }
    assert!((1..20).contains(&changes), "{changes} changes in 400 flushes");
}

#[test]
fn settings_include_the_textbook_policies() {
    let all = settings(10);
    let has = |size_ratio, upper_runs, largest_runs| {
        all.iter().any(|setting| setting.fluid == Fluid { size_ratio, upper_runs, largest_runs })
    };
    assert_eq!(all[0].fluid, Fluid { size_ratio: 10, upper_runs: 9, largest_runs: 9 });
    for ratio in [3, 4, 5, 6, 7, 8, 10] {
        assert!(has(ratio, 1, 1) && has(ratio, ratio - 1, ratio - 1) && has(ratio, ratio - 1, 1), "{ratio}");
    }
    assert!(has(2, 1, 1) && all.iter().all(|setting| setting.fluid.size_ratio <= 10));
    let mut unique: Vec<Fluid> = Vec::new();
    all.iter().for_each(|setting| {
        assert!(!unique.contains(&setting.fluid), "{:?}", setting.fluid);
        unique.push(setting.fluid);
    });
}
