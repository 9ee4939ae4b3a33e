//! Computes the residual of each closed form against the simulator, an enumeration or a simulated cache, as a table in
//! `docs/explanation/performance-model.md`.
//!
//! `LSMBENCH_REWRITE=1 cargo test -p lsmbench-theory --test suite residuals` updates the table.

use std::fmt::Write as _;
use std::path::Path;

use catalog::Choice;
use compaction::{CATALOG, SimulatedLoad, SimulatedWrites, Simulator, simulate};
use lsmbench_theory::{
    Eviction, FilterLevel, Fluid, KLsm, PopularKeyOrder, allocate, fpr, least_writes, levels_and_runs,
    write_amp,
};
use rand::SeedableRng;
use rand::distr::Distribution;
use rand::seq::SliceRandom;
use rand_distr::Zipf;
use rand_xoshiro::Xoshiro256PlusPlus;
use toml::Value;

use crate::closed_forms::LOAD;
use crate::hit_rates::{BLOCK_BYTES, cache, play, popularity};

/// The lines before and after the table.
const START: &str = "<!-- residuals; LSMBENCH_REWRITE=1 writes this table again -->\n";
const END: &str = "<!-- end of the residuals -->\n";

/// The number of flushes for which policies are compared. With T = 2, all levels are then full. With other size ratios,
/// the levels are partly filled.
const FLUSHES: u64 = 512;

/// A predicted value and the exact value.
struct Residual {
    form: &'static str,
    parameters: String,
    predicted: f64,
    exact: f64,
    /// The largest absolute residual, as a fraction of the exact value.
    most: f64,
}

impl Residual {
    fn share(&self) -> f64 {
        self.predicted / self.exact - 1.0
    }
}

fn choice(label: &str) -> Choice {
    CATALOG.choose(&Value::from(label)).unwrap()
}

fn simulated(label: &str, load: SimulatedLoad, flushes: u64) -> SimulatedWrites {
    simulate(&*CATALOG.build(&choice(label)).unwrap(), load, flushes).unwrap()
}

/// Adds the residuals of the policies' closed forms, which are exact.
fn of_policies(rows: &mut Vec<Residual>) {
    for label in [
        "leveled(size_ratio=4)",
        "leveled(size_ratio=10)",
        "l0-tiered(size_ratio=10)",
        "tiered(size_ratio=4)",
        "lazy-leveled(size_ratio=4)",
        "fluid(size_ratio=10, upper_runs=3)",
        "multi-level(size_ratio=4)",
        "horizontal(runs=4)",
    ] {
        let report = simulated(label, LOAD, FLUSHES);
        let row = |form, predicted, exact| Residual {
            form,
            parameters: format!("`{label}`, {FLUSHES} flushes"),
            predicted,
            exact,
            most: 0.0,
        };
        let writes = write_amp(&choice(label), FLUSHES).unwrap();
        rows.push(row("bytes written per byte flushed", writes, report.write_amp()));
        if let Some((_, runs)) = levels_and_runs(&choice(label), FLUSHES) {
            rows.push(row("sorted runs", runs as f64, report.runs() as f64));
        }
    }
}

/// Adds the residuals of the minimum of written bytes for K runs, compared with the policy that writes this minimum.
fn of_least_writes(rows: &mut Vec<Residual>) {
    for runs in [1, 2, 4, 9] {
        let label = format!("horizontal(runs={runs}, flushes={FLUSHES})");
        rows.push(Residual {
            form: "fewest bytes written per byte flushed with K runs",
            parameters: format!("K = {runs}, {FLUSHES} flushes"),
            predicted: least_writes(FLUSHES, runs).unwrap() as f64 / FLUSHES as f64,
            exact: simulated(&label, LOAD, FLUSHES).write_amp(),
            most: 0.0,
        });
    }
}

/// T, K and Z of the trees for which the textbook has formulas.
const TREES: [(u64, u64, u64); 6] = [(4, 1, 1), (4, 3, 3), (10, 1, 1), (10, 3, 1), (10, 9, 1), (10, 9, 9)];

fn fluid((size_ratio, upper_runs, largest_runs): (u64, u64, u64)) -> String {
    format!("fluid(size_ratio={size_ratio}, upper_runs={upper_runs}, largest_runs={largest_runs})")
}

/// Adds the residuals of the textbook's writes for trees with full levels, and of K-LSM's writes and runs for trees
/// with a half-full last level.
fn of_textbook(rows: &mut Vec<Residual>) {
    for tree in TREES {
        let (ratio, upper_runs, largest_runs) = (tree.0 as f64, tree.1 as f64, tree.2 as f64);
        let parameters =
            |flushes: u64| format!("T = {}, K = {}, Z = {}, {flushes} flushes", tree.0, tree.1, tree.2);
        let levels: u32 = if tree.0 == 4 { 5 } else { 3 };
        let full = tree.0.pow(levels) - 1;
        let model = Fluid { size_ratio: ratio, upper_runs, largest_runs };
        rows.push(Residual {
            form: "textbook: bytes written per byte flushed, full levels",
            parameters: parameters(full),
            predicted: model.write_amp(levels).1,
            exact: simulated(&fluid(tree), LOAD, full).write_amp(),
            most: 0.4,
        });
        let half = tree.0.pow(levels) / 2;
        let model = KLsm {
            size_ratio: ratio,
            upper_runs,
            largest_runs,
            entries: (half * LOAD.writes_per_flush) as f64,
            buffer: LOAD.writes_per_flush as f64,
            entries_per_block: 32.0,
        };
        rows.push(Residual {
            form: "K-LSM: bytes written per byte flushed",
            parameters: parameters(half),
            predicted: model.write_amp(),
            exact: simulated(&fluid(tree), LOAD, half).write_amp(),
            most: 0.35,
        });
        let around = Around::new(&fluid(tree), half, tree.0.pow(levels - 1));
        rows.push(Residual {
            form: "K-LSM: blocks that a short scan seeks in, against the most runs",
            parameters: parameters(half),
            predicted: model.scan_seeks(),
            exact: around.most_runs,
            most: 0.6,
        });
        rows.push(Residual {
            form: "K-LSM: blocks per lookup of an absent key, 5 bits per key",
            parameters: parameters(half),
            predicted: model.absent_lookup(5.0),
            exact: around.absent_lookup,
            most: 3.0,
        });
    }
}

/// The observed values of a simulated tree over several flushes.
struct Around {
    /// The largest number of runs after compaction has finished.
    most_runs: f64,
    /// The mean number of blocks that a lookup of an absent key reads, with the best filters for the existing levels.
    absent_lookup: f64,
}

impl Around {
    /// Simulates `flushes` flushes, and observes the last `cycle` flushes.
    fn new(label: &str, flushes: u64, cycle: u64) -> Self {
        let policy = CATALOG.build(&choice(label)).unwrap();
        let mut simulator = Simulator::new(&*policy, LOAD).unwrap();
        let (mut most_runs, mut lookups) = (0, 0.0);
        for flush in 1..=flushes {
            simulator.flush().unwrap();
            if flush + cycle <= flushes {
                continue;
            }
            let report = simulator.report();
            most_runs = most_runs.max(report.runs());
            let level = |level: &compaction::LevelReport| FilterLevel {
                entries: level.entries as f64,
                runs: level.runs as f64,
            };
            let levels: Vec<FilterLevel> = report.levels.iter().map(level).collect();
            let bits = allocate(&levels, 5.0 * (flush * LOAD.writes_per_flush) as f64);
            lookups += levels.iter().zip(bits).map(|(level, bits)| level.runs * fpr(bits)).sum::<f64>();
        }
        Self { most_runs: most_runs as f64, absent_lookup: lookups / cycle as f64 }
    }
}

/// Adds the residuals of the space bound, compared with trees whose keys were overwritten many times. No tree may
/// exceed the bound.
fn of_space(rows: &mut Vec<Residual>) {
    for (tree, keys) in [((4, 1, 1), 192_000), ((4, 3, 1), 192_000), ((4, 3, 3), 64_000)] {
        const FULL: u64 = 255; // 4⁴ − 1
        let load = SimulatedLoad { distinct_keys: Some(keys), ..LOAD };
        let report = simulated(&fluid(tree), load, FULL);
        let stored: u64 = report.levels.iter().map(|level| level.bytes).sum();
        let written = keys as f64 * (1.0 - (-((FULL * LOAD.writes_per_flush) as f64) / keys as f64).exp());
        let (size_ratio, upper_runs, largest_runs) = (tree.0 as f64, tree.1 as f64, tree.2 as f64);
        rows.push(Residual {
            form: "bound of bytes stored per live byte",
            parameters: format!("T = {}, K = {}, Z = {}, {FULL} flushes", tree.0, tree.1, tree.2),
            predicted: Fluid { size_ratio, upper_runs, largest_runs }.most_space_amp(),
            exact: stored as f64 / (written * LOAD.entry_bytes as f64),
            most: 1.0,
        });
    }
}

/// Adds the residuals of Monkey's filters, compared with the best of all enumerated filters.
fn of_filters(rows: &mut Vec<Residual>) {
    const STEPS: i32 = 400;
    let trees = [
        ([(100.0, 1.0), (1000.0, 1.0), (10_000.0, 1.0)], 10.0),
        ([(100.0, 9.0), (900.0, 9.0), (7000.0, 1.0)], 5.0),
    ];
    for (tree, bits_per_key) in trees {
        let levels = tree.map(|(entries, runs)| FilterLevel { entries, runs });
        let total = bits_per_key * levels.iter().map(|level| level.entries).sum::<f64>();
        let cost =
            |bits: &[f64]| levels.iter().zip(bits).map(|(level, bits)| level.runs * fpr(*bits)).sum::<f64>();
        let pairs = (0..=STEPS).flat_map(|first| (0..=STEPS - first).map(move |second| (first, second)));
        let least = pairs.map(|(first, second)| {
            let parts = [first, second, STEPS - first - second];
            let share = |at: usize| total * f64::from(parts[at]) / f64::from(STEPS) / levels[at].entries;
            cost(&[share(0), share(1), share(2)])
        });
        let runs: Vec<String> = levels.iter().map(|level| format!("{}", level.runs)).collect();
        rows.push(Residual {
            form: "Monkey: blocks per lookup of an absent key, against all enumerated filters",
            parameters: format!("levels with {} runs, {bits_per_key} bits per key", runs.join(", ")),
            predicted: cost(&allocate(&levels, total)),
            exact: least.fold(f64::INFINITY, f64::min),
            most: 0.03,
        });
    }
}

/// Adds the residuals of the hit rates by Che and Martina, compared with caches under random requests.
fn of_hit_rates(rows: &mut Vec<Residual>) {
    const KEYS: u64 = 4_000;
    const REQUESTS: usize = 100_000;
    let random = &mut Xoshiro256PlusPlus::seed_from_u64(28);
    let mut places: Vec<u64> = (0..KEYS).collect();
    places.shuffle(random);
    for theta in [0.7, 0.99] {
        let ranks = Zipf::new(KEYS as f64, theta).unwrap();
        let names: Vec<u64> = (0..REQUESTS).map(|_| places[ranks.sample(random) as usize - 1]).collect();
        let keys = popularity(KEYS, |rank| ((rank + 1) as f64).powf(-theta));
        let blocks = keys.of_blocks(1.0, PopularKeyOrder::Scattered).unwrap();
        for (kind, eviction) in [("lru", Eviction::Lru), ("fifo", Eviction::Fifo)] {
            let held = KEYS / 10;
            let cache = cache(&format!("{kind}(capacity={}B, shards=1)", held * BLOCK_BYTES));
            rows.push(Residual {
                form: "hit rate of a cache",
                parameters: format!("`{kind}`, a tenth of the keys, Zipf({theta})"),
                predicted: eviction.hit_rate(&blocks, held as f64),
                exact: play(&*cache, &names, REQUESTS / 2..REQUESTS),
                most: 0.02,
            });
        }
    }
}

fn residuals() -> Vec<Residual> {
    let mut rows = Vec::new();
    for add in [of_policies, of_least_writes, of_textbook, of_space, of_filters, of_hit_rates] {
        add(&mut rows);
    }
    rows
}

fn table(rows: &[Residual]) -> String {
    let mut text =
        String::from("\n| form | parameters | predicted | exact | residual |\n|---|---|--:|--:|--:|\n");
    for row in rows {
        let Residual { form, parameters, predicted, exact, .. } = row;
        let percent = row.share() * 100.0;
        // No residual is written as −0.0.
        let percent = if percent.abs() < 0.05 { 0.0 } else { percent };
        let _ = writeln!(text, "| {form} | {parameters} | {predicted:.3} | {exact:.3} | {percent:.1} % |");
    }
    text.push('\n');
    text
}

#[test]
fn the_page_has_the_residuals_of_all_forms() {
    let rows = residuals();
    let beyond: Vec<String> = rows
        .iter()
        .filter(|row| row.share().abs() > row.most + 1e-12)
        .map(|row| format!("{}, {}: {} instead of {}", row.form, row.parameters, row.predicted, row.exact))
        .collect();
    assert!(beyond.is_empty(), "{}", beyond.join("\n"));
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/explanation/performance-model.md");
    let text = std::fs::read_to_string(&page).unwrap();
    let (before, rest) = text.split_once(START).unwrap();
    let (found, after) = rest.split_once(END).unwrap();
    let expected = table(&rows);
    if std::env::var_os("LSMBENCH_REWRITE").is_some() {
        std::fs::write(&page, format!("{before}{START}{expected}{END}{after}")).unwrap();
        return;
    }
    assert!(
        found == expected,
        "docs/explanation/performance-model.md has other residuals; write them again: \
         LSMBENCH_REWRITE=1 cargo test -p lsmbench-theory --test suite residuals\n{expected}"
    );
}
