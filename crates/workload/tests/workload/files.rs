//! Tests of the workload files in this repository. All files can be planned, and the YCSB files equal the original
//! YCSB workloads.

use std::path::{Path, PathBuf};

use super::workload::{Kind, Mixed, Work, Workload, WorkloadPlan};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../configs/workloads")
}

fn file(name: &str) -> Workload {
    let text = std::fs::read_to_string(folder().join(name)).unwrap();
    let mut table: toml::Table = text.parse().unwrap_or_else(|error| panic!("{name}: {error}"));
    // A workload file with a question is a complete experiment. Such an experiment may set a merge operator.
    table.remove("question");
    table.remove("design");
    Workload::from_toml(&table).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn every_file_can_be_planned() {
    let mut files = 0;
    for entry in std::fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            let name = path.file_name().unwrap().to_str().unwrap();
            WorkloadPlan::new(&file(name), 1, &folder()).unwrap_or_else(|error| panic!("{name}: {error}"));
            files += 1;
        }
    }
    assert!(files >= 10, "{files} workloads");
}

/// Tests the proportions and the distributions of the YCSB workload files.
#[test]
fn ycsb_is_ycsb() {
    use Kind::{Get, Insert, Put, Range, ReadModifyWrite};
    for (name, mix, keys) in [
        ("ycsb-a.toml", &[(Get, 0.5), (Put, 0.5)][..], "ycsb-scrambled"),
        ("ycsb-b.toml", &[(Get, 0.95), (Put, 0.05)], "ycsb-scrambled"),
        ("ycsb-c.toml", &[(Get, 1.0)], "ycsb-scrambled"),
        ("ycsb-d.toml", &[(Get, 0.95), (Insert, 0.05)], "latest"),
        ("ycsb-e.toml", &[(Range, 0.95), (Insert, 0.05)], "ycsb-scrambled"),
        ("ycsb-f.toml", &[(Get, 0.5), (ReadModifyWrite, 0.5)], "ycsb-scrambled"),
    ] {
        let workload = file(name);
        assert_eq!((workload.key.label().as_str(), workload.phases.len()), ("user", 2), "{name}");
        let run = mixed(&workload, name);
        for kind in Kind::ALL {
            let share = mix.iter().find(|(of, _)| *of == kind).map_or(0.0, |(_, share)| *share);
            assert!((run.mix.share(kind) - share).abs() < 1e-12, "{name}: {kind}");
        }
        let super::workload::KeySource::Drawn(drawn) = &run.keys else { panic!("{name} replays") };
        assert_eq!(drawn.label(), keys, "{name}");
        if run.mix.has(Range) {
            assert_eq!(run.range.length.label(), "uniform", "lengths from 1 to 100");
        }
        assert_eq!(workload.phases[0].value.size.label(), "fixed(bytes=1kB)");
    }
}

fn mixed<'a>(workload: &'a Workload, name: &str) -> &'a Mixed {
    match &workload.phases[1].work {
        Work::Mixed(mixed) => mixed,
        _ => panic!("{name}: the second phase is no mix"),
    }
}
