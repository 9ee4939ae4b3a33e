//! Tests of invalid requests. The program prints one error with the file, the line and a fix, exits with code 2, and
//! changes no file.

use std::fs;

use crate::bench::{Bench, SMALL};

/// An experiment with one error: the text in [`BASE`] that is replaced, its replacement, the line of the error, and a part
/// of its message.
type Case<'a> = (&'a str, &'a str, usize, &'a [&'a str]);

/// The valid experiment that the cases change. The cases contain line numbers of this text.
const BASE: &str = r#"question = "?"
[design]
bloom      = "standard"
compaction = "leveled"
memtable   = { capacity = "32KiB" }
block      = { size = "4KiB" }
[[phase]]
name   = "load"
insert = 3000
value  = { kind = "fixed", bytes = 32 }
[[phase]]
name       = "look"
operations = 3000
mix        = { get = 9, put = 1 }
keys       = { kind = "zipfian", theta = 0.9 }
absent     = 0.5
[sweep]
"design.cache" = ["none", "lru"]
[trials]
count = 1
mode  = "counted"
[verdict]
metric = "fpr"
[[chart]]
kind = "bar"
x    = "design.cache"
y    = "fpr"
"#;

const UNKNOWN: &[Case<'_>] = &[
    (
        "question",
        "questoin",
        1,
        &["unknown key of an experiment \"questoin\"; did you mean \"question\"? Valid: \"question\", "],
    ),
    ("bloom   ", "blooom", 3, &["no key \"blooom\"; did you mean \"bloom\"?"]),
    (
        "\"standard\"",
        "\"standart\"",
        3,
        &["design.bloom: unknown variant \"standart\"; did you mean \"standard\"? Valid: \"none\", "],
    ),
    (
        "\"standard\"",
        "{ kind = \"standard\", bits_per_ky = 8 }",
        3,
        &["no parameter \"bits_per_ky\"; did you mean \"bits_per_key\"?"],
    ),
    (
        "capacity",
        "capcity",
        5,
        &[
            "design.memtable.capcity: bplus has no parameter \"capcity\"; did you mean \"capacity\"?",
            "\"entries\", \"filter\", \"key_range\"",
        ],
    ),
    (
        "{ capacity = \"32KiB\" }",
        "{ kind = \"skiplist\", capcity = \"1MiB\" }",
        5,
        &["design.memtable.capcity: skiplist has no parameter \"capcity\"; did you mean \"capacity\"?"],
    ),
    (
        "{ capacity =",
        "{ kynd = \"skiplist\", capacity =",
        5,
        &["no parameter \"kynd\"; did you mean \"kind\"?"],
    ),
    (
        "\"standard\"",
        "{ kind = \"standard\", alocation = \"monkey\" }",
        3,
        &["no parameter \"alocation\"; did you mean \"allocation\"?"],
    ),
    (
        "\"standard\"",
        "{ allocation = \"monkee\" }",
        3,
        &["allocation: unknown variant \"monkee\"; did you mean \"monkey\"?"],
    ),
    (
        "block      = { size = \"4KiB\" }",
        "block      = { size = \"4KiB\", fromat = \"delta\" }",
        6,
        &["block has no option \"fromat\"; did you mean \"format\"?"],
    ),
    // The line is that of the key in the table, however the table is written.
    (
        "{ size = \"4KiB\" }",
        "{ format = \"fixed-pair\" }",
        6,
        &["format: unknown variant \"fixed-pair\"; did you mean \"fixed-pairs\"?"],
    ),
    ("block      = { size = \"4KiB\" }", "[design.block]\nformat = \"fixed-pair\"", 7, &["fixed-pairs"]),
    (
        "block      = { size = \"4KiB\" }",
        "[design.block.format]\nkind = \"delta\"\nx = 1",
        8,
        &["no parameter \"x\""],
    ),
    ("size", "sise", 6, &["block has no option \"sise\"; did you mean \"size\"?"]),
    ("insert", "inserts", 9, &["no key \"inserts\"; did you mean \"insert\"?"]),
    ("operations", "opertions", 13, &["no key \"opertions\"; did you mean \"operations\"?"]),
    ("absent", "abesnt", 16, &["no key \"abesnt\"; did you mean \"absent\"?"]),
    ("mix  ", "mxi  ", 14, &["a phase has no key \"mxi\"; did you mean \"mix\"?"]),
    ("put =", "putt =", 14, &["no key \"putt\"; did you mean \"put\"?"]),
    ("zipfian", "zipfain", 15, &["unknown variant \"zipfain\"; did you mean \"zipfian\"?"]),
    ("\"fixed\"", "\"fixd\"", 10, &["\"fixd\"; did you mean \"fixed\"?"]),
    (
        "count",
        "cuont",
        20,
        &["trials.cuont: unknown key \"cuont\"; did you mean \"count\"? Valid: \"count\", \"seed\", "],
    ),
    ("counted", "conted", 21, &["unknown name \"conted\"; did you mean \"counted\"? Valid: \"timed\", "]),
    (
        "metric = \"fpr\"",
        "metric = \"frp\"",
        23,
        &["verdict.metric: no column \"frp\"; did you mean \"fpr\"?"],
    ),
    ("metric = \"fpr\"", "phase = \"lok\"", 23, &["unknown phase \"lok\"; did you mean \"look\"?"]),
    (
        "metric = \"fpr\"",
        "baseline = \"nine\"",
        23,
        &["verdict.baseline: unknown configuration \"nine\"; did you mean \"none\"?"],
    ),
    ("\"bar\"", "\"baar\"", 25, &["unknown variant \"baar\"; did you mean \"bar\"?"]),
    ("y    =", "yy    =", 27, &["chart.yy: unknown key \"yy\"; did you mean \"y\"?"]),
    ("y    = \"fpr\"", "y    = \"fprr\"", 27, &["no column \"fprr\"; did you mean \"fpr\"?"]),
];

const WRONG_TYPES: &[Case<'_>] = &[
    ("insert = 3000", "insert = true", 9, &["insert", "expected a count such as 1_000_000"]),
    ("insert = 3000", "insert = \"many\"", 9, &["\"many\" is not a count; write it as"]),
    ("\"standard\"", "3", 3, &["bloom: expected a variant, not a value of type integer; write"]),
    ("\"32KiB\"", "\"32 parsecs\"", 5, &["\"32 parsecs\" is not a size; write it as"]),
    ("\"32KiB\"", "[]", 5, &["memtable.capacity", "expected a size such as"]),
    ("count = 1", "count = \"two\"", 20, &["trials.count", "expected a whole number, 0 or more"]),
    (
        "{ size = \"4KiB\" }",
        "{ checksum = 3 }",
        6,
        &["block.checksum: expected a name, not 3 Valid: \"none\", \"crc32c\", \"crc32\", \"xxh3\""],
    ),
    (
        "memtable   =",
        "merge = { kernel = 3 }\nmemtable =",
        5,
        &["merge.kernel: expected a name, not 3 Valid: \"loser-tree\", \"heap\""],
    ),
    (
        "memtable   =",
        "merge = { kernel = \"heep\" }\nmemtable =",
        5,
        &["merge.kernel: unknown name \"heep\"; did you mean \"heap\"? Valid: \"loser-tree\", \"heap\""],
    ),
    ("{ size = \"4KiB\" }", "{ align = 1 }", 6, &["block.align: expected true or false, not 1"]),
    (
        "{ size = \"4KiB\" }",
        "{ restart_interval = -1 }",
        6,
        &["expected a whole number from 0 to 4294967295, not -1"],
    ),
    ("\"standard\"", "{ bits_per_key = \"ten\" }", 3, &["bits_per_key: expected a number, not \"ten\""]),
    (
        "memtable   =",
        "memory = { a = 1 }\nmemtable =",
        5,
        &["memory: expected a size such as \"4MiB\", not a table"],
    ),
    (
        "mode  = \"counted\"",
        "mode = true",
        21,
        &["trials.mode: expected a name, not true Valid: \"timed\", \"counted\""],
    ),
    ("name   = \"load\"", "name = 3", 8, &["name: expected text in quotes, not 3"]),
    ("\"bar\"", "{}", 25, &["chart.kind: the table has no key kind; write { kind = \"line\", "]),
    ("x    = \"design.cache\"\n", "x = nan\n", 26, &["chart.x: expected text in quotes, not NaN"]),
    (
        "insert = 3000",
        "insert = 99999999999999999999",
        9,
        &["99999999999999999999 is out of range; whole numbers in TOML are "],
    ),
    ("mode  = \"counted\"", "seed = -1", 21, &["trials.seed", "expected a whole number, 0 or more"]),
    (
        "[sweep]\n",
        "[sweep]\ncombine = \"zap\"\n",
        18,
        &["sweep.combine: unknown value \"zap\" Valid: \"cartesian\", \"zip\", \"ablate\""],
    ),
    ("[[chart]]", "[chart]", 24, &["chart: expected tables: [[chart]]"]),
    ("[trials]\n", "[trials]\nsampling = = 3\n", 20, &["="]),
];

const IMPOSSIBLE: &[Case<'_>] = &[
    (
        "block      =",
        "table      = { manifest = \"none\" }\nblock      =",
        6,
        &[
            "design.table.manifest: without a manifest, each compaction must merge all runs, unlike \"leveled",
            "set compaction = \"none\" or \"merge-all\", or set table.manifest = \"file\"",
        ],
    ),
    (
        "y    = \"fpr\"\n",
        "y = \"fpr\"\nratio = true\n",
        28,
        &["chart.ratio: only a line, bar, grouped-bar, scatter or heatmap chart of a time or a rate has"],
    ),
    ("insert = 3000", "insert = 0", 9, &["insert is 0; a load adds at least 1 key"]),
    ("insert = 3000", "insert = -5", 9, &["-5 is negative"]),
    (
        "{ get = 9, put = 1 }",
        "{ range = 1 }",
        16,
        &["absent applies to gets, multi-gets and scans with a span"],
    ),
    (
        "block      = {",
        "format = \"plain\"\nblock = { format = \"delta\",",
        6,
        &["format and block.format are names of one axis; use only one name"],
    ),
    ("operations = 3000", "operations = 0", 13, &["operations is 0"]),
    ("theta = 0.9", "theta = -0.9", 15, &["theta is -0.9; a zipfian exponent is a finite number from 0"]),
    ("theta = 0.9", "theta = nan", 15, &["theta is NaN"]),
    ("{ kind = \"zipfian\", theta = 0.9 }", "{ kind = \"ycsb-scrambled\", theta = 1.0 }", 15, &["theta"]),
    (
        "\"leveled\"",
        "{ kind = \"leveled\", size_ratio = 1 }",
        4,
        &["size_ratio is 1; the size ratio between two levels must be from 1.1"],
    ),
    (
        "\"leveled\"",
        "{ kind = \"tiered\", size_ratio = 1 }",
        4,
        &["size_ratio is 1; the number of runs that are merged into one must be from 2"],
    ),
    (
        "\"standard\"",
        "{ kind = \"blocked\", bits_per_key = -1 }",
        3,
        &["bits_per_key is -1; it must be from"],
    ),
    ("\"4KiB\"", "100", 6, &["block.size: must be 512 B to 64 KiB, not 100B"]),
    ("\"32KiB\"", "10", 5, &["memtable.capacity: must be at least 1 KiB"]),
    (
        "[[phase]]\nname   = \"load\"",
        "memory = \"1KiB\"\n[[phase]]\nname   = \"load\"",
        7,
        &["design.memory: must be larger than two memtables of 32KiB each"],
    ),
    ("absent     = 0.5", "absent     = 1.5", 16, &["absent is 1.5; it must be a share between 0 and 1"]),
    ("put = 1", "put = -1", 14, &["the weight of put is -1"]),
    ("get = 9, put = 1", "get = 0", 14, &["the weights of mix sum to 0"]),
    (
        "get = 9, put = 1",
        "get = 0.95, put = 0.5",
        14,
        &["phase.look.mix: the shares of mix sum to 1.45, not 1"],
    ),
    ("absent     = 0.5", "threads = 0", 16, &["threads is 0; it must be between 1 and"]),
    ("absent     = 0.5", "rate = 0", 16, &["rate is 0; write \"closed\""]),
    ("absent     = 0.5", "rate = 1e30", 16, &["operations per second must be between 0.0001 and 1000000000"]),
    ("absent     = 0.5", "rate = { p98 = \"1ms\" }", 16, &["no key \"p98\"; did you mean \"p99\"?"]),
    ("absent     = 0.5", "rate = { p99 = \"0s\" }", 16, &["p99 is 0; it must be above 0"]),
    (
        "absent     = 0.5",
        "rate = { p99 = \"1ms\", to = \"9G\" }",
        16,
        &["to is 9000000000; the maximum is 1000000000 operations per second"],
    ),
    (
        "compaction = \"leveled\"",
        "memory = \"8MiB\"\ncache = { kind = \"lru\", capacity = \"1MiB\" }",
        5,
        &["design.memory gives the cache all memory", "remove design.memory or design.cache.capacity"],
    ),
    ("bytes = 32", "bytes = \"1GiB\"", 10, &["values are at most 64MiB"]),
    ("bytes = 32", "bytes = 32, compressible = 2", 10, &["compressible is 2; it must be a share"]),
    (
        "count = 1",
        "count = 0",
        20,
        &["trials.count: the count is 0, but every configuration must run at least once"],
    ),
    ("count = 1", "count = 1\nsampling = 0", 21, &["trials.sampling: the interval is 0"]),
    ("name       = \"look\"", "name = \"load\"", 8, &["two phases have the name \"load\""]),
    ("[trials]", "[trials]\n[extra]", 20, &["unknown key of an experiment \"extra\" Valid: "]),
];

const SWEEPS: &[Case<'_>] = &[
    (
        "design.cache\" =",
        "desgin.cache\" =",
        18,
        &["unknown start of a path \"desgin\"; did you mean \"design\"?"],
    ),
    ("design.cache\" =", "design.cahce\" =", 18, &["no key \"cahce\"; did you mean \"cache\"?"]),
    (
        "\"design.cache\" =",
        "\"design.cache.capcity\" =",
        18,
        &["no configuration has the parameter \"capcity\"; did you mean \"capacity\"?"],
    ),
    ("\"design.cache\" =", "\"phase.lok.absent\" =", 18, &["unknown phase \"lok\"; did you mean \"look\"?"]),
    (
        "\"design.cache\" =",
        "\"phase.look.keys.thta\" =",
        18,
        &["no configuration has the parameter \"thta\"; did you mean \"theta\"?"],
    ),
    (
        "[\"none\", \"lru\"]",
        "[]",
        18,
        &["sweep.design.cache: the list is empty; a sweep needs at least one value"],
    ),
    ("\"design.cache\" = [\"none\", \"lru\"]", "", 17, &["the sweep is empty; add a path with its values"]),
    ("[\"none\", \"lru\"]", "\"lru\"", 18, &["expected a list of values"]),
    ("\"lru\"]", "\"lru(shards=0)\"]", 18, &["shards is 0"]),
    (
        "[sweep]",
        "[sweep]\ncombine = \"zip\"\n\"phase.load.insert\" = [1]",
        20,
        &["combine = \"zip\" needs lists of equal length"],
    ),
    (
        "mix        = { get",
        "seconds = 1\nmix = { get",
        18,
        &["no configuration can run: counted mode: phase look ends"],
    ),
];

/// Cases that need more memory or storage than a machine has. lsmbench rejects them before anything runs.
const TOO_LARGE: &[Case<'_>] = &[
    (
        "insert = 3000",
        "insert = 4_000_000_000",
        0,
        &["configuration 0 (none) may need", "of storage", "insert fewer keys"],
    ),
    ("\"32KiB\"", "\"900TiB\"", 0, &["configuration 0 (none) may need", "of memory", "lower the capacities"]),
];

/// Cases with an error in a file that the experiment names.
const FILES: &[Case<'_>] = &[
    (
        "[design]",
        "extends = \"designs/nowhere.toml\"\n[design]",
        2,
        &["there is no file designs/nowhere.toml"],
    ),
    ("[design]", "workload = \"nowhere.toml\"\n[design]", 2, &["there is no file nowhere.toml"]),
    (
        "keys       = { kind = \"zipfian\", theta = 0.9 }",
        "replay = { kind = \"raw\", file = \"nowhere.trace\" }",
        15,
        &["trace nowhere.trace: No such file", "check the path"],
    ),
    (
        "keys       = { kind = \"zipfian\", theta = 0.9 }",
        "replay = { kind = \"raw\", file = \"x.toml\", width = 8 }",
        15,
        &["the file length is not a multiple of width = 8 bytes; set width to the size of one integer"],
    ),
    (
        "[sweep]",
        "[[phase]]\nname = \"text\"\nreplay = { kind = \"text\", file = \"nowhere.txt\" }\n[sweep]",
        19,
        &["there is no file nowhere.txt"],
    ),
];

/// Tests that `run` rejects every case, and that the results of an earlier valid run stay unchanged.
fn refuses(cases: &[Case<'_>]) {
    let bench = Bench::new();
    bench.write("x.toml", BASE);
    bench.ok(&["run", "x.toml"]);
    for (from, to, line, sayings) in cases {
        assert!(BASE.contains(from), "{from}");
        bench.write("x.toml", BASE.replacen(from, to, 1));
        let before = bench.content();
        let answer = bench.run(&["run", "x.toml"]);
        assert_eq!(answer.code, Some(2), "{to}");
        let error = answer.refusal();
        let place = if *line == 0 { "x.toml: ".to_owned() } else { format!("x.toml:{line}: ") };
        assert!(error.starts_with(&place), "{to}: not at {place}: {error}");
        sayings.iter().for_each(|saying| assert!(error.contains(saying), "{to}: no {saying:?}: {error}"));
        assert!(bench.content() == before, "{to}: something was touched");
        if !sayings.iter().any(|saying| saying.contains("may need")) {
            assert_eq!(bench.run(&["describe", "x.toml"]).refusal(), error, "describe says it too");
        }
    }
}

#[test]
fn unknown_names_are_refused_with_the_one_that_was_meant() {
    refuses(UNKNOWN);
}

#[test]
fn values_of_the_wrong_type_are_refused_with_what_is_right() {
    refuses(WRONG_TYPES);
}

#[test]
fn impossible_values_are_refused_one_by_one() {
    refuses(IMPOSSIBLE);
}

#[test]
fn sweeps_over_nothing_are_refused() {
    refuses(SWEEPS);
}

#[test]
fn plans_that_do_not_fit_are_refused() {
    refuses(TOO_LARGE);
}

#[test]
fn files_that_are_not_there_are_refused_where_they_are_named() {
    refuses(FILES);
}

#[test]
fn what_is_set_on_the_command_line_is_held_to_the_same() {
    let bench = Bench::small();
    bench.ok(&["run", "small.toml"]);
    let before = bench.content();
    for (arguments, saying) in [
        (
            &["--set", "design.wal=snyc"][..],
            "--set design.wal: unknown variant \"snyc\"; did you mean \"sync\"?",
        ),
        (&["--set", "phase.load.insert=0"], "--set phase.load.insert: insert is 0"),
        (&["--set", "trials.count=5000"], "--set trials.count: 5000 exceeds the maximum of 1000"),
        (
            &["--set", "trials.count=99999999999999999999"],
            "--set trials.count: 99999999999999999999 exceeds the largest whole number in TOML",
        ),
        (
            &["--set", "design={}"],
            "--set design: \"design\" is a table; set a value in it, such as design.bloom=blocked;",
        ),
        (&["--set", "design.wal=\"sync"], "--set design.wal: \"sync is not a TOML value: "),
        (
            &["--set", "phase.load.size=1"],
            "--set phase.load.size: a phase has no key \"size\" Valid: \"name\", \"step\", \"role\", \"insert\", \"replay\", ",
        ),
        (&["--set", "phase.lode.insert=5"], "unknown phase \"lode\"; did you mean \"load\"?"),
        (&["--set", "trails.count=5"], "did you mean \"trials\"?"),
        (
            &["--set", "design.bloom=none"],
            "--set design.bloom: the sweep already contains values for this path, so a single value has no effect",
        ),
        (&["--set", "design.wal"], "expected path=value"),
        (
            &["--set", "mode=counted"],
            "unknown path \"mode\"; did you mean \"trials.mode\"? Valid: \"engine\", ",
        ),
        (&["--set", "cache.capacity=1MiB"], "did you mean \"design.cache.capacity\"?"),
        (&["--set", "sweep.\"design.blom\"=[1]"], "no key \"blom\"; did you mean \"bloom\"?"),
        (&["--trials", "0"], "--trials: the count is 0"),
        (&["--design", "nowhere.toml"], "there is no file nowhere.toml"),
        (&["--out", "small.toml"], "small.toml"),
    ] {
        let error = bench.run(&[&["run", "small.toml"][..], arguments].concat()).refusal();
        assert!(error.contains(saying), "{arguments:?}: {error}");
    }
    assert_eq!(bench.run(&["run", "small.toml", "--trials", "many"]).expect(2).out, "");
    assert_eq!(bench.run(&["run"]).expect(2).out, "");
    assert!(bench.content() == before, "something was touched");
}

#[test]
fn a_bad_experiment_keeps_the_good_ones_beside_it_from_starting() {
    let bench = Bench::small();
    bench.write("bad.toml", SMALL.replace("insert = 3_000", "insert = 0"));
    bench.write("other/small.toml", SMALL);
    let before = bench.content();
    let error = bench.run(&["run", "small.toml", "bad.toml"]).refusal();
    assert!(error.starts_with("bad.toml:9: "), "{error}");
    let error = bench.run(&["run", "small.toml", "other/small.toml"]).refusal();
    assert!(error.contains("two experiments have the name \"small\""), "{error}");
    assert!(bench.content() == before, "something was touched");
}

#[test]
fn files_that_are_no_experiments_are_named() {
    let bench = Bench::new();
    fs::create_dir(bench.path("folder.toml")).unwrap();
    bench.write("latin.toml", b"question = \"\xe4\"\n");
    bench.write("empty.toml", "");
    bench.write("silent.toml", "question = \"?\"\n");
    for (file, saying) in [
        ("nowhere.toml", "there is no file nowhere.toml"),
        ("folder.toml", "cannot read folder.toml: Is a directory"),
        ("latin.toml", "cannot read latin.toml: stream did not contain valid UTF-8"),
        (
            "empty.toml",
            "empty.toml: question: the question of the experiment is missing; add it, such as question = \"Which …?\"",
        ),
        ("silent.toml", "silent.toml: phase: a workload has at least one [[phase]]"),
    ] {
        let before = bench.content();
        let error = bench.run(&["run", file]).refusal();
        assert!(error.contains(saying), "{file}: {error}");
        assert!(bench.content() == before, "{file}: something was touched");
    }
}

#[test]
fn folders_that_hold_something_else_are_left_alone() {
    let bench = Bench::small();
    bench.write("results/small/thesis.txt", "years of work");
    let before = bench.content();
    let error = bench.run(&["run", "small.toml"]).refusal();
    assert!(
        error.contains(
            "results/small contains files other than results of a run; choose another folder with --out"
        ),
        "{error}"
    );
    assert!(bench.content() == before, "something was touched");
    fs::remove_dir_all(bench.path("results")).unwrap();

    bench.write("other.toml", SMALL);
    bench.ok(&["run", "other.toml"]);
    fs::rename(bench.path("results/other"), bench.path("results/small")).unwrap();
    let before = bench.content();
    for arguments in [&["run", "small.toml"][..], &["run", "small.toml", "--resume"]] {
        let error = bench.run(arguments).refusal();
        assert!(
            error.contains(
                "results/small contains results of another experiment, other; choose another folder with \
                 --out"
            ),
            "{error}"
        );
    }
    assert!(bench.content() == before, "something was touched");
}

/// Tests that lsmbench neither resumes nor draws results that another program has changed. A changed digit, a missing
/// line and a duplicate line leave valid rows, so only the seal detects such a change.
#[test]
fn results_that_were_changed_in_silence_are_neither_resumed_nor_drawn() {
    let bench = Bench::small();
    bench.ok(&["run", "small.toml"]);
    let file = "results/small/runs.csv";
    let whole = bench.read(file);
    let lines: Vec<&str> = whole.split_inclusive('\n').collect();
    let (all, last) = (lines.len(), lines[lines.len() - 1]);
    let digit = last.rfind(|byte: char| byte.is_ascii_digit()).unwrap();
    let other = if last.as_bytes()[digit] == b'1' { "2" } else { "1" };
    let flipped = format!("{}{other}{}", &last[..digit], &last[digit + 1..]);
    for damaged in [
        [&lines[..all - 1], &[&*flipped]].concat().concat(),
        lines[..all - 1].concat(),
        [&lines[..2], &lines[1..]].concat().concat(),
    ] {
        bench.write(file, &damaged);
        let before = bench.content();
        for arguments in [&["run", "small.toml", "--resume"][..], &["plot", "results/small"]] {
            let error = bench.run(arguments).refusal();
            let known = ["something changed the file after the run", "duplicate row"];
            let is_told = error.starts_with(file) && known.iter().any(|known| error.contains(known));
            assert!(is_told, "{arguments:?}: {error}");
        }
        assert!(bench.content() == before, "something was touched");
    }
    bench.write(file, &whole);
    let manifest = bench.read("results/small/manifest.json");
    bench.write("results/small/manifest.json", manifest.replacen("\"seed\": ", "\"seed\": 1", 1));
    let error = bench.run(&["plot", "results/small"]).refusal();
    assert!(
        error.contains("the checksum of the manifest does not match, so the manifest is corrupt"),
        "{error}"
    );
    bench.write("results/small/manifest.json", &manifest);
    // Results of earlier versions have no seals, and are read without.
    bench.forget_seals("small");
    bench.ok(&["plot", "results/small"]);
    bench.ok(&["run", "small.toml", "--resume"]);
}

#[test]
fn damaged_results_are_neither_resumed_nor_drawn() {
    let bench = Bench::small();
    bench.ok(&["run", "small.toml"]);
    let whole = bench.read("results/small/runs.csv");
    let third: Vec<&str> = whole.lines().nth(2).unwrap().split(',').collect();
    let cell_is_a_word = whole.replacen(&third.join(","), &third.join(",").replacen(third[1], "x", 1), 1);
    let short = whole.replacen(&third.join(","), &third[..5].join(","), 1);
    for (damaged, line, saying) in [
        (cell_is_a_word, 3, "a whole number"),
        (short, 3, "5 fields"),
        (whole.replacen("experiment,", "experimend,", 1), 1, "experimend"),
    ] {
        bench.write("results/small/runs.csv", &damaged);
        let before = bench.content();
        for arguments in [&["run", "small.toml", "--resume"][..], &["plot", "results/small"]] {
            let error = bench.run(arguments).refusal();
            let place = format!("results/small/runs.csv:{line}: ");
            assert!(error.starts_with(&place) && error.contains(saying), "{arguments:?}: {error}");
        }
        assert!(bench.content() == before, "something was touched");
    }
    bench.write("results/small/runs.csv", &whole);
    bench.write("results/small/manifest.json", "{}");
    for arguments in
        [&["run", "small.toml"][..], &["run", "small.toml", "--resume"], &["plot", "results/small"]]
    {
        let error = bench.run(arguments).refusal();
        assert!(error.contains("results/small/manifest.json: the file is not a manifest"), "{error}");
    }
}

#[cfg(not(feature = "foyer"))]
#[test]
fn a_variant_that_was_left_out_of_the_build_says_how_to_get_it() {
    let bench = Bench::small();
    let error = bench.run(&["run", "small.toml", "--set", "design.cache=foyer"]).refusal();
    assert!(
        error.contains("this build of lsmbench does not contain foyer; build with --features foyer"),
        "{error}"
    );
}

/// Tests that the order of overrides has no effect. lsmbench checks a combination of settings after the last override.
#[test]
fn overrides_have_no_order() {
    let bench = Bench::small();
    let sets = ["design.memory=4MiB", "design.memtable.capacity=256KiB", "design.bloom.bits_per_key=7"];
    let experiment = |order: [usize; 3]| {
        let sets = order.map(|at| ["--set", sets[at]]).concat();
        bench.ok(&[&["describe", "small.toml"][..], &sets].concat())
    };
    let first = experiment([0, 1, 2]);
    assert!(first.contains("memory = \"4MiB\"") && first.contains("bits_per_key = 7"), "{first}");
    assert_eq!(experiment([2, 1, 0]), first);
    let keys = ["phase.look.keys.theta=0.7", "phase.look.keys={kind=\"zipfian\"}"];
    for keys in [keys, [keys[1], keys[0]]] {
        let described = bench.ok(&["describe", "small.toml", "--set", keys[0], "--set", keys[1]]);
        assert!(described.contains("theta = 0.7"), "{described}");
    }
    let shell = ["shell", "db", "--set", "memory=4MiB", "--set", "memtable.capacity=256KiB"];
    assert_eq!(bench.run_with(&shell, "p a 1\ng a\n").expect(0).out, "1\n");
    let error = bench.run(&["describe", "small.toml", "--set", "design.memory=4KiB"]).refusal();
    assert!(
        error.contains("--set design.memory: must be larger than two memtables of 32KiB each"),
        "{error}"
    );
    let error =
        bench.run(&["shell", "db", "--set", "memtable.filter=1MiB", "--set", "memtable.capacity=4KiB"]);
    let error = error.refusal();
    assert!(error.contains("--set memtable.filter=1MiB: must be at most 4KiB"), "{error}");
}

#[test]
fn a_missing_name_is_named() {
    let bench = Bench::new();
    let phase = "question = \"?\"\n[[phase]]\ninsert = 100\n";
    bench.write("x.toml", phase);
    let error = bench.run(&["describe", "x.toml"]).refusal();
    assert!(error.contains("the key `name` is missing; name a phase, such as name = \"load\""), "{error}");
    let role = "question = \"?\"\n[[phase]]\nname = \"a\"\n[[phase.role]]\nmix = { get = 1 }\n";
    bench.write("x.toml", role);
    let error = bench.run(&["describe", "x.toml"]).refusal();
    assert!(error.contains("the key `name` is missing; name a role, such as name = \"readers\""), "{error}");
    let arbiter = ["describe", "x.toml", "--set", "design.arbiter=marginal(sampled_blocks=99999999)"];
    bench.write("x.toml", phase.replace("insert", "name = \"load\"\ninsert"));
    let error = bench.run(&arbiter).refusal();
    assert!(error.contains("sampled_blocks is 99999999; it must be from 16 to 1048576"), "{error}");
}
