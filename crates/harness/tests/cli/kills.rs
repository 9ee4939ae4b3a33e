//! Tests of `torture kill`, which ends processes that write to a store with `kill -9`. The store must keep every
//! acknowledged write that the WAL mode makes durable.

use std::path::Path;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use torture::kill::Moments;

use crate::bench::{Bench, wait_for};

/// Returns the names of the designs in the repository.
fn designs() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../configs/designs");
    let files = [folder.clone(), folder.join("strategies")].map(|folder| folder.read_dir().unwrap());
    let mut paths: Vec<_> = files.into_iter().flatten().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "toml"));
    paths.sort();
    paths.into_iter().map(|path| path.canonicalize().unwrap().to_str().unwrap().to_owned()).collect()
}

/// Returns the counts in the last line of the output: stores, kills, early kills, acknowledged commits, and violations.
fn totals(out: &str) -> Vec<u64> {
    let last = out.lines().last().unwrap();
    last.split_whitespace().skip(1).map(|number| number.parse().unwrap()).collect()
}

#[test]
fn nothing_is_lost_by_kill_9_under_any_design() {
    let bench = Bench::new();
    let designs = designs();
    assert!(designs.len() >= 14);
    // One kill for each design, and the log modes in turn; the seed chooses the back end.
    let modes = ["none", "buffered", "sync", "group", "interval"];
    let mut acknowledged = 0;
    for (number, mode) in modes.iter().enumerate() {
        let seed = (number + 3).to_string();
        let mut what = vec!["torture", "kill", "--kills", "1", "--dir", ".", "--seed", &seed, "--wal", mode];
        let those = designs.iter().skip(number).step_by(modes.len());
        those.clone().for_each(|design| what.extend(["--design", design]));
        let out = bench.ok(&what);
        let [stores, kills, early, commits, violations] = totals(&out)[..] else { panic!("{out}") };
        // A kill before the first acknowledgment is followed by another kill.
        let designs = those.count() as u64;
        assert!((stores, kills, violations) == (kills, designs + early, 0), "{out}");
        acknowledged += commits;
    }
    assert!(acknowledged > 20, "only {acknowledged} commits were acknowledged before the kills");
    assert!(bench.content().is_empty(), "files are left");
}

/// A kill while the store opens proves nothing, so the test continues until a process acknowledges a commit.
#[test]
fn kills_go_on_until_a_commit_is_acknowledged() {
    let bench = Bench::new();
    let is_early = |seed: &u64| {
        let first = Moments::new(*seed).next();
        first.is_some_and(|moment| moment.events == 0 && moment.wait < Duration::from_millis(1))
    };
    let seed = (1..10_000).find(is_early).unwrap().to_string();
    let what = ["torture", "kill", "--wal", "buffered", "--kills", "1", "--dir", ".", "--seed", &seed];
    for subject in [["--design", "default"], ["--engine", "lsmbench"]] {
        let answer = bench.run(&[&what[..], &subject].concat()).expect(0);
        let last = answer.out.lines().last().unwrap();
        let counts: Vec<u64> = last.split_whitespace().skip(1).map(|count| count.parse().unwrap()).collect();
        assert!(counts[1] > 1 && counts[1] == counts[2] + 1 && counts[3] > 0, "{}", answer.out);
    }
    // With one kill, the summary has the singular.
    let seed = (1..10_000).find(|seed| Moments::new(*seed).next().is_some_and(|moment| moment.events > 500));
    let seed = seed.unwrap().to_string();
    let late = ["torture", "kill", "--design", "default", "--wal", "buffered", "--kills", "1", "--dir", "."];
    let answer = bench.run(&[&late[..], &["--seed", &seed]].concat()).expect(0);
    assert!(answer.err.starts_with("1 kill in "), "{}", answer.err);
    assert!(bench.content().is_empty(), "files are left");
}

#[test]
fn a_store_goes_on_over_several_kills() {
    let bench = Bench::new();
    let what = ["torture", "kill", "--design", "default", "--wal", "buffered", "--kills", "6", "--dir", "."];
    let out = bench.ok(&what);
    let [stores, kills, _, commits, violations] = totals(&out)[..] else { panic!("{out}") };
    assert_eq!((stores, kills, violations), (2, 6, 0), "{out}");
    assert!(commits > 10, "{out}");
    // A kill is not reproducible, so no coordinates can be replayed.
    let again = bench.run(&[&what[..], &["--replay", "1:2"]].concat()).expect(2).err;
    assert!(again.contains("unexpected argument '--replay'"), "{again}");
    let nowhere = bench.run(&["torture", "kill", "--design", "default", "--dir", "nowhere"]).refusal();
    assert!(nowhere.contains("cannot make a folder in nowhere: No such file or directory"), "{nowhere}");
}

/// Returns the declared durability of an engine in a WAL mode, and the counts in the row of this engine. The counts are
/// stores, kills, early kills, acknowledged commits, lost commits, and violations.
fn row_of(out: &str, engine: &str, wal: &str) -> (String, Vec<u64>) {
    let rows = out.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let row = rows.into_iter().find(|row| row.starts_with(&[engine, wal]));
    let row = row.unwrap_or_else(|| panic!("no row of {engine}, {wal}: {out}"));
    (row[2].to_owned(), row[3..].iter().map(|number| number.parse().unwrap()).collect())
}

#[test]
fn the_tree_keeps_the_durability_that_it_declares_as_an_engine() {
    let bench = Bench::new();
    let out = bench.ok(&["torture", "kill", "--engine", "lsmbench", "--kills", "2", "--dir", "."]);
    assert_eq!(out.lines().count(), 7, "a head, five modes and the sum: {out}");
    for wal in ["none", "buffered", "sync", "group", "interval"] {
        let (declared, counts) = row_of(&out, "lsmbench", wal);
        assert_eq!(declared, if wal == "none" { "flushed" } else { "acknowledged" }, "{out}");
        assert_eq!((counts[1], counts[5]), (2, 0), "{out}");
        assert!(wal == "none" || counts[4] == 0, "{out}");
    }
    assert!(bench.content().is_empty(), "files are left");
}

/// Tests all engines that are installed on this machine and are part of this build. The command skips missing engines
/// and servers, and prints the reason.
#[test]
fn every_engine_that_is_here_keeps_the_durability_that_it_declares() {
    let bench = Bench::new();
    let what = ["torture", "kill", "--engine", "all", "--wal", "buffered", "--kills", "2", "--dir", "."];
    let answer = bench.run(&what).expect(0);
    for variant in engines::CATALOG.variants() {
        if answer.err.contains(&format!("skipped: engine {}: ", variant.kind)) {
            continue;
        }
        let (_, counts) = row_of(&answer.out, variant.kind, "buffered");
        assert_eq!((counts[1], counts[5]), (2, 0), "{}", answer.out);
    }
    assert!(answer.err.contains("skipped: engine resp: "), "{}", answer.err);
    assert!(bench.content().is_empty(), "files are left");
}

#[test]
fn an_engine_whose_processes_cannot_be_killed_is_refused() {
    let bench = Bench::new();
    for (engine, saying) in [
        ("lmbd", "did you mean \"lmdb\"?"),
        ("rocksdb(library=/nowhere/librocksdb.so)", "cannot find librocksdb.so in /nowhere"),
        ("resp(address=\"127.0.0.1:1\")", "keeps its stores in a server process"),
    ] {
        let error = bench.run(&["torture", "kill", "--engine", engine]).refusal();
        assert!(error.contains(saying), "{error}");
    }
    let both = bench.run(&["torture", "kill", "--engine", "lsmbench", "--design", "default"]).expect(2).err;
    assert!(both.contains("cannot be used with"), "{both}");
}

#[test]
fn ctrl_c_ends_it_and_nothing_is_left_behind() {
    let bench = Bench::new();
    let what = ["torture", "kill", "--design", "default", "--kills", "100000", "--dir", "."];
    let mut child = bench.command(&what).spawn().unwrap();
    wait_for("a store", || bench.path(".").read_dir().unwrap().next().map(|_| ()));
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(bench.content().is_empty(), "files are left");
}
