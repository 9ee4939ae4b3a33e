//! Tests of column families. Either several trees share one WAL, one cache and one memory budget, or the families are
//! prefixes of the keys of one tree.

use std::fs;
use std::path::Path;

use results::columns as c;

use crate::bench::{Bench, count, number, of, right_answers};

/// An experiment with two families, which have different designs. Each phase uses one family.
const FAMILIES: &str = r#"
question = "What do families save?"
[design]
storage    = "pread"
memtable   = { capacity = "32KiB" }
cache      = { capacity = "64KiB" }
compaction = { kind = "leveled", size_ratio = 4 }
[design.families.index]
bloom = "ribbon"
[design.families.values]
compression = "zstd"
[[phase]]
name   = "load-index"
family = "index"
insert = 3_000
value  = { bytes = 8 }
[[phase]]
name   = "load-values"
family = "values"
insert = 800
value  = { bytes = 400 }
[[phase]]
name       = "churn-index"
family     = "index"
operations = 4_000
mix        = { put = 40, get = 30, delete = 5, range = 5, multi_get = 5, batch = 5, first = 3, last = 3, put_if_absent = 4 }
value      = { bytes = 8 }
range      = { entries = 10 }
batch      = 10
[[phase]]
name       = "churn-values"
family     = "values"
operations = 1_500
mix        = { put = 60, get = 35, range = 3, delete_range = 2 }
value      = { bytes = 400 }
range      = { entries = 4 }
[[phase]]
name = "copy"
step = "checkpoint"
[[phase]]
name = "restart"
step = "reopen"
[[phase]]
name = "compact"
step = "compact"
[[phase]]
name       = "read-index"
family     = "index"
operations = 1_000
mix        = { get = 3, range = 1 }
[trials]
count = 1
check = 1
mode  = "counted"
"#;

#[test]
fn families_give_the_answers_of_the_model_in_both_layouts() {
    let bench = Bench::new();
    bench.write(
        "x.toml",
        format!("{FAMILIES}[sweep]\n\"design.families.layout\" = [\"trees\", \"prefixed\"]\n"),
    );
    bench.ok(&["run", "x.toml"]);
    let rows = bench.rows("x");
    for (phase, least) in [("churn-index", 1_500), ("churn-values", 400), ("read-index", 1_000)] {
        assert_eq!(right_answers(&rows, phase, least).len(), 2, "{phase}");
    }
    // Only the tree of the values has the codec.
    let bytes: Vec<u64> = of(&rows, "compact", "all").iter().map(|row| count(row, &c::TABLE_BYTES)).collect();
    assert!(bytes[0] < bytes[1] * 4 / 5, "{bytes:?}");
    let loads = of(&rows, "load-values", "all");
    assert!(loads.iter().all(|row| count(row, &c::FLUSHES) > 5 && number(row, &c::WRITE_AMP) > 1.0));
    assert!(loads.iter().all(|row| count(row, &c::WAL_BYTES) > 300_000));
    let described = bench.ok(&["describe", "x.toml"]);
    assert!(described.contains("load-values: family values, "), "{described}");
    let printed = bench.ok(&["workload", "x.toml", "--limit", "3100"]);
    assert!(printed.contains("# phase load-values\n# family values\np "), "{printed}");
}

/// An experiment whose roles use different families at the same time. The test sweeps every WAL mode that families can
/// have.
const ROLES: &str = r#"
question = "Do families run together?"
[design]
memtable = { capacity = "32KiB" }
[design.families.index]
[design.families.values]
compression = "lz4"
[[phase]]
name   = "load-index"
family = "index"
insert = 2_000
threads = 2
[[phase]]
name   = "load-values"
family = "values"
insert = 500
value  = { bytes = 300 }
[[phase]]
name = "together"
value = { bytes = 50 }
[[phase.role]]
name       = "readers"
family     = "index"
threads    = 2
operations = 4_000
mix        = { get = 3, range = 1 }
range      = { entries = 5 }
[[phase.role]]
name       = "writers"
family     = "values"
threads    = 2
operations = 2_000
mix        = { put = 3, insert = 1, get = 1 }
[[phase.role]]
name       = "updates"
family     = "index"
operations = 1_000
mix        = { put = 1, delete = 1 }
[[phase]]
name       = "after"
family     = "values"
operations = 500
mix        = { get = 1 }
[trials]
count = 1
check = 1
[sweep]
"design.wal" = ["buffered", "group", "none"]
"#;

#[test]
fn roles_of_one_phase_use_several_families() {
    let bench = Bench::new();
    bench.write("x.toml", ROLES);
    bench.ok(&["run", "x.toml", "--allow-debug"]);
    let rows = bench.rows("x");
    for (operation, least) in [("all", 3_000), ("readers/get", 1), ("writers/put", 1), ("updates/delete", 1)]
    {
        let all = of(&rows, "together", operation);
        assert_eq!(all.len(), 3, "{operation}");
        assert!(all.iter().all(|row| count(row, &c::OPS) >= least), "{operation}");
    }
    for phase in ["together", "after"] {
        right_answers(&rows, phase, 500);
    }
}

#[test]
fn families_that_cannot_run_are_refused_with_their_remedy() {
    let bench = Bench::new();
    let swap = |from: &str, to: &str| FAMILIES.replacen(from, to, 1);
    for (name, text, message) in [
        (
            "unknown",
            swap("family = \"index\"\ninsert", "family = \"indx\"\ninsert"),
            "phase \"load-index\": unknown family \"indx\"; did you mean \"index\"?",
        ),
        (
            "unnamed",
            swap("family = \"index\"\ninsert", "insert"),
            "phase \"load-index\" sets no family, but the design has families; set its key \"family\" Valid: \
             \"index\", \"values\"",
        ),
        (
            "none",
            swap(
                "[design.families.index]\nbloom = \"ribbon\"\n[design.families.values]\ncompression = \"zstd\"\n",
                "",
            ),
            "but the design has no families; set design.families.index = {}",
        ),
        (
            "interval",
            swap("[design]\n", "[design]\nwal = \"interval\"\n").replace("\"counted\"", "\"timed\""),
            "a design with families cannot have wal = \"interval\"",
        ),
        (
            "shared",
            swap("bloom = \"ribbon\"", "cache = \"none\""),
            "because all families share it; set \"cache\" in the design of the store",
        ),
        (
            "fixture",
            swap("[trials]\n", "[trials]\nfixture = \"load-index\"\n"),
            "a store with families has several folders, so it cannot be a fixture",
        ),
        ("variant", swap("\"ribbon\"", "\"ribon\""), "did you mean \"ribbon\"?"),
        (
            "name",
            swap("[design.families.index]", "[design.families.\"In dex\"]"),
            "cannot be the name of a family",
        ),
        (
            "layout",
            swap("[design.families.index]", "[design.families]\nlayout = \"tree\"\n[design.families.index]"),
            "did you mean \"trees\"?",
        ),
    ] {
        bench.write(&format!("{name}.toml"), text);
        let refused = bench.run(&["run", &format!("{name}.toml"), "--allow-debug"]).refusal();
        assert!(refused.contains(message), "{name}: {refused}");
    }
    bench.write("simulated.toml", FAMILIES);
    let refused = bench.run(&["simulate", "simulated.toml"]).refusal();
    assert!(
        refused.contains("phase \"load-index\" cannot be simulated, because it has a column family"),
        "{refused}"
    );
    bench.write(
        "peers.toml",
        format!("{FAMILIES}[sweep]\nengine = [\"redb\"]\n").replace("\"counted\"", "\"timed\""),
    );
    let refused = bench.run(&["run", "peers.toml", "--allow-debug"]).refusal();
    assert!(refused.contains("lsmbench does not support families of engine \"redb"), "{refused}");
}

/// Tests single deletes of the keys of a queue in one family, while another family has overwrites.
#[test]
fn families_have_single_deletes_in_both_layouts() {
    let bench = Bench::new();
    let phase = |name: &str, family: &str, work: &str| {
        format!("[[phase]]\nname = \"{name}\"\nfamily = \"{family}\"\n{work}\n")
    };
    let (start, end) = (FAMILIES.find("[[phase]]").unwrap(), FAMILIES.find("[trials]").unwrap());
    let phases = [
        phase("load-index", "index", "insert = 1_000"),
        phase("load-values", "values", "insert = 300"),
        phase("overwrite", "values", "operations = 500\nmix = { put = 1 }"),
        phase("queue", "index", "operations = 3_000\nmix = { insert = 40, single_delete = 40, get = 20 }"),
        "[[phase]]\nname = \"restart\"\nstep = \"reopen\"\n".to_owned(),
        phase("read", "index", "operations = 1_000\nmix = { get = 3, range = 1 }"),
    ];
    let layouts = "[sweep]\n\"design.families.layout\" = [\"trees\", \"prefixed\"]\n";
    let experiment = [&FAMILIES[..start], &phases.concat(), &FAMILIES[end..], layouts].concat();
    bench.write("x.toml", experiment);
    bench.ok(&["run", "x.toml"]);
    let rows = bench.rows("x");
    let deletes: Vec<u64> =
        of(&rows, "queue", "single_delete").iter().map(|row| count(row, &c::OPS)).collect();
    assert!(deletes.len() == 2 && deletes[0] > 900 && deletes[0] == deletes[1], "{deletes:?}");
    for phase in ["queue", "read"] {
        right_answers(&rows, phase, 301);
    }
}

/// Creates a store in `db` that contains the families `index` and `values`.
fn stored() -> Bench {
    let bench = Bench::new();
    let new = ["--set", "families.index={}", "--set", "families.values={compression=\"zstd\"}"];
    let shell = [&["shell", "db", "--family", "index"][..], &new].concat();
    assert_eq!(bench.run_with(&shell, "p a 1\np b 2\ng a\n").expect(0).out, "1\n");
    bench
}

/// Copies the files of a folder.
fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in from.read_dir().unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

/// The shell opens one family of a store, without a design of the families.
#[test]
fn the_shell_uses_one_family() {
    let bench = stored();
    let shell = |family: &str, commands: &str| {
        bench.run_with(&["shell", "db", "--family", family], commands).expect(0).out
    };
    assert_eq!(shell("values", "g a\np a 7\np c 8\nr a z\n"), "\na:7 c:8\n");
    assert_eq!(shell("index", "r a z\nd b\nx a b\nr a z\n"), "a:1 b:2\n\n");
    assert_eq!(shell("values", "r a z\n"), "a:7 c:8\n");
    let error = bench.run(&["shell", "db", "--family", "indx"]).refusal();
    assert!(error.contains("db has no column family \"indx\" Valid: \"index\", \"values\""), "{error}");
    let error = bench.run(&["shell", "other", "--family", "index"]).refusal();
    assert!(
        error.contains(
            "other has no column families; remove --family, or create the family with --set families.index={}"
        ),
        "{error}"
    );
    let error = bench.run(&["shell", "db"]).refusal();
    let expected = "db has column families, and the shell can open only one of them; name it, such as in `lsmbench shell \
                    db --family index`";
    assert!(error.contains(expected), "{error}");
    bench.run(&["verify", "db"]).expect(0);
}

/// An override changes only families that exist, so a typo adds no family to a store.
#[test]
fn a_typo_adds_no_family_to_a_store() {
    let bench = stored();
    let before = bench.content();
    for set in ["families.indx={}", "families.indx.bloom=none", "families={indx={bloom=\"none\"}}"] {
        for command in
            [&["shell", "db", "--family", "index"][..], &["serve", "db", "--listen", "127.0.0.1:0"]]
        {
            let error = bench.run(&[command, &["--set", set]].concat()).refusal();
            let expected = "unknown family \"indx\"; did you mean \"index\"? Valid: \"index\", \"values\"";
            assert!(error.contains(&format!("--set {set}: {expected}")), "{set}: {error}");
        }
    }
    let new = ["shell", "new", "--family", "a", "--set", "families.a={}", "--set", "families.b.bloom=none"];
    let error = bench.run(&new).refusal();
    assert!(error.contains("--set families.b.bloom=none: unknown family \"b\""), "{error}");
    assert!(bench.content() == before, "something was touched");
    // A design file adds a family.
    bench.write("more.toml", "[design.families.index]\n[design.families.values]\n[design.families.more]\n");
    let shell =
        ["shell", "db", "--design", "more.toml", "--set", "families.more.bloom=none", "--family", "more"];
    assert_eq!(bench.run_with(&shell, "p a 1\ng a\n").expect(0).out, "1\n");
    assert_eq!(bench.run_with(&["shell", "db", "--family", "index"], "g a\n").expect(0).out, "1\n");
}

/// The folder of a family has no WAL, so a tree that opens it would lose writes.
#[test]
fn the_folder_of_one_family_is_no_store() {
    let bench = stored();
    // A copy of the folder names its family, too.
    copy_folder(&bench.path("db/index"), &bench.path("copy"));
    fs::remove_file(bench.path("copy/lock")).unwrap();
    let before = bench.content();
    for arguments in [
        &["shell", "copy"][..],
        &["shell", "copy", "--family", "a", "--set", "families.a={}"],
        &["serve", "copy", "--listen", "127.0.0.1:0"],
        &["verify", "copy"],
    ] {
        let error = bench.run(arguments).refusal();
        let expected = "copy is the family \"index\" of a store, as its manifest states, but the WAL of the store is not";
        assert!(error.contains(expected), "{arguments:?}: {error}");
    }
    assert!(bench.content() == before, "something was touched");
    fs::remove_dir_all(bench.path("copy")).unwrap();
    let before = bench.content();
    for arguments in [
        &["shell", "db/index"][..],
        &["shell", "db/index", "--family", "a", "--set", "families.a={}"],
        &["serve", "db/index", "--listen", "127.0.0.1:0"],
        &["verify", "db/index"],
    ] {
        let error = bench.run(arguments).refusal();
        let expected =
            "db/index is the family \"index\" of the store db; open db and select the family \"index\"";
        assert!(error.contains(expected), "{arguments:?}: {error}");
    }
    assert!(bench.content() == before, "something was touched");
    let mut inside = bench.command(&["verify", "."]);
    inside.current_dir(bench.path("db/values"));
    let output = inside.output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(2) && error.contains("is the family \"values\" of"), "{error}");
}

#[test]
fn families_that_do_not_exist_are_not_invented() {
    let bench = Bench::new();
    bench.write("x.toml", FAMILIES);
    let refused = |set: &str| bench.run(&["describe", "x.toml", "--set", set]).refusal();
    let unknown = "unknown family \"indx\"; did you mean \"index\"? Valid: \"index\", \"values\"";
    let error = refused("design.families.indx.bloom=none");
    assert!(error.contains(&format!("--set design.families.indx.bloom: {unknown}")), "{error}");
    let error = refused("sweep.\"design.families.indx.bloom\"=[\"none\", \"ribbon\"]");
    assert!(error.contains(unknown), "{error}");
    for set in [
        "design.families.indx={}",
        "design.families={indx={}}",
        "sweep.\"design.families.indx\"=[{}, {bloom=\"none\"}]",
        "sweep.\"design.families\"=[{indx={}}, {index={}}]",
    ] {
        assert!(refused(set).contains(unknown), "{set}: {}", refused(set));
    }
    bench.write("set.toml", format!("{FAMILIES}[set]\n\"design.families.value.compression\" = \"none\"\n"));
    let error = bench.run(&["run", "set.toml"]).refusal();
    assert!(error.contains("did you mean \"values\"?"), "{error}");
    let single = "question = \"?\"\n[[phase]]\nname = \"load\"\nfamily = \"a\"\ninsert = 100\n";
    bench.write("x.toml", single);
    assert!(refused("design.families.a.bloom=none").contains("define the family first"));
    for sets in [
        ["design.families.a={}", "design.families.a.bloom=none"],
        ["design.families.a.bloom=none", "design.families.a={}"],
    ] {
        let described = bench.ok(&["describe", "x.toml", "--set", sets[0], "--set", sets[1]]);
        assert!(described.contains("[design.families.a.bloom]\nkind = \"none\""), "{described}");
    }
}

/// Tests that each family merges with its own operator, and that the check of the answers uses the same operator.
#[test]
fn families_have_merge_operators_of_their_own() {
    let bench = Bench::new();
    let merges = FAMILIES
        .replace("bloom = \"ribbon\"", "merge_operator = \"add\"")
        .replace("compression = \"zstd\"", "merge_operator = \"append\"")
        .replace("put = 40, get = 30", "merge = 40, get = 30")
        .replace("put = 60, get = 35", "merge = 60, get = 35");
    bench.write("x.toml", &merges);
    bench.ok(&["run", "x.toml"]);
    for phase in ["churn-index", "churn-values"] {
        right_answers(&bench.rows("x"), phase, 400);
    }
    let layout = ["describe", "x.toml", "--set", "design.families.layout=prefixed"];
    let error = bench.run(&layout).refusal();
    let expected =
        "all families have the merge operator of the store; remove design.families.index.merge_operator";
    assert!(error.contains(expected), "{error}");
    bench.write("x.toml", merges.replace("merge_operator = \"add\"\n", ""));
    let error = bench.run(&["describe", "x.toml"]).refusal();
    let expected = "phase \"churn-index\" has merges, but the family \"index\" has no merge operator; set \
                    design.families.index.merge_operator Valid: \"add\", \"append\", \"max\"";
    assert!(error.contains(expected), "{error}");
}

/// Tests that `simulate` and `tune` reject a workload with families or single deletes before they compute anything.
#[test]
fn models_reject_families_and_single_deletes_first() {
    let bench = Bench::new();
    let tune = "[tune]\nminimise = \"write_amp\"\n";
    bench.write("families.toml", format!("{FAMILIES}{tune}"));
    let queue = "question = \"?\"\n[[phase]]\nname = \"load\"\ninsert = 900\n[[phase]]\nname = \"queue\"\n\
                 operations = 500\nmix = { single_delete = 1, get = 1 }\n[trials]\nmode = \"counted\"\n";
    bench.write("queue.toml", format!("{queue}{tune}"));
    for (file, reason) in [
        ("families.toml", "phase \"load-index\" cannot be simulated, because it has a column family"),
        ("queue.toml", "phase \"queue\" cannot be simulated, because it has single deletes"),
    ] {
        for command in ["simulate", "tune"] {
            let error = bench.run(&[command, file]).refusal();
            let expected = format!("{reason}; use `lsmbench run` in counted mode");
            assert!(error.contains(&expected), "{command} {file}: {error}");
        }
    }
    assert!(!bench.path("results").exists(), "something was computed");
}
