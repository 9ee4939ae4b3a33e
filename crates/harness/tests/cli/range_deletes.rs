//! Tests of range deletes: in a mix, in a trace, as text, and in the shell.

use results::columns as c;

use crate::bench::{Bench, count, of, right_answers};

/// An experiment that mixes range deletes with other writes on a tree that flushes and compacts many times, and then
/// reads the remaining keys.
const DELETES: &str = r#"
question = "What do range deletes leave?"
[design]
memtable   = { capacity = "32KiB" }
compaction = { kind = "leveled", size_ratio = 4 }
[[phase]]
name   = "load"
insert = 4_000
value  = { kind = "fixed", bytes = 64 }
[[phase]]
name       = "churn"
operations = 8_000
mix        = { put = 40, get = 40, delete = 5, range = 10, delete_range = 5 }
range      = { kind = "uniform", max = 30 }
[[phase]]
name = "flush"
step = "flush"
[[phase]]
name       = "read"
operations = 2_000
mix        = { get = 3, multi_get = 1, range = 1 }
absent     = 0.1
[[phase]]
name = "compact"
step = "compact"
[[phase]]
name       = "again"
operations = 2_000
mix        = { get = 3, range = 1 }
[trials]
count = 1
check = 1
mode  = "counted"
"#;

#[test]
fn answers_are_those_of_the_model_and_a_compaction_ends_the_tombstones() {
    let bench = Bench::new();
    bench.write("x.toml", format!("{DELETES}[sweep]\n\"design.format\" = [\"delta\", \"btree-page\"]\n"));
    bench.ok(&["run", "x.toml"]);
    let rows = bench.rows("x");
    for phase in ["churn", "read", "again"] {
        right_answers(&rows, phase, 1_001);
    }
    assert!(of(&rows, "churn", "delete_range").iter().all(|row| count(row, &c::OPS) > 300));
    assert!(of(&rows, "read", "all").iter().all(|row| count(row, &c::RANGE_TOMBSTONES) > 20));
    assert!(of(&rows, "again", "all").iter().all(|row| row.get(&c::RANGE_TOMBSTONES).is_empty()));
}

#[test]
fn where_no_range_can_be_deleted_it_is_told_before_anything_runs() {
    let bench = Bench::new();
    for (old, new, said) in [
        (
            "[design]",
            "key = \"user\"\n[design]",
            "phase.churn.mix.delete_range: a range delete needs keys in",
        ),
        ("[design]", "key = \"u64(scattered=true)\"\n[design]", "use the key format \"u64\" or \"decimal\""),
        (
            "max = 30 }",
            "max = 30 }\nthreads = 2",
            "a range delete may delete keys that other threads write; set threads = 1",
        ),
        ("max = 30", "max = 0", "phase.churn.range: uniform: max is 0"),
    ] {
        let error = bench.rejected(&DELETES.replace(old, new), &[]);
        assert!(error.contains(said), "{new}: {error}");
    }
    let timed = ["--set", "trials.mode=timed"];
    let peer = DELETES.replace("step = \"compact\"", "step = \"settle\"");
    let error = bench.rejected(&format!("engine = \"redb\"\n{peer}"), &timed);
    assert!(
        error.contains(
            "engine \"redb\" cannot execute delete_range in the mix of phase \"churn\"; remove the"
        ),
        "{error}"
    );
}

#[test]
fn text_and_traces_have_range_deletes() {
    let bench = Bench::new();
    bench.write("x.toml", DELETES);
    let printed = bench.ok(&["workload", "x.toml", "--limit", "6000"]);
    let deletes = printed.lines().filter(|line| line.starts_with("x ")).count();
    assert!(deletes > 50, "{deletes} range deletes in {printed}");
    bench.write("commands", &printed);
    let replay = "question = \"?\"\n[[phase]]\nname = \"replay\"\nreplay = { file = \"FILE\" }\n\
                  [trials]\ncount = 1\ncheck = 1\nmode = \"counted\"\n";
    bench.write("y.toml", replay.replace("FILE", "commands"));
    bench.write("tectonic", "I a 1\nI b 2\nI c 3\nI d 4\nP b\nR b d\nP b\nS a z\nP d\n");
    bench.write("z.toml", replay.replace("FILE", "tectonic"));
    for (name, least) in [("y", 50), ("z", 1)] {
        bench.ok(&["run", &format!("{name}.toml")]);
        let rows = bench.rows(name);
        assert!(count(of(&rows, "replay", "delete_range")[0], &c::OPS) >= least, "{name}");
        right_answers(&rows, "replay", 3);
    }
    let answers =
        bench.run_with(&["shell", "db"], "p a 1\np b 2\np c 3\nx b c\nr a z\nx c b\nr a z\n").expect(2);
    assert_eq!(answers.out, "a:1 c:3\na:1 c:3\n");
    assert!(answers.err.contains("below its start"), "{}", answers.err);
}
