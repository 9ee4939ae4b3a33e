//! Finds the design that textbook formulas recommend. The formulas compare three compaction policies with several size
//! ratios.

use experiment::Experiment;
use theory::KLsm;
use toml::{Table, Value};
use tree::Design;
use workload::Workload;

/// The size ratios that the textbook formulas compare.
const RATIOS: [u32; 5] = [2, 4, 6, 8, 10];

/// The number of filter bits per entry in the textbook formulas, as in the papers on Monkey and Dostoevsky.
const BITS: f64 = 10.0;

/// The size of a workload: the number of its keys, and the numbers of its writes, scans, lookups of absent keys, and
/// lookups of present keys.
struct Mix {
    writes: f64,
    absent: f64,
    present: f64,
    scans: f64,
    keys: f64,
}

/// Returns the base design of an experiment with the policy and the size ratio that closed formulas recommend for its
/// workload. Returns `None` if the workload adds no keys or has no operations.
pub(crate) fn textbook(
    experiment: &Experiment,
    workload: &Workload,
    entry_bytes: f64,
) -> Option<(String, Design)> {
    let base = experiment.base_design();
    let mix = mix(workload)?;
    let mut best: Option<(f64, &str, u32)> = None;
    for kind in ["leveled", "tiered", "lazy-leveled"] {
        for ratio in RATIOS {
            let runs = f64::from(ratio - 1);
            let (upper_runs, largest_runs) = match kind {
                "leveled" => (1.0, 1.0),
                "tiered" => (runs, runs),
                _ => (runs, 1.0),
            };
            let tree = KLsm {
                size_ratio: f64::from(ratio),
                upper_runs,
                largest_runs,
                entries: mix.keys,
                buffer: (base.memtable_capacity.0 as f64 / entry_bytes).max(1.0),
                entries_per_block: (base.options.block.size.0 as f64 / entry_bytes).max(1.0),
            };
            let cost = mix.writes * tree.write(1.0)
                + mix.absent * tree.absent_lookup(BITS)
                + mix.present * tree.present_lookup(BITS)
                + mix.scans * tree.scan_seeks();
            if best.is_none_or(|(least, ..)| cost < least) {
                best = Some((cost, kind, ratio));
            }
        }
    }
    let (_, kind, ratio) = best?;
    let label = format!("{kind}(size_ratio={ratio})");
    let mut table = Table::new();
    table.insert("compaction".to_owned(), Value::from(label.clone()));
    Some((label, base.with(&table).ok()?))
}

fn mix(workload: &Workload) -> Option<Mix> {
    let mut mix =
        Mix { writes: 0.0, absent: 0.0, present: 0.0, scans: 0.0, keys: simulation::added_keys(workload) };
    for rates in workload.phases.iter().map(simulation::rates) {
        mix.writes += rates.writes;
        mix.absent += rates.gets * rates.absent;
        mix.present += rates.gets * (1.0 - rates.absent);
        mix.scans += rates.scans;
    }
    (mix.keys > 0.0 && mix.writes + mix.absent + mix.present + mix.scans > 0.0).then_some(mix)
}
