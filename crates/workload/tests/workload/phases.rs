//! Tests of phases in TOML: all valid forms, and the errors for invalid forms.

use std::path::Path;

use super::workload::{KeySource, Kind, Order, Phase, PlanError, Rate, Work, Workload, WorkloadPlan};
use super::{plan, read};

fn phase(lines: &str) -> Phase {
    toml::from_str(lines).unwrap()
}

fn error(lines: &str) -> (String, String) {
    let error = Phase::from_toml(&toml::from_str(lines).unwrap()).unwrap_err();
    (error.key.unwrap_or_default(), error.message)
}

#[test]
fn a_load_and_a_mix_read_as_they_stand_in_the_design() {
    let load = phase(
        "name = \"load\"\ninsert = 1_000_000\norder = \"random\"\n\
         value = { kind = \"fixed\", bytes = 100, compressible = 0.5 }",
    );
    let Work::Load(work) = &load.work else { panic!("a load") };
    assert_eq!((work.keys, work.order, work.batch), (Some(1_000_000), Order::Random, None));
    let lookup = phase(
        "name = \"lookup\"\noperations = \"1M\"\nmix = { get = 0.95, put = 0.05 }\n\
         keys = { kind = \"zipfian\", theta = 0.99 }\nabsent = 0.5\nthreads = 2\nrate = 1000",
    );
    let Work::Mixed(work) = &lookup.work else { panic!("a mix") };
    assert_eq!(work.operations, Some(1_000_000));
    assert!((work.mix.share(Kind::Get) - 0.95).abs() < 1e-12);
    assert!(matches!(&work.keys, KeySource::Drawn(choice) if choice.label() == "zipfian"));
    assert_eq!((lookup.threads, lookup.rate), (2, Rate::Open { per_second: 1000.0 }));
}

/// Tests that the printed TOML of a phase parses to an equal phase. `lsmbench describe` prints this TOML, and the
/// results of a run contain it.
#[test]
fn phases_read_back() {
    for lines in [
        "name = \"a\"\ninsert = 5\norder = \"reverse\"\nbatch = 100",
        "name = \"a\"\ninsert = \"all\"",
        "name = \"a\"\noperations = 5\nmix = \"get\"\nkeys = \"latest(theta=0.5)\"\nabsent = 1",
        "name = \"a\"\nseconds = 0.5\nmix = { range = 1, batch = 2 }\nbatch = 7\n\
         range = { entries = 3, backward = 1 }",
        "name = \"a\"\noperations = 5\nmix = \"range\"\nabsent = 0.9\nrange = { entries = 3, span = 32 }",
        "name = \"a\"\noperations = 5\nseconds = \"2min\"\nmix = { put = 1 }\nvalue = \"pareto\"\nthreads = 8",
        "name = \"a\"\nreplay = { kind = \"raw\", file = \"x.xz\", width = 8, endian = \"little\" }",
        "name = \"a\"\nreplay = { kind = \"text\", file = \"x.txt\" }\nrate = \"10k\"",
    ] {
        let phase = phase(lines);
        let again = Phase::from_toml(&phase.to_toml()).unwrap();
        assert_eq!(again, phase, "{lines}");
        let written = toml::to_string(&phase).unwrap();
        assert_eq!(toml::from_str::<Phase>(&written).unwrap(), phase, "{written}");
    }
}

/// Tests that settings without effect on a mix are removed, so that phases with equal work compare as equal.
#[test]
fn idle_settings_are_dropped() {
    let plain = phase("name = \"a\"\noperations = 5\nmix = \"put\"");
    let idle = phase(
        "name = \"a\"\noperations = 5\nmix = \"put\"\nabsent = 0.5\nbatch = 3\nrange = { entries = 7 }",
    );
    let read: Vec<&str> =
        ["absent", "batch", "range", "keys", "value"].into_iter().filter(|key| idle.reads(key)).collect();
    assert_eq!(read, ["keys", "value"]);
    assert_eq!(plain, idle.without_unread(|_| false));
}

#[test]
fn impossible_phases_name_the_key_and_what_is_accepted() {
    let mix = "name = \"a\"\noperations = 5\nmix = \"get\"\n";
    let cases = [
        ("insert = 5".to_owned(), "name", "the key `name` is missing; name a phase"),
        ("name = \"a b\"\ninsert = 5".to_owned(), "name", "letters, digits, - and _"),
        ("name = \"a\"".to_owned(), "operations", "insert = …, operations = …"),
        ("name = \"a\"\ninsert = 0".to_owned(), "insert", "at least 1 key"),
        ("name = \"a\"\ninsert = -1".to_owned(), "insert", "is negative"),
        ("name = \"a\"\ninsert = \"many\"".to_owned(), "insert", "is not a count"),
        ("name = \"a\"\ninsert = 5\nmix = \"get\"".to_owned(), "mix", "into a separate phase"),
        (
            "name = \"a\"\ninsert = 5\norder = \"up\"".to_owned(),
            "order",
            "unknown name \"up\". Valid: \"random\", \"sequential\", \"reverse\"",
        ),
        ("name = \"a\"\noperations = 0\nmix = \"get\"".to_owned(), "operations", "at least 1"),
        ("name = \"a\"\noperations = 5".to_owned(), "mix", "operations needs a mix"),
        ("name = \"a\"\noperations = 5\nmix = { get = -1 }".to_owned(), "mix.get", "0 or more"),
        ("name = \"a\"\noperations = 5\nmix = { gett = 1 }".to_owned(), "mix.gett", "did you mean \"get\"?"),
        ("name = \"a\"\noperations = 5\nmix = { get = 0 }".to_owned(), "mix", "at least one weight must"),
        (format!("{mix}keys = \"zipfain\""), "keys", "did you mean \"zipfian\"?"),
        (format!("{mix}keys = {{ kind = \"zipfian\", theta = -0.5 }}"), "keys", "theta is -0.5"),
        (format!("{mix}keys = {{ kind = \"zipfian\", theta = nan }}"), "keys", "theta is NaN"),
        (
            format!("{mix}keys = {{ kind = \"zipfian\", theta = \"a\" }}"),
            "keys.theta",
            "expected a number, not",
        ),
        (
            format!("{mix}keys = {{ kind = \"latest\", thetas = 1 }}"),
            "keys.thetas",
            "did you mean \"theta\"?",
        ),
        (format!("{mix}absent = 1.5"), "absent", "between 0 and 1"),
        (format!("{mix}absent = -0.1"), "absent", "between 0 and 1"),
        (format!("{mix}range = {{ entries = 0 }}"), "range", "at least 1 entry"),
        (format!("{mix}range = {{ entris = 1 }}"), "range.entris", "did you mean \"entries\"?"),
        (format!("{mix}value = {{ bytes = \"1GiB\" }}"), "value", "at most 64MiB"),
        (format!("{mix}value = {{ compressible = 2 }}"), "value.compressible", "between 0 and 1"),
        (format!("{mix}threads = 0"), "threads", "between 1 and 1024"),
        (format!("{mix}batch = 0"), "batch", "between 1 and 65536"),
        (format!("{mix}rate = 0"), "rate", "above 0"),
        (format!("{mix}rate = \"fast\""), "rate", "write \"closed\""),
        (format!("{mix}rate = {{ from = 5 }}"), "rate.p99", "a rate search needs this limit"),
        ("name = \"a\"\ninsert = 5\nrate = { p99 = \"1ms\" }".to_owned(), "rate", "possible only for a mix"),
        (format!("{mix}seconds = 0"), "seconds", "must be above 0"),
        (format!("{mix}seconds = \"5 moons\""), "seconds", "is not a time"),
        (format!("{mix}order = \"random\""), "order", "applies only to a load"),
        (format!("{mix}opertions = 5"), "opertions", "did you mean \"operations\"?"),
        ("name = \"a\"\nreplay = \"x\"".to_owned(), "replay", "replay must be a table"),
        ("name = \"a\"\nreplay = { kind = \"cvs\" }".to_owned(), "replay.kind", "Valid: \"raw\", \"rocksdb"),
        ("name = \"a\"\nreplay = { kind = \"raw\" }".to_owned(), "replay.file", "file is missing"),
        (
            "name = \"a\"\nreplay = { kind = \"raw\", file = \"x\", width = 3 }".to_owned(),
            "replay",
            "width is 3; it must be 1, 2, 4 or 8 bytes",
        ),
        (
            "name = \"a\"\nreplay = { kind = \"raw\", file = \"x\" }\nkeys = \"uniform\"".to_owned(),
            "keys",
            "determines the keys",
        ),
        (
            "name = \"a\"\nreplay = { kind = \"raw\", file = \"x\" }\nmix = \"insert\"".to_owned(),
            "mix.insert",
            "cannot use the keys of a trace",
        ),
        (
            "name = \"a\"\nreplay = { kind = \"raw\", file = \"x\" }\nmix = \"put\"\nthreads = 2".to_owned(),
            "threads",
            "set threads = 1",
        ),
        (
            "name = \"a\"\nreplay = { kind = \"text\", file = \"x\" }\nmix = \"get\"".to_owned(),
            "replay.kind",
            "a mix cannot use them; remove `mix`",
        ),
    ];
    for (lines, key, message) in cases {
        let (at, said) = error(&lines);
        assert!(said.contains(message), "{lines}\n→ {said}");
        assert_eq!(at, key, "{lines}\n→ {said}");
    }
}

fn workload_error(toml: &str) -> (String, String) {
    let error = Workload::from_toml(&toml::from_str(toml).unwrap()).unwrap_err();
    (error.key.unwrap_or_default(), error.message)
}

#[test]
fn workloads_read_back_and_refuse() {
    let toml = "key = { format = \"decimal\", bytes = 12 }\n[[phase]]\nname = \"load\"\ninsert = 10";
    let workload = read(toml);
    assert_eq!(workload.key.label(), "decimal(bytes=12B)");
    assert_eq!(Workload::from_toml(&workload.to_toml()).unwrap(), workload);
    let written = toml::to_string(&workload).unwrap();
    assert_eq!(toml::from_str::<Workload>(&written).unwrap(), workload, "{written}");

    let load = "[[phase]]\nname = \"load\"\ninsert = 10\n";
    for (toml, key, message) in [
        (String::new(), "phase", "at least one [[phase]]"),
        ("phase = 3".to_owned(), "phase", "at least one [[phase]]"),
        ("phase = [3]".to_owned(), "phase", "each phase must be a table"),
        (format!("keys = 1\n{load}"), "keys", "did you mean \"key\"?"),
        (format!("key = {{ format = \"u63\" }}\n{load}"), "key", "did you mean \"u64\"?"),
        (format!("key = {{ kind = \"u64\" }}\n{load}"), "key.kind", "write { format = "),
        (format!("key = {{ format = \"u64\", bits = 3 }}\n{load}"), "key.bits", "no parameter \"bits\""),
        (format!("key = \"trace\"\n{load}"), "key.format", "no phase replays a raw trace"),
        (format!("{load}{load}"), "phase.load.name", "two phases have the name \"load\""),
        (
            format!("{load}[[phase]]\nname = \"run\"\noperations = 1\nmix = {{ get = -1 }}"),
            "phase.run.mix.get",
            "phase \"run\": the weight of get is -1",
        ),
        (
            "[[phase]]\nname = \"load\"\ninsert = \"all\"".to_owned(),
            "phase.load.insert",
            "no phase replays a raw trace",
        ),
    ] {
        let (at, said) = workload_error(&toml);
        assert!(said.contains(message), "{toml}\n→ {said}");
        assert_eq!(at, key, "{toml}\n→ {said}");
    }
}

#[test]
fn plans_refuse_what_cannot_be_run() {
    let run = |first: &str, lines: &str| {
        let toml = format!("{first}\n[[phase]]\nname = \"run\"\n{lines}");
        match WorkloadPlan::new(&read(&toml), 1, Path::new("/nowhere")) {
            Err(PlanError::Choice(error)) => (error.key.unwrap_or_default(), error.message),
            Err(PlanError::Trace(error)) => ("trace".to_owned(), error.to_string()),
            Ok(_) => panic!("{toml} was planned"),
        }
    };
    let load = "[[phase]]\nname = \"load\"\ninsert = 10";
    for (first, lines, key, message) in [
        ("", "operations = 1\nmix = \"get\"", "phase.run.keys", "no keys from which the mix can draw"),
        (load, "operations = 1\nmix = \"put\"\nthreads = 11", "phase.run.threads", "only 10 keys exist"),
        ("key = \"u64(bytes=2B)\"", "insert = 40_000", "phase.run.insert", "has only 32768 different keys"),
        (
            "key = \"u64(bytes=1B)\"\n[[phase]]\nname = \"load\"\ninsert = 100",
            "operations = 50\nmix = \"insert\"",
            "phase.run.operations",
            "has only 128 different keys",
        ),
        (load, "operations = \"5G\"\nmix = \"put\"", "phase.run.operations", "use more threads"),
        (
            "key = \"user\"\n[[phase]]\nname = \"load\"\ninsert = 10",
            "operations = 1\nmix = \"range\"\nrange.span = 5",
            "phase.run.range.span",
            "are not numbers",
        ),
        (load, "replay = { kind = \"raw\", file = \"none\" }", "trace", "check the path"),
        (load, "replay = { kind = \"text\", file = \"none\" }", "phase.run.replay.file", "there is no file"),
    ] {
        let (at, said) = run(first, lines);
        assert!(said.contains(message), "{lines}\n→ {said}");
        assert_eq!(at, key, "{lines}\n→ {said}");
    }
    let endless = plan(&format!("{load}\n[[phase]]\nname = \"run\"\nseconds = 5\nmix = \"insert\""));
    assert_eq!(endless.phases()[1].operations(), None);
}
