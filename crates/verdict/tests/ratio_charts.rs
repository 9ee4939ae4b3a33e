//! Tests of the ratio chart that accompanies each chart of a time or a rate, from the TOML of an experiment and rows to
//! the drawn files.

use std::collections::BTreeSet;
use std::path::Path;

use lsmbench_verdict::Charts;
use plot::{FigureStyle, LabelOrder};
use results::{
    CellInfo, Folder, MANIFEST_VERSION, Manifest, Row, RowWriter, Schema, columns as c, verdicts as v,
};
use tempfile::TempDir;

/// An experiment with a chart of a rate in two phases, of a time, and of a counter.
const EXPERIMENT: &str = r#"
question = "Which policy is fastest?"

[style]
format = "svg"

[[chart]]
kind   = "grouped-bar"
name   = "rates"
title  = "Throughput by phase and policy"
x      = "phase"
y      = "ops_per_second"
series = "design.compaction"

[[chart]]
kind   = "bar"
name   = "tail"
x      = "design.compaction"
y      = "p99_ns"
filter = { phase = "mixed" }

[[chart]]
kind = "bar"
name = "writes"
x    = "design.compaction"
y    = "write_amp"
"#;

/// The results of a run in a temporary folder.
struct Results {
    folder: TempDir,
}

impl Results {
    /// Writes the results of a run with `rounds` rounds. In each round, `tiered` is twice as fast as `leveled` in the
    /// phase `mixed`, and as fast as `leveled` in the phase `load`. All configurations of a round share its noise.
    fn new(rounds: u64) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let results = Folder::new(folder.path());
        let schema = Schema::runs(&["design.compaction"]).unwrap();
        let row = |(cell, label): (u64, &str), trial: u64, phase: &str, factor: f64| {
            let mut row = Row::new(&schema);
            let rate = 100_000.0 * factor * [1.0, 1.4, 0.7, 1.1, 0.9, 1.3][trial as usize % 6];
            row.set(&c::EXPERIMENT, "x").set(&c::CELL, cell).set(&c::LABEL, label).set(&c::TRIAL, trial);
            row.set(&c::PHASE, phase).set(&c::OPERATION, "all").set(&c::MODE, "timed").set(&c::SEED, 42_u64);
            row.set(&c::OPS_PER_SECOND, rate).set(&c::P99_NS, (1e9 / rate) as u64).set(&c::WRITE_AMP, 3.5);
            row.set_swept("design.compaction", label).unwrap();
            row
        };
        let cells = [(0, "leveled"), (1, "tiered")];
        let (mut runs, mut noise) = (Vec::new(), Vec::new());
        for trial in 0..rounds {
            for (phase, factor) in [("load", 1.0), ("mixed", 2.0)] {
                let jitter = 1.0 + 0.02 * (trial % 3) as f64;
                runs.push(row(cells[0], trial, phase, 1.0));
                runs.push(row(cells[1], trial, phase, factor * jitter));
                noise.push(row(cells[0], trial, phase, 1.0 + 0.05 * (trial % 2) as f64));
            }
        }
        for (path, rows) in [(results.runs(), &runs), (results.noise(), &noise)] {
            RowWriter::create(&path, &schema).unwrap().append(rows).unwrap();
        }
        let results = Self { folder };
        results.write_manifest(EXPERIMENT, |_| ());
        results.write_verdict("ops_per_second", rounds >= 6);
        results
    }

    fn write_manifest(&self, resolved: &str, change: impl FnOnce(&mut Manifest)) {
        let cell = |(number, label): (u64, &str)| CellInfo {
            cell: number,
            label: label.to_owned(),
            swept: vec![label.to_owned()],
            ..CellInfo::default()
        };
        let mut manifest = Manifest {
            version: MANIFEST_VERSION,
            experiment: "x".to_owned(),
            resolved: resolved.to_owned(),
            mode: "timed".to_owned(),
            swept: vec!["design.compaction".to_owned()],
            cells: [(0, "leveled"), (1, "tiered")].map(cell).to_vec(),
            ..Manifest::default()
        };
        change(&mut manifest);
        manifest.write(&Folder::new(self.folder.path()).manifest()).unwrap();
    }

    /// Writes a verdict on a metric in the phase `mixed`. With `has_interval`, the verdict has a confidence interval.
    fn write_verdict(&self, metric: &str, has_interval: bool) {
        let mut row = v::row();
        row.set(&v::PHASE, "mixed").set(&v::OPERATION, "all").set(&v::METRIC, metric).set(&v::FACTORS, 1_u64);
        row.set(&v::BASELINE, "leveled").set(&v::CANDIDATE, "tiered").set(&v::VERDICT, "improved");
        row.set(&v::RATIO, 2.04).set(&v::NOISE_FLOOR, 0.04);
        if has_interval {
            row.set(&v::RATIO_LOW, 2.01).set(&v::RATIO_HIGH, 2.07);
        }
        v::write(&Folder::new(self.folder.path()).verdicts(), &[row]).unwrap();
    }

    /// Draws the charts again. Returns the names of the charts, in order.
    fn draw(&self) -> Vec<String> {
        let charts = Charts { order: LabelOrder::default(), style: FigureStyle::default(), tell: |_| () };
        let out = self.folder.path().join("plots");
        if out.exists() {
            std::fs::remove_dir_all(&out).unwrap();
        }
        let drawn = charts.redraw(self.folder.path(), Some(&out), &|_, _| Ok(())).unwrap();
        let stem = |path: &std::path::PathBuf| path.file_stem().unwrap().to_string_lossy().into_owned();
        let files: BTreeSet<String> =
            Path::new(&out).join("x").read_dir().unwrap().map(|entry| stem(&entry.unwrap().path())).collect();
        let drawn: Vec<String> = drawn.iter().map(stem).collect();
        assert_eq!(files, drawn.iter().cloned().collect(), "the printed charts are the drawn charts");
        drawn
    }

    /// Returns the texts of a chart, with ordinary spaces.
    fn texts(&self, file: &str) -> String {
        let svg = self.read(file).replace('\u{a0}', " ");
        svg.lines().filter(|line| !line.starts_with('<')).collect::<Vec<_>>().join(" ")
    }

    fn read(&self, file: &str) -> String {
        std::fs::read_to_string(self.folder.path().join("plots/x").join(file)).unwrap()
    }
}

#[test]
fn each_chart_of_times_is_followed_by_its_ratios() {
    let results = Results::new(6);
    assert_eq!(results.draw(), ["rates", "rates-ratio", "tail", "tail-ratio", "writes"]);
    let svg = results.texts("rates-ratio.svg");
    for part in [
        "Throughput by phase and policy, relative to leveled",
        "tiered (load)",
        "tiered (mixed)",
        "noise floor ±4 % to ±5 %",
        "1 of 2 ratios have a verdict",
    ] {
        assert!(svg.contains(part), "{part}: {svg}");
    }
    let numbers = results.read("rates-ratio.csv");
    // The verdict has the CI of the phase `mixed`. The CI of the phase `load` comes from the rounds.
    assert!(numbers.contains("median ratio,tiered (mixed),2.04,2.01,2.07,"), "{numbers}");
    assert!(numbers.contains("median ratio,tiered (load),1.02,1,1.04"), "{numbers}");
    assert_eq!(numbers.lines().filter(|line| line.starts_with("rounds,")).count(), 12);
    // No verdict is on the latency, but the verdict on the throughput names the baseline.
    let tail = results.texts("tail-ratio.svg");
    assert!(tail.contains("P99 service time relative to leveled"), "{tail}");
    assert!(tail.contains("no verdict uses these ratios") && !tail.contains("tiered (mixed)"), "{tail}");
}

#[test]
fn results_without_a_verdict_on_times_have_no_ratios() {
    let plain = ["rates", "tail", "writes"];
    assert_eq!(Results::new(5).draw(), plain, "five rounds are too few");
    let results = Results::new(6);
    results.write_manifest(EXPERIMENT, |manifest| manifest.quick = true);
    assert_eq!(results.draw(), plain, "a quick run");
    results.write_manifest(EXPERIMENT, |manifest| manifest.mode = "counted".to_owned());
    assert_eq!(results.draw(), plain, "a counted run");
    results.write_manifest(EXPERIMENT, |_| ());
    v::write(&Folder::new(results.folder.path()).verdicts(), &[]).unwrap();
    assert_eq!(results.draw(), plain, "no baseline");
}

#[test]
fn a_chart_or_the_style_switches_ratios_off_and_none_is_drawn_twice() {
    let results = Results::new(6);
    let draw = |experiment: &str| {
        results.write_manifest(experiment, |_| ());
        results.draw()
    };
    let without = EXPERIMENT.replace("name   = \"rates\"", "name   = \"rates\"\nratio  = false");
    assert_eq!(draw(&without), ["rates", "tail", "tail-ratio", "writes"]);
    let styled = EXPERIMENT.replace("[style]", "[style]\nratio = false");
    assert_eq!(draw(&styled), ["rates", "tail", "writes"]);
    let one = styled.replace("name   = \"tail\"", "name   = \"tail\"\nratio  = true");
    assert_eq!(draw(&one), ["rates", "tail", "tail-ratio", "writes"]);
    // The chart that excludes the baseline has no ratios.
    let alone = EXPERIMENT.replace(
        "filter = { phase = \"mixed\" }",
        "filter = { phase = \"mixed\", \"design.compaction\" = \"tiered\" }",
    );
    assert_eq!(draw(&alone), ["rates", "rates-ratio", "tail", "writes"]);
    // An own ratio chart of the same values, and a second chart of the same values, need no other ratio chart.
    let tail = "kind = \"ratio\"\nname = \"p99\"\ny = \"p99_ns\"\nfilter = { phase = \"mixed\" }\n";
    let again = "kind = \"line\"\nname = \"lines\"\nx = \"phase\"\ny = \"ops_per_second\"\nseries = \"design.compaction\"\n";
    let more = format!("{EXPERIMENT}\n[[chart]]\n{tail}\n[[chart]]\n{again}");
    assert_eq!(draw(&more), ["rates", "rates-ratio", "tail", "writes", "p99", "lines"]);
}
