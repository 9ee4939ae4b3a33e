//! Tests of settings without effect. lsmbench rejects such a setting, or prints a warning if files may contain the
//! setting on purpose.

use results::columns as c;

use crate::bench::{Bench, number, of, unwrapped};

const EXPERIMENT: &str = r#"
question = "What is read?"
[design]
memtable = { capacity = "32KiB" }
[[phase]]
name   = "load"
insert = 2_000
[[phase]]
name       = "work"
operations = 1_000
mix        = { put = 1 }
[trials]
count = 1
mode  = "counted"
"#;

#[test]
fn a_key_that_no_mix_reads_is_an_error() {
    let bench = Bench::new();
    for (mix, key, reason) in [
        (
            "{ put = 1 }",
            "batch = 1_000",
            "batch has no effect: the mix contains no `batch` and no `multi_get`; for writes in batches, set mix",
        ),
        (
            "{ put = 1 }",
            "absent = 0.5",
            "absent has no effect: the mix contains no `get`, no `multi_get` and no `range` with a `span`",
        ),
        ("{ get = 1 }", "range = { entries = 9 }", "range has no effect: the mix contains no `range`"),
    ] {
        let work = format!("mix        = {mix}\n{key}\n");
        bench.write("x.toml", EXPERIMENT.replace("mix        = { put = 1 }\n", &work));
        let error = bench.run(&["run", "x.toml"]).refusal();
        let name = key.split(' ').next().unwrap();
        let expected = format!("x.toml:12: phase.work.{name}: {reason}");
        assert!(error.contains(&expected), "{error}");
    }
    bench.write("x.toml", EXPERIMENT);
    let error = bench.run(&["run", "x.toml", "--set", "phase.work.batch=1000"]).refusal();
    assert!(error.contains("--set phase.work.batch: batch has no effect: "), "{error}");
    bench.write("x.toml", format!("{EXPERIMENT}[sweep]\n\"phase.work.batch\" = [10, 100]\n"));
    let error = bench.run(&["run", "x.toml"]).refusal();
    assert!(error.contains("sweep.phase.work.batch: batch has no effect: "), "{error}");
    // A value of 0 requests nothing, so it is not an error.
    bench.write("x.toml", EXPERIMENT.replace("{ put = 1 }", "{ put = 1 }\nabsent = 0.0"));
    bench.ok(&["describe", "x.toml"]);
}

#[test]
fn a_key_that_some_mix_of_a_sweep_reads_keeps_its_value() {
    let bench = Bench::new();
    let work = "mix        = { get = 1 }\nrange      = { entries = 7 }\n";
    let experiment = EXPERIMENT.replace("mix        = { put = 1 }\n", work);
    bench.write("x.toml", format!("{experiment}[sweep]\n\"phase.work.mix\" = [\"get\", \"range\"]\n"));
    bench.ok(&["run", "x.toml"]);
    let streams = &bench.manifest("x").cells[1].streams;
    let work = streams.iter().find(|stream| stream.phase == "work").unwrap();
    assert_eq!(work.intended.range_entries, Some(7.0), "the base has another mix");
    assert!(number(of(&bench.rows("x"), "work", "range")[0], &c::OPS) > 0.0);
}

#[test]
fn repeated_keys_and_settings_of_times_are_warnings() {
    let bench = Bench::new();
    let work = "mix        = { get = 1 }\nvalue      = { bytes = 50 }\nrate       = 500\n";
    let experiment = EXPERIMENT.replace("mix        = { put = 1 }\n", work);
    bench.write("x.toml", experiment.replace("count = 1", "count = 1\nsampling = 10"));
    let described = bench.ok(&["describe", "x.toml"]);
    let printed = bench.run(&["run", "x.toml"]).expect(0).err;
    assert!(printed.lines().all(|line| line.chars().count() <= 100), "{printed}");
    let warnings = unwrapped(&printed);
    for warning in [
        "warning: phase.work.value: value has no effect: the mix writes no values",
        "warning: phase.work.rate: this key has no effect in counted mode, because each operation starts directly after the previous operation",
        "warning: trials.sampling: this key has no effect in counted mode, which measures no time",
    ] {
        assert!(described.contains(warning), "{described}");
        assert_eq!(warnings.matches(warning).count(), 1, "{warnings}");
    }
    // A mix of the command line may take the place of one that reads the key.
    let scans = EXPERIMENT.replace("{ put = 1 }", "{ range = 1 }\nrange = { entries = 9 }");
    bench.write("x.toml", scans);
    let described = bench.ok(&["describe", "x.toml", "--set", "phase.work.mix=get"]);
    assert!(described.contains("warning: phase.work.range: range has no effect: "), "{described}");
}

#[test]
fn a_swept_cache_on_mapped_tables_is_a_warning() {
    let bench = Bench::new();
    let swept = |design: &str| {
        let experiment = EXPERIMENT.replace("[design]\n", &format!("[design]\n{design}\n"));
        let sweep = "[sweep]\n\"design.cache.capacity\" = [\"64KiB\", \"1MiB\"]\n";
        bench.write("x.toml", format!("{experiment}{sweep}"));
        bench.ok(&["describe", "x.toml"])
    };
    let warning =
        "warning: sweep.design.cache.capacity: the cache has no effect, because all configurations read";
    assert!(swept("").contains(warning));
    for design in ["storage = \"pread\"", "block = { mapped = \"cached\" }", "compression = \"lz4\""] {
        assert!(!swept(design).contains("warning: "), "{design}");
    }
}

#[test]
fn a_setting_that_needs_other_settings_is_a_warning_without_them() {
    let bench = Bench::new();
    let timed = EXPERIMENT.replace("mode  = \"counted\"\n", "");
    let described = |design: &str, rest: &str| {
        bench.write("x.toml", timed.replace("[design]\n", &format!("[design]\n{design}\n")) + rest);
        bench.ok(&["describe", "x.toml"])
    };
    let nice = "threads = { compaction_nice = 5, background = \"shared\" }";
    let reserved = "stall = { reserve_wal = true }\nwal = \"sync\"";
    let culled = "bloom = \"blocked\"\nculling = \"chucky\"";
    for (design, warning) in [
        (
            nice,
            "design.threads.compaction_nice: this setting has no effect: with threads.background = \"shared\", one",
        ),
        (
            reserved,
            "design.stall.reserve_wal: this setting has no effect: lsmbench reserves space only for a WAL that it",
        ),
        (
            culled,
            "design.bloom: this setting has no effect: with culling = \"chucky\", gets use an index of all \
             keys instead of the filters",
        ),
    ] {
        assert!(described(design, "").contains(&format!("warning: {warning}")), "{design}");
    }
    let effective = "threads = { compaction_nice = 5 }\nstall = { reserve_wal = true }\nwal = \"buffered\"\n\
                     bloom = \"none\"\nculling = \"chucky\"";
    assert!(!described(effective, "").contains("warning: "));
    let counted = bench.ok(&["describe", "x.toml", "--set", "trials.mode=counted"]);
    assert!(!counted.contains("warning: "), "the command line chooses the mode");
    // One configuration in which the setting has an effect is enough.
    let sweep = |kinds: &str| format!("[sweep]\n\"design.culling\" = [{kinds}]\n");
    assert!(!described("bloom = \"blocked\"", &sweep("\"binary\", \"chucky\"")).contains("warning: "));
    let swept = "[sweep]\n\"design.threads.compaction_nice\" = [0, 5]\n";
    let warning =
        "warning: sweep.design.threads.compaction_nice: this setting has no effect: in counted mode";
    bench.write("x.toml", format!("{EXPERIMENT}{swept}"));
    assert_eq!(unwrapped(&bench.run(&["run", "x.toml"]).expect(0).err).matches(warning).count(), 1);
}

/// Rule: the file that `describe` prints runs without a warning, and with equal results, also with `--quick`.
#[test]
fn a_described_experiment_runs_without_warnings() {
    let bench = Bench::new();
    let phases = "[[phase]]\nname = \"wait\"\noperations = 500\nmix = { insert = 1, get = 1 }\n\
                  [[phase]]\nname = \"read\"\noperations = 500\nmix = { range = 1, first = 1 }\n";
    let quick =
        "[quick]\n\"phase.load.insert\" = 700\n\"phase.work.operations\" = 300\n\"trials.count\" = 1\n";
    bench.write("x.toml", EXPERIMENT.replace("[trials]", &format!("{phases}[trials]")) + quick);
    let set = ["--set", "phase.work.operations=900"];
    let described = bench.ok(&[&["describe", "x.toml"][..], &set].concat());
    bench.write("y.toml", &described);
    let again = bench.ok(&["describe", "y.toml"]);
    let from_question = |text: &str| text[text.find("\nquestion = ").unwrap()..].to_owned();
    assert_eq!(from_question(&again), from_question(&described));
    assert!(!again.contains("warning: "), "{again}");
    assert!(described.contains("\"phase.load.insert\" = 700"), "{described}");
    assert!(
        !described.contains("\"phase.work.operations\" = 300"),
        "the command line has set it: {described}"
    );
    for options in [&[][..], &["--quick"]] {
        let warnings = bench.run(&[&["run", "y.toml"][..], options].concat()).expect(0).err;
        assert!(!warnings.contains("has no effect"), "{warnings}");
        bench.ok(&[&["run", "x.toml"][..], &set, options].concat());
        let ops = |name: &str| -> Vec<f64> {
            let rows = bench.rows(name);
            ["load", "work", "wait", "read"].map(|phase| number(of(&rows, phase, "all")[0], &c::OPS)).to_vec()
        };
        assert_eq!(ops("x"), ops("y"), "{options:?}");
    }
}
