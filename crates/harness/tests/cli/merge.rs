//! Tests of experiments in parts. The merged results equal the results of one run, and invalid parts are rejected.

use std::fs;
use std::path::{Path, PathBuf};

use results::{Folder, Group, Manifest, RowWriter, Table, columns as c};

use crate::bench::Bench;

/// Copies a folder.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        match entry.path().is_dir() {
            true => copy(&entry.path(), &to.join(entry.file_name())),
            false => drop(fs::copy(entry.path(), to.join(entry.file_name())).unwrap()),
        }
    }
}

/// Runs both parts of the small experiment. The results are in `parts`.
fn in_parts() -> Bench {
    let bench = Bench::small();
    for part in ["1/2", "2/2"] {
        bench.ok(&["run", "small.toml", "--part", part, "--out", "parts"]);
    }
    bench
}

#[test]
fn a_counted_run_in_parts_is_byte_for_byte_that_of_one_run() {
    let bench = in_parts();
    bench.ok(&["run", "small.toml", "--out", "one"]);
    // A finished part is not run again.
    let before = fs::read(bench.path("parts/1/small/manifest.json")).unwrap();
    let again = bench.run(&["run", "small.toml", "--part", "1/2", "--out", "parts"]);
    assert!(again.err.contains("part 1/2 of small is already complete"), "{}", again.err);
    assert_eq!(fs::read(bench.path("parts/1/small/manifest.json")).unwrap(), before);
    let answer = bench.ok(&["merge", "parts", "--into", "merged/small"]);
    assert!(answer.contains("Verdict: "), "{answer}");
    for file in ["runs.csv", "levels.csv", "timeline.csv", "noise.csv", "verdicts.csv"] {
        let [one, merged] =
            ["one/small", "merged/small"].map(|folder| bench.read(&format!("{folder}/{file}")));
        assert_eq!(one, merged, "{file}");
    }
    assert!(bench.path("merged/charts/small/page.html").exists());
    let [one, merged] = ["one", "merged"]
        .map(|of| Manifest::read(&bench.path(&format!("{of}/small/manifest.json"))).unwrap());
    assert_eq!((one.conclusions, one.cells), (merged.conclusions, merged.cells));
    assert_eq!(merged.part, None);
    for number in [1, 2] {
        let kept = bench.path(&format!("merged/small/parts/{number}.json"));
        assert_eq!(Manifest::read(&kept).unwrap().part.unwrap().number, number);
    }
    let answer = bench.run(&["merge", "parts", "--into", "merged/small"]);
    assert_eq!(answer.code, Some(2));
    assert!(answer.err.contains("already contains files"), "{}", answer.err);
}

/// The options of a timed run with eight rounds.
const TIMED: [&str; 8] = [
    "--set",
    "trials.mode=timed",
    "--set",
    "verdict.metric=ops_per_second",
    "--trials",
    "8",
    "--quick",
    "--allow-debug",
];

/// Replaces the measured rates of a part, so that the verdicts do not depend on the load of the machine. Each
/// configuration becomes about 10 % faster than the configuration before it. The baseline becomes slower by the factor
/// `factor`, as on a bad machine.
fn set_rates(folder: &Folder, manifest: &mut Manifest, factor: f64) {
    let set = |path: &Path| {
        let table = Table::read(path).unwrap();
        fs::remove_file(path).unwrap();
        let mut writer = RowWriter::create(path, table.schema()).unwrap();
        for row in table.rows() {
            let (mut row, Group { cell, trial }) = (row.clone(), row.group().unwrap());
            if row.get(&c::OPS_PER_SECOND).number().is_some() {
                let rate = 1e5 * (1.0 + 0.1 * cell as f64) * (1.0 + 0.004 * (trial % 3) as f64);
                row.set(&c::OPS_PER_SECOND, if cell == 0 { rate / factor } else { rate });
            }
            writer.append(&[row]).unwrap();
        }
        Some(writer.seal().unwrap())
    };
    (manifest.runs, manifest.noise) = (set(&folder.runs()), set(&folder.noise()));
}

#[test]
fn a_timed_run_in_parts_is_judged_by_machine() {
    let bench = Bench::small();
    for number in ["1", "2", "3", "4"] {
        let part = format!("{number}/4");
        let run = [&["run", "small.toml", "--part", &part, "--out", "parts"][..], &TIMED].concat();
        let output = bench.command(&run).env("LSMBENCH_NODE", format!("node{number}")).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let folder = Folder::new(bench.path(&format!("parts/{number}/small")));
        let mut manifest = Manifest::read(&folder.manifest()).unwrap();
        let node = &mut manifest.part.as_mut().unwrap().nodes[0];
        let own: u64 = number.parse().unwrap();
        assert_eq!((&node.name, &node.rounds), (&format!("node{number}"), &vec![own - 1, own + 3]));
        if number == "3" {
            node.machine.findings = vec![results::MachineFinding {
                check: "frequency governor".to_owned(),
                value: Some("powersave".to_owned()),
                advice: Some("use performance".to_owned()),
            }];
        }
        set_rates(&folder, &mut manifest, if number == "3" { 50.0 } else { 1.0 });
        manifest.write(&folder.manifest()).unwrap();
    }
    let answer = bench.ok(&["merge", "parts", "--into", "merged/small"]);
    let answer = answer.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(answer.contains("pooled over 4 machines (95% CI "), "{answer}");
    assert!(answer.contains("; standard deviation between machines "), "{answer}");
    assert!(answer.contains("on each machine."), "{answer}");
    assert!(
        !["node1", "node2", "node4"].iter().any(|node| answer.contains(&format!("{node} is an outlier")))
    );
    let bad = answer.split("Machines: ").find(|line| line.contains("node3 is an outlier"));
    let names_cause = |line: &str| line.contains("doctor: frequency governor, powersave: use performance");
    assert!(bad.is_some_and(names_cause), "{answer}");
    let manifest = Manifest::read(&bench.path("merged/small/manifest.json")).unwrap();
    assert!(manifest.conclusions.iter().any(|said| said.contains("node1 ")), "{:?}", manifest.conclusions);
    let runs = Table::read(&bench.path("merged/small/runs.csv")).unwrap();
    assert_eq!(runs.finished("look").len(), 24);
    assert_eq!(fs::read_dir(bench.path("merged/small/histograms")).unwrap().count(), 48);
}

#[test]
fn slices_of_a_round_pair_with_their_own_baseline() {
    let bench = Bench::small();
    let run = |part: &str| {
        let timed = ["--set", "trials.mode=timed", "--trials", "2", "--quick", "--allow-debug"];
        bench.run(&[&["run", "small.toml", "--part", part, "--out", "parts"][..], &timed].concat())
    };
    for part in ["1/4", "2/4", "3/4", "4/4"] {
        run(part).expect(0);
    }
    let answer = run("1/3").expect(2);
    assert!(answer.err.contains("can have up to 2 parts, or a multiple of 2 up to 4"), "{}", answer.err);
    bench.ok(&["merge", "parts", "--into", "merged/small"]);
    let finished = Table::read(&bench.path("merged/small/runs.csv")).unwrap().finished("look");
    let rounds = |cell: u64| -> Vec<u64> {
        finished.iter().filter(|group| group.cell == cell).map(|group| group.trial).collect()
    };
    assert_eq!([rounds(0), rounds(1), rounds(2)], [vec![0, 1, 2, 3], vec![0, 2], vec![1, 3]]);
    let manifest = Manifest::read(&bench.path("merged/small/manifest.json")).unwrap();
    assert_eq!((manifest.trials, &manifest.nodes[0].rounds), (4, &vec![0, 1, 2, 3]));
    assert_eq!(fs::read_dir(bench.path("merged/small/histograms")).unwrap().count(), 16);
}

/// A function that makes the results of the second part in `parts/2/small` invalid.
type Spoil = fn(&Path, &mut Manifest);

#[test]
fn wrong_parts_are_rejected_by_name() {
    let bench = in_parts();
    let cases: [(&str, Spoil); 20] = [
        ("the part has the experiment other, but part 1 has the experiment ", |_, of| {
            "other".clone_into(&mut of.experiment);
        }),
        ("the part has the seed 7, but part 1 has the seed ", |_, of| of.seed = 7),
        ("the part ran in timed mode, but part 1 ran in counted mode", |_, of| {
            "timed".clone_into(&mut of.mode);
        }),
        ("the part ran with --quick, but part 1 ran without --quick", |_, of| of.quick = true),
        ("the part has trials.count = 2, but part 1 has trials.count = ", |_, of| of.trials = 2),
        ("the part has another design, workload or override than part 1", |_, of| {
            "0".clone_into(&mut of.config_hash);
        }),
        ("the part ran with another build of lsmbench", |_, of| of.build.flags = Some("-O9".to_owned())),
        ("the part ran with the program sources 0, but part 1 ran with the program ", |_, of| {
            "sources 0".clone_into(&mut of.part.as_mut().unwrap().program);
        }),
        ("the part ran in the container image lsmbench@sha256:0, but part 1 ran ", |_, of| {
            of.part.as_mut().unwrap().image = Some("lsmbench@sha256:0".to_owned());
        }),
        (", another version than part 1", |_, of| "0.0.9".clone_into(&mut of.components[0].version)),
        ("the part ran other operations in phase load", |_, of| {
            for cell in &mut of.cells {
                cell.streams = vec![results::StreamRecord {
                    phase: "load".to_owned(),
                    hash: Some("0".to_owned()),
                    ..results::StreamRecord::default()
                }];
            }
        }),
        ("the part belongs to a run with 3 parts, but part 1 belongs to a run with 2 parts", |_, of| {
            of.part.as_mut().unwrap().count = 3;
        }),
        ("instead of part 2", |_, of| of.part.as_mut().unwrap().number = 1),
        ("has results of a complete run, not of a part", |_, of| of.part = None),
        ("unfinished: 2", |_, of| of.ended = None),
        ("missing: 2", |path, _| fs::remove_dir_all(path).unwrap()),
        ("lines of the file differ from the lines that the run wrote", |path, _| {
            let runs = path.join("runs.csv");
            let text = fs::read_to_string(&runs).unwrap();
            fs::write(&runs, text.replacen("small,1", "small,2", 1)).unwrap();
        }),
        ("the part has a row of round 1 that belongs to another part", |path, of| {
            let other = path.parent().unwrap().parent().unwrap().join("1/small");
            for name in ["runs.csv", "levels.csv", "timeline.csv", "noise.csv"] {
                fs::copy(other.join(name), path.join(name)).unwrap();
            }
            let manifest = Manifest::read(&Folder::new(&other).manifest()).unwrap();
            (of.runs, of.levels, of.timeline, of.noise) =
                (manifest.runs, manifest.levels, manifest.timeline, manifest.noise);
        }),
        ("the part ran with lsmbench 0.0.1, but this program has", |path, of| {
            let other = path.parent().unwrap().parent().unwrap().join("1/small/manifest.json");
            let mut first = Manifest::read(&other).unwrap();
            "0.0.1".clone_into(&mut first.build.version);
            first.write(&other).unwrap();
            of.build = first.build;
        }),
        ("does not exist, because there are only 2 parts", |path, of| {
            let parts = path.parent().unwrap().parent().unwrap();
            of.part.as_mut().unwrap().number = 9;
            of.write(&path.join("manifest.json")).unwrap();
            fs::rename(parts.join("2"), parts.join("9")).unwrap();
        }),
    ];
    for (number, (expected, spoil)) in cases.into_iter().enumerate() {
        let parts = format!("spoiled-{number}");
        copy(&bench.path("parts"), &bench.path(&parts));
        let path: PathBuf = bench.path(&format!("{parts}/2/small"));
        let mut manifest = Manifest::read(&path.join("manifest.json")).unwrap();
        spoil(&path, &mut manifest);
        if path.exists() {
            manifest.write(&path.join("manifest.json")).unwrap();
        }
        let answer = bench.run(&["merge", &parts, "--into", "merged/small"]);
        assert_eq!(answer.code, Some(2), "{expected}: {}", answer.err);
        assert!(answer.err.replace('\n', " ").contains(expected), "{expected}: {}", answer.err);
        assert!(!bench.path("merged").exists(), "{expected}");
    }
}

/// Tests parts that measured the same work, but would be judged by different rules. The merged results can have only
/// one rule, so no part may decide it silently.
#[test]
fn parts_with_other_rules_of_verdicts_are_rejected_by_key() {
    let bench = Bench::small();
    bench.ok(&["run", "small.toml", "--part", "1/2", "--out", "first", "--set", "verdict.threshold=0.03"]);
    let cases = [
        (
            &["verdict.threshold=0.05"][..],
            "the part has verdict.threshold = 0.05, but part 1 has verdict.threshold = 0.03",
        ),
        (&[], "the part has no setting verdict.threshold, but part 1 has verdict.threshold = 0.03"),
        (
            &["verdict.threshold=0.03", "verdict.metric=write_amp"],
            "the part has verdict.metric = \"write_amp\", but part 1 has no setting verdict.metric",
        ),
        (
            &["verdict.threshold=0.03", "verdict.also=[\"write_amp\"]"],
            "the part has verdict.also = [\"write_amp\"], but part 1 has verdict.also = []",
        ),
        (
            &["verdict.threshold=0.03", "verdict.phase=load"],
            "the part has verdict.phase = \"load\", but part 1 has no setting verdict.phase",
        ),
        (
            &["verdict.threshold=0.03", "verdict.baseline=blocked"],
            "the part has verdict.baseline = \"blocked\", but part 1 has no setting verdict.baseline",
        ),
        (
            &["verdict.threshold=0.03", "gate.fail_on=inconclusive"],
            "the part has gate = { fail_on = \"inconclusive\" }, but part 1 has no setting gate",
        ),
    ];
    for (number, (sets, expected)) in cases.into_iter().enumerate() {
        let parts = format!("parts-{number}");
        copy(&bench.path("first"), &bench.path(&parts));
        let sets = sets.iter().flat_map(|set| ["--set", *set]);
        let run: Vec<&str> =
            ["run", "small.toml", "--part", "2/2", "--out", &parts].into_iter().chain(sets).collect();
        bench.ok(&run);
        let error = bench.run(&["merge", &parts, "--into", "merged/small"]).refusal();
        let whole = format!(
            "part 2 does not belong to the other parts: {expected}; remove this part, and run it again"
        );
        assert!(error.contains(&whole), "{error}");
        assert!(!bench.path("merged").exists(), "{expected}");
    }
    bench.ok(&["run", "small.toml", "--part", "2/2", "--out", "first", "--set", "verdict.threshold=0.03"]);
    bench.ok(&["merge", "first", "--into", "merged/small"]);
}

#[test]
fn parts_that_are_not_there_say_how_to_run_them() {
    let bench = Bench::small();
    let answer = bench.run(&["merge", "parts", "--into", "merged/small"]);
    assert_eq!(answer.code, Some(2));
    assert!(
        answer.err.contains("run parts with: lsmbench run FILE --part K/N --out parts"),
        "{}",
        answer.err
    );
    for part in ["0/2", "3/2", "x", "auto"] {
        let answer = bench.run(&["run", "small.toml", "--part", part]);
        assert_eq!(answer.code, Some(2), "{part}");
    }
    bench.ok(&["run", "small.toml", "--part", "1/2", "--out", "parts"]);
    let answer = bench.run(&["run", "small.toml", "--part", "1/3", "--out", "parts"]);
    assert_eq!(answer.code, Some(2));
    assert!(
        answer.err.contains("has results that do not belong to part 1/3 of this experiment"),
        "{}",
        answer.err
    );
}
