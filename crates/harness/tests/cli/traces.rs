//! Tests of traces of recorded operations: their replay, and the output of `lsmbench trace`.

use results::columns as c;

use crate::bench::{Bench, number, of};

/// Returns a trace in Twitter's format. The keys are skewed, and every fifth operation is a write.
fn twitter(operations: u32) -> String {
    let line = |at: u32| {
        let key = (at.wrapping_mul(2_654_435_761) >> 8) % (1 + at.wrapping_mul(40_503) % 300);
        let (operation, bytes) = match at % 10 {
            0 | 5 => ("set", 50 + key % 100),
            9 if key > 250 => ("delete", 0),
            _ => ("get", 50 + key % 100),
        };
        format!("{},ns:{key:05},8,{bytes},1,{operation},60\n", at / 100)
    };
    (0..operations).map(line).collect()
}

#[test]
fn a_cache_trace_is_replayed_and_misses_are_filled() {
    let bench = Bench::new();
    bench.write("cache.csv", twitter(3000));
    bench.write(
        "x.toml",
        r#"
        question = "?"
        [[phase]]
        name   = "absent"
        replay = { file = "cache.csv" }
        operations = 2_000
        [[phase]]
        name   = "fill"
        replay = { kind = "twitter", file = "cache.csv", miss = "fill" }
        [trials]
        count = 1
        mode  = "counted"
        "#,
    );
    let described = bench.ok(&["describe", "x.toml"]);
    assert!(
        described.contains("#   phase absent: cache.csv is recognized as a trace of kind \"twitter\""),
        "{described}"
    );
    bench.ok(&["run", "x.toml"]);
    let rows = bench.rows("x");
    let count = |phase: &str, kind: &str, column| number(of(&rows, phase, kind)[0], column) as u64;
    assert_eq!(count("absent", "all", &c::OPS), 2000);
    assert!(count("absent", "all", &c::MISSING) > 100);
    assert_eq!(count("absent", "all", &c::WRONG_ANSWERS) + count("fill", "all", &c::WRONG_ANSWERS), 0);
    // Every miss is followed by a put of its own.
    let recorded = twitter(3000).lines().filter(|line| line.contains(",set,")).count() as u64;
    assert_eq!(count("fill", "put", &c::OPS), recorded + count("fill", "all", &c::MISSING));
    let assumptions = bench.manifest("x").assumptions.join("\n");
    for assumed in [
        "phase absent: cache.csv is recognized as a trace of kind \"twitter\"",
        "phase fill: after a get that finds no value, the replay puts the key",
        "lsmbench generates values of the recorded sizes",
    ] {
        assert!(assumptions.contains(assumed), "{assumptions}");
    }
    // Traces of block numbers are replayed over a loaded store, or as a cache.
    bench.write("blocks.lirs", "5\n7\n5\n9\n5\n7\n");
    bench.write(
        "y.toml",
        "question = \"?\"\nkey = \"trace\"\n[[phase]]\nname = \"load\"\ninsert = \"all\"\n\
         [[phase]]\nname = \"gets\"\nreplay = { kind = \"lirs\", file = \"blocks.lirs\" }\n\
         [[phase]]\nname = \"cache\"\nreplay = { file = \"blocks.lirs\", miss = \"fill\" }\n\
         [trials]\ncount = 1\nmode = \"counted\"\n",
    );
    bench.ok(&["run", "y.toml"]);
    let rows = bench.rows("y");
    let found = |phase: &str| number(of(&rows, phase, "all")[0], &c::FOUND) as u64;
    assert_eq!((found("gets"), found("cache")), (6, 6));
}

#[test]
fn recorded_times_are_kept() {
    let bench = Bench::new();
    bench.write("slow.csv", "time_ns,operation,key,end,count,value_bytes\n0,put,a,,,5\n400000000,get,a,,,\n");
    bench.write(
        "x.toml",
        "question = \"?\"\n[[phase]]\nname = \"slow\"\nreplay = { file = \"slow.csv\", speed = 2.0 }\n\
         [trials]\ncount = 1\n",
    );
    bench.ok(&["run", "x.toml", "--allow-debug"]);
    let seconds = number(of(&bench.rows("x"), "slow", "all")[0], &c::SECONDS);
    assert!((0.2..5.0).contains(&seconds), "{seconds}");
}

#[test]
fn statistics_are_printed_as_text_json_and_curves() {
    let bench = Bench::new();
    bench.write("cache.csv", twitter(5000));
    let text = bench.ok(&["trace", "stat", "cache.csv", "--curves", "curves.csv"]);
    for line in [
        "format                twitter",
        "operations            5000",
        "  get ",
        "Zipf theta",
        "LRU cache of keys",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    let curves = bench.read("curves.csv");
    assert!(curves.starts_with("curve,x,y\nlru_miss_ratio,1,"), "{curves}");
    let last =
        curves.lines().rfind(|line| line.starts_with("keys_so_far")).unwrap().rsplit(',').next().unwrap();
    let json: serde_json::Value =
        serde_json::from_str(&bench.ok(&["trace", "stat", "cache.csv", "--json"])).unwrap();
    assert_eq!(json["keys"].to_string(), last);
    assert_eq!(json["operations"], 5000);
    let limited = bench.ok(&["trace", "stat", "cache.csv", "--limit", "10", "--kind", "twitter"]);
    assert!(limited.contains("operations            10"), "{limited}");
}

#[test]
fn converted_and_sampled_traces_keep_their_statistics() {
    let bench = Bench::new();
    bench.write("cache.csv", twitter(5000));
    let json = |file: &str| -> serde_json::Value {
        serde_json::from_str(&bench.ok(&["trace", "stat", file, "--json"])).unwrap()
    };
    let whole = json("cache.csv");
    for (format, kind) in
        [("csv", "csv"), ("rocksdb", "rocksdb"), ("oracle-general", "oracle-general"), ("dsl", "text")]
    {
        let said = bench.run(&["trace", "convert", "cache.csv", "--to", format, "--out", kind]).expect(0).err;
        assert!(said.contains("wrote 5000 of 5000 records, from the format \"twitter\""), "{said}");
        let again = json(kind);
        assert_eq!(again["format"].as_str().unwrap().split('(').next(), Some(kind));
        if format == "oracle-general" {
            assert!(said.contains("writes are stored as requests for the object"), "{said}");
        } else {
            for figure in ["keys", "mix", "popularity", "lru"] {
                assert_eq!(again[figure], whole[figure], "{format}: {figure}");
            }
        }
    }
    let said =
        bench.run(&["trace", "sample", "cache.csv", "--rate", "0.3", "--out", "part.csv"]).expect(0).err;
    assert!(said.contains(" of 5000 records"), "{said}");
    let part = json("part.csv");
    let share = part["keys"].as_f64().unwrap() / whole["keys"].as_f64().unwrap();
    assert!((0.2..0.4).contains(&share), "{share}");
}

#[test]
fn a_fitted_workload_runs() {
    let bench = Bench::new();
    bench.write("cache.csv", twitter(5000));
    let said = bench.run(&["trace", "fit", "cache.csv", "--out", "twin.toml"]).expect(0).err;
    for distance in [
        "mix: total variation distance 0.0",
        "hottest keys differ by at most 0.",
        "equal capacity differ by at most 0.",
    ] {
        assert!(said.contains(distance), "{said}");
    }
    bench.write(
        "x.toml",
        "question = \"?\"\nworkload = \"twin.toml\"\n[trials]\ncount = 1\nmode = \"counted\"\n",
    );
    bench.ok(&["run", "x.toml"]);
    let rows = bench.rows("x");
    assert_eq!(number(of(&rows, "run", "all")[0], &c::OPS) as u64, 5000);
    assert_eq!(number(of(&rows, "run", "all")[0], &c::WRONG_ANSWERS) as u64, 0);
    let printed = bench.ok(&["trace", "fit", "cache.csv"]);
    assert_eq!(printed, bench.read("twin.toml"));
}

#[test]
fn wrong_traces_are_one_error() {
    let bench = Bench::new();
    bench.write("cache.csv", twitter(10));
    bench.write("empty", "");
    bench.write("words", "hello world\n");
    bench.write("broken.csv", format!("{}9,ns:1,4,x,1,get,0\n", twitter(3)));
    bench.write("taken", "kept");
    for (arguments, message) in [
        (&["trace", "stat", "nowhere"][..], "trace nowhere: No such file"),
        (&["trace", "stat", "empty"], "trace empty: unknown trace format; set kind Valid: \"raw\""),
        (&["trace", "stat", "empty", "--kind", "lirs"], "trace empty: the file has no accesses"),
        (&["trace", "stat", "words"], "trace words: unknown trace format"),
        (&["trace", "stat", "words", "--kind", "lirs"], "words:1: block is \"hello world\""),
        (&["trace", "stat", "broken.csv", "--kind", "twitter"], "broken.csv:4: a line is TIME,KEY,KEY_SIZE"),
        (&["trace", "stat", "cache.csv", "--kind", "twiter"], "--kind: "),
        (&["trace", "sample", "cache.csv", "--rate", "0", "--out", "x"], "--rate is 0; it must be above 0"),
        (
            &["trace", "convert", "cache.csv", "--to", "dsl", "--out", "taken"],
            "cannot write taken: File exists",
        ),
    ] {
        let error = bench.run(arguments).refusal();
        assert!(error.contains(message), "{arguments:?}: {error}");
    }
    assert_eq!(bench.read("taken"), "kept");
    bench.write(
        "x.toml",
        "question = \"?\"\n[[phase]]\nname = \"r\"\nreplay = { file = \"broken.csv\", kind = \"twitter\" }\n",
    );
    let error = bench.run(&["run", "x.toml"]).refusal();
    assert!(error.starts_with("broken.csv:4: "), "{error}");
}
