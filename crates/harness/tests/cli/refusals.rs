//! Tests of requests that the operating system rejects: folders without write permission, full disks, too few file
//! descriptors, and symbolic links to other folders. The program must print one error with the file and the cause, exit
//! with code 2, and lose no data.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use results::Manifest;

use crate::bench::{Bench, SMALL};

/// Prints the reason why a test checks nothing on this machine.
#[allow(clippy::print_stdout)] // the output of a test is where that is read
fn skip(why: &str) {
    println!("not tested: {why}");
}

/// Creates a closed store that contains entries.
fn stored() -> Bench {
    let bench = Bench::small();
    bench.run_with(&["shell", "db", "--set", "memtable.capacity=4KiB"], &puts()).expect(0);
    bench
}

/// Returns puts of more entries than a memtable of 4 KiB can contain.
fn puts() -> String {
    (0..300).map(|number| format!("p key{number:03} value{number}\n")).collect::<Vec<_>>().concat()
}

/// Checks that the store has no corruption, and contains the first and the last put.
#[track_caller]
fn is_intact(bench: &Bench) {
    bench.run(&["verify", "db"]).expect(0);
    assert_eq!(bench.run_with(&["shell", "db"], "g key000\ng key299\n").expect(0).out, "value0\nvalue299\n");
}

#[test]
fn folders_that_cannot_be_written_are_named() {
    let bench = Bench::small();
    bench.write("file", "theirs");
    let before = bench.content();
    // The kernel of Linux rejects new folders in its own file systems.
    let of_the_kernel: &[(&[&str], &str)] = &[
        (&["shell", "/proc/db"], "cannot create directory /proc/db: No such file or directory"),
        (&["shell", "/sys/db"], "cannot create directory /sys/db: "),
        (&["run", "small.toml", "--out", "/proc/x"], "/proc/x"),
        (&["run", "small.toml", "--out", "/sys/x"], "/sys/x"),
        (&["torture", "sweep", "--dir", "/proc"], "cannot make a folder in /proc: No such file or directory"),
    ];
    let of_the_kernel = of_the_kernel.iter().filter(|_| cfg!(target_os = "linux")).copied();
    let of_a_file = [
        (&["shell", "file"][..], "cannot create directory file: "),
        (&["shell", "file/db"], "cannot create directory file: "),
        (&["run", "small.toml", "--out", "file"], "cannot write to file: not a directory"),
        (&["run", "small.toml", "--out", "file/x"], "cannot write to file/x: file: not a directory"),
        (&["run", "small.toml", "--plots", "file"], "cannot write to file/small: file: not a directory"),
        (&["torture", "kill", "--design", "default", "--dir", "file"], "cannot make a folder in file: "),
        (&["verify", "file"], "no such directory: file"),
        (&["plot", "file"], "file is not a results folder"),
    ];
    for (arguments, saying) in of_a_file.into_iter().chain(of_the_kernel) {
        let error = bench.run(arguments).refusal();
        assert!(error.contains(saying), "{arguments:?}: {error}");
        assert!(bench.content() == before, "{arguments:?}: something was touched");
    }
    // Missing folders are created, with their parents.
    bench.run_with(&["shell", "a/b/db"], "p k v\n").expect(0);
    bench.ok(&["run", "small.toml", "--out", "c/d", "--plots", "e/f"]);
    let error = bench.run(&["plot", "c/d/small", "--out", "file"]).refusal();
    assert!(error.contains("file/small"), "{error}");
    assert_eq!(bench.read("file"), "theirs");
}

/// Tests that lsmbench reports an invalid output path, such as a file in place of the results folder, before any trial
/// runs.
#[test]
fn targets_are_looked_at_before_anything_runs() {
    let bench = Bench::small();
    bench.write("file", "theirs");
    bench.write("page.md", "<!-- gallery -->\n<!-- end of the gallery -->\n");
    bench.write("no-page", "nothing");
    for folder in ["charts/small/fpr-by-bloom.svg", "shown/small.svg", "aside.md.new"] {
        std::fs::create_dir_all(bench.path(folder)).unwrap();
    }
    bench.write("aside.md", "<!-- gallery -->\n<!-- end of the gallery -->\n");
    let claims = concat!(env!("CARGO_MANIFEST_DIR"), "/../../experiments/csc443");
    let before = bench.content();
    let gallery = ["gallery", "small.toml", "--page", "page.md"];
    let update = ["check", "small.toml", "--update"];
    let report = ["report", claims, "--results", "new"];
    for (arguments, saying) in [
        ([&gallery[..], &["--out", "file"]].concat(), "cannot write to file: not a directory"),
        ([&gallery[..], &["--out", "shown"]].concat(), "cannot write shown/small.svg: is a directory"),
        (vec!["gallery", "small.toml", "--page", "aside.md"], "cannot write aside.md.new: is a directory"),
        (
            vec!["gallery", "small.toml", "--page", "no-page"],
            "the page does not contain the markers of the gallery",
        ),
        ([&update[..], &["--baseline", "file/x"]].concat(), "cannot write to file/x: file: not a directory"),
        ([&report[..], &["--keep", "file"]].concat(), "cannot write to file: not a directory"),
        ([&report[..], &["--out", "file"]].concat(), "cannot write to file: not a directory"),
        (vec!["run", "small.toml", "--plots", "charts"], "fpr-by-bloom.svg: is a directory"),
        (vec!["history", "file/h.csv", "--add", "results"], "cannot write to file: not a directory"),
        (vec!["history", "h.csv", "--add", "results", "--plots", "file"], "cannot write to file: "),
    ] {
        let error = bench.run(&arguments).refusal();
        assert!(error.contains(saying), "{arguments:?}: {error}");
        assert!(bench.content() == before, "{arguments:?}: something was touched");
    }
}

/// Returns a command that runs the program in a folder on a read-only mount. If the test cannot create such a mount,
/// prints the reason and returns `None`.
fn read_only(bench: &Bench, arguments: &[&str]) -> Option<Command> {
    let script = "here=$(pwd -P) && mount --bind \"$here\" \"$here\" && mount -o remount,bind,ro \"$here\" && \
                  cd \"$here\" && exec \"$0\" \"$@\"";
    let possible = |command: &mut Command| command.output().is_ok_and(|answer| answer.status.success());
    let unshared = |what: &str, arguments: &[&str]| {
        let program = bench.command(arguments);
        let mut command = Command::new("unshare");
        command.args(["--mount", "--map-root-user", "sh", "-c", what]);
        command.arg(program.get_program()).args(program.get_args()).current_dir(bench.path("."));
        command
    };
    let probe = script.replace("exec \"$0\" \"$@\"", "! touch probe 2> /dev/null");
    possible(&mut unshared(&probe, &[])).then(|| unshared(script, arguments))
}

#[test]
fn a_read_only_disk_is_named() {
    let bench = stored();
    let before = bench.content();
    let elsewhere = tempfile::tempdir().unwrap();
    let elsewhere = elsewhere.path().to_str().unwrap();
    for (arguments, saying) in [
        (&["shell", "db"][..], "db/lock: Read-only file system"),
        (&["shell", "new"], "cannot create directory new: Read-only file system"),
        (&["run", "small.toml"], "cannot write to results: .: Read-only file system"),
        (
            &["run", "small.toml", "--out", elsewhere, "--plots", "here"],
            "cannot write to here/small: .: Read-only",
        ),
    ] {
        let Some(mut command) = read_only(&bench, arguments) else {
            skip("this machine lets nobody mount a folder for reading alone");
            return;
        };
        let answer = command.output().unwrap();
        let error = String::from_utf8_lossy(&answer.stderr).into_owned();
        assert_eq!(answer.status.code(), Some(2), "{arguments:?}: {error}");
        assert!(error.starts_with("error: ") && error.contains(saying), "{arguments:?}: {error}");
    }
    assert!(bench.content() == before, "something was touched");
}

/// Tests arguments of 100 kB. An error contains only the start of such an argument.
#[test]
fn long_arguments_are_shortened_in_errors() {
    let bench = Bench::small();
    let long = "w".repeat(100_000);
    let (option, path) = (format!("--{long}"), format!("{long}=1"));
    let [key, count, variant] =
        ["design.", "trials.count=", "design.wal="].map(|start| format!("{start}{long}"));
    for arguments in [
        &[long.as_str()][..],
        &[&option],
        &["run", "small.toml", &option],
        &["run", "small.toml", "--trials", &long],
        &["run", "small.toml", "--set", &long],
        &["run", "small.toml", "--set", &path],
        &["run", "small.toml", "--set", &key],
        &["run", "small.toml", "--set", &count],
        &["run", "small.toml", "--set", &variant],
        &["check", "--format", &long],
        &["new", &long, "x"],
        &["list", &long],
        &["run", &long],
        &["plot", &long],
        &["verify", &long],
        &["engines", &long],
    ] {
        let answer = bench.run(arguments).expect(2);
        let start = arguments.join(" ").chars().take(60).collect::<String>();
        assert!(answer.out.is_empty() && answer.err.len() < 2_000, "{start}: {} bytes", answer.err.len());
        assert!(answer.err.starts_with("error: "), "{start}: {}", answer.err);
        assert!(answer.err.contains("www… (100"), "{start}: {}", answer.err);
    }
}

#[test]
fn a_disk_that_is_full_from_the_start_is_named() {
    let bench = stored();
    for (arguments, saying) in [
        (&["shell", "db"][..], "db/"),
        (&["shell", "new"], "new/"),
        (&["run", "small.toml"], "results/small/manifest.json"),
        (&["torture", "kill", "--design", "default", "--wal", "sync", "--dir", "."], "store"),
    ] {
        let answer = bench.limited("ulimit -f 0", arguments);
        assert!(!answer.err.contains("panicked"), "{arguments:?}: {}", answer.err);
        let text = answer.err.clone() + &answer.out;
        assert!(text.contains(saying) && text.contains("File too large"), "{arguments:?}: {text}");
        assert!(matches!(answer.code, Some(1 | 2)), "{arguments:?}: {text}");
    }
    is_intact(&bench);
    bench.ok(&["run", "small.toml"]);
    let full = bench.limited("ulimit -f 0", &["plot", "results/small", "--out", "drawn"]).refusal();
    assert!(full.contains("drawn/small/fpr-by-bloom.svg: ") && full.contains("File too large"), "{full}");
}

/// Tests that a standard output that is always full is an error.
#[cfg(target_os = "linux")]
#[test]
fn a_full_standard_output_is_an_error() {
    let bench = Bench::new();
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let answer = bench.command(&["list"]).stdout(full).output().unwrap();
    assert_eq!(answer.status.code(), Some(2));
    let error = String::from_utf8_lossy(&answer.stderr);
    assert!(error.contains("cannot write to standard output: No space left on device"), "{error}");
}

/// Tests commands under many limits on the number of file descriptors. A command must either succeed, or name the file
/// that it could not open.
#[test]
fn too_few_descriptors_are_an_error_and_no_panic() {
    let bench = stored();
    let (mut refused, mut done) = (0, 0);
    for descriptors in [3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 17, 20, 40] {
        for arguments in [
            &["shell", "db"][..],
            &["shell", "db", "--set", "storage=uring"],
            &["run", "small.toml", "--out", "few", "--trials", "1"],
        ] {
            let answer = bench.limited(&format!("ulimit -n {descriptors}"), arguments);
            let said = format!("{descriptors}, {arguments:?}: {:?} {}", answer.code, answer.err);
            assert!(!answer.err.contains("panicked"), "{said}");
            match answer.code {
                Some(0) => done += 1,
                // Too few descriptors for the dynamic loader, which reports it.
                Some(127 | 126) => assert!(descriptors < 6, "{said}"),
                Some(2) => {
                    let error = answer.err.lines().last().unwrap_or_default();
                    assert!(error.starts_with("error: ") && error.contains("Too many open files"), "{said}");
                    refused += 1;
                }
                _ => panic!("{said}"),
            }
        }
        let _ = fs::remove_dir_all(bench.path("few"));
    }
    assert!(refused > 10 && done > 10, "{refused} refused, {done} done");
    is_intact(&bench);
}

#[test]
fn links_do_not_lead_out_of_a_store() {
    let bench = stored();
    bench.write("outside/theirs", "theirs");
    fs::create_dir(bench.path("empty")).unwrap();
    let lock = bench.path("db/lock");
    fs::remove_file(&lock).unwrap();
    symlink(bench.path("outside/theirs"), &lock).unwrap();
    let error = bench.run(&["shell", "db"]).refusal();
    assert!(error.contains("cannot lock db/lock: Too many levels of symbolic links"), "{error}");
    fs::remove_file(&lock).unwrap();
    // The names that the store will write next, and the one that it writes its manifest under.
    symlink(bench.path("outside/theirs"), bench.path("db/manifest.tmp")).unwrap();
    for number in 0..200 {
        let path = bench.path(&format!("db/{number:08}.table"));
        if !path.exists() {
            symlink(bench.path("outside/theirs"), path).unwrap();
        }
    }
    let more = puts().replace("key", "more");
    bench.run_with(&["shell", "db", "--set", "memtable.capacity=4KiB"], &more).expect(0);
    assert_eq!(bench.read("outside/theirs"), "theirs");
    is_intact(&bench);

    // A corrupt SSTable is not moved into a quarantine outside of the store.
    let tables = fs::read_dir(bench.path("db")).unwrap().map(|entry| entry.unwrap().path());
    let table = tables.filter(|path| path.extension().is_some_and(|ending| ending == "table")).max().unwrap();
    let mut bytes = fs::read(&table).unwrap();
    let end = bytes.len() - 1;
    bytes[end] ^= 1;
    fs::write(&table, bytes).unwrap();
    symlink(bench.path("empty"), bench.path("db/quarantine")).unwrap();
    let error = bench.run(&["shell", "db", "--quarantine"]).refusal();
    assert!(
        error.contains(
            "db/quarantine: the name quarantine must belong to a directory, but it is a file or a link; \
             remove it"
        ),
        "{error}"
    );
    assert!(fs::read_dir(bench.path("empty")).unwrap().next().is_none());
    fs::remove_file(bench.path("db/quarantine")).unwrap();
    bench.run(&["shell", "db", "--quarantine"]).expect(0);
    assert!(bench.path("db/quarantine").is_dir());
}

#[test]
fn links_do_not_lead_out_of_a_results_folder() {
    let bench = Bench::small();
    bench.ok(&["run", "small.toml"]);
    bench.write("outside/file", "theirs");
    for (name, target) in [
        ("runs.csv", "outside/file"),
        ("timeline.csv", "outside/file"),
        ("manifest.json", "outside/file"),
        ("histograms", "outside"),
        ("data", "outside"),
    ] {
        let path = bench.path("results/small").join(name);
        let aside = bench.path("aside");
        let was_there = fs::rename(&path, &aside).is_ok();
        symlink(bench.path(target), &path).unwrap();
        let before = bench.content();
        for arguments in [&["run", "small.toml", "--resume"][..], &["run", "small.toml"]] {
            let error = bench.run(arguments).refusal();
            assert!(error.contains(&format!("results/small/{name} is a symbolic link")), "{error}");
        }
        assert!(bench.content() == before, "{name}: something was touched");
        fs::remove_file(&path).unwrap();
        if was_there {
            fs::rename(&aside, &path).unwrap();
        }
    }
    for ending in ["svg", "png"] {
        let path = bench.path(&format!("drawn/small/fpr-by-bloom.{ending}"));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(bench.path("outside/file"), &path).unwrap();
        let error = bench.run(&["plot", "results/small", "--out", "drawn"]).refusal();
        assert!(error.contains(&format!("drawn/small/fpr-by-bloom.{ending} is a symbolic link")), "{error}");
        fs::remove_file(&path).unwrap();
    }
    assert_eq!(bench.read("outside/file"), "theirs");
    bench.ok(&["run", "small.toml", "--resume"]);
}

#[test]
fn names_do_not_lead_out_of_the_output_folder() {
    let bench = Bench::small();
    for (file, name) in [("...toml", ".."), ("..toml", "."), ("a\nb.toml", "a\\nb")] {
        bench.write(file, SMALL);
        let before = bench.content();
        let error = bench.run(&["run", file]).refusal();
        assert!(error.contains(&format!("the experiment name \"{name}\" cannot be")), "{file}: {error}");
        assert!(bench.content() == before, "{file}: something was touched");
    }
    bench.write("chart.toml", SMALL.replace("kind = \"bar\"", "kind = \"bar\"\nname = \"../../escaped\""));
    bench.write("phase.toml", SMALL.replace("\"load\"", "\"../../../load\""));
    let error = bench.run(&["run", "phase.toml"]).refusal();
    assert!(error.contains("the name of a phase may have only letters, digits, - and _"), "{error}");
    bench.ok(&["run", "chart.toml"]);
    assert!(bench.path("plots/chart/------escaped.svg").is_file());
    let folder = bench.path(".").canonicalize().unwrap();
    for path in bench.content().into_keys() {
        let name = path.strip_prefix(bench.path("")).unwrap().to_string_lossy().into_owned();
        let known =
            ["results", "plots", "small.toml", "chart.toml", "phase.toml", "...toml", "..toml", "a\nb.toml"];
        assert!(known.iter().any(|known| name.starts_with(known)), "{name} in {}", folder.display());
    }
    // Results of another machine have their own name.
    let renamed = Manifest { experiment: "../../x".to_owned(), ..bench.manifest("chart") };
    renamed.write(&bench.path("results/chart/manifest.json")).unwrap();
    let error = bench.run(&["plot", "results/chart"]).refusal();
    assert!(error.contains("the experiment name \"../../x\" cannot be"), "{error}");
}
