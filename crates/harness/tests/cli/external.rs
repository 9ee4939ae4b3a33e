//! Tests of components in other languages: a policy in Python, and libraries and processes that fail.

use std::path::Path;

use results::{Row, columns as c};

use crate::bench::{Bench, text};

/// An experiment on a tree of a few levels. The test replaces `COMPACTION` by a list of policies.
const EXPERIMENT: &str = r#"
question = "Does a policy in another process do what the built-in one does?"

[design]
memtable = { capacity = "16KiB" }

[[phase]]
name   = "load"
insert = 4_000
value  = { kind = "fixed", bytes = 60 }

[[phase]]
name       = "mixed"
operations = 3_000
mix        = { get = 0.5, put = 0.4, range = 0.1 }
keys       = "uniform"
value      = { kind = "fixed", bytes = 60 }

[sweep]
"design.compaction" = [COMPACTION]

[trials]
count = 1
mode  = "counted"
"#;

fn example(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name);
    path.to_str().unwrap().to_owned()
}

fn bench(compaction: &str) -> Bench {
    let bench = Bench::new();
    bench.write("external.toml", EXPERIMENT.replace("COMPACTION", compaction));
    bench
}

/// Returns the counters of the rows of a configuration, by operation and phase.
fn counters(rows: &[Row], cell: u64) -> Vec<Vec<String>> {
    let of_cell = rows.iter().filter(|row| row.get(&c::CELL).integer() == Some(cell));
    let naming = [c::CELL.name, c::LABEL.name, c::TRIAL.name, "design.compaction"];
    let is_counter = |column: &results::Column| column.exact() && !naming.contains(&column.name());
    let row = |row: &Row| {
        let cells = row.schema().columns().iter().zip(row.cells());
        let counters = cells.filter(|(column, _)| is_counter(column)).map(|(_, cell)| cell.to_string());
        [text(row, &c::PHASE), text(row, &c::OPERATION)].into_iter().chain(counters).collect()
    };
    of_cell.map(row).collect()
}

#[test]
fn a_policy_in_python_gives_the_counters_of_the_policy_it_repeats() {
    let policy = example("policy-python/policy.py");
    let bench = bench(&format!(
        "{{ kind = \"tiered\", size_ratio = 3 }}, {{ kind = \"external\", command = [\"python3\", {policy:?}, \"3\"] }}, \
         {{ kind = \"external\", identity = \"tiered(size_ratio=3)\" }}"
    ));
    bench.ok(&["run", "external.toml"]);
    let rows = bench.rows("external");
    let built_in = counters(&rows, 0);
    assert!(built_in.len() >= 2 && built_in[0].len() > 10, "{built_in:?}");
    assert_eq!(counters(&rows, 1), built_in);
    assert_eq!(counters(&rows, 2), built_in);
    let seams = bench.manifest("external").seams;
    assert_eq!(seams.len(), 2, "{seams:?}");
    assert!(seams.iter().all(|seam| seam.axis == "compaction" && seam.call_ns.is_finite()), "{seams:?}");
}

#[test]
fn a_policy_that_fails_ends_the_run_with_what_it_said() {
    for (script, said) in [
        ("echo no idea >&2; exit 4", "on standard error: \\\"no idea\\\""),
        (
            "read -r greeting; echo '{\"protocol\": 1}'; while read -r shape; do echo 17; done",
            "an answer of the policy process must be one line of JSON",
        ),
        (
            "read -r greeting; echo '{\"protocol\": 1}'; sleep 600",
            "the policy process did not answer within 200ms",
        ),
        (
            "read -r greeting; echo '{\"protocol\": 1}'; while read -r shape; do echo '{\"inputs\": [99999], \"level\": 1}'; done",
            "the compaction job names SSTable 99999 twice, or the tree has no SSTable 99999",
        ),
    ] {
        for mode in ["counted", "timed"] {
            let bench = bench(&format!(
                "{{ kind = \"external\", timeout = \"200ms\", command = [\"sh\", \"-c\", {script:?}] }}"
            ));
            let mode = format!("trials.mode=\"{mode}\"");
            let answer = bench.run(&["run", "external.toml", "--allow-debug", "--set", &mode]);
            let told = format!("{}{}", answer.out, answer.err).replace('"', "\\\"");
            assert!(answer.code.is_some_and(|code| code != 0), "{script}: {told}");
            assert!(told.contains("the compaction policy failed: the policy process"), "{script}: {told}");
            assert!(
                told.contains(said) || told.replace('\\', "").contains(&said.replace('\\', "")),
                "{script}: {told}"
            );
            assert!(!told.contains("panicked"), "{script}: {told}");
        }
    }
}

#[test]
fn a_design_without_its_library_is_refused_before_anything_runs() {
    for axis in ["bloom", "cache", "compression"] {
        let bench = Bench::new();
        let design = format!("[design]\n{axis} = {{ kind = \"library\", library = \"./no-such.so\" }}\n");
        let experiment = EXPERIMENT.replace("[design]\n", &design).replace("COMPACTION", "\"tiered\"");
        bench.write("external.toml", experiment);
        let refusal = bench.run(&["run", "external.toml"]).expect(2).refusal();
        assert!(refusal.contains(&format!("{axis}: library: library is \"./no-such.so\"")), "{refusal}");
        assert!(refusal.contains("build the library, or correct the path"), "{refusal}");
    }
}

#[test]
fn every_identity_runs_and_states_the_cost_of_its_seam() {
    let bench = Bench::new();
    let design = "[design]\nbloom = \"library\"\ncache = \"library\"\ncompression = \"library\"\n";
    let experiment = EXPERIMENT.replace("[design]\n", design).replace("COMPACTION", "\"external\"");
    bench.write("external.toml", experiment);
    bench.ok(&["run", "external.toml"]);
    let seams = bench.manifest("external").seams;
    let mut axes: Vec<&str> = seams.iter().map(|seam| seam.axis.as_str()).collect();
    axes.sort_unstable();
    assert_eq!(axes, ["bloom", "cache", "compaction", "compression"]);
}
