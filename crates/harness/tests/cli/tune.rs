//! Tests of `lsmbench tune`, which searches for the best design of a space and prints reasons.

use results::columns as c;

use crate::bench::{Bench, number, text};

/// An experiment that tunes compaction policies, size ratios and filters for a mix of writes and lookups.
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

/// Tests two designs that differ only in their memtable capacity. Their labels in the derived experiments must differ.
#[test]
fn memtable_capacities_are_tuned() {
    let bench = Bench::new();
    let swept = GRID
        .replace("[sweep]\n", "[sweep]\n\"design.memtable.capacity\" = [\"4KiB\", \"8KiB\"]\n")
        .replace(", \"memory <= 64KiB\"", "")
        .replace("simulate   = 6\ncount      = 3", "simulate   = 24\ncount      = 12");
    bench.write("grid.toml", swept);
    let answer = bench.run(&["tune", "grid.toml"]).expect(0);
    assert!(answer.out.contains("Advice: "), "{answer:?}");
    assert!(!answer.err.contains("warning: "), "{}", answer.err);
    let counted = bench.read("results/grid-tune/counted.toml");
    assert!(counted.contains("\"design.memtable.capacity\" = ["), "{counted}");
}

/// Tests designs with a memory budget. The derived experiments and the advised design must not set the cache capacity,
/// because the budget determines this capacity.
#[test]
fn designs_with_a_memory_budget_are_tuned() {
    let bench = Bench::new();
    let budget =
        GRID.replace("cache      = \"none\"", "cache      = \"lru(shards=1)\"\nmemory     = \"256KiB\"");
    assert_ne!(budget, GRID);
    bench.write(
        "budget.toml",
        budget.replace(", \"memory <= 64KiB\"", "").replace("simulate   = 6", "simulate   = 3"),
    );
    let answer = bench.ok(&["tune", "budget.toml"]);
    assert!(answer.contains("Advice: "), "{answer}");
    bench.ok(&["describe", "budget.toml", "--design", "results/budget-tune/design.toml"]);
}

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
    assert_front(&bench, &table);
}

/// Checks the chart of the Pareto set. The chart must contain the counted designs, their predictions, and the confirmed
/// designs.
fn assert_front(bench: &Bench, candidates: &str) {
    let points = bench.read("results/grid-tune/pareto-front.csv");
    let of = |series: &str| points.lines().filter(|line| line.starts_with(series)).count();
    let counted = candidates.lines().skip(1).filter(|line| {
        let cells: Vec<&str> = line.rsplitn(10, ',').collect();
        !cells[3].is_empty()
    });
    assert_eq!(of("counted"), counted.count(), "{points}");
    assert!(of("theory,") >= of("counted") && of("simulated,") >= of("counted"), "{points}");
    assert!(of("\"confirmed: ") + of("confirmed: ") >= 2, "{points}");
}

#[test]
fn a_map_shows_the_best_design_of_each_field() {
    let bench = Bench::new();
    let limits = "subject_to = [\"blocks_per_get <= 0.9\", \"memory <= 64KiB\"]";
    bench.write("grid.toml", GRID.replace(limits, "confirm = false").replace("count      = 3", "count = 0"));
    bench.ok(&["tune", "grid.toml"]);
    let candidates = bench.read("results/grid-tune/candidates.csv");
    let map = "results/grid-tune/map-compaction-by-compaction-size_ratio";
    let fields = bench.read(&format!("{map}.csv"));
    let fields: Vec<&str> = fields.lines().skip(1).collect();
    assert_eq!(fields.len(), 6, "{fields:?}");
    for field in fields {
        let cells: Vec<&str> = field.split(',').collect();
        let label = format!("{}(size_ratio={})", cells[0], cells[1]);
        // Theory evaluated the most designs. Its objective is eight cells from the end of a row.
        let objective = |line: &str| line.rsplit(',').nth(7)?.parse().ok();
        let of_theory = candidates.lines().filter(|line| line.starts_with(&label)).filter_map(objective);
        let least = of_theory.fold(f64::INFINITY, f64::min);
        let drawn: f64 = cells[2].parse().unwrap();
        assert!((drawn - least).abs() < 1e-9, "{label}: drawn {drawn}, least {least}\n{candidates}");
    }
    let svg = bench.read(&format!("{map}.svg"));
    // Tiered has no design with a size ratio of 2, so its field has a dash.
    for text in [
        "Best write amplification by",
        "each field of the map shows the best design that meets the limits of the",
        "\n–\n",
        "lazy-leveled",
    ] {
        assert!(svg.contains(text), "{text}: {svg}");
    }
    for other in ["compaction-by-bloom-bits_per_key", "compaction-size_ratio-by-bloom-bits_per_key"] {
        assert!(bench.path(&format!("results/grid-tune/map-{other}.svg")).exists(), "{other}");
    }
}

#[test]
fn layers_without_time_report_the_time_of_the_device() {
    let bench = Bench::new();
    let timed = GRID.replace("minimise   = \"write_amp in mixed\"", "maximise = \"ops_per_second in mixed\"");
    bench.write("rate.toml", timed.replace("count      = 3", "count = 0\nconfirm = false"));
    let answer = bench.ok(&["tune", "rate.toml"]);
    assert!(answer.contains("compare device time per operation instead of ops_per_second"), "{answer}");
    let said = answer.lines().find(|line| line.contains("ops_per_second in phase mixed: theory ")).unwrap();
    assert_eq!(said.matches("µs").count(), 2, "{said}");
    let head = "label,within_limits,device_ns_per_op_theory,memory_theory,device_ns_per_op_simulated";
    assert!(bench.read("results/rate-tune/candidates.csv").starts_with(head));
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

/// An experiment that tunes the options of another engine.
const OPTIONS: &str = r#"
question = "Which options of RocksDB?"
engine   = "rocksdb"

[design]
memtable = { capacity = "64KiB" }

[[phase]]
name   = "load"
insert = 3_000
value  = { kind = "fixed", bytes = 60 }

[[phase]]
name       = "mixed"
operations = 2_000
mix        = { get = 0.5, put = 0.5 }
value      = { kind = "fixed", bytes = 60 }

[sweep]
"engine.options" = ["write_buffer_size=67108864", "level0_file_num_compaction_trigger=2",
                    "level0_file_num_compaction_trigger=8"]

[trials]
count = 2
noise = false

[tune]
minimise = "mean_ns of put in mixed"
"#;

#[test]
#[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
fn options_of_another_engine_race_without_models() {
    if std::env::var_os("LSMBENCH_ROCKSDB").is_none() {
        return eprintln!("NOT CHECKED: the options of RocksDB, because LSMBENCH_ROCKSDB names no library");
    }
    let bench = Bench::new();
    bench.write("options.toml", OPTIONS);
    let answer = bench.ok(&["tune", "options.toml", "--allow-debug"]);
    assert!(answer.contains("mean_ns in phase mixed: measured "), "{answer}");
    assert!(!answer.contains("device time"), "{answer}");
    assert!(bench.read("results/options-tune/engine.toml").contains("kind = \"rocksdb\""));
    let raced = bench.read("results/options-tune/candidates.csv");
    let measured = |line: &str| line.rsplit(',').nth(1).is_some_and(|cell| cell.parse::<f64>().is_ok());
    assert_eq!(raced.lines().skip(1).filter(|line| measured(line)).count(), 3, "{raced}");
    let confirmed = bench.read("results/options-tune/pareto-front.csv");
    for series in
        ["confirmed: rocksdb, equal terms", "confirmed: rocksdb(options=\"\"write_buffer_size=67108864"]
    {
        assert!(confirmed.contains(series), "{series}: {confirmed}");
    }
    bench.write("options.toml", OPTIONS.replace("mean_ns of put in mixed", "io_per_op"));
    let refused = bench.run(&["tune", "options.toml", "--allow-debug"]).refusal();
    assert!(refused.contains("io_per_op exists only for the engine \"lsmbench\""), "{refused}");
}

/// An experiment that tunes policies, filters and memtables for a mix. A test replaces the texts in `{…}` by values.
const REGRET: &str = r#"
question = "How far is the advised design from the best design?"

[design]
wal   = "none"
cache = "none"

[[phase]]
name   = "load"
insert = 4_000
value  = { kind = "fixed", bytes = 60 }

[[phase]]
name       = "mixed"
operations = 4_000
mix        = {MIX}
{ABSENT}
{RANGE}
value      = { kind = "fixed", bytes = 60 }

[sweep]
"design.compaction" = [{POLICIES}]
"design.memtable.capacity" = [{CAPACITIES}]
"design.bloom" = [{BLOOMS}]

[trials]
count = 1
mode  = "counted"

[tune]
{OBJECTIVE}
simulate = {SIMULATE}
count    = 0
confirm  = false
"#;

/// The name, the mix and the objective of each grid.
const GRIDS: [(&str, &str, &str); 3] = [
    (
        "writes",
        "{ put = 0.8, get = 0.2 }",
        "minimise = \"write_amp in mixed\"\nsubject_to = [\"blocks_per_get <= 0.8\"]",
    ),
    ("gets", "{ put = 0.3, get = 0.7 }", "minimise = \"io_per_op in mixed\""),
    (
        "scans",
        "{ put = 0.6, range = 0.4 }",
        "minimise = \"io_per_op in mixed\"\nsubject_to = [\"memory <= 80KiB\"]",
    ),
];

/// Returns the experiment of a grid in which the search simulates `simulate` designs, and the number of its
/// configurations. In a nightly run, the grid has about 500 configurations, otherwise 16.
fn grid(mix: &str, objective: &str, simulate: usize) -> (String, usize) {
    let is_full = catalog::laws::is_nightly();
    let mut policies = Vec::new();
    for ratio in if is_full { vec![2, 3, 4, 6, 8, 10] } else { vec![3, 8] } {
        for kind in ["leveled", "tiered", "lazy-leveled", "l0-tiered"] {
            policies.push(format!("\"{kind}(size_ratio={ratio})\""));
        }
    }
    let (capacities, bits) = match is_full {
        true => (vec![4, 8, 16, 32], vec![2, 5, 8, 10, 16]),
        false => (vec![8], vec![4, 10]),
    };
    let capacities: Vec<String> = capacities.into_iter().map(|size| format!("\"{size}KiB\"")).collect();
    let blooms: Vec<String> =
        bits.into_iter().map(|bits| format!("\"standard(bits_per_key={bits})\"")).collect();
    let cells = policies.len() * capacities.len() * blooms.len();
    let text = REGRET
        .replace("{MIX}", mix)
        .replace("{ABSENT}", if mix.contains("get") { "absent = 0.5" } else { "" })
        .replace(
            "{RANGE}",
            if mix.contains("range") { "range = { kind = \"fixed\", entries = 10 }" } else { "" },
        )
        .replace("{OBJECTIVE}", objective)
        .replace("{POLICIES}", &policies.join(", "))
        .replace("{CAPACITIES}", &capacities.join(", "))
        .replace("{BLOOMS}", &blooms.join(", "))
        .replace("{SIMULATE}", &simulate.to_string());
    (text, cells)
}

/// Returns the best value of the simulated objective over all designs that meet the limits.
fn best_simulated(bench: &Bench, name: &str) -> f64 {
    let table = bench.read(&format!("results/{name}-tune/candidates.csv"));
    let objectives = table.lines().skip(1).filter_map(|line| {
        // From the end: two columns of each layer, then whether the design is within its limits.
        let cells: Vec<&str> = line.rsplitn(10, ',').collect();
        (cells[8] == "true").then(|| cells[5].parse().ok()).flatten()
    });
    objectives.fold(f64::INFINITY, f64::min)
}

/// Tests the search that ranks designs by formulas and simulates only a quarter of them. Its advised design must be
/// within five percent of the best design. The test finds the best design by an exact simulation of all designs.
#[test]
fn theory_keeps_a_design_within_five_percent_of_the_best() {
    let bench = Bench::new();
    for (name, mix, objective) in GRIDS {
        let search = |simulate: usize| {
            let (text, cells) = grid(mix, objective, simulate);
            bench.write(&format!("{name}.toml"), text);
            bench.ok(&["tune", &format!("{name}.toml")]);
            (best_simulated(&bench, name), cells)
        };
        let (best, cells) = search(10_000);
        let (advised, _) = search(cells / 4);
        let regret = advised / best - 1.0;
        show(&format!("{name}: {cells} designs, regret {:.2} %", regret * 100.0));
        assert!(best.is_finite() && regret <= 0.05, "{name}: advised {advised}, best {best}");
    }
}

#[expect(clippy::print_stdout, reason = "the regrets are what one runs this test for by hand")]
fn show(line: &str) {
    println!("{line}");
}
