//! Tests of `lsmbench torture`: tests with the same seed are reproducible, and invalid requests are rejected.

use crate::bench::Bench;

#[test]
fn a_seed_gives_the_same_numbers_with_any_number_of_threads() {
    let bench = Bench::new();
    let explore = |threads: &str| {
        let what = ["torture", "crash", "--design", "default", "--states", "40", "--seed", "3"];
        bench.ok(&[&what[..], &["--threads", threads]].concat())
    };
    let first = explore("1");
    assert_eq!(first, explore("3"));
    let lines: Vec<&str> = first.lines().collect();
    assert_eq!(lines.len(), 7, "a head, five log modes and the sum: {first}");
    assert!(lines[1..6].iter().all(|line| line.starts_with("default ")), "{first}");
    assert!(lines.iter().skip(1).all(|line| line.ends_with(" 0")), "{first}");
}

#[test]
fn errors_are_explored_too() {
    let bench = Bench::new();
    bench.write("own.toml", "[design]\nbloom = \"none\"\n");
    let what = ["torture", "errors", "--design", "own.toml", "--wal", "sync", "--faults", "30"];
    let out = bench.ok(&what);
    let counts: Vec<&str> = out.lines().last().unwrap().split_whitespace().collect();
    assert_eq!((counts[0], counts[2], counts.last()), ("all", "30", Some(&"0")), "{out}");
}

#[test]
fn a_place_is_found_again() {
    let bench = Bench::new();
    let replay = |place: &str| {
        bench.run(&["torture", "crash", "--design", "default", "--wal", "sync", "--replay", place])
    };
    let out = replay("3:20:0").expect(0).out;
    let counts: Vec<&str> = out.lines().last().unwrap().split_whitespace().collect();
    assert_eq!(counts[3..], ["1", "1", "0", "0"], "{out}");
    assert!(replay("3:99999:0").refusal().contains(" steps, so step 99999 does not exist"));
    assert!(replay("3:x").refusal().contains("SEED:STEP:STATE"));
}

#[test]
fn bad_requests_are_refused() {
    let bench = Bench::new();
    for (arguments, saying) in [
        (&["crash", "--design", "no-such"][..], "there is no design no-such: it is neither a file"),
        (&["crash"], "name a design with --design"),
        (&["errors", "--design", "default", "--wal", "snyc"], "did you mean \"sync\""),
        (
            &["errors", "--design", "default", "--replay", "1:2"],
            "name exactly one design with --design, and one WAL mode with --wal",
        ),
    ] {
        let error = bench.run(&[&["torture"], arguments].concat()).refusal();
        assert!(error.contains(saying), "{error}");
    }
    for nothing in [["crash", "--states", "0"], ["errors", "--faults", "0"], ["errors", "--threads", "0"]] {
        let error = bench.run(&[&["torture"], &nothing[..]].concat()).expect(2).err;
        assert!(error.contains("0 is not in 1.."), "{error}");
    }
}

#[test]
fn threads_race_on_a_design_under_every_log_mode() {
    let bench = Bench::new();
    for wal in ["none", "group"] {
        let what = ["torture", "race", "--design", "default", "--wal", wal, "--operations", "2000"];
        let out = bench.ok(&what);
        let counts: Vec<&str> = out.lines().last().unwrap().split_whitespace().collect();
        assert_eq!((counts[0], counts.last()), ("all", Some(&"0")), "{out}");
        assert!(counts[2].parse::<u64>().unwrap() >= 2000, "{out}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_soak_prints_samples_and_says_whether_they_are_flat() {
    let bench = Bench::new();
    let what = ["torture", "soak", "--seconds", "1", "--every", "1", "--dir", "soaked"];
    let out = bench.ok(&what);
    let lines: Vec<&str> = out.lines().collect();
    assert!(lines[0].contains("memory KiB") && lines[0].contains("files open"), "{out}");
    assert_eq!(lines[1].split_whitespace().count(), 7, "{out}");
    assert!(lines.last().unwrap().contains("a verdict needs at least 8 samples"), "{out}");
    let refused = bench.run(&what).refusal();
    assert!(refused.contains("soaked is not empty"), "{refused}");
}

#[test]
fn a_design_that_drops_data_is_refused() {
    let bench = Bench::new();
    bench.write("own.toml", "[design]\ncompaction = \"fifo\"\n");
    let error = bench.run(&["torture", "crash", "--design", "own.toml"]).refusal();
    assert!(
        error.contains("own.toml") && error.contains("compaction = \"fifo\" deletes data on purpose"),
        "{error}"
    );
}

#[test]
fn damage_that_nothing_can_tell_is_not_looked_for() {
    let bench = Bench::new();
    bench.write("own.toml", "[design]\nblock = { checksum = \"none\" }\n");
    let error = bench.run(&["torture", "damage", "--design", "own.toml"]).refusal();
    assert!(error.contains("own.toml: with block.checksum = \"none\""), "{error}");
    bench.write("own.toml", "[design]\ntable = { manifest = \"none\" }\ncompaction = \"merge-all\"\n");
    let error = bench.run(&["torture", "damage", "--design", "own.toml"]).refusal();
    assert!(error.contains("own.toml: with table.manifest = \"none\""), "{error}");
    bench.write("configs/designs/unchecked.toml", "[design]\nblock = { checksum = \"none\" }\n");
    bench.write("configs/designs/checked.toml", "[design]\n");
    let answer = bench.run(&["torture", "damage", "--images", "10", "--wal", "none"]).expect(0);
    assert!(answer.err.starts_with("skipped: unchecked: with block.checksum = \"none\""), "{}", answer.err);
    assert!(answer.out.contains("\nchecked ") && !answer.out.contains("\nunchecked "), "{}", answer.out);
}

#[test]
fn damage_is_explored_too_and_found_again() {
    let bench = Bench::new();
    let what = ["torture", "damage", "--design", "default", "--wal", "group"];
    let out = bench.ok(&[&what[..], &["--images", "60"]].concat());
    let counts: Vec<&str> = out.lines().last().unwrap().split_whitespace().collect();
    assert_eq!((counts[0], counts[2], counts.last()), ("all", "60", Some(&"0")), "{out}");
    let replay = |place: &str| bench.run(&[&what[..], &["--replay", place]].concat());
    let out = replay("3:stopped:5").expect(0).out;
    let counts: Vec<&str> = out.lines().last().unwrap().split_whitespace().collect();
    assert_eq!((counts[1], counts.last()), ("1", Some(&"0")), "{out}");
    assert!(
        replay("3:stopped:9999999")
            .refusal()
            .contains("the store with the ending \"stopped\" of seed 3 has ")
    );
    assert!(replay("3:20").refusal().contains("SEED:ENDING:NUMBER"));
}

/// Tests crashes and I/O errors of a store with column families. After recovery, the store must contain the same first
/// commits in all families.
#[test]
fn every_test_of_families_keeps_whole_commits() {
    let bench = Bench::new();
    let families = "[design.families.a]\nbloom = \"ribbon\"\n[design.families.b]\ncompaction = \"tiered\"\n\
                    [design.families.c]\ncompression = \"lz4\"\n";
    bench.write("families.toml", format!("[design]\n{families}"));
    let tortured = |test: &[&str]| {
        let out = bench.ok(&[&["torture"], test, &["--design", "families.toml"]].concat());
        assert_eq!(out.lines().last().unwrap().split_whitespace().last(), Some("0"), "{out}");
        out
    };
    let out = tortured(&["crash", "--states", "40"]);
    let modes: Vec<&str> = out.lines().filter_map(|line| line.split_whitespace().nth(1)).collect();
    assert!(["buffered", "sync", "group"].iter().all(|mode| modes.contains(mode)), "{out}");
    assert!(!modes.contains(&"none") && !modes.contains(&"interval"), "{out}");
    tortured(&["errors", "--faults", "30", "--wal", "group"]);
    // A failed sync of the manifest of the store ends the writes of all families.
    tortured(&["errors", "--wal", "sync", "--replay", "1:4820"]);
    let none = ["torture", "crash", "--design", "families.toml", "--wal", "none"];
    let error = bench.run(&none).refusal();
    assert!(error.contains("need column families whose commits survive in order"), "{error}");
    tortured(&["damage", "--images", "120", "--wal", "sync"]);
    let out = tortured(&["kill", "--kills", "2", "--wal", "group", "--dir", "."]);
    let counts: Vec<&str> = out.lines().last().unwrap().split_whitespace().collect();
    assert!(counts[2].parse::<u64>().unwrap() >= 2 && counts[4] != "0", "{out}");
    for wal in ["none", "group"] {
        tortured(&["race", "--operations", "4000", "--wal", wal]);
    }
    let interval = ["torture", "race", "--design", "families.toml", "--wal", "interval"];
    let error = bench.run(&interval).refusal();
    assert!(error.contains("use wal = \"buffered\", \"sync\", \"group\" or \"none\""), "{error}");
    bench.write("unchecked.toml", format!("[design]\n{families}block = {{ checksum = \"none\" }}\n"));
    let error = bench.run(&["torture", "damage", "--design", "unchecked.toml"]).refusal();
    assert!(error.contains("unchecked.toml: with block.checksum = \"none\""), "{error}");
}
