//! Tests of result files: written rows are read back, and remains of kills or corruption are recovered or reported.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::thread;

use lsmbench_results as results;
use proptest::prelude::*;
use results::columns::{
    CELL, EXPERIMENT, FPR, LABEL, LOOP, METRICS, MODE, OPERATION, OPS, PHASE, SECOND, SEED, TRIAL,
};
use results::{Group, ResultsError, Row, RowWriter, Schema, Table, Value, ValueType};

const SWEPT: &[&str] = &["design.bloom", "design.bloom.bits_per_key"];

fn schema() -> Schema {
    Schema::runs(SWEPT).unwrap()
}

/// Returns the rows of one configuration in one trial. There are two phases with two operations each, and the operation
/// `all` comes last in each phase.
fn group(cell: u64, trial: u64) -> Vec<Row> {
    let mut rows = Vec::new();
    for (phase, operations) in [("load", ["put", "all"]), ("look, up", ["get", "all"])] {
        for operation in operations {
            let mut row = Row::new(&schema());
            row.set(&EXPERIMENT, "bloom")
                .set(&CELL, cell)
                .set(&LABEL, format!("blocked(bits_per_key={cell}, \"x\")"))
                .set(&TRIAL, trial)
                .set(&PHASE, phase)
                .set(&OPERATION, operation)
                .set(&MODE, "timed")
                .set(&SEED, u64::MAX)
                .set(&LOOP, "closed")
                .set(&OPS, 1_000_000_u64 + trial)
                .set(&FPR, 1.0 / (3.0 + cell as f64));
            row.set_swept("design.bloom", "blocked").unwrap();
            row.set_swept("design.bloom.bits_per_key", &cell.to_string()).unwrap();
            rows.push(row);
        }
    }
    rows
}

const GROUPS: [Group; 3] =
    [Group { cell: 0, trial: 0 }, Group { cell: 1, trial: 0 }, Group { cell: 1, trial: 1 }];

fn write_all(path: &Path) {
    let mut writer = RowWriter::create(path, &schema()).unwrap();
    for Group { cell, trial } in GROUPS {
        writer.append(&group(cell, trial)).unwrap();
    }
}

#[test]
fn rows_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.csv");
    write_all(&path);
    let table = Table::read(&path).unwrap();
    let expected: Vec<Row> = GROUPS.iter().flat_map(|g| group(g.cell, g.trial)).collect();
    assert_eq!(table.rows(), expected);
    assert_eq!(table.schema(), &schema());
    assert_eq!(table.torn(), None);
    assert_eq!(table.finished("look, up"), BTreeSet::from(GROUPS));
    assert_eq!(table.distinct("cell").unwrap(), [Value::Integer(0), Value::Integer(1)]);
    assert_eq!(table.only("operation", "get").unwrap().rows().len(), 3);
    assert_eq!(table.group_by(&["phase", "cell"]).unwrap().len(), 4);
    assert!(table.only("operatoin", "get").unwrap_err().to_string().contains("did you mean \"operation\"?"));
}

#[test]
fn a_file_cut_anywhere_is_continued_to_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.csv");
    write_all(&path);
    let whole = fs::read(&path).unwrap();
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for first in 0..threads {
            let whole = &whole;
            scope.spawn(move || {
                (first..=whole.len()).step_by(threads).for_each(|length| continued(whole, length));
            });
        }
    });
}

/// Cuts the file `whole` to a length, and writes the missing rows again. Checks that the file has its old bytes.
fn continued(whole: &[u8], length: usize) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.csv");
    fs::write(&path, &whole[..length]).unwrap();
    let finished = Table::read(&path).map(|table| table.finished("look, up")).unwrap_or_default();
    let (mut writer, resumed) = RowWriter::resume(&path, &schema(), &finished).unwrap();
    assert_eq!(resumed.table.rows().len(), finished.len() * 4);
    let missing = GROUPS.iter().filter(|group| !finished.contains(group));
    for missing in missing {
        writer.append(&group(missing.cell, missing.trial)).unwrap();
    }
    assert_eq!(fs::read(&path).unwrap(), whole, "cut to {length} bytes");
}

#[test]
fn an_unfinished_measurement_in_the_middle_is_taken_out_too() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.csv");
    write_all(&path);
    let finished = BTreeSet::from([GROUPS[0], GROUPS[2]]);
    let (mut writer, resumed) = RowWriter::resume(&path, &schema(), &finished).unwrap();
    assert_eq!((resumed.dropped_rows, resumed.table.rows().len()), (4, 8));
    writer.append(&group(GROUPS[1].cell, GROUPS[1].trial)).unwrap();
    let expected: Vec<Row> =
        [GROUPS[0], GROUPS[2], GROUPS[1]].iter().flat_map(|g| group(g.cell, g.trial)).collect();
    assert_eq!(Table::read(&path).unwrap().rows(), expected);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no temporary file stays");
}

#[test]
fn a_torn_line_is_reported_and_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.csv");
    write_all(&path);
    let whole = fs::read(&path).unwrap();
    fs::write(&path, &whole[..whole.len() - 5]).unwrap();
    let table = Table::read(&path).unwrap();
    assert_eq!(table.rows().len(), 11);
    let torn = table.torn().unwrap();
    assert_eq!(torn.line, 13);
    assert!(torn.bytes > 100);
    let (_, resumed) = RowWriter::resume(&path, &schema(), &table.finished("look, up")).unwrap();
    assert_eq!((resumed.dropped_rows, resumed.torn), (3, Some(torn)));
    assert_eq!(Table::read(&path).unwrap().rows().len(), 8);
}

#[test]
fn damage_is_named_by_file_line_and_column() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.csv");
    write_all(&path);
    let whole = fs::read_to_string(&path).unwrap();
    let message = |text: &[u8]| {
        fs::write(&path, text).unwrap();
        Table::read(&path).unwrap_err().to_string()
    };
    let line = |n: usize| whole.lines().nth(n - 1).unwrap();
    let number = message(whole.replacen("1000000", "10x", 1).as_bytes());
    assert!(
        number.ends_with("runs.csv:2: column \"ops\" contains \"10x\", expected a whole number"),
        "{number}"
    );
    let short = message(whole.replacen(line(3), "bloom,1,x", 1).as_bytes());
    assert!(short.contains("runs.csv:3: the line has 3 fields, but the header has"), "{short}");
    let quote = message(whole.replacen("put", "\"put", 1).as_bytes());
    assert!(quote.contains("runs.csv:2: a quotation mark on this line"), "{quote}");
    let mut bytes = whole.clone().into_bytes();
    let at = whole.find("timed").unwrap();
    bytes[at] = 0xff;
    assert!(message(&bytes).contains("runs.csv:2: the line is not UTF-8, so it is corrupt"));
    assert!(message(b"").contains("runs.csv:1: column 1: expected \"experiment\", found nothing"));
    assert!(Table::read(&folder.path().join("none.csv")).unwrap_err().to_string().contains("cannot read"));
}

#[test]
fn another_experiment_s_results_are_not_touched() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.csv");
    write_all(&path);
    let whole = fs::read(&path).unwrap();
    assert!(matches!(RowWriter::create(&path, &schema()), Err(ResultsError::Exists { .. })));
    let other = Schema::runs(&["design.fence"]).unwrap();
    let error = RowWriter::resume(&path, &other, &BTreeSet::new()).unwrap_err().to_string();
    assert!(
        error.contains("column 10 is \"design.bloom\" in the file and \"design.fence\" in this run"),
        "{error}"
    );
    let mut damaged = whole.clone();
    // A cell that extends into the next one.
    let middle = damaged.len() / 2;
    let is_between = |bytes: &[u8]| {
        bytes[0].is_ascii_alphanumeric() && bytes[1] == b',' && bytes[2].is_ascii_alphanumeric()
    };
    let at = middle + 1 + damaged[middle..].windows(3).position(is_between).unwrap();
    damaged[at] = b'"';
    fs::write(&path, &damaged).unwrap();
    assert!(RowWriter::resume(&path, &schema(), &BTreeSet::new()).is_err());
    assert_eq!(fs::read(&path).unwrap(), damaged);
}

#[test]
fn one_writer_at_a_time_and_no_row_of_another_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.csv");
    let mut writer = RowWriter::create(&path, &schema()).unwrap();
    let second = RowWriter::resume(&path, &schema(), &BTreeSet::new());
    assert!(matches!(second, Err(ResultsError::InUse { .. })), "{second:?}");
    let foreign = Row::new(&Schema::timeline(SWEPT).unwrap());
    assert!(writer.append(&[foreign]).is_err());
    let mut broken = Row::new(&schema());
    broken.set(&LABEL, "two\nlines");
    let error = writer.append(&[broken]).unwrap_err().to_string();
    assert!(error.contains("column \"label\" cannot contain \"two\\nlines\""), "{error}");
    writer.append(&group(0, 0)).unwrap();
    assert_eq!(Table::read(&path).unwrap().rows().len(), 4);
}

#[test]
fn timelines_have_the_same_shape() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("timeline.csv");
    let schema = Schema::timeline(SWEPT).unwrap();
    let mut row = Row::new(&schema);
    row.set(&CELL, 0_u64).set(&TRIAL, 0_u64).set(&SECOND, 3.0).set(&OPS, 10_u64);
    RowWriter::create(&path, &schema).unwrap().append(std::slice::from_ref(&row)).unwrap();
    let table = Table::read(&path).unwrap();
    assert_eq!((table.schema(), table.rows()), (&schema, &[row][..]));
}

/// Writes the rows of the sample to a file. Returns the seal and the bytes of the file.
fn sealed(path: &Path) -> (results::Seal, Vec<u8>) {
    let mut writer = RowWriter::create(path, &schema()).unwrap();
    for Group { cell, trial } in GROUPS {
        writer.append(&group(cell, trial)).unwrap();
    }
    (writer.seal().unwrap(), fs::read(path).unwrap())
}

#[test]
fn a_seal_tells_every_change_of_what_was_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.csv");
    let (seal, whole) = sealed(&path);
    assert_eq!((seal.lines, seal.bytes), (13, whole.len() as u64));
    let check = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        seal.check(&path).map_err(|error| error.to_string())
    };
    check(&whole).unwrap();
    // The seal does not cover remains of a killed run at the end.
    check(&[&whole[..], b"bloom,1,torn"].concat()).unwrap();
    let text = String::from_utf8(whole.clone()).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let without = |line: usize| [&lines[..line], &lines[line + 1..]].concat().concat();
    let twice = |line: usize| [&lines[..=line], &lines[line..]].concat().concat();
    for damaged in [without(3), twice(3), without(12), text.replacen("1000000", "1000001", 1)] {
        let error = check(damaged.as_bytes()).unwrap_err();
        assert!(
            error.contains("runs.csv: ") && error.contains("something changed the file after the run"),
            "{error}"
        );
    }
    for at in (0..whole.len()).step_by(7) {
        assert!(check(&whole[..at]).unwrap_err().contains("bytes are missing at the end"), "cut to {at}");
        let mut damaged = whole.clone();
        damaged[at] ^= 1 << (at % 8);
        assert!(check(&damaged).is_err(), "byte {at}");
    }
}

#[test]
fn a_resumed_file_has_the_seal_of_an_unbroken_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.csv");
    let (seal, whole) = sealed(&path);
    fs::write(&path, [&whole[..], b"bloom,1,torn"].concat()).unwrap();
    let (mut writer, resumed) = RowWriter::resume(&path, &schema(), &BTreeSet::from(GROUPS)).unwrap();
    assert!(resumed.torn.is_some());
    assert_eq!(writer.seal().unwrap(), seal);
    drop(writer);
    let (mut writer, _) = RowWriter::resume(&path, &schema(), &BTreeSet::from([GROUPS[0]])).unwrap();
    for Group { cell, trial } in &GROUPS[1..] {
        writer.append(&group(*cell, *trial)).unwrap();
    }
    assert_eq!(writer.seal().unwrap(), seal);
}

fn cell() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Empty),
        any::<i128>().prop_map(Value::Integer),
        any::<f64>().prop_filter("finite", |n| n.is_finite()).prop_map(Value::Number),
        "[ -~äµ∞]{1,12}".prop_map(Value::Text),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_cell_reads_back(cells in prop::collection::vec(cell(), 1..60), swept in "[ -~]{0,10}") {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("runs.csv");
        let mut row = Row::new(&schema());
        for (metric, value) in METRICS.iter().zip(cells) {
            let fits = match (metric.kind, &value) {
                (_, Value::Empty) | (ValueType::Text, Value::Text(_)) | (ValueType::Integer, Value::Integer(_)) => true,
                (ValueType::Number, value) => value.number().is_some(),
                _ => false,
            };
            if fits {
                row.set(metric, value);
            }
        }
        row.set_swept("design.bloom", &swept).unwrap();
        RowWriter::create(&path, &schema()).unwrap().append(std::slice::from_ref(&row)).unwrap();
        let table = Table::read(&path).unwrap();
        prop_assert_eq!(table.rows(), &[row][..]);
    }

    #[test]
    fn garbage_is_an_error_or_a_table_and_never_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..400), at in 0_usize..2000) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("runs.csv");
        write_all(&path);
        let mut whole = fs::read(&path).unwrap();
        let at = at % whole.len();
        let end = (at + bytes.len()).min(whole.len());
        whole[at..end].copy_from_slice(&bytes[..end - at]);
        fs::write(&path, &whole).unwrap();
        let _ = Table::read(&path).map_err(|error| error.to_string());
        let _ = RowWriter::resume(&path, &schema(), &BTreeSet::new()).map_err(|error| error.to_string());
    }
}
