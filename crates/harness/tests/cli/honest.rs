//! Tests that correctly measured rows exceed no plausibility bound. The tests run all variants of the bounded axes on
//! regular, skewed and phased inputs.

use results::{Row, columns as c};

use crate::bench::{Bench, text};

/// A workload whose keys are first sequential, then Zipf-distributed, and then from another part of the key space.
const PHASES: &str = r#"
[[phase]]
name   = "load"
insert = 2_000
order  = "ORDER"
value  = { kind = "fixed", bytes = 60 }

[[phase]]
name       = "regular"
operations = 1_500
mix        = { get = 0.5, put = 0.5 }
keys       = "sequential"

[[phase]]
name       = "skewed"
operations = 1_500
mix        = { get = 0.6, put = 0.2, delete = 0.1, range = 0.1 }
keys       = "zipfian"
absent     = 0.5

[[phase]]
name       = "newest"
operations = 1_500
mix        = { get = 0.5, insert = 0.5 }
keys       = "latest"

[[phase]]
name       = "gets"
operations = 1_500
mix        = "get"
absent     = 0.3
"#;

fn marked(rows: &[Row]) -> Vec<String> {
    let of = |row: &Row| {
        let place = [&c::LABEL, &c::PHASE, &c::OPERATION].map(|column| text(row, column)).join(", ");
        (!row.get(&c::IMPLAUSIBLE).is_empty()).then(|| format!("{place}: {}", text(row, &c::IMPLAUSIBLE)))
    };
    rows.iter().filter_map(of).collect()
}

#[test]
fn no_honest_row_of_a_tree_is_implausible() {
    let bench = Bench::new();
    for (axis, order, more) in [
        ("bloom", "random", ""),
        ("bloom", "sequential", ""),
        ("compaction", "random", ""),
        ("compaction", "reverse", ""),
        ("cache", "random", "storage = \"pread\""),
        ("allocation", "random", ""),
    ] {
        let text = format!(
            "question = \"Which?\"\n[design]\nmemtable = {{ capacity = \"16KiB\" }}\n{more}\n{}\n[sweep]\n\"design.{axis}\" = \
             \"all\"\n[trials]\nmode = \"counted\"\ncount = 1\n",
            PHASES.replace("ORDER", order)
        );
        bench.write("x.toml", text);
        bench.run(&["run", "x.toml"]).expect(0);
        let rows = bench.rows("x");
        assert!(rows.len() > 20, "{axis}");
        assert_eq!(marked(&rows), [""; 0], "{axis}, {order}");
    }
}

#[test]
fn no_honest_row_of_a_component_is_implausible() {
    let bench = Bench::new();
    let streams =
        ["\"uniform\"", "\"zipfian\"", "\"loop\"", "\"scan-mixed\"", "\"sequential\"", "\"latest\""];
    for requests in streams {
        let text = format!(
            "question = \"Which?\"\nsubject = \"cache\"\n[component]\nblocks = 2_000\nblock = 1024\noperations = 20_000\n\
             requests = {requests}\n[set]\n\"design.cache.capacity\" = \"256KiB\"\n[sweep]\n\"design.cache\" = \"all\"\n\
             [trials]\nmode = \"counted\"\ncount = 1\n"
        );
        bench.write("x.toml", text);
        bench.run(&["run", "x.toml"]).expect(0);
        assert_eq!(marked(&bench.rows("component-x")), [""; 0], "{requests}");
    }
}
