//! Fuzz targets for the files of a results folder.

use std::time::Duration;

use results::columns::{CELL, EXPERIMENT, LABEL, MODE, OPERATION, PHASE, SEED, TRIAL};
use results::{LatencyLog, MANIFEST_VERSION, Manifest, Row, RowWriter, Schema, Table, Value, ValueType};

use super::input::SPARE_BYTES;
use super::workload::in_file;
use crate::bounds::bounded;
use crate::target::{FuzzTarget, InputForm};

/// The fuzz target for the file `runs.csv`. Invariant: the rows of an accepted file are unchanged after they are
/// written and read again.
pub(super) const ROWS: FuzzTarget = FuzzTarget {
    name: "rows",
    about: "the rows of a file `runs.csv`",
    form: InputForm::Text,
    seeds: row_seeds,
    run: run_rows,
};

/// The fuzz target for the file `manifest.json`. Invariant: if an accepted manifest is written and read again, it is
/// unchanged.
pub(super) const MANIFEST: FuzzTarget = FuzzTarget {
    name: "results-manifest",
    about: "a manifest.json",
    form: InputForm::Text,
    seeds: || vec![serde_json::to_vec_pretty(&manifest()).expect("a manifest must serialize to JSON")],
    run: run_manifest,
};

/// The fuzz target for a latency log. Invariant: if an accepted log is written and read again, it is unchanged.
pub(super) const LATENCIES: FuzzTarget = FuzzTarget {
    name: "latencies",
    about: "a log of HDR histograms",
    form: InputForm::Text,
    seeds: latency_seeds,
    run: run_latencies,
};

/// The text before the checksum on the last line of a latency log.
const SEAL: &str = "#[XXH3-64 of the bytes above: ";

/// The file name of every latency log of this target. The checksum of a latency log covers its file name.
const LOG: &str = "latencies.hlog";

/// The maximum memory of one histogram in bytes. A histogram may cover all 64-bit values with five significant digits.
const HISTOGRAM_BYTES: usize = 64 << 20;

fn schema() -> Schema {
    Schema::runs(&["design.bloom.bits_per_key", "phase.load.insert"])
        .expect("a schema must accept the two swept parameters of the fuzz target")
}

fn rows() -> Vec<Row> {
    let row = |cell: u64| {
        let mut row = Row::new(&schema());
        row.set(&EXPERIMENT, "bloom").set(&CELL, cell).set(&LABEL, "blocked(bits_per_key=12), \"quoted\"");
        row.set(&TRIAL, 0u64)
            .set(&PHASE, "load")
            .set(&OPERATION, "all")
            .set(&MODE, "counted")
            .set(&SEED, 42u64);
        for (path, value) in [("design.bloom.bits_per_key", "12"), ("phase.load.insert", "1_000")] {
            row.set_swept(path, value).expect("the schema of the row must contain the swept parameter");
        }
        for (number, metric) in results::columns::METRICS.iter().enumerate() {
            match (number % 3, metric.kind) {
                (0, ValueType::Text) => row.set(metric, "throughput, runs of level 0"),
                (0, ValueType::Integer | ValueType::Number) => row.set(metric, 7u64 << number.min(50)),
                _ => &mut row,
            };
        }
        row
    };
    (0..3).map(row).collect()
}

/// Returns rows as the bytes of a CSV file.
fn written(schema: &Schema, rows: &[Row]) -> Vec<u8> {
    in_file("fresh.csv", b"", |path| {
        std::fs::remove_file(path).expect("the fuzz target must be able to remove its CSV file");
        let mut writer =
            RowWriter::create(path, schema).expect("the fuzz target must be able to create a new CSV file");
        writer.append(rows).expect("the fuzz target must be able to write the rows that it read");
        std::fs::read(path).expect("the fuzz target must be able to read the file that it wrote")
    })
}

fn row_seeds() -> Vec<Vec<u8>> {
    let plain = Schema::runs::<&str>(&[]).expect("a schema without swept parameters must be valid");
    let timeline = Schema::timeline::<&str>(&[]).expect("a schema without swept parameters must be valid");
    vec![written(&schema(), &rows()), written(&plain, &[]), written(&timeline, &[])]
}

fn run_rows(input: &[u8]) -> bool {
    let read = |bytes: &[u8]| in_file("runs.csv", bytes, Table::read);
    let read_input = bounded(input.len(), SPARE_BYTES, || read(input));
    let Ok(table) = read_input else { return false };
    let again = read(&written(table.schema(), table.rows()))
        .expect("the fuzz target must be able to read the file that it wrote");
    assert!(again.torn().is_none(), "the file that the fuzz target wrote has an incomplete last line");
    let cells =
        |table: &Table| table.rows().iter().map(|row| row.cells().to_vec()).collect::<Vec<Vec<Value>>>();
    assert_eq!(cells(&again), cells(&table), "the rows changed when they were written and read again");
    true
}

fn manifest() -> Manifest {
    let cell =
        results::CellInfo { label: "a".to_owned(), swept: vec!["12".to_owned()], ..Default::default() };
    Manifest {
        version: MANIFEST_VERSION,
        experiment: "bloom".to_owned(),
        seed: u64::MAX,
        swept: vec!["design.bloom.bits_per_key".to_owned()],
        phases: vec!["load".to_owned()],
        cells: vec![cell],
        left_out: vec![results::LeftOut { label: "x".to_owned(), reason: "y".to_owned() }],
        ended: Some("2026-01-01T00:00:00Z".to_owned()),
        ..Manifest::default()
    }
}

fn run_manifest(input: &[u8]) -> bool {
    let read = |bytes: &[u8]| in_file("manifest.json", bytes, Manifest::read);
    let Ok(manifest) = bounded(input.len(), SPARE_BYTES, || read(input)) else { return false };
    let again = in_file("again.json", b"", |path| {
        manifest.write(path).expect("the fuzz target must be able to write the manifest that it read");
        Manifest::read(path)
    });
    assert_eq!(
        again.expect("the fuzz target must be able to read the file that it wrote"),
        manifest,
        "the manifest changed when it was written and read again"
    );
    true
}

fn latency_seeds() -> Vec<Vec<u8>> {
    let mut log = LatencyLog::default();
    let mut histogram = hdrhistogram::Histogram::new_with_bounds(1, 1_000_000, 2)
        .expect("the bounds of the test histogram must be valid");
    (1..200u64).for_each(|value| {
        histogram.record(value * value).expect("the histogram must cover the values of the test");
    });
    log.push("get", histogram.clone());
    log.push("all:response", histogram);
    vec![logged(&log), logged(&LatencyLog::default())]
}

fn logged(log: &LatencyLog) -> Vec<u8> {
    in_file(LOG, b"", |path| {
        log.write(path, Duration::from_millis(1500))
            .expect("the fuzz target must be able to write a latency log");
        std::fs::read(path).expect("the fuzz target must be able to read the file that it wrote")
    })
}

fn run_latencies(input: &[u8]) -> bool {
    let is_taken = check_log(input);
    let begins = b"#[XXH3-64 of ";
    let body = input.windows(begins.len()).rposition(|window| window == begins).unwrap_or(input.len());
    let seal = format!("{SEAL}{:016x}]\n", xxhash_rust::xxh3::xxh3_64(&input[..body]));
    check_log(&[&input[..body], seal.as_bytes()].concat());
    is_taken
}

fn check_log(input: &[u8]) -> bool {
    let intervals = input.split(|byte| *byte == b'\n').count();
    let read = |bytes: &[u8]| in_file(LOG, bytes, LatencyLog::read);
    let Ok(log) = bounded(input.len(), SPARE_BYTES + 2 * intervals * HISTOGRAM_BYTES, || read(input)) else {
        return false;
    };
    let again = read(&logged(&log)).expect("the fuzz target must be able to read the file that it wrote");
    assert!(again.histograms == log.histograms, "the latency log changed when it was written and read again");
    true
}
