//! Fuzz targets for the texts and traces from which lsmbench reads workloads.

use std::cell::RefCell;
use std::fs;
use std::io::Write;
use std::path::Path;

use lzma_rust2::{XzOptions, XzWriter};
use tempfile::TempDir;
use workload::{Command, CommandReader, Endian, ReadError, Recording, TRACES, TraceFile};

use super::input::{SPARE_BYTES, choose};
use crate::bounds::bounded;
use crate::target::{FuzzTarget, InputForm};

/// The fuzz target for lines of the text language (DSL). Invariants:
///
/// * If a command is printed and parsed again, it is unchanged.
/// * An error names its line and its column.
/// * Reading continues after an error, and each line causes at most one error.
pub(super) const DSL: FuzzTarget = FuzzTarget {
    name: "dsl",
    about: "operations as lines of text",
    form: InputForm::Text,
    seeds: dsl_seeds,
    run: run_dsl,
};

/// The fuzz target for a raw trace. The first byte of an input selects the width and the byte order of the numbers.
/// Invariants: the key numbers are unchanged after they are written and read again, and each access has a key.
pub(super) const TRACE: FuzzTarget = FuzzTarget {
    name: "trace",
    about: "a trace file of integers with a fixed width",
    form: InputForm::Bytes,
    seeds: || (0..8).map(|how| [&[how][..], &numbers()].concat()).collect(),
    run: |input| run_trace(input, false),
};

/// The fuzz target for a raw trace in an `.xz` file.
pub(super) const COMPRESSED_TRACE: FuzzTarget = FuzzTarget {
    name: "xz-trace",
    about: "a compressed trace file of integers with a fixed width",
    form: InputForm::Bytes,
    seeds: || {
        vec![[&[4][..], &packed(&numbers())].concat(), [&[6][..], &packed(&numbers().repeat(9))].concat()]
    },
    run: |input| run_trace(input, true),
};

/// The fuzz target for a trace in any format except raw numbers. The first byte of an input selects the trace format,
/// or the detection of the format. Invariants:
///
/// * Each reading of the trace returns the same records, or ends with an error that names its position.
/// * If lsmbench detects a format, the reader of this format accepts the file.
pub(super) const TRACE_FORMATS: FuzzTarget = FuzzTarget {
    name: "trace-formats",
    about: "a trace file of recorded operations, in any supported format",
    form: InputForm::Bytes,
    seeds: format_seeds,
    run: run_format,
};

/// The number of bytes of memory that the reader of an `.xz` file may use in addition to 64 bytes per byte of input.
/// The decompressor needs this memory for its dictionary and its output buffer.
const DECOMPRESSOR_BYTES: usize = 512 << 20;

fn dsl_seeds() -> Vec<Vec<u8>> {
    let lines = "# a comment\np 10 7\ng 10\n\nd 10\nr a z\nl \"data file.bin\"\ns\n  p\t\"a b\" \"\\x00\\xfF\\n\\\"\\\\\"\r\n";
    let bytes = b"p \xff\xfe k\xc3\xa4se\nput 1 2\np 10\nd 1 2\ng \"abc\ng ab\"c\ng \"a\\q\"\n";
    vec![lines.as_bytes().to_vec(), bytes.to_vec(), b"s".to_vec(), Vec::new()]
}

fn run_dsl(input: &[u8]) -> bool {
    bounded(input.len(), SPARE_BYTES, || {
        let lines = input.split(|byte| *byte == b'\n').count() as u64;
        let mut reader = CommandReader::new(input);
        loop {
            match reader.read() {
                Ok(None) => return true,
                Ok(Some(command)) => {
                    let printed = command.to_string();
                    assert!(
                        printed.is_ascii() && !printed.contains('\n'),
                        "the printed command {printed:?} is not one line of ASCII"
                    );
                    assert_eq!(
                        Command::parse(printed.as_bytes()),
                        Ok(Some(command)),
                        "the command changed when it was printed and parsed again"
                    );
                }
                Err(ReadError::Syntax { line, error }) => {
                    assert!(
                        line <= lines && error.column >= 1,
                        "the position of an error is invalid: line {line} of {lines}, {error}"
                    );
                }
                Err(error) => panic!("the reader of the DSL cannot read the fuzz input from memory: {error}"),
            }
            assert!(reader.line() <= lines, "line {} of {lines}", reader.line());
        }
    })
}

fn numbers() -> Vec<u8> {
    (0..64u64).flat_map(|number| (number * number % 37).to_be_bytes()).collect()
}

/// Compresses bytes as an `.xz` file.
fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut writer = XzWriter::new(Vec::new(), XzOptions::with_preset(0))
        .expect("the XZ options of the test must be valid");
    writer.write_all(bytes).expect("the XZ writer must be able to write to a vector in memory");
    writer.finish().expect("the XZ writer must be able to write to a vector in memory")
}

thread_local! {
    /// The folder in which this thread creates the files of its inputs.
    static FOLDER: RefCell<TempDir> =
        RefCell::new(tempfile::tempdir().expect("the target must be able to create a temporary folder"));
}

/// Writes an input to a temporary file of this thread, and passes the path of the file to `work`.
pub(super) fn in_file<R>(name: &str, input: &[u8], work: impl FnOnce(&Path) -> R) -> R {
    FOLDER.with_borrow(|folder| {
        let path = folder.path().join(name);
        fs::write(&path, input).expect("the target must be able to write a temporary file");
        work(&path)
    })
}

fn run_trace(input: &[u8], is_packed: bool) -> bool {
    let Some((how, content)) = choose(input) else { return false };
    let width = 1 << (how & 3);
    let endian = if how & 4 == 0 { Endian::Big } else { Endian::Little };
    let name = if is_packed { "trace.xz" } else { "trace" };
    let trace = TraceFile::raw(name.into(), width, endian)
        .expect("the raw trace format must support the width that the fuzz input selects");
    let spare = if is_packed { DECOMPRESSOR_BYTES } else { 4 * SPARE_BYTES };
    in_file(name, content, |path| {
        let base = path.parent().expect("the path of a trace file must have a parent folder");
        bounded(input.len(), spare, || {
            let Ok(numbers) = trace.read(base) else { return false };
            if !is_packed {
                assert!(
                    written(&numbers, width, endian) == content,
                    "the decoded numbers, encoded again, differ from the bytes of the file"
                );
            }
            let (recording, accesses) = Recording::read(&[&trace], base)
                .expect("a trace that the fuzz target read once must be readable again")
                .expect("a trace that the fuzz target read once must exist at the second reading");
            assert!(
                recording.numbers().is_sorted_by(|a, b| a < b),
                "the second reading of the trace did not sort the key numbers"
            );
            let named = accesses[0].iter().map(|access| recording.numbers()[*access as usize]);
            assert!(named.eq(numbers), "the two readings of the trace return different keys for an access");
            true
        })
    })
}

/// Returns one or more traces for each trace format, in the order of the catalog. The first byte of each trace selects
/// the format.
fn format_seeds() -> Vec<Vec<u8>> {
    let header =
        b"feedcafedeadbeef\tTrace Version: 0.2\tRocksDB Version: 7.8\tFormat: Timestamp OpType Payload\n";
    let rocksdb = |kind: u8, payload: &[u8]| {
        let length = (payload.len() as u32).to_le_bytes();
        [&7u64.to_le_bytes()[..], &[kind], &length, payload].concat()
    };
    let get = [&12u64.to_le_bytes()[..], &[0, 0, 0, 0, 2, b'k', b'1']].concat();
    let put =
        [&2u64.to_le_bytes()[..], &[18], &[0; 8], &1u32.to_le_bytes(), &[1, 1, b'k', 2, b'v', b'v']].concat();
    let request = |time: u32, object: u64, next: i64| {
        [&time.to_le_bytes()[..], &object.to_le_bytes(), &100u32.to_le_bytes(), &next.to_le_bytes()].concat()
    };
    let texts: [(&str, &[u8]); 11] = [
        ("redis-aof", b"#TS:9\r\n*2\r\n$6\r\nSELECT\r\n$1\r\n0\r\n*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$2\r\nvv\r\n"),
        ("cachelib", b"key,op,size,op_count,key_size\nk,GET,0,2,5\nk,SET,10,1,5\nk,DELETE,0,1,5\n"),
        ("csv", b"time_ns,operation,key,end,count,value_bytes\n1,get,a\\x00,,,\n2,scan,a,b,3,\n3,put,\"a,b\",,,9\n"),
        ("twitter", b"0,a:b,3,10,1,get,0\n1,a:b,3,10,1,set,60\n2,a:b,3,0,1,delete,0\n"),
        ("redis-monitor", b"OK\n1.5 [0 127.0.0.1:6] \"set\" \"k\" \"\\x00v\"\n2.5 [0 lua] \"hset\" \"h\" \"f\" \"v\"\n"),
        ("rocksdb-text", b"0x6b31 0 0 0 5\n6b32 1 0 10 6\n6b 7a 4 0 0 7\n6b 6 0 0 8\n"),
        ("arc", b"10 3 0 1\n500 1 0 2\n"),
        ("lirs", b"1\n2\n*\n1\n"),
        ("text", b"p a 1\ng a\nd a\nr a z\n"),
        ("tectonic", b"FS 1\nI a v\nU a v\nM a v\nP a\nSC a 3\nS a z\nD a\nR a z\nFE 1 x\n"),
        ("ycsb", b"YCSB\nREAD usertable user1 [ <all fields>]\nSCAN usertable user1 5 [ <all fields>]\nINSERT usertable user2 [ field0=abc field1=de ]\n"),
    ];
    let binary = [
        ("rocksdb", [rocksdb(1, header), rocksdb(4, &get), rocksdb(3, &put), rocksdb(2, b"")].concat()),
        ("oracle-general", [request(1, 5, 2), request(1, 6, -1), request(2, 5, -1)].concat()),
    ];
    let texts = texts.into_iter().map(|(kind, text)| (kind, text.to_vec()));
    let place = |kind: &str| {
        TRACES
            .kinds()
            .position(|known| known == kind)
            .expect("the catalog of trace formats must contain the format") as u8
    };
    texts.chain(binary).map(|(kind, trace)| [&[place(kind)][..], &trace].concat()).collect()
}

fn run_format(input: &[u8]) -> bool {
    // A short trace can have very many records, because one row may stand for many operations.
    const MOST_RECORDS: usize = 10_000;
    let Some((how, content)) = choose(input) else { return false };
    let kind = TRACES.kinds().nth(how);
    let name = "trace-of-a-format";
    let trace =
        TraceFile::new(name.into(), kind).expect("the catalog of trace formats must contain the format");
    in_file(name, content, |path| {
        let base = path.parent().expect("the path of a trace file must have a parent folder");
        bounded(input.len(), DECOMPRESSOR_BYTES, || {
            let read = || {
                let stream = trace.open(base).map_err(|error| error.to_string())?;
                let records = stream.take(MOST_RECORDS).collect::<Result<Vec<_>, _>>();
                records.map_err(|error| error.to_string())
            };
            let records = read();
            assert_eq!(records, read(), "the records differ");
            records.is_ok()
        })
    })
}

/// Returns numbers as the bytes of a raw trace.
fn written(numbers: &[u64], width: usize, endian: Endian) -> Vec<u8> {
    let bytes = |number: &u64| match endian {
        Endian::Big => number.to_be_bytes()[8 - width..].to_vec(),
        Endian::Little => number.to_le_bytes()[..width].to_vec(),
    };
    numbers.iter().flat_map(bytes).collect()
}
