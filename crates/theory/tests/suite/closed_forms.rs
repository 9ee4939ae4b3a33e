//! Tests the write amplification of every policy in the simulator. The tests compare it with the exact closed form in
//! the policy's documentation, and with the textbook formula. The textbook formula assumes full levels and ignores
//! single compactions.
//!
//! `cargo test -p lsmbench-theory --test suite closed_forms -- --nocapture` shows the table.

use std::fmt::Write;

use catalog::Choice;
use compaction::{CATALOG, FlushedWrites, KeyClass, SimulatedLoad, Simulator, Spread, simulate};
use lsmbench_theory::{
    Fluid as Model, growth, least_writes, levels_and_runs, most_space_amp, separated_growth, write_amp,
};
use toml::Value;

use crate::show;

/// A load of distinct keys, with flushes of equal size.
pub(crate) const LOAD: SimulatedLoad = SimulatedLoad {
    writes_per_flush: 1000,
    entry_bytes: 100,
    entries_per_table: u64::MAX,
    distinct_keys: None,
};

/// The tested numbers of flushes: the numbers in the source documents, and some larger numbers.
const FLUSHES: [u64; 5] = [64, 100, 1000, 4096, 10_000];

/// A policy with its parameters.
#[derive(Clone, Copy, Debug)]
enum Policy {
    None,
    Leveled { size_ratio: f64, level0_runs: u64 },
    LeveledPartial { size_ratio: f64, level0_runs: u64 },
    Tiered { size_ratio: u64 },
    LazyLeveled { size_ratio: u64 },
    Fluid { size_ratio: u64, upper_runs: u64, largest_runs: u64 },
    L0Tiered { size_ratio: f64, level0_runs: u64, level1_memtables: u64 },
    OneLeveling { size_ratio: u64 },
    BinaryCounter,
    Horizontal { runs: u64 },
    MergeAll { runs: u64 },
    MultiLevel { size_ratio: f64, level0_runs: u64 },
    Partial { run_threshold: u64, max_runs: u64 },
    Golden { growth: f64 },
    TimeWindow { window: u64, min_runs: u64 },
    Fifo,
}

use Policy::{
    BinaryCounter, Fifo, Fluid, Golden, Horizontal, L0Tiered, LazyLeveled, Leveled, LeveledPartial, MergeAll,
    MultiLevel, OneLeveling, Partial, Tiered, TimeWindow,
};

const POLICIES: [Policy; 42] = [
    Policy::None,
    Leveled { size_ratio: 4.0, level0_runs: 1 },
    Leveled { size_ratio: 10.0, level0_runs: 1 },
    Leveled { size_ratio: 1.618, level0_runs: 1 },
    Leveled { size_ratio: 2.5, level0_runs: 3 },
    LeveledPartial { size_ratio: 4.0, level0_runs: 1 },
    LeveledPartial { size_ratio: 10.0, level0_runs: 4 },
    Tiered { size_ratio: 2 },
    Tiered { size_ratio: 4 },
    Tiered { size_ratio: 10 },
    LazyLeveled { size_ratio: 3 },
    LazyLeveled { size_ratio: 4 },
    LazyLeveled { size_ratio: 10 },
    Fluid { size_ratio: 4, upper_runs: 1, largest_runs: 1 },
    Fluid { size_ratio: 4, upper_runs: 3, largest_runs: 3 },
    Fluid { size_ratio: 4, upper_runs: 3, largest_runs: 1 },
    Fluid { size_ratio: 10, upper_runs: 1, largest_runs: 1 },
    Fluid { size_ratio: 10, upper_runs: 9, largest_runs: 9 },
    Fluid { size_ratio: 10, upper_runs: 9, largest_runs: 1 },
    Fluid { size_ratio: 10, upper_runs: 3, largest_runs: 1 },
    Fluid { size_ratio: 10, upper_runs: 4, largest_runs: 2 },
    Fluid { size_ratio: 2, upper_runs: 1, largest_runs: 1 },
    L0Tiered { size_ratio: 4.0, level0_runs: 4, level1_memtables: 0 },
    L0Tiered { size_ratio: 10.0, level0_runs: 4, level1_memtables: 0 },
    L0Tiered { size_ratio: 4.0, level0_runs: 3, level1_memtables: 7 },
    OneLeveling { size_ratio: 4 },
    OneLeveling { size_ratio: 10 },
    BinaryCounter,
    Horizontal { runs: 1 },
    Horizontal { runs: 2 },
    Horizontal { runs: 4 },
    Horizontal { runs: 9 },
    MergeAll { runs: 4 },
    MultiLevel { size_ratio: 4.0, level0_runs: 1 },
    MultiLevel { size_ratio: 10.0, level0_runs: 1 },
    MultiLevel { size_ratio: 1.618, level0_runs: 1 },
    MultiLevel { size_ratio: 2.5, level0_runs: 3 },
    Partial { run_threshold: 4, max_runs: 3 },
    Partial { run_threshold: 10, max_runs: 4 },
    Golden { growth: 1.618 },
    TimeWindow { window: 64, min_runs: 4 },
    Fifo,
];

impl Policy {
    fn label(self) -> String {
        match self {
            Self::None => "none".to_owned(),
            Leveled { size_ratio, level0_runs } => {
                format!("leveled(size_ratio={size_ratio:?}, level0_runs={level0_runs})")
            }
            LeveledPartial { size_ratio, level0_runs } => {
                format!("leveled-partial(size_ratio={size_ratio:?}, level0_runs={level0_runs})")
            }
            Tiered { size_ratio } => format!("tiered(size_ratio={size_ratio})"),
            LazyLeveled { size_ratio } => format!("lazy-leveled(size_ratio={size_ratio})"),
            Fluid { size_ratio, upper_runs, largest_runs } => format!(
                "fluid(size_ratio={size_ratio}, upper_runs={upper_runs}, largest_runs={largest_runs})"
            ),
            L0Tiered { size_ratio, level0_runs, level1_memtables } => format!(
                "l0-tiered(level0_runs={level0_runs}, size_ratio={size_ratio:?}, level1_memtables={level1_memtables})"
            ),
            OneLeveling { size_ratio } => format!("one-leveling(size_ratio={size_ratio})"),
            BinaryCounter => "binary-counter".to_owned(),
            Horizontal { runs } => format!("horizontal(runs={runs})"),
            Fifo => "fifo(capacity=1MiB)".to_owned(),
            MergeAll { runs } => format!("merge-all(runs={runs})"),
            MultiLevel { size_ratio, level0_runs } => {
                format!("multi-level(size_ratio={size_ratio:?}, level0_runs={level0_runs})")
            }
            Partial { run_threshold, max_runs } => {
                format!("partial(run_threshold={run_threshold}, max_runs={max_runs})")
            }
            Golden { growth } => format!("golden(growth={growth:?})"),
            TimeWindow { window, min_runs } => format!("time-window(window={window}, min_runs={min_runs})"),
        }
    }

    fn simulated(self, flushes: u64) -> f64 {
        simulated(&self.label(), LOAD, flushes)
    }

    fn choice(self) -> Choice {
        CATALOG.choose(&Value::String(self.label())).unwrap()
    }

    /// Returns the write amplification according to the closed form of the policy.
    fn exact(self, flushes: u64) -> f64 {
        write_amp(&self.choice(), flushes).unwrap()
    }

    /// Returns the textbook's model of the policy. Returns `None` if the policy is not a Fluid LSM-tree.
    fn as_fluid(self) -> Option<Model> {
        match self {
            Leveled { size_ratio, level0_runs: 1 } | LeveledPartial { size_ratio, level0_runs: 1 } => {
                Some(Model::leveled(size_ratio))
            }
            Tiered { size_ratio } => Some(Model::tiered(size_ratio as f64)),
            LazyLeveled { size_ratio } => Some(Model::lazy_leveled(size_ratio as f64)),
            Fluid { size_ratio, upper_runs, largest_runs } => Some(Model {
                size_ratio: size_ratio as f64,
                upper_runs: upper_runs as f64,
                largest_runs: largest_runs as f64,
            }),
            _ => None,
        }
    }

    /// Returns the textbook's range of write amplification, including 1 for the flush. The number of levels L is the
    /// smallest with T^L ≥ N·(T−1)/T. Returns `None` if T is below 4, because the formula is not intended for a small
    /// T.
    fn textbook(self, flushes: u64) -> Option<(f64, f64)> {
        let model = self.as_fluid().filter(|model| model.size_ratio >= 4.0)?;
        let ratio = model.size_ratio;
        let levels = (flushes as f64 * (ratio - 1.0) / ratio).log(ratio).ceil();
        Some(model.write_amp(levels as u32))
    }
}

/// Returns the write amplification of the policy with this label in the simulator.
fn simulated(label: &str, load: SimulatedLoad, flushes: u64) -> f64 {
    let choice = CATALOG.choose(&Value::String(label.to_owned())).unwrap();
    simulate(&*CATALOG.build(&choice).unwrap(), load, flushes).unwrap().write_amp()
}

#[test]
fn the_closed_forms_are_exact() {
    let mut table = String::from("policy, flushes, simulated, closed form, textbook\n");
    let mut wrong = Vec::new();
    for policy in POLICIES {
        for flushes in FLUSHES {
            let (simulated, exact) = (policy.simulated(flushes), policy.exact(flushes));
            let textbook = policy
                .textbook(flushes)
                .map_or_else(String::new, |(low, high)| format!("{low:.2} to {high:.2}"));
            writeln!(table, "{}, {flushes}, {simulated:.4}, {exact:.4}, {textbook}", policy.label()).unwrap();
            if (simulated / exact - 1.0).abs() > 1e-12 {
                wrong.push(format!("{} after {flushes} flushes: {simulated}, not {exact}", policy.label()));
            }
        }
    }
    show(&table);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Rule: after every number of flushes up to about a thousand, the closed forms give the levels and runs of the
/// simulator. For tiered trees, the textbook's number of levels includes empty levels above the deepest level.
#[test]
fn levels_and_runs_are_those_of_the_simulator() {
    const FLUSHES: u64 = 1_100;
    for policy in POLICIES {
        let built = CATALOG.build(&policy.choice()).unwrap();
        let mut simulator = compaction::Simulator::new(&*built, LOAD).unwrap();
        for flushes in 1..=FLUSHES {
            simulator.flush().unwrap();
            let Some(form) = levels_and_runs(&policy.choice(), flushes) else { continue };
            let report = simulator.report();
            let levels = report.levels.iter().filter(|level| level.runs > 0).count() as u64;
            assert_eq!(form, (levels, report.runs() as u64), "{} after {flushes}", policy.label());
            if let (Tiered { .. }, Some(model)) = (policy, policy.as_fluid()) {
                // Level 0 takes T − 1 flushes, as the model's first level does.
                let deepest = report.levels.iter().rposition(|level| level.runs > 0).unwrap() as u32 + 1;
                assert_eq!(model.levels(flushes as f64), deepest, "{} after {flushes}", policy.label());
                assert!(report.runs() as f64 <= model.most_runs(deepest));
            }
        }
    }
}

/// Rule: if horizontal growth knows the number of flushes in advance, it writes the minimum number of bytes for its
/// number of runs. Otherwise, horizontal growth writes at least this minimum.
#[test]
fn horizontal_growth_writes_the_least_for_its_runs() {
    for runs in 1..=9 {
        for flushes in [1, 2, 3, 7, 10, 33, 64, 100, 256, 512] {
            let label = format!("horizontal(runs={runs}, flushes={flushes})");
            let choice = CATALOG.choose(&Value::String(label.clone())).unwrap();
            let known = simulate(&*CATALOG.build(&choice).unwrap(), LOAD, flushes).unwrap();
            let least = least_writes(flushes, runs).unwrap() as f64 / flushes as f64;
            assert!((known.write_amp() - least).abs() < 1e-12, "{label}: {}, not {least}", known.write_amp());
            assert!((write_amp(&choice, flushes).unwrap() - least).abs() < 1e-12, "{label}");
            // A flush is a run of its own for a moment.
            assert!(known.worst_runs as u64 <= runs + 1 && known.runs() as u64 <= runs, "{label}");
            let unknown = Horizontal { runs }.simulated(flushes);
            assert!(unknown >= least - 1e-12 && unknown < least * 1.7, "{label}: {unknown}");
        }
    }
}

/// Rule: if one SSTable can contain all keys, the growth of a tree comes from the closed form. If SSTables are smaller
/// or keys are overwritten, the growth comes from the simulator.
#[test]
fn growth_is_the_form_or_the_simulation() {
    let policy = Leveled { size_ratio: 4.0, level0_runs: 1 };
    let whole = growth(&policy.choice(), LOAD, 64).unwrap();
    assert!((whole.write_amp - 7.75).abs() < 1e-12 && (whole.levels, whole.runs) == (1, 1), "{whole:?}");
    let partial = LeveledPartial { size_ratio: 4.0, level0_runs: 1 };
    let halves = SimulatedLoad { entries_per_table: 500, ..LOAD };
    let cut = growth(&partial.choice(), halves, 64).unwrap();
    assert!((cut.write_amp - simulated(&partial.label(), halves, 64)).abs() < 1e-12);
    let again = growth(&policy.choice(), SimulatedLoad { distinct_keys: Some(10_000), ..LOAD }, 64).unwrap();
    assert!(again.write_amp < whole.write_amp, "{again:?}");
    assert!(growth(&partial.choice(), SimulatedLoad { entry_bytes: 0, ..halves }, 64).is_err());
}

/// Rule: in full trees whose keys were all overwritten repeatedly, the stored bytes stay below the textbook's bound.
#[test]
fn full_trees_take_no_more_space_than_the_bound() {
    for policy in [Tiered { size_ratio: 4 }, Leveled { size_ratio: 4.0, level0_runs: 1 }] {
        let flushes = 255; // 4⁴ − 1: every level of a tree of four is full.
        let keys = match policy {
            // Each run of the largest level holds all keys; so does the single run of a leveled one.
            Tiered { .. } => 64_000,
            _ => 192_000,
        };
        let built = CATALOG.build(&policy.choice()).unwrap();
        let load = SimulatedLoad { distinct_keys: Some(keys), ..LOAD };
        let report = simulate(&*built, load, flushes).unwrap();
        let stored: u64 = report.levels.iter().map(|level| level.bytes).sum();
        let written = keys as f64 * (1.0 - (-255_000.0 / keys as f64).exp()) * 100.0;
        let bound = policy.as_fluid().unwrap().most_space_amp();
        assert!(stored as f64 / written < bound, "{}: {}", policy.label(), stored as f64 / written);
        assert!(stored as f64 / written > 1.0, "{}", policy.label());
    }
}

/// Rule: the textbook's bound of space exists only for policies with T, K and Z.
#[test]
fn the_textbook_s_space_is_known_of_its_policies_alone() {
    let most = |label: &str| {
        let choice = CATALOG.choose(&Value::String(label.to_owned())).unwrap();
        most_space_amp(&choice)
    };
    let near = |label: &str, expected: f64| {
        let most = most(label).unwrap();
        assert!((most - expected).abs() < 1e-12, "{label}: {most}");
    };
    near("leveled(size_ratio=10)", 10.0 / 9.0);
    near("lazy-leveled(size_ratio=4)", 4.0 / 3.0);
    near("tiered(size_ratio=4)", 4.0);
    near("fluid(size_ratio=4, upper_runs=3, largest_runs=2)", 8.0 / 3.0);
    assert_eq!((most("universal"), most("none"), most("fifo")), (None, None, None));
}

/// Rule: the written bytes are 0.6 to 1.13 times the upper end of the textbook's range. The textbook assumes a full last
/// level, which is rare. The textbook also omits the last compaction of a level, or the arrival of the data itself.
#[test]
fn the_textbook_is_near() {
    for policy in POLICIES {
        for flushes in FLUSHES {
            let Some((_, high)) = policy.textbook(flushes) else { continue };
            let ratio = policy.simulated(flushes) / high;
            assert!((0.6..=1.13).contains(&ratio), "{} after {flushes} flushes: {ratio}", policy.label());
        }
    }
}

/// Rule: if every level was filled, a leveled level costs (T+1)/2 − 1/T writes, and a tiered level costs 1 write. For
/// leveled trees, the total is at most half a write per level above the upper end of the textbook formula.
#[test]
fn full_trees_cost_what_the_documentation_says_per_level() {
    for (size_ratio, exponent) in [(4, 6), (10, 4)] {
        let flushes = u64::pow(size_ratio, exponent);
        let (ratio, levels) = (size_ratio as f64, f64::from(exponent));
        let one_run = f64::midpoint(ratio, 1.0) - 1.0 / ratio;
        // The last level has its first run, which was moved there without a rewrite.
        let leveled = Leveled { size_ratio: ratio, level0_runs: 1 }.simulated(flushes);
        assert!((leveled - 1.0 - levels * one_run).abs() < 1e-9, "{leveled}");
        let tiered = Tiered { size_ratio }.simulated(flushes);
        assert!((tiered - 1.0 - levels).abs() < 1e-9, "{tiered}");
        let (low, high) = Leveled { size_ratio: ratio, level0_runs: 1 }.textbook(flushes).unwrap();
        assert!(low < leveled && leveled < high + levels / 2.0);
    }
}

/// Tests policies that have no closed form if SSTables are smaller than runs. Here, an SSTable has half the size of a
/// buffer. If a level is compacted SSTable by SSTable, it costs at most T + 1 writes per entry, and at least 0.8 times
/// as many writes as a level that is compacted as a whole.
#[test]
fn handing_down_tables_costs_at_most_a_full_level_below() {
    const FLUSHES: u64 = 256;
    let halves = SimulatedLoad { entries_per_table: 500, ..LOAD };
    let pickers = [
        "round-robin",
        "least-overlap",
        "least-overlap-grandparent",
        "oldest",
        "coldest",
        "largest",
        "most-tombstones",
        "tombstone-ttl",
    ];
    let partial = pickers
        .map(|picker| (format!("leveled-partial(size_ratio=4, level0_runs=1, picker={picker})"), 4.0, 4.0));
    let others = [
        ("one-leveling(size_ratio=4)".to_owned(), 4.0, 3.0),
        ("golden".to_owned(), 1.618, 10.0),
        ("universal".to_owned(), 2.0, 9.0),
    ];
    let mut wrong = Vec::new();
    let mut table = String::from("policy, flushes, table of a run, table of half a buffer\n");
    for (label, ratio, levels) in partial.into_iter().chain(others) {
        let (whole, cut) = (simulated(&label, LOAD, FLUSHES), simulated(&label, halves, FLUSHES));
        writeln!(table, "{label}, {FLUSHES}, {whole:.4}, {cut:.4}").unwrap();
        if cut > 1.0 + levels * (ratio + 1.0) || cut < whole * 0.8 {
            wrong.push(format!("{label}: {cut}, {whole} with whole runs"));
        }
    }
    show(&table);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Simulates flushes whose SSTables are smaller than a memtable, because the values are in blob files.
#[test]
fn forms_for_keys_and_pointers_are_those_of_the_simulator() {
    let class = KeyClass { keys: f64::INFINITY, share: 1.0 };
    let writes =
        FlushedWrites { adds: LOAD.writes_per_flush as f64, draws: 0.0, deletes: 0.0, within: (0.0, 1.0) };
    let flush_bytes = LOAD.writes_per_flush * LOAD.entry_bytes;
    let mut forms = 0;
    for policy in POLICIES {
        let choice = policy.choice();
        let built = CATALOG.build(&choice).unwrap();
        for flushes_per_memtable in [2, 3, 20] {
            let contents = Spread::new(vec![class], LOAD.entry_bytes, LOAD.entry_bytes, u64::MAX);
            let mut simulator = Simulator::of(&*built, flush_bytes * flushes_per_memtable, contents);
            for flushes in 1..=300 {
                let flush = |contents: &mut Spread, first| contents.flush(writes, first);
                simulator.flush_with(flush_bytes, flush).unwrap();
                let Some(growth) = separated_growth(&choice, flushes, 1.0 / flushes_per_memtable as f64)
                else {
                    continue;
                };
                forms += 1;
                let report = simulator.report();
                let written = (report.flush_bytes + report.compaction_bytes_written) as f64;
                let simulated = written / report.flush_bytes as f64;
                let difference = (growth.write_amp / simulated - 1.0).abs();
                assert!(
                    difference < 1e-9,
                    "{policy:?}, {flushes} flushes: {growth:?}, simulated {simulated}"
                );
                assert_eq!(growth.runs, report.runs() as u64, "{policy:?}, {flushes} flushes");
            }
        }
    }
    assert!(forms > 10_000, "{forms} forms");
}
