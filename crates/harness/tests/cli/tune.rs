//! `lsmbench tune`: the best design of a space, with the reasons.

use results::columns as c;

use crate::bench::{Bench, number, text};

/// A grid of policies, size ratios and filters, with writes and lookups.
const GRID: &str = r#"
question = "Which design for this mix?"

[design]
memtable   = { capacity = "8KiB" }
bloom      = { kind = "standard", bits_per_key = 8 }
wal        = "none"
cache      = "none"

[[phase]]
name   = "load"
insert = 4_000
value  = { kind = "fixed", bytes = 60 }

[[phase]]
name       = "mixed"
operations = 6_000
mix        = { get = 0.5, put = 0.5 }
absent     = 0.5
value      = { kind = "fixed", bytes = 60 }

[sweep]
"design.compaction" = ["leveled(size_ratio=2)", "leveled(size_ratio=4)", "leveled(size_ratio=8)",
                       "tiered(size_ratio=3)", "tiered(size_ratio=6)", "lazy-leveled(size_ratio=4)"]
"design.bloom.bits_per_key" = [4, 10]

[trials]
count = 1
mode  = "counted"

[tune]
minimise   = "write_amp in mixed"
subject_to = ["blocks_per_get <= 0.9", "memory <= 64KiB"]
simulate   = 6
count      = 3
"#;

#[test]
fn the_advised_design_is_near_the_best_of_an_exhaustive_search() {
    let bench = Bench::new();
    bench.write("grid.toml", GRID);
    bench.ok(&["run", "grid.toml"]);
    let rows = bench.rows("grid");
    let mixed =
        rows.iter().filter(|row| text(row, &c::PHASE) == "mixed" && text(row, &c::OPERATION) == "all");
    let within = mixed.filter(|row| number(row, &c::BLOCKS_PER_GET) <= 0.9);
    let best = within.map(|row| number(row, &c::WRITE_AMP)).fold(f64::INFINITY, f64::min);
    assert!(best.is_finite(), "the limits leave a design");
    let answer = bench.ok(&["tune", "grid.toml"]);
    assert!(answer.contains("Advice: "), "{answer}");
    assert!(answer.contains("limit blocks_per_get <= 0.9: "), "{answer}");
    let table = bench.read("results/grid-tune/candidates.csv");
    let counted: Vec<f64> = table
        .lines()
        .skip(1)
        .filter_map(|line| {
            let cells: Vec<&str> = line.rsplitn(10, ',').collect();
            // From the end: two columns of each layer, then whether the design is within its limits.
            (cells[8] == "true").then(|| cells[3].parse().ok()).flatten()
        })
        .collect();
    let advised = counted.into_iter().fold(f64::INFINITY, f64::min);
    assert!(advised <= best * 1.05, "advised {advised}, best {best}\n{answer}\n{table}");
    for file in ["design.toml", "pareto.csv", "advice.txt"] {
        assert!(bench.path(&format!("results/grid-tune/{file}")).exists(), "{file}");
    }
}

#[test]
fn a_robust_objective_says_up_to_which_drift_it_holds() {
    let bench = Bench::new();
    let robust = "minimise   = \"io_per_op in mixed\"\ndrift = 0.5";
    bench.write("drift.toml", GRID.replace("minimise   = \"write_amp in mixed\"", robust));
    let answer = bench.ok(&["tune", "drift.toml", "--set", "trials.mode=counted"]);
    assert!(answer.contains("This design stays the best"), "{answer}");
}

#[test]
fn objectives_that_make_no_sense_are_rejected_with_advice() {
    let bench = Bench::new();
    for (from, to, message) in [
        ("write_amp in mixed", "writeamp", "unknown metric \"writeamp\""),
        ("write_amp in mixed", "write_amp in nowhere", "unknown phase \"nowhere\""),
        ("write_amp in mixed", "ops_per_second", "use tune.maximise"),
        ("blocks_per_get <= 0.9", "blocks_per_get", "is not a limit; write it as"),
        ("count      = 3", "drift = 1", "set tune.minimise = \\\"io_per_op\\\""),
        ("count      = 3", "counts = 1", "unknown key \"counts\""),
        ("[tune]", "[quick]", "the file has no table [tune]"),
    ] {
        let file = GRID.replace(from, to);
        let file = if to == "[quick]" { file.split("[quick]").next().unwrap().to_owned() } else { file };
        bench.write("grid.toml", file);
        let answer = bench.run(&["tune", "grid.toml"]);
        assert_eq!(answer.code, Some(2), "{answer:?}");
        assert!(answer.err.contains(&message.replace("\\\"", "\"")), "{message}: {}", answer.err);
    }
}
