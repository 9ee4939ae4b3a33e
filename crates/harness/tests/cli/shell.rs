//! Tests of `lsmbench shell`, which opens a durable store and executes the commands on standard input.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::process::{Pid, Signal, kill_process};

use crate::bench::{Bench, user, wait_for};

/// Opens the store `db`, executes the commands, and returns the answers.
fn session(bench: &Bench, commands: &str) -> Vec<String> {
    let answer = bench.run_with(&["shell", "db"], commands).expect(0);
    assert_eq!(answer.err, "");
    answer.out.lines().map(str::to_owned).collect()
}

#[test]
fn commands_answer_as_the_language_says() {
    let bench = Bench::new();
    let answers = session(
        &bench,
        "# puts and deletes say nothing\n\
         p b 2\n\
         p a 1\n\
         p \"c d\" \"two words\"\n\
         p e \"\"\n\
         g a\n\
         g nothing\n\
         g e\n\
         p a 10\n\
         g a\n\
         d b\n\
         g b\n\
         d never-there\n\
         g \"c d\"\n\
         r a c\n\
         r a z\n\
         r a \"c d\"\n\
         r z a\n",
    );
    // The end of a range is not in it; one that is empty is an empty line, as is a value that is not there.
    assert_eq!(answers, ["1", "", "", "10", "", "two words", "a:10", "a:10 c d:two words e:", "a:10", ""]);
}

#[test]
fn a_store_outlives_its_sessions() {
    let bench = Bench::new();
    assert_eq!(session(&bench, "p k 1\np gone 1\nd gone\n"), [""; 0]);
    for round in 0..5 {
        let answers = session(&bench, &format!("g k\ng gone\np k {round}\np k{round} x\n"));
        assert_eq!(
            answers,
            [if round == 0 { "1".to_owned() } else { (round - 1).to_string() }, String::new()]
        );
    }
    assert_eq!(session(&bench, "r k l\n"), ["k:4 k0:x k1:x k2:x k3:x k4:x"]);
}

#[test]
fn files_of_pairs_are_loaded_and_statistics_printed() {
    let bench = Bench::new();
    let pairs =
        (0..2000).map(|number| format!("key{number:04} value{number}\n")).collect::<Vec<_>>().concat();
    bench.write("pairs of keys.txt", pairs);
    let answer = bench.run_with(
        &["shell", "db", "--set", "memtable.capacity=4KiB"],
        "l \"pairs of keys.txt\"\ng key1234\nr key0007 key0010\ns\n",
    );
    let answer = answer.expect(0);
    let mut lines = answer.out.lines();
    assert_eq!(lines.next(), Some("value1234"));
    assert_eq!(lines.next(), Some("key0007:value7 key0008:value8 key0009:value9"));
    let statistics: Vec<&str> = lines.collect();
    assert!(statistics[0].starts_with("level 0: "), "{statistics:?}");
    assert!(statistics.iter().any(|line| line.starts_with("memory: memtables ")), "{statistics:?}");
    let user_bytes: u64 = (0..2000).map(|number| 7 + format!("value{number}").len() as u64).sum();
    assert!(statistics.contains(&format!("user_bytes_written: {user_bytes}").as_str()), "{statistics:?}");
}

#[test]
fn lines_that_are_no_commands_are_named_and_the_others_done() {
    let bench = Bench::new();
    bench.write("bad pairs.txt", "x 1\ny\n");
    let long = "k".repeat(70_000);
    let commands = format!("p a 1\nput b 2\np c\nl nowhere.txt\nl \"bad pairs.txt\"\np {long} 1\ng a\ng x\n");
    let answer = bench.run_with(&["shell", "db"], &commands).expect(2);
    assert_eq!(answer.out, "1\n1\n", "the store is intact");
    let errors: Vec<&str> = answer.err.lines().collect();
    assert_eq!(errors.len(), 6, "{errors:?}");
    assert!(
        errors[0].starts_with("line 2: column 1: unknown command \"put\". Valid: p KEY VALUE"),
        "{errors:?}"
    );
    assert!(
        errors[1].starts_with("line 3: column 4: the line ends too early; write p KEY VALUE"),
        "{errors:?}"
    );
    assert!(errors[2].starts_with("line 4: cannot read nowhere.txt: "), "{errors:?}");
    assert!(errors[3].starts_with("line 5: bad pairs.txt:2: "), "{errors:?}");
    assert!(errors[4].starts_with("line 6: ") && errors[4].contains("70000"), "{errors:?}");
    assert_eq!(errors[5], "error: 5 commands failed");
}

#[test]
fn a_store_that_cannot_be_is_refused() {
    let bench = Bench::new();
    bench.write("design.toml", "[design]\nbloom = \"blom\"\n");
    bench.write("file", "no folder");
    for (arguments, saying) in [
        (
            &["shell", "db", "--set", "storage=memory"][..],
            "the shell needs a durable store, but storage = \"memory\"",
        ),
        (&["shell", "db", "--set", "wall=sync"], "did you mean \"wal\"?"),
        (
            &["shell", "db", "--design", "design.toml"],
            "design.toml:2: design.bloom: unknown variant \"blom\"",
        ),
        (&["shell", "db", "--design", "nowhere.toml"], "there is no file nowhere.toml"),
        (&["shell", "file"], "file"),
    ] {
        let error = bench.run(arguments).refusal();
        assert!(error.contains(saying), "{arguments:?}: {error}");
    }
    assert!(!bench.path("db").exists(), "nothing was made");
}

#[test]
fn a_design_file_makes_the_store() {
    let bench = Bench::new();
    bench.write("design.toml", "[design]\nmemtable = { capacity = \"4KiB\" }\ncompaction = \"none\"\n");
    let puts =
        (0..500).map(|number| format!("p key{number} value-of-some-length\n")).collect::<Vec<_>>().concat();
    let answer = bench.run_with(&["shell", "db", "--design", "design.toml"], &(puts + "s\n")).expect(0);
    let flushes = answer.out.lines().find_map(|line| line.strip_prefix("flushes: ")).unwrap();
    assert!(flushes.parse::<u64>().unwrap() >= 1, "{}", answer.out);
}

/// Tests that a shell that receives a signal closes its store. Without a WAL, only flushed writes are durable, and
/// closing the store flushes all writes.
#[test]
fn a_shell_that_is_told_to_end_closes_its_store() {
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let bench = Bench::new();
        let mut child =
            bench.command(&["shell", "db", "--set", "wal=none"]).stdin(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(b"p a 1\np b 2\ng b\n").unwrap();
        let mut answer = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut answer).unwrap();
        assert_eq!(answer, "2\n");
        // It waits for more, which does not come.
        kill_process(Pid::from_child(&child), signal).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(130));
        assert_eq!(session(&bench, "r a z\n"), ["a:1 b:2"]);
    }
}

#[test]
fn a_long_load_ends_when_it_is_told_to() {
    let bench = Bench::new();
    let pairs = (0..2_000_000).map(|number| format!("key{number} value\n")).collect::<Vec<_>>().concat();
    bench.write("pairs", pairs);
    let mut child = bench.command(&["shell", "db"]).stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.as_mut().unwrap().write_all(b"g none\nl pairs\n").unwrap();
    let mut answer = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut answer).unwrap();
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    bench.run(&["verify", "db"]).expect(0);
}

#[test]
fn a_store_has_one_user() {
    let bench = Bench::new();
    let mut first = bench.command(&["shell", "db"]).stdin(Stdio::piped()).spawn().unwrap();
    first.stdin.as_mut().unwrap().write_all(b"p a 1\ng a\n").unwrap();
    let mut answer = String::new();
    BufReader::new(first.stdout.as_mut().unwrap()).read_line(&mut answer).unwrap();
    let user = user(&first);
    for arguments in [&["shell", "db"][..], &["shell", "db", "--set", "storage=mmap"], &["verify", "db"]] {
        let error = bench.run(arguments).refusal();
        assert_eq!(
            error,
            format!("db is in use by {user}; close the store in that process first"),
            "{arguments:?}"
        );
    }
    drop(first.stdin.take());
    assert!(first.wait().unwrap().success());
    assert_eq!(session(&bench, "g a\n"), ["1"]);
}

/// Tests that keys and values are arbitrary bytes. A key that looks like a path must not create files outside of the
/// directory of the store.
#[test]
fn no_command_leaves_the_directory_of_the_store() {
    let bench = Bench::new();
    bench.write("beside.txt", "theirs");
    let tricks =
        ["../beside.txt", "/tmp/x", "..", "a/../../b", "db/lock", "manifest", "\"\\x00/\"", "\"$(id)\""];
    let puts = tricks
        .iter()
        .map(|trick| format!("p {trick} {trick}\np k {trick}\nd k\n"))
        .collect::<Vec<_>>()
        .concat();
    let gets = tricks.iter().map(|trick| format!("g {trick}\n")).collect::<Vec<_>>().concat();
    let small = ["shell", "db", "--set", "memtable.capacity=4KiB"];
    let answers = bench.run_with(&small, &(puts + &gets + "s\n")).expect(0);
    assert_eq!(answers.err, "");
    assert!(answers.out.starts_with("../beside.txt\n/tmp/x\n..\na/../../b\n"), "{}", answers.out);
    let names: Vec<_> =
        fs::read_dir(bench.path(".")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names.len(), 2, "{names:?}");
    assert_eq!(bench.read("beside.txt"), "theirs");
    let is_plain = |name: &str| {
        matches!(name, "lock" | "manifest") || matches!(name.split_once('.'), Some((_, "wal" | "table")))
    };
    for entry in fs::read_dir(bench.path("db")).unwrap() {
        let entry = entry.unwrap();
        assert!(is_plain(entry.file_name().to_str().unwrap()), "{entry:?}");
        assert_eq!(entry.metadata().unwrap().permissions().mode() & 0o777, 0o600, "{entry:?}");
    }
    assert_eq!(fs::metadata(bench.path("db")).unwrap().permissions().mode() & 0o777, 0o700);
}

#[test]
fn loads_of_what_is_no_file_of_pairs_end_and_change_nothing() {
    let bench = Bench::new();
    let made = std::process::Command::new("mkfifo").arg(bench.path("pipe")).status().unwrap();
    assert!(made.success());
    session(&bench, "p a 1\n");
    let full = if cfg!(target_os = "linux") { "/dev/full" } else { "/dev/zero" };
    let endless = ["/dev/zero", full, "/dev/stdin", "pipe", ".", "db", "/", "nowhere"];
    let own = ["db/lock", "db/manifest"];
    let commands =
        |files: &[&str]| files.iter().map(|file| format!("l {file}\n")).collect::<Vec<_>>().concat();
    let answer = bench.run_with(&["shell", "db"], &(commands(&endless) + "r a z\n")).expect(2);
    assert_eq!(answer.out, "a:1\n");
    for (number, file) in endless.iter().enumerate() {
        let start = format!("line {}: cannot read {file}: ", number + 1);
        assert!(answer.err.lines().nth(number).unwrap().starts_with(&start), "{}", answer.err);
    }
    // The files of the store are read like any other. Their contents are no pairs, or, by the chance of the identity in the
    // manifest, some pair; earlier pairs stay.
    let answer = bench.run_with(&["shell", "db"], &(commands(&own) + "r a a~\n"));
    assert!(answer.out.lines().any(|line| line.split(' ').any(|pair| pair == "a:1")), "{}", answer.out);
    // A log that holds pairs, and grows by every one that is loaded from it, has an end.
    let pair = "p x \"\\nk \\\"v\\\"\\n\"\n".repeat(50);
    let names = fs::read_dir(bench.path("db")).unwrap().map(|entry| entry.unwrap().file_name());
    let names = names.map(|name| name.into_string().unwrap()).filter(|name| name.contains(".wal"));
    let logs = names.map(|name| format!("l db/{name}\n")).collect::<Vec<_>>().concat();
    bench.run_with(&["shell", "db"], &(pair + &logs));
    bench.run(&["verify", "db"]).expect(0);
}

/// Tests that with `wal = "sync"`, a kill at any time loses no command that the shell has answered.
#[test]
fn nothing_acknowledged_is_lost_by_kill_9() {
    const ROUNDS: usize = 20;
    let bench = Bench::new();
    // A small memtable: kills fall into flushes and compactions, too.
    let shell = ["shell", "db", "--set", "wal=sync", "--set", "memtable.capacity=4KiB"];
    let mut acknowledged: BTreeSet<String> = BTreeSet::new();
    let mut broken_off = 0;
    for round in 0..ROUNDS {
        // Each get acknowledges the put before it: commands are done in order.
        let keys: Vec<String> = (0..2000).map(|number| format!("r{round:02}-{number:04}")).collect();
        let commands =
            keys.iter().map(|key| format!("p {key} {key}-value\ng {key}\n")).collect::<Vec<_>>().concat();
        let mut child = bench.command(&shell).stdin(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let answers = AtomicUsize::new(0);
        let wanted = 20 + 13 * round;
        let answered = std::thread::scope(|scope| {
            // The pipe breaks when the shell dies.
            scope.spawn(move || stdin.write_all(commands.as_bytes()));
            let reader = scope.spawn(|| {
                let lines = stdout.lines().map_while(Result::ok);
                lines.inspect(|_| _ = answers.fetch_add(1, Ordering::Relaxed)).collect::<Vec<String>>()
            });
            wait_for("answers", || (answers.load(Ordering::Relaxed) >= wanted).then_some(()));
            child.kill().unwrap();
            child.wait().unwrap();
            reader.join().unwrap()
        });
        broken_off += usize::from(answered.len() < keys.len());
        for (answer, key) in answered.iter().zip(&keys) {
            // The last line may have been cut.
            if *answer == format!("{key}-value") {
                acknowledged.insert(key.clone());
            }
        }
        assert!(acknowledged.len() >= wanted);

        let gets = acknowledged.iter().map(|key| format!("g {key}\n")).collect::<Vec<_>>().concat();
        let answer = bench.run_with(&shell, &gets).expect(0);
        assert_eq!(answer.err, "");
        let lost: Vec<_> = acknowledged
            .iter()
            .zip(answer.out.lines())
            .filter(|(key, value)| **value != format!("{key}-value"))
            .collect();
        assert!(lost.is_empty(), "round {round}: {} of {} lost: {lost:?}", lost.len(), acknowledged.len());
        bench.run(&["verify", "db"]).expect(0);
    }
    assert!(broken_off > ROUNDS / 2, "only {broken_off} of {ROUNDS} kills came in the middle of a load");
}
